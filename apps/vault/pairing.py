"""What differs between two texts, entry by entry: the parts a person may approve one by one."""

import hashlib
import heapq
import json
from bisect import bisect_left
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from apps.vault import lines
from apps.vault.entries import Entry, parse, title
from apps.vault.folding import content_words

Kind = Literal["added", "removed", "reworded", "merged", "moved", "redated", "heading_renamed"]

_LOOK_UPS = 100  # entries read from the word index for one old entry; words in more lead to none
_CANDIDATES = 20  # new entries compared with one old entry
_NONE = -1


@dataclass(frozen=True)
class Difference:
    """One thing that changed: the old entries, the new one, and what happened to them.

    `old` is empty for an added entry and holds two or more for a merged one; `new` is None for a removed
    one. `flags` name what holds besides `kind`: reworded, moved, redated; "reordered" when the entry moved
    within its place; "format" when only bullet sign or white space differ. The id stays the same as long
    as places and texts do.
    """

    id: str
    kind: Kind
    old: tuple[Entry, ...]
    new: Entry | None
    flags: frozenset[str]


@dataclass
class Work:
    """How much a comparison did: entries read from the word index, and pairs of entries compared."""

    looked_up: int = 0
    compared: int = 0


def differences(old_text: str, new_text: str, *, work: Work | None = None) -> list[Difference]:
    """Every difference between two texts in the order of the new one, removed entries where they stood.

    Empty only if both hold the same entries in the same order and places. Blank lines, line ends and the
    indentation of an entry's first line are no difference.
    """
    if old_text == new_text:
        return []
    pairing = _Pairing(_Side(old_text), _Side(new_text), work or Work())
    pairing.pair()
    return pairing.differences()


class _Side:
    """One text as a tree of entries, all known by their index; `_NONE` stands for "nothing above"."""

    def __init__(self, text: str) -> None:
        self.entries = parse(text)
        self.section: list[int] = []  # the heading directly above
        self.parent: list[int] = []  # the bullet an entry is nested under
        self.names: list[tuple[str, ...]] = []  # the folded titles above
        self.inside: dict[int, tuple[str, ...]] = {_NONE: ()}  # heading: its titles, its own included
        self.children: dict[int, list[int]] = defaultdict(list)  # heading: what stands directly under it
        above: list[int] = []
        bullets: list[int] = []
        for index, entry in enumerate(self.entries):
            del above[len(entry.headings) :]
            section = above[-1] if above else _NONE
            self.section.append(section)
            self.names.append(self.inside[section])
            self.children[section].append(index)
            while bullets and (not entry.parent or self.entries[bullets[-1]].key != entry.parent):
                bullets.pop()
            self.parent.append(bullets[-1] if bullets else _NONE)
            if entry.kind == "heading":
                above.append(index)
                self.inside[index] = (*self.inside[section], lines.key(title(entry.text)))
            elif entry.kind == "bullet":
                bullets.append(index)
        self.headings = [n for n, entry in enumerate(self.entries) if entry.kind == "heading"]
        self.items = [n for n, entry in enumerate(self.entries) if entry.kind != "heading"]

    def holder(self, index: int) -> int:
        """What an entry hangs on in the tree: its parent bullet, else its heading."""
        return self.section[index] if self.parent[index] == _NONE else self.parent[index]


