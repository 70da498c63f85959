"""What a merge decides about: a text in units, and one side compared with the text both sides began with."""

from bisect import bisect_right
from collections import defaultdict, deque
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from apps.vault import alignment, frontmatter, lines, pairing
from apps.vault.entries import Place, parse

_STAMP = "updated:"
_STAMP_KEY = ("stamp", "", "")


@dataclass(frozen=True)
class Unit:
    """An entry or one line of anything else; `text` is without its last line end.

    Entries are bullets with their continuation lines, list items among the fields, and the `updated:` field.
    `key` is its sort, what it says, and for a nested bullet the key of its parent.
    """

    text: str
    end: str
    key: tuple[str, str, str]
    line: int
    is_entry: bool
    place: Place = ((), "")

    @cached_property
    def words(self) -> str:
        """The text without what never conflicts."""
        if self.key == _STAMP_KEY:
            return ""
        text = self.text.replace("\r\n", "\n").rstrip()
        return lines.without_date(text) if self.is_entry else text


@dataclass(frozen=True)
class Hunk:
    """Where a side differs from the base in order: base units `start` to `stop`, its own `first` to `last`.

    `lines` are those of its own units that are no entries, by unit.
    """

    start: int
    stop: int
    first: int
    last: int
    lines: Mapping[int, str]

    @cached_property
    def prose(self) -> list[str]:
        return [line for line in self.lines.values() if line]

    @cached_property
    def headings(self) -> frozenset[str]:
        return frozenset(line for line in self.prose if line.lstrip().startswith("#"))


class Side:
    """One side against the base: which of its units is which base unit, in place or moved."""

    def __init__(self, base_text: str, base: list[Unit], text: str) -> None:
        self.base, self.units = base, split(text)
        self.in_place = dict(alignment.common([unit.key for unit in base], [unit.key for unit in self.units]))
        self.moved: dict[int, int] = {}
        taken = set(self.in_place.values())
        self._gone = {b for b, unit in enumerate(base) if unit.is_entry and b not in self.in_place}
        self._new = {n for n, unit in enumerate(self.units) if unit.is_entry and n not in taken}
        self._match(range(len(base)), range(len(self.units)), parts=3)
        if self._gone and self._new:
            self._pair_reworded(pairing.differences(base_text, text))
        for hunk in list(self._hunks()):
            self._pair_within(hunk)
        self.hunks = list(self._hunks())
        self.at = {hunk.start: hunk for hunk in self.hunks}
        self.origin = {n: b for b, n in (self.in_place | self.moved).items()}

    def unit(self, b: int) -> Unit | None:
        """What has become of a base unit; None when it is gone."""
        n = self.in_place.get(b, self.moved.get(b))
        return None if n is None else self.units[n]

    def line(self, b: int) -> int:
        """The line of a base unit, or of what stands where it was."""
        unit = self.unit(b)
        if unit:
            return unit.line
        return self.line_at(self.hunks[bisect_right(self.hunks, b, key=lambda hunk: hunk.start) - 1].first)

    def line_at(self, n: int) -> int:
        """The line where a unit begins, or the one after the last unit."""
        if n < len(self.units):
            return self.units[n].line
        return self.units[-1].line + len(lines.split(self.units[-1].text)) if self.units else 1

    def _pair_reworded(self, differences: Iterable[pairing.Difference]) -> None:
        """Bullets that `pairing` takes for one entry in other words."""
        old_at = {self.base[b].line: b for b in self._gone}
        new_at = {self.units[n].line: n for n in self._new}
        for difference in differences:
            n = new_at.get(difference.new.start) if difference.new else None
            for entry in difference.old if n is not None else ():
                b = old_at.get(entry.start)
                # With the same words below another parent it may as well be another entry.
                if b in self._gone and n in self._new and self.base[b].key[:2] != self.units[n].key[:2]:
                    self._join(b, n)

    def _pair_within(self, hunk: Hunk) -> None:
        """Bullets that stayed below a reworded parent, and those that replace each other one for one."""
        old, new = range(hunk.start, hunk.stop), range(hunk.first, hunk.last)
        self._match(old, new, parts=2)
        left = [b for b in old if b in self._gone]
        left_new = [n for n in new if n in self._new]
        if len(left) == len(left_new):
            for b, n in zip(left, left_new, strict=True):
                self._join(b, n)
        last = hunk.first - 1
        for b in old:
            # In order within one hunk: nothing was moved, only replaced.
            if last < self.moved.get(b, -1) < hunk.last:
                self.in_place[b] = last = self.moved.pop(b)

    def _match(self, old: Iterable[int], new: Iterable[int], *, parts: int) -> None:
        """Pair bullets whose keys begin with the same parts, first with first."""
        waiting: dict[Hashable, deque[int]] = defaultdict(deque)
        for n in new:
            if n in self._new:
                waiting[self.units[n].key[:parts]].append(n)
        for b in old:
            if b in self._gone and waiting.get(self.base[b].key[:parts]):
                self._join(b, waiting[self.base[b].key[:parts]].popleft())

    def _join(self, b: int, n: int) -> None:
        self.moved[b] = n
        self._gone.remove(b)
        self._new.remove(n)

    def _hunks(self) -> Iterator[Hunk]:
        start = first = 0
        for b, n in [*sorted(self.in_place.items()), (len(self.base), len(self.units))]:
            if b > start or n > first:
                found = {m: self.units[m].words for m in range(first, n) if not self.units[m].is_entry}
                yield Hunk(start, b, first, n, found)
            start, first = b + 1, n + 1


def split(text: str) -> list[Unit]:
    """The units of a text; joining every `text + end` gives the text back."""
    source = lines.split(text)
    bullets = {entry.start: entry for entry in parse(text) if entry.kind == "bullet"}
    body = frontmatter.read(text.encode("utf-8", "replace")).body_start
    units: list[Unit] = []
    index = 0
    while index < len(source):
        line = source[index]
        entry = bullets.get(line.number)
        after = entry.end if entry else index + 1
        content = "".join(each.text + each.end for each in source[index : after - 1]) + source[after - 1].text
        in_fields = line.number < body
        if entry:
            unit = Unit(
                content, source[after - 1].end, ("bullet", entry.key, entry.parent), line.number, True, entry.place
            )
        elif in_fields and lines.is_bullet(content):
            unit = Unit(content, line.end, ("item", lines.key(content), ""), line.number, True)
        elif in_fields and content.startswith(_STAMP):
            unit = Unit(content, line.end, _STAMP_KEY, line.number, True)
        else:
            unit = Unit(content, line.end, ("line", content.rstrip(), ""), line.number, False)
        units.append(unit)
        index = after
    return units
