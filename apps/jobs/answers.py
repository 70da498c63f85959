"""Reads what a model answered to the request for a rewrite.

The answer is untrusted text. It becomes a Rewrite with everything that had to
be taken off or out of it listed, or ModelFailed; it never raises anything else.
"""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

from apps.errors import ModelFailed
from apps.jobs import cutting, foreign_lines, unwrapping
from apps.vault import folding, lines

LIMIT = 24_000  # characters of memory text, memory.md 6.5
REASONS_LIMIT = 4_000

# "---REASONS---", "--- lý do ---"; autocorrection turns three hyphens into one long dash.
_SEPARATOR = re.compile(r"(?:-{3,}|–{2,}|—+)\s*(?:reasons?|ly\s*do)\s*(?:-{3,}|–{2,}|—+)")
_SHORTEST_SEPARATOR, _LONGEST_SEPARATOR = len("—lydo—"), 200  # characters, with the decoration around it
_NUMBER_BEFORE_SEPARATOR = re.compile(r"L?\d{1,6}\s*(?:[:|→.)]|->)?\s*")
_SURROGATE_OR_NUL = re.compile("[\x00\ud800-\udfff]")
_BULLET_SIGN = re.compile(r"^(?:L?\d{1,6}\s*[:|→]\s*)?(?:[-*+•]|\d{1,3}[.)])\s+")


@dataclass(frozen=True)
class Finding:
    """One thing the parser did or saw, with the lines it is about.

    Codes: `preamble` (a reasoning model's thoughts among it), `afterword`,
    `line_numbers`, `machine_fields`, `other_file` and `odd_character` were taken
    out; `over_limit` names what fell off the end; `placeholder` lines are still in
    the text, for a person to see.
    """

    code: str
    lines: tuple[str, ...] = ()


@dataclass(frozen=True)
class Rewrite:
    """The proposed memory (trimmed, "\\n" line ends), the model's reasons, and the findings."""

    text: str
    reasons: tuple[str, ...]
    findings: tuple[Finding, ...]  # at most one of each code


def parse(
    answer_text: str,
    *,
    current: str,
    finish_reason: str = "stop",
    limit: int = LIMIT,
    model: str = "",
    tokens: int | None = None,
) -> Rewrite:
    """Split an answer into memory text and reasons, freed of all wrappings.

    `current` is the memory as it is now: what stands in it is never taken for
    a wrapping, and an answer that says the same gives it back as it is, however
    long. No text before the separator is an answer only where there is no
    memory yet. `model` and `tokens`, the number the model wrote, are only told.
    Raises ModelFailed `truncated` (finish reason `length`) or `bad_answer`
    (stopped by a content filter, nothing, or nothing that could be a memory).
    """
    _refuse_unfinished(finish_reason, model, tokens)
    findings: list[Finding] = []
    whole = _clean(answer_text, findings)
    now = _clean(current, [])
    known = unwrapping.known_lines(now)
    if whole != now:
        thoughts = unwrapping.reasoning(whole, known)
        if thoughts.before:
            _report(findings, "preamble", thoughts.before)
            whole = lines.trimmed(thoughts.text)
    head, tail = _split(whole, now)
    if head != now or not (now or tail.strip()):
        head, tail = _unwrapped(head, tail, now, findings)
        head = _sifted(head, known, findings)
        if not head:
            raise ModelFailed("The answer holds no text that could be a memory.", code="bad_answer")
    if head == now:
        return Rewrite(lines.trimmed(current), _reasons(tail), ())
    head = _within(head, limit, findings)
    _report(findings, "placeholder", placeholders(head, current=now))
    return Rewrite(head, _reasons(tail), _one_a_code(findings))


def _refuse_unfinished(finish_reason: str, model: str, tokens: int | None) -> None:
    writer = f" of {model}" if model else ""
    told = {"model": model} if model else {}
    if finish_reason == "length":
        written = "" if tokens is None else f" after {tokens:,} tokens"
        raise ModelFailed(
            f"The answer{writer} was cut off at the model's output limit{written}; nothing of it was used.",
            code="truncated",
            **told,
            **({} if tokens is None else {"tokens": tokens}),
        )
    if finish_reason == "content_filter":
        raise ModelFailed(
            f"A content filter of the provider stopped the answer{writer}; nothing of it was used.",
            code="bad_answer",
            **told,
        )