class _Pairing:
    def __init__(self, old: _Side, new: _Side, work: Work) -> None:
        self._old, self._new, self._work = old, new, work
        self._to: dict[int, int] = {}  # old index: new index
        self._from: dict[int, list[int]] = defaultdict(list)  # new index: old indices
        self._elsewhere: set[int] = set()  # old entries whose new one stands in another place
        self._reordered: set[int] = set()

    def pair(self) -> None:
        self._pair_equal_keys()
        self._join_duplicates()
        self._pair_alike()
        self._pair_headings()
        self._find_moved()
        self._find_reordered()

    def differences(self) -> list[Difference]:
        found: list[tuple[tuple[int, int], Kind, list[int], int, set[str]]] = []
        for n, entry in enumerate(self._new.entries):
            olds = self._from.get(n, [])
            if olds:
                kind, flags = self._judge(olds, n)
                if kind:
                    found.append(((n, _NONE), kind, olds, n, flags))
            elif entry.kind != "heading" or not self._told_by_children(self._new, n):
                found.append(((n, _NONE), "added", [], n, set()))
        stood_after = _NONE
        for o, entry in enumerate(self._old.entries):
            if o not in self._to:
                if entry.kind != "heading" or not self._told_by_children(self._old, o):
                    found.append(((stood_after, o), "removed", [o], _NONE, set()))
            elif self._to[o] not in self._reordered and o not in self._elsewhere:
                stood_after = self._to[o]
        seen: Counter[str] = Counter()
        return [
            self._difference(kind, olds, new, flags, seen)
            for _, kind, olds, new, flags in sorted(found, key=lambda item: item[0])
        ]

    # Pairs.

    def _join(self, old: int, new: int) -> None:
        self._to[old] = new
        self._from[new].append(old)

    def _match(self, olds: Iterable[int], news: Iterable[int], identity: Callable[[_Side, int], Hashable]) -> None:
        """Pair what is still alone and has one identity, as multisets, first with first."""
        waiting: dict[Hashable, deque[int]] = defaultdict(deque)
        for n in news:
            if n not in self._from:
                waiting[identity(self._new, n)].append(n)
        for o in olds:
            if o not in self._to and (queue := waiting.get(identity(self._old, o))):
                self._join(o, queue.popleft())

    def _pair_equal_keys(self) -> None:
        for identity in (_place_key_text, _place_key, _key_text, _key):
            self._match(self._old.items, self._new.items, identity)

    def _join_duplicates(self) -> None:
        """A copy that disappeared goes to the copy that was kept, in its own place if there is one.

        Copies are lines of one key, or of the same content words in any order and punctuation.
        """
        kept: dict[Hashable, int] = {}
        for n in reversed(self._new.items):
            if n in self._from:
                kept.update(dict.fromkeys([_words_key(self._new, n), _key(self._new, n), _place_key(self._new, n)], n))
        for o in self._old.items:
            if o not in self._to:
                keys = (_place_key(self._old, o), _key(self._old, o), _words_key(self._old, o))
                twin = next((kept[key] for key in keys if key in kept), None)
                if twin is not None:
                    self._join(o, twin)

    def _pair_alike(self) -> None:
        olds = [o for o in self._old.items if o not in self._to]
        news = [n for n in self._new.items if n not in self._from]
        best = _best_matches(
            [frozenset(content_words(self._old.entries[o].text)) for o in olds],
            [frozenset(content_words(self._new.entries[n].text)) for n in news],
            self._work,
        )
        for o, n in best.items():
            self._join(olds[o], news[n])

    def _pair_headings(self) -> None:
        """Same place first; then a heading follows what stands under it, if all of that stayed together."""
        old, new = self._old, self._new
        for identity in (_inside_text, _inside):
            self._match(old.headings, new.headings, identity)
        old_leaves = [h for h in old.headings if h not in old.children]
        new_leaves = [h for h in new.headings if h not in new.children]
        for identity in (_key_text, _key):
            self._match(old_leaves, new_leaves, identity)
        for h in sorted(old.headings, key=lambda h: (-len(old.names[h]), h)):
            if h in self._to or not all(child in self._to for child in old.children.get(h, [_NONE])):
                continue
            under = {new.section[self._to[child]] for child in old.children[h]}
            heading = under.pop()
            if not under and heading != _NONE and heading not in self._from:
                self._join(h, heading)

    # Places and order.

    def _find_moved(self) -> None:
        """Other headings or another parent bullet; renamed and reworded ones are still the same."""
        old, new = self._old, self._new
        inside: dict[int, tuple[str, ...]] = {_NONE: ()}  # old heading: the titles it has in the new text
        for h in old.headings:
            above = inside[old.section[h]]
            inside[h] = new.inside[self._to[h]] if h in self._to else (*above, old.inside[h][-1])
        for o, n in self._to.items():
            before, after = old.parent[o], new.parent[n]
            same_parent = before == after == _NONE or (
                _NONE not in {before, after}
                and (self._to.get(before) == after or old.entries[before].key == new.entries[after].key)
            )
            if not same_parent or inside[old.section[o]] != new.names[n]:
                self._elsewhere.add(o)

    def _find_reordered(self) -> None:
        """In every place as few entries as possible, so that the others kept their order."""
        in_order: dict[int, list[int]] = defaultdict(list)
        for n in range(len(self._new.entries)):
            olds = self._from.get(n, [])
            if len(olds) != 1 or olds[0] in self._elsewhere:
                continue
            before, after = self._old.holder(olds[0]), self._new.holder(n)
            if (_NONE if before == _NONE else self._to.get(before)) == after:
                in_order[after].append(olds[0])
            else:  # of two headings with one name it stands under the other one
                self._reordered.add(n)
        for olds in in_order.values():
            self._reordered.update(self._to[o] for o in set(olds) - set(_longest_increasing(olds)))

    # What happened to a pair.

    def _judge(self, olds: Sequence[int], n: int) -> tuple[Kind | None, set[str]]:
        """The kind of a pair and its flags; each holds only when no old entry agrees with the new one."""
        new, before = self._new.entries[n], [self._old.entries[o] for o in olds]
        same = any(entry.text == new.text for entry in before)
        same_wording = same or any(_wording(entry) == _wording(new) for entry in before)
        same_date = same or any(lines.date_suffix(entry.text) == lines.date_suffix(new.text) for entry in before)
        same_place = n not in self._reordered and not self._elsewhere.issuperset(olds)
        reworded: Kind = "heading_renamed" if new.kind == "heading" else "reworded"
        kinds: list[Kind] = ["merged"] if len(olds) > 1 else []
        kinds += [] if same_wording else [reworded]
        kinds += [] if same_place else ["moved"]
        kinds += [] if same_date else ["redated"]
        flags: set[str] = {"reordered"} if n in self._reordered else set()
        if same_wording and not same and all(_undated(entry) != _undated(new) for entry in before):
            flags.add("format")
            kinds = kinds or [reworded]
        return (kinds[0] if kinds else None), flags.union(kinds[1:])

    def _told_by_children(self, side: _Side, heading: int) -> bool:
        """Whether what stands under an unpaired heading is reported with its place anyway."""
        children = side.children.get(heading, [])
        if side is self._old:
            return any(child not in self._to or child in self._elsewhere for child in children)
        return any(self._elsewhere.issuperset(self._from.get(child, ())) for child in children)

    def _difference(self, kind: Kind, olds: Sequence[int], n: int, flags: set[str], seen: Counter[str]) -> Difference:
        old = tuple(self._old.entries[o] for o in sorted(olds))
        new = None if n == _NONE else self._new.entries[n]
        content = json.dumps([[[e.place, e.text] for e in old], new and [new.place, new.text]])
        seen[content] += 1
        digest = hashlib.sha256(f"{seen[content]} {content}".encode()).hexdigest()
        return Difference(digest[:12], kind, old, new, frozenset(flags))


