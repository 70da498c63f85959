"""What a reviewer should look at before approving: warnings by code, found by comparing texts alone.

Nothing a model says about its own changes is read here, only the old text, the
new one, and the notes.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from apps.proposals import addresses, characters, warning_sentences, wording
from apps.proposals.addresses import Address
from apps.proposals.support import NoteText, Support, words_of
from apps.proposals.warning_sentences import Params
from apps.proposals.wording import Reading, Shift
from apps.vault import credentials, entries, lines, orders
from apps.vault.entries import Entry
from apps.vault.pairing import Difference

Severity = Literal["note", "check", "stop"]
Side = Literal["old", "new"]

_ORDER: tuple[Severity, ...] = ("stop", "check", "note")
_COMPARED = frozenset({"reworded", "merged", "heading_renamed"})


@dataclass(frozen=True)
class Warning:  # noqa: A001 - the field's word; the built-in is never used here
    """One finding about one difference, or about the whole proposal when `entry` is "".

    `words` are exact substrings of that side's text, to be underlined there;
    `params` are what a translated sentence needs, lists joined by ", " or, for
    texts of entries, by newlines.
    """

    code: str
    severity: Severity
    entry: str
    side: Side
    words: tuple[str, ...]
    params: Params = field(default_factory=dict)

    @property
    def sentence(self) -> str:
        """The finding in plain English."""
        return warning_sentences.english(self.code, self.params)


def check(
    differences: Sequence[Difference],
    *,
    old: str,
    new: str,
    notes: Sequence[NoteText],
    supports: Mapping[str, Support],
    known_dates: frozenset[str],
    limit: int,
    fell_off: Sequence[str],
    placeholders: Sequence[str],
) -> list[Warning]:
    """Every warning of a proposal, the severest first, then in the order of the differences.

    `known_dates` are the days a new date may come from besides the old text and
    the notes given: those of all collected notes, and today. `limit` is in
    characters; `fell_off` are the entries cut to keep it. `placeholders` are lines
    of the new text that only stand for others ("the rest as before"), and marks of
    masked secrets that the answer lost or invented. Work grows with the texts,
    not with the number of pairs.
    """
    review = _Review(old, new, notes, supports, known_dates)
    found = [
        *_over_limit(new, limit, fell_off),
        *_placeholders(placeholders, differences, new),
        *review.removed_lines(differences),
    ]
    for difference in differences:
        found += review.of_difference(difference)
    found += review.outside(differences)
    return sorted(found, key=lambda warning: _ORDER.index(warning.severity))


@dataclass
class _Review:
    """The texts of one proposal and what is known from them."""

    old: str
    new: str
    notes: Sequence[NoteText]
    supports: Mapping[str, Support]
    known_dates: frozenset[str]

    def of_difference(self, difference: Difference) -> Iterator[Warning]:
        new = difference.new
        if new is None:
            negations = [part for entry in difference.old for part in self.reading(entry).negations]
            if negations:
                yield _shifted("negation_changed", difference.id, Shift(lost=tuple(negations)))
            return
        unknown = [address for address in addresses.find(new.text) if self.is_unknown(address)]
        yield from _new_addresses(difference.id, unknown)
        if difference.kind in _COMPARED:
            yield from self.changed_wording(difference, new)
            yield from _changed_links(difference, new, frozenset(address.key for address in unknown))
        yield from _unknown_dates(difference.id, self.unknown_dates(new.text))
        yield from self.unsupported(difference, new)
        yield from self.untrusted(difference, new)
        yield from _secrets(difference.id, difference.old, new)
        yield from _orders(difference.id, difference.old, new)
        yield from _odd_characters(difference.id, characters.find(new.text))
        if difference.kind == "redated" or (difference.kind == "moved" and "redated" in difference.flags):
            yield from _changed_dates(difference, new)

    def outside(self, differences: Sequence[Difference]) -> Iterator[Warning]:
        """What the new text holds and no difference shows: headings above new entries, blank-looking lines, breaks."""
        shown = [difference.new.text for difference in differences if difference.new is not None]
        new, old = self.new.removeprefix("\ufeff"), self.old.removeprefix("\ufeff")
        seen = {address.key for text in shown for address in addresses.find(text)}
        hidden = [address for address in addresses.find(new) if address.key not in seen and self.is_unknown(address)]
        yield from _new_addresses("", hidden)
        dates = {date for text in shown for date in _dates(text)}
        yield from _unknown_dates("", [date for date in self.unknown_dates(new) if date not in dates])
        odd = characters.find(new)
        if odd:
            known = {found.character for text in [old, *shown] for found in characters.find(text)}
            yield from _odd_characters("", [found for found in odd if found.character not in known])
        kept = {entry.text for entry in entries.parse(old) if entry.kind == "heading"} | set(shown)
        for heading in entries.parse(new):
            if heading.kind == "heading" and heading.text not in kept:
                yield from _secrets("", (), heading)
                yield from _orders("", (), heading)

    def removed_lines(self, differences: Sequence[Difference]) -> Iterator[Warning]:
        """Entries that are gone: removed ones, and merged ones whose figure, name or negation is lost."""
        total = sum(entry.kind != "heading" for entry in entries.parse(self.old))
        removed = 0
        for difference in differences:
            if difference.new is None:
                removed += sum(entry.kind != "heading" for entry in difference.old)
            elif difference.kind == "merged":
                after = self.reading(difference.new)
                removed += sum(bool(_lost(self.reading(entry), after)) for entry in difference.old)
        if removed:
            severity: Severity = "stop" if removed * 2 >= total else "check"
            yield Warning("lines_removed", severity, "", "old", (), {"removed": removed, "total": total})

    def changed_wording(self, difference: Difference, new: Entry) -> Iterator[Warning]:
        before, after = [self.reading(entry) for entry in difference.old], self.reading(new)
        yield from (
            _shifted(code, difference.id, shift)
            for code, shift in (
                ("negation_changed", wording.negations(before, after)),
                ("number_changed", wording.figures(before, after)),
                ("name_changed", wording.names(before, after)),
            )
            if shift
        )

    def unsupported(self, difference: Difference, new: Entry) -> Iterator[Warning]:
        """An entry whose words no note backs; merging or reworking memory's own words needs no note."""
        if difference.kind not in {"added", "reworded", "merged"} or difference.id in self.supports:
            return
        if words_of(new) and not _says_nothing_new(difference, new):
            yield Warning("no_support", "check", difference.id, "new", ())

    def untrusted(self, difference: Difference, new: Entry) -> Iterator[Warning]:
        """An entry whose words come from a note line that neither a person nor this agent wrote."""
        source = self.supports.get(difference.id)
        if source and source.writer and not _says_nothing_new(difference, new):
            yield Warning("untrusted_source", "check", difference.id, "new", (), {"source": source.writer})

    def unknown_dates(self, text: str) -> list[str]:
        return [date for date in _dates(text) if date not in self.dates]

    def is_unknown(self, address: Address) -> bool:
        known = self.addresses
        return address.key not in known and not (address.kind == "link" and f"host {address.key}" in known)

    def reading(self, entry: Entry) -> Reading:
        return wording.read(entry.text, self.lexicon, heading=entry.kind == "heading")

    @cached_property
    def dates(self) -> frozenset[str]:
        return self.known_dates | {note.date for note in self.notes} | set(_dates(self.old))

    @cached_property
    def addresses(self) -> frozenset[str]:
        """Keys of all addresses in memory and notes, and the hosts of links, marked as such."""
        known: set[str] = set()
        for text in (self.old, *(note.text for note in self.notes)):
            for address in addresses.find(text):
                known.add(address.key)
                if address.kind == "link":
                    known.add(f"host {addresses.host(address.key)}")
        return frozenset(known)

    @cached_property
    def lexicon(self) -> wording.Lexicon:
        return wording.lexicon([self.old, self.new, *(note.text for note in self.notes)])


