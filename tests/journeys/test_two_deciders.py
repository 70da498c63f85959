"""Two people decide one proposal at the same moment: one wins, the other is told, the file changes at most once."""

import threading
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection

from apps import access
from apps.errors import Conflict
from apps.proposals import services
from tests.journeys import scenes
from tests.journeys.processes import Children

pytestmark = pytest.mark.django_db(transaction=True)

CROWDS = pytest.mark.parametrize(
    "crowd",
    [("approve", "approve"), ("approve", "reject"), ("reject", "reject"), ("approve", "reject") * 3],
    ids=" ".join,
)
ROUNDS = 8

Result = str | tuple[str, str]


def decide(action: str, proposal_id: str) -> str:
    if action == "approve":
        return services.approve(proposal_id, seen=None, actor=access.operator()).state
    return services.reject(proposal_id, actor=access.operator()).state


def assert_one_won(scene: scenes.Scene, results: list[Result]) -> str:
    [won] = [result for result in results if isinstance(result, str)]
    lost = [result for result in results if not isinstance(result, str)]
    assert set(lost) == {("Conflict", "already_decided")}
    assert scene.proposal.state == won
    batches = [batch.state for batch in scene.batches]
    assert (scene.disk, batches) == ((scenes.ONE_AFTER, ["done"]) if won == "approved" else (scenes.BEFORE, []))
    assert scenes.leftovers(scene.scope.root) == []
    return won


def in_threads(actions: tuple[str, ...], proposal_id: str) -> list[Result]:
    """Every action in a thread with a connection of its own, all starting together."""
    results: list[Any] = [None] * len(actions)
    together = threading.Barrier(len(actions))

    def act(place: int) -> None:
        try:
            connection.ensure_connection()
            together.wait()
            results[place] = decide(actions[place], proposal_id)
        except Conflict as error:
            results[place] = ("Conflict", error.code)
        finally:
            connection.close()

    threads = [threading.Thread(target=act, args=(place,)) for place in range(len(actions))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


@CROWDS
def test_in_one_process_exactly_one_decision_wins(home: object, crowd: tuple[str, ...]) -> None:
    for number in range(ROUNDS):
        scene = scenes.scene(f"round-{number}")
        assert_one_won(scene, in_threads(crowd, scene.proposal_id))


@CROWDS
def test_in_several_processes_exactly_one_decision_wins(children: Children, crowd: tuple[str, ...]) -> None:
    for number in range(ROUNDS):
        scene = scenes.scene(f"round-{number}")
        jobs = [{"do": action, "with": {"proposal": scene.proposal_id}} for action in crowd]
        outcomes = children.together(*jobs)
        assert_one_won(scene, [outcome.error or outcome.value for outcome in outcomes])


def rejected_at(moment: str, proposal_id: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let somebody reject the proposal in the very moment an approval of it calls `moment` of the desk."""
    from apps.ledger.desk import Desk

    original: Callable[..., Any] = getattr(Desk, moment)

    def late(*args: Any, **options: Any) -> Any:
        result = original(*args, **options)
        thread = threading.Thread(target=_reject, args=(proposal_id,))
        thread.start()
        thread.join()
        return result

    monkeypatch.setattr(Desk, moment, late)


def _reject(proposal_id: str) -> None:
    try:
        decide("reject", proposal_id)
    finally:
        connection.close()


def test_a_rejection_between_staging_and_claiming_leaves_no_text_behind(
    home: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene = scenes.scene("coach")
    rejected_at("stage", scene.proposal_id, monkeypatch)
    with pytest.raises(Conflict) as caught:
        decide("approve", scene.proposal_id)
    assert caught.value.code == "already_decided"
    assert (scene.proposal.state, scene.disk, scene.batches) == ("rejected", scenes.BEFORE, [])
    assert scenes.leftovers(scene.scope.root) == []
