"""Takes off what a model wrapped around the text it was asked for.

A fence, a JSON object, a greeting, line numbers: each is removed here and
reported to the caller, so that a wrapping neither reaches a file nor makes a
good answer useless. Plain functions over text with "\\n" line ends.
"""

import json
import re
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass

from apps.errors import ModelFailed

HEADING = re.compile(r"\s{0,3}#{1,6}(\s|$)")
BULLET = re.compile(r"\s*([-*+]|\d{1,9}[.)])\s+\S")
FENCE = re.compile(r"\s{0,3}(`{3,}|~{3,})([^`]*)$")

# What reasoning models put around their thoughts in front of an answer; some servers swallow the opening tag.
_REASONING = re.compile(r"\s*<(think|thinking|reasoning)>", re.IGNORECASE)
_REASONING_START = re.compile(r"<(?:think|thinking|reasoning)>", re.IGNORECASE)
_REASONING_END = re.compile(r"^[ \t]*</(?:think|thinking|reasoning)>[ \t]*$", re.IGNORECASE | re.MULTILINE)

_WRAPPER_LANGUAGES = frozenset({"", "md", "markdown", "mdown", "text", "txt", "plain", "plaintext", "json"})
_TEXT_KEYS = ("memory", "text", "content")
_OBJECT_START = re.compile(r'\{\s*"')
_ARRAY_START = re.compile(r'^[ \t]*\[\s*"', re.MULTILINE)
# "1: x", "12| x", "3 -> x", "4<tab>x", "L5: x"; the second form needs proof that it is no numbered list.
_NUMBERED = re.compile(r"\s*L?(\d{1,6})(?:\s*(?:[:|→\t]|->)[ \t]?|$)(.*)")
_NUMBERED_LIKE_A_LIST = re.compile(r"\s*(\d{1,6})(?:[.)] ?|\s|$)(.*)")


@dataclass(frozen=True)
class Unwrapped:
    """The text inside, and the lines that stood before and after it."""

    text: str
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()


@dataclass(frozen=True)
class Unpacked:
    """A JSON answer: the memory text, reasons given beside it, and the other keys of the object."""

    text: str
    reasons: tuple[str, ...]
    keys: tuple[str, ...]
    before: tuple[str, ...]
    after: str


def is_structure(line: str) -> bool:
    """Say whether the line is a heading or a bullet, which is what a memory consists of."""
    return bool(HEADING.match(line) or BULLET.match(line))


def known_lines(text: str) -> frozenset[str]:
    """The trimmed lines of a text that are not blank."""
    return frozenset(line.strip() for line in text.split("\n") if line.strip())


def filled(lines: Iterable[str]) -> tuple[str, ...]:
    """The given lines, trimmed, without blank ones."""
    return tuple(line.strip() for line in lines if line.strip())


def reasoning(text: str, known: frozenset[str]) -> Unwrapped:
    """Take off the thoughts of a reasoning model in front of its answer: one or more `<think>` blocks.

    A block ends at the first closing tag on a line of its own, else at the first one at
    all. A closing tag alone on its line, with no opening one in the text before it,
    ends thoughts whose opening tag was swallowed.
    Tags on lines of the current memory are the memory's. Raises ModelFailed
    `bad_answer` for a block that never ends: then there are only thoughts.
    """
    closings = [closing for closing in _REASONING_END.finditer(text) if closing[0].strip() not in known]
    starts = [closing.start() for closing in closings]
    at, line = 0, _Line(-1, "")
    while opening := _REASONING.match(text, at):
        # Thousands of blocks may share a line and lack a closing one: neither is looked up again for each.
        line = line if opening.start(1) < line.end else _line_at(text, opening.start(1))
        if line.text in known:
            break
        first = bisect_left(starts, opening.end())
        closing = closings[first] if first < len(closings) else _inline_end(text, opening)
        if closing is None:
            raise ModelFailed(
                f"The answer holds only thoughts: its <{opening[1].lower()}> block never ends.", code="bad_answer"
            )
        at = closing.end()
    if at == 0 and closings and not _REASONING_START.search(text, 0, closings[0].end()):
        at = closings[0].end()
    return Unwrapped(text[at:].strip("\n"), filled(text[:at].split("\n"))) if at else Unwrapped(text)


def _inline_end(text: str, opening: re.Match[str]) -> re.Match[str] | None:
    """The first closing tag of this name, wherever on a line it stands."""
    return re.compile(f"</{opening[1]}>", re.IGNORECASE).search(text, opening.end())


@dataclass(frozen=True)
class _Line:
    """A line of a text, trimmed, and where it ends there."""

    end: int
    text: str


def _line_at(text: str, at: int) -> _Line:
    """The line that holds this place."""
    found = text.find("\n", at)
    end = found if found >= 0 else len(text)
    return _Line(end, text[text.rfind("\n", 0, at) + 1 : end].strip())


def json_object(text: str, known: frozenset[str]) -> Unpacked | None:
    """Read an answer that is a JSON object holding the text; None when it is not JSON at all.

    Words around the object and a fence around it are allowed, headings,
    bullets and lines of the current memory before it are not: then the JSON is
    part of a memory. Raises ModelFailed `bad_answer` when it begins as JSON and
    cannot be read or holds no text.
    """
    start = _json_start(text, known)
    if start is None:
        return None
    try:
        value, end = json.JSONDecoder(strict=False).raw_decode(text, start)
    except (ValueError, RecursionError):
        raise ModelFailed("The answer is JSON that cannot be read.", code="bad_answer") from None
    inner = _single_text(value)
    if inner is None:
        raise ModelFailed("The answer is JSON without the new memory text.", code="bad_answer")
    name, memory = inner
    return Unpacked(
        text=memory,
        reasons=_texts(value.get("reasons")),
        keys=tuple(key for key in value if key not in {name, "reasons"}),
        before=tuple(line for line in filled(text[:start].split("\n")) if not FENCE.match(line)),
        after="\n".join(line for line in text[end:].split("\n") if not FENCE.match(line)),
    )


