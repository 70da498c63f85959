"""A person changed a file of a half written batch: nothing of theirs is lost, and three ways lead out."""

import pytest

from apps import access
from apps.agents import services as agents
from apps.errors import Conflict
from apps.ledger import recovery
from apps.proposals import services as proposals
from tests.journeys import scenes
from tests.journeys.processes import Children
from tests.journeys.scenes import BEFORE, DRAFT, FOUR_AFTER, MEMORY, NOTE, PAGE, Scene

pytestmark = pytest.mark.django_db(transaction=True)

MINE = "- Của tôi: 我改了这个\n".encode()
# MEMORY.md and the page were in place when the process died; the draft and the note were not yet.
WRITTEN, WAITING = (MEMORY, PAGE), (DRAFT, NOTE)
HALF = {**BEFORE, MEMORY: FOUR_AFTER[MEMORY], PAGE: FOUR_AFTER[PAGE]}
EDITS = pytest.mark.parametrize("edited", [*WRITTEN, *WAITING])


def half_written(children: Children, agent_id: str) -> Scene:
    """A scene whose approval died when two of four files were in place."""
    scene = scenes.scene(agent_id)
    options = {"die_at": "after rename 2"}
    assert children.run("approve", proposal=scene.proposal_id, four_files=True, options=options).died
    assert scene.disk == HALF
    return scene


def stuck(children: Children, edited: str, text: bytes = MINE, agent_id: str = "coach") -> Scene:
    scene = half_written(children, agent_id)
    scene.edit(edited, text)
    scene.next_writer()
    return scene


def settled(scene: Scene, way: str) -> tuple[str, str, str]:
    """Take one way out; the states of batch and proposal, and the batch the proposal names."""
    proposals.settle_stuck(scene.batches[0].public_id, way, actor=access.operator())
    return scene.batches[0].state, scene.proposal.state, scene.proposal.batch


@EDITS
def test_recovery_writes_nothing_more_and_says_which_file_is_in_the_way(children: Children, edited: str) -> None:
    scene = stuck(children, edited)
    assert scene.disk == {**HALF, edited: MINE}
    assert scenes.leftovers(scene.scope.root) == []
    assert (scene.batches[0].state, scene.proposal.state) == ("stuck", "approved")
    standings = {one.path: one.standing for one in recovery.standings(scene.batches[0])}
    expected = dict.fromkeys(WRITTEN, "after") | dict.fromkeys(WAITING, "before")
    assert standings == {**expected, edited: "other"}


def test_a_stuck_batch_does_not_block_its_scope(children: Children) -> None:
    scene = stuck(children, NOTE)
    saved = agents.append_note("coach", "life goes on", actor=access.operator())
    assert scene.disk[saved.path].endswith(b"life goes on\n")
    assert [batch.state for batch in scene.batches] == ["stuck", "done"]


@EDITS
def test_keep_mine_leaves_the_disk_and_supersedes_the_proposal(children: Children, edited: str) -> None:
    scene = stuck(children, edited)
    state = settled(scene, "keep_mine")
    assert state == ("failed", "superseded", scene.batches[0].public_id)
    assert scene.disk == {**HALF, edited: MINE}


@EDITS
def test_force_writes_the_rest_and_undo_gives_the_displaced_text_back(children: Children, edited: str) -> None:
    scene = stuck(children, edited)
    assert settled(scene, "force") == ("done", "approved", scene.batches[0].public_id)
    # An append displaces nothing: what the person wrote stays above it.
    expected = {**FOUR_AFTER, NOTE: MINE + scenes.ADDED} if edited == NOTE else FOUR_AFTER
    assert scene.disk == expected
    agents.undo(scene.batches[0].public_id, actor=access.operator())
    assert scene.disk == {**BEFORE, edited: MINE}


@pytest.mark.parametrize("text", [b"mine, no newline", b"mine\r\nno newline", b"mine\r\n", b""])
def test_a_forced_append_never_glues_its_line_to_the_persons_last_one(children: Children, text: bytes) -> None:
    scene = stuck(children, NOTE, text)
    settled(scene, "force")
    note = scene.disk[NOTE]
    assert note.startswith(text)
    assert note.splitlines() == [*text.splitlines(), scenes.ADDED.strip()]
    agents.undo(scene.batches[0].public_id, actor=access.operator())
    assert scene.disk[NOTE] == text


@EDITS
def test_undo_puts_back_what_memoryhub_wrote_and_the_proposal_waits_again(children: Children, edited: str) -> None:
    scene = stuck(children, edited)
    assert settled(scene, "undo") == ("failed", "pending", "")
    assert scene.disk == {**BEFORE, edited: MINE}
    assert scene.proposal.decided_by == ""


def test_undo_gives_way_to_a_newer_proposal(children: Children) -> None:
    scene = stuck(children, NOTE)
    newer = proposals.propose_rewrite(
        "coach", path=MEMORY, text=b"newer\n", previous=None, reasons="", analysis={}, source="job:test"
    )
    assert settled(scene, "undo")[:2] == ("failed", "superseded")
    assert scene.proposal.superseded_by == newer.public_id
    newer.refresh_from_db()
    assert newer.state == "pending"


def test_a_deleted_file_counts_as_changed_and_force_writes_it_anew(children: Children) -> None:
    scene = half_written(children, "coach")
    (scene.scope.root / MEMORY).unlink()
    (scene.scope.root / NOTE).unlink()
    scene.next_writer()
    assert scene.batches[0].state == "stuck"
    settled(scene, "force")
    assert scene.disk == {**FOUR_AFTER, NOTE: scenes.ADDED}
    agents.undo(scene.batches[0].public_id, actor=access.operator())
    assert scene.disk == {DRAFT: BEFORE[DRAFT]}


def test_only_a_stuck_batch_is_settled_and_only_once(children: Children) -> None:
    scene = stuck(children, NOTE)
    settled(scene, "keep_mine")
    for way in ("keep_mine", "force", "undo"):
        with pytest.raises(Conflict) as caught:
            settled(scene, way)
        assert caught.value.code == "not_stuck"
    assert scene.disk == {**HALF, NOTE: MINE}


@pytest.mark.parametrize("way", ["keep_mine", "force", "undo"])
def test_settling_killed_anywhere_can_be_finished(children: Children, way: str) -> None:
    ends = {
        "keep_mine": ("failed", "superseded", {**HALF, NOTE: MINE}),
        "force": ("done", "approved", {**FOUR_AFTER, NOTE: MINE + scenes.ADDED}),
        "undo": ("failed", "pending", {**BEFORE, NOTE: MINE}),
    }
    made: list[Scene] = []

    def prepare(number: int) -> dict[str, str]:
        made.append(stuck(children, NOTE, agent_id=f"run-{number}"))
        return {"batch": made[-1].batches[0].public_id, "way": way}

    for _ in children.killed_everywhere("settle", prepare):
        scene = made[-1]
        scene.next_writer()
        if scene.batches[0].state == "stuck":
            settled(scene, way)
        assert (scene.batches[0].state, scene.proposal.state, scene.disk) == ends[way]
        assert scenes.leftovers(scene.scope.root) == []
    assert len(made) > 4
