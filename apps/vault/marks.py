"""Two wordings of one entry as marked words: what stayed, what went, what came."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from apps.vault.folding import HAN, MARKS

# A date, a number or a word is marked as a whole. A Han character is a word; other scripts without
# spaces are marked up to the next space, because cutting them would mark letters.
_LETTER = rf"[^\W{HAN}]"
_WORD = re.compile(
    r"\d{4}-\d{2}-\d{2}|\d+(?:[.,:]\d+)+"
    rf"|{_LETTER}+(?:(?:[{MARKS}]+|['’](?={_LETTER})){_LETTER}*)*|[{HAN}][{MARKS}]*"
)
_LONGEST = 400  # words between the common beginning and end; more are shown as one replacement


@dataclass(frozen=True, slots=True)
class Mark:
    """A stretch of text; old is every `same` and `del` joined, new every `same` and `ins`."""

    kind: Literal["same", "del", "ins"]
    text: str


def words_marked(old: str, new: str) -> list[Mark]:
    """Both texts as one row of marks, the old words before the new ones that replace them.

    Work is bounded: it grows with the length of the texts, plus at most `_LONGEST` squared steps.
    """
    old_words, new_words = list(_WORD.finditer(old)), list(_WORD.finditer(new))
    row = _Row()
    old_at = new_at = 0
    for o, n in _common([word[0] for word in old_words], [word[0] for word in new_words]):
        kept, here = old_words[o], new_words[n]
        row.replace(old[old_at : kept.start()], new[new_at : here.start()])
        row.add("same", kept[0])
        old_at, new_at = kept.end(), here.end()
    row.replace(old[old_at:], new[new_at:])
    return row.marks()


def mostly_different(marks: Iterable[Mark]) -> bool:
    """Whether over half of the words differ; then marks would be a mosaic that nobody can read."""
    same = different = 0
    for mark in marks:
        count = sum(1 for _ in _WORD.finditer(mark.text))
        if mark.kind == "same":
            same += 2 * count
        else:
            different += count
    return different > same


class _Row:
    def __init__(self) -> None:
        self._parts: list[tuple[Literal["same", "del", "ins"], list[str]]] = []

    def add(self, kind: Literal["same", "del", "ins"], text: str) -> None:
        if not text:
            return
        if self._parts and self._parts[-1][0] == kind:
            self._parts[-1][1].append(text)
        else:
            self._parts.append((kind, [text]))

    def replace(self, old: str, new: str) -> None:
        """Add what stands between two common words; equal white space and punctuation around it stays."""
        if old == new:
            self.add("same", old)
            return
        limit = min(len(old), len(new))
        first = 0
        while first < limit and old[first] == new[first] and _is_separator(old[first]):
            first += 1
        last = 0
        while last < limit - first and old[-1 - last] == new[-1 - last] and _is_separator(old[-1 - last]):
            last += 1
        self.add("same", old[:first])
        self.add("del", old[first : len(old) - last])
        self.add("ins", new[first : len(new) - last])
        self.add("same", old[len(old) - last :])

    def marks(self) -> list[Mark]:
        return [Mark(kind, "".join(texts)) for kind, texts in self._parts]


def _is_separator(character: str) -> bool:
    return character.isspace() or (character != "_" and unicodedata.category(character).startswith("P"))


def _common(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """The positions of a longest common row of words, exact unless the middle is longer than `_LONGEST`."""
    limit = min(len(old), len(new))
    first = 0
    while first < limit and old[first] == new[first]:
        first += 1
    last = 0
    while last < limit - first and old[-1 - last] == new[-1 - last]:
        last += 1
    pairs = [(index, index) for index in range(first)]
    old_middle, new_middle = old[first : len(old) - last], new[first : len(new) - last]
    if max(len(old_middle), len(new_middle)) <= _LONGEST:
        pairs += [(first + o, first + n) for o, n in _longest_common(old_middle, new_middle)]
    pairs += [(len(old) - index, len(new) - index) for index in range(last, 0, -1)]
    return pairs


def _longest_common(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    lengths = [[0] * (len(new) + 1)]  # from the last word backwards: how much the rests have in common
    for o in reversed(range(len(old))):
        below, row = lengths[-1], [0] * (len(new) + 1)
        for n in reversed(range(len(new))):
            row[n] = below[n + 1] + 1 if old[o] == new[n] else max(below[n], row[n + 1])
        lengths.append(row)
    lengths.reverse()
    pairs: list[tuple[int, int]] = []
    o = n = 0
    while o < len(old) and n < len(new):
        if old[o] == new[n]:
            pairs.append((o, n))
            o, n = o + 1, n + 1
        elif lengths[o + 1][n] >= lengths[o][n + 1]:
            o += 1
        else:
            n += 1
    return pairs