def _json_start(text: str, known: frozenset[str]) -> int | None:
    """Where JSON begins in front of the first line that is part of a memory."""
    stop = 0
    for line in text.split("\n"):
        if line.strip() in known or is_structure(line):
            break
        stop += len(line) + 1
    found = _OBJECT_START.search(text, 0, stop) or _ARRAY_START.search(text, 0, stop)
    return found.start() if found else None


def _single_text(value: object) -> tuple[str, str] | None:
    if not isinstance(value, dict):
        return None
    for key in _TEXT_KEYS:
        if isinstance(value.get(key), str):
            return key, value[key]
    return None


def _texts(value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        return filled(value.split("\n"))
    if isinstance(value, list):
        return filled(" ".join(item.split()) for item in value if isinstance(item, str))
    return ()


def outer_fence(text: str, known: frozenset[str]) -> Unwrapped:
    """Remove one fence around the whole text; a fence that belongs to the memory stays.

    It is an outer one when it comes before any heading or bullet, names no
    programming language, and holds the headings and bullets itself. Its end
    may be missing (it then stands behind the reasons). Words around it are
    handed back.
    """
    lines = text.split("\n")
    first = next(
        (i for i, line in enumerate(lines) if line.strip() and (is_structure(line) or FENCE.match(line))),
        None,
    )
    opening = FENCE.match(lines[first]) if first is not None else None
    if first is None or opening is None or lines[first].strip() in known:
        return Unwrapped(text)
    if any(line.strip() in known for line in lines[:first]):
        return Unwrapped(text)
    last = _closing(lines, first, opening.group(1))
    inside = lines[first + 1 : last]
    words = opening.group(2).split()
    if words and words[0].casefold() not in _WRAPPER_LANGUAGES:
        return Unwrapped(text)
    if not any(is_structure(line) or line.strip() in known for line in inside):
        return Unwrapped(text)
    after = lines[last + 1 :] if last is not None else []
    return Unwrapped("\n".join(inside), filled(lines[:first]), filled(after))


def _closing(lines: list[str], first: int, mark: str) -> int | None:
    """The line that ends the fence opened at `first`, or None.

    A bare fence line both opens and closes. Blocks inside have two bare lines,
    or one when they name a language; one more bare line at the end of all
    headings and bullets is then the end of the outer fence. Otherwise it ends
    where counting openings and closings comes back to nothing.
    """
    depth, bare, named, end = 1, [], 0, None
    for number in range(first + 1, len(lines)):
        fence = FENCE.match(lines[number])
        if fence is None or fence.group(1)[0] != mark[0] or len(fence.group(1)) < len(mark):
            continue
        if fence.group(2).strip():
            named += 1
            depth += 1
            continue
        bare.append(number)
        depth -= 1
        if depth == 0 and end is None:
            end = number
    odd = (len(bare) - named) % 2 == 1
    if bare and odd and not any(is_structure(line) for line in lines[bare[-1] + 1 :]):
        return bare[-1]
    return end


def preamble(text: str, known: frozenset[str]) -> Unwrapped:
    """Drop what stands before the first heading or bullet and is not in the current memory.

    Frontmatter (the text begins with `---`) is no preamble. A text without
    any heading or bullet is all preamble, unless the current memory is prose too.
    """
    lines = text.split("\n")
    begin = 0
    if lines[0].rstrip() == "---" and "---" in known:
        begin = next((i + 1 for i, line in enumerate(lines[1:], 1) if line.rstrip() == "---"), 0)
    body = range(begin, len(lines))
    first = next((i for i in body if is_structure(lines[i]) or FENCE.match(lines[i])), len(lines))
    if not any(is_structure(lines[i]) for i in body):
        if known and not any(is_structure(line) for line in known):
            return Unwrapped(text)
        first = len(lines)
    dropped = [line for line in lines[begin:first] if line.strip() and line.strip() not in known]
    kept = [line for line in lines[begin:first] if not line.strip() or line.strip() in known]
    return Unwrapped("\n".join([*lines[:begin], *kept, *lines[first:]]), filled(dropped))


def without_line_numbers(text: str, current: str) -> str | None:
    """The text without the running number in front of its lines; None when it has none.

    Nine of ten lines from the first numbered one on must carry the next
    number. A numbered list is told apart by what follows the number: in a
    numbered *file* headings and bullets do.
    """
    for pattern, needs_proof in ((_NUMBERED, False), (_NUMBERED_LIKE_A_LIST, True)):
        bare = _renumbered(text, pattern, needs_proof=needs_proof)
        if bare is not None and _renumbered(current, pattern, needs_proof=needs_proof) is None:
            return bare
    return None


def _renumbered(text: str, pattern: re.Pattern[str], *, needs_proof: bool) -> str | None:
    bare: list[str] = []
    numbered = others = blanks = 0
    proven = False
    last: int | None = None
    for line in text.split("\n"):
        found = pattern.fullmatch(line)
        if found and (last is None or last < int(found.group(1)) <= last + 1 + blanks):
            bare.append(found.group(2))
            proven = proven or is_structure(found.group(2))
            last = int(found.group(1))
            numbered += 1
            blanks = 0
            continue
        bare.append(line)
        if last is not None:
            others += bool(line.strip()) and not FENCE.match(line)
            blanks += not line.strip()  # a blank line may be counted without showing its number
    if numbered < 3 or others * 9 > numbered:
        return None
    if needs_proof and not proven:
        return None
    return "\n".join(bare)
