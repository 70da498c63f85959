"""The desk: the only place from which files of a scope are written.

It exists only inside `services.writing`, that is, under the scope's lock. The
order of a write is: temporary files synced, batch committed, then only renames,
then `done`. Everything before the commit leaves no trace; everything after it
is finished by whoever holds the lock next (architecture.md, section 5).
"""

import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from django.conf import settings
from django.db import DatabaseError, IntegrityError, transaction
from django.utils import timezone

from apps.access import Actor
from apps.errors import Busy, Conflict, MemoryHubError, StorageFailed
from apps.ledger import texts
from apps.ledger.models import Batch
from apps.ledger.models import Change as ChangeRow
from apps.vault import changes as vault_changes
from apps.vault import files, layout
from apps.vault.changes import Change

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Key:
    """An idempotency key and the digest of the body that came with it; an empty name means none."""

    name: str = ""
    digest: str = ""


@dataclass(frozen=True)
class Prepared:
    """Changes whose new contents lie synced beside their targets."""

    changes: tuple[Change, ...]
    staged: tuple[files.Staged, ...]


class Desk:
    """Reads and writes one scope for one holder of its lock."""

    def __init__(self, scope: layout.Scope) -> None:
        self.scope = scope
        self._staged: list[files.Staged] = []

    def read(self, path: str) -> bytes | None:
        return files.read(self.scope.root, path)

    def write(self, changes: Iterable[Change], *, actor: Actor, reason: str = "", **facts: object) -> Batch | None:
        """Stage, record and publish in one go; None when nothing would change.

        `facts` are those of `record`.
        """
        real = [change for change in changes if change.before != change.after]
        if not real:
            return None
        prepared = self.stage(real)
        with transaction.atomic(durable=True):
            batch = self.record(prepared, actor=actor, reason=reason, **facts)  # type: ignore[arg-type]
        self.publish(batch, prepared)
        return batch

    def stage(self, changes: Iterable[Change]) -> Prepared:
        """Write the coming contents as synced temporary files. Raises StorageFailed; nothing is left then."""
        wanted = tuple(changes)
        staged = []
        try:
            for change in wanted:
                staged.append(files.stage(self.scope.root, change.path, change.after))
        except BaseException:
            for one in staged:
                files.discard(self.scope.root, one)
            raise
        self._staged += staged
        return Prepared(wanted, tuple(staged))

    def record(
        self,
        prepared: Prepared,
        *,
        actor: Actor,
        reason: str = "",
        run: str = "",
        proposal: str = "",
        undoes: str = "",
        key: Key | None = None,
    ) -> Batch:
        """Make the batch row; call it inside the transaction that claims what belongs to it.

        Busy when another batch of the scope is being written although the lock
        is ours (an advisory lock can vanish with its session).
        """
        key = key or Key()
        try:
            with transaction.atomic():
                batch = Batch.objects.create(
                    scope=self.scope.id,
                    root=str(self.scope.root),
                    actor_kind=actor.kind,
                    actor=actor.id,
                    via=actor.via,
                    source=actor.source,
                    reason=reason,
                    run=run,
                    proposal=proposal,
                    undoes=undoes,
                    idempotency_key=key.name,
                    idempotency_digest=key.digest,
                )
        except IntegrityError as error:
            raise Busy(f"Another write to {self.scope.id} is not finished.", scope=self.scope.id) from error
        texts.keep(text for change in prepared.changes if not change.append for text in (change.before, change.after))
        ChangeRow.objects.bulk_create(
            [_row(batch, position, change) for position, change in enumerate(prepared.changes)]
        )
        return batch

    def publish(self, batch: Batch, prepared: Prepared, *, on_failure: Callable[[], None] | None = None) -> None:
        """Rename every staged file into place and mark the batch done.

        When the disk refuses or a file is no longer what the change started
        from, what was renamed is put back and the batch fails; `on_failure` runs
        in the transaction that says so. If putting back fails too, the batch
        stays `writing` and is rolled forward later. Either way the error is raised.
        """
        try:
            for change, staged in zip(prepared.changes, prepared.staged, strict=True):
                self._put(change, staged)
        except (MemoryHubError, OSError) as error:
            self._put_back(batch, prepared, on_failure)
            if isinstance(error, Conflict):
                raise
            raise _storage_failed(error) from error
        finish(batch)

    def _put(self, change: Change, staged: files.Staged) -> None:
        standing = vault_changes.standing(self.scope.root, change.path, change.sha_before, change.sha_after)
        if standing == "after":
            files.discard(self.scope.root, staged)
        elif standing == "before":
            files.publish(self.scope.root, staged)
        else:
            raise Conflict(
                f"{change.path} changed while it was being written.",
                code="changed_since_seen",
                path=change.path,
            )

    def _put_back(self, batch: Batch, prepared: Prepared, on_failure: Callable[[], None] | None) -> None:
        """Take back what was renamed, but only while the batch is still ours to finish or fail."""
        try:
            if not Batch.objects.filter(pk=batch.pk, state=Batch.State.WRITING).exists():
                return
            for change in prepared.changes:
                now = vault_changes.standing(self.scope.root, change.path, change.sha_before, change.sha_after)
                if now == "after" and change.sha_before != change.sha_after:
                    files.replace(self.scope.root, change.path, change.before)
            with transaction.atomic(durable=True):
                if fail(batch) and on_failure:
                    on_failure()
        except (MemoryHubError, OSError, DatabaseError):
            logger.exception("Batch %s could not be put back; it will be rolled forward.", batch.public_id)

    def close(self) -> None:
        """Remove staged files that were never published."""
        for staged in self._staged:
            files.discard(self.scope.root, staged)


