"""A Markdown text as entries: the unit of a search hit, of a comparison and of a decision."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from typing import Literal

from apps.vault import lines

Kind = Literal["bullet", "prose", "heading"]
Place = tuple[tuple[str, ...], str]

_ITEM = re.compile(r"\s*(?:[-*+][ \t]|[0-9]+\. +\S)")
_FENCE = re.compile(r"\s*(?:[-*+][ \t]+|[0-9]+\. +)?(`{3,}(?=[^`]*$)|~{3,})")
_FIELD = re.compile(r"[\w\"'][^:]*:(?:\s|$)")
_TAB = 4
_DEEPEST = 6


@dataclass(frozen=True)
class Entry:
    """A bullet with its continuation lines, a paragraph, or a heading line, and where it stands.

    `start` and `end` are line numbers from 1, both included; `headings` the titles above it, outermost
    first; `parent` the key of the bullet it is nested under, empty at the top level.
    """

    text: str
    start: int
    end: int
    headings: tuple[str, ...]
    parent: str
    kind: Kind

    @cached_property
    def key(self) -> str:
        """The line key of its lines joined."""
        return lines.key(self.text)

    @property
    def date(self) -> date | None:
        """The day its last line carries; None without one or when it is no real day."""
        return lines.date_of(self.text)

    @property
    def place(self) -> Place:
        return (self.headings, self.parent)


def parse(text: str) -> list[Entry]:
    """The entries of a text in file order, headings among them.

    A fenced block belongs to the entry it stands in, whatever its lines look like; a fence that is never
    closed is an ordinary line. Frontmatter is one entry of prose. Nothing but blank lines is left out.
    """
    return list(_Reader(lines.split(text.removeprefix("\ufeff"))).entries())


def title(heading: str) -> str:
    """The text of a heading line, without its leading signs."""
    return heading.strip().lstrip("# \t")


def level(heading: str) -> int:
    """How many signs a heading line begins with, at most 6 as in Markdown; 1 is the highest heading."""
    trimmed = heading.strip()
    return min(len(trimmed) - len(trimmed.lstrip("#")), _DEEPEST)


class _Reader:
    def __init__(self, source: Sequence[lines.Line]) -> None:
        self._source = source
        self._levels: list[int] = []
        self._chain: tuple[str, ...] = ()
        self._bullets: list[tuple[int, Entry]] = []
        self._never_closed: dict[str, int] = {}

    def entries(self) -> Iterator[Entry]:
        # `first` is the index of the open entry's first line.
        first: int | None = None
        kind: Kind = "prose"
        index = self._frontmatter_end()
        if index:
            yield self._entry(0, index, kind)
        while index < len(self._source):
            line = self._source[index].text.rstrip()
            after = index + 1
            heading, item = line.lstrip().startswith("#"), _ITEM.match(line)
            if first is not None and (heading or item or not line):
                yield self._entry(first, index, kind)
                first = None
            if heading:
                yield self._heading(index)
            elif line:
                if first is None:
                    first, kind = index, "bullet" if item else "prose"
                if "```" in line or "~~~" in line:
                    after = self._fence_end(index) or after
            index = after
        if first is not None:
            yield self._entry(first, len(self._source), kind)

    def _heading(self, index: int) -> Entry:
        line = self._source[index]
        depth = level(line.text)
        while self._levels and self._levels[-1] >= depth:
            self._levels.pop()
        above = self._chain[: len(self._levels)]
        self._levels.append(depth)
        self._chain = (*above, title(line.text))
        self._bullets = []
        return Entry(line.text.strip(), line.number, line.number, above, "", "heading")

    def _entry(self, first: int, after: int, kind: Kind) -> Entry:
        texts = [line.text.rstrip() for line in self._source[first:after]]
        opening = texts[0].lstrip()
        indent = len(texts[0][: len(texts[0]) - len(opening)].expandtabs(_TAB))
        while self._bullets and self._bullets[-1][0] >= indent:
            self._bullets.pop()
        parent = self._bullets[-1][1].key if self._bullets else ""
        texts[0] = opening
        entry = Entry("\n".join(texts), first + 1, after, self._chain, parent, kind)
        if kind == "bullet":
            self._bullets.append((indent, entry))
        return entry

    def _frontmatter_end(self) -> int:
        """The index after the closing fence; 0 unless the text begins with fields between `---` lines."""
        source = self._source
        if not source or source[0].text.rstrip() != "---":
            return 0
        field = next((line.text for line in source[1:] if not line.text.startswith("#")), "")
        if not _FIELD.match(field):
            return 0
        return next((n + 1 for n in range(2, len(source)) if source[n].text.rstrip() == "---"), 0)

    def _fence_end(self, index: int) -> int:
        """The index after the line that closes a fence opened here; 0 when none is opened, or none closed."""
        found = _FENCE.match(self._source[index].text)
        if not found:
            return 0
        sign, length = found[1][0], len(found[1])
        # A fence in vain is remembered: many of them would each read the rest of the text again.
        if length >= self._never_closed.get(sign, length + 1):
            return 0
        for n in range(index + 1, len(self._source)):
            closing = self._source[n].text.strip()
            if len(closing) >= length and closing == sign * len(closing):
                return n + 1
        self._never_closed[sign] = length
        return 0
