"""Addresses in a text: links, e-mail addresses, phone and account numbers, in any script."""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

Kind = Literal["link", "email", "account", "phone"]

# Letters a host name is written with. Unspaced scripts are left out: they touch the address without a space.
_LETTER = r"A-Za-z0-9\u00c0-\u024f\u0370-\u058f\u1e00-\u1eff"
_LABEL = rf"[{_LETTER}](?:[{_LETTER}-]*[{_LETTER}])?"
_TOP = r"(?:xn--[a-z0-9-]+|[A-Za-z]{2,24}|[\u0370-\u058f]{2,24})"
_HOST = rf"(?:{_LABEL}\.)+{_TOP}(?![{_LETTER}])"
_UNSPACED = r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3000-\u9fff\uac00-\ud7af\uff00-\uffef"
_REST = rf"[^\s<>\"'`|\\^{{}}\[\]{_UNSPACED}]"
# "evil dot com slash x": words between labels, and the endings that are no words of a language when they follow one.
_SPELLED_DOT = r"(?:\s?[\[({<]\s?(?:dot|\.)\s?[\])}>]\s?|[ ](?:dot|chấm|punkt|punto|ponto|point)[ ])"
_SPELLED_SLASH = r"[ ](?:slash|gạch[ ]chéo|schrägstrich|barra)[ ]"
_SPELLED_TOP = r"(?:com|org|biz|io|xyz|dev|gov|edu|eu|vn|jp|cn|ru|uk|pl)"
_OCTET = r"(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)"
_ISO_DAY = r"\d{4}-\d\d-\d\d(?!\d)"

_FOUND = re.compile(
    rf"""
    (?P<link>
        [a-z][a-z0-9+.-]{{1,20}}:// (?: {_REST}+ | [^\s<>]+ )
      | (?<![{_LETTER}_@.-]) {_OCTET}(?:\.{_OCTET}){{3}} (?![\d.]\d|\d) (?: :\d+ )? (?: /{_REST}* )?
    )
  | (?P<spelled>
        (?<![{_LETTER}_.-]) (?!(?:the|a|an|of|in|this|that|old|new|every|first)[ ])
        {_LABEL} (?:{_SPELLED_DOT}{_LABEL}){{0,3}}
        (?: {_SPELLED_DOT}{_SPELLED_TOP}(?![{_LETTER}]) (?![ -](?:bubble|boom|bust|crash|era|compan|stock|startup))
          | [ ]?[\[({{<](?:dot|\.)[\])}}>][ ]?[a-z]{{2,24}}(?![{_LETTER}])
        )
        (?: {_SPELLED_SLASH}[\w-]+ | /{_REST}* )*
    )
  | (?P<email> (?<![{_LETTER}._%+-]) [{_LETTER}_%+][{_LETTER}._%+-]{{0,80}} @ {_HOST} )
  | (?P<domain> (?<![{_LETTER}_@./-]) {_HOST} (?: :\d+ )? (?: [/?\#]{_REST}* )? (?!\() )
  | (?P<account>
        (?<![A-Za-z0-9]) [A-Z]{{2}}\d\d (?: [ ]?[A-Z0-9]{{4}} ){{2,7}} (?: [ ]?[A-Z0-9]{{1,3}} )? (?![A-Za-z0-9])
    )
  | (?P<other>
        (?<![A-Za-z0-9]) [0-9a-f]{{8}}-(?:[0-9a-f]{{4}}-){{3}}[0-9a-f]{{12}}
      | (?<!\d) {_ISO_DAY} (?: [ T]\d\d:\d\d (?: :\d\d )? )?
      | (?<!\d) \d{{1,2}}[./-]\d{{1,2}}[./-](?:\d{{4}}|\d\d) (?![./-]?\d)
    )
  | (?P<phone>
        (?<![A-Za-z0-9_]) (?<!\d[.,]) [+]?[(]? (?!{_ISO_DAY}) \d
        (?: \d | [ .()\u00a0\u2000-\u200a\u202f\u3000-]{{1,2}} (?!{_ISO_DAY}) \d ){{7,}} (?![A-Za-z0-9_])
    )
    """,
    re.VERBOSE | re.IGNORECASE,
)
# "ab12 cdef ghij" is no IBAN: capitals throughout, or hardly anything but digits.
_IBAN = re.compile(r"[A-Z0-9 ]+\Z|[A-Za-z]{2}[0-9 ]+\Z")

