"""Marked words: whole words, old before new, and both texts always come out again."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.vault.marks import Mark, mostly_different, words_marked


def shown(old: str, new: str) -> str:
    signs = {"same": "{}", "del": "[-{}-]", "ins": "[+{}+]"}
    return "".join(signs[mark.kind].format(mark.text) for mark in words_marked(old, new))


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("Anna likes tea", "Anna likes tea", "Anna likes tea"),
        ("Anna likes green tea", "Anna likes tea", "Anna likes [-green -]tea"),
        ("Anna likes tea", "Anna no longer likes tea", "Anna [+no longer +]likes tea"),
        ("Bread on Sundays", "Bread on Saturdays", "Bread on [-Sundays-][+Saturdays+]"),
        ("Opens at 09:15", "Opens at 09:45", "Opens at [-09:15-][+09:45+]"),
        ("costs 1,200.50 now", "costs 1,250.50 now", "costs [-1,200.50-][+1,250.50+] now"),
        ("tea (2026-09-01)", "tea (2026-09-19)", "tea ([-2026-09-01-][+2026-09-19+])"),
        ("I can't come", "I can come", "I [-can't-][+can+] come"),
        ("snake_a b", "snake_b b", "[-snake_a-][+snake_b+] b"),
        ("- a, b", "* a; b", "[---][+*+] a[-,-][+;+] b"),
        ("không ăn cá", "ăn cá", "[-không -]ăn cá"),
        ("住在東京都", "住在京都", "住在[-東-]京都"),
        ("อยู่ เชียงใหม่", "อยู่ เชียงราย", "อยู่ [-เชียงใหม่-][+เชียงราย+]"),
        ("", "new", "[+new+]"),
        ("old", "", "[-old-]"),
    ],
)
def test_marks_are_whole_words_numbers_and_dates(old: str, new: str, expected: str) -> None:
    assert shown(old, new) == expected


def test_two_changed_words_in_a_row_are_one_change() -> None:
    assert [mark.kind for mark in words_marked("a b c d", "a x y d")] == ["same", "del", "ins", "same"]


WORDS = st.lists(
    st.sampled_from(["tea", "Tea", "không", "9,5", "2026-01-02", " ", "  ", "\n", ", ", "(", ")", "_", "東", "don't"]),
    max_size=20,
).map("".join)


@given(WORDS, WORDS)
@settings(max_examples=100, deadline=None)
def test_both_texts_come_out_of_the_marks_exactly(old: str, new: str) -> None:
    marks = words_marked(old, new)
    assert "".join(mark.text for mark in marks if mark.kind != "ins") == old
    assert "".join(mark.text for mark in marks if mark.kind != "del") == new
    assert all(mark.text for mark in marks)
    assert [mark.kind for mark in marks] == ["same"] * bool(old) if old == new else bool(marks)
    for before, after in pairwise(marks):
        assert before.kind != after.kind
        assert (before.kind, after.kind) != ("ins", "del")


def test_over_half_of_the_words_is_mostly_different() -> None:
    assert not mostly_different(words_marked("one two three four", "one two three five"))
    assert not mostly_different(words_marked("one two", "one three"))
    assert mostly_different(words_marked("one two three", "one four five"))
    assert mostly_different(words_marked("", "new words"))
    assert not mostly_different([])


def test_long_texts_are_one_replacement_between_common_ends() -> None:
    middle_old = " ".join(f"old{n} shared" for n in range(300))
    middle_new = " ".join(f"new{n} shared" for n in range(300))
    marks = words_marked(f"same start {middle_old} same end", f"same start {middle_new} same end")
    assert [mark.kind for mark in marks] == ["same", "del", "ins", "same"]
    assert marks[0] == Mark("same", "same start ")
    assert marks[-1] == Mark("same", " shared same end")
