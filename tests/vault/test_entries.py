"""Entries: where one begins and ends, and where it stands."""

from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.vault.entries import Entry, level, parse, title

MEMORY = """\
# Home

Two adults,
one child.
- Anna likes tea (2026-09-01)
  every morning (2026-09-19)
  - green tea
* Binh bakes
1. first
 2. second
## Garden
Apples
#later
+ plant pears
"""


def texts(source: str) -> list[str]:
    return [entry.text for entry in parse(source)]


def test_bullets_paragraphs_and_headings_are_entries_with_their_lines() -> None:
    assert [(entry.kind, entry.text, entry.start, entry.end) for entry in parse(MEMORY)] == [
        ("heading", "# Home", 1, 1),
        ("prose", "Two adults,\none child.", 3, 4),
        ("bullet", "- Anna likes tea (2026-09-01)\n  every morning (2026-09-19)", 5, 6),
        ("bullet", "- green tea", 7, 7),
        ("bullet", "* Binh bakes", 8, 8),
        ("bullet", "1. first", 9, 9),
        ("bullet", "2. second", 10, 10),
        ("heading", "## Garden", 11, 11),
        ("prose", "Apples", 12, 12),
        ("heading", "#later", 13, 13),
        ("bullet", "+ plant pears", 14, 14),
    ]


def test_a_place_is_the_headings_above_and_the_parent_bullet() -> None:
    places = {entry.text: entry.place for entry in parse(MEMORY)}
    assert places["- green tea"] == (("Home",), "anna likes tea (2026-09-01) every morning")
    assert places["2. second"] == (("Home",), "1. first")
    assert places["* Binh bakes"] == (("Home",), "")
    assert places["## Garden"] == (("Home",), "")
    assert places["Apples"] == (("Home", "Garden"), "")
    assert places["+ plant pears"] == (("later",), "")


def test_key_and_date_are_those_of_the_lines_joined() -> None:
    anna = parse(MEMORY)[2]
    assert anna.key == "anna likes tea (2026-09-01) every morning"
    assert anna.date == date(2026, 9, 19)
    assert parse("- a (2026-02-30)")[0].date is None


@pytest.mark.parametrize(
    ("source", "parents"),
    [
        ("- a\n  - b\n    - c\n  - d\n- e", ["", "a", "b", "a", ""]),
        ("- a\n\t- b\n\t\t- c", ["", "a", "b"]),
        ("- a\n    - b\n  - c", ["", "a", "a"]),
        ("- a\n\n  more about a\n\nabout nothing\n\n  - z", ["", "a", "", ""]),
        ("- a\n# H\n  - b", ["", "", ""]),
    ],
)
def test_indentation_makes_the_parent(source: str, parents: list[str]) -> None:
    assert [entry.parent for entry in parse(source)] == parents


@pytest.mark.parametrize("fence", ["```", "~~~~", "```sh"])
def test_a_fenced_block_stays_in_the_entry_it_stands_in(fence: str) -> None:
    closing = fence.removesuffix("sh")
    block = f"{fence}\n# no heading\n\n- no bullet\n{closing}"
    assert texts(f"- run this\n{block}\n- next") == [f"- run this\n{block}", "- next"]
    assert texts(f"text\n\n{block}\n\nmore") == ["text", block, "more"]
    assert all(entry.headings == () for entry in parse(f"{block}\n\nmore"))


def test_a_fence_opened_behind_a_bullet_sign_counts() -> None:
    assert texts("- ```\n  # x\n  ```\n- y") == ["- ```\n  # x\n  ```", "- y"]


def test_a_longer_or_other_fence_inside_does_not_close() -> None:
    block = "````\n```\n# x\n~~~~\n````"
    assert texts(f"{block}\n# H") == [block, "# H"]


def test_a_fence_that_is_never_closed_swallows_nothing() -> None:
    assert texts("```\n# H\n- a") == ["```", "# H", "- a"]
    assert texts("a ``` b\n# H\n```") == ["a ``` b", "# H", "```"]
    assert texts("```inline```\n# H\n```") == ["```inline```", "# H", "```"]


def test_frontmatter_is_one_entry_whatever_its_lines_look_like() -> None:
    block = "---\n# note\ntitle: Printer\ntags:\n- a\n---"
    assert texts(f"\ufeff{block}\n# H\n- a") == [block, "# H", "- a"]
    assert [entry.start for entry in parse(f"{block}\n# H")] == [1, 7]


@pytest.mark.parametrize("opening", ["---\n\ntitle: x\n", "---\n- a: b\n", "---\njust text\n", "---\ntitle: x\n# H\n"])
def test_rules_between_paragraphs_are_no_frontmatter(opening: str) -> None:
    after = "# T\n- b\n" if opening.endswith("# H\n") else "# T\n---\n- b\n"
    assert "# T" in texts(opening + after)


def test_line_ends_and_a_byte_order_mark_change_no_entry() -> None:
    windows = "\ufeff" + MEMORY.replace("\n", "\r\n")
    assert parse(windows) == parse(MEMORY)


def test_a_sign_with_nothing_after_it_opens_no_entry() -> None:
    assert texts("- a\n- \nb") == ["- a\n-\nb"]


def test_headings_deeper_than_markdown_knows_are_of_the_deepest_level() -> None:
    assert [level("# a"), level("  ### a"), level("########## a")] == [1, 3, 6]
    assert [title("## a b "), title("#tag"), title("#")] == ["a b", "tag", ""]
    assert parse("# a\n### b\n## c\n- d")[-1].headings == ("a", "c")


LINES = st.sampled_from(
    [
        "",
        "- a",
        "  - b",
        "\t* c (2026-01-01)",
        "1. d",
        "word",
        "  word",
        "# H",
        "## I",
        "```",
        "~~~",
        "---",
        "k: v",
    ]
)


@given(st.lists(LINES, max_size=25))
@settings(max_examples=100, deadline=None)
def test_every_line_that_says_something_is_in_exactly_one_entry(source: list[str]) -> None:
    found = parse("\n".join(source))
    covered = [number for entry in found for number in range(entry.start, entry.end + 1)]
    assert covered == sorted(set(covered))
    assert {number for number, line in enumerate(source, start=1) if line} <= set(covered)
    for entry in found:
        lines = [line.rstrip() for line in source[entry.start - 1 : entry.end]]
        assert entry.text == "\n".join(lines).strip()


def test_an_entry_is_a_value() -> None:
    assert parse("- a")[0] == Entry("- a", 1, 1, (), "", "bullet")
