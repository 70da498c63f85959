"""The block of fields at the top of a file: read as text, and changed one key at a time.

A block counts only under the strict fence rule: `---` is the very first line (after an optional byte
order mark), a `---` line closes it, its first line is not blank, and it is a YAML mapping. Everything
else is body, so that a rule on top of a note never hides prose.
"""

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import frontmatter as python_frontmatter

from apps.errors import Invalid
from apps.vault import field_edits, salvage, yaml_text
from apps.vault.yaml_text import UNSTORABLE, Value

BOM = b"\xef\xbb\xbf"

# Far above any real block; a longer one would keep the YAML scanner busy for many seconds.
_LONGEST = 64 * 1024
_TOO_LONG = f"the block of fields is longer than {_LONGEST} characters and is not read"

_OPENING = re.compile(rb"(?:\xef\xbb\xbf)?---[ \t]*(\r\n|\n|\r)")
_CLOSING = re.compile(rb"(\r\n|\n|\r)---[ \t]*(?:\r\n|\n|\r|\Z)")
_LINE_END = re.compile(r"\r\n|\n|\r")
_UNDECODED = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True)
class Problem:
    """Something wrong in a file: the line (from 1, in the file), the reason, and the key if one is meant."""

    line: int
    reason: str
    field: str = ""


@dataclass(frozen=True)
class Block:
    """What the top of a file says, and the body below it.

    `body` is decoded with replacement, without the byte order mark; `body_start` is its first line
    (from 1, in the file) and `body_offset` its first byte. `present` tells an empty mapping from none.
    """

    fields: Mapping[str, Value]
    body: str
    body_start: int
    body_offset: int
    problems: tuple[Problem, ...]
    present: bool


def read(data: bytes) -> Block:
    """The fields and the body of a file; never raises, whatever the bytes are.

    A broken block gives what can be recovered line by line, and a problem for each line that is wrong.
    Of two equal keys the later one counts.
    """
    cut = _cut(data)
    found = _fields(cut.text) if cut and not cut.too_long else None
    if cut is None or found is None:
        offset = len(BOM) if data.startswith(BOM) else 0
        long = (Problem(2, _TOO_LONG),) if cut and cut.too_long else ()
        return Block({}, data[offset:].decode("utf-8", "replace"), 1, offset, long, False)
    start = len(_LINE_END.findall(cut.text)) + 3
    problems = tuple(sorted(found.problems, key=lambda problem: problem.line))
    return Block(found.fields, data[cut.body :].decode("utf-8", "replace"), start, cut.body, problems, True)


def set_key(data: bytes, key: str, value: str | Sequence[str]) -> bytes:
    """The file with one key set; every byte outside the lines of that key stays.

    A missing key is added at the end of the block, a missing block at the top of the file. A key that
    stood there twice stands there once afterwards. Reading the result gives `value` back exactly.

    Raises Invalid `bad_frontmatter` for a text that cannot be stored, for a key that is empty, longer
    than 100 characters or of several lines, and for a block too damaged to take the value.
    """
    wanted: Value = value if isinstance(value, str) else list(value)
    _refuse(key, wanted)
    cut = _cut(data)
    if cut and cut.too_long:
        raise Invalid(f"In the file's first lines, {_TOO_LONG}.", code="bad_frontmatter", field=key)
    before = _fields(cut.text) if cut else None
    if cut is None or before is None:
        offset = len(BOM) if data.startswith(BOM) else 0
        end = line_end(data)
        block = f"---\n{dump({key: wanted})}---\n".replace("\n", end)
        return data[:offset] + block.encode() + data[offset:]
    if before.sound and before.fields.get(key) == wanted and not before.twice(key):
        return data
    text = _UNDECODED.sub("\ufffd", cut.text)
    ways = field_edits.in_yaml if before.sound else field_edits.in_broken
    for edits in ways(text, key, wanted):
        inner = cut.text
        for start, end_of, new in sorted(edits, reverse=True):
            inner = inner[:start] + new + inner[end_of:]
        changed = data[: cut.start] + inner.encode("utf-8", "surrogateescape") + data[cut.end :]
        after = read(changed).fields
        # The others of a broken block may read better afterwards, when this key was what broke it.
        if after.get(key) == wanted and (not before.sound or before.others(key) == _without(after, key)):
            return changed
    raise Invalid(f"The block at the top is too damaged to set “{key}”.", code="bad_frontmatter", field=key)


def dump(fields: Mapping[str, Value]) -> str:
    """YAML for files of our own: Unicode as is, keys in order, lists as `- x`, long lines not wrapped.

    The lines between the fences, ending in a newline. A text that other readers would take for a number,
    a date or a truth value is quoted. Raises Invalid `bad_frontmatter` as `set_key` does, and for more
    text than `read` takes for a block.
    """
    for key, value in fields.items():
        _refuse(key, value)
    text = yaml_text.block(fields)
    if len(text) > _LONGEST:
        raise Invalid(f"Fields can hold {_LONGEST} characters.", code="bad_frontmatter", limit=_LONGEST)
    return text


