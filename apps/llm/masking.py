"""Masks secrets on the way to a model, and puts them back into its answer."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count, product
from string import ascii_uppercase
from typing import NamedTuple

from apps.vault import credentials

# A secret that stands a second time without its tell-tale context counts from this length on, in characters.
_SHORTEST_BARE = 6
# From here on letters alone are no word, and a secret is masked even in the middle of a longer word.
_LONG = 16
_WORD_IN_USE = re.compile(r"\{[ \t]{0,3}(SECRET[A-Z]*)", re.IGNORECASE | re.ASCII)
_WORDS = re.compile(r"[^\W\d_]+(?:[-' ][^\W\d_]+)*")


class Found(NamedTuple):
    """A credential of a text: its line counted from 1, its kind, and what stands for it."""

    line: int
    kind: credentials.Kind
    placeholder: str


@dataclass(frozen=True)
class Restored:
    """A text with its secrets back.

    `missing` are placeholders of secrets of the first masked text that the text
    has lost, in their order; `unknown` are placeholders, as written, that stand
    for nothing and are still in the text.
    """

    text: str = field(repr=False)
    missing: tuple[str, ...]
    unknown: tuple[str, ...]


@dataclass(frozen=True)
class Masks:
    """Which placeholder stands for which secret; a repr shows no secret.

    `found` has one tuple for each masked text, in order of appearance, bare
    repetitions included.
    """

    found: tuple[tuple[Found, ...], ...]
    _form: "_Form" = field(repr=False)
    _secrets: tuple[str, ...] = field(repr=False)

    @property
    def mark(self) -> str:
        """A placeholder of these texts as an example, such as `{{SECRETA-1}}`; empty when nothing is masked."""
        return self._form.placeholder(1) if self._secrets else ""

    def restore(self, text: str) -> Restored:
        """Put the secrets back.

        Models change letter case, add spaces or backslashes, drop a brace or write
        `_` for `-`: such a placeholder counts too, unless something like it stood
        in what the model was shown. Work grows with the length of the text.
        """
        seen: set[str] = set()
        unknown: list[str] = []

        def secret(match: re.Match[str]) -> str:
            placeholder = self._form.placeholder(match["number"])
            if placeholder not in by_placeholder:
                unknown.append(match[0])
                return match[0]
            seen.add(placeholder)
            return by_placeholder[placeholder]

        by_placeholder = {self._form.placeholder(number): value for number, value in enumerate(self._secrets, start=1)}
        restored = self._form.pattern.sub(secret, text)
        of_first = dict.fromkeys(found.placeholder for found in self.found[0]) if self.found else {}
        return Restored(restored, tuple(each for each in of_first if each not in seen), tuple(unknown))


def mask(texts: Sequence[str]) -> tuple[list[str], Masks]:
    """The texts with a numbered placeholder for every secret, and what leads back.

    Numbers count from 1 in order of appearance; a secret has one number in all
    texts. A secret is also masked where it stands alone, unless it is short or a
    common word. `restore` gives each masked text back exactly.
    """
    named = [credentials.find(text) for text in texts]
    kinds: dict[str, credentials.Kind] = {}
    for text, credentials_of_text in zip(texts, named, strict=True):
        for each in credentials_of_text:
            kinds.setdefault(text[each.start : each.end], each.kind)
    bare = _Bare(kinds)
    spans = [_with_bare(text, known, bare) for text, known in zip(texts, named, strict=True)]
    secrets = dict.fromkeys(
        text[start:end] for text, of_text in zip(texts, spans, strict=True) for start, end in of_text
    )
    numbers = {secret: number for number, secret in enumerate(secrets, start=1)}

    word = _free_word(texts)
    form = _Form(word)
    masked = [_replaced(text, of_text, numbers, form) for text, of_text in zip(texts, spans, strict=True)]
    if any(match[0] != form.placeholder(match["number"]) for text in masked for match in form.pattern.finditer(text)):
        form = _Form(word, exact=True)  # "\" before a secret would be taken for the model's
    found = tuple(
        tuple(
            Found(line, kinds[text[start:end]], form.placeholder(numbers[text[start:end]]))
            for (start, end), line in zip(of_text, _line_numbers(text, of_text), strict=True)
        )
        for text, of_text in zip(texts, spans, strict=True)
    )
    return masked, Masks(found, form, tuple(secrets))


@dataclass(frozen=True)
class _Form:
    """How placeholders of these texts are written, and read in an answer: `exact`, or as models mangle them."""

    word: str
    exact: bool = False

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        if self.exact:
            return re.compile(rf"\{{\{{{self.word}-(?P<number>[1-9][0-9]*)\}}\}}")
        opening, gap, closing = r"(?:\\?\{[ \t]{0,3}){1,2}", r"[ \t\\]{0,3}", r"(?:[ \t]{0,3}\\?\}){1,2}"
        hyphen = "[-_\u2010-\u2015\u2212]?"
        return re.compile(
            f"{opening}{self.word}{gap}{hyphen}{gap}(?P<number>[0-9]+){closing}", re.IGNORECASE | re.ASCII
        )

    def placeholder(self, number: int | str) -> str:
        """`{{SECRET-7}}`: says nothing in Markdown, and a model copies it as it copies a template's variable."""
        return f"{{{{{self.word}-{str(number).lstrip('0')}}}}}"


