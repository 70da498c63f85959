"""Two changes made into one, as undo needs it (C15; decisions.md, Writing and history)."""

import time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from apps.vault import units
from apps.vault.merge import Conflict, Merge, merge


def undo(*, before: str, after: str, now: str) -> Merge:
    return merge(base=after, ours=now, theirs=before)


# Undo keeps what came later


@pytest.mark.parametrize(
    ("before", "after", "now", "undone"),
    [
        pytest.param("# M\n\n- a\n", "# M\n\n- a\n- x\n", "# M\n\n- a\n- x\n- y\n", "# M\n\n- a\n- y\n", id="append"),
        pytest.param(
            "", "# 2026-09-19\n\n- 09:15 x\n", "# 2026-09-19\n\n- 09:15 x\n- 09:20 y\n", "- 09:20 y\n", id="first"
        ),
        pytest.param("- a\n- a\n", "- a\n- a\n- a\n", "- a\n- a\n- a\n- b\n", "- a\n- a\n- b\n", id="equal lines"),
        pytest.param("- a", "- a\n- x\n", "- a\n- x\n- y\n", "- a\n- y\n", id="no final newline before"),
        pytest.param("- a\r\n", "- a\r\n- x\r\n", "- a\r\n- x\r\n- y\r\n", "- a\r\n- y\r\n", id="windows"),
        pytest.param("A\n\nP\n", "A\n\nP\n\nQ\n", "A\n\nP\n\nQ\n\nR\n", "A\n\nP\n\nR\n", id="paragraph"),
        pytest.param("- a\n- b\n", "- a\n", "- a\n- later\n", "- a\n- b\n- later\n", id="removal"),
        pytest.param("- a\n- b\n", "- a\n", "- a\n- b\n", "- a\n- b\n", id="removal already put back"),
        pytest.param("- a\n", "- a\n- x\n", "- z\n- a\n", "- z\n- a\n", id="append already taken out"),
        pytest.param("- a\n- b\n- c\n", "- c\n- a\n- b\n", "- c\n- a\n- b\n- d\n", "- a\n- b\n- c\n- d\n", id="move"),
        pytest.param("- a\n- b\n- c\n", "- c\n- a\n- b\n", "- a\n- b\n", "- a\n- b\n", id="moved, then removed"),
        pytest.param(
            "- trà\n  xanh\n", "- trà\n  đen\n", "- trà\n  đen\n- y\n", "- trà\n  xanh\n- y\n", id="continued"
        ),
    ],
)
def test_undo_takes_back_one_change_and_keeps_the_later_ones(before, after, now, undone):
    assert undo(before=before, after=after, now=now) == Merge(undone, ())


BEFORE = """\
# Trí nhớ

- likes green tea (2026-07-01)
- lives in Huế, near the river
- lives in Huế
- 東京の会議は五月

## Work

Ships on Fridays.
- uses Django
"""

REWRITTEN = """\
# Memory

- likes green tea, without sugar (2026-09-01)
- lives in Huế, near the river (2026-09-01)

## Work

Ships on Thursdays, after the review.
- uses Django and htmx
- reads on trains
"""


def test_undoing_a_rewrite_keeps_a_line_appended_since():
    assert undo(before=BEFORE, after=REWRITTEN, now=REWRITTEN + "- later\n") == Merge(BEFORE + "- later\n", ())


def test_undoing_a_rewrite_keeps_a_section_appended_since():
    added = "\n## Travel\n\n- Đà Lạt in May\n"

    assert undo(before=BEFORE, after=REWRITTEN, now=REWRITTEN + added) == Merge(BEFORE + added, ())


def test_undoing_a_rewrite_keeps_a_line_put_in_between_and_one_put_on_top():
    now = "- on top\n" + REWRITTEN.replace("\n## Work", "- in between\n\n## Work")

    undone = undo(before=BEFORE, after=REWRITTEN, now=now).text

    assert undone is not None
    assert undone.startswith("- on top\n")
    assert undone.index("lives in Huế") < undone.index("- in between\n") < undone.index("## Work")
    without = undone.replace("- on top\n", "").replace("- in between\n", "")
    assert sorted(without.split()) == sorted(BEFORE.split())


