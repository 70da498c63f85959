"""One batch as programs get it, and as its page draws it: file by file, the lines that went and came."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from django.utils.formats import date_format
from django.utils.timezone import localtime
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.errors import NotFound
from apps.ledger import queries
from apps.ledger.models import Batch
from apps.ledger.models import Change as ChangeRow
from apps.vault import lines, pairing

# Drawn at most: lines of a file, characters of a line; compared at most: characters. A page must open, whatever was
# written.
MOST_LINES, MOST_LINE_CHARACTERS, MOST_CHARACTERS = 400, 2_000, 1_000_000


@dataclass(frozen=True)
class FileLine:
    """A line of a file; `number` counts in the text it stands in."""

    number: int
    text: str
    change: Literal["", "del", "ins"]


@dataclass(frozen=True)
class FileChange:
    """One file of a batch: what happened (`word`), how much (`hint`), and the lines concerned."""

    path: str
    word: str
    hint: str
    lines: tuple[FileLine, ...]
    url: str = ""


@dataclass(frozen=True)
class Piece:
    text: str
    url: str = ""


def record(batch: Batch, undone_by: str | None = None) -> dict[str, Any]:
    """A batch as programs get it: who, why, and the digests of every file before and after."""
    return {
        "id": batch.public_id,
        "scope": batch.scope,
        "state": batch.state,
        "actor": {"kind": batch.actor_kind, "id": batch.actor},
        "via": batch.via,
        "source": batch.source,
        "reason": batch.reason,
        "run": batch.run or None,
        "proposal": batch.proposal or None,
        "undoes": batch.undoes or None,
        "undone_by": undone_by,
        "created_at": batch.created_at,
        "finished_at": batch.finished_at,
        "changes": [
            {
                "path": row.path,
                "kind": "append" if row.is_append else "replace",
                "sha256_before": row.sha_before,
                "sha256_after": row.sha_after,
            }
            for row in batch.changes.all()
        ],
    }


def moment(at: datetime | None) -> str:
    """A date-time as every page shows it: “30 Nov 2026, 15:50”; empty for None."""
    return date_format(localtime(at), "DATETIME_FORMAT").replace(" ", "\u00a0") if at else ""


def facts(batch: Batch, who: str = "") -> tuple[Piece, ...]:
    """Who wrote when and why, in one line; `who` is a better name than the actor's id, if there is one."""
    facts = {"who": who or batch.actor, "when": moment(batch.created_at), "via": batch.via}
    told = _("%(who)s, %(when)s, through %(via)s.") % facts
    return (Piece(f"{told} {batch.reason}" if batch.reason else told),)


def file_changes(batch: Batch) -> list[FileChange]:
    return [_file_change(row) for row in batch.changes.all()]


def _file_change(row: ChangeRow) -> FileChange:
    try:
        version = queries.version(row)
    except NotFound:
        return FileChange(row.path, _word(row), _("The text is no longer kept."), ())
    before, after = (_text(version.before), _text(version.after))
    if len(before) + len(after) > MOST_CHARACTERS:
        return FileChange(row.path, _word(row), _("Too long to show here."), ())
    if version.append:
        shown = [FileLine(0, line.text[:MOST_LINE_CHARACTERS], "ins") for line in lines.split(after) if line.text]
    else:
        shown = list(_changed(before, after))
    hidden = len(shown) - MOST_LINES
    hint = ngettext("%(n)d line", "%(n)d lines", len(shown)) % {"n": len(shown)}
    if hidden > 0:
        hint = _("%(hint)s, the first %(shown)d shown") % {"hint": hint, "shown": MOST_LINES}
    return FileChange(row.path, _word(row), hint, tuple(shown[:MOST_LINES]))


def _word(row: ChangeRow) -> str:
    if row.is_append:
        return _("Appended.")
    if row.sha_before is None:
        return _("Made.")
    return _("Deleted.") if row.sha_after is None else _("Changed.")


def _text(data: bytes | None) -> str:
    return (data or b"").decode("utf-8", errors="replace")


def _changed(before: str, after: str) -> Iterator[FileLine]:
    """The lines of every changed entry, the old ones first."""
    old_lines, new_lines = lines.split(before), lines.split(after)
    for one in pairing.differences(before, after):
        for entry in one.old:
            yield from (_line(line, "del") for line in old_lines[entry.start - 1 : entry.end])
        if one.new:
            yield from (_line(line, "ins") for line in new_lines[one.new.start - 1 : one.new.end])


def _line(line: lines.Line, change: Literal["del", "ins"]) -> FileLine:
    return FileLine(line.number, line.text[:MOST_LINE_CHARACTERS], change)
