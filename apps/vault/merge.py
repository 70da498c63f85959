"""Two changes of one text made into one: bullets as entries, everything else line by line (diff3).

Undo is a merge: base = the text as it was written, ours = the text now, theirs = the text before.
"""

from collections import defaultdict, deque
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass

from apps.vault.units import Hunk, Side, Unit, split


@dataclass(frozen=True)
class Conflict:
    """A place that both sides changed in different ways; an empty text means that nothing is left of it.

    `line` counts from 1 in our text; where ours has nothing left it is the line that follows.
    """

    base: str
    ours: str
    theirs: str
    line: int


@dataclass(frozen=True)
class Merge:
    """The merged text, or None and the conflicts that forbid one."""

    text: str | None
    conflicts: tuple[Conflict, ...]


def merge(base: str, ours: str, theirs: str) -> Merge:
    """Both changes of `base` in one text, or the places where they contradict each other.

    A bullet counts as the same wherever it stands in its list and whatever its date suffix, bullet sign
    and letter case are; a date (and an `updated:` field) never conflicts, ours counts. A bullet that one
    side removed stays removed when the other only moved it. Bullets added by both in one place follow
    each other, theirs first. Prose changed or added by both in one place is a conflict.

    With one side unchanged the result is exactly the other side.
    """
    if theirs in {base, ours}:
        return Merge(ours, ())
    if ours == base:
        return Merge(theirs, ())
    return _Merging(base, ours, theirs).result()


