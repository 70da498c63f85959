"""Judges whether a rewrite may be written without a person: a comparison of two texts (memory.md 6.7, docs/adr/0014).

What a model says about its rewrite is not read. A rewrite passes only when every
line of the old text still stands where it stood, every new date comes from
somewhere, and no warning asks for a person.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from apps.jobs import statements
from apps.jobs.statements import Statement
from apps.llm import offline
from apps.proposals import warnings
from apps.vault import lines

# Besides every stop: what a reader cannot see, words of a writer nobody vouches for, and words of nobody at all.
_HOLDING = frozenset({"untrusted_source", "odd_character", "no_support"})
# Headings that claim nothing; the rules model begins with them. Any other may turn what stands below into its opposite.
_PLAIN_HEADINGS = frozenset({"# Memory", f"## {offline.FROM_NOTES}", f"## {offline.FROM_NOTES_VIETNAMESE}"})

_HELD_BY = {
    "line_moved": "a line gone from its place",
    "date_moved": "a date that its line may not carry",
    "heading_new": "a new heading",
    "hiding_mark": "a new mark that can hide lines",
    "lines_removed": "at least half of the entries gone",
    "address_new": "a new address",
    "secret": "a credential",
    "instruction": "words that read like an order",
    "placeholder": "words that only stand for others",
    "over_limit": "a text over the limit",
    "untrusted_source": "words of an untrusted writer",
    "no_support": "a line without a source",
    "declined": "a line that was turned down or taken back before",
    "odd_character": "a character nobody can see or tell apart",
}


@dataclass(frozen=True)
class Verdict:
    """What keeps a rewrite from being written by itself; all empty when nothing does.

    `removed` are old lines that are gone, as written; `unknown_dates` dates that
    come from nowhere; `held_by` the codes of what else asks for a person: those of
    warnings, before them `line_moved`, `date_moved`, `heading_new` and `hiding_mark`,
    which only the gate knows, and `declined`, which the job adds from its history.
    Each in order of appearance, dates and codes once.
    """

    removed: tuple[str, ...] = ()
    unknown_dates: tuple[str, ...] = ()
    held_by: tuple[str, ...] = ()

    @property
    def clean(self) -> bool:
        """Whether the rewrite may be written without a person."""
        return not (self.removed or self.unknown_dates or self.held_by)

    def stored(self) -> dict[str, Any]:
        """Plain JSON values for the run's row; the lines themselves stand in the proposal."""
        return {"removed": len(self.removed), "dates": len(self.unknown_dates), "held_by": list(self.held_by)}

    @property
    def why(self) -> str:
        """What holds the rewrite, in one sentence; empty when it is clean.

        That a line has no source is told only when nothing graver is.
        """
        told = [
            *_counted(self.removed, "line dropped or reworded", "lines dropped or reworded"),
            *_counted(self.unknown_dates, "date from nowhere", "dates from nowhere"),
            *(_HELD_BY.get(code, code) for code in self.held_by if code != "no_support"),
        ]
        if not told and not self.clean:
            told = [_HELD_BY["no_support"]]
        if not told:
            return ""
        joined = " and ".join(filter(None, (", ".join(told[:-1]), told[-1])))
        return f"{joined[0].upper()}{joined[1:]}."


def judge(old: str, new: str, *, dates: frozenset[str], warnings: Sequence[warnings.Warning]) -> Verdict:
    """Compare the memory with its rewrite; `dates` (YYYY-MM-DD) are today and those of the notes read.

    A line is there when it says the same in the same place: its headings, the bullets
    it is nested under, the prose, numbered items and hiding marks before it. Bullets may
    change their order between those, their sign and the width of blanks; of bullets that
    say the same in one place one must stay. A date may only move forward, to one of
    `dates`. Nothing is raised, whatever the texts hold.
    """
    places = statements.Places()
    before, after = statements.read(old, places), statements.read(new, places)
    lost = list(_lost(before, after))
    said = {row for one in after for row in one.says}
    removed = [(one, _gone(one, said)) for one in lost]
    unknown = _unknown_dates(before, after, dates)
    own = {
        "line_moved": any(not rows for _, rows in removed),
        "date_moved": not set(_misdated(before, after, dates)) <= set(unknown),
        "heading_new": _has_new_heading(before, after),
        "hiding_mark": bool(_count(after, hides=True) - _count(before, hides=True)),
    }
    asking = [one.code for one in warnings if one.severity == "stop" or one.code in _HOLDING]
    return Verdict(
        tuple(row for _, rows in removed for row in rows),
        unknown,
        tuple(dict.fromkeys([*(code for code, holds in own.items() if holds), *asking])),
    )


