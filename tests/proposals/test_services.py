"""Propose, approve, reject, reopen: the traps of memory.md 12 and cases C13 to C15, on real files and rows."""

import dataclasses
import os

import pytest

from apps import access
from apps.agents import registry
from apps.agents import services as agents
from apps.errors import Conflict, Forbidden, Invalid, NotFound, StorageFailed, TooLarge
from apps.ledger import queries as history
from apps.ledger.models import Batch
from apps.proposals import queries, services
from apps.proposals.models import Proposal

pytestmark = pytest.mark.django_db(transaction=True)

NEW = "# Memory\n\n- one\n- three\n"


def refusal(call, *args, **kwargs):
    with pytest.raises(Conflict) as caught:
        call(*args, **kwargs)
    return caught.value.code


def test_an_approval_writes_exactly_what_was_proposed_and_says_who_and_when(propose, memory, person):
    proposal = propose(NEW, run="0123456789ab")
    decided = services.approve(proposal.public_id, seen=services.preview(proposal).digest, actor=person, reason="fine")
    assert memory.read_text() == NEW
    assert (decided.state, decided.decided_by, decided.decision_reason) == ("approved", "mai", "fine")
    assert decided.resolved_at is not None
    batch = history.batch(decided.batch)
    assert (batch.state, batch.actor, batch.run, batch.proposal) == ("done", "mai", "0123456789ab", proposal.public_id)


def test_the_digest_is_the_same_at_every_look_and_another_one_is_refused(propose, memory, person):
    proposal = propose(NEW)
    assert services.preview(proposal).digest == services.preview(proposal).digest
    assert refusal(services.approve, proposal.public_id, seen="0" * 64, actor=person) == "changed_since_seen"
    proposal.refresh_from_db()
    assert (proposal.state, memory.read_text()) == ("pending", "# Memory\n\n- one\n- two\n")


def test_trap_1_deciding_a_decided_proposal_writes_nothing(propose, memory, person):
    approved, rejected = propose(NEW), None
    services.approve(approved.public_id, seen=None, actor=person)
    rejected = propose("# Memory\n\n- four\n")
    services.reject(rejected.public_id, actor=person)
    written = memory.read_bytes()
    for one in (approved, rejected):
        assert refusal(services.approve, one.public_id, seen=None, actor=person) == "already_decided"
        assert refusal(services.reject, one.public_id, actor=person) == "already_decided"
    assert memory.read_bytes() == written
    assert Batch.objects.count() == 1


def test_trap_3_a_failing_write_leaves_the_proposal_pending_and_the_file_as_it_was(
    propose, memory, person, monkeypatch
):
    proposal = propose(NEW)
    before = memory.read_bytes()

    def full(*args, **kwargs):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "rename", full)
        with pytest.raises(StorageFailed) as caught:
            services.approve(proposal.public_id, seen=None, actor=person)
    assert caught.value.code == "disk_full"
    proposal.refresh_from_db()
    assert (proposal.state, proposal.batch, proposal.decided_by) == ("pending", "", "")
    assert memory.read_bytes() == before
    services.approve(proposal.public_id, seen=None, actor=person)
    assert memory.read_text() == NEW


@pytest.mark.parametrize("edit", [b"# Memory\n\n- one\n- two\n- by hand\n", b"# Memory\n\n- one\n- two", b"", None])
def test_trap_4_a_file_that_changed_by_one_byte_is_never_overwritten(propose, memory, person, edit):
    proposal = propose(NEW)
    memory.unlink() if edit is None else memory.write_bytes(edit)
    assert refusal(services.approve, proposal.public_id, seen=None, actor=person) == "changed_since_proposed"
    assert (memory.read_bytes() if memory.exists() else None) == edit
    proposal.refresh_from_db()
    assert proposal.state == "superseded"
    assert proposal.resolved_at is not None
    with pytest.raises(Conflict, match="stale"):
        services.approve(proposal.public_id, seen=None, actor=person)


def test_a_proposal_for_a_memory_that_was_not_there_does_not_overwrite_one_that_came(propose, scope, person):
    proposal = propose(NEW)
    (scope.root / "MEMORY.md").write_text("")
    assert refusal(services.approve, proposal.public_id, seen=None, actor=person) == "changed_since_proposed"


def test_trap_6_and_8_a_new_rewrite_supersedes_the_agents_older_one_and_nothing_else(propose, memory, person, crew):
    older = propose(NEW)
    decided = propose("# Memory\n\n- kept\n")
    services.reject(decided.public_id, actor=person)
    other = services.propose_rewrite(
        "default", path="MEMORY.md", text=b"x", previous=None, reasons="", analysis={}, source="memory:consolidate"
    )
    newest = propose("# Memory\n\n- newest\n")
    states = {one.public_id: one for one in Proposal.objects.all()}
    assert states[older.public_id].state == "superseded"
    assert states[decided.public_id].state == "rejected"
    assert states[other.public_id].state == "pending"
    assert refusal(services.approve, older.public_id, seen=None, actor=person) == "superseded"
    assert states[older.public_id].superseded_by == decided.public_id
    assert newest.state == "pending"