class _Merging:
    def __init__(self, base: str, ours: str, theirs: str) -> None:
        self._now = ours
        self._base = split(base)
        self._ours = Side(base, self._base, ours)
        self._theirs = Side(base, self._base, theirs)
        self._settled: dict[int, tuple[str, str]] = {}
        self._conflicts: list[Conflict] = []
        self._added_by_both = dict(self._twins())
        self._told_twice = set(self._added_by_both.values())

    def result(self) -> Merge:
        for b in range(len(self._base)):
            self._settle(b)
        self._compare_prose()
        self._look_for_orphans(self._ours, self._theirs)
        self._look_for_orphans(self._theirs, self._ours)
        if self._conflicts:
            return Merge(None, tuple(sorted(self._conflicts, key=lambda conflict: conflict.line)))
        return Merge(self._joined(list(self._merged())), ())

    # What becomes of each base unit

    def _settle(self, b: int) -> None:
        base, ours, theirs = self._base[b], self._ours.unit(b), self._theirs.unit(b)
        if ours and theirs:
            text = _three_way(base, ours, theirs)
            if text is None:
                self._conflict(b)
            else:
                self._settled[b] = (text, ours.end if ours.end != base.end else theirs.end)
        else:
            left = ours or theirs
            if left and left.words != base.words:
                self._conflict(b)

    def _conflict(self, b: int) -> None:
        texts = [unit.text if unit else "" for unit in (self._ours.unit(b), self._theirs.unit(b))]
        self._conflicts.append(Conflict(self._base[b].text, texts[0], texts[1], self._ours.line(b)))

    def _compare_prose(self) -> None:
        """Find the hunks of both sides that meet and hold prose, and refuse the ones that differ."""
        refused: list[list[Hunk]] = []  # ours and theirs in turn; what overlaps is one conflict
        others = deque(self._theirs.hunks)
        for ours in self._ours.hunks:
            while others and others[0].stop < ours.start:
                others.popleft()
            for theirs in others:
                if theirs.start > ours.stop:
                    break
                if self._exclude(ours, theirs):
                    if refused and (refused[-1][-2] is ours or refused[-1][-1] is theirs):
                        refused[-1] += [ours, theirs]
                    else:
                        refused.append([ours, theirs])
                elif ours.start == theirs.start:
                    self._told_twice.update(_repeated(ours, theirs))
        for hunks in refused:
            start, stop = min(hunk.start for hunk in hunks), max(hunk.stop for hunk in hunks)
            mine, other = hunks[::2], hunks[1::2]
            conflict = Conflict(
                _text(self._base[start:stop]),
                _text(self._ours.units[mine[0].first : mine[-1].last]),
                _text(self._theirs.units[other[0].first : other[-1].last]),
                self._ours.line_at(mine[0].first),
            )
            self._conflicts.append(conflict)

    def _exclude(self, ours: Hunk, theirs: Hunk) -> bool:
        """Whether two hunks that meet cannot both be carried out."""
        if ours.start == theirs.start and ours.prose == theirs.prose:
            return False
        shared = range(max(ours.start, theirs.start), min(ours.stop, theirs.stop))
        if any(self._base[b].words for b in shared if not self._base[b].is_entry):
            return bool(ours.prose or theirs.prose)
        both_only_add = ours.start == ours.stop == theirs.start == theirs.stop
        # Headings only open lists of their own; two of them can follow each other.
        paragraphs = all(set(hunk.prose) - hunk.headings for hunk in (ours, theirs))
        return bool(shared or both_only_add) and paragraphs

    def _look_for_orphans(self, side: Side, other: Side) -> None:
        """A nested bullet that one side added under a bullet that the other removed."""
        latest: dict[Hashable, int] = {}
        for n, unit in enumerate(side.units):
            above = latest.get(unit.place[1]) if unit.place[1] else None
            if above is not None and n not in side.origin:
                b = side.origin.get(above)
                if b is not None and not other.unit(b):
                    self._conflict(b)
            if unit.is_entry:
                latest[unit.key[1]] = n

    def _twins(self) -> Iterator[tuple[int, int]]:
        """Bullets that both sides added in one place: theirs and ours."""
        waiting: dict[Hashable, deque[int]] = defaultdict(deque)
        for n, unit in enumerate(self._ours.units):
            if unit.is_entry and n not in self._ours.origin:
                waiting[unit.key, unit.place].append(n)
        for n, unit in enumerate(self._theirs.units):
            if unit.is_entry and n not in self._theirs.origin and waiting.get((unit.key, unit.place)):
                yield n, waiting[unit.key, unit.place].popleft()

    # The merged text

    def _merged(self) -> Iterator[tuple[str, str]]:
        for b in range(len(self._base) + 1):
            ours, theirs = self._ours.at.get(b), self._theirs.at.get(b)
            # What ours only inserted stands before what theirs replaced behind it.
            ours_first = ours and theirs and ours.start == ours.stop and theirs.stop > theirs.start
            runs = [(self._theirs, theirs), (self._ours, ours)]
            for side, hunk in reversed(runs) if ours_first else runs:
                if hunk:
                    yield from self._run(side, hunk)
            if b in self._settled and not (b in self._ours.moved or b in self._theirs.moved):
                yield self._settled[b]

    def _run(self, side: Side, hunk: Hunk) -> Iterator[tuple[str, str]]:
        for n in range(hunk.first, hunk.last):
            unit = side.units[n]
            b = side.origin.get(n)
            if b is not None:
                if b in self._settled and (side is self._ours or b not in self._ours.moved):
                    yield self._settled[b]
            elif side is self._theirs and n in self._added_by_both:
                unit = self._ours.units[self._added_by_both[n]]
                yield unit.text, unit.end
            elif side is self._theirs or n not in self._told_twice:
                yield unit.text, unit.end

    def _joined(self, pieces: list[tuple[str, str]]) -> str:
        """The pieces as one text; what had no line end because it was the last line gets the commoner one."""
        end = "\r\n" if self._now.count("\r\n") * 2 > self._now.count("\n") else "\n"
        return "".join(text + (own or end) for text, own in pieces[:-1]) + "".join(pieces[-1] if pieces else ())


def _three_way(base: Unit, ours: Unit, theirs: Unit) -> str | None:
    if theirs.text in {base.text, ours.text}:
        return ours.text
    if ours.text == base.text:
        return theirs.text
    # Both changed it, one or both of them in the date only: ours is the later edit.
    if theirs.words in {base.words, ours.words}:
        return ours.text
    return theirs.text if ours.words == base.words else None


def _repeated(ours: Hunk, theirs: Hunk) -> Iterator[int]:
    """Our units that say what theirs in the same place say: the same prose, or the same headings."""
    if [*ours.lines.values()] == [*theirs.lines.values()] or (ours.prose and ours.prose == theirs.prose):
        yield from ours.lines
    else:
        yield from (n for n, line in ours.lines.items() if line in theirs.headings)


def _text(units: Iterable[Unit]) -> str:
    return "".join(unit.text + unit.end for unit in units)
