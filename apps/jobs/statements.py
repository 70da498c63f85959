"""What a memory states and where it stands, entry by entry: as much of a text as nobody may change unasked.

Markdown lets a line mean something else without touching it: by the heading or the
bullet above, by a sentence in front ("The following is wrong:"), by a fence or a
comment around it. All of that is the place of a statement here.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import zip_longest

from apps.vault import entries, lines

# What may hide or disarm the lines behind it: a fence, raw HTML and its comments, those of Obsidian, a block of fields.
_HIDING = re.compile(r"```|~~~|%%|<(?:[!?]|/?[a-z][a-z0-9-]*(?=[\s/>]|\Z))|^(?:---|\+\+\+)[ \t]*$", re.I | re.M)
_OPENING = re.compile(r"(?:[-*+]|[0-9]+\.)([ \t]+)")
_BLANKS = re.compile(r"[ \t]+")
_TAB, _CODE = 4, 4  # columns of a tab, and of the indentation that makes code in CommonMark

# Words that no sentence means something else without. Much less than the stop words of a search: "his" and "her",
# "in" and "on", "was" and "is" tell two facts apart; "a" is a grade, a vitamin or a team once its case is gone.
_EMPTY_WORDS = frozenset({"", "the", "an", "is", "are", "là", "thì", "rằng"})
# Punctuation around a word; a dash or a point in front of a figure, a question mark or a box says something.
_BEFORE, _BEHIND = "\"'“‘(*_", ".,;:!…\"'”’)*_"
_LONE_DASH = re.compile(r"(?<=\s)[-–—]\s(?=[^\W\d])")


@dataclass(frozen=True)
class Statement:
    """An entry as it must stay.

    `rows` are its lines as written and `says` what each of them says: apart from code
    without bullet sign, date suffix and the width of blanks, but to the letter. `place`
    is equal for two statements, of one text or of two, that mean the same by where they
    stand. A `loose` one is a bullet that may change its order and lose its copies;
    `meaning` is equal for two loose ones that say the same in other words, and empty for all
    others. `hides` holds for one with a fence, raw HTML or the like.
    """

    rows: tuple[str, ...]
    says: tuple[str, ...]
    place: tuple[int, int]
    kind: str
    loose: bool
    hides: bool

    @cached_property
    def whole(self) -> tuple[object, ...]:
        """What it says and where."""
        return (self.place, self.kind, self.says)

    @cached_property
    def dates(self) -> tuple[str | None, ...]:
        """The date suffix of each line."""
        return tuple(map(lines.date_suffix, self.rows))

    @cached_property
    def meaning(self) -> tuple[str, ...]:
        """The words of a loose bullet of one line without punctuation around them and empty ones.

        The capital a sentence begins with is no difference, every other case is.
        Accents stay: folded, "bán" (sells) and "bạn" (friend) would be one word. So do
        the order of words, negations, figures, and every sign within a word: an address
        with a dot is another one than with a hyphen.
        """
        if not self.loose or len(self.says) > 1 or "`" in self.says[0]:
            return ()
        plain = _LONE_DASH.sub("", unicodedata.normalize("NFC", self.says[0]))
        words = [word.lstrip(_BEFORE).rstrip(_BEHIND) for word in plain.split()]
        if words and len(words[0]) > 1:
            words[0] = words[0][0].lower() + words[0][1:]
        return tuple(word for word in words if word not in _EMPTY_WORDS)


class Places:
    """Places as numbers: the same steps from the top of a text lead to the same number."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[int, object], int] = {}

    def under(self, place: int, step: object) -> int:
        return self._numbers.setdefault((place, step), len(self._numbers) + 1)


@dataclass
class _Holder:
    """A heading or a bullet that others stand under; `place` moves on with every anchor among them.

    An anchor is what speaks of the entries behind it, as prose does. `indent` is that of
    the bullet, `content` the column its text begins at.
    """

    indent: int
    content: int
    place: int


@dataclass
class _Reader:
    places: Places
    hidden: int = 0  # the row of hiding marks so far, as a place: what stands behind other marks stands elsewhere
    sections: list[tuple[int, _Holder]] = field(default_factory=list)
    bullets: list[_Holder] = field(default_factory=list)
    top: _Holder = field(default_factory=lambda: _Holder(-1, 0, 0))

    def read(self, text: str) -> Iterator[Statement]:
        source = [line.text for line in lines.split(text.removeprefix("\ufeff"))]
        parsed = entries.parse(text)
        for entry, after in zip_longest(parsed, parsed[1:]):
            rows = tuple(source[entry.start - 1 : entry.end])
            leads = (
                after is not None and after.kind != "heading" and _indent(source[after.start - 1]) > _indent(rows[0])
            )
            yield self._statement(entry, rows, leads=leads)

    def _statement(self, entry: entries.Entry, rows: tuple[str, ...], *, leads: bool) -> Statement:
        indent = _indent(rows[0])
        if entry.kind == "heading":
            holder = self._above(entries.level(entry.text))
        else:
            while self.bullets and self.bullets[-1].indent >= indent:
                self.bullets.pop()
            holder = self.bullets[-1] if self.bullets else self._section
        found = _OPENING.match(rows[0].lstrip()) if entry.kind == "bullet" else None
        gap = len(found[1].expandtabs(_TAB)) if found else 0
        hides = _HIDING.search("\n".join(rows)) is not None
        is_code = hides or gap > _CODE or indent - holder.content >= _CODE
        says = rows if is_code else tuple(map(_said, rows))
        signed = found is not None and not found[0][0].isdigit()
        loose = signed and not is_code and (leads or not says[-1].endswith((":", "：")))
        kind = "item" if signed else entry.kind
        statement = Statement(rows, says, (self.hidden, holder.place), kind, loose, hides)
        self._go_on(statement, holder, entry, indent, len(found[0]) - len(found[1]) + min(gap, _CODE) if found else 0)
        return statement

    def _go_on(self, said: Statement, holder: _Holder, entry: entries.Entry, indent: int, width: int) -> None:
        """Remember what the next entries stand under and behind."""
        inside = self.places.under(holder.place, ("under", said.kind, said.says))
        if said.hides:
            self.hidden = self.places.under(self.hidden, ("hides", said.says))
        if entry.kind == "heading":
            self.sections.append((entries.level(entry.text), _Holder(-1, 0, inside)))
            self.bullets = []
            return
        if not said.loose:
            holder.place = self.places.under(holder.place, ("behind", said.kind, said.says))
        if entry.kind == "bullet":
            self.bullets.append(_Holder(indent, indent + width, inside))

    def _above(self, level: int) -> _Holder:
        while self.sections and self.sections[-1][0] >= level:
            self.sections.pop()
        return self._section

    @property
    def _section(self) -> _Holder:
        return self.sections[-1][1] if self.sections else self.top


def read(text: str, places: Places) -> list[Statement]:
    """The statements of a text in its order; texts read with the same `places` can be compared.

    Nothing is raised, whatever the text holds.
    """
    return list(_Reader(places).read(text))


def _said(row: str) -> str:
    """What a line says. Only spaces and tabs are blanks: a no-break space is somebody's choice."""
    trimmed = row.strip(" \t")
    if trimmed == trimmed.strip():
        trimmed = lines.without_date(lines.without_sign(trimmed)).strip(" \t")
    return trimmed if "`" in trimmed else _BLANKS.sub(" ", trimmed)


def _indent(row: str) -> int:
    return len(row[: len(row) - len(row.lstrip())].expandtabs(_TAB))
