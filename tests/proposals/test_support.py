"""Support: the one note entry an addition comes from, or none; found with bounded work."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.proposals.support import CANDIDATES, NoteText, QuotedLine, Support, Work, quoted, support, words_of
from apps.vault import lines
from apps.vault.entries import parse
from apps.vault.pairing import differences


def note(day: str, *lines: str) -> NoteText:
    return NoteText(f"memory/{day}.md", "\n".join([f"# {day}", "", *lines, ""]))


def only(old: str, new: str, *notes: NoteText) -> Support | None:
    """The support of the single difference between two texts."""
    found = differences(old, new)
    assert len(found) == 1
    return support(found, notes).get(found[0].id)


# What counts as a source.


def test_an_addition_is_backed_by_the_note_line_that_holds_its_words() -> None:
    source = note("2026-09-19", "- 09:12 Mai asked about boxes", "- 09:20 Mooncakes: orders until 23/9, box of 4")
    found = only("", "- Mooncakes: orders until 23/9, box of 4. (2026-09-19)", source)
    assert found == Support("memory/2026-09-19.md", 4, 4, 7, 7)


@pytest.mark.parametrize(
    ("line", "backed"),
    [
        ("alpha beta gamma", True),
        ("alpha beta", False),
        ("alpha beta gamma delta epsilon zeta", True),
        ("something else", False),
    ],
)
def test_sixty_percent_of_the_words_are_enough_and_less_is_not(line: str, backed: bool) -> None:
    found = only("", "- alpha beta gamma delta epsilon", note("2026-09-19", f"- {line}"))
    assert (found is not None) == backed


def test_words_scattered_over_several_entries_are_no_source() -> None:
    source = note("2026-09-19", "- alpha beta", "- gamma delta", "- epsilon")
    assert only("", "- alpha beta gamma delta epsilon", source) is None


def test_the_date_of_an_entry_is_not_one_of_its_words() -> None:
    assert only("", "- Tea (2026-09-19)", note("2026-09-19", "- coffee")) is None
    assert only("", "- Tea (2026-09-19)", note("2026-01-01", "- tea")) is not None


@pytest.mark.parametrize(
    ("entry", "line"),
    [
        ("- Bánh trung thu: nhận đặt đến hết 23/9", "- 09:20 banh trung thu nhan dat den het 23/9"),
        ("- 安娜喜欢绿茶", "- 今天说安娜喜欢绿茶"),
        ("- 月曜日は休み", "- 店は月曜日は休みです"),
        ("- ร้านปิดวันจันทร์", "- แม่บอกว่าร้านปิดวันจันทร์"),
        ("- Минь любит чай", "- Оказалось, что Минь любит чай"),
    ],
)
def test_every_script_finds_its_source(entry: str, line: str) -> None:
    assert only("", entry, note("2026-09-19", "- nothing of the kind", line)) is not None


def test_a_rewording_needs_a_source_of_its_new_words_and_not_of_its_old_ones() -> None:
    old = "- Flour from Hai Phát mill costs 420 a bag"
    new = "- Flour from Hai Phát mill costs 465 a bag"
    assert only(old, new, note("2026-09-18", "- Flour from Hai Phát mill costs 420 a bag")) is None
    found = only(old, new, note("2026-09-18", "- Hai Phát mill: flour now costs 465 a bag"))
    assert found is not None
    assert found.line_start == 3


def test_a_rewording_without_new_words_needs_only_the_words() -> None:
    found = only(
        "- Anna really likes green tea", "- Anna likes green tea", note("2026-09-18", "- Anna likes green tea")
    )
    assert found is not None


def test_removals_and_moves_and_dates_are_not_looked_up() -> None:
    old = "# A\n\n- Anna likes tea\n- Keys under the pot (2026-01-01)\n- Gone for good\n\n# B\n\n- x"
    new = "# A\n\n- Keys under the pot (2026-09-19)\n\n# B\n\n- x\n- Anna likes tea"
    found = differences(old, new)
    assert {one.kind for one in found} == {"removed", "moved", "redated"}
    assert support(found, [note("2026-09-19", "- Anna likes tea", "- Keys under the pot", "- Gone for good")]) == {}


def test_an_entry_without_a_word_has_no_source() -> None:
    assert only("", "- 🎂 !", note("2026-09-19", "- 🎂 !")) is None


# Which source is the best.


def test_the_greatest_share_wins_then_the_newest_note_then_the_first_line() -> None:
    partly, wholly = "- alpha beta gamma", "- alpha beta gamma delta"
    entry = "- alpha beta gamma delta"
    best = only("", entry, note("2026-09-20", partly), note("2026-09-10", wholly))
    assert best is not None
    assert best.path == "memory/2026-09-10.md"
    best = only("", entry, note("2026-09-10", wholly), note("2026-09-12", "- x", wholly, wholly))
    assert best is not None
    assert (best.path, best.line_start) == ("memory/2026-09-12.md", 4)


def test_a_continued_bullet_is_one_source_with_all_its_lines() -> None:
    source = NoteText("memory/2026-09-19.md", "- alpha beta\n  gamma delta\n- other\n")
    assert only("", "- alpha beta gamma delta", source) == Support("memory/2026-09-19.md", 1, 2, 4, 4)


@pytest.mark.parametrize(
    ("path", "date"),
    [
        ("memory/2026-09-18.md", "2026-09-18"),
        ("memory/2026-09-18-evening.md", "2026-09-18"),
        ("memory/ideas.md", ""),
        ("memory/2026-09-18/x.md", ""),
    ],
)
def test_a_note_has_the_day_its_name_says(path: str, date: str) -> None:
    assert NoteText(path, "").date == date


# Showing it.


def test_the_source_is_quoted_with_the_lines_around_it_and_their_numbers() -> None:
    text = "one\r\ntwo\r\nthree\r\nfour\r\nfive\r\nsix\r\n"
    assert quoted(lines.split(text), Support("n.md", 3, 4, 1, 1), around=1) == [
        QuotedLine(2, "two", False),
        QuotedLine(3, "three", True),
        QuotedLine(4, "four", True),
        QuotedLine(5, "five", False),
    ]


def test_a_source_at_the_edge_or_beyond_a_shortened_note_is_quoted_as_far_as_it_goes() -> None:
    assert [line.number for line in quoted(lines.split("one\ntwo\nthree\n"), Support("n.md", 1, 1, 1, 1))] == [1, 2, 3]
    assert quoted(lines.split("one\n"), Support("n.md", 9, 9, 1, 1)) == []


# Work and truth.


@pytest.mark.parametrize(
    ("memory", "day"),
    [
        ("- [09:15] job {n} finished ok in 31s", "- [09:15] job {n} finished ok in 31s"),
        ("- every word of this line is common, {n}", "- every word of this line is common"),
        ("- every word of this line is common", "- every word of this line is common, {n}"),
    ],
)
def test_two_thousand_similar_lines_stay_cheap(memory: str, day: str) -> None:
    new = "\n".join(memory.format(n=n) for n in range(2_000))
    source = note("2026-09-19", *(day.format(n=n) for n in range(2_000)))
    found, work = differences("", new), Work()
    assert len(support(found, [source], work=work)) == len(found)
    assert 0 < work.comparisons <= len(found) * CANDIDATES


def test_among_similar_lines_each_finds_its_own() -> None:
    rows = [f"- [09:15] job {n} finished ok in 31s" for n in range(1_000, 1_500)]
    found = differences("", "\n".join(rows))
    sources = support(found, [NoteText("memory/2026-09-19.md", "\n".join(rows))])
    assert [sources[one.id].line_start for one in found] == list(range(1, 501))


ENTRY = st.lists(st.sampled_from("alpha beta gamma delta epsilon zeta eta theta".split()), min_size=1, max_size=6)


@settings(max_examples=100, deadline=None)
@given(st.lists(ENTRY, min_size=1, max_size=6), st.lists(ENTRY, max_size=8))
def test_few_entries_are_searched_exhaustively(changed: list[list[str]], noted: list[list[str]]) -> None:
    """The index finds what comparing everything with everything finds."""
    source = NoteText("memory/2026-09-19.md", "\n".join("- " + " ".join(words) for words in noted))
    found = differences("", "\n".join("- " + " ".join(words) for words in changed))
    sources = support(found, [source])
    for one in found:
        assert one.new is not None
        words = words_of(one.new)
        shares = [(len(words & words_of(entry)), -entry.start) for entry in parse(source.text)]
        best = max(shares, default=(0, 0))
        expected = (best[0], -best[1]) if best[0] * 100 >= len(words) * 60 else None
        actual = sources.get(one.id)
        assert (actual and (actual.found, actual.line_start)) == expected
