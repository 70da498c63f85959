"""Differences: everything a person can see is reported once, under the right name, with bounded work."""

from collections import Counter
from collections.abc import Callable
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.vault.entries import parse
from apps.vault.pairing import Difference, Work, differences


def told(old: str, new: str) -> list[tuple[str, list[str], str | None, set[str]]]:
    return [
        (found.kind, [entry.text for entry in found.old], found.new.text if found.new else None, set(found.flags))
        for found in differences(old, new)
    ]


def kinds(old: str, new: str) -> list[str]:
    return [found.kind for found in differences(old, new)]


# One entry, one difference.


def test_what_came_and_what_went_is_told_where_it_stands_or_stood() -> None:
    old = "- Anna likes tea\n- Printer is broken\n- Binh bakes bread\n- Keys under the pot"
    new = "- Anna likes tea\n- Dentist on Monday\n- Binh bakes bread"
    assert told(old, new) == [
        ("removed", ["- Printer is broken"], None, set()),
        ("added", [], "- Dentist on Monday", set()),
        ("removed", ["- Keys under the pot"], None, set()),
    ]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("- Anna likes green tea", "- Anna likes black tea"),
        ("- Anna likes green tea", "- Anna no longer likes green tea"),
        ("- Anna likes green tea.", "- Anna likes green tea"),
        ("- ANNA likes green tea", "- Anna likes green tea"),
        ("- anna thích trà xanh", "- anna không thích trà xanh"),
        ("- Anna bakes bread", "- On every Sunday morning before church Anna bakes bread for the neighbours"),
        ("- 安娜喜欢绿茶", "- 安娜不喜欢绿茶"),
        ("- ร้านปิดวันจันทร์", "- ร้านเปิดวันจันทร์"),
        ("1. Anna bakes bread", "2. Anna bakes bread"),
    ],
)
def test_any_change_of_the_words_is_reworded(old: str, new: str) -> None:
    assert told(old, new) == [("reworded", [old], new, set())]


def test_entries_that_share_too_little_are_removed_and_added() -> None:
    assert kinds("- Anna likes green tea", "- Anna sold her old red car") == ["removed", "added"]
    assert kinds("- tea", "- tea with Binh and his whole family on Sunday") == ["removed", "added"]


@pytest.mark.parametrize("new", ["- tea (2026-09-19)", "- tea", "- tea (2026-02-30)"])
def test_only_another_date_is_redated(new: str) -> None:
    assert told("- tea (2026-09-01)", new) == [("redated", ["- tea (2026-09-01)"], new, set())]


@pytest.mark.parametrize(
    ("old", "new"),
    [("* tea", "- tea"), ("- green  tea", "- green tea"), ("tea", "- tea"), ("a\nb", "a b")],
)
def test_a_change_of_looks_alone_is_still_told(old: str, new: str) -> None:
    assert told(old, new) == [("reworded", [old], new, {"format"})]


def test_kinds_come_first_to_last_with_the_others_as_flags() -> None:
    old = "# A\n- Anna likes green tea (2026-09-01)\n- stays here\n# B\n- stays there"
    moved = "# A\n- stays here\n# B\n- stays there\n* Anna likes green tea (2026-09-19)"
    assert [(kind, flags) for kind, _, _, flags in told(old, moved)] == [("moved", {"redated", "format"})]
    reworded = "# A\n- stays here\n# B\n- stays there\n- Anna likes black tea (2026-09-19)"
    assert [(kind, flags) for kind, _, _, flags in told(old, reworded)] == [("reworded", {"moved", "redated"})]


# Several entries become one.


def test_two_entries_most_like_one_new_entry_are_merged() -> None:
    old = "- Anna likes green tea\n- Binh bakes bread\n- Anna drinks tea every morning"
    new = "- Anna likes green tea and drinks it every morning\n- Binh bakes bread"
    assert told(old, new) == [
        (
            "merged",
            ["- Anna likes green tea", "- Anna drinks tea every morning"],
            "- Anna likes green tea and drinks it every morning",
            {"reworded"},
        )
    ]