def _lost(before: Sequence[Statement], after: Sequence[Statement]) -> Iterator[Statement]:
    """Old statements that say no more what they said where they said it.

    Copies of a loose one may be merged, and those that say the same in other words,
    into one that stays as it is.
    """
    had, has = _count(before), _count(after)
    kept = {(one.place, one.meaning) for one in before if one.meaning and has[one.whole]}
    for one in before:
        if has[one.whole] < (1 if one.loose else had[one.whole]) and (one.place, one.meaning) not in kept:
            yield one


def _count(said: Iterable[Statement], *, hides: bool = False) -> Counter[tuple[object, ...]]:
    return Counter(one.whole for one in said if one.hides or not hides)


def _gone(one: Statement, said: set[str]) -> list[str]:
    """Its lines that stand nowhere in the new text, as written; empty when it only stands elsewhere."""
    return [row for row, says in zip(one.rows, one.says, strict=True) if says not in said and row.strip()]


def _has_new_heading(before: Iterable[Statement], after: Iterable[Statement]) -> bool:
    known = {one.says for one in before if one.kind == "heading"}
    return any(one.kind == "heading" and one.says not in known and one.says[0] not in _PLAIN_HEADINGS for one in after)


def _unknown_dates(before: Iterable[Statement], after: Iterable[Statement], dates: frozenset[str]) -> tuple[str, ...]:
    known = dates.union(*(one.dates for one in before))
    found = (suffix for one in after for suffix in one.dates if suffix and suffix not in known)
    return tuple(dict.fromkeys(found))


def _misdated(before: Iterable[Statement], after: Iterable[Statement], dates: frozenset[str]) -> Iterator[str | None]:
    """Dates that their line may not carry, and None for a line that lost its own."""
    was: dict[object, list[Statement]] = defaultdict(list)
    now: dict[object, list[Statement]] = defaultdict(list)
    groups: dict[object, object] = {}
    for one in before:
        groups[one.whole] = (one.place, one.meaning) if one.meaning else one.whole
        was[groups[one.whole]].append(one)
    for one in after:
        if one.whole in groups:
            now[groups[one.whole]].append(one)
        else:
            yield from (suffix for suffix in one.dates if suffix and suffix not in dates)
    for group, kept in now.items():
        for old, new in zip(_by_line(was[group]), _by_line(kept), strict=True):
            yield from _moved_wrongly(old, new, dates)


def _by_line(said: Sequence[Statement]) -> Iterator[list[str | None]]:
    """The dates of the first line of each, then those of the second, and so on."""
    return map(list, zip(*(one.dates for one in said), strict=True))


def _moved_wrongly(old: Sequence[str | None], new: Sequence[str | None], dates: frozenset[str]) -> Iterator[str | None]:
    """Of the dates of one line and its copies, before and after, those that did not move forward to one of `dates`.

    Whichever copy goes, the newest date stays.
    """
    gone = sorted((Counter(old) - Counter(new)).elements(), key=_day)
    come = sorted((Counter(new) - Counter(old)).elements(), key=_day)
    added = len(come) - len(gone)
    yield from (suffix for suffix in come if suffix and suffix not in dates)
    yield from (
        after for before, after in zip(gone, come[max(0, added) :], strict=False) if _day(after) <= _day(before)
    )
    if max(map(_day, new)) < max(map(_day, old)):
        yield None


def _day(suffix: str | None) -> date:
    """The day to compare by; a line without one, or with one that is no real day, is older than any."""
    return lines.date_of(f" ({suffix})") or date.min


def _counted(things: Sequence[str], one: str, many: str) -> Iterator[str]:
    if things:
        yield f"{len(things):,} {one if len(things) == 1 else many}"
