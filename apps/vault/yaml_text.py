"""YAML in which every scalar is its own text: read without YAML's types, written so that others agree."""

import re
from collections.abc import Iterator, Mapping
from datetime import date
from typing import Any, TypeAlias

import yaml
from frontmatter.default_handlers import YAMLHandler

Value: TypeAlias = "str | list[Value] | dict[str, Value]"

# What no database and no UTF-8 file can hold: NUL and halves of surrogate pairs.
UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
# YAML's own line ends, of which an editor knows only the first three.
BREAK = re.compile("\r\n|[\n\r\x85\u2028\u2029]")
# The scanner lets the last two through, for escapes and directives with impossible numbers.
FAILS = (yaml.YAMLError, ValueError, OverflowError)

_DEEPEST = 20
_DAY = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})(?:[T ][0-9:.Z+-]*)?")
_STR, _SEQ, _MAP = (f"tag:yaml.org,2002:{kind}" for kind in ("str", "seq", "map"))


class TextLoader(yaml.BaseLoader):
    """A loader without types that refuses aliases (they can grow without bound) and deep nesting."""

    _depth = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            raise yaml.composer.ComposerError(None, None, "an alias (`*name`)", self.peek_event().start_mark)
        self._depth += 1
        if self._depth > _DEEPEST:
            raise yaml.composer.ComposerError(None, None, "nested too deeply", self.peek_event().start_mark)
        node = super().compose_node(parent, index)
        self._depth -= 1
        return node


class TextHandler(YAMLHandler):
    """How python-frontmatter reads a block that is already cut out; keeps the nodes behind the fields."""

    root: yaml.MappingNode | None
    fields: dict[str, Value]

    def split(self, text: str) -> tuple[str, str]:
        return text.removeprefix("---\n").removesuffix("---"), ""

    def load(self, fm: str, **kwargs: object) -> Any:
        self.root = mapping(fm)
        self.fields = fields_of(self.root) if self.root else {}
        return self.fields


def mapping(text: str) -> yaml.MappingNode | None:
    """The nodes of a YAML mapping, with their positions; None when the text is something else.

    Raises one of FAILS.
    """
    root = yaml.compose(text, Loader=TextLoader)
    return root if isinstance(root, yaml.MappingNode) else None


def fields_of(root: yaml.MappingNode) -> dict[str, Value]:
    """A mapping as text, lists and dictionaries; of two equal keys the later one counts.

    Raises one of FAILS for a key that is not text.
    """
    return {_key(key): _value(value) for key, value in root.value}


def _value(node: yaml.Node) -> Value:
    if isinstance(node, yaml.MappingNode):
        return fields_of(node)
    if isinstance(node, yaml.SequenceNode):
        return [_value(item) for item in node.value]
    return UNSTORABLE.sub("\ufffd", str(node.value))


def _key(node: yaml.Node) -> str:
    if not isinstance(node, yaml.ScalarNode):
        raise yaml.composer.ComposerError(None, None, "a key that is not text", node.start_mark)
    return UNSTORABLE.sub("\ufffd", node.value)


def doubts(node: yaml.Node) -> Iterator[str]:
    """What is odd about a value that was read: an impossible day, a tag, a character nobody can store."""
    if node.tag not in {_STR, _SEQ, _MAP}:
        yield f"the tag {node.tag.replace('tag:yaml.org,2002:', '!!')} is not read"
    if isinstance(node, yaml.ScalarNode):
        yield from text_doubts(node.value)
    for child in node.value if isinstance(node, yaml.CollectionNode) else ():
        for part in child if isinstance(child, tuple) else (child,):
            yield from doubts(part)


def text_doubts(text: str) -> Iterator[str]:
    if UNSTORABLE.search(text):
        yield "a character that cannot be stored"
    day = _DAY.fullmatch(text)
    if day:
        try:
            date.fromisoformat(day[1])
        except ValueError:
            yield f"{day[1]} is not a day of the calendar"


def reason(error: Exception) -> str:
    """One of FAILS as words for a person."""
    problem = str(getattr(error, "problem", None) or getattr(error, "reason", None) or error)
    if "mapping values" in problem:
        return "a colon in a value that is not quoted"
    if "'\\t'" in problem:
        return "indented with a tab"
    if "special characters" in problem:
        return "a control character"
    return f"not valid YAML: {problem}"


def position(error: Exception) -> int:
    """Where in the text one of FAILS happened; 0 when it does not say."""
    mark = getattr(error, "problem_mark", None)
    return int(mark.index if mark else getattr(error, "position", None) or 0)


def block(fields: Mapping[str, Value]) -> str:
    """A mapping as YAML lines: Unicode as is, keys in order, lists as `- x`, long lines not wrapped."""
    return _written(_node(dict(fields)))


def scalar(text: str, style: str | None) -> str:
    """One value as it stands after `key: `; `style` is the quotation mark to prefer, None for none."""
    pair = (_node("k"), yaml.ScalarNode(_STR, text, style='"' if BREAK.search(text) else style))
    return _written(yaml.MappingNode(_MAP, [pair], flow_style=False))[3:].rstrip("\n")


def flow(value: Value) -> str:
    """A value as it may stand inside brackets or braces, on one line."""
    return _written(yaml.SequenceNode(_SEQ, [_node(value, flow_style=True)], flow_style=True))[1:-2]


def _node(value: Value, *, flow_style: bool = False) -> yaml.Node:
    if isinstance(value, dict):
        pairs = [(_node(key), _node(inner, flow_style=flow_style)) for key, inner in value.items()]
        return yaml.MappingNode(_MAP, pairs, flow_style=flow_style)
    if isinstance(value, list):
        items = [_node(item, flow_style=flow_style) for item in value]
        return yaml.SequenceNode(_SEQ, items, flow_style=flow_style)
    # Line breaks inside other styles would spread over lines; escapes keep one line a value.
    return yaml.ScalarNode(_STR, value, style='"' if BREAK.search(value) else None)


def _written(node: yaml.Node) -> str:
    # SafeDumper knows YAML's types, so a text that would be read as a number, day or truth value is quoted.
    return str(yaml.serialize(node, Dumper=yaml.SafeDumper, allow_unicode=True, width=float("inf")))