def _row(batch: Batch, position: int, change: Change) -> ChangeRow:
    row = ChangeRow(
        batch=batch,
        position=position,
        path=change.path,
        sha_before=change.sha_before,
        sha_after=change.sha_after,
    )
    if change.append:
        row.offset, row.added = len(change.before or b""), change.added
    else:
        row.before_id, row.after_id = change.sha_before, change.sha_after
    return row


def _storage_failed(error: Exception) -> StorageFailed:
    if isinstance(error, StorageFailed):
        return error
    return StorageFailed(f"The files could not be replaced: {error}.", code="io_error")


def finish(batch: Batch) -> None:
    """Mark a batch done. The files are in place, so a database that refuses is logged, not raised.

    The next writer of the scope finds every file "already done" and marks it then.
    """
    now = timezone.now()
    try:
        Batch.objects.filter(pk=batch.pk, state=Batch.State.WRITING).update(state=Batch.State.DONE, finished_at=now)
        batch.state, batch.finished_at = Batch.State.DONE, now
    except DatabaseError:
        logger.exception("Batch %s is written but could not be marked done.", batch.public_id)


def fail(batch: Batch) -> bool:
    """Mark a batch failed that is being written or stuck; False when it has ended otherwise meanwhile.

    Its idempotency key is freed, so that the caller may try again.
    """
    unfinished = Batch.objects.filter(pk=batch.pk, state__in=[Batch.State.WRITING, Batch.State.STUCK])
    changed = unfinished.update(
        state=Batch.State.FAILED, finished_at=timezone.now(), idempotency_key="", idempotency_digest=""
    )
    batch.refresh_from_db(fields=["state", "finished_at"])
    return changed == 1


def repeated(scope_id: str, actor: Actor, key: Key) -> Batch | None:
    """The batch an earlier call with this key made, or None.

    Conflict `idempotency_key_reused` when that call had another body,
    `batch_stuck` when what it wrote waits for a person to settle it. Keys are
    forgotten after `MEMORYHUB_IDEMPOTENCY_DAYS`.
    """
    if not key.name:
        return None
    mine = Batch.objects.filter(scope=scope_id, actor_kind=actor.kind, actor=actor.id, idempotency_key=key.name)
    oldest = timezone.now() - timedelta(days=settings.MEMORYHUB_IDEMPOTENCY_DAYS)
    mine.filter(created_at__lt=oldest).update(idempotency_key="", idempotency_digest="")
    batch = mine.first()
    if batch and batch.idempotency_digest != key.digest:
        raise Conflict(
            "This idempotency key was used for another request.", code="idempotency_key_reused", key=key.name
        )
    if batch and batch.state != Batch.State.DONE:
        raise Conflict(
            "What this key wrote stopped half-way, because the file was changed; a person has to settle it.",
            code="batch_stuck",
            batch=batch.public_id,
        )
    return batch


def root_of(batch: Batch) -> Path:
    return Path(batch.root)
