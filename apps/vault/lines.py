"""One line of Markdown: where it ends, what it says apart from its looks, and its date."""

import re
from dataclasses import dataclass
from datetime import date

_END = re.compile(r"(\r\n|\r|\n)")
_SIGN = re.compile(r"\A[-*+][ \t]+")
_BULLET = re.compile(r"\s*[-*+][ \t]")
_SUFFIX = re.compile(r" \(([0-9]{4}-[0-9]{2}-[0-9]{2})\)")
_SUFFIX_LENGTH = len(" (2026-09-19)")


@dataclass(frozen=True, slots=True)
class Line:
    """A line without its end; `end` is a newline, a return, both, or nothing at the end of the text."""

    number: int
    text: str
    end: str


def split(text: str) -> list[Line]:
    """The lines of a text, numbered from 1; joining every `text + end` gives the text back.

    Only the three line ends of text files count. `str.splitlines` also cuts at form feeds, U+0085 and
    U+2028, which would make line numbers differ from those of an editor.
    """
    parts = _END.split(text)
    lines = [
        Line(number, part, end)
        for number, (part, end) in enumerate(zip(parts[::2], parts[1::2], strict=False), start=1)
    ]
    if parts[-1]:
        lines.append(Line(len(lines) + 1, parts[-1], ""))
    return lines


def trimmed(text: str) -> str:
    """The text without blank lines at its ends and without its last line end; all other blanks stay."""
    rows = split(text)
    said = [at for at, row in enumerate(rows) if row.text.strip()]
    if not said:
        return ""
    return "".join(row.text + row.end for row in rows[said[0] : said[-1]]) + rows[said[-1]].text


def key(line: str) -> str:
    """What a line says: without bullet sign, date suffix, letter case and the width of white space.

    Two lines with one key count as the same line wherever texts are compared. The number of a numbered
    list stays in the key.
    """
    return " ".join(without_date(without_sign(line)).split()).casefold()


def without_sign(line: str) -> str:
    """The line trimmed and without one leading bullet sign."""
    return _SIGN.sub("", line.strip())


def date_suffix(line: str) -> str | None:
    """The date written as ` (YYYY-MM-DD)` at the very end of the trimmed line, real day or not."""
    found = _SUFFIX.fullmatch(line.rstrip()[-_SUFFIX_LENGTH:])
    return found[1] if found else None


def date_of(line: str) -> date | None:
    """The day a line was last confirmed; None without a suffix or when it is no real day."""
    written = date_suffix(line)
    if written is None:
        return None
    try:
        return date.fromisoformat(written)
    except ValueError:
        return None


def without_date(line: str) -> str:
    """The line up to its date suffix; unchanged when it has none."""
    return line if date_suffix(line) is None else line.rstrip()[:-_SUFFIX_LENGTH]


def is_bullet(line: str) -> bool:
    """Whether a line is an item with a sign (`-`, `*`, `+`); numbered items are not."""
    return _BULLET.match(line) is not None