def _free_word(texts: Sequence[str]) -> str:
    """The word of a form that none of the texts holds, not even in the mangled writings that are understood."""
    used = {match[1].upper() for text in texts for match in _WORD_IN_USE.finditer(text)}
    endings = ("".join(letters) for length in count() for letters in product(ascii_uppercase, repeat=length))
    return next(word for ending in endings if (word := f"SECRET{ending}") not in used)


class _Bare:
    """Finds secrets that stand without the context that tells them; work grows with the text, not with the secrets."""

    def __init__(self, secrets: Iterable[str]) -> None:
        self._secrets = {
            secret
            for secret in secrets
            if len(secret) >= _LONG or (len(secret) >= _SHORTEST_BARE and not _WORDS.fullmatch(secret))
        }
        self._lengths: dict[str, set[int]] = defaultdict(set)
        for secret in self._secrets:
            self._lengths[secret[:_SHORTEST_BARE]].add(len(secret))

    def spans(self, text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
        """Where they stand in text[start:end]; the longest of several that begin in one place."""
        at = start
        while self._secrets and at <= end - _SHORTEST_BARE:
            lengths = sorted(self._lengths.get(text[at : at + _SHORTEST_BARE], ()), reverse=True)
            length = next((length for length in lengths if self._stands(text, at, at + length, end)), 0)
            if length:
                yield at, at + length
            at += length or 1

    def _stands(self, text: str, at: int, after: int, end: int) -> bool:
        if after > end or text[at:after] not in self._secrets:
            return False
        begins_inside = at > 0 and text[at - 1].isalnum() and text[at].isalnum()
        ends_inside = text[after - 1].isalnum() and text[after : after + 1].isalnum()
        return after - at >= _LONG or not (begins_inside or ends_inside)


def _with_bare(text: str, known: Sequence[credentials.Credential], bare: _Bare) -> list[tuple[int, int]]:
    spans, at = [], 0
    for each in known:
        spans += [*bare.spans(text, at, each.start), (each.start, each.end)]
        at = each.end
    return [*spans, *bare.spans(text, at, len(text))]


def _replaced(text: str, spans: Sequence[tuple[int, int]], numbers: dict[str, int], form: _Form) -> str:
    parts, at = [], 0
    for start, end in spans:
        parts += [text[at:start], form.placeholder(numbers[text[start:end]])]
        at = end
    return "".join([*parts, text[at:]])


def _line_numbers(text: str, spans: Sequence[tuple[int, int]]) -> Iterator[int]:
    line, at = 1, 0
    for start, _ in spans:
        line, at = line + len(re.findall(r"\r\n?|\n", text[at:start])), start
        yield line