def test_an_identical_pending_proposal_is_one_with_two_origins(propose, memory):
    first, second = propose(NEW, run="a" * 12), propose(NEW, run="b" * 12)
    assert first.public_id == second.public_id
    assert [origin["run"] for origin in second.origins] == ["a" * 12, "b" * 12]


def test_trap_9_the_proposal_of_a_vanished_agent_is_404_and_can_be_rejected(propose, memory, person):
    proposal = propose(NEW)
    registry.archive("coach")
    with pytest.raises(NotFound, match="agent"):
        services.approve(proposal.public_id, seen=None, actor=person)
    assert services.reject(proposal.public_id, actor=person).state == "rejected"


def test_nobody_decides_without_the_right_or_without_being_there(propose, memory, person):
    proposal = propose(NEW)
    for changed in ({"rights": frozenset({"read", "write"})}, {"present": False}):
        actor = dataclasses.replace(person, **changed)
        for call in (
            lambda a: services.approve(proposal.public_id, seen=None, actor=a),
            lambda a: services.reject(proposal.public_id, actor=a),
        ):
            with pytest.raises(Forbidden):
                call(actor)
    stranger = dataclasses.replace(person, scopes=frozenset({"default"}))
    with pytest.raises(NotFound):
        services.approve(proposal.public_id, seen=None, actor=stranger)
    proposal.refresh_from_db()
    assert proposal.state == "pending"


def test_a_reason_is_kept_and_one_that_cannot_be_kept_decides_nothing(propose, memory, person):
    proposal = propose(NEW)
    with pytest.raises(TooLarge):
        services.reject(proposal.public_id, actor=person, reason="x" * 2_001)
    with pytest.raises(Invalid):
        services.reject(proposal.public_id, actor=person, reason="a\x00b")
    assert services.reject(proposal.public_id, actor=person, reason="Wrong: số sai").decision_reason == "Wrong: số sai"


def test_an_undone_approval_gives_the_old_bytes_back_and_can_be_reopened_as_a_new_proposal(propose, memory, person):
    before = memory.read_bytes()
    first = services.approve(propose(NEW).public_id, seen=None, actor=person)
    agents.undo(first.batch, actor=person)
    assert memory.read_bytes() == before
    assert queries.written(first).state == "undone"
    again = services.reopen(first.public_id, actor=person)
    assert (again.state, again.reopens) == ("pending", first.public_id)
    assert again.public_id != first.public_id
    services.approve(again.public_id, seen=None, actor=person)
    assert memory.read_text() == NEW


def test_what_was_appended_after_an_approval_survives_its_undo(propose, memory, person):
    approved = services.approve(propose(NEW).public_id, seen=None, actor=person)
    memory.write_text(memory.read_text() + "- later\n")
    agents.undo(approved.batch, actor=person)
    assert memory.read_text() == "# Memory\n\n- one\n- two\n- later\n"
    assert refusal(agents.undo, approved.batch, actor=person) == "already_undone"


def test_a_rejected_proposal_is_not_reopened_over_a_file_that_moved_on(propose, memory, person):
    rejected = services.reject(propose(NEW).public_id, actor=person)
    memory.write_text("other\n")
    assert refusal(services.reopen, rejected.public_id, actor=person) == "changed_since_proposed"
    pending = propose("- x\n")
    assert refusal(services.reopen, pending.public_id, actor=person) == "not_reopenable"


def test_the_walk_goes_from_the_oldest_waiting_to_the_newest_and_keeps_a_decided_ones_place(crew, person):
    made = []
    for agent in ("default", "coach"):
        made.append(
            services.propose_rewrite(
                agent, path="MEMORY.md", text=b"x", previous=None, reasons="", analysis={}, source="memory:consolidate"
            )
        )
    first, second = made
    assert dataclasses.astuple(queries.place(first)) == (1, 2, "", second.public_id)
    assert dataclasses.astuple(queries.place(second)) == (2, 2, first.public_id, first.public_id)
    services.reject(first.public_id, actor=person)
    first.refresh_from_db()
    assert queries.place(first).next == second.public_id
    assert queries.waiting() == 1


def test_an_unknown_status_is_refused_by_name(crew):
    with pytest.raises(Invalid, match="maybe"):
        queries.listed(access.operator(), "maybe")
