"""Lines: no character is lost, and two lines that say the same have one key."""

from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.vault import lines

ANY_TEXT = st.text(st.sampled_from("a- \t\r\n\x0b\x0c\x85\u2028é"), max_size=60)


@given(ANY_TEXT)
@settings(max_examples=100, deadline=None)
def test_lines_joined_give_the_text_back_and_are_numbered_from_one(text: str) -> None:
    found = lines.split(text)
    assert "".join(line.text + line.end for line in found) == text
    assert [line.number for line in found] == list(range(1, len(found) + 1))
    assert all(line.end in {"\n", "\r", "\r\n"} for line in found[:-1])
    assert not any("\n" in line.text or "\r" in line.text for line in found)


def test_mixed_line_ends_stay_as_they_are() -> None:
    found = lines.split("one\r\ntwo\nthree\rfour")
    assert [(line.text, line.end) for line in found] == [
        ("one", "\r\n"),
        ("two", "\n"),
        ("three", "\r"),
        ("four", ""),
    ]


@pytest.mark.parametrize("character", ["\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\u2029"])
def test_only_what_an_editor_counts_ends_a_line(character: str) -> None:
    assert [line.number for line in lines.split(f"a{character}b\nc\n")] == [1, 2]


def test_an_empty_text_has_no_line_and_a_final_newline_opens_none() -> None:
    assert lines.split("") == []
    assert len(lines.split("a\n")) == 1


@pytest.mark.parametrize(
    "same",
    [
        "- Likes tea",
        "* likes tea",
        "   +   LIKES  tea  ",
        "likes\ttea",
        "- likes\u00a0tea (2026-09-19)",
        "- Likes tea (2026-99-99)",
    ],
)
def test_looks_and_dates_do_not_change_a_key(same: str) -> None:
    assert lines.key(same) == "likes tea"


@pytest.mark.parametrize(
    "other",
    [
        "- no longer likes tea",
        "- likes tea.",
        "- - likes tea",
        "# likes tea",
        "1. likes tea",
        "- likes (2026-09-19) tea",
        "-likes tea",
        "likes tea(2026-09-19)",
        "- likes tea (2026-9-19)",
        "- likes tea (2026-09-18) (2026-09-19)",
    ],
)
def test_any_other_wording_is_another_key(other: str) -> None:
    assert lines.key(other) != "likes tea"


def test_keys_fold_case_in_every_script_and_keep_accents() -> None:
    assert lines.key("- ĐANG ĐỌC") == lines.key("đang đọc")
    assert lines.key("- Straße") == lines.key("STRASSE")
    assert lines.key("- dang doc") != lines.key("- đang đọc")


@pytest.mark.parametrize(
    ("line", "written", "day"),
    [
        ("- tea (2026-02-28)  ", "2026-02-28", date(2026, 2, 28)),
        ("- tea (2026-02-30)", "2026-02-30", None),
        ("- tea (0000-00-00)", "0000-00-00", None),
        ("- tea (2026-02-28).", None, None),
        ("- tea(2026-02-28)", None, None),
        ("- tea (2026-02-28) for two", None, None),
        ("- tea (٢٠٢٦-02-28)", None, None),
        ("", None, None),
    ],
)
def test_a_date_counts_only_at_the_very_end(line: str, written: str | None, day: date | None) -> None:
    assert lines.date_suffix(line) == written
    assert lines.date_of(line) == day


def test_without_its_date_a_line_is_otherwise_untouched() -> None:
    assert lines.without_date("  - tea (2026-02-28) ") == "  - tea"
    assert lines.without_date("  - tea (May) ") == "  - tea (May) "


@pytest.mark.parametrize(
    ("line", "bullet"),
    [
        ("- a", True),
        ("\t* a", True),
        ("  + a", True),
        ("-a", False),
        ("--- ", False),
        ("1. a", False),
        ("a - b", False),
        ("**bold** a", False),
    ],
)
def test_a_bullet_is_a_sign_and_a_space(line: str, bullet: bool) -> None:
    assert lines.is_bullet(line) is bullet


def test_only_the_first_sign_at_the_start_is_taken_off() -> None:
    assert lines.without_sign("  - - a - b") == "- a - b"
    assert lines.without_sign("a - b") == "a - b"


def test_only_blank_lines_at_the_ends_are_trimmed():
    assert lines.trimmed("\n  \n    rm -rf x\n    ls  \n\n\t\n") == "    rm -rf x\n    ls  "
    assert lines.trimmed(" \n\n") == ""
    assert lines.trimmed("- one") == "- one"
