"""Wording: figures, names and negations that a new wording lost or brought, in every script."""

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.proposals import wording
from apps.proposals.wording import Lexicon, Shift

KNOWN = wording.lexicon(["Today I met Linh and Minh. The oven was hot, and the flour was fresh."])
NOTHING: tuple[list[str], list[str]] = ([], [])


def shift(what: str, old: str | list[str], new: str, known: Lexicon = KNOWN) -> tuple[list[str], list[str]]:
    before = [wording.read(text, known) for text in ([old] if isinstance(old, str) else old)]
    found: Shift = getattr(wording, what)(before, wording.read(new, known))
    return [part.text for part in found.lost], [part.text for part in found.gained]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("25 kg bags, 420,000 đ each", "25 kg bags, 465,000 đ each", (["420,000 đ"], ["465,000 đ"])),
        ("on Tuesday", "on Wednesday", (["Tuesday"], ["Wednesday"])),
        ("giao thứ ba", "giao thứ tư", (["thứ ba"], ["thứ tư"])),
        ("周一开会", "周二开会", (["周一"], ["周二"])),
        ("月曜日は休み", "火曜日は休み", (["月曜日"], ["火曜日"])),
        ("10 kg of flour", "10 g of flour", (["10 kg"], ["10 g"])),
        ("store at -5 °C", "store at 5 °C", (["-5 °C"], ["5 °C"])),
        ("two eggs", "three eggs", (["two"], ["three"])),
        ("opens 9h30", "opens 10h30", (["9h30"], ["10h30"])),
        ("room B12", "room B13", (["12"], ["13"])),
        ("๑๒ ใบ", "๑๓ ใบ", (["๑๒"], ["๑๓"])),
        ("2 cups and 3 spoons", "2 cups and 2 spoons", (["3"], ["2"])),
        ("half of it", "all of it", (["half"], [])),
        ("all of it", "all 5 of it", ([], ["5"])),
        ("until 2026-09-23 only", "until 2026-09-30 only", (["2026-09-23"], ["2026-09-30"])),
        ("gain ½ cup", "gain ¼ cup", (["½"], ["¼"])),
    ],
)
def test_another_figure_is_noticed(old: str, new: str, expected: tuple[list[str], list[str]]) -> None:
    assert shift("figures", f"- {old}", f"- {new}") == expected


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("- box of 4 (2026-09-01)", "- a box of 4 (2026-09-18)"),
        ("1. bake 4", "2. bake 4"),
        ("- two eggs", "- 2 eggs"),
        ("- 10 kg", "- 10\u00a0kg"),
        ("- set it to 10", "- set it to 10 °C"),
        ("- Tue", "- Tuesday"),
        ("- thứ 3", "- thứ ba"),
        ("- ９:30", "- 9:30"),
        ("- see a.example/5", "- see a.example/6"),
        ("- 5 for 5", "- only 5"),
    ],
)
def test_the_same_figure_in_another_spelling_is_no_change(old: str, new: str) -> None:
    assert shift("figures", old, new) == NOTHING


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("ask Linh first", "ask Minh first", (["Linh"], ["Minh"])),
        ("Linh prefers tea", "Minh prefers tea", (["Linh"], ["Minh"])),
        ("Contact: Anna", "Contact: Bob", (["Anna"], ["Bob"])),
        ("ask @linh", "ask @minh", (["@linh"], ["@minh"])),
        ("@小林 decides", "@小森 decides", (["@小林"], ["@小森"])),
        ("flour from Hai Phát", "flour from Hai Long", (["Phát"], ["Long"])),
        ("звони Анне утром", "звони Инне утром", (["Анне"], ["Инне"])),
        ("tea for Linh", "tea", (["Linh"], [])),
    ],
)
def test_another_name_is_noticed(old: str, new: str, expected: tuple[list[str], list[str]]) -> None:
    assert shift("names", f"- {old}", f"- {new}") == expected


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("- The oven is hot", "- Oven 2 is hot"),
        ("- Note: The oven is hot", "- Note: the oven is hot"),
        ("- ask Linh's sister", "- ask the sister of Linh"),
        ("- Fresh flour. Then sugar", "- Sugar. Afterwards flour"),
        ("- so I went", "- so we went"),
        ("- 安娜喜欢茶", "- 小林喜欢茶"),
        ("- on Monday", "- on Tuesday"),
    ],
)
def test_capitals_that_are_no_names_and_scripts_without_case_are_left_out(old: str, new: str) -> None:
    assert shift("names", old, new) == NOTHING


