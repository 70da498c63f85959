"""Folding and words: Latin accents go, letters of other scripts stay letters."""

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.vault import folding


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("Sức khoẻ", "suc khoe"),
        ("Đang đọc", "dang doc"),
        ("Ơ Ư ở ự", "o u o u"),
        ("CRÈME Brûlée", "creme brulee"),
        ("ガギグ パ", "ガギグ パ"),
        ("Ёлка й", "ёлка й"),
        ("हिन्दी", "हिन्दी"),
        ("한국어", "한국어"),
        ("İstanbul", "istanbul"),
        ("Straße", "straße"),
    ],
)
def test_a_mark_goes_only_from_an_ascii_base(text: str, folded: str) -> None:
    assert folding.fold(text) == folded
    assert folding.fold(unicodedata.normalize("NFD", text)) == folded


@given(st.text(st.sampled_from("aĐéệ ガが\u0301\u0323\u3099\u0e31\u0940\U0001e944д-1"), max_size=30))
@settings(max_examples=100, deadline=None)
def test_folding_does_what_the_rule_says_character_by_character(text: str) -> None:
    expected: list[str] = []
    base = ""
    for character in unicodedata.normalize("NFD", text.lower().replace("đ", "d")):
        is_mark = unicodedata.category(character).startswith("M")
        base = base if is_mark else character
        if not (is_mark and base.isascii() and base):
            expected.append(character)
    assert folding.fold(text) == unicodedata.normalize("NFC", "".join(expected))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Anna's snake_case, 2nd-hand!", ["anna", "s", "snake_case", "2nd", "hand"]),
        ("trẻ con – 3,5kg", ["tre", "con", "3", "5kg"]),
        ("東京都", ["東京", "京都"]),
        ("茶", ["茶"]),
        ("東京towerへ", ["東京", "tower", "へ"]),
        ("ตลาด", ["ตล", "ลา", "าด"]),
        ("ที่นี่", ["ที่นี่"]),
        ("ພາສາ", ["ພາ", "າສ", "ສາ"]),
        ("ភាសា", ["ភាសា"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("서울 시장", ["서울", "시장"]),
        ("— 🙂 …", []),
        ("", []),
    ],
)
def test_words_in_every_script(text: str, words: list[str]) -> None:
    assert folding.tokens(text) == words


def test_stop_words_are_judged_with_their_accents() -> None:
    assert folding.content_words("thế thì đi chợ") == ["di", "cho"]
    assert folding.content_words("cho Bình") == ["binh"]
    assert folding.content_words("the market") == ["market"]
    assert folding.content_words(unicodedata.normalize("NFD", "thế chợ")) == ["cho"]


def test_a_text_of_stop_words_keeps_them_all() -> None:
    assert folding.content_words("- this is it (2026-01-02)") == ["this", "is", "it"]
    assert folding.content_words("…") == []


def test_dates_and_bullets_are_no_content() -> None:
    text = "- Buys bread (2026-01-02)\n  * Sundays\n12. with 12 eggs (2026-01-03)"
    assert folding.content_words(text) == ["buys", "bread", "sundays", "12", "eggs"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Anna likes tea", "Anna no longer likes tea"),
        ("Anna can swim", "Anna can't swim"),
        ("Anna is well", "Anna isn't well"),
        ("Pills before lunch", "Pills after lunch"),
        ("Anna thích trà", "Anna không thích trà"),
        ("Anna có một con", "Anna có hai con"),
        ("Closed on all Sundays", "Closed on some Sundays"),
    ],
)
def test_texts_that_say_different_things_have_different_content(one: str, other: str) -> None:
    assert folding.content_words(one) != folding.content_words(other)
