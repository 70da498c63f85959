"""A model of rules: needs no network and no weights, and answers in a real model's format.

It only does what rules can do honestly: it keeps every line, merges lines that
say the same, moves dates of what notes confirm, and carries over what notes mark
as lasting, word for word. Asked again with its own result it changes nothing.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import Any

from apps.errors import ModelFailed
from apps.llm import gathering, wording
from apps.vault import entries, folding, lines

SEPARATOR = "---REASONS---"
FROM_NOTES = "From notes"
FROM_NOTES_VIETNAMESE = "Từ ghi chú"
_SHOWN = 60  # characters of a line named in a reason


def answer(purpose: str, data: Mapping[str, Any]) -> str:
    """Answer a task of this purpose by rules, from its data.

    Purpose "rewrite": `data` has `memory` and `limit` (characters) and `notes`,
    each with `name`, `date` and `text`. The answer is the new text, the
    separator line and one reason a line; the current text alone when nothing
    changes, or only the reason when there is no text. Line ends become "\\n"
    when something changes. Raises ModelFailed `open_fence` naming the line.
    """
    if purpose != "rewrite":
        raise ValueError(f"There are no rules for the purpose {purpose!r}.")
    return _rewrite(data)


def _rewrite(data: Mapping[str, Any]) -> str:
    memory, limit = str(data["memory"]), int(data["limit"])
    if line := gathering.open_fence(memory):
        raise ModelFailed(
            f"The code fence in line {line} of the memory is never closed: what below it is code? Close it first.",
            code="open_fence",
            line=line,
        )
    gathered = gathering.gather(data["notes"])
    reasons: list[str] = []
    text = memory.replace("\r\n", "\n").replace("\r", "\n").strip("\n")
    while (merged := _merge(text, reasons)) != text:  # what hung under two lines must be one before they can be
        text = merged
    text = _add(text, gathered.finds, limit, reasons)
    text = _confirm(text, gathered.said, limit, reasons)
    if not memory.strip() and not reasons:
        return f"{SEPARATOR}\n- Nothing in these notes is marked as lasting.\n"
    if not reasons or len(text) > limit:  # a text over the limit would be cut, and rules never cut
        return memory
    return f"{text}\n\n{SEPARATOR}\n" + "\n".join(reasons) + "\n"


def _merge(text: str, reasons: list[str]) -> str:
    """Leave one of several bullets that say the same in the same place, with the newest date of them."""
    source = text.split("\n")
    parsed = entries.parse(text)
    parents = {n for n in range(len(parsed) - 1) if parsed[n].key and parsed[n + 1].parent == parsed[n].key}
    seen: dict[gathering.Key, list[int]] = {}
    twins: dict[int, list[int]] = {}
    for number, entry in enumerate(parsed):
        key = folding.statement(entry.text)
        # The same step of a numbered list twice is two steps.
        if entry.kind != "bullet" or not key or gathering.holds_code(entry) or entry.text.lstrip()[0].isdigit():
            continue
        firsts = seen.setdefault(key, [])
        first = next((each for each in firsts if _one_place(parsed[each], entry)), None)
        if first is None or number in parents:
            firsts.append(number)
        else:
            twins.setdefault(first, []).append(number)
    gone: set[int] = set()
    for first, others in twins.items():
        same = [parsed[first], *(parsed[number] for number in others)]
        newest = max((entry.date for entry in same if entry.date), default=None)
        if newest is not None and newest != parsed[first].date:
            _set_date(source, parsed[first], newest)
        for entry in same[1:]:
            gone.update(range(entry.start - 1, entry.end))
        reasons.append(f"- {len(same)} lines said the same: {_named(parsed[first].text)}.")
    return "\n".join(line for number, line in enumerate(source) if number not in gone).strip("\n")


def _one_place(one: entries.Entry, other: entries.Entry) -> bool:
    """The same words under two headings are two facts, except that lines from notes have no place yet."""
    return one.place == other.place or any(
        entry.headings and entry.headings[-1] in {FROM_NOTES, FROM_NOTES_VIETNAMESE} for entry in (one, other)
    )


def _confirm(text: str, said: Mapping[gathering.Key, tuple[date, str]], limit: int, reasons: list[str]) -> str:
    """Move the date of every bullet that a newer note says again; a line found twice is nobody's to date."""
    source = text.split("\n")
    parsed = [(entry, folding.statement(entry.text)) for entry in entries.parse(text)]
    times = Counter(key for _, key in parsed)
    size = len(text)
    for entry, key in parsed:
        if entry.kind != "bullet" or gathering.holds_code(entry) or key not in said or times[key] > 1:
            continue
        day, note = said[key]
        before = lines.date_suffix(entry.text)
        longer = 0 if before else len(f" ({day})")
        if (entry.date and entry.date >= day) or size + longer > limit:
            continue
        _set_date(source, entry, day)
        size += longer
        told = f"date {before} becomes {day}" if before else f"dated {day}"
        reasons.append(f"- Said again in {note}, {told}: {_named(entry.text)}.")
    return "\n".join(source)