def test_title_case_in_a_heading_makes_no_names() -> None:
    assert [part.text for part in wording.read("## Rules For Linh", KNOWN, heading=True).names] == ["Linh"]


@pytest.mark.parametrize(
    ("with_it", "without_it", "word"),
    [
        ("No croissants on Mondays", "Croissants on Mondays", "No"),
        ("Anna does not like tea", "Anna likes tea", "not"),
        ("Anna doesn’t like tea", "Anna likes tea", "doesn’t"),
        ("Anna never drinks tea", "Anna drinks tea", "never"),
        ("tea without sugar", "tea with sugar", "without"),
        ("Anna không thích trà", "Anna thích trà", "không"),
        (unicodedata.normalize("NFD", "Tú chưa trả tiền"), "Tú trả tiền", unicodedata.normalize("NFD", "chưa")),
        ("đừng gọi buổi tối", "gọi buổi tối", "đừng"),
        ("安娜不喜欢茶", "安娜喜欢茶", "不"),
        ("他没来", "他来", "没"),
        ("别去那里", "去那里", "别"),
        ("肉を食べない", "肉を食べる", "ない"),
        ("肉を食べません", "肉を食べます", "ません"),
        (unicodedata.normalize("NFD", "가지 않다"), "가다", unicodedata.normalize("NFD", "않")),
        ("ร้านไม่เปิด", "ร้านเปิด", "ไม่"),
    ],
)
def test_a_negation_that_goes_or_comes_is_noticed(with_it: str, without_it: str, word: str) -> None:
    assert shift("negations", with_it, without_it) == ([word], [])
    assert shift("negations", without_it, with_it) == ([], [word])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("it is not open", "it isn't open"),
        ("Anna no longer likes tea", "Anna does not like tea"),
        ("order No. 5", "order 5"),
        ("不过他来", "他来"),
        ("特别好", "好"),
        ("snow on the knot", "ice on the rope"),
    ],
)
def test_another_negation_or_a_word_that_looks_like_one_is_no_change(old: str, new: str) -> None:
    assert shift("negations", old, new) == NOTHING


def test_merging_copies_keeps_one_negation_and_merging_with_the_opposite_loses_it() -> None:
    assert shift("negations", ["no sugar", "no sugar at all"], "no sugar") == NOTHING
    assert shift("negations", ["no sugar", "sugar is fine"], "sugar is fine") == (["no"], [])


def test_what_either_merged_entry_says_must_be_in_the_new_one() -> None:
    old = ["Oven 2 runs 10 °C hot", "Second oven is too hot, set 10 lower, says Linh"]
    assert shift("figures", old, "Oven 2 runs 10 °C hot: set it lower") == NOTHING
    assert shift("figures", old, "The oven runs 10 °C hot") == (["2"], [])
    assert shift("names", old, "Oven 2 runs 10 °C hot") == (["Linh"], [])


ALPHABET = "aA1 .,:-đĐếÊ不ないNo note\n(2026-09-1)%$kg@'\u0301\u0323\u1112\u1161\u11ab않\u0958がか\u3099"


@settings(max_examples=100, deadline=None)
@given(st.text(alphabet=ALPHABET, max_size=60), st.sampled_from(["NFC", "NFD"]))
def test_every_part_stands_in_the_text_as_it_is_written(text: str, form: str) -> None:
    text = unicodedata.normalize(form, text)  # type: ignore[arg-type]
    reading = wording.read(text, KNOWN)
    for part in (*reading.figures, *reading.names, *reading.negations):
        assert part.text
        assert part.text in text


@settings(max_examples=50, deadline=None)
@given(st.text(alphabet=ALPHABET, max_size=60))
def test_an_unchanged_wording_has_no_shift_in_any_unicode_form(text: str) -> None:
    other = unicodedata.normalize("NFD", text)
    for what in ("figures", "names", "negations"):
        assert shift(what, text, text) == NOTHING
        assert shift(what, text, other) == NOTHING
