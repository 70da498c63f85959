"""What in a sentence must not change unnoticed: its figures and days, its names, its negations."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from apps.proposals import addresses
from apps.vault import folding, lines

FigureKind = Literal["price", "time", "day", "date", "percentage", "number"]

_PRICE = re.compile(r"[$€£¥₫฿₹₩₽đ円元圓]|vnđ|vnd|usd|eur|gbp|jpy|dollar|euro|đồng|บาท")
_CLOCK = re.compile(r"am|pm|h|giờ|[時时点點]")
_SIGNS = r"[$€£¥₫฿₹₩₽]"
_UNIT = (
    rf"{_SIGNS}|[%‰％]|°[cf]?|[円元圓万萬億亿度時时点點分日月年週周個个岁歳]|บาท"
    r"|(?:đ|vnđ|vnd|usd|eur|gbp|jpy|dollars?|euros?|đồng|nghìn|ngàn|triệu|tỷ|tỉ|tr|k|kg|g|mg|l|ml|km|m|cm|mm"
    r"|am|pm|h|hours?|giờ|phút|min|minutes?|days?|weeks?|months?|years?|ngày|tuần|tháng|năm)(?!\w)"
)
_VALUES = {
    "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7", "eight": "8", "nine": "9",
    "ten": "10", "eleven": "11", "twelve": "12", "fifteen": "15", "twenty": "20", "thirty": "30",
}  # fmt: skip
_NUMBER_WORDS = "|".join(_VALUES) + (
    "|thirteen|fourteen|sixteen|seventeen|eighteen|nineteen|forty|fifty|sixty|seventy|eighty|ninety"
    "|hundred|thousand|million|billion|dozen|half|twice|double"
)
_DAYS = (
    r"mondays?|(?-i:Mon)|thứ (?:hai|2)|[周週]一|(?:星期|礼拜|禮拜)一|月曜日?",
    r"tuesdays?|(?-i:Tues?)|thứ (?:ba|3)|[周週]二|(?:星期|礼拜|禮拜)二|火曜日?",
    r"wednesdays?|(?-i:Wed)|thứ (?:tư|4)|[周週]三|(?:星期|礼拜|禮拜)三|水曜日?",
    r"thursdays?|(?-i:Thu(?:rs)?)|thứ (?:năm|5)|[周週]四|(?:星期|礼拜|禮拜)四|木曜日?",
    r"fridays?|(?-i:Fri)|thứ (?:sáu|6)|[周週]五|(?:星期|礼拜|禮拜)五|金曜日?",
    r"saturdays?|(?-i:Sat)|thứ (?:bảy|bẩy|7)|[周週]六|(?:星期|礼拜|禮拜)六|土曜日?",
    r"sundays?|(?-i:Sun)|chủ nhật|[周週][日天]|(?:星期|礼拜|禮拜)[日天]|日曜日?",
)
_DAY = "|".join(f"(?P<day{number}>(?<![a-zà-ỹ])(?:{names})(?![a-zà-ỹ]))" for number, names in enumerate(_DAYS, start=1))
_FIGURE = re.compile(
    rf"{_DAY}|(?<!\w)(?P<spelled>{_NUMBER_WORDS})(?!\w)"
    rf"|(?P<before>{_SIGNS} ?)?(?P<number>(?:(?<![\w)])[-−+])?(?:\d{{1,2}}h\d\d|\d+(?:[.,:/-]\d+)*)|[¼-¾⅐-⅞])"
    rf"(?:[ \u00a0\u202f]?(?P<unit>{_UNIT}))?",
    re.IGNORECASE,
)
_DATE = re.compile(r"\d{4}-\d\d-\d\d|\d{1,2}/\d{1,2}(?:/\d{2,4})?")
_TIME = re.compile(r"\d{1,2}:\d\d|\d{1,2}h\d\d")

# Negations of English, Vietnamese, Chinese, Japanese, Thai and Korean. "No. 5" is a number, 不过 is "but",
# 特别 is "especially". What merely looks like one costs a glance; a missed one turns a rule into its opposite.
_NEGATION = re.compile(
    r"\bno\b(?!\.\s?\d)|\b(?:not|never|none|nobody|nothing|nowhere|neither|nor|without|cannot|\w+n['’]t|dont|doesnt"
    r"|didnt|isnt|arent|wasnt|cant|wont|không|khong|ko|chưa|chẳng|chả|đừng|chớ|cấm)\b"
    r"|不(?![过過])|[没沒未勿无無]|(?<![特个個分区區级級类類差])别(?![人的处])"
    r"|ない|なかっ|なく|なけれ|ません|ไม่|ห้าม|อย่า|않|없|못",
    re.IGNORECASE,
)

_WORD = re.compile(r"@?\w+(?:['’]\w+)*")
_POSSESSIVE = re.compile(r"['’]s\Z")
_SENTENCE_END = re.compile(r"[.!?…。！？]")
_OPENING = re.compile(r"[:;–—(\[{\"“”‘«»|]")
_NO_NAMES = re.compile(r"(?:i|i['’]\w+|ok)\Z")
# A letter with its marks, or a Korean syllable spelled out: what NFC may make one character of.
_CLUSTER = re.compile(rf"(?s)(?:[\u1100-\u1112][\u1161-\u1175][\u11a8-\u11c2]?|.)[{folding.MARKS}]*")
_ITEM_NUMBER = re.compile(r"\s*\d+[.)]\s")


@dataclass(frozen=True)
class Part:
    """A piece of a text as it is written there; equal `key` means it says the same."""

    text: str
    key: str
    kind: str = ""
    unit: str = ""


@dataclass(frozen=True)
class Lexicon:
    """How words are written in a file and its notes: tells "Linh" at the start of a sentence from "The"."""

    small: frozenset[str]
    names: frozenset[str]


@dataclass(frozen=True)
class Reading:
    """What one entry says, in order of appearance; `words` are all its words without case."""

    figures: tuple[Part, ...]
    names: tuple[Part, ...]
    negations: tuple[Part, ...]
    words: frozenset[str]


@dataclass(frozen=True)
class Shift:
    """What the new wording no longer has and what it has besides, each as written on its side."""

    lost: tuple[Part, ...] = ()
    gained: tuple[Part, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.lost or self.gained)


def lexicon(texts: Iterable[str]) -> Lexicon:
    """Words seen with a small first letter, and those seen with a capital inside a sentence."""
    small, names = set(), set()
    for text in texts:
        for line in unicodedata.normalize("NFC", text).split("\n"):
            for match, position in _positions(line):
                key = _name_key(match[0])
                if match[0][0].islower():
                    small.add(key)
                elif position == "inside" and _is_capital(match[0]):
                    names.add(key)
    return Lexicon(frozenset(small), frozenset(names - small))


def read(text: str, known: Lexicon, *, heading: bool = False) -> Reading:
    """Take an entry apart.

    Date suffixes, list numbers, links and e-mail addresses are no part of its wording. In a heading any
    word may have a capital, so only names known from sentences count.
    """
    written = _Written(text)
    plain = _without_marks_of_form(written.composed)
    figures = list(_FIGURE.finditer(plain))
    within_figure = bytearray(len(plain))
    for match in figures:
        within_figure[match.start() : match.end()] = b"\x01" * (match.end() - match.start())
    names, words, offset = [], set(), 0
    for line in plain.split("\n"):
        for match, position in _positions(line):
            key, start, end = _name_key(match[0]), offset + match.start(), offset + match.end()
            words.add(key)
            if any(within_figure[start:end]):
                continue
            if _is_name(match[0], key, "start" if heading else position, known):
                names.append(Part(written.part(start, end), key))
        offset += len(line) + 1
    return Reading(
        tuple(_figure(match, written) for match in figures),
        tuple(names),
        tuple(Part(written.part(*match.span()), match[0].casefold()) for match in _NEGATION.finditer(plain)),
        frozenset(words),
    )


def figures(old: Sequence[Reading], new: Reading) -> Shift:
    """Figures that went and came. A unit left out or added ("10", "10 kg") is no change, another unit is."""
    before = [part for reading in old for part in reading.figures]
    lost, gained = _unmatched(before, new.figures), _unmatched(new.figures, before)
    if len(old) == 1 and len(before) == len(new.figures):
        # As many as before: then one that became a copy of another counts too ("2 and 3" to "2 and 2").
        lost, gained = lost or _surplus(before, new.figures), gained or _surplus(new.figures, before)
    return Shift(lost, gained)


def names(old: Sequence[Reading], new: Reading) -> Shift:
    """Names that went and came; one that is still there in small letters did not go."""
    old_words = frozenset[str]().union(*(reading.words for reading in old))
    return Shift(
        tuple(part for reading in old for part in reading.names if part.key not in new.words),
        tuple(part for part in new.names if part.key not in old_words),
    )


def negations(old: Sequence[Reading], new: Reading) -> Shift:
    """Counted, not compared: "does not" may become "never".

    Of merged entries the new one needs as many as the one with the most, and may
    have as many as all of them together.
    """
    count, counts = len(new.negations), [len(reading.negations) for reading in old]
    if count < max(counts):
        fullest = old[counts.index(max(counts))].negations
        return Shift(lost=_surplus(fullest, new.negations) or fullest)
    if count > sum(counts):
        before = [part for reading in old for part in reading.negations]
        return Shift(gained=_surplus(new.negations, before) or new.negations)
    return Shift()


class _Written:
    """A text in composed form (NFC), which the patterns expect, and the way back to how it is spelled."""

    def __init__(self, text: str) -> None:
        self.composed = self._text = text
        self._spans: list[tuple[int, int]] = []  # where the letter of each composed character is spelled
        if not unicodedata.is_normalized("NFC", text):
            letters = []
            for cluster in _CLUSTER.finditer(text):
                letters.append(unicodedata.normalize("NFC", cluster[0]))
                self._spans += [cluster.span()] * len(letters[-1])
            self.composed = "".join(letters)

    def part(self, start: int, end: int) -> str:
        """The original spelling of composed[start:end], never cutting a letter."""
        if not self._spans:
            return self._text[start:end]
        return self._text[self._spans[start][0] : self._spans[end - 1][1]]


def _without_marks_of_form(text: str) -> str:
    """The text with blanks where it says nothing itself, every other character staying in its place."""
    blanked = []
    for line in text.split("\n"):
        rest = lines.without_date(line)
        number = _ITEM_NUMBER.match(rest)
        if number:
            rest = " " * number.end() + rest[number.end() :]
        blanked.append(rest.ljust(len(line)))
    plain = "\n".join(blanked)
    pieces, end = [], 0
    for address in addresses.find(plain):
        if address.kind in {"link", "email"}:
            pieces += [plain[end : address.start], " " * len(address.text)]
            end = address.end
    return "".join([*pieces, plain[end:]])


def _figure(match: re.Match[str], written: _Written) -> Part:
    text = written.part(*match.span())
    if match["spelled"]:
        word = match["spelled"].casefold()
        return Part(text, _VALUES.get(word, word), "number")
    if not match["number"]:
        return Part(text, str(match.lastgroup), "day")
    number = "".join(str(unicodedata.decimal(sign, sign)) for sign in match["number"])
    unit = (match["before"] or match["unit"] or "").strip().casefold()
    unit = unit.removesuffix("s") if len(unit) > 2 else unit
    return Part(text, number.replace("−", "-"), _kind(number, unit), unit)


def _kind(number: str, unit: str) -> FigureKind:
    if _PRICE.fullmatch(unit):
        return "price"
    if unit in {"%", "‰", "％"}:
        return "percentage"
    if _TIME.fullmatch(number) or _CLOCK.fullmatch(unit):
        return "time"
    return "date" if _DATE.fullmatch(number) else "number"


def _unmatched(parts: Sequence[Part], others: Sequence[Part]) -> tuple[Part, ...]:
    units: dict[str, set[str]] = {}
    for other in others:
        units.setdefault(other.key, set()).add(other.unit)
    return tuple(
        part for part in parts if part.key not in units or (part.unit and not units[part.key] & {part.unit, ""})
    )


def _surplus(parts: Sequence[Part], others: Sequence[Part]) -> tuple[Part, ...]:
    """Parts that occur more often than among the others."""
    left = Counter(other.key for other in others)
    surplus = []
    for part in parts:
        left[part.key] -= 1
        if left[part.key] < 0:
            surplus.append(part)
    return tuple(surplus)


def _positions(line: str) -> Iterable[tuple[re.Match[str], Literal["start", "opened", "inside"]]]:
    """Each word and where in its sentence it stands: first, first after a colon or bracket, or further in."""
    end = 0
    for number, match in enumerate(_WORD.finditer(line)):
        gap = line[end : match.start()]
        end = match.end()
        if number == 0 or _SENTENCE_END.search(gap):
            yield match, "start"
        else:
            yield match, "opened" if _OPENING.search(gap) else "inside"


def _is_name(word: str, key: str, position: str, known: Lexicon) -> bool:
    if word.startswith("@"):
        return True
    if not _is_capital(word):
        return False
    if position == "inside":
        return True
    return key not in known.small and (position == "opened" or key in known.names)


@lru_cache(maxsize=10_000)
def _is_capital(word: str) -> bool:
    return (word[0].isupper() or word[0].istitle()) and not (
        _NO_NAMES.match(word.casefold()) or _NEGATION.fullmatch(word)
    )


@lru_cache(maxsize=10_000)
def _name_key(word: str) -> str:
    return _POSSESSIVE.sub("", word.casefold())