def test_a_copy_that_disappears_is_merged_with_the_one_that_is_kept() -> None:
    assert told("# A\n- tea\n- milk\n# B\n- tea\n- bread", "# A\n- tea\n- milk\n# B\n- bread") == [
        ("merged", ["- tea", "- tea"], "- tea", set())
    ]
    assert told("- tea (2026-09-01)\n- Tea (2026-09-19)", "- tea (2026-09-19)") == [
        ("merged", ["- tea (2026-09-01)", "- Tea (2026-09-19)"], "- tea (2026-09-19)", set())
    ]


def test_a_copy_that_appears_is_added() -> None:
    assert told("- tea", "- tea\n- tea") == [("added", [], "- tea", set())]


# Places.


def test_under_another_heading_an_entry_is_moved() -> None:
    old = "# A\n- tea\n- milk\n# B\n- bread"
    new = "# A\n- milk\n# B\n- bread\n- tea"
    (found,) = differences(old, new)
    assert (found.kind, found.old[0].place, found.new and found.new.place) == (
        "moved",
        (("A",), ""),
        (("B",), ""),
    )


def test_under_another_bullet_an_entry_is_moved() -> None:
    old = "- Anna\n  - tea\n  - milk\n- Binh\n  - bread"
    assert told(old, "- Anna\n  - tea\n- Binh\n  - bread\n  - milk") == [("moved", ["- milk"], "- milk", set())]


def test_under_a_reworded_bullet_an_entry_stays() -> None:
    old = "- Anna and her tea\n  - green\n  - black"
    assert kinds(old, "- Anna and all her tea\n  - green\n  - black") == ["reworded"]


def test_equal_entries_pair_in_their_own_place_first() -> None:
    old = "# A\n- tea\n# B\n- tea (2026-09-01)"
    assert told(old, "# A\n- tea\n# B\n- tea (2026-09-19)") == [
        ("redated", ["- tea (2026-09-01)"], "- tea (2026-09-19)", set())
    ]
    assert kinds("# A\n- tea\n# B\n- tea\n- milk", "# B\n- tea\n- milk\n# A\n- tea") == ["moved"]


# Headings.


@pytest.mark.parametrize(
    "new",
    [
        "# Family\n- tea\n- milk",
        "# Family\n- tea\n- milk\n- a new one",
        "## Home\n- tea\n- milk",
        "# HOME\n- tea\n- milk",
        "# Family\n- tea (2026-09-19)\n- milk",
    ],
)
def test_a_heading_whose_entries_all_stay_is_renamed_and_they_are_not_moved(new: str) -> None:
    found = kinds("# Home\n- tea\n- milk", new)
    assert found[0] == "heading_renamed"
    assert not {"moved", "removed"} & set(found)
    assert found.count("added") == new.count("new one")


def test_renaming_a_heading_moves_nothing_below_its_subheadings() -> None:
    old = "# 2025\n## Notes\n- tea\n## Plans\n### Garden\n- pears\n# Other\n## Notes\n- milk"
    assert told(old, old.replace("2025", "2026")) == [("heading_renamed", ["# 2025"], "# 2026", set())]


def test_a_heading_that_loses_an_entry_is_not_renamed() -> None:
    found = Counter(kinds("# Home\n- tea\n- milk\n- eggs", "# Family\n- tea\n- milk"))
    assert found == {"moved": 2, "removed": 1}


def test_a_section_moved_below_another_heading_is_one_difference() -> None:
    old = "# A\n## Tea\n- green\n- black\n# B\n- bread"
    new = "# A\n# B\n- bread\n## Tea\n- green\n- black"
    assert told(old, new) == [("moved", ["## Tea"], "## Tea", set())]


def test_a_new_heading_is_told_by_its_entries_or_itself() -> None:
    assert told("# A\n- tea", "# A\n- tea\n# B\n- milk") == [("added", [], "- milk", set())]
    assert told("# A\n- tea", "# A\n- tea\n# B") == [("added", [], "# B", set())]
    assert told("# A\n- tea\n# B", "# A\n- tea") == [("removed", ["# B"], None, set())]
    assert told("# A\n- tea\n- milk", "# A\n- tea\n# A\n- milk")[0] == ("added", [], "# A", set())


