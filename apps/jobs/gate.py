"""Judges whether a rewrite may be written without a person: a comparison of two texts (memory.md 6.7).

What a model says about its rewrite is not read. A rewrite passes only when every
line of the old text is still there, every new date comes from somewhere, and no
warning asks for a person.
"""

import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from apps.proposals import warnings
from apps.vault import entries, lines

# Besides every stop: what a reader cannot see, and words of a writer nobody vouches for, must not get in unseen.
_HOLDING = frozenset({"untrusted_source", "odd_character"})
# Words that no sentence means something else without. Much less than the stop words of a search: "his" and "her",
# "in" and "on", "was" and "is" tell two facts apart; "a" is a grade, a vitamin or a team once its case is gone.
_EMPTY_WORDS = frozenset({"", "the", "an", "is", "are", "là", "thì", "rằng"})
# Punctuation around a word; a dash or a point in front of a figure, a question mark or a box says something.
_BEFORE, _BEHIND = "\"'“‘(*_", ".,;:!…\"'”’)*_"

_HELD_BY = {
    "lines_removed": "at least half of the entries gone",
    "address_new": "a new address",
    "secret": "a credential",
    "instruction": "words that read like an order",
    "placeholder": "words that only stand for others",
    "over_limit": "a text over the limit",
    "untrusted_source": "words of an untrusted writer",
    "no_support": "a line without a source, while an untrusted writer was read",
    "odd_character": "a character nobody can see or tell apart",
}


@dataclass(frozen=True)
class Verdict:
    """What keeps a rewrite from being written by itself; all empty when nothing does.

    `removed` are old lines that are gone, as written; `unknown_dates` dates that
    come from nowhere; `held_by` the codes of warnings that ask for a person. Each
    in order of appearance, dates and codes once.
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
        """What holds the rewrite, in one sentence; empty when it is clean."""
        told = [
            *_counted(self.removed, "line dropped or reworded", "lines dropped or reworded"),
            *_counted(self.unknown_dates, "date from nowhere", "dates from nowhere"),
            *(_HELD_BY.get(code, code) for code in self.held_by),
        ]
        if not told:
            return ""
        joined = " and ".join(filter(None, (", ".join(told[:-1]), told[-1])))
        return f"{joined[0].upper()}{joined[1:]}."


def judge(
    old: str, new: str, *, dates: frozenset[str], warnings: Sequence[warnings.Warning], strangers: bool = False
) -> Verdict:
    """Compare the memory with its rewrite; `dates` (YYYY-MM-DD) are those a line may carry besides the old ones.

    `strangers` says that an untrusted writer is among the notes read: then a line
    without a source may be their words put otherwise, and is held too.

    A line is there when its key is: merging exact duplicates, moving, re-dating and
    other bullet signs pass, any rewording does not. Nothing is raised, whatever
    the texts hold.
    """
    before, after = _rows(old), _rows(new)
    kept = {lines.key(row) for row in after.values()}
    merged = _merged(old, kept)
    removed = [row for number, row in before.items() if lines.key(row) not in kept and number not in merged]
    known = dates | set(_dates(before.values()))
    holding = _HOLDING | {"no_support"} if strangers else _HOLDING
    return Verdict(
        tuple(removed),
        tuple(dict.fromkeys(date for date in _dates(after.values()) if date not in known)),
        tuple(dict.fromkeys(one.code for one in warnings if one.severity == "stop" or one.code in holding)),
    )


def _rows(text: str) -> Mapping[int, str]:
    """The lines that are not blank, by their number."""
    return {line.number: line.text for line in lines.split(text.removeprefix("\ufeff")) if line.text.strip()}


def _dates(rows: Iterable[str]) -> Iterator[str]:
    return (suffix for row in rows if (suffix := lines.date_suffix(row)))


def _merged(old: str, kept: set[str]) -> set[int]:
    """Numbers of old lines that went into another old line which says the same and stays as it is.

    Only bullets of one line are merged, and only within their place: under two
    headings the same words may be two facts, and in code every sign counts.
    """
    groups: dict[tuple[entries.Place, tuple[str, ...]], list[entries.Entry]] = {}
    for entry in entries.parse(old):
        said = _said(entry)
        if said:
            groups.setdefault((entry.place, said), []).append(entry)
    return {
        entry.start
        for group in groups.values()
        if any(entry.key in kept for entry in group)
        for entry in group
        if entry.key not in kept
    }


def _said(entry: entries.Entry) -> tuple[str, ...]:
    """The words of a bullet of one line without case, punctuation around them and empty ones; else nothing.

    Accents stay: folded, "bán" (sells) and "bạn" (friend) would be one word. So do
    the order of words, negations, figures, and every sign within a word: an address
    with a dot is another one than with a hyphen.
    """
    if entry.kind != "bullet" or entry.start != entry.end or "`" in entry.text:
        return ()
    plain = unicodedata.normalize("NFC", entry.key)
    words = (word.lstrip(_BEFORE).rstrip(_BEHIND) for word in plain.split())
    return tuple(word for word in words if word not in _EMPTY_WORDS)


def _counted(things: Sequence[str], one: str, many: str) -> Iterator[str]:
    if things:
        yield f"{len(things):,} {one if len(things) == 1 else many}"