def _set_date(source: list[str], entry: entries.Entry, day: date) -> None:
    last = entry.end - 1
    source[last] = f"{lines.without_date(source[last]).rstrip()} ({day.isoformat()})"


def _add(text: str, finds: Sequence[gathering.Find], limit: int, reasons: list[str]) -> str:
    """Add what is not there yet, newest note first, until the next line would pass the limit.

    Within a section the new lines stand in the order of their notes.
    """
    sections = _Sections(text, [find.line for find in finds])
    known = {folding.statement(entry.text) for entry in entries.parse(text)}
    told: list[str] = []
    for find in _last_first(finds):
        if find.key in known:
            continue
        if not sections.put(find, limit):
            break
        known.add(find.key)
        told.append(f"- {find.why[0].upper()}{find.why[1:]}, in {find.note}: {_named(find.line)}.")
    reasons.extend(reversed(told))
    return sections.text()


def _last_first(finds: Iterable[gathering.Find]) -> list[gathering.Find]:
    """Newest note first, its last line first: each put in front of the one before gives reading order."""
    order: dict[str, list[gathering.Find]] = {}
    for find in finds:
        order.setdefault(find.note, []).insert(0, find)
    return [find for note in order.values() for find in note]


class _Sections:
    """A memory into which lines are put under fitting headings; its size is exact at every moment."""

    def __init__(self, text: str, coming: Sequence[str]) -> None:
        self._lines = text.split("\n") if text.strip() else []
        self._entries = entries.parse(text)
        self._put: dict[tuple[int, bool], list[str]] = {}  # which lines go in front of which line
        self._size = len("\n".join(self._lines))
        self._vietnamese = _is_vietnamese(text if text.strip() else "\n".join(coming))
        self._headings = [n for n, entry in enumerate(self._entries) if entry.kind == "heading"]

    def put(self, find: gathering.Find, limit: int) -> bool:
        """Put a line under its heading; False, and nothing done, when that would pass the limit."""
        heading = self._heading_for(find)
        at, before, after = self._spot(heading)
        place = (at, heading is None)  # a new section comes after what is put at the end of the last one
        fresh = [] if place in self._put else [*before, *after]
        growth = sum(len(each) + 1 for each in [*fresh, find.line])
        if not self._lines and not self._put:
            growth -= 1  # no line end in front of the very first line
        if self._size + growth > limit:
            return False
        self._size += growth
        self._put.setdefault(place, fresh).insert(len(before), find.line)
        return True

    def text(self) -> str:
        parts: list[str] = []
        done = 0
        for (at, _), coming in sorted(self._put.items()):
            parts += [*self._lines[done:at], *coming]
            done = at
        return "\n".join([*parts, *self._lines[done:]])

    def _heading_for(self, find: gathering.Find) -> int | None:
        """The heading whose words the line has, else one of its topic, else the one for notes, if any."""
        said = set(folding.content_words(find.line))
        named: tuple[int, int] | None = None
        topical = notes = None
        for number in self._headings:
            title = entries.title(self._entries[number].text)
            if title in {FROM_NOTES, FROM_NOTES_VIETNAMESE}:
                notes = number
                continue
            if entries.level(self._entries[number].text) == 1 or wording.is_passing_section(title):
                continue
            words = set(folding.content_words(title))
            if words and words <= said and (named is None or len(words) > named[0]):
                named = (len(words), number)
            if topical is None and wording.suits(title, find.topic):
                topical = number
        if named is not None:
            return named[1]
        return notes if topical is None else topical

    def _spot(self, heading: int | None) -> tuple[int, list[str], list[str]]:
        """Where lines go: in front of which line, and what stands before and after them."""
        if heading is None:
            title = FROM_NOTES_VIETNAMESE if self._vietnamese else FROM_NOTES
            above = [""] if self._lines else ["# Memory", ""]
            return len(self._lines), [*above, f"## {title}", ""], []
        last = heading
        while last + 1 < len(self._entries) and self._entries[last + 1].kind != "heading":
            last += 1
        at = self._entries[last].end
        if self._entries[last].kind == "bullet":
            return at, [], []
        closed = at >= len(self._lines) or not self._lines[at].strip()
        return at, [""], [] if closed else [""]


def _is_vietnamese(text: str) -> bool:
    """One word in five has a letter that English lacks and Vietnamese has."""
    words = text.lower().split()
    marked = sum(any("ạ" <= letter <= "ỹ" or letter in "đơưăâêô" for letter in word) for word in words)
    return marked * 5 > len(words)


def _named(text: str) -> str:
    plain = lines.without_date(lines.without_sign(text)).split("\n")[0]
    return f"“{plain if len(plain) <= _SHOWN else plain[: _SHOWN - 1].rstrip() + '…'}”"