def line_end(data: bytes) -> str:
    """The commoner line end of a file, `"\\n"` or `"\\r\\n"`; of a tie, that of the first line."""
    windows = data.count(b"\r\n")
    unix = data.count(b"\n") - windows
    first_is_windows = data[: data.find(b"\n")].endswith(b"\r")
    return "\r\n" if windows > unix or (windows == unix and windows and first_is_windows) else "\n"


def _refuse(key: str, value: Value) -> None:
    if not key or len(key) > salvage.LONGEST_KEY or yaml_text.BREAK.search(key):
        raise Invalid("A key is one line of 1 to 100 characters.", code="bad_frontmatter", field=key[:100])
    texts = [key]
    rest: list[Value] = [value]
    while rest:
        inner = rest.pop()
        if isinstance(inner, str):
            texts.append(inner)
        else:
            rest += inner.values() if isinstance(inner, dict) else inner
            texts += inner if isinstance(inner, dict) else ()
    if any(UNSTORABLE.search(text) for text in texts):
        raise Invalid(f"“{key}” holds a character that cannot be stored.", code="bad_frontmatter", field=key)


# Reading


@dataclass(frozen=True)
class _Cut:
    """The text between the fences, its first byte and the byte after it, and the first byte of the body.

    Bytes that are not UTF-8 are in it as surrogates, one each, so that it can become the same bytes again.
    """

    text: str
    start: int
    end: int
    body: int

    @property
    def too_long(self) -> bool:
        return len(self.text) > _LONGEST


@dataclass(frozen=True)
class _Fields:
    """The fields of a block; `sound` when it is valid YAML, otherwise they were recovered."""

    fields: dict[str, Value]
    problems: list[Problem]
    sound: bool

    def others(self, key: str) -> dict[str, Value]:
        return _without(self.fields, key)

    def twice(self, key: str) -> bool:
        return any(problem.reason == _TWICE and problem.field == key for problem in self.problems)


_TWICE = "the key stands here a second time"


def _without(fields: Mapping[str, Value], key: str) -> dict[str, Value]:
    return {name: value for name, value in fields.items() if name != key}


def _cut(data: bytes) -> _Cut | None:
    opening = _OPENING.match(data)
    # The search begins before the first line end, so that a block without lines is seen as one.
    closing = _CLOSING.search(data, opening.start(1)) if opening else None
    if not opening or not closing or closing.end(1) <= opening.end():
        return None
    start, end = opening.end(), closing.end(1)
    return _Cut(data[start:end].decode("utf-8", "surrogateescape"), start, end, closing.end())


def _fields(inner: str) -> _Fields | None:
    """The fields of a block; None when what stands between the fences is no mapping but prose."""
    if not _LINE_END.split(inner, maxsplit=1)[0].strip():
        return None
    text = _UNDECODED.sub("\ufffd", inner)
    handler = yaml_text.TextHandler()
    try:
        python_frontmatter.parse(f"---\n{text}---\n", handler=handler)
    except yaml_text.FAILS as error:
        line = len(_LINE_END.findall(text[: yaml_text.position(error)])) + 2
        return _recovered(text, Problem(line, yaml_text.reason(error)))
    if handler.root is None:
        return None
    # python-frontmatter has turned CRLF into LF, and the positions of its nodes count so.
    starts = [0] + [end.end() for end in _LINE_END.finditer(text.replace("\r\n", "\n"))]
    problems: list[Problem] = []
    seen: set[str] = set()
    for key, value in handler.root.value:
        line = bisect_right(starts, key.start_mark.index) + 1
        reasons = [*([_TWICE] if key.value in seen else []), *yaml_text.doubts(value)]
        problems += [Problem(line, reason, key.value) for reason in reasons]
        seen.add(key.value)
    return _Fields(handler.fields, problems, sound=True)


def _recovered(text: str, cause: Problem) -> _Fields | None:
    """What can be saved of a broken block; `cause` is reported when no single line is to blame."""
    found = salvage.segments(text)
    if found is None:
        return None
    segments, strays = found
    problems = [Problem(line + 1, "not a line of the form `key: value`") for line in strays]
    fields: dict[str, Value] = {}
    for segment in segments:
        value, wrong = salvage.value(text, segment)
        reasons = [*([_TWICE] if segment.key in fields else []), *wrong]
        problems += [Problem(segment.line + 1, reason, segment.key) for reason in reasons]
        fields[segment.key] = value
    return _Fields(fields, problems or [cause], sound=False)
