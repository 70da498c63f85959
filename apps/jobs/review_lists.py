"""Lists the lines of a memory that a rewrite has to decide about: undated ones and old ones."""

from dataclasses import dataclass
from datetime import date, timedelta

from apps.vault import entries, lines

OLD_DAYS = 90  # memory.md 6.3
MOST_LINES = 40
LONGEST_LINE = 200
NONE = "none"


@dataclass(frozen=True)
class ReviewLists:
    """Bullet lines, trimmed, in file order: those without a real date, and those confirmed long ago."""

    undated: tuple[str, ...]
    old: tuple[str, ...]


def review(memory: str, *, today: date, days: int = OLD_DAYS) -> ReviewLists:
    """Sort the bullets of a memory by what is wrong with their date: none, or more than `days` ago.

    A date that is no real day counts as none. A bullet continued on further
    lines may carry its date at the end of the last one.
    """
    oldest = today - timedelta(days=days)
    source = lines.split(memory)
    undated: list[str] = []
    old: list[str] = []
    for entry in entries.parse(memory):
        line = source[entry.start - 1].text
        if not lines.is_bullet(line):
            continue
        day = entry.date or lines.date_of(line)
        if day is None:
            undated.append(line.strip())
        elif day < oldest:
            old.append(line.strip())
    return ReviewLists(tuple(undated), tuple(old))


def as_text(listed: tuple[str, ...]) -> str:
    """At most 40 lines, each cut at 200 characters, then a line counting the rest; "none" for no lines."""
    if not listed:
        return NONE
    shown = [line[:LONGEST_LINE] for line in listed[:MOST_LINES]]
    if rest := len(listed) - len(shown):
        shown.append(f"(and {rest} more)")
    return "\n".join(shown)
