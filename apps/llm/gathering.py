"""Finds in daily notes what is worth carrying into long-term memory."""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from apps.llm import cues, wording
from apps.vault import entries, folding, lines, orders

_TIME = re.compile(r"^\[?\d{1,2}:\d{2}(?::\d{2})?\]?(?:\s*[-–—])?\s+")
_RETAIN = re.compile(r"^[WBOS](?:\(c=[01](?:\.\d+)?\))?((?:\s+@[\w.-]+)*)\s*:\s*(?=\S)")
_MENTION = re.compile(r"(?<![\w.])@(?=\w)")
_IMAGE = re.compile(r"\s*\[(?:image|photo|picture|audio|video|ảnh|hình)\b[^\]]*\]", re.IGNORECASE)
_SPEAKER = re.compile(r"^([^\W\d_][\w.'’-]*(?: [^\W\d_][\w.'’-]*){0,2})[:：]\s+(?=\S)")
_CHECKBOX = re.compile(r"^\[[ xX]?\]\s")
# A full stop ends a sentence only before white space and no small letter ("e.g. tea" goes on).
_SENTENCE_END = re.compile(r"(?<=[.!?…])[\"'”’)]*\s+(?=[^\sa-z])|(?<=[。！？])")
_ABBREVIATION = re.compile(r"\b(?:Mr|Mrs|Ms|Dr|St|vs|No|Prof|TP|approx)\.$")
_LABEL = re.compile(
    r"(?:notes?|remember|reminder|to-?do|to do|task|decision|decided|preferences?|rules?|fact|fyi|idea"
    r"|question|update|important|warning|summary|lesson|contact|phone|e-?mail|address|health|birthday"
    r"|ghi chú|lưu ý|quy tắc|nhắc|nhắc việc|quyết định|sở thích|liên hệ|sinh nhật|sức khoẻ|sức khỏe)",
    re.IGNORECASE,
)
# "Anna: prefers tea" tells of Anna, it is not what Anna says.
_ABOUT_SPEAKER = re.compile(
    r"(?:also |still )?(?:prefers|likes|loves|hates|dislikes|enjoys|is|has|was|works|lives|moved|born"
    r"|speaks|wants"
    r"|allergic|vegetarian|vegan|(?:always|never) (?:\w+s|on|before|after|in)|usually \w+s|birthday|phone"
    r"|e-?mail"
    r"|does(?:n['’]t| not)|(?:không |rất )?thích|ghét|dị ứng|sống ở|làm|sinh|ăn chay|luôn|không bao giờ"
    r"|thường"
    r"|chuyển)\b",
    re.IGNORECASE,
)
_SHORTEST = 10  # characters, openclaw.md 5.3
_SHORTEST_SAID = 16
_LONGEST_SENTENCE = 320
_MOST_SENTENCES = 3  # of one chat message

_SAYS = re.compile(r"\w")
_FENCE = re.compile(r"\s*(?:[-*+]\s+|\d+\.\s+)?(`{3,}(?=[^`]*$)|~{3,})")

Key = tuple[str, ...]


@dataclass(frozen=True)
class Find:
    """One line worth keeping as it would stand in a memory, the note it is from, that note's day, and why.

    `day` is None when the note's date is no real day; the line then has none.
    """

    line: str
    note: str
    day: date | None
    why: str
    topic: cues.Topic
    key: Key


@dataclass(frozen=True)
class Gathered:
    """Lines to keep, newest note first; and whatever the notes say, with the newest day and note of it."""

    finds: tuple[Find, ...]
    said: Mapping[Key, tuple[date, str]]


def holds_code(entry: entries.Entry) -> bool:
    """Say whether the entry is no plain statement: a fence or a rule stands in it, so no line of it takes a date."""
    bare = any(line.text.strip() and not _SAYS.search(line.text) for line in lines.split(entry.text))
    return bare or "```" in entry.text or "~~~" in entry.text


def open_fence(text: str) -> int:
    """The line of a code fence that is never closed, 0 when there is none: below it nobody can tell text from code."""
    fence, opened = "", 0
    for line in lines.split(text):
        found = _FENCE.match(line.text)
        if found is None:
            continue
        if not fence:
            fence, opened = found[1], line.number
        elif found[1].startswith(fence) and line.text.strip() == found[1]:
            fence, opened = "", 0
    return opened


