"""Plan the undo of a batch against the files as they are now."""

from collections.abc import Callable

from apps.errors import Conflict
from apps.ledger import texts
from apps.ledger.models import Batch
from apps.ledger.models import Change as ChangeRow
from apps.vault import files, frontmatter, merge
from apps.vault.changes import Change

Read = Callable[[str], bytes | None]

# Bytes of a text that is still merged: a merge takes some seconds a megabyte, and the scope waits meanwhile.
MOST_MERGED = 512 * 1024


def plan(batch: Batch, read: Read) -> list[Change]:
    """The changes that take the batch back. Conflict `undo_conflict` names file and places, all or nothing."""
    changes, conflicts = [], []
    for row in batch.changes.all():
        now = read(row.path)
        try:
            changes.append(Change(row.path, now, _without(row, now)))
        except Conflict as error:
            conflicts.append({"path": row.path, "reason": error.message, **error.details})
    if conflicts:
        named = ", ".join(str(conflict["path"]) for conflict in conflicts)
        raise Conflict(
            f"{named} changed since in the same place; nothing was undone.",
            code="undo_conflict",
            conflicts=conflicts,
        )
    return changes


def _without(row: ChangeRow, now: bytes | None) -> bytes | None:
    """The file as it would be had the change not happened."""
    sha = files.sha256(now)
    if row.is_append:
        return _cut_out(row, now)
    if sha == row.sha_after:
        return texts.fetch(row.sha_before)
    if sha == row.sha_before:
        return now
    if now is None:
        raise Conflict("The file was deleted since.")
    if row.sha_after is None:
        raise Conflict("The file was made anew since.")
    return _or_no_file(_merged(texts.fetch(row.sha_after) or b"", now, texts.fetch(row.sha_before) or b""))


def _cut_out(row: ChangeRow, now: bytes | None) -> bytes | None:
    """Take an append out again wherever its bytes stand now, nearest to where they were put."""
    added, offset = bytes(row.added or b""), row.offset or 0
    if now is None:
        raise Conflict("The file was deleted since.")
    # The first line end may only have closed an unfinished last line; what follows now still needs it.
    piece = added.lstrip(b"\r\n")
    lead = len(added) - len(piece)
    if now[offset:] == added and files.sha256(now[:offset]) == row.sha_before:
        return now[:offset]
    if now[offset : offset + len(added)] == added:
        return _or_no_file(now[: offset + lead] + now[offset + len(added) :])
    found = _nearest_line(now, piece, offset + lead)
    if found is not None:
        return _or_no_file(now[:found] + now[found + len(piece) :])
    if files.sha256(now) == row.sha_before:
        return now
    raise Conflict("The appended lines were changed since.", added=piece.decode(errors="replace"))


def _or_no_file(left: bytes) -> bytes | None:
    """No file where nothing is left of one, as when the last of a day's lines is taken back."""
    return left if left.strip() else None


def _nearest_line(now: bytes, piece: bytes, wanted: int) -> int | None:
    """Where the bytes stand at the beginning of a line, nearest to the wanted offset."""
    best: int | None = None
    start = now.find(piece)
    while piece and start >= 0:
        at_line = start == 0 or now[start - 1 : start] in {b"\n", b"\r"} or now[:start] == frontmatter.BOM
        if at_line and (best is None or abs(start - wanted) < abs(best - wanted)):
            best = start
        start = now.find(piece, start + 1)
    return best


def _merged(base: bytes, ours: bytes, theirs: bytes) -> bytes:
    if max(len(base), len(ours), len(theirs)) > MOST_MERGED:
        raise Conflict("The file was changed since, and is too large to tell the changes apart.", limit=MOST_MERGED)
    try:
        decoded = [text.removeprefix(frontmatter.BOM).decode() for text in (base, ours, theirs)]
    except UnicodeDecodeError as error:
        raise Conflict("The file is not UTF-8, so later changes cannot be told apart.") from error
    result = merge.merge(*decoded)
    if result.text is None:
        raise Conflict(
            "Later changes touch the same entries.",
            places=[
                {"line": place.line, "written": place.base, "now": place.ours, "before": place.theirs}
                for place in result.conflicts
            ],
        )
    return (frontmatter.BOM if ours.startswith(frontmatter.BOM) else b"") + result.text.encode()