# Names that look like hosts and are files: only without a path behind them.
_FILE = re.compile(
    r"md|txt|py|[jt]s|json|ya?ml|toml|[ct]sv|html?|css|xml|pdf|docx?|xlsx?|pptx?|png|jpe?g|gif|svg|webp|mp[34]|wav"
    r"|zip|gz|tar|sh|sql|sqlite3?|log|ini|cfg|conf|env|lock|bak|rs|go|java|rb|php|cpp",
    re.IGNORECASE,
)
# Long numbers that reach nobody: amounts with dots, decimals, years, compact days, clock times, ranges of these.
_QUANTITY = (
    r"(?:\d{1,3}(?:\.\d{3})+|\d{1,3}\.\d+|(?:19|20)\d\d(?:(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01]))?"
    r"|(?:[01]?\d|2[0-4])\.?[0-5]\d)"
)
_QUANTITIES = re.compile(rf"{_QUANTITY}(?:[ -]{_QUANTITY})*\Z")
_SINGLE_DIGITS = re.compile(r"[+(]*\d(?:[^\d.]{1,2}\d){3}")
_MOST_SCORES = 9  # of one digit each; more are a phone number
_LONGEST_SCORE = 4  # digits
_MONEY_BEFORE = re.compile(r"[$€£¥₫]\s?\Z")
_MONEY_AFTER = re.compile(r"[ \u00a0\u202f]?(?:[$€£¥₫%đ]|vnd\b|usd\b|eur\b|kg\b|g\b|km\b|m\b|円|元|บาท)", re.IGNORECASE)
# Characters read as the plain ones they are drawn like, and the dots that browsers take for one in a host name
# (UTS 46). A full stop of a sentence may stand between Latin words too ("Linux。macOS").
_WIDE = re.compile(r"[\uff0d\uff0f\uff10-\uff1a\uff20-\uff3a\uff3f\uff41-\uff5a\u24b6-\u24e9\U0001d400-\U0001d7ff]")
_WIDE_DOT = r"[\u3002\uff0e\uff61\u2024\ufe52]"
_HOST_DOT = re.compile(
    rf"(?<=[{_LETTER}]){_WIDE_DOT}(?=(?:{_LABEL}(?:\.|{_WIDE_DOT})){{0,4}}"
    rf"(?:(?:net|info|top|site|online|shop|club|app|{_SPELLED_TOP})(?![{_LETTER}])|[a-z]{{2,24}}(?::\d+)?/[{_LETTER}]))",
    re.IGNORECASE,
)
_PAGE = re.compile(r"\[\[(?P<page>[^\[\]|\n]+)(?:\|[^\[\]\n]*)?\]\]|\]\((?P<file>[^()\s:]+)\)")


@dataclass(frozen=True)
class Address:
    """`text` is exactly as written at start:end; equal `key` means the same address."""

    kind: Kind
    text: str
    start: int
    end: int
    key: str