# Order.


def test_sections_in_another_order_are_moved_headings_and_no_moved_entries() -> None:
    old = "# A\n- tea\n- milk\n# B\n- bread\n# C\n- eggs"
    new = "# B\n- bread\n# C\n- eggs\n# A\n- tea\n- milk"
    assert told(old, new) == [("moved", ["# A"], "# A", {"reordered"})]


def test_from_one_heading_to_another_of_the_same_name_is_reordered() -> None:
    old, new = "# A\n- tea\n# A\n- milk", "# A\n- tea\n- milk\n# A"
    assert told(old, new) == [("moved", ["- milk"], "- milk", {"reordered"})]


@pytest.mark.parametrize("order", list(permutations("abcde", 5))[1::7])
def test_as_few_entries_as_possible_are_reordered(order: tuple[str, ...]) -> None:
    found = differences("\n".join(f"- {name}" for name in "abcde"), "\n".join(f"- {name}" for name in order))
    assert {(item.kind, item.flags) for item in found} == {("moved", frozenset({"reordered"}))}
    longest = max(
        sum(1 << n & chosen > 0 for n in range(5))
        for chosen in range(32)
        if (kept := [name for n, name in enumerate(order) if 1 << n & chosen]) == sorted(kept)
    )
    assert len(found) == 5 - longest


# Nothing is overlooked, and everything has one stable name.

ROWS = st.sampled_from(
    [
        "",
        "# A",
        "# B",
        "## A",
        "## a",
        "- tea",
        "  - tea",
        "* Tea (2026-01-01)",
        "- tea (2026-01-02)",
        "- Anna likes tea",
        "- Anna likes green tea",
        "- 安娜喜欢绿茶",
        "- 🙂",
        "  more",
        "prose",
        "```",
    ]
)
TEXTS = st.lists(ROWS, max_size=14).map("\n".join)


def visible(text: str) -> list[tuple[object, ...]]:
    return [(entry.kind, entry.text, entry.place) for entry in parse(text)]


@given(TEXTS, TEXTS)
@settings(max_examples=100, deadline=None)
def test_texts_differ_exactly_when_differences_are_found(old: str, new: str) -> None:
    assert (differences(old, new) == []) == (visible(old) == visible(new))


@given(TEXTS.flatmap(lambda text: st.tuples(st.just(text), st.permutations(text.split("\n")).map("\n".join))))
@settings(max_examples=100, deadline=None)
def test_no_other_order_of_the_same_lines_passes_as_no_change(texts: tuple[str, str]) -> None:
    old, new = texts
    assert (differences(old, new) == []) == (visible(old) == visible(new))


@given(TEXTS, TEXTS)
@settings(max_examples=100, deadline=None)
def test_no_entry_is_told_twice_and_none_that_went_or_came_is_missed(old: str, new: str) -> None:
    found = differences(old, new)
    olds = [entry for item in found for entry in item.old]
    news = [item.new for item in found if item.new]
    assert len(set(olds)) == len(olds)
    assert len(set(news)) == len(news)
    assert [entry.start for entry in news] == sorted(entry.start for entry in news)
    assert len({item.id for item in found}) == len(found)
    keys_left = {entry.key for entry in parse(new) if entry.kind != "heading"}
    gone = {entry for entry in parse(old) if entry.kind != "heading" and entry.key not in keys_left}
    assert gone <= set(olds)
    assert all((len(item.old) > 1) == (item.kind == "merged") for item in found)
    assert all((item.new is None) == (item.kind == "removed") for item in found)
    assert all((not item.old) == (item.kind == "added") for item in found)


def test_blank_lines_and_line_ends_are_no_difference() -> None:
    text = "# A\n\n- tea\n- milk\n"
    assert differences(text, "\ufeff" + text.replace("\n", "\r\n")) == []
    assert differences(text, "# A\n- tea\n\n\n- milk") == []
    assert differences("", "\n\n") == []


