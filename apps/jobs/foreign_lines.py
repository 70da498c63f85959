"""Finds lines of an answer that no memory may take: working fields, other files, stand-ins.

A job that was shown scores, candidates and daily notes may hand some of that
back as if it were memory. A line that is in the current memory already is a
person's and never counts.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

_SIGN = re.compile(r"^\s*(?:[-*+]\s+|#{1,6}\s+)?")

# [score=0.91 recalls=0], [score=0.812 recalls=3 avg=0.640 source=memory/2026-03-04.md:3-3]
_FIELD = r"[a-z_]+\s*[=:]\s*[^\s\[\]]{1,200}"
_FIELDS = re.compile(
    rf"(?:(?<!\s)\s+)?\[\s*(?:{_FIELD}[\s,;]+)*(?:score|recalls?|avg|weight|confidence)\s*[=:]\s*[\d.]+"
    rf"(?:[\s,;]+{_FIELD})*\s*\]",
    re.IGNORECASE,
)
_WORKING_LINE = re.compile(
    r"(?:\*\*)?candidates?(?:\s+\d+)?(?:\*\*)?\s*:|\$\s+\S|<!--\s*[\w-]+-promotion:", re.IGNORECASE
)

_PATH = r"(?:[\w.~-]{1,80}/){0,8}[\w.~-]{1,120}\.md"
# On a line freed of the decoration around it: "memory/x.md", "File: x.md", `file path="x.md`, "x.md: new text".
_NAMES_FILE = re.compile(
    rf"(?:(?:file|path|update|updated|tệp)\b(?: ?(?:path|name))?[\s:=]{{0,5}})?[\"'`*]{{0,4}}(?P<path>{_PATH})"
    r"(?:[\"'`*\])]{0,4}\s{0,5}(?P<rest>:|=>|->|→|=)\s.*)?",
    re.IGNORECASE,
)
_DECORATION = " \t#>*+=<-[]`\"':"
_FENCED_FILE = re.compile(rf"[`~]{{3,9}}\s{{0,5}}(?:[\w-]+[\s:=]{{1,5}})?(?P<path>{_PATH})", re.IGNORECASE)
_CLOSING_TAG = re.compile(r"</\w+>")
_LONGEST_NAMING = 400
_FENCE_END = re.compile(r"`{3,}|~{3,}")

_REST = (
    r"(?:(?:all\s+)?(?:the\s+)?(?:rest|everything else|remainder)"
    r"|(?:(?:all|the|any)\s+)*(?:other|others|remaining|previous|existing|earlier|unchanged|older)"
    r"(?:\s+\w+){0,2}?\s+(?:entries|entry|lines?|items?|bullets?|contents?|sections?|notes|facts|memory|text|parts?)"
    r"|all others|same content"
    r"|(?:tất cả\s+)?(?:các|những)\s+(?:mục|dòng|phần|ý|nội dung)(?:\s+\w+)?\s+(?:khác|còn lại)"
    r"|(?:tất cả\s+)?(?:phần|nội dung|mục|dòng)\s+còn lại|mọi thứ khác)"
)
_KEPT = (
    r"(?:unchanged|not changed|untouched|as (?:it |they )?(?:is|was|are|were)|as-is|as before|same"
    r"|kept|preserved|retained|continues?|omitted|no changes?|remains?|stays?|above"
    r"|giữ nguyên|không (?:thay )?đổi|như (?:cũ|trước)|được giữ|lược bỏ|không có thay đổi)"
)
_STANDS_FOR_REST = re.compile(
    rf"{_REST}\b.{{0,60}}\b{_KEPT}\b|^(?:keep(?:ing)? )?{_KEPT}\b.{{0,20}}\b{_REST}\W*$", re.IGNORECASE
)
_ONLY_KEPT = re.compile(
    r"(?:unchanged|no changes?|(?:kept |same )?as (?:before|above|is)|same as (?:before|above)"
    r"|giữ nguyên|không (?:thay )?đổi|như (?:cũ|trước))",
    re.IGNORECASE,
)
_ONLY_REST = re.compile(rf"(?:{_REST}|(?:the )?rest of (?:the )?[\w .-]{{1,40}}|còn lại)", re.IGNORECASE)
_WRAPPED = re.compile(r"<!--|//|[\[(…]|\.\.\.")
_WRAPPING = re.compile(r"^(?:<!--|[\[(<{*_`…. /-])+|(?:-->|[\])>}*_`…. /!:-])+$")
_ONLY_DOTS = re.compile(r"(?:<!--|[\[(])?\s*(?:\.{3,}|…+)\s*(?:-->|[\])])?")
_LONGEST_STAND_IN = 160


@dataclass(frozen=True)
class Sifted:
    """The lines that may stay, and what was taken out, by sort."""

    lines: tuple[str, ...]
    machine_fields: tuple[str, ...]
    other_files: tuple[str, ...]


def sift(lines: Iterable[str], known: frozenset[str]) -> Sifted:
    """Take machine fields and texts of other files out of the lines of an answer.

    A block that begins by naming another Markdown file is dropped until a line
    of the current memory, the end of its fence or tag, or the name of
    MEMORY.md; a field in brackets is cut out of its line. `known`: the trimmed
    lines of the current memory.
    """
    kept: list[str] = []
    fields: list[str] = []
    files: list[str] = []
    inside: str | None = None  # "block" or "fence" of another file
    for line in lines:
        stripped = line.strip()
        if stripped in known:
            inside = None
            kept.append(line)
            continue
        named = _named(stripped)
        if named is not None and named.own and inside is None:
            kept.append(line)
        elif named is not None:
            inside = None if named.own else named.begins
            files.append(stripped)
        elif inside is not None:
            if stripped:
                files.append(stripped)
            if (_FENCE_END if inside == "fence" else _CLOSING_TAG).fullmatch(stripped):
                inside = None
        elif _WORKING_LINE.match(_SIGN.sub("", line)):
            fields.append(stripped)
        elif _FIELDS.search(line):
            fields.append(stripped)
            rest = _FIELDS.sub("", line)
            if _SIGN.sub("", rest).strip():
                kept.append(rest)
        else:
            kept.append(line)
    return Sifted(tuple(kept), tuple(fields), tuple(files))


@dataclass(frozen=True)
class _Named:
    """A line that names a Markdown file: the memory itself or another, and what begins with it."""

    own: bool
    begins: str | None  # "block", "fence", or None when the new text stands on the same line


def _named(stripped: str) -> _Named | None:
    if ".md" not in stripped.casefold():
        return None
    fenced = _FENCED_FILE.fullmatch(stripped)
    if fenced:
        return _Named(own=_is_memory(fenced["path"]), begins="fence")
    plain = _NAMES_FILE.fullmatch(stripped[:_LONGEST_NAMING].strip(_DECORATION))
    if plain:
        return _Named(own=_is_memory(plain["path"]), begins=None if plain["rest"] else "block")
    return None


def _is_memory(path: str) -> bool:
    return path.removeprefix("./") == "MEMORY.md"


def stands_for_rest(line: str) -> bool:
    """Say whether a line only tells that others stay, instead of giving them."""
    stripped = _SIGN.sub("", line).strip()
    if not stripped or len(stripped) > _LONGEST_STAND_IN:
        return False
    if _ONLY_DOTS.fullmatch(stripped):
        return True
    bare = _WRAPPING.sub("", stripped)
    if _WRAPPED.match(stripped) and _ONLY_REST.fullmatch(bare):
        return True
    return bool(_ONLY_KEPT.fullmatch(bare) or _STANDS_FOR_REST.search(bare))
