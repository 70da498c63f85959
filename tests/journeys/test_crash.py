"""A process may die at any moment; nothing is ever half done, and the next writer needs no help."""

from typing import Any

import pytest

from apps import access
from apps.agents import queries, registry
from apps.agents import services as agents
from apps.ledger import services as ledger
from tests.journeys import scenes
from tests.journeys.processes import Children, Outcome

pytestmark = pytest.mark.django_db(transaction=True)


# Two of the four files are in place.
HALF = {"die_at": "after rename 2"}
COMMITTED = "after commit 1"


class Scenes:
    """A new scene for every run; `now` is the one of the latest."""

    now: scenes.Scene

    def approval(self, number: int) -> dict[str, Any]:
        self.now = scenes.scene(f"run-{number}")
        return {"proposal": self.now.proposal_id}

    def approval_of_four(self, number: int) -> dict[str, Any]:
        return {**self.approval(number), "four_files": True}


def counts(outcome: Outcome, *names: str) -> dict[str, int]:
    return {name: sum(point.startswith(f"before {name} ") for point in outcome.points) for name in names}


def test_an_approval_of_four_files_killed_anywhere_is_wholly_done_or_not_begun(children: Children) -> None:
    made = Scenes()
    outcome = None
    for outcome in children.killed_everywhere("approve", made.approval_of_four):
        made.now.assert_every_file_is_whole(scenes.FOUR_AFTER)
        made.now.next_writer()
        if COMMITTED in outcome.points:
            made.now.assert_all_was_written(scenes.FOUR_AFTER)
        else:
            made.now.assert_nothing_was_written()
    assert outcome
    # Three synced temporary files, two new folders, four changed places; one of the four is a deletion.
    assert counts(outcome, "fsync", "rename", "commit") == {"fsync": 9, "rename": 3, "commit": 1}


def test_an_approval_of_one_file_killed_anywhere_is_wholly_done_or_not_begun(children: Children) -> None:
    made = Scenes()
    outcome = None
    for outcome in children.killed_everywhere("approve", made.approval):
        made.now.assert_every_file_is_whole(scenes.ONE_AFTER)
        made.now.next_writer()
        if COMMITTED in outcome.points:
            made.now.assert_all_was_written(scenes.ONE_AFTER)
        else:
            made.now.assert_nothing_was_written()
    assert outcome
    assert counts(outcome, "fsync", "rename", "commit") == {"fsync": 2, "rename": 1, "commit": 1}


@pytest.mark.parametrize("note", ["none yet", "one line", "no final newline"])
def test_a_save_killed_anywhere_and_sent_again_stands_there_once(children: Children, note: str) -> None:
    save = {"text": "họp lúc chín giờ", "key": "the same"}
    runs = children.killed_everywhere("append", lambda number: {"agent": agent_with(note, number), **save})
    for number, outcome in enumerate(runs):
        agent = f"run-{number}"
        saved = agents.append_note(agent, save["text"], actor=access.operator(), key=save["key"])
        assert saved.repeated == (COMMITTED in outcome.points)
        root = queries.scope(agent).root
        lines = (root / saved.path).read_text().splitlines()
        assert [line for line in lines if "họp" in line] == [lines[saved.line - 1]]
        assert lines[saved.line - 1].endswith(" họp lúc chín giờ")
        assert ("- 00:00 before" in lines) == (note != "none yet")
        assert scenes.leftovers(root) == []


def agent_with(note: str, number: int) -> str:
    """An agent whose note of today is there or not yet."""
    scope = queries.scope_of(registry.add(f"run-{number}"))
    if note != "none yet":
        day = queries.today(scope)
        end = "" if note == "no final newline" else "\n"
        (scope.root / "memory" / f"{day}.md").write_text(f"# {day}\n\n- 00:00 before{end}")
    return scope.id


def half_written(children: Children, agent_id: str) -> scenes.Scene:
    scene = scenes.scene(agent_id)
    assert children.run("approve", proposal=scene.proposal_id, four_files=True, options=HALF).died
    assert set(scene.disk) == {*scenes.BEFORE, scenes.PAGE}
    assert scene.disk[scenes.MEMORY] == scenes.NEW_MEMORY
    assert scene.disk[scenes.NOTE] == scenes.BEFORE[scenes.NOTE]
    return scene


def test_recovery_killed_anywhere_is_finished_by_the_next_writer(children: Children) -> None:
    made = Scenes()

    def dead(number: int) -> dict[str, Any]:
        made.now = half_written(children, f"run-{number}")
        return {"agent": made.now.scope.id}

    outcomes = []
    for outcome in children.killed_everywhere("open_desk", dead):
        outcomes.append(outcome)
        made.now.assert_every_file_is_whole(scenes.FOUR_AFTER)
        made.now.next_writer()
        made.now.assert_all_was_written(scenes.FOUR_AFTER)
    # The append is renamed; the deletion and what the dead process left are unlinked.
    assert counts(outcomes[-1], "rename", "unlink") == {"rename": 1, "unlink": 2}


def test_a_process_killed_while_it_puts_back_leaves_all_or_nothing(children: Children) -> None:
    made = Scenes()
    outcome = None
    runs = children.killed_everywhere("approve", made.approval_of_four, options={"refuse_renames": [2]})
    for outcome in runs:
        made.now.assert_every_file_is_whole(scenes.FOUR_AFTER)
        made.now.next_writer()
        if "after commit 2" in outcome.points:
            made.now.assert_nothing_was_written(batches=("failed",))
        elif COMMITTED in outcome.points:
            made.now.assert_all_was_written(scenes.FOUR_AFTER)
        else:
            made.now.assert_nothing_was_written()
    assert outcome
    assert outcome.error == ("StorageFailed", "disk_full")


def test_tick_finishes_what_died_in_several_scopes_and_repeating_it_is_harmless(children: Children) -> None:
    dead = [half_written(children, f"dead-{number}") for number in range(3)]
    handled, failed = ledger.recover()
    assert (handled, failed) == ([scene.batches[0].public_id for scene in dead], [])
    for scene in dead:
        scene.assert_all_was_written(scenes.FOUR_AFTER)
    assert ledger.recover() == ([], [])


def test_recovery_waits_for_a_root_that_is_missing_and_never_makes_it(children: Children) -> None:
    scene = half_written(children, "away")
    away = scene.scope.root.with_name("unmounted")
    scene.scope.root.rename(away)
    handled, [error] = ledger.recover()
    assert (handled, error.code) == ([], "recovery_failed")
    assert not scene.scope.root.exists()
    assert [batch.state for batch in scene.batches] == ["writing"]
    away.rename(scene.scope.root)
    assert ledger.recover() == ([scene.batches[0].public_id], [])
    scene.assert_all_was_written(scenes.FOUR_AFTER)