def find(text: str) -> Iterator[Address]:
    """Addresses in order of appearance, never overlapping.

    Numbers count from eight digits on, unless they are amounts, days or parts
    of an identifier. Links count with and without a scheme, in wide letters, and
    spelled out ("shop dot com slash pay").
    """
    for match in _FOUND.finditer(_plain(text)):
        plain, kind = match[0], match.lastgroup
        found: tuple[Kind, str] | None = None
        if kind in {"link", "domain"}:
            plain = _trimmed(plain)
            if kind == "link" or not _names_a_file(plain):
                found = "link", _link_key(plain)
        elif kind == "spelled":
            plain = _trimmed(plain)
            found = "link", _link_key(_unspelled(plain))
        elif kind == "email":
            found = "email", unicodedata.normalize("NFC", plain).casefold()
        elif kind == "account" and _IBAN.match(plain):
            found = "account", plain.replace(" ", "").upper()
        elif kind == "phone" and not _is_amount(match):
            found = "phone", _digits(plain)
        if found:
            end = match.start() + len(plain)
            yield Address(found[0], text[match.start() : end], match.start(), end, found[1])


def _plain(text: str) -> str:
    """The text with wide letters, figures and dots of host names as plain ones, each in its place."""
    if text.isascii():
        return text
    return _HOST_DOT.sub(".", _WIDE.sub(lambda wide: _narrow(wide[0]), text))


def _narrow(character: str) -> str:
    narrow = unicodedata.normalize("NFKC", character)
    return narrow if len(narrow) == 1 else character


def _unspelled(link: str) -> str:
    return re.sub(_SPELLED_SLASH, "/", re.sub(_SPELLED_DOT, ".", link, flags=re.IGNORECASE), flags=re.IGNORECASE)


def page_links(text: str) -> Iterator[tuple[str, str]]:
    """Links to pages and files of the home, as (key, text as written): `[[Page]]`, `[words](facts/x.md)`."""
    for match in _PAGE.finditer(text):
        yield unicodedata.normalize("NFC", match["page"] or match["file"]).strip().casefold(), match[0]


def _trimmed(link: str) -> str:
    """Without the punctuation of the sentence around it; a closing bracket stays when it was opened."""
    while link:
        last = link[-1]
        if last in ".,;:!?…*_~'\"”’»" or (last == ")" and link.count("(") < link.count(")")):
            link = link[:-1]
        else:
            break
    return link


def _names_a_file(domain: str) -> bool:
    is_site = domain.casefold().startswith("www.")
    return not is_site and _FILE.fullmatch(domain.rpartition(".")[2]) is not None


def _link_key(link: str) -> str:
    """Scheme, "www.", the case of the host and a last slash do not tell links apart; the path does."""
    rest = unicodedata.normalize("NFC", link).partition("://")[2] or link
    cut = re.search(r"[/?#]", rest)
    host, path = (rest[: cut.start()], rest[cut.start() :]) if cut else (rest, "")
    return host.casefold().removeprefix("www.") + path.rstrip("/")


def host(link_key: str) -> str:
    """The host of a link's key, so that a bare host counts as known where a whole link to it is."""
    return re.split(r"[/?#]", link_key, maxsplit=1)[0]


def _digits(number: str) -> str:
    return ("+" if number.startswith("+") else "") + "".join(
        str(unicodedata.decimal(sign)) for sign in number if sign.isdecimal()
    )


def _is_amount(match: re.Match[str]) -> bool:
    number = match[0]
    if _QUANTITIES.match(number) or (_SINGLE_DIGITS.match(number) and _is_list(number)):
        return True
    before, after = (
        match.string[max(0, match.start() - 2) : match.start()],
        match.string[match.end() : match.end() + 6],
    )
    return bool(_MONEY_BEFORE.search(before) or _MONEY_AFTER.match(after))


def _is_list(numbers: str) -> bool:
    """Whether figures one by one are a count or scores; a phone number has many, or begins as one."""
    row = re.findall(r"\d+", numbers)
    if any(len(figure) > _LONGEST_SCORE for figure in row):
        return False
    if len({int(after) - int(before) for before, after in pairwise(row)}) == 1:
        return True
    dialled = numbers[0] in "+0"
    if all(len(figure) == 1 for figure in row):
        return len(row) <= _MOST_SCORES - dialled
    return not dialled
