"""Characters that a reader cannot see or takes for others: invisible, directional, private, look-alike."""

import re
import unicodedata
from collections import Counter
from dataclasses import dataclass

_CONTROLS = r"\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"
_JOINERS = "\u200c\u200d"
_BREAK = "\u200b"
_SELECTORS = r"\ufe00-\ufe0f\U000e0100-\U000e01ef"
_SUSPECT = re.compile(
    # A flag of a region is a black flag spelled out with tags; tags anywhere else hide text.
    r"(?P<flag>\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{3,6}\U000e007f)"
    rf"|[{_CONTROLS}\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e"
    rf"\u2060-\u206f\u2800\u3164{_SELECTORS}\ufeff\uffa0\ufff0-\ufffb\ufffd-\uffff\ud800-\udfff\ue000-\uf8ff"
    r"\U000e0000-\U000e00ff\U000e01f0-\U000e0fff\U000f0000-\U0010ffff]"
)

# Scripts that write joiners as part of their spelling (Arabic to Sinhala, Mongolian), and those that
# mark word borders with a zero-width space (Thai, Lao, Myanmar, Khmer).
_JOINING = re.compile(r"[\u0600-\u08ff\u0900-\u0dff\u1800-\u18af\ufb50-\ufdff\ufe70-\ufefe]")
_BREAKING = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]")

# Letters of one script drawn like letters of Latin (UTS 39 lists them all; these are the ones people meet).
_CYRILLIC = "аеорсухіјѕһԁԛԝґАВЕКМНОРСТУХІЈЅҮԌԚԜ"
_GREEK = "αορνιυκτχγΑΒΕΖΗΙΚΜΝΟΡΤΥΧ"
_ARMENIAN = "օոսհցքզԼՕՍՏ"
_GUEST = re.compile(rf"[{_CYRILLIC}{_GREEK}{_ARMENIAN}\U0001d400-\U0001d7ff]")
_LATIN_GUEST = re.compile("[aeopcyxijshdqwkvutgABEKMHOPCTYXIJSZN]")
_OTHER_ALPHABET = re.compile(r"[\u0370-\u03ff\u0400-\u052f\u0530-\u058f\U0001d400-\U0001d7ff]")
_LATIN = re.compile(r"[A-Za-z\u00c0-\u024f\u1e00-\u1eff]")
_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Odd:
    """One such character; `name` reads inside a sentence ("Cyrillic а", "zero width space").

    `word` is what to mark: the character itself, or the word around a
    look-alike when the same character stands rightly elsewhere in the text.
    """

    character: str
    name: str
    word: str


def find(text: str) -> list[Odd]:
    """The different odd characters of a text: the invisible ones, then the look-alikes, as they appear.

    `text` has no byte order mark of its file any more; one inside a text is odd.
    """
    odd: dict[str, Odd] = {}
    for match in _SUSPECT.finditer(text):
        character = match[0]
        if character not in odd and match["flag"] is None and not _belongs(text, match.start()):
            odd[character] = Odd(character, _name(character), character)
    found = list(odd.values())
    return found + _look_alikes(text) if _OTHER_ALPHABET.search(text) else found


def _belongs(text: str, at: int) -> bool:
    """Whether an invisible character does its proper work between its neighbours."""
    character, before, after = text[at], text[at - 1 : at], text[at + 1 : at + 2]
    if character in _JOINERS:
        emoji = character == "\u200d" and _is_emoji(before) and _is_emoji(after)
        return emoji or bool(_JOINING.match(before) and _JOINING.match(after))
    if character == _BREAK:
        return bool(_BREAKING.match(before) and _BREAKING.match(after))
    if "\u180b" <= character <= "\u180d":
        return "\u1800" <= before <= "\u18af"
    if re.match(f"[{_SELECTORS}]", character):
        ideograph = "\u3400" <= before <= "\u9fff" or "\uf900" <= before <= "\ufaff" or before >= "\U00020000"
        if character in "\ufe0e\ufe0f":
            return bool(before) and (
                _is_emoji(before) or before in "#*0123456789" or unicodedata.category(before) == "Po"
            )
        return ideograph and not re.match(f"[{_SELECTORS}]", before)
    return False


def _is_emoji(character: str) -> bool:
    return bool(character) and (character == "\ufe0f" or unicodedata.category(character) in {"So", "Sk", "Sm"})


def _look_alikes(text: str) -> list[Odd]:
    """Letters that look like those of the script which most of their word is written in."""
    found: dict[str, str] = {}
    times: Counter[str] = Counter()
    for match in _WORD.finditer(text):
        word = match[0]
        others, latin = len(_OTHER_ALPHABET.findall(word)), len(_LATIN.findall(word))
        if others and latin:
            guests = _LATIN_GUEST if latin < others else _GUEST
            for sign in dict.fromkeys(guests.findall(word)):
                found.setdefault(sign, word)
                times[sign] += word.count(sign)
    total = Counter(text if found else "")
    return [
        Odd(sign, f"{_script(sign)} {sign}", sign if times[sign] == total[sign] else word)
        for sign, word in found.items()
    ]


def _script(letter: str) -> str:
    """The first word of its name: "Cyrillic" for CYRILLIC SMALL LETTER A."""
    return unicodedata.name(letter).partition(" ")[0].capitalize()


def _name(character: str) -> str:
    code = f"U+{ord(character):04X}"
    category = unicodedata.category(character)
    if category == "Co":
        return f"private use character {code}"
    if category == "Cc":
        return f"control character {code}"
    name = unicodedata.name(character, "")
    return name.lower() if name else f"character {code}"
