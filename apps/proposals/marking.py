"""Turn entries into drawable stretches: words that changed, words a check is about. Plain values, no request."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from apps.proposals.review import Segment, Text
from apps.vault import lines, marks
from apps.vault.entries import Entry

_SIGN = re.compile(r"\A\s*(?:[-*+][ \t]+|#{1,6}[ \t]+)")
_RANK = {"": 0, "note": 1, "check": 2, "stop": 3, "letter": 4}


@dataclass(frozen=True)
class Warned:
    """Words of one side that a check is about, with the severity to draw them in."""

    word: str
    warn: str


@dataclass(frozen=True)
class _Span:
    start: int
    end: int
    warn: str


def bare(entry: Entry) -> str:
    """The entry's words: without bullet or heading sign and without the date at its end; inner lines unindented."""
    text = lines.without_date(_SIGN.sub("", entry.text, count=1))
    return "\n".join(line.strip() for line in text.split("\n")).rstrip()


def text(entry: Entry, warned: Sequence[Warned] = ()) -> Text:
    """One side of a difference, with warned words marked."""
    words = bare(entry)
    segments = tuple(_cut(words, "", _spans(words, warned)))
    return Text(segments, lines.date_suffix(entry.text) or "", entry.kind == "heading")


def woven(
    old: Entry, new: Entry, old_warned: Sequence[Warned], new_warned: Sequence[Warned]
) -> tuple[tuple[Segment, ...], bool]:
    """Old and new as one row of segments, and whether over half of the words differ."""
    old_text, new_text = bare(old), bare(new)
    row = marks.words_marked(old_text, new_text)
    old_spans, new_spans = _spans(old_text, old_warned), _spans(new_text, new_warned)
    segments: list[Segment] = []
    old_at = new_at = 0
    for mark in row:
        if mark.kind == "del":
            segments += _inked(_cut(mark.text, "del", _shifted(old_spans, old_at)))
        elif mark.kind == "ins":
            segments += _inked(_cut(mark.text, "ins", _shifted(new_spans, new_at)))
        else:
            segments += _cut(mark.text, "", _shifted(new_spans, new_at))
        old_at += len(mark.text) if mark.kind != "ins" else 0
        new_at += len(mark.text) if mark.kind != "del" else 0
    return tuple(segments), marks.mostly_different(row)


def _inked(segments: Sequence[Segment]) -> list[Segment]:
    """The same text, but a mark does not reach over the blanks at its ends; a mark of blanks alone stays."""
    row: list[Segment] = []
    for one in segments:
        words = one.text.strip(" ")
        if not words:
            row.append(one)
            continue
        at = one.text.index(words)
        before, after = one.text[:at], one.text[at + len(words) :]
        row += [part for part in (Segment(before), replace(one, text=words), Segment(after)) if part.text]
    return row


def _spans(words: str, warned: Iterable[Warned]) -> list[_Span]:
    """Where the warned words stand, graver ones over lighter ones, without overlaps, in order."""
    found: list[_Span] = []
    for one in sorted(warned, key=lambda one: -_RANK[one.warn]):
        start = words.find(one.word) if one.word else -1
        end = start + len(one.word)
        if start >= 0 and all(end <= span.start or start >= span.end for span in found):
            found.append(_Span(start, end, one.warn))
    return sorted(found, key=lambda span: span.start)


def _shifted(spans: Iterable[_Span], by: int) -> list[_Span]:
    return [_Span(span.start - by, span.end - by, span.warn) for span in spans]


def _cut(words: str, change: str, spans: Iterable[_Span]) -> list[Segment]:
    """The words as segments, cut where a warned stretch begins or ends."""
    segments, at = [], 0
    for span in spans:
        start, end = max(span.start, at), min(span.end, len(words))
        if start >= end:
            continue
        if start > at:
            segments.append(Segment(words[at:start], change))  # type: ignore[arg-type]
        segments.append(Segment(words[start:end], change, span.warn))  # type: ignore[arg-type]
        at = end
    if at < len(words):
        segments.append(Segment(words[at:], change))  # type: ignore[arg-type]
    return segments
