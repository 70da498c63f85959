"""Finish what a dead process left, and settle what a person got in the way of.

Rolling forward compares every file before it touches one. A file that is
neither the text before nor the text after was changed by somebody: the batch is
`stuck`, nothing more is written, and a person keeps, forces or undoes.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from django.db import transaction

from apps.errors import Busy, Conflict, MemoryHubError, NotFound
from apps.ledger import desk, texts
from apps.ledger.models import Batch, Change
from apps.vault import changes as vault_changes
from apps.vault import files, formats

logger = logging.getLogger(__name__)

Way = Literal["keep_mine", "force", "undo"]


@dataclass(frozen=True)
class FileStanding:
    """How one file of a batch stands: `before`, `after`, or `other` when a person changed it."""

    path: str
    standing: vault_changes.Standing


def standings(batch: Batch) -> list[FileStanding]:
    """Every file of the batch against the disk, in the batch's order. StorageFailed when the folder is out of reach."""
    root = desk.root_of(batch)
    return [
        FileStanding(row.path, vault_changes.standing(root, row.path, row.sha_before, row.sha_after))
        for row in batch.changes.all()
    ]


def roll_forward(batch: Batch) -> None:
    """Write what is left of a batch in state `writing`, or mark it stuck. Call it under the scope's lock.

    Raises Busy `recovery_failed` naming the file when the disk refuses; the
    batch stays `writing` and the next writer tries again. Repeating is harmless.
    """
    rows = list(batch.changes.all())
    root = desk.root_of(batch)
    path = ""
    try:
        if any(one.standing == "other" for one in standings(batch)):
            _mark_stuck(batch)
            return
        for row in rows:
            path = row.path
            standing = vault_changes.standing(root, path, row.sha_before, row.sha_after)
            if standing == "other":  # changed in the moment since all of them were compared
                _mark_stuck(batch)
                return
            if standing == "before":
                files.replace(root, path, after_of(row))
    except MemoryHubError as error:
        raise Busy(
            f"An earlier write to {batch.scope} could not be finished: {error.message}",
            code="recovery_failed",
            path=path or str(root),
            batch=batch.public_id,
        ) from error
    desk.finish(batch)


def _mark_stuck(batch: Batch) -> None:
    Batch.objects.filter(pk=batch.pk, state=Batch.State.WRITING).update(state=Batch.State.STUCK)
    logger.warning("Batch %s is stuck: a file was changed while it was half written.", batch.public_id)


def after_of(row: Change) -> bytes | None:
    """The bytes a change leads to. An append is rebuilt on the file as it is, which equals the text before."""
    if not row.is_append:
        return texts.fetch(row.sha_after)
    before = files.read(desk.root_of(row.batch), row.path) or b""
    return before[: row.offset] + bytes(row.added or b"")


def before_of(row: Change) -> bytes | None:
    """The bytes a change started from. Of an append, the file's first `offset` bytes, which must be there."""
    if not row.is_append:
        return texts.fetch(row.sha_before)
    now = files.read(desk.root_of(row.batch), row.path) or b""
    before = now[: row.offset]
    if files.sha256(before) != row.sha_before:
        raise NotFound("The text before this append is no longer known.", code="text_removed", path=row.path)
    return before


def settle(batch_id: str, way: Way, *, on_failed: Callable[[Batch], None] | None = None) -> Batch:
    """Resolve a stuck batch; call it under the scope's lock.

    `keep_mine` leaves the disk as it is (batch failed). `force` writes the rest:
    a replaced file's present text becomes the batch's text before, so nothing
    is lost and undo gives it back (batch done). `undo` puts back what still equals
    the text after (batch failed). `on_failed` runs in the transaction that marks
    the batch failed. Conflict `not_stuck` for any other state.
    """
    batch = Batch.objects.filter(public_id=batch_id).first()
    if batch is None:
        raise NotFound(f"There is no batch {batch_id}.")
    if batch.state != Batch.State.STUCK:
        raise Conflict(f"Batch {batch_id} is {batch.get_state_display()}, not stuck.", code="not_stuck")
    if way == "force":
        _rebase(batch)
        roll_forward(batch)
        batch.refresh_from_db()
        return batch
    if way == "undo":
        for row in batch.changes.all():
            root = desk.root_of(batch)
            now = vault_changes.standing(root, row.path, row.sha_before, row.sha_after)
            if now == "after" and row.sha_before != row.sha_after:
                files.replace(root, row.path, before_of(row))
    with transaction.atomic(durable=True):
        desk.fail(batch)
        if on_failed:
            on_failed(batch)
    return batch


def _rebase(batch: Batch) -> None:
    """Let the batch start from what is on disk now, and be in state `writing` again, in one transaction."""
    root = desk.root_of(batch)
    with transaction.atomic(durable=True):
        for row in batch.changes.all():
            now = files.read(root, row.path)
            sha = files.sha256(now)
            if sha in {row.sha_before, row.sha_after}:
                continue
            if row.is_append:
                _append_anew(row, now)
            else:
                texts.keep([now])
                row.before_id = sha
            row.sha_before = sha
            row.save()
        Batch.objects.filter(pk=batch.pk).update(state=Batch.State.WRITING)


def _append_anew(row: Change, now: bytes | None) -> None:
    """Let an append add its lines to the text as it is now, whose last line may be unfinished."""
    lines = bytes(row.added or b"").strip(b"\r\n").decode()
    after = formats.append_line(now or b"", lines)
    row.sha_after = files.sha256(after)
    if now is None:
        # There is nothing to append to any more: a new file keeps its whole text.
        texts.keep([after])
        row.after_id, row.offset, row.added = row.sha_after, None, None
    else:
        row.offset, row.added = len(now), after[len(now) :]
