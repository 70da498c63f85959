"""Where the text of a block of fields must change to set one key.

Each function gives ways to do it, the one that keeps most of the text first; the caller takes the first
after which the block reads as wanted. An edit is (start, end, new text) in positions of the text.
"""

import re
from collections.abc import Iterator
from typing import TypeAlias

import yaml

from apps.vault import salvage, yaml_text
from apps.vault.yaml_text import Value

Edit: TypeAlias = tuple[int, int, str]

_LINE_END = re.compile(r"\r\n|\n|\r")
_COLON = re.compile(r"[ \t]*:[ \t]*")


def in_yaml(text: str, key: str, value: Value) -> Iterator[list[Edit]]:
    """Ways to set a key of a block that is valid YAML."""
    root = yaml_text.mapping(text)
    pairs = [(name, old) for name, old in root.value if name.value == key] if root else []
    if root and root.flow_style:
        yield _flow_edits(text, root, pairs, key, value)
    elif root and not pairs:
        yield [_added(text, root.value[0][0].start_mark.index, key, value)]
    elif pairs:
        (name, old), *doubles = pairs
        drop = [(*_span(text, *double), "") for double in doubles]
        spliced = _spliced(text, name, old, value)
        if spliced:
            yield [spliced, *drop]
        yield [_replaced(text, _span(text, name, old), key, value, old), *drop]
        # A block scalar can end in lines that are nothing but odd white space.
        yield [_replaced(text, (_line_start(text, name), old.end_mark.index), key, value, old), *drop]


def in_broken(text: str, key: str, value: Value) -> Iterator[list[Edit]]:
    """Ways to set a key of a block that only `salvage` can read."""
    segments, _ = salvage.segments(text) or ([], [])
    if not segments:
        return
    spans = [(segment.start, segment.end) for segment in segments if segment.key == key]
    first = segments[0].start
    *_, added = _added(text, first, key, value)
    if spans:
        yield [_replaced(text, spans[0], key, value), *((start, end, "") for start, end in spans[1:])]
        # With fewer keys among its stray lines the block could pass for prose.
        yield [_replaced(text, span, key, value) for span in spans]
    else:
        yield [_added(text, first, key, value)]
    # A quote left open above would swallow what stands below it: the key goes first, as a last resort.
    yield [*((start, end, "") for start, end in spans), (first, first, added)]


def _spliced(text: str, name: yaml.Node, old: yaml.Node, value: Value) -> Edit | None:
    """Only the value itself, so that quotes, alignment and a comment behind it stay; None if it cannot."""
    start, end = old.start_mark.index, old.end_mark.index
    if text[_line_start(text, name) : name.start_mark.index].strip():
        return None
    if not _COLON.fullmatch(text, name.end_mark.index, start) or yaml_text.BREAK.search(text, start, end):
        return None
    if isinstance(old, yaml.ScalarNode) and old.style not in {"|", ">"} and isinstance(value, str):
        new = yaml_text.scalar(value, old.style)
    elif isinstance(old, yaml.SequenceNode) and old.flow_style and not isinstance(value, str):
        new = yaml_text.flow(value)
    else:
        return None
    return start, end, new if text[start - 1] in " \t" else f" {new}"


def _replaced(text: str, span: tuple[int, int], key: str, value: Value, old: yaml.Node | None = None) -> Edit:
    """The whole lines of a key, with the indentation that the key and the items of its list had."""
    margin = _margin(text, span[0])
    deeper = 0
    if isinstance(old, yaml.SequenceNode) and not old.flow_style:
        deeper = max(0, old.start_mark.column - len(margin))
    return (*span, _lines(key, value, margin, deeper, _line_end_after(text, span[0])))


def _added(text: str, first_key: int, key: str, value: Value) -> Edit:
    margin = _margin(text, max(text.rfind("\n", 0, first_key), text.rfind("\r", 0, first_key)) + 1)
    ends = _LINE_END.findall(text)
    return len(text), len(text), _lines(key, value, margin, 0, ends[-1])


def _flow_edits(
    text: str, root: yaml.MappingNode, pairs: list[tuple[yaml.Node, yaml.Node]], key: str, value: Value
) -> list[Edit]:
    """In a block that is one `{…}`."""
    if pairs:
        return [
            (old.start_mark.index, old.end_mark.index, _after_colon(text, name, old) + yaml_text.flow(value))
            for name, old in pairs
        ]
    new = f"{yaml_text.flow(key)}: {yaml_text.flow(value)}"
    if not root.value:
        behind = root.end_mark.index - 1
        return [(behind, behind, new)]
    behind = root.value[-1][1].end_mark.index
    return [(behind, behind, f", {new}")]


def _after_colon(text: str, name: yaml.Node, old: yaml.Node) -> str:
    between = text[name.end_mark.index : old.start_mark.index]
    return ": " if ":" not in between else " " if between.endswith(":") else ""


def _lines(key: str, value: Value, margin: str, deeper: int, end: str) -> str:
    first, *items = yaml_text.block({key: value}).rstrip("\n").split("\n")
    return "".join(margin + line + end for line in [first, *(" " * deeper + item for item in items)])


def _span(text: str, name: yaml.Node, old: yaml.Node) -> tuple[int, int]:
    """The lines of a key without the blank lines behind them."""
    end = _last(old).end_mark.index
    while end > name.end_mark.index and text[end - 1].isspace():
        end -= 1
    after = yaml_text.BREAK.search(text, end)
    return _line_start(text, name), after.end() if after else len(text)


def _last(node: yaml.Node) -> yaml.Node:
    """The last node that has an end of its own: a block collection ends only where the next key begins."""
    while isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        node = last[1] if isinstance(last, tuple) else last
    return node


def _line_start(text: str, node: yaml.Node) -> int:
    return max(text.rfind(end, 0, node.start_mark.index) for end in "\n\r\x85\u2028\u2029") + 1


def _margin(text: str, start: int) -> str:
    return text[start : len(text) - len(text[start:].lstrip(" "))]


def _line_end_after(text: str, start: int) -> str:
    found = _LINE_END.search(text, start)
    return found[0] if found else "\n"