def placeholders(text: str, *, current: str = "") -> list[str]:
    """The trimmed lines that only stand for others ("all other entries are kept as before", "…").

    Lines that are in the current memory are a person's own words and do not count.
    """
    known = unwrapping.known_lines(current)
    rows = (line.strip() for line in text.split("\n"))
    return [line for line in rows if line not in known and foreign_lines.stands_for_rest(line)]


def _clean(text: str, findings: list[Finding]) -> str:
    plain, odd = _SURROGATE_OR_NUL.subn("", text)
    if odd:
        findings.append(Finding("odd_character"))
    return lines.trimmed(plain.replace("\r\n", "\n").replace("\r", "\n").strip("\ufeff"))


def _is_separator(line: str) -> bool:
    if not _SHORTEST_SEPARATOR <= len(line) <= _LONGEST_SEPARATOR:
        return False
    bare = folding.fold(unicodedata.normalize("NFC", line)).strip(" \t#*`:>")
    return bool(_SEPARATOR.fullmatch(_NUMBER_BEFORE_SEPARATOR.sub("", bare, count=1)))


def _split(text: str, current: str) -> tuple[str, str]:
    """Memory and reasons, at the first separator line that is not one of the memory's own."""
    own = sum(map(_is_separator, current.split("\n")))
    rows = text.split("\n")
    places = [number for number, line in enumerate(rows) if _is_separator(line)]
    if not places or text == current:
        return text, ""
    place = places[min(own, len(places) - 1)]
    return "\n".join(rows[:place]).strip("\n"), "\n".join(rows[place + 1 :])


def _unwrapped(head: str, tail: str, current: str, findings: list[Finding]) -> tuple[str, str]:
    known = unwrapping.known_lines(current)
    head = _without_numbers(head, current, findings)
    packed = unwrapping.json_object(head if not tail else f"{head}\n{tail}", known)
    if packed is not None:
        _report(findings, "preamble", packed.before)
        _report(findings, "other_file", packed.keys)
        head, inner_tail = _split(_clean(packed.text, findings), current)
        tail = "\n".join([inner_tail, *packed.reasons, tail])
    fenced = unwrapping.outer_fence(head, known)
    _report(findings, "preamble", fenced.before)
    _report(findings, "afterword", fenced.after)
    head = _without_numbers(fenced.text, current, findings)
    bare = unwrapping.preamble(head, known)
    _report(findings, "preamble", bare.before)
    return bare.text.strip("\n"), tail


def _without_numbers(text: str, current: str, findings: list[Finding]) -> str:
    bare = unwrapping.without_line_numbers(text, current)
    if bare is None:
        return text
    findings.append(Finding("line_numbers"))
    return bare.strip("\n")


def _sifted(text: str, known: frozenset[str], findings: list[Finding]) -> str:
    sifted = foreign_lines.sift(text.split("\n"), known)
    _report(findings, "machine_fields", sifted.machine_fields)
    _report(findings, "other_file", sifted.other_files)
    return lines.trimmed("\n".join(sifted.lines))


def _report(findings: list[Finding], code: str, lines: Iterable[str]) -> None:
    if told := tuple(lines):
        findings.append(Finding(code, told))


def _one_a_code(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    lines: dict[str, tuple[str, ...]] = {}
    for finding in findings:
        lines[finding.code] = lines.get(finding.code, ()) + finding.lines
    return tuple(Finding(code, about) for code, about in lines.items())


def _within(text: str, limit: int, findings: list[Finding]) -> str:
    """The text up to the last entry that ends within `limit` characters."""
    if len(text) <= limit:
        return text
    kept, fallen = cutting.split(text, limit)
    findings.append(Finding("over_limit", tuple(entry.text for entry in fallen)))
    return kept


def _reasons(tail: str) -> tuple[str, ...]:
    """One reason a line, without bullet signs and fences, 4,000 characters in all."""
    reasons: list[str] = []
    room = REASONS_LIMIT
    for line in tail.split("\n"):
        bare = _BULLET_SIGN.sub("", line.strip())
        if not bare or unwrapping.FENCE.match(line) or _is_separator(line):
            continue
        reasons.append(bare[:room])
        room -= len(bare) + 1
        if room <= 0:
            break
    return tuple(reasons)
