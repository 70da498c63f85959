"""Odd characters: what hides or deceives is named, what belongs to a script or an emoji is not."""

import unicodedata

import pytest

from apps.proposals import characters


def names(text: str) -> list[str]:
    return [odd.name for odd in characters.find(text)]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("a\u200bb", "zero width space"),
        ("a\u200db", "zero width joiner"),
        ("a\u2060b", "word joiner"),
        ("a\ufeffb", "zero width no-break space"),
        ("pay \u202e001", "right-to-left override"),
        ("pay \u2066x\u2069", "left-to-right isolate"),
        ("a\u200fb", "right-to-left mark"),
        ("so\xadft", "soft hyphen"),
        ("a\u2028b", "line separator"),
        ("x\U000e0041", "tag latin capital letter a"),
        ("a\ufe0f", "variation selector-16"),
        ("a\u3164b", "hangul filler"),
        ("a\u2800b", "braille pattern blank"),
        ("caf\ufffd", "replacement character"),
        ("a\ue000", "private use character U+E000"),
        ("a\x07b", "control character U+0007"),
        ("a\x85b", "control character U+0085"),
        ("p\u0430ypal", "Cyrillic а"),
        ("\u03bfnline", "Greek ο"),
        ("𝐩aypal", "Mathematical 𝐩"),
        ("м\u0061ма", "Latin a"),
    ],
)
def test_an_odd_character_is_named(text: str, name: str) -> None:
    assert name in names(text)


@pytest.mark.parametrize(
    "text",
    [
        "Bánh trung thu: nhận đặt đến hết 23/9, Ặ ễ ợ",
        unicodedata.normalize("NFD", "Bánh trung thu: nhận đặt đến hết 23/9, Ặ ễ ợ"),
        "👨‍👩‍👧 ❤️ 1️⃣ ☂️ 👩🏽‍⚕️ ©️ ‼️ ↔️ 🇻🇳",
        "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
        "می‌خواهم",
        "क्‍ष",
        "ខ្ញុំ\u200bទៅ",
        "葛\U000e0100飾区 が　ぎ",
        "Привет, Anna! Ελλάδα, URLы, μm Δt 5Ω",
        "10\u00a0kg, 5\u202f%, tab\there",
        "日本語ABC混在, ＡＢＣ",
    ],
)
def test_what_belongs_to_a_script_or_an_emoji_is_not_odd(text: str) -> None:
    assert names(text) == []


def test_a_look_alike_that_is_right_elsewhere_is_marked_with_its_word() -> None:
    assert [odd.word for odd in characters.find("p\u0430ypal here")] == ["\u0430"]
    assert [odd.word for odd in characters.find("p\u0430ypal и мама")] == ["p\u0430ypal"]


def test_each_character_is_told_once_however_often_it_stands() -> None:
    assert names("\u200b" * 1_000 + "p\u0430yp\u0430l " * 1_000) == ["zero width space", "Cyrillic а"]
