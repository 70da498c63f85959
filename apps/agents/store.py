"""Read one agent's memory from its folder. No clock, no settings, no locks."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from apps.errors import MemoryHubError
from apps.vault import files, formats, layout, paths

# A line that begins with a hyphen and a space, after any line end an editor writes.
_ENTRY = re.compile(rb"(?:\r\n|\r|\n)- ")


@dataclass(frozen=True)
class Note:
    """A day note: `day` is its stem, `date` the stem's first ten characters, `chars` its length in characters.

    `data` are its bytes, `text` the same decoded for display and models.
    """

    day: str
    date: str
    chars: int
    path: str
    text: str
    data: bytes
    sha256: str
    modified: float


@dataclass(frozen=True)
class Trouble:
    """A file that is kept and searched but cannot be read as what it is; `line` is 0 for the whole file."""

    path: str
    line: int
    reason: str


def memory_path(root: Path) -> str:
    """The name of the agent's memory file: MEMORY.md, or another spelling when only that is there.

    A folder from a case-blind disk may hold `memory.md`; it is the memory then, once.
    """
    spellings = [file.path for file in _spellings(root)]
    return spellings[0] if spellings and layout.MEMORY not in spellings else layout.MEMORY


def _spellings(root: Path) -> list[files.Found]:
    return [file for file in files.listing(root) if file.path.lower() == layout.MEMORY.lower()]


def read_memory(root: Path) -> tuple[str, bytes | None]:
    """The path of the memory file and its bytes, None when there is none yet."""
    path = memory_path(root)
    return path, files.read(root, path)


def decode(data: bytes | None) -> str:
    """The text for display, with undecodable bytes replaced; a missing file reads as empty."""
    return (data or b"").decode("utf-8", errors="replace")


@dataclass(frozen=True)
class NoteName:
    """A day note as a listing knows it, without reading it; `size` in bytes."""

    day: str
    path: str
    size: int


def note_names(root: Path) -> list[NoteName]:
    """The day notes by name alone, in the order of `notes`, unreadable ones included."""
    found = [
        NoteName(stem, file.path, file.size)
        for file in files.listing(root, layout.NOTES)
        if not file.problem and layout.NOTE_STEM.fullmatch(stem := _stem(file.path))
    ]
    return sorted(found, key=lambda note: note.day, reverse=True)


def _stem(path: str) -> str:
    return path.removeprefix(layout.NOTES + "/").removesuffix(".md")


def notes(root: Path) -> list[Note]:
    """The day notes, newest first; a suffixed note comes before the plain one of its day (memory.md 3.1).

    A link or special file with such a name is left out here, one that cannot be
    read stands here as empty; `troubles` names both.
    """
    found = []
    for file in files.listing(root, layout.NOTES):
        stem = _stem(file.path)
        if file.problem or not layout.NOTE_STEM.fullmatch(stem):
            continue
        data = _readable(root, file)
        text = decode(data)
        found.append(Note(stem, stem[:10], len(text), file.path, text, data, files.sha256(data) or "", file.modified))
    return sorted(found, key=lambda note: note.day, reverse=True)


def _readable(root: Path, file: files.Found) -> bytes:
    """The file's bytes; none for one that cannot be read, which must not stand in the way of the others."""
    try:
        return (files.read(root, file.path) if not file.problem else None) or b""
    except MemoryHubError:
        return b""


def count_entries(root: Path) -> int:
    """How many lines start with a hyphen and a space over all files directly in `memory/` (memory.md 3.2)."""
    count = 0
    for file in files.listing(root, layout.NOTES):
        data = _readable(root, file)
        count += data.startswith(b"- ") + len(_ENTRY.findall(data))
    return count


def troubles(root: Path, scope_id: str, persona: Sequence[str]) -> list[Trouble]:
    """Every file of the scope that a person should look at, with line and reason; nothing is skipped in silence."""
    found: list[Trouble] = []
    spellings = _spellings(root)
    for stray in spellings[1:] if len(spellings) > 1 else []:
        other = [file.path for file in spellings if file.path != stray.path]
        found.append(
            Trouble(
                stray.path,
                0,
                f"Stray: {layout.MEMORY if layout.MEMORY in other else other[0]} is the memory.",
            )
        )
    for folder, deep in layout.folders(scope_id):
        found += [Trouble(path, 0, reason) for path, reason in files.strays(root, folder, deep=deep)]
        for file in files.listing(root, folder, deep=deep):
            kind = layout.kind(scope_id, file.path, persona)
            if kind is None:
                continue
            if file.problem:
                found.append(Trouble(file.path, 0, file.problem))
                continue
            found += _read_troubles(root, file.path, kind)
    return sorted(found, key=lambda trouble: (trouble.path, trouble.line))


def _read_troubles(root: Path, path: str, kind: str) -> list[Trouble]:
    try:
        paths.clean(path)
        data = files.read(root, path)
    except MemoryHubError as error:
        return [Trouble(path, 0, error.message)]
    if data is None:
        return []
    document = formats.read(data, kind)
    return [Trouble(path, problem.line, problem.reason) for problem in document.problems]