def test_an_undo_can_be_undone():
    now = REWRITTEN + "- later\n"
    undone = undo(before=BEFORE, after=REWRITTEN, now=now).text
    assert undone is not None

    assert undo(before=now, after=undone, now=undone).text == now
    assert undo(before=now, after=undone, now=undone + "- last\n").text == now + "- last\n"


def test_two_appends_can_be_undone_in_either_order():
    start, first, both = "- a\n", "- a\n- x\n", "- a\n- x\n- y\n"

    without_first = undo(before=start, after=first, now=both).text
    without_second = undo(before=first, after=both, now=both).text

    assert (without_first, without_second) == ("- a\n- y\n", "- a\n- x\n")
    assert undo(before=first, after=both, now="- a\n- y\n").text == "- a\n"


# Stamps


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "merged"),
    [
        ("- tea (2026-02-01)\n", "- tea (2026-03-01)\n", "- tea (2026-01-01)\n", "- tea (2026-03-01)\n"),
        ("- tea (2026-02-01)\n", "- tea\n", "- tea (2026-01-01)\n", "- tea\n"),
        ("- tea\n", "- tea (2026-02-30)\n", "- tea (2026-01-01)\n", "- tea (2026-02-30)\n"),
        (
            "- tea (2026-02-01)\n- b\n",
            "- green tea (2026-02-01)\n- b\n",
            "- tea (2026-01-01)\n- b\n",
            "- green tea (2026-02-01)\n- b\n",
        ),
        (
            "- tea (2026-02-01)\n- b\n",
            "- tea (2026-03-01)\n- b\n",
            "- green tea (2026-02-01)\n- b\n",
            "- green tea (2026-02-01)\n- b\n",
        ),
        ("- tea (2026-02-01)\n- b\n", "- b\n", "- tea (2026-01-01)\n- b\n", "- b\n"),
        ("- tea (2026-02-01)\n- b\n", "- tea (2026-03-01)\n- b\n", "- b\n", "- b\n"),
    ],
)
def test_a_date_alone_never_conflicts(base, ours, theirs, merged):
    assert merge(base, ours, theirs) == Merge(merged, ())


def test_fields_merge_line_by_line_and_their_stamp_never_conflicts():
    page = "---\ntitle: {}\nsources:\n{}status: {}\nupdated: '{}'\n---\n\nBody.\n"
    after = page.format("Huế", "- note:2026-01-01\n- note:2026-01-02\n", "review", "2026-09-02")
    now = page.format("Huế", "- note:2026-01-01\n- note:2026-01-02\n- note:2026-01-03\n", "ok", "2026-09-03")
    before = page.format("Hue", "- note:2026-01-01\n", "review", "2026-09-01")

    expected = page.format("Hue", "- note:2026-01-01\n- note:2026-01-03\n", "ok", "2026-09-03")
    assert undo(before=before, after=after, now=now) == Merge(expected, ())


# Conflicts


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "conflict"),
    [
        pytest.param(
            "# M\n\n- likes tea\n- b\n",
            "# M\n\n- top\n- likes green tea\n- b\n",
            "# M\n\n- likes black tea\n- b\n",
            Conflict("- likes tea", "- likes green tea", "- likes black tea", 4),
            id="reworded twice",
        ),
        pytest.param("- a\n", "- b\n", "- c\n", Conflict("- a", "- b", "- c", 1), id="replaced twice"),
        pytest.param(
            "- x\n- likes tea\n- b\n",
            "- x\n- likes green tea\n- b\n",
            "- x\n- b\n",
            Conflict("- likes tea", "- likes green tea", "", 2),
            id="reworded and removed",
        ),
        pytest.param(
            "- x\n- likes tea\n- b\n",
            "- x\n- b\n",
            "- x\n- likes green tea\n- b\n",
            Conflict("- likes tea", "", "- likes green tea", 2),
            id="removed and reworded",
        ),
        pytest.param(
            "- a\n- 喜欢喝茶\n",
            "- a\n- 喜欢喝绿茶\n",
            "- 喜欢喝红茶\n- a\n",
            Conflict("- 喜欢喝茶", "- 喜欢喝绿茶", "- 喜欢喝红茶", 2),
            id="reworded, and reworded and moved",
        ),
        pytest.param(
            "- a\n  x\n", "- a\n  y\n", "- a\n  z\n", Conflict("- a\n  x", "- a\n  y", "- a\n  z", 1), id="continued"
        ),
        pytest.param(
            "a\nb\nc\n", "a\nB\nc\n", "a\nbb\nc\n", Conflict("b\n", "B\n", "bb\n", 2), id="prose changed twice"
        ),
        pytest.param(
            "a\nb\nc\n", "a\nc\n", "a\nbb\nc\n", Conflict("b\n", "", "bb\n", 2), id="prose removed and changed"
        ),
        pytest.param("a\nc\n", "a\nx\nc\n", "a\ny\nc\n", Conflict("", "x\n", "y\n", 2), id="prose added twice"),
        pytest.param(
            "## A\n- a\n",
            "## B\n- a\n",
            "## C\n- a\n",
            Conflict("## A\n", "## B\n", "## C\n", 1),
            id="heading renamed twice",
        ),
        pytest.param(
            "- a\n- b\n",
            "- a\n  - child\n- b\n",
            "- b\n",
            Conflict("- a", "- a", "", 1),
            id="added below a removed one",
        ),
    ],
)
def test_what_both_changed_differently_is_a_conflict_with_our_line(base, ours, theirs, conflict):
    assert merge(base, ours, theirs) == Merge(None, (conflict,))


