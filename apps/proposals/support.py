"""Where a changed entry comes from: the one note entry that holds most of its words."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter

from apps.vault import entries, folding, lines
from apps.vault.entries import Entry
from apps.vault.pairing import Difference

# Share of an entry's content words that one note entry must hold, in percent (decisions.md, Proposals).
SHARE = 60
# Note entries looked at per change. Rare words come first, so a change whose words stand everywhere
# ("job 7 finished ok in 31s") still costs no more than one whose words are rare.
CANDIDATES = 64

_NOTE_DATE = re.compile(r"(\d{4}-\d{2}-\d{2})(?:-[a-z0-9-]+)?\.md\Z")


@dataclass(frozen=True)
class NoteText:
    """A note as the run read it; `path` is relative to the scope ("memory/2026-09-18.md").

    `untrusted` names who wrote a line, by its number from 1, where that is neither a
    person nor the agent itself ("delegate:scraper").
    """

    path: str
    text: str
    untrusted: Mapping[int, str] = field(default_factory=dict, hash=False)

    def writer(self, start: int, end: int) -> str:
        """The untrusted writers of these lines (from 1, both inclusive), joined by ", "; empty when there is none."""
        found = (self.untrusted[number] for number in range(start, end + 1) if number in self.untrusted)
        return ", ".join(dict.fromkeys(found))

    @property
    def date(self) -> str:
        """The day in the file's name, "" for a file that is named otherwise."""
        return note_date(self.path)


@dataclass(frozen=True)
class Support:
    """The note lines (numbered from 1, both inclusive) that back an entry: `found` of its `total` words.

    `writer` is who wrote them, "" for a person or the agent itself.
    """

    path: str
    line_start: int
    line_end: int
    found: int
    total: int
    writer: str = ""


@dataclass(frozen=True)
class QuotedLine:
    """A line of a note as it stands there; `supporting` marks those that `Support` names."""

    number: int
    text: str
    supporting: bool


@dataclass
class Work:
    """Counts the comparisons of one change with one note entry, so that tests can bound them."""

    comparisons: int = 0


def words_of(entry: Entry) -> frozenset[str]:
    return frozenset(folding.content_words(entry.text))


def support(
    differences: Iterable[Difference], notes: Sequence[NoteText], *, work: Work | None = None
) -> dict[str, Support]:
    """The best source of each added, reworded or merged entry that has one, by the difference's id.

    A source is one note entry with 60 % of the entry's content words, and with at
    least one of the words that the change brings, if it brings any: a note that
    merely repeats what memory already said proves nothing about the new words.
    Best is the greatest share, then the newest note, then the first line. A trusted
    source goes before untrusted ones, unless one of those holds a new word that it
    lacks: then the entry took that word from there.
    """
    index = _Index(notes, work or Work())
    found = {}
    for difference in differences:
        if difference.new is None or difference.kind not in {"added", "reworded", "merged"}:
            continue
        words = words_of(difference.new)
        fresh = words.difference(*map(words_of, difference.old)) if difference.old else frozenset()
        best = index.best(words, fresh)
        if best:
            found[difference.id] = best
    return found


def note_date(path: str) -> str:
    """The day in a note's file name, "" for a file that is named otherwise."""
    match = _NOTE_DATE.search(path)
    return match[1] if match else ""


def quoted(note: Sequence[lines.Line], source: Support, around: int = 2) -> list[QuotedLine]:
    """The supporting lines of the note with `around` lines before and after them."""
    return [
        QuotedLine(line.number, line.text, source.line_start <= line.number <= source.line_end)
        for line in note[max(0, source.line_start - around - 1) : source.line_end + around]
    ]


@dataclass(frozen=True)
class _Source:
    path: str
    start: int
    end: int
    words: frozenset[str]
    writer: str


@dataclass
class _Index:
    """The entries of all notes, best first among equals, and for each word where it stands."""

    notes: Sequence[NoteText]
    work: Work
    sources: list[_Source] = field(default_factory=list)
    places: dict[str, list[int]] = field(default_factory=dict)
    exact: dict[frozenset[str], int] = field(default_factory=dict)
    largest: int = 0

    def __post_init__(self) -> None:
        for note in sorted(self.notes, key=attrgetter("date", "path"), reverse=True):
            for entry in entries.parse(note.text):
                words = words_of(entry)
                number = len(self.sources)
                self.sources.append(
                    _Source(note.path, entry.start, entry.end, words, note.writer(entry.start, entry.end))
                )
                if words not in self.exact or self.sources[self.exact[words]].writer:
                    self.exact[words] = number
                self.largest = max(self.largest, len(words))
                for word in words:
                    self.places.setdefault(word, []).append(number)

    def best(self, words: frozenset[str], fresh: frozenset[str]) -> Support | None:
        needed = -(-len(words) * SHARE // 100)
        fitting: list[tuple[int, int]] = []
        for number in self.candidates(words, needed):
            source = self.sources[number]
            self.work.comparisons += 1
            found = len(words & source.words)
            if found >= needed and not (fresh and fresh.isdisjoint(source.words)):
                fitting.append((-found, number))
        if not fitting:
            return None
        source = self.telling([self.sources[number] for _, number in sorted(fitting)], fresh or words)
        return Support(source.path, source.start, source.end, len(words & source.words), len(words), source.writer)

    def telling(self, fitting: Sequence[_Source], fresh: frozenset[str]) -> _Source:
        """Of the sources, best first, the one to name."""
        trusted = next((source for source in fitting if not source.writer), None)
        if trusted is None:
            return fitting[0]
        elsewhere = fresh - trusted.words
        return next((source for source in fitting if source.writer and not elsewhere.isdisjoint(source.words)), trusted)

    def candidates(self, words: frozenset[str], needed: int) -> list[int]:
        """Note entries that can hold `needed` of the words, at most `CANDIDATES`, without repeats.

        Whoever holds `needed` of n words holds one of any n - needed + 1, so the
        rarest so many are enough to find them all. An entry with exactly these
        words is found even when each of them is common.
        """
        if not words or needed > self.largest:
            return []
        rarest = sorted(words, key=lambda word: (len(self.places.get(word, ())), word))
        chosen: dict[int, None] = {}
        if words in self.exact:
            chosen[self.exact[words]] = None
        for word in rarest[: len(words) - needed + 1]:
            for number in self.places.get(word, ())[:CANDIDATES]:
                if len(chosen) == CANDIDATES:
                    return list(chosen)
                if len(self.sources[number].words) >= needed:
                    chosen[number] = None
        return list(chosen)
