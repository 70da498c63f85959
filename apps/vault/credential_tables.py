"""Credentials in the columns of Markdown tables (the rule: credentials.py)."""

import re
from collections.abc import Iterator

from apps.vault import credential_values as values
from apps.vault.credential_forms import Spans
from apps.vault.credential_names import NAME

_LONGEST_LINE = 2_000  # characters of a line that are read as cells
_MOST_COLUMNS = 50

_RULE = re.compile(r"(?<![^\r\n])[ \t>|:-]++(?=[\r\n]|\Z)")  # the line of dashes below the header
_ROW = re.compile(r"(?:\r\n?|\n)(?P<row>[^\r\n]*)")
_QUOTE_MARKS = re.compile(r"[ \t>]*\|?")
_CELL = re.compile(r"(?:[^|\\]|\\.|\\)*+")
_DECORATION = " \t*_`~\"'“”"
_NOTE = re.compile(r"\([^()]{0,60}\)\Z")
_WORD = re.compile(r"[^\s,;/|]+")
_KEY = re.compile(r"(?:\w+[ _-]){0,2}(?:keys?|codes?|schlüssel)", re.IGNORECASE)
# Cells that say something about a password, beside the words of sentences.
_REMARKS = frozenset(
    "set strong weak shared changed default supported enabled disabled ok okay missing reset expired forgotten old new"
    " on off same later unchanged personal manual automatic ja nein oui non sí có manager vault keychain".split()
)
_FEWEST = {"made": 6, "key": 8}


def cells(text: str) -> Spans:
    at = 0
    for rule in _RULE.finditer(text):
        if rule.start() < at or "-" not in rule[0] or "|" not in rule[0]:  # a row of the table above is no rule
            continue
        kinds = _headed(text, rule.start())
        if not kinds:
            continue
        at = rule.end()
        while (row := _ROW.match(text, at)) and "|" in row["row"][:_LONGEST_LINE]:
            for column, (start, end) in enumerate(_split(text, *row.span("row"))):
                if column in kinds:
                    yield from _secrets(text, start, end, kinds[column])
            at = row.end()


def _headed(text: str, rule: int) -> dict[int, str]:
    """The kind of secret in each column that has one, by the cells of the line above the rule."""
    end = rule - (2 if text[max(0, rule - 2) : rule] == "\r\n" else 1)
    lowest = max(0, end - _LONGEST_LINE)
    start = max(text.rfind("\n", lowest, max(end, 0)), text.rfind("\r", lowest, max(end, 0)), lowest - 1) + 1
    if end <= start or "|" not in text[start:end]:
        return {}
    kinds = {}
    for column, (first, last) in enumerate(_split(text, start, end)):
        heading = _NOTE.sub("", text[first:last].strip(_DECORATION)).rstrip(f"{_DECORATION}:")
        name = NAME.search(heading)
        if name and (name.end() == len(heading) or (name.lastgroup == "local" and name.start() == 0)):
            kinds[column] = str(name.lastgroup)
        elif _KEY.fullmatch(heading[:64]):
            kinds[column] = "key"
    return kinds


def _split(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The cells of one line, without the marks around them."""
    end = min(end, start + _LONGEST_LINE)
    marks = _QUOTE_MARKS.match(text, start, end)
    at = marks.end() if marks else start
    for _ in range(_MOST_COLUMNS):
        cell = _CELL.match(text, at, end)
        last = cell.end() if cell else end
        yield at, last
        if last >= end:
            return
        at = last + 1


def _secrets(text: str, start: int, end: int, kind: str) -> Spans:
    """The one word or the passphrase of a cell; of a cell with remarks what is surely none of them."""
    written = text[start:end]
    start += len(written) - len(written.lstrip(_DECORATION))
    written = written.strip(_DECORATION)
    if not written or values.stands_in(written):
        return
    words = list(_WORD.finditer(written))
    if len(written.split()) == 1:
        if _counts(written, kind):
            yield start, start + len(written)
    elif kind in {"human", "local"} and values.is_phrase(written, fewest=4):
        yield start, start + len(written)
    else:
        for word in words:
            value = values.trimmed(word[0].lstrip(_DECORATION))
            if value and _counts_among_words(value, kind):
                first = start + word.start() + word[0].index(value)
                yield first, first + len(value)


def _counts(value: str, kind: str) -> bool:
    if kind in {"human", "local"}:
        is_remark = value.lower() in _REMARKS or value.lower() in values.SENTENCE_WORDS
        return not is_remark and (values.looks(value, kind) or (value.isalpha() and len(value) > 2))
    if kind in _FEWEST:
        digits = sum(sign.isdigit() for sign in value)
        return values.is_surely_made(value, _FEWEST[kind]) and digits >= (2 if kind == "key" else 1)
    return values.looks(value, kind)


def _counts_among_words(value: str, kind: str) -> bool:
    if kind in {"human", "local"}:
        return values.is_surely_made(value, 6) and not values.stands_in(value)
    return _counts(value, kind)