def _says_nothing_new(difference: Difference, new: Entry) -> bool:
    """Whether its words are those of its old entries; a merged entry may have fewer."""
    words = words_of(new)
    known = frozenset[str]().union(*map(words_of, difference.old))
    return bool(difference.old) and (words <= known if difference.kind == "merged" else words == known)


def _secrets(entry: str, old: Sequence[Entry], new: Entry) -> Iterator[Warning]:
    """A credential that none of the old entries held; its value is in neither words nor parameters."""
    held = {before.text[one.start : one.end] for before in old for one in credentials.find(before.text)}
    kinds = [one.kind for one in credentials.find(new.text) if new.text[one.start : one.end] not in held]
    if kinds:
        yield Warning("secret", "stop", entry, "new", (), {"kinds": ", ".join(dict.fromkeys(kinds))})


def _orders(entry: str, old: Sequence[Entry], new: Entry) -> Iterator[Warning]:
    """Words that order a model about and stood in none of the old entries."""
    said = {lines.key(order.text) for before in old for order in orders.find(before.text)}
    words = [order.text for order in orders.find(new.text) if lines.key(order.text) not in said]
    if words:
        yield Warning("instruction", "stop", entry, "new", tuple(dict.fromkeys(words)))


def _over_limit(new: str, limit: int, fell_off: Sequence[str]) -> Iterator[Warning]:
    if len(new) > limit or fell_off:
        fallen = "\n".join(map(lines.without_sign, fell_off))
        params: Params = {"length": len(new), "limit": limit, "count": len(fell_off), "fell_off": fallen}
        yield Warning("over_limit", "stop", "", "new", (), params)


