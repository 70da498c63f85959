"""Writing, recovering, undoing: what the rest of memoryhub may ask of the ledger."""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from django.db import connection

from apps.access import Actor
from apps.errors import Busy, Conflict, MemoryHubError, StorageFailed
from apps.ledger import database, locks, queries, recovery, undoing
from apps.ledger.desk import Desk, Key, repeated
from apps.ledger.models import Batch
from apps.vault import files, layout

__all__ = ["Desk", "Key", "recover", "repeated", "settle", "undo", "writing"]

logger = logging.getLogger(__name__)


@contextmanager
def writing(scope: layout.Scope) -> Iterator[Desk]:
    """Hold the scope's lock, finish what a dead process left, and hand out the desk.

    Not reentrant (RuntimeError). Busy when the lock is not free in time or when
    recovery cannot finish. No transaction may be open: the lock comes first.
    """
    if connection.in_atomic_block:
        raise RuntimeError("A transaction is open; the scope's lock must come first.")
    with locks.scope_locked(scope.id) as unclean, database.translated():
        desk = Desk(scope)
        try:
            leftover = _recover_scope(scope.id)
            if unclean or leftover:
                files.remove_temporaries(scope.root, layout.folders(scope.id))
            yield desk
        finally:
            desk.close()


def _recover_scope(scope_id: str) -> bool:
    """Roll forward the scope's unfinished batches under its lock; True when there was one."""
    unfinished = list(Batch.objects.filter(scope=scope_id, state=Batch.State.WRITING).order_by("id"))
    for batch in unfinished:
        recovery.roll_forward(batch)
    return bool(unfinished)


def recover() -> tuple[list[str], list[MemoryHubError]]:
    """Finish every unfinished batch of every scope.

    Returns the batches that are done now and what stood in the way of others; one that turns out
    to be stuck is in neither. Repeating is harmless.
    """
    handled: list[str] = []
    failed: list[MemoryHubError] = []
    for batch in Batch.objects.filter(state=Batch.State.WRITING).order_by("id"):
        try:
            with writing(_recorded_scope(batch)):
                batch.refresh_from_db(fields=["state"])
        except (Busy, StorageFailed) as error:
            logger.warning("Batch %s waits: %s", batch.public_id, error.message)
            failed.append(error)
        else:
            if batch.state == Batch.State.DONE:
                handled.append(batch.public_id)
    return handled, failed


def settle(batch_id: str, way: recovery.Way, *, on_failed: Callable[[Batch], None] | None = None) -> Batch:
    """Resolve a stuck batch under its scope's lock; see `recovery.settle`."""
    with writing(_recorded_scope(queries.batch(batch_id))):
        return recovery.settle(batch_id, way, on_failed=on_failed)


def _recorded_scope(batch: Batch) -> layout.Scope:
    """The scope as the batch recorded it: finishing a write needs its folder, whatever the agent's is by now."""
    return layout.Scope(batch.scope, Path(batch.root), "UTC")


def undo(batch_id: str, *, desk: Desk, actor: Actor) -> Batch:
    """Take back what a batch wrote, keeping whatever came later; the undo is a batch too.

    `desk` is that of the batch's scope as it is now: files are compared by
    content, so a home that was moved is no hindrance, and a folder that has become
    another agent's is never touched. When nothing changed since, exactly the old
    bytes return. Otherwise texts are merged; Conflict `undo_conflict` with the
    places when that cannot be done, and nothing is written then. Conflict
    `already_undone`, `not_undoable`, `nothing_to_undo` as named.
    """
    batch = queries.batch(batch_id)
    if batch.state != Batch.State.DONE:
        raise Conflict(
            f"Batch {batch_id} is {batch.get_state_display()}; only a finished write can be undone.",
            code="not_undoable",
        )
    if queries.undone_by(batch_id):
        raise Conflict(f"Batch {batch_id} was undone already.", code="already_undone")
    changes = undoing.plan(batch, desk.read)
    # It belongs to the proposal too: undoing the undo writes what was proposed, and takes the right to decide.
    made = desk.write(changes, actor=actor, reason=f"Undo of {batch_id}", undoes=batch_id, proposal=batch.proposal)
    if made is None:
        raise Conflict("Nothing of this write is left to undo.", code="nothing_to_undo")
    return made
