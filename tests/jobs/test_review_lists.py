from datetime import date

from apps.jobs import review_lists

TODAY = date(2026, 9, 20)


def undated(memory: str) -> tuple[str, ...]:
    return review_lists.review(memory, today=TODAY).undated


def old(memory: str) -> tuple[str, ...]:
    return review_lists.review(memory, today=TODAY).old


def test_bullets_of_every_sign_without_a_date_are_listed_in_file_order() -> None:
    memory = "# M\nprose\n- a\n  * b\n+ c\n1. numbered\n-no bullet\n\n- d (2026-09-01)\n"
    assert undated(memory) == ("- a", "* b", "+ c")


def test_a_date_that_is_no_real_day_counts_as_none() -> None:
    assert undated("- a (2026-02-30)\n- b (2026-13-01)\n- c (26-01-01)\n- d(2026-01-01)") == (
        "- a (2026-02-30)",
        "- b (2026-13-01)",
        "- c (26-01-01)",
        "- d(2026-01-01)",
    )


def test_a_date_inside_the_line_is_not_its_date() -> None:
    assert undated("- moved (2026-09-01) to Huế") == ("- moved (2026-09-01) to Huế",)


def test_a_line_is_old_after_ninety_days_and_not_on_the_ninetieth() -> None:
    assert old("- a (2026-06-22)\n- b (2026-06-21)\n- c (2020-01-01)\n- d (2027-01-01)") == (
        "- b (2026-06-21)",
        "- c (2020-01-01)",
    )


def test_a_bullet_may_carry_its_date_on_its_last_line() -> None:
    memory = "- a long\n  bullet (2020-01-01)\n- another\n  one"
    assert old(memory) == ("- a long",)
    assert undated(memory) == ("- another",)


def test_lines_of_a_code_block_are_not_asked_about() -> None:
    assert undated("- a (2026-09-01)\n\n```\n- not a bullet\n```") == ()


def test_windows_line_ends_change_nothing() -> None:
    assert old("- a (2020-01-01)\r\n- b (2026-09-01)\r\n") == ("- a (2020-01-01)",)


def test_an_empty_list_says_none() -> None:
    assert review_lists.as_text(()) == "none"


def test_at_most_forty_lines_are_shown_and_the_rest_is_counted() -> None:
    shown = review_lists.as_text(tuple(f"- {n}" for n in range(43))).split("\n")
    assert shown[:40] == [f"- {n}" for n in range(40)]
    assert shown[40:] == ["(and 3 more)"]
    assert len(review_lists.as_text(tuple("a" * 40)).split("\n")) == 40


def test_a_line_is_cut_at_two_hundred_characters() -> None:
    assert review_lists.as_text(("- " + "x" * 300,)) == "- " + "x" * 198