def _key(side: _Side, index: int) -> Hashable:
    return side.entries[index].key


def _key_text(side: _Side, index: int) -> Hashable:
    return (side.entries[index].key, side.entries[index].text)


def _words_key(side: _Side, index: int) -> Hashable:
    """The content words as a multiset; of a single word the whole key, which proves more."""
    words = tuple(sorted(content_words(side.entries[index].text)))
    return ("words", words) if len(words) > 1 else _key(side, index)


def _place_key(side: _Side, index: int) -> Hashable:
    return (side.names[index], side.entries[index].parent, side.entries[index].key)


def _place_key_text(side: _Side, index: int) -> Hashable:
    return (side.names[index], side.entries[index].parent, side.entries[index].text)


def _inside(side: _Side, index: int) -> Hashable:
    return side.inside[index]


def _inside_text(side: _Side, index: int) -> Hashable:
    return (side.inside[index], side.entries[index].text)


def _undated(entry: Entry) -> str:
    return lines.without_date(entry.text)


def _wording(entry: Entry) -> str:
    return " ".join(lines.without_date(lines.without_sign(entry.text)).split())


def _longest_increasing(numbers: Sequence[int]) -> list[int]:
    ends: list[int] = []  # the smallest last number of a run of each length
    position: list[int] = []
    before: list[int] = []
    for index, number in enumerate(numbers):
        length = bisect_left(ends, number)
        ends[length : length + 1] = [number]
        position[length : length + 1] = [index]
        before.append(position[length - 1] if length else _NONE)
    run: list[int] = []
    index = position[-1] if position else _NONE
    while index != _NONE:
        run.append(numbers[index])
        index = before[index]
    return run[::-1]


def _best_matches(old: Sequence[frozenset[str]], new: Sequence[frozenset[str]], work: Work) -> dict[int, int]:
    """For each old set of words the new one most like it, if any is like enough.

    Only sets that share a rare word are looked at, and never more than a fixed number of them: the work
    grows with the number of entries, not with its square.
    """
    holders: dict[str, list[int]] = defaultdict(list)
    for n, words in enumerate(new):
        for word in words:
            holders[word].append(n)
    best: dict[int, int] = {}
    for o, words in enumerate(old):
        known = ((len(holders[word]), word) for word in words if word in holders)
        shared: Counter[int] = Counter()
        for count, word in heapq.nsmallest(_LOOK_UPS, known):
            if shared.total() + count > _LOOK_UPS:
                break
            shared.update(holders[word])
        work.looked_up += shared.total()
        nearest = heapq.nsmallest(_CANDIDATES, ((-count, abs(n - o), n) for n, count in shared.items()))
        work.compared += len(nearest)
        # Equal scores go to the nearest; `o` and `n` count what is still unpaired, in file order.
        scores = [(_likeness(words, new[n]), -distance, -n) for _, distance, n in nearest]
        if scores and max(scores)[0]:
            best[o] = -max(scores)[2]
    return best


def _likeness(old: frozenset[str], new: frozenset[str]) -> float:
    """0 for two entries that say different things, else how much they share.

    Alike are entries that share 40 % of all their words (measured), and those where the new one holds
    60 % of the old one's words, if these are two or more.
    """
    common = len(old & new)
    union = len(old) + len(new) - common
    if common * 5 >= union * 2 or (len(old) >= 2 and common * 5 >= len(old) * 3):
        return common / union + common / len(old)
    return 0.0