def gather(notes: Sequence[Mapping[str, str]]) -> Gathered:
    """Read the notes (`name`, `date`, `text`), newest first.

    A line said twice is kept once, from its newest note.
    """
    finds: dict[Key, Find] = {}
    said: dict[Key, tuple[date, str]] = {}
    for note in sorted(notes, key=lambda each: each["name"], reverse=True):
        day = _real_day(note["date"])
        for entry, text in _bullets(note["text"]):
            whole = folding.statement(f"- {text}")
            if day is not None and whole and not wording.is_question(text):
                said.setdefault(whole, (day, note["name"]))
            for find in _worth_keeping(entry, text, note["name"], day):
                finds.setdefault(find.key, find)
    for find in finds.values():
        if find.day is not None:
            said.setdefault(find.key, (find.day, find.note))
    return Gathered(tuple(finds.values()), said)


def _real_day(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def _bullets(text: str) -> Iterator[tuple[entries.Entry, str]]:
    """Each bullet as one line without sign, time and pictures; orders, code and passing sections left out."""
    for entry in entries.parse(unicodedata.normalize("NFC", text)):
        if entry.kind != "bullet" or holds_code(entry):
            continue
        line = " ".join(lines.without_sign(entry.text).split())
        line = _IMAGE.sub("", _TIME.sub("", line)).strip()
        if line and not orders.find(line) and not any(map(wording.is_passing_section, entry.headings)):
            yield entry, line


def _worth_keeping(entry: entries.Entry, text: str, name: str, day: date | None) -> Iterator[Find]:
    if any(folding.fold(heading).strip(" :") == "retain" for heading in entry.headings):
        kept, why = _readable(text), "stands under Retain"
        topic = cues.judge(kept, chat=False).topic
    else:
        kept, why, topic = _lasting(text, entry.headings)
    kept = _confirmed_before(kept, day)
    line = f"- {kept}" + (f" ({day.isoformat()})" if day else "")
    key = folding.statement(line)
    if len(kept) >= _SHORTEST and key:
        yield Find(line, name, day, why, topic, key)


def _readable(text: str) -> str:
    """A Retain bullet as a sentence: no type letter, no confidence, `@ba-ngoai` as `ba ngoai` in front."""
    found = _RETAIN.match(text)
    rest = _MENTION.sub("", text[found.end() :] if found else text)
    slugs = found[1].split() if found else []
    names = [slug.removeprefix("@").replace("-", " ").replace("_", " ") for slug in slugs]
    missing = [each for each in names if folding.fold(each) not in folding.fold(rest)]
    return f"{', '.join(missing)}: {rest}" if missing else rest


def _confirmed_before(text: str, day: date | None) -> str:
    """Drop a date of its own that is not later than the note's: the note confirms the line anew."""
    own = lines.date_of(text)
    return lines.without_date(text) if own and day and own <= day else text


def _lasting(text: str, headings: tuple[str, ...]) -> tuple[str, str, cues.Topic]:
    """The sentences of a bullet that will still matter, the strongest reason, and the topic."""
    nothing: tuple[str, str, cues.Topic] = ("", "", "")
    if _CHECKBOX.match(text):
        return nothing
    speaker, said = _speaker(text)
    chat = bool(speaker) and not _ABOUT_SPEAKER.match(said)
    kept: list[str] = []
    best: cues.Verdict | None = None
    for sentence in _sentences(said):
        bare = wording.without_interjection(sentence) if chat else sentence
        if len(bare) > _LONGEST_SENTENCE or wording.is_question(bare) or wording.is_greeting(bare):
            continue
        verdict = cues.judge(bare, chat=chat, headings=headings)
        if verdict.lasting and not (chat and len(bare) < _SHORTEST_SAID):
            kept.append(bare[0].upper() + bare[1:] if chat else bare)
            best = verdict if best is None or verdict.weight > best.weight else best
        elif best and not chat and verdict.weight >= 0:
            kept.append(bare)  # what follows in the same bullet belongs to it
        if chat and len(kept) == _MOST_SENTENCES:
            break
    if best is None:
        return nothing
    return (f"{speaker}: " if speaker else "") + " ".join(kept), best.reason, best.topic


def _speaker(text: str) -> tuple[str, str]:
    """Who says it, and what; a label such as "Decision:" is nobody."""
    found = _SPEAKER.match(text)
    if not found or found[1][0].islower() or _LABEL.fullmatch(found[1]):
        return "", text
    return found[1], text[found.end() :]


def _sentences(text: str) -> list[str]:
    sentences: list[str] = []
    for part in _SENTENCE_END.split(text):
        if sentences and _ABBREVIATION.search(sentences[-1]):
            sentences[-1] += f" {part}"
        elif part.strip():
            sentences.append(part.strip())
    return sentences
