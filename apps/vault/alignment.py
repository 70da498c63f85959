"""What two sequences have in common, in order, with work that stays near linear on any input."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import TypeAlias

Range: TypeAlias = tuple[int, int, int, int]

# SequenceMatcher is quadratic and worse; ranges up to this product of lengths cost it nothing.
_SMALL = 10_000
# Each round of unique items reads the ranges once more; a hostile text could ask for very many rounds.
_ROUNDS = 40


def common(old: Sequence[Hashable], new: Sequence[Hashable]) -> list[tuple[int, int]]:
    """Pairs of indices of equal items, both increasing.

    Items that occur once on both sides are the anchors (patience diff), round by round between the anchors
    found before; what has none is compared item by item when short, and greedily when long. So the
    result is not always the longest one, but moved and repeated items do not mislead it.
    """
    pairs: list[tuple[int, int]] = []
    waiting: list[tuple[Range, int]] = [((0, len(old), 0, len(new)), _ROUNDS)]
    while waiting:
        (a, a_end, b, b_end), rounds = waiting.pop()
        while a < a_end and b < b_end and old[a] == new[b]:
            pairs.append((a, b))
            a, b = a + 1, b + 1
        while a < a_end and b < b_end and old[a_end - 1] == new[b_end - 1]:
            a_end, b_end = a_end - 1, b_end - 1
            pairs.append((a_end, b_end))
        if a == a_end or b == b_end:
            continue
        rest = (a, a_end, b, b_end)
        anchors = _anchors(old, new, rest) if rounds else []
        if anchors:
            pairs += anchors
            waiting += [(part, rounds - 1) for part in _between(anchors, rest)]
        elif (a_end - a) * (b_end - b) <= _SMALL:
            matcher = SequenceMatcher(None, old[a:a_end], new[b:b_end], autojunk=False)
            for block in matcher.get_matching_blocks():
                pairs += [(a + block.a + n, b + block.b + n) for n in range(block.size)]
        else:
            pairs += _greedy(old, new, rest)
    return sorted(pairs)


def _anchors(old: Sequence[Hashable], new: Sequence[Hashable], within: Range) -> list[tuple[int, int]]:
    """The longest run, in order on both sides, of items that occur once on each."""
    a, a_end, b, b_end = within
    in_old, in_new = Counter(old[a:a_end]), Counter(new[b:b_end])
    place = {new[n]: n for n in range(b, b_end) if in_new[new[n]] == 1}
    unique = [(n, place[old[n]]) for n in range(a, a_end) if in_old[old[n]] == 1 and old[n] in place]
    ends: list[int] = []
    last: list[int] = []
    before: list[int] = []
    for index, (_, n) in enumerate(unique):
        length = bisect_left(ends, n)
        ends[length : length + 1] = [n]
        last[length : length + 1] = [index]
        before.append(last[length - 1] if length else -1)
    run: list[tuple[int, int]] = []
    index = last[-1] if last else -1
    while index >= 0:
        run.append(unique[index])
        index = before[index]
    return run[::-1]


def _between(anchors: Sequence[tuple[int, int]], within: Range) -> Iterator[Range]:
    a, a_end, b, b_end = within
    for next_a, next_b in [*anchors, (a_end, b_end)]:
        yield a, next_a, b, next_b
        a, b = next_a + 1, next_b + 1


def _greedy(old: Sequence[Hashable], new: Sequence[Hashable], within: Range) -> Iterator[tuple[int, int]]:
    """Each new item with the next equal old one behind the last pair."""
    a, a_end, b, b_end = within
    places: dict[Hashable, list[int]] = {}
    for n in range(a, a_end):
        places.setdefault(old[n], []).append(n)
    for n in range(b, b_end):
        candidates = places.get(new[n], [])
        index = bisect_left(candidates, a)
        if index < len(candidates):
            yield candidates[index], n
            a = candidates[index] + 1
