"""The model's reasons, each beside the entry it is about. Plain values."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from apps.proposals import support
from apps.vault import folding, lines
from apps.vault.pairing import Difference

# A reason belongs to an entry when this share of the entry's content words stands in it, in percent.
_SHARE = 60
# A quotation shorter than this names no entry: "no" or "tea" begins too many.
_LEAST_QUOTED = 8
# “The entry’s words: why”: so many of them before the colon, and none else, are the entry again.
_LEAST_REPEATED = 3
# “Added “x”: why”: what stands before a quotation that opens the reason is no more than a verb or two.
_OPENING_WORDS = 3
_QUOTED = re.compile(r"“([^“”]+)”|\"([^\"]+)\"")


@dataclass(frozen=True)
class _Entry:
    id: str
    words: frozenset[str]
    texts: tuple[str, ...]  # folded, without sign and date

    def begins_with(self, quotation: str) -> bool:
        shown = folding.fold(quotation).rstrip("….").strip()
        return len(shown) >= _LEAST_QUOTED and any(text.startswith(shown) for text in self.texts)


def by_entry(text: str, differences: Sequence[Difference]) -> tuple[dict[str, str], list[str]]:
    """Reasons by the id of the entry they fit, and those that fit none.

    An entry's own words are not said again beside it: a quotation that only repeats them is left out.
    """
    entries = [_entry(one) for one in differences]
    fitting: dict[str, str] = {}
    own: list[str] = []
    for reason in filter(None, (line.removeprefix("- ").strip() for line in text.split("\n"))):
        entry = _fitting(reason, entries)
        if entry is None:
            own.append(_inside_quotes(reason))
        else:
            told = _inside_quotes(without_repeated(reason, entry))
            fitting[entry.id] = f"{fitting[entry.id]} {told}" if entry.id in fitting else told
    return fitting, own


def _entry(one: Difference) -> _Entry:
    sides = [*one.old, *([one.new] if one.new else [])]
    words: frozenset[str] = frozenset().union(*map(support.words_of, sides))
    texts = tuple(folding.fold(lines.without_sign(lines.without_date(side.text))) for side in sides)
    return _Entry(one.id, words, texts)


def _fitting(reason: str, entries: Sequence[_Entry]) -> _Entry | None:
    """The entry that the reason quotes, else the one most of whose words stand in it."""
    quotations = [found[1] or found[2] for found in _QUOTED.finditer(reason)]
    for entry in entries:
        if any(entry.begins_with(quotation) for quotation in quotations):
            return entry
    words = frozenset(folding.content_words(reason))
    fits = [
        (len(words & entry.words), at)
        for at, entry in enumerate(entries)
        if entry.words and len(words & entry.words) * 100 >= _SHARE * len(entry.words)
    ]
    return entries[max(fits)[1]] if fits else None


def without_repeated(reason: str, entry: _Entry) -> str:
    """The reason without a quotation of the entry it stands beside; unchanged when nothing else would be left."""
    for found in _QUOTED.finditer(reason):
        if not entry.begins_with(found[1] or found[2]):
            continue
        before, after = reason[: found.start()], reason[found.end() :]
        if after.startswith(":") and len(before.split()) <= _OPENING_WORDS:
            kept = after[1:].strip()
        else:
            kept = before.rstrip(" :,–-") + (after if after.strip() not in {"", "."} else ".")
        if folding.content_words(kept):
            return _sentence(kept)
    said, _, why = reason.rpartition(": ")
    repeated = frozenset(folding.content_words(said))
    if len(repeated) >= _LEAST_REPEATED and repeated <= entry.words and folding.content_words(why):
        return _sentence(why)
    return reason


def _sentence(words: str) -> str:
    return words[0].upper() + words[1:]


def _inside_quotes(reason: str) -> str:
    """The page puts a reason between quotation marks; those inside it become single ones."""
    return reason.replace("“", "‘").replace("”", "’")
