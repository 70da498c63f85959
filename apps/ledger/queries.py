"""Reading the ledger: one batch, the history, whether a write was undone."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.db.models import QuerySet

from apps.access import Actor
from apps.errors import NotFound
from apps.ledger import texts
from apps.ledger.models import Batch, Change


def batch(batch_id: str) -> Batch:
    """The batch with this public id, or NotFound."""
    found = Batch.objects.filter(public_id=batch_id).first()
    if found is None:
        raise NotFound(f"There is no batch {batch_id}.")
    return found


def visible(actor: Actor) -> QuerySet[Batch]:
    """Batches of the scopes this actor may see; the filter is in the query itself."""
    rows = Batch.objects.all()
    return rows if actor.scopes is None else rows.filter(scope__in=actor.scopes)


def history(
    actor: Actor,
    *,
    scope: str = "",
    path: str = "",
    by: str = "",
    run: str = "",
    before: str = "",
    limit: int = 50,
) -> list[Batch]:
    """Batches, newest first. `before` is the id of the batch to continue after."""
    rows = visible(actor).prefetch_related("changes")
    if scope:
        rows = rows.filter(scope=scope)
    if path:
        rows = rows.filter(pk__in=Change.objects.filter(path=path).values("batch_id"))
    if by:
        rows = rows.filter(actor=by)
    if run:
        rows = rows.filter(run=run)
    if before:
        after = visible(actor).filter(public_id=before).first()
        if after is None:
            raise NotFound(f"There is no batch {before}.")
        rows = rows.filter(pk__lt=after.pk)
    return list(rows.order_by("-id")[:limit])


def undone_by(batch_id: str) -> str:
    """The id of the batch that undid this one and still holds, or empty text."""
    return undone([batch_id]).get(batch_id, "")


def undone(batch_ids: Iterable[str]) -> dict[str, str]:
    """Of these batches those that are undone, with the id of the batch that did it.

    An undo that was itself undone does not count: the write stands again. One
    query for each level of undoing, however many batches are asked about.
    """
    undoers: dict[str, list[str]] = {}
    found: list[str] = []
    level = set(batch_ids)
    while level:
        found += level
        rows = Batch.objects.filter(undoes__in=level, state=Batch.State.DONE).order_by("-id")
        level = set()
        for undoes, undoer in rows.values_list("undoes", "public_id"):
            undoers.setdefault(undoes, []).append(undoer)
            level.add(undoer)
    holding: dict[str, str] = {}
    for batch_id in reversed(found):  # the undoers of a batch were found after it, so they are settled before it
        standing = next((undoer for undoer in undoers.get(batch_id, ()) if undoer not in holding), "")
        if standing:
            holding[batch_id] = standing
    return holding


def states(batch_ids: Iterable[str]) -> dict[str, str]:
    """The states of these batches by public id."""
    return dict(Batch.objects.filter(public_id__in=list(batch_ids)).values_list("public_id", "state"))


def open_batches() -> list[Batch]:
    """Batches that are not finished: being written, or stuck and waiting for a person."""
    return list(
        Batch.objects.filter(state__in=[Batch.State.WRITING, Batch.State.STUCK])
        .prefetch_related("changes")
        .order_by("id")
    )


@dataclass(frozen=True)
class Version:
    """One file of a batch as a page shows it: both texts, or only the appended part."""

    path: str
    before: bytes | None
    after: bytes | None
    append: bool


def version(row: Change) -> Version:
    """The texts of one change; of an append the part that was added. NotFound when a text is no longer kept."""
    if row.is_append:
        return Version(row.path, b"", bytes(row.added or b""), True)
    return Version(row.path, texts.fetch(row.sha_before), texts.fetch(row.sha_after), False)


def last_written(scope_id: str, path: str) -> datetime | None:
    """When memoryhub last wrote this file, or None when it never did."""
    rows = Change.objects.filter(path=path, batch__scope=scope_id, batch__state=Batch.State.DONE)
    return rows.order_by("-batch_id").values_list("batch__created_at", flat=True).first()
