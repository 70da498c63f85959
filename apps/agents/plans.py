"""From what somebody wants to what changes: plain functions over texts, with no clock and no disk."""

from collections.abc import Callable
from datetime import datetime

from apps.errors import Invalid, NotFound
from apps.vault import formats, layout
from apps.vault.changes import Change, appended

Read = Callable[[str], bytes | None]


def note_stem(day: str) -> str:
    """The note's name when it is one, else Invalid `bad_name`. Whether the day exists is not asked."""
    if not layout.NOTE_STEM.fullmatch(day):
        raise Invalid(
            "A note is named YYYY-MM-DD, if you like with a hyphen and more of a to z, 0 to 9 and hyphens.",
            code="bad_name",
            field="day",
        )
    return day


def save_line(text: str, moment: datetime, read: Read) -> Change:
    """Append `- HH:MM text` to the plain note of the moment's day, which is made when missing.

    `moment` is the agent's wall clock. Invalid `empty` for a blank text.
    """
    line = text.strip()
    if not line:
        raise Invalid("There is nothing to save: the text is empty.", code="empty", field="text")
    day = f"{moment:%Y-%m-%d}"
    path = layout.note_path(day)
    before = read(path)
    entry = f"- {moment:%H:%M} {line}"
    if not before:
        return Change(path, before, f"# {day}\n\n{entry}\n".encode())
    return appended(path, before, formats.append_line(before, entry))


def put(path: str, text: str, read: Read) -> Change:
    """Replace a file by exactly this text; empty text leaves an empty file, never none."""
    return Change(path, read(path), text.encode())


def delete(path: str, read: Read) -> Change:
    """Remove a file; NotFound when it is gone already."""
    before = read(path)
    if before is None:
        raise NotFound(f"There is no file {path}.", path=path)
    return Change(path, before, None)