def test_every_conflict_is_told_in_the_order_of_lines():
    found = merge("p\n- a\n# q\n- b\n", "P\n- a1\n# q\n- b1\n", "pp\n- a2\n# q\n- b2\n").conflicts

    assert [(conflict.base, conflict.line) for conflict in found] == [("p\n", 1), ("- a", 2), ("- b", 4)]


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "merged"),
    [
        pytest.param("a\nb\nc\n", "A\nb\nc\n", "a\nb\nC\n", "A\nb\nC\n", id="prose in two places"),
        pytest.param("a\nb\n", "A\nb\n", "a\nB\n", "A\nB\n", id="neighbouring lines"),
        pytest.param("a\nb\nc\n", "a\nB\nc\n", "a\nB\nc\nd\n", "a\nB\nc\nd\n", id="same change"),
        pytest.param("- a\n", "- a\n- x\n", "- a\n- y\n", "- a\n- y\n- x\n", id="bullets added in one place"),
        pytest.param(
            "- a\n", "- a\n- x\n- y\n", "- a\n- y\n- z\n", "- a\n- y\n- z\n- x\n", id="one bullet added by both"
        ),
        pytest.param(
            "- a\n\n",
            "- a\n\n## P\n- x\n",
            "- a\n\n## P\n- y\n",
            "- a\n\n## P\n- y\n- x\n",
            id="one heading added by both",
        ),
        pytest.param("- a\n- b\n", "- b\n- a\n", "- a\n- b!\n", "- b!\n- a\n", id="moved and reworded"),
        pytest.param(
            "- A\n  - yes\n- B\n",
            "- A\n- B\n",
            "- A\n- B\n  - yes\n",
            "- A\n- B\n  - yes\n",
            id="equal bullets, two parents",
        ),
        pytest.param(
            "## A\n- yes\n## B\n- b\n",
            "## A\n- yes\n- x\n## B\n- b\n",
            "## A\n## B\n- b\n- yes\n",
            "## A\n- x\n## B\n- b\n- yes\n",
            id="moved below another heading",
        ),
        pytest.param(
            "- a\n- b\n", "- a\r\n- b\r\n", "- a\n- b\n- c\n", "- a\r\n- b\r\n- c\n", id="line ends turned by one side"
        ),
        pytest.param("a\n", "a", "b\na\n", "b\na", id="final newline taken away"),
        pytest.param(
            "```\n- x\n```\n", "```\n- x\n- y\n```\n", "t\n```\n- x\n```\n", "t\n```\n- x\n- y\n```\n", id="code"
        ),
        pytest.param("- a\n- b\n", "", "- a\n- b\n- c\n", "- c\n", id="all removed"),
        pytest.param("", "- a\n", "- b", "- b\n- a\n", id="from nothing"),
    ],
)
def test_changes_that_do_not_touch_are_both_made(base, ours, theirs, merged):
    assert merge(base, ours, theirs) == Merge(merged, ())


# Any texts

