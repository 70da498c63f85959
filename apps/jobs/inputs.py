"""Chooses the notes a job reads, and quotes them so that their text cannot speak for the operator."""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from apps.jobs import cutting

DATES = 7  # distinct dates with text, memory.md 6.3
BUDGET = 40_000  # characters for current memory and notes together
LEAST = 8_000  # characters notes get however long the memory is


@dataclass(frozen=True)
class Note:
    """One dated note: the file stem, the date (its first ten characters, perhaps no real day), the text."""

    name: str
    date: str
    text: str

    @property
    def key(self) -> str:
        """Name and content in one word; a note that was written to later is another key."""
        digest = hashlib.sha256(self.text.strip().encode("utf-8", "surrogatepass")).hexdigest()
        return f"{self.name}:{digest[:16]}"

    @property
    def block(self) -> str:
        """The note as it stands in a prompt: `## <name>`, newline, trimmed text."""
        return f"## {self.name}\n{self.text.strip()}"


@dataclass(frozen=True)
class Inputs:
    """What a job reads.

    `notes` are in prompt order, newest first. `keys` are those of the notes as
    they are on disk, also when one had to be cut. `dates` are those a rewrite may
    use: of every note within the window, given or not, and of the older ones
    given. `left_out` names notes that no job has read yet and this one does not
    read either. `cut` names the note that is given only in part.
    """

    notes: tuple[Note, ...]
    keys: frozenset[str]
    dates: frozenset[str]
    left_out: tuple[str, ...]
    cut: str | None = None


def collect(
    notes: Iterable[Note],
    memory: str,
    *,
    dates: int = DATES,
    budget: int = BUDGET,
    least: int = LEAST,
    folded: frozenset[str] = frozenset(),
) -> Inputs:
    """Take what no job has read yet first: the newest dates, then older notes; then what is known, as context.

    `folded` holds the keys of notes that an earlier, settled run has read.
    Blank notes take no place. Of the unread notes within the newest `dates`
    dates, newest first, the first block that does not fit ends the choice. What
    is left of the budget goes to older unread notes, oldest first; one too long
    for it does not keep the others out. When none of all these fits, the first is
    cut at an entry border. Only then come the notes of those dates that are
    folded already: read again before the unread ones they would fill the budget
    night after night, and old notes would never get their turn (docs/adr/0005).
    """
    filled = sorted((note for note in notes if note.text.strip()), key=lambda note: note.name, reverse=True)
    window = set(sorted({note.date for note in filled}, reverse=True)[:dates])
    unread = [note for note in filled if note.key not in folded]
    recent = [note for note in unread if note.date in window]
    older = [note for note in reversed(unread) if note.date not in window]
    room = max(budget - len(memory.strip()), least)
    given: dict[str, Note] = {}
    cut = None

    def take(row: Iterable[Note], *, past_the_long: bool = False) -> None:
        nonlocal room
        for note in row:
            if len(note.block) <= room:
                given[note.name] = note
                room -= len(note.block)
            elif not past_the_long:
                return

    take(recent)
    take(older, past_the_long=True)
    if unread and not given:
        first = (recent or older)[0]
        given[first.name] = _shortened(first, room)
        cut, room = first.name, 0
    take(note for note in filled if note.date in window and note.key in folded)
    read = [note for note in filled if note.name in given]
    return Inputs(
        notes=tuple(given[note.name] for note in read),
        keys=frozenset(note.key for note in read),
        dates=frozenset(window | {note.date for note in read}),
        left_out=tuple(note.name for note in filled if note.name not in given and note.key not in folded),
        cut=cut,
    )


def _shortened(note: Note, room: int) -> Note:
    """The note's first whole entries, and a line that says the rest is missing; `room` counts the block."""
    text = note.text.rstrip()  # lines keep their numbers
    told = f"\n\n(This note is cut here; it has {len(text)} characters in all.)"
    room -= len(replace(note, text="").block) + len(told)
    kept, _ = cutting.split(text, room)
    return replace(note, text=kept + told)


def quoted(notes: Sequence[Note]) -> str:
    """The notes' blocks, an empty line apart, inside one wrapper that no note can close."""
    return quote("\n\n".join(note.block for note in notes), label="notes")


def quote(text: str, *, label: str) -> str:
    """The text between two marker lines that do not occur in it; the same text gives the same markers.

    The marker carries a digest of the text, so whoever writes a closing marker
    into a note changes the marker by doing so.
    """
    seed = text
    while True:
        digest = hashlib.sha256(seed.encode("utf-8", "surrogatepass")).hexdigest()[:12]
        if digest not in text:
            return f"<{label}-{digest}>\n{text}\n</{label}-{digest}>"
        seed += digest