def test_an_id_stays_when_another_part_changes_and_tells_equals_apart() -> None:
    old = "# A\n- Anna likes green tea\n- Printer is broken\n- milk"

    def name(found: list[Difference], kind: str) -> list[str]:
        return [item.id for item in found if item.kind == kind]

    one = differences(old, old.replace("green", "black"))
    both = differences(old, old.replace("green", "black").replace("- milk", "- bread"))
    assert name(one, "reworded") == name(both, "reworded")
    twice = name(differences("- tea", "- tea\n- milk\n- milk"), "added")
    assert len(set(twice)) == 2
    assert all(len(item) == 12 and int(item, 16) >= 0 for item in twice)
    elsewhere = name(differences("# B\n- tea", "# B\n- tea\n- milk"), "added")
    assert elsewhere[0] not in twice


# Work.


def job_lines(count: int, result: str) -> str:
    return "\n".join(f"- [09:15] job {n} finished {result} in 31s" for n in range(1000, 1000 + count))


def work_of(old: str, new: str) -> int:
    work = Work()
    differences(old, new, work=work)
    return work.looked_up + work.compared


def test_two_thousand_lines_that_differ_in_one_word_are_paired_with_little_work() -> None:
    old, new = job_lines(2000, "ok"), job_lines(2000, "late")
    found = differences(old, new)
    assert Counter(item.kind for item in found) == {"reworded": 2000}
    assert all(item.new and item.old[0].text.split()[3] == item.new.text.split()[3] for item in found)
    assert 2000 <= work_of(old, new) <= 20_000


@pytest.mark.parametrize(
    "make",
    [
        job_lines,
        lambda count, word: "\n".join(f"- {word} group{n // 15} member of the long list" for n in range(count)),
        lambda count, word: "\n".join(f"- {word} {n % 40} {n % 41} {n % 43}" for n in range(count)),
        lambda count, word: "\n".join(f"- {word} and the same again" for _ in range(count)),
    ],
)
def test_twice_the_lines_are_at_most_about_twice_the_work(make: Callable[[int, str], str]) -> None:
    once = work_of(make(1000, "ok"), make(1000, "late"))
    twice = work_of(make(2000, "ok"), make(2000, "late"))
    assert once <= 1000 * 120
    assert twice <= 2.2 * once


def test_one_line_of_two_megabytes_costs_one_comparison() -> None:
    line = " ".join(f"word{n}" for n in range(220_000))
    work = Work()
    (found,) = differences(f"- a\n- {line}", f"- a\n- {line} more", work=work)
    assert len(line) > 2_000_000
    assert (found.kind, work.compared) == ("reworded", 1)


def test_in_a_text_of_five_megabytes_only_what_changed_is_compared() -> None:
    old = "\n".join(f"- note {n} about something that is {'long ' * 12}enough" for n in range(50_000))
    work = Work()
    found = differences(old, old.replace("note 777 ", "remark 777 "), work=work)
    assert len(old) > 5_000_000
    assert [item.kind for item in found] == ["reworded"]
    assert work.compared == 1


def test_a_near_copy_of_a_kept_line_is_merged_into_it_not_removed():
    kept = "- Oven 2 runs 10 °C hot: set it 10 lower."
    copy = "- oven 2 runs 10 °C hot - set it 10 lower (2026-08-17)"
    (only,) = differences(f"{kept} (2026-06-11)\n{copy}\n- tea\n", f"{kept} (2026-08-17)\n- tea\n")
    assert (only.kind, len(only.old)) == ("merged", 2)


@pytest.mark.parametrize("gone", ["- likes no tea", "- likes tea 2", "- likes"])
def test_a_line_with_other_words_than_the_kept_one_is_removed(gone):
    (only,) = differences(f"- likes tea\n{gone}\n", "- likes tea\n")
    assert (only.kind, only.old[0].text) == ("removed", gone)
