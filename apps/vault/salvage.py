"""What can be saved of a block of fields that is not valid YAML, key by key."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

import yaml

from apps.vault import lines, yaml_text
from apps.vault.yaml_text import Value

# YAML writes longer keys in another form (`? key`), which other tools rarely read.
LONGEST_KEY = 100

_COLON = re.compile(r":(?=\s|$)")
_THEN_COLON = re.compile(r"[ \t]*:(?=\s|$)")
_QUOTED_KEY = re.compile(r""""(?:[^"\\]|\\.)*"|'(?:[^']|'')*'""")
_UNSPACED_KEY = re.compile(r"([^\W\d][\w-]*):(?=[^\s/:])")
_STARTS_NO_KEY = "-?:,[]{}#&*!|>'\"%@`"
_TABS = re.compile(r"(?m)^ *\t[ \t]*")


@dataclass
class Segment:
    """The lines of one key: `start` and `end` as positions in the text, `line` numbered from 1.

    `first` is what stands behind the colon on the first line.
    """

    key: str
    first: str
    line: int
    start: int
    end: int


def segments(text: str) -> tuple[list[Segment], list[int]] | None:
    """The keys of a broken block with their lines, and the numbers of the lines that belong to no key.

    None when the text does not begin with a key or when too few lines are keys: then it is prose
    between two rules, and being wrong in that direction hides nothing.
    """
    found: list[Segment] = []
    strays: list[int] = []
    current: Segment | None = None
    margin: int | None = None
    end = 0
    for line in lines.split(text):
        start, end = end, end + len(line.text) + len(line.end)
        content = line.text.lstrip(" \t")
        if not content or content.startswith("#"):
            continue
        indent = len(line.text) - len(content)
        margin = indent if margin is None else margin
        is_item = content == "-" or content.startswith("- ")
        if current and (indent > margin or (is_item and not current.first)):
            current.end = end
            continue
        key = None if is_item else _key_line(content)
        current = Segment(*key, line.number, start, end) if key else None
        if current:
            found.append(current)
        else:
            strays.append(line.number)
    if len(found) <= len(strays) or (strays and strays[0] < found[0].line):
        return None
    return found, strays


def value(text: str, segment: Segment) -> tuple[Value, list[str]]:
    """The value of one key, as YAML if possible, else as it stands; and what is wrong with its lines."""
    chunk = text[segment.start : segment.end]
    wrong: list[str] = []
    for attempt in (chunk, _TABS.sub(lambda tabs: tabs[0].expandtabs(2), chunk)):
        try:
            root = yaml_text.mapping(attempt)
            fields = yaml_text.fields_of(root) if root else {}
        except yaml_text.FAILS as error:
            wrong = wrong or [yaml_text.reason(error)]
            continue
        if root and list(fields) == [segment.key]:
            return fields[segment.key], wrong + list(yaml_text.doubts(root))
        wrong = wrong or ["no space after the colon"]
    plain = _plain(segment.first, chunk)
    return plain, wrong + (list(yaml_text.text_doubts(plain)) if isinstance(plain, str) else [])


def _key_line(content: str) -> tuple[str, str] | None:
    """Key and first text of a line that begins a value; None for any other line."""
    for key, end in _candidate(content):
        if key and len(key) <= LONGEST_KEY and not yaml_text.UNSTORABLE.search(key):
            return key, content[end:].strip()
    return None


def _candidate(content: str) -> Iterator[tuple[str, int]]:
    quoted = _QUOTED_KEY.match(content)
    colon = _THEN_COLON.match(content, quoted.end()) if quoted else None
    if quoted and colon:
        try:
            yield str(yaml.load(quoted[0], Loader=yaml_text.TextLoader)), colon.end()  # noqa: S506
        except yaml_text.FAILS:
            return
    elif content[0] not in _STARTS_NO_KEY:
        colon = _COLON.search(content)
        unspaced = _UNSPACED_KEY.match(content)
        if colon:
            yield content[: colon.start()].rstrip(), colon.end()
        elif unspaced:
            yield unspaced[1], unspaced.end()


def _plain(first: str, chunk: str) -> Value:
    """The lines of a key without any YAML: a list when all lines below the key are items."""
    following = [text for text in (line.text.strip() for line in lines.split(chunk)[1:]) if text]
    if not first and following and all(text.startswith("-") for text in following):
        return [_bare(text[1:].strip()) for text in following]
    return _bare(" ".join(filter(None, [first, *following])))


def _bare(text: str) -> str:
    text = yaml_text.UNSTORABLE.sub("\ufffd", text)
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"" else text