def _placeholders(given: Iterable[str], differences: Sequence[Difference], new: str) -> Iterator[Warning]:
    """One that stands in the text is shown at its entry; one that is missing there belongs to no entry."""
    for placeholder in dict.fromkeys(given):
        if placeholder not in new:
            yield Warning("placeholder", "stop", "", "new", (), {"text": placeholder, "state": "missing"})
            continue
        word = lines.without_sign(placeholder)
        holders = [d.id for d in differences if d.new is not None and placeholder in d.new.text]
        for entry in holders or [""]:
            yield Warning("placeholder", "stop", entry, "new", (word,), {"text": word, "state": "present"})


def _new_addresses(entry: str, unknown: Sequence[Address]) -> Iterator[Warning]:
    if unknown:
        words = tuple(dict.fromkeys(address.text for address in unknown))
        kinds = ", ".join(dict.fromkeys(address.kind for address in unknown))
        yield Warning("address_new", "stop", entry, "new", words, {"kinds": kinds, "addresses": ", ".join(words)})


def _changed_links(difference: Difference, new: Entry, unknown: frozenset[str]) -> Iterator[Warning]:
    """Links that went, and links that came and are known; unknown ones have a warning of their own."""
    before = {key: text for entry in difference.old for key, text in _links(entry.text)}
    after = dict(_links(new.text))
    lost = tuple(text for key, text in before.items() if key not in after)
    gained = tuple(text for key, text in after.items() if key not in before and key not in unknown)
    if lost or gained:
        side: Side = "new" if gained else "old"
        params = {"change": _change(lost, gained), "old": ", ".join(lost), "new": ", ".join(gained)}
        yield Warning("link_changed", "note", difference.id, side, gained or lost, params)


def _links(text: str) -> Iterator[tuple[str, str]]:
    for address in addresses.find(text):
        if address.kind in {"link", "email"}:
            yield address.key, address.text
    yield from addresses.page_links(text)


def _unknown_dates(entry: str, unknown: Sequence[str]) -> Iterator[Warning]:
    if unknown:
        yield Warning("date_unknown", "check", entry, "new", tuple(unknown), {"dates": ", ".join(unknown)})


def _changed_dates(difference: Difference, new: Entry) -> Iterator[Warning]:
    before = list(dict.fromkeys(date for entry in difference.old for date in _dates(entry.text)))
    after = _dates(new.text)
    lost = tuple(date for date in before if date not in after)
    gained = tuple(date for date in after if date not in before)
    if lost or gained:
        side: Side = "new" if gained else "old"
        params = {"change": _change(lost, gained), "old": ", ".join(lost), "new": ", ".join(gained)}
        yield Warning("date_changed", "note", difference.id, side, gained or lost, params)


def _dates(text: str) -> list[str]:
    """The different date suffixes of a text's lines, in order."""
    suffixes = (lines.date_suffix(line.text) for line in lines.split(text))
    return list(dict.fromkeys(suffix for suffix in suffixes if suffix))


def _odd_characters(entry: str, found: Sequence[characters.Odd]) -> Iterator[Warning]:
    if found:
        params: Params = {"names": ", ".join(odd.name for odd in found), "count": len(found)}
        yield Warning("odd_character", "check", entry, "new", tuple(dict.fromkeys(odd.word for odd in found)), params)


def _lost(before: Reading, after: Reading) -> bool:
    shifts = (wording.figures, wording.names, wording.negations)
    return any(shift([before], after).lost for shift in shifts)


def _shifted(code: str, entry: str, shift: Shift) -> Warning:
    lost = tuple(dict.fromkeys(part.text for part in shift.lost))
    gained = tuple(dict.fromkeys(part.text for part in shift.gained))
    params: Params = {
        "change": _change(lost, gained),
        "kinds": ", ".join(dict.fromkeys(part.kind for part in (*shift.gained, *shift.lost) if part.kind)),
        "old": ", ".join(lost),
        "new": ", ".join(gained),
        "count": max(len(lost), len(gained)),
    }
    return Warning(code, "check", entry, "new" if gained else "old", gained or lost, params)


def _change(lost: Sequence[str], gained: Sequence[str]) -> str:
    if lost and gained:
        return "change"
    return "disappear" if lost else "appear"
