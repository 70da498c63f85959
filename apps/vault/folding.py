"""Words without accents and case, for comparing and finding text in every script."""

import re
import unicodedata
from itertools import chain, pairwise

from apps.vault import lines


def _combining_marks() -> str:
    """Every combining mark as the inside of a regular expression's character class."""
    ranges: list[list[int]] = []
    # Unicode has marks only below U+1F000 and among the variation selectors; asking for all planes is slow.
    for code in chain(range(0x300, 0x1F000), range(0xE0100, 0xE01F0)):
        if unicodedata.category(chr(code)).startswith("M"):
            if ranges and ranges[-1][1] == code - 1:
                ranges[-1][1] = code
            else:
                ranges.append([code, code])
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in ranges)


MARKS = _combining_marks()
HAN = "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"
_KANA = "\u3041-\u309f\u30a1-\u30ff\u31f0-\u31ff\uff66-\uff9f"
_THAI_LAO_MYANMAR_KHMER = "\u0e00-\u0eff\u1000-\u109f\ua9e0-\ua9ff\uaa60-\uaa7f\u1780-\u17ff"
_UNSPACED = HAN + _KANA + _THAI_LAO_MYANMAR_KHMER

_MARKS_ON_ASCII = re.compile(rf"(?<=[\x00-\x7f])(?![\x00-\x7f])[{MARKS}]+")
_WORD = re.compile(rf"\w[\w{MARKS}]*")
_ASCII_WORD = re.compile(r"\w+", re.ASCII)
_HAS_UNSPACED = re.compile(f"[{_UNSPACED}]")
_STRETCH = re.compile(rf"(?:[{_UNSPACED}][{MARKS}]*)+|[^{_UNSPACED}]+")
_CHARACTER = re.compile(rf"[{_UNSPACED}][{MARKS}]*")
_ITEM_NUMBER = re.compile(r"^\s*[0-9]+\.\s+(?=\S)")

# Words that change what a sentence says are missing on purpose: negations ("t" too, the rest of "can't"),
# "before" and "after", "all", "only", "must", numerals. Texts with equal content words must mean the same.
_ENGLISH = """
a about also am an and any are as at be because been being but by d did do does doing for had has have having
he her here hers him his i in into is it its just ll m me my of on our ours re s she so some such that the
their theirs them then there these they this those to ve very was we were what when where which while who
whom whose will with would you your yours
"""
_VIETNAMESE = """
à ạ ấy bằng bị bởi các cái chiếc cho có cùng cũng của cứ dù do đã đang đây đấy để đều điều đó được gì khi
là lúc mà mấy mình này nên ngay nhé nhưng như những nữa ở rằng rất rồi sẽ sự tại thế theo thì tôi trong và
vẫn vậy về vì việc với
"""
_STOP_WORDS = frozenset(_ENGLISH.split()) | frozenset(_VIETNAMESE.split())


def fold(text: str) -> str:
    """The text in lower case and without accents on Latin letters; both sides of every match use it.

    A mark goes only when its base is ASCII, so Vietnamese loses its accents (`đ` too) while a Japanese
    voicing mark, which makes another letter, stays.
    """
    lower = text.lower()
    if lower.isascii():
        return lower
    decomposed = unicodedata.normalize("NFD", lower.replace("đ", "d"))
    return unicodedata.normalize("NFC", _MARKS_ON_ASCII.sub("", decomposed))


def tokens(text: str) -> list[str]:
    """The folded words of a text, in order, with repetitions.

    A word is a run of letters, digits and underscores with their marks. Scripts written without spaces
    (Han, Kana, Thai, Lao, Khmer, Myanmar) give overlapping pairs of characters; a lone one stays itself.
    """
    return _words(fold(text))


def content_words(text: str) -> list[str]:
    """The tokens that carry meaning: no stop words, no date suffixes, no bullets; all tokens if none is left.

    Stop words are English and Vietnamese and judged with accents: "thế" is one, and is not "the".
    """
    parts = (_ITEM_NUMBER.sub("", lines.without_date(line.text)) for line in lines.split(text))
    words = _words(unicodedata.normalize("NFC", "\n".join(parts).lower()))
    if not words:
        return []
    meaningful = [word for word in words if word not in _STOP_WORDS]
    # Folded in one go: a call for every word takes most of the time of a long text.
    return fold(" ".join(meaningful or words)).split(" ")


def _words(text: str) -> list[str]:
    if text.isascii():
        return _ASCII_WORD.findall(text)
    words = _WORD.findall(text)
    if not _HAS_UNSPACED.search(text):
        return words
    return [piece for word in words for piece in _pieces(word)]


def _pieces(word: str) -> list[str]:
    if word.isascii():
        return [word]
    found: list[str] = []
    for stretch in _STRETCH.findall(word):
        if not _HAS_UNSPACED.match(stretch):
            found.append(stretch)
            continue
        characters = _CHARACTER.findall(stretch)
        found += [a + b for a, b in pairwise(characters)] or characters
    return found


# A number with its sign, a word, or any other single sign; combining marks stand as signs of their own.
_PART = re.compile(r"[-−+]?\d+(?:[.,:/]\d+)*|[^\W\d_]+(?:[’'][^\W\d_]+)*|[^\s]")
# Signs that only punctuate; a question mark, an arrow, a plus or an emoji says something.
_SILENT = frozenset(".,;:!\"'“”‘’()…-–—*_`")


def statement(text: str) -> tuple[str, ...]:
    """What a line or entry says, word for word: without bullet sign, date, letter case and punctuation.

    Accents, word order, numbers with their signs, negations and symbols count, so
    two texts with one statement say the same. Empty when it holds no word.
    """
    plain = " ".join(lines.without_date(lines.without_sign(line.text)) for line in lines.split(text))
    parts = [part for part in _PART.findall(unicodedata.normalize("NFC", plain)) if part not in _SILENT]
    return tuple(part.casefold() for part in parts) if any(part.isalnum() for part in parts) else ()
