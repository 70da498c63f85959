"""Addresses in a text: links, e-mail addresses, phone and account numbers, in any script."""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

Kind = Literal["link", "email", "account", "phone"]

# Letters a host name is written with. Unspaced scripts are left out: they touch the address without a space.
_LETTER = r"A-Za-z0-9\u00c0-\u024f\u0370-\u058f\u1e00-\u1eff"
_LABEL = rf"[{_LETTER}](?:[{_LETTER}-]*[{_LETTER}])?"
_TOP = r"(?:xn--[a-z0-9-]+|[A-Za-z]{2,24}|[\u0370-\u058f]{2,24})"
_HOST = rf"(?:{_LABEL}\.)+{_TOP}(?![{_LETTER}])"
_UNSPACED = r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3000-\u9fff\uac00-\ud7af\uff00-\uffef"
_REST = rf"[^\s<>\"'`|\\^{{}}\[\]{_UNSPACED}]"
_OCTET = r"(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)"
_ISO_DAY = r"\d{4}-\d\d-\d\d(?!\d)"

_FOUND = re.compile(
    rf"""
    (?P<link>
        [a-z][a-z0-9+.-]{{1,20}}:// (?: {_REST}+ | [^\s<>]+ )
      | (?<![{_LETTER}_@.-]) {_OCTET}(?:\.{_OCTET}){{3}} (?![\d.]\d|\d) (?: :\d+ )? (?: /{_REST}* )?
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
        (?: \d | [ .()\u00a0-]{{1,2}} (?!{_ISO_DAY}) \d ){{7,}} (?![A-Za-z0-9_])
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
_SINGLE_DIGITS = re.compile(r"\d(?:[ -]\d){3}")
_MONEY_BEFORE = re.compile(r"[$€£¥₫]\s?\Z")
_MONEY_AFTER = re.compile(r"[ \u00a0\u202f]?(?:[$€£¥₫%đ]|vnd\b|usd\b|eur\b|kg\b|g\b|km\b|m\b|円|元|บาท)", re.IGNORECASE)
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
    of an identifier. Links count with and without a scheme.
    """
    for match in _FOUND.finditer(text):
        written = match[0]
        kind = match.lastgroup
        if kind in {"link", "domain"}:
            written = _trimmed(written)
            if kind == "link" or not _names_a_file(written):
                yield Address("link", written, match.start(), match.start() + len(written), _link_key(written))
        elif kind == "email":
            yield Address(
                "email", written, match.start(), match.end(), unicodedata.normalize("NFC", written).casefold()
            )
        elif kind == "account" and _IBAN.match(written):
            yield Address("account", written, match.start(), match.end(), written.replace(" ", "").upper())
        elif kind == "phone" and not _is_amount(match):
            yield Address("phone", written, match.start(), match.end(), _digits(written))


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
    if _QUANTITIES.match(number) or _SINGLE_DIGITS.match(number):
        return True
    before, after = (
        match.string[max(0, match.start() - 2) : match.start()],
        match.string[match.end() : match.end() + 6],
    )
    return bool(_MONEY_BEFORE.search(before) or _MONEY_AFTER.match(after))