LINE = st.sampled_from(
    [
        "- a",
        "- b",
        "- likes tea",
        "- likes tea (2026-01-01)",
        "- likes green tea",
        "  - a",
        "  more",
        "a",
        "b",
        "## A",
        "",
        "1. x",
        "```",
        "---",
    ]
)
LINES = st.lists(LINE, max_size=8)
MARKDOWN = st.builds(
    lambda found, end, last: end.join(found) + (end if last else ""),
    LINES,
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
)
ANY = MARKDOWN | st.text(st.sampled_from("- \n\rab#`\x0c\u2028ă東"), max_size=30)


@settings(max_examples=100, deadline=None)
@given(ANY, ANY)
@example("\ufeff- a\r", "- a")
def test_with_one_side_unchanged_the_other_comes_back_byte_for_byte(base, text):
    assert merge(base, text, base) == Merge(text, ())
    assert merge(base, base, text) == Merge(text, ())
    assert merge(base, text, text) == Merge(text, ())


@settings(max_examples=100, deadline=None)
@given(ANY, ANY)
def test_the_long_way_gives_the_same_as_the_short_one(base, text):
    """A change of one side far below must not disturb what the other side did above."""
    rest = "\n\n# Z\n\nmiddle\n\n"

    found = merge(base + rest, text + rest, base + rest + "- last\n")

    assert found == Merge(text + rest + "- last\n", ()) or "`" in base + text or "~" in base + text


@st.composite
def changes(draw):
    """A text and two texts made from it by removing, rewording and adding lines; added ones are unique."""
    base = draw(LINES)
    sides = []
    for name in ("ours", "theirs"):
        side: list[str] = []
        for n, line in enumerate([*base, ""]):
            for m in range(draw(st.sampled_from([0, 0, 1, 2]))):
                side.append(draw(st.sampled_from(["- ", "", "  - "])) + f"{name} {n} {m}")
            if n < len(base):
                side += draw(st.sampled_from([[line], [line], [line], [], [f"- changed {draw(st.integers(0, 1))}"]]))
        sides.append(side)
    return ["".join(line + "\n" for line in found) for found in (base, *sides)]


@settings(max_examples=100, deadline=None)
@given(changes())
def test_no_line_that_only_one_side_added_is_lost_or_doubled(texts):
    merged = merge(*texts)

    if merged.text is None:
        assert merged.conflicts
        return
    got = merged.text.split("\n")
    for name, text in zip(("ours", "theirs"), texts[1:], strict=True):
        added = [line for line in text.split("\n") if line.strip(" -").startswith(name)]
        assert sorted(line for line in got if line in added) == sorted(added)


@settings(max_examples=100, deadline=None)
@given(changes())
def test_swapping_the_sides_finds_the_same_conflicts(texts):
    base, ours, theirs = texts

    there, back = merge(base, ours, theirs), merge(base, theirs, ours)

    assert (there.text is None) == (back.text is None)
    assert sorted((c.base, c.ours, c.theirs) for c in there.conflicts) == sorted(
        (c.base, c.theirs, c.ours) for c in back.conflicts
    )


@settings(max_examples=100, deadline=None)
@given(ANY)
def test_units_are_the_text_cut_up(text):
    assert "".join(unit.text + unit.end for unit in units.split(text)) == text


def test_one_rewrite_against_many_edits_of_prose_is_one_conflict():
    base = "".join(f"line {n}\nkept {n}\n" for n in range(500))
    ours, theirs = base.replace("line", "our line"), base.replace("line", "their").replace("kept", "new")

    (conflict,) = merge(base, ours, theirs).conflicts

    assert conflict.line == 1
    assert len(conflict.theirs) <= len(theirs)
    assert "their 0\n" in conflict.theirs
    assert "our line 499\n" in conflict.ours


@pytest.mark.parametrize(
    "change",
    [
        lambda n: f"- [09:15] job {n} finished ok in 31s\n",
        lambda n: f"Line {n % 3}\n",
        lambda n: "- ok\n" if n % 2 else "\n",
        lambda n: f"- {n % 50}\n  {n}\n",
    ],
    ids=["similar", "repeated prose", "equal bullets", "repeated bullets"],
)
def test_long_texts_of_similar_lines_are_merged_in_seconds(change):
    base = "".join(change(n) for n in range(4000))
    ours = "".join(change(n).replace("1", "one") for n in range(3900))
    theirs = "".join(change(n) for n in range(3999, 20, -1))

    started = time.monotonic()
    merge(base, ours, theirs)

    assert time.monotonic() - started < 10
