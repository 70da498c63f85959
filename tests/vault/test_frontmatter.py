"""The block at the top of a file: C01 to C06 of the cases, and what must hold for any file."""

import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st

from apps.errors import Invalid
from apps.vault import frontmatter

BOOKING = b"""\
---
title: Re: room for the May workshop
tags: [travel, workshop]
---
Booked the small room.
"""

TYPED = b"""\
---
name: no
version: 1.10
starts: 10:30
day: 2026-03-05
nothing: ~
status: open
---
x
"""

KEPT = b'---\nzeta: "1"\n# keep me\nalpha: two\n---\n\n  indented first line\n\ntext\n\n'

RICH = """\
---
# written by hand
title:   'Phở & cà phê'   # the good one
due: 2026-03-01
tags:
  - ăn uống
  - 東京
links: [a, "b, c"]
place:
  city: Huế
  geo: {lat: 16.46, lng: 107.59}
story: |
  first line

  second line

folded: >-
  one
  two
plain: goes on
  on a second line
empty:
done: yes
---

body
"""


# C01


def test_a_colon_in_a_title_costs_no_field_and_is_reported_with_its_line():
    block = frontmatter.read(BOOKING)

    assert block.fields == {"title": "Re: room for the May workshop", "tags": ["travel", "workshop"]}
    assert block.body == "Booked the small room.\n"
    assert block.problems == (frontmatter.Problem(2, "a colon in a value that is not quoted", "title"),)


def test_saving_a_broken_title_leaves_one_block_with_the_title_quoted():
    saved = frontmatter.set_key(BOOKING, "title", "Re: room for the May workshop")

    assert saved == BOOKING.replace(b"title: Re: room for the May workshop", b"title: 'Re: room for the May workshop'")
    assert frontmatter.read(saved).problems == ()


def test_setting_another_key_of_a_broken_block_leaves_the_broken_line_as_it_is():
    saved = frontmatter.set_key(BOOKING, "tags", ["travel"])

    assert saved == BOOKING.replace(b"tags: [travel, workshop]", b"tags:\n- travel")
    assert frontmatter.read(saved).fields == {"title": "Re: room for the May workshop", "tags": ["travel"]}


@pytest.mark.parametrize(
    ("inner", "fields", "line", "reason"),
    [
        ("t: x\ntags:\n\t- a\n\t- b\n", {"t": "x", "tags": ["a", "b"]}, 3, "indented with a tab"),
        ("t: x\nn: a\nn: b\n", {"t": "x", "n": "b"}, 4, "the key stands here a second time"),
        ("t: !person An\n", {"t": "An"}, 2, "the tag !person is not read"),
        ("t: x\nbell: a\x07b\n", {"t": "x", "bell": "a\x07b"}, 3, "a control character"),
        ("t: x\nnul: a\x00b\n", {"t": "x", "nul": "a\ufffdb"}, 3, "a control character"),
        ('t: x\nsmile: "\\uD83D"\n', {"t": "x", "smile": "\ufffd"}, 3, "a character that cannot be stored"),
        ('t: x\nbig: "\\UFFFFFFFF"\n', {"t": "x", "big": "\\UFFFFFFFF"}, 3, "not valid YAML"),
        ("t: &a x\nu: *a\n", {"t": "x", "u": "*a"}, 3, "an alias"),
        ('t: x\npath: "C:\\dir"\n', {"t": "x", "path": "C:\\dir"}, 3, "unknown escape"),
        ('t: x\nu: "never closed\n', {"t": "x", "u": '"never closed'}, 3, "not valid YAML"),
        ("t: x\nu: [a, b\nv: y\n", {"t": "x", "u": "[a, b", "v": "y"}, 3, "not valid YAML"),
        ("t: x\njust words\nu: y\n", {"t": "x", "u": "y"}, 3, "not a line of the form"),
        ("t: x\nu:z\nv: w\n", {"t": "x", "u": "z", "v": "w"}, 3, "no space after the colon"),
        ("t: x\n...\nu: y\n", {"t": "x", "u": "y"}, 3, "not a line of the form"),
        ("  t: x: y\n  u: z\n", {"t": "x: y", "u": "z"}, 2, "a colon in a value"),
        ("\"t: u\": x: y\nv: 'a'\n", {"t: u": "x: y", "v": "a"}, 2, "a colon in a value"),
        ("t: x\nl:\n- a: b: c\n- d\n", {"t": "x", "l": ["a: b: c", "d"]}, 3, "a colon in a value"),
    ],
)
def test_a_broken_block_keeps_every_field_it_can_and_names_the_line(inner, fields, line, reason):
    block = frontmatter.read(f"---\n{inner}---\nbody\n".encode())

    assert block.fields == fields
    assert block.body == "body\n"
    assert [problem.line for problem in block.problems] == [line]
    assert reason in block.problems[0].reason


# C02


@pytest.mark.parametrize(
    "text",
    [
        "\n---\n\n## 09:10 stand-up: three items\n\n- a\n\n---\n\n## 14:00\n",
        "\n---\n\n## 09:10 stand-up: three items\n\n**Owner**: me\n\n---\n\n## 14:00\n",
        "---\n\nNote to self: call the bank\n\n---\nrest\n",
        "---\n  \t\nNote to self: call the bank\n---\nrest\n",
        "# Title\n\n---\n\nkey: value\n\n---\nend\n",
        "---\n## 09:10 stand-up: three items\n**Owner**: me\n---\n",
        "---\nWe met An: she was tired: very.\nThen we left.\n---\n",
        "---\nTodo: today: shop\n- a\n- b\n---\n",
        "---\njust prose\n---\n",
        "---\n- a\n- b\n---\n",
        "---\n---\nrest\n",
        "---\n# a comment or a heading\n---\n",
        "---\nkey: value\n",
        "---\nkey: value\n----\nx\n",
        "----\nkey: value\n----\n",
        " ---\nkey: value\n---\n",
        "---",
        "",
    ],
)
def test_text_between_rules_stays_in_the_body(text):
    assert frontmatter.read(text.encode()) == frontmatter.Block({}, text, 1, 0, (), False)


def test_the_closing_fence_may_be_the_end_of_the_file_and_fences_may_trail_blanks():
    block = frontmatter.read(b"--- \na: b\n---\t")

    assert (block.fields, block.body, block.present) == ({"a": "b"}, "", True)


# C03


def test_a_byte_order_mark_and_windows_line_ends_hide_nothing():
    data = b"\xef\xbb\xbf---\r\ntitle: Printer\r\n---\r\nOn the 2nd floor.\r\n"

    block = frontmatter.read(data)

    assert block.fields == {"title": "Printer"}
    assert block.body == "On the 2nd floor.\r\n"
    assert data[block.body_offset :].decode() == block.body
    assert block.body_start == 4


def test_an_edit_uses_the_line_end_of_the_line_it_edits():
    mixed = b"\xef\xbb\xbf---\r\na: 1\nb: |\r\n  x\r\nc: 3\n---\r\nbody\nbody\r\n"

    assert frontmatter.set_key(mixed, "a", "x") == mixed.replace(b"a: 1", b"a: x")
    assert frontmatter.set_key(mixed, "b", "y") == mixed.replace(b"b: |\r\n  x\r\n", b"b: y\r\n")
    assert frontmatter.set_key(mixed, "d", "4") == mixed.replace(b"c: 3\n", b"c: 3\nd: '4'\n")


def test_problem_lines_are_those_of_an_editor_whatever_the_line_ends():
    for end in ("\n", "\r\n", "\r"):
        text = "---\n# x\u2028# y\nb: 2026-13-01\n---\n".replace("\n", end)
        assert [problem.line for problem in frontmatter.read(text.encode()).problems] == [3]


# C04, C05


@pytest.mark.parametrize("day", ["2026-02-30", "0000-00-00", "2026-13-01", "'2026-02-30'", "2026-02-30T10:00:00"])
def test_an_impossible_day_stays_text_and_is_reported(day):
    block = frontmatter.read(f"---\ndue: {day}\n---\nalpha\n".encode())

    assert block.fields == {"due": day.strip("'")}
    assert block.body == "alpha\n"
    assert [(problem.line, problem.field) for problem in block.problems] == [(2, "due")]


def test_values_are_the_text_that_was_written():
    assert frontmatter.read(TYPED).fields == {
        "name": "no",
        "version": "1.10",
        "starts": "10:30",
        "day": "2026-03-05",
        "nothing": "~",
        "status": "open",
    }


def test_nested_values_keep_their_structure_with_text_at_the_leaves():
    fields = frontmatter.read(RICH.encode()).fields

    assert fields["place"] == {"city": "Huế", "geo": {"lat": "16.46", "lng": "107.59"}}
    assert fields["tags"] == ["ăn uống", "東京"]
    assert fields["story"] == "first line\n\nsecond line\n"
    assert fields["done"] == "yes"
    assert fields["empty"] == ""


# C05, C06: one key changes


@pytest.mark.parametrize(
    ("data", "key", "value", "old", "new"),
    [
        (TYPED, "status", "closed", b"status: open", b"status: closed"),
        (KEPT, "alpha", "three", b"alpha: two", b"alpha: three"),
        (KEPT, "zeta", "2", b'"1"', b'"2"'),
        (KEPT, "alpha", "", b"alpha: two", b"alpha: ''"),
        (KEPT, "alpha", ["b", "c: d"], b"alpha: two", b"alpha:\n- b\n- 'c: d'"),
        (KEPT, "alpha", [], b"alpha: two", b"alpha: []"),
        (KEPT, "alpha", "a\nb", b"alpha: two", b'alpha: "a\\nb"'),
        (KEPT, "omega", "three", b"alpha: two\n", b"alpha: two\nomega: three\n"),
    ],
)
def test_setting_a_key_changes_its_line_and_no_other_byte(data, key, value, old, new):
    assert data.count(old) == 1
    assert frontmatter.set_key(data, key, value) == data.replace(old, new)


@pytest.mark.parametrize(
    ("key", "value", "old", "new"),
    [
        ("title", "Bún chả", "'Phở & cà phê'   # the good one", "'Bún chả'   # the good one"),
        ("tags", ["một"], "  - ăn uống\n  - 東京\n", "  - một\n"),
        ("tags", "một", "tags:\n  - ăn uống\n  - 東京\n", "tags: một\n"),
        ("links", ["c", "d, e"], '[a, "b, c"]', "[c, 'd, e']"),
        ("place", "Huế", "place:\n  city: Huế\n  geo: {lat: 16.46, lng: 107.59}\n", "place: Huế\n"),
        ("story", "short", "story: |\n  first line\n\n  second line\n", "story: short\n"),
        ("folded", "x", "folded: >-\n  one\n  two\n", "folded: x\n"),
        ("plain", "x", "plain: goes on\n  on a second line\n", "plain: x\n"),
        ("empty", "x", "empty:\n", "empty: x\n"),
    ],
)
def test_values_of_every_shape_are_replaced_wholly_and_alone(key, value, old, new):
    assert RICH.count(old) == 1
    assert frontmatter.set_key(RICH.encode(), key, value).decode() == RICH.replace(old, new)


@pytest.mark.parametrize(
    ("inner", "key", "value", "changed"),
    [
        ("{a: 1, b: [x, y]}", "a", "2, 3", "{a: '2, 3', b: [x, y]}"),
        ("{a: 1, b: [x, y]}", "c", ["z"], "{a: 1, b: [x, y], c: [z]}"),
        ("{a, b: 1}", "a", "x", "{a: x, b: 1}"),
        ("{}", "a", "x", "{a: x}"),
        ("  a: 1\n  b: 2", "b", ["x"], "  a: 1\n  b:\n  - x"),
        ("  a: 1", "b", "x", "  a: 1\n  b: x"),
        ("? a\n: 1\nb: 2", "a", "x", "a: x\nb: 2"),
        ('"a b": 1', "a b", "x", '"a b": x'),
        ("a: 1\nb: 2\na: 3", "a", "x", "a: x\nb: 2"),
        ("a: !t &x 1 # c", "a", "y", "a: y # c"),
        ("a: 1\nb: x: y\na: 3", "a", "x", "a: x\nb: x: y"),
        ("a: x: y\n# end", "b", "1", "a: x: y\n# end\nb: '1'"),
    ],
)
def test_unusual_blocks_are_edited_in_their_own_form(inner, key, value, changed):
    assert frontmatter.set_key(f"---\n{inner}\n---\nx".encode(), key, value) == f"---\n{changed}\n---\nx".encode()


def test_setting_the_value_that_is_there_changes_nothing():
    for key, value in frontmatter.read(RICH.encode()).fields.items():
        if not isinstance(value, dict):
            assert frontmatter.set_key(RICH.encode(), key, value) == RICH.encode()


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", b"---\nstatus: ok\n---\n"),
        (b"plain\n", b"---\nstatus: ok\n---\nplain\n"),
        (b"\xef\xbb\xbfone\r\ntwo\r\n", b"\xef\xbb\xbf---\r\nstatus: ok\r\n---\r\none\r\ntwo\r\n"),
        (b"---\n\nrule: on top\n\n---\n", b"---\nstatus: ok\n---\n---\n\nrule: on top\n\n---\n"),
    ],
)
def test_a_file_without_a_block_gets_one_on_top(data, expected):
    assert frontmatter.set_key(data, "status", "ok") == expected


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("a", "x\x00"),
        ("a", ["fine", "\ud83d"]),
        ("a\x00", "x"),
        ("", "x"),
        ("two\nlines", "x"),
        ("k" * 101, "x"),
    ],
)
def test_what_no_file_can_hold_is_refused(key, value):
    with pytest.raises(Invalid) as refused:
        frontmatter.set_key(KEPT, key, value)
    assert refused.value.code == "bad_frontmatter"


def test_a_block_beyond_all_measure_is_body_with_a_warning_and_is_not_edited():
    data = b"---\n" + b"a: b\n" * 20_000 + b"---\nend\n"

    block = frontmatter.read(data)

    assert (block.fields, block.present, len(block.problems)) == ({}, False, 1)
    assert block.body.encode() == data
    with pytest.raises(Invalid):
        frontmatter.set_key(data, "a", "c")


@pytest.mark.parametrize("opener", ["[", "{", "- ", "? ", "!t ", "a:\n  ", "'"])
def test_deep_or_endless_nesting_is_read_without_harm(opener):
    data = f"---\na: 1\nb: {opener * 500}\n---\nbody\n".encode()

    assert frontmatter.read(data).fields["a"] == "1"


# dump


def test_dump_writes_what_the_reference_writer_does_but_never_wraps():
    fields = {
        "name": "ngu-som",
        "description": "Đi ngủ trước 23:00, " * 20 + "hết",
        "type": "preference",
        "updated": "2026-09-20T08:00:00",
        "sources": ["note:2026-09-20", "yes", "- x"],
        "questions": [],
    }

    text = frontmatter.dump(fields)

    assert text == yaml.safe_dump(fields, allow_unicode=True, sort_keys=False, width=10_000)
    assert "updated: '2026-09-20T08:00:00'\n" in text
    assert "sources:\n- note:2026-09-20\n- 'yes'\n" in text
    assert text.count("\n") == 9


@pytest.mark.parametrize("value", [{"b": ["\x00"]}, {"\ud83d": "b"}, "x" * 70_000])
def test_dump_refuses_what_could_not_be_read_again(value):
    with pytest.raises(Invalid):
        frontmatter.dump({"a": value})


@pytest.mark.parametrize("data", [b"", KEPT])
def test_a_value_too_long_to_be_read_again_is_refused(data):
    with pytest.raises(Invalid):
        frontmatter.set_key(data, "alpha", "x" * 70_000)


# Any file

STORABLE = st.characters(exclude_categories=["Cs"], exclude_characters="\x00")
ODD = [
    "no",
    "1.10",
    "10:30",
    "a: b",
    "# x",
    " #",
    "- x",
    "'",
    '"',
    "a\nb",
    "\u2028",
    "\x85",
    "~",
    "=",
    "<<",
    "[a",
    "*a",
]
TEXT = st.text(STORABLE, max_size=30) | st.sampled_from(ODD)
VALUE = TEXT | st.lists(TEXT, max_size=3)
KEYS = ["title", "tags", "no", "k:v", "日本"]
ENTRIES = {
    "title": ["title: x", "title: 'x''y'  # c", 'title: "x"', "title:", "title: !t x", "title: x\n  y"],
    "tags": [
        "tags:\n- a\n- b",
        "tags:\n  - a\n  # c\n  -\n",
        "tags: [a, b]  # c",
        "tags: [a,\n b]",
        "tags: []",
    ],
    "a b": ["a b: |\n  x\n\n  y\n", "a b: |+\n  x\n\n", "a b: >-\n  x\n  y", "? a b\n: x", "a b: |"],
    "ngày": ["ngày: 2026-02-30", "ngày: {a: 1, b: [c]}", "ngày:\n  a: 1\n  b:\n    c: d\n"],
    "x-1": ["x-1: &n z", 'x-1: "a\\\n  b"', "'x-1': v", "x-1 : v"],
}


@st.composite
def files(draw):
    """A file in four parts: what stands before the lines of a key, the key, its lines, and what follows them."""
    names = draw(st.lists(st.sampled_from(sorted(ENTRIES)), unique=True))
    pieces = [(name, draw(st.sampled_from(ENTRIES[name])) + "\n") for name in names]
    for _ in range(draw(st.integers(0, 2)) if pieces else 0):
        place = draw(st.integers(1, len(pieces)))
        pieces.insert(place, ("", draw(st.sampled_from(["# note\n", "\n"]))))
    key = draw(st.sampled_from([*names, *KEYS]))
    at = next((n for n, (name, _) in enumerate(pieces) if name == key), len(pieces))
    before, own, after = (
        "".join(text for _, text in part) for part in (pieces[:at], pieces[at : at + 1], pieces[at + 1 :])
    )
    fence = "---\n" if pieces else ""
    body = draw(st.sampled_from(["", "\n", "body", "text\n\n---\nx: y\n---\n", "  a\n\n"]))
    end = draw(st.sampled_from(["\n", "\r\n"]))
    parts = [text.replace("\n", end).encode() for text in (fence + before, own, after + fence + body)]
    bom, rest = draw(st.sampled_from([b"", frontmatter.BOM])), draw(st.sampled_from([b"", b"\xff"]))
    return bom + parts[0], key, parts[1], parts[2] + rest


BROKEN = ["title: Re: x", "tags:\n\t- a", 'a b: "x', "ngày: *a", "x-1: y", "words", "title: z", "no:no", "z: \x07"]
BROKEN_LINES = st.lists(st.sampled_from(BROKEN), min_size=1, max_size=6)


@settings(max_examples=100, deadline=None)
@given(files(), VALUE)
def test_a_key_that_was_set_reads_back_and_no_byte_outside_its_lines_has_changed(file, value):
    start, key, own, end = file
    before = frontmatter.read(start + own + end)

    changed = frontmatter.set_key(start + own + end, key, value)

    after = frontmatter.read(changed)
    assert after.fields == {**before.fields, key: value}
    assert after.body == before.body
    assert changed.startswith(start)
    assert changed.endswith(end)
    assert frontmatter.set_key(changed, key, value) == changed


@settings(max_examples=100, deadline=None)
@given(BROKEN_LINES, st.sampled_from(KEYS), VALUE)
@example(inner=['a b: "x'], key="title", value='0"')
@example(inner=['a b: "x', "title: Re: x"], key="title", value='0"')
def test_a_key_of_a_broken_block_can_be_set_and_reads_back(inner, key, value):
    data = "\n".join(["---", *inner, "---", "body"]).encode()
    before = frontmatter.read(data)

    after = frontmatter.read(frontmatter.set_key(data, key, value))

    assert after.fields[key] == value
    assert set(before.fields) <= set(after.fields)
    assert after.body == before.body


@settings(max_examples=100, deadline=None)
@given(
    st.dictionaries(st.text(STORABLE.filter(str.isprintable), min_size=1, max_size=20), VALUE, min_size=1, max_size=5)
)
def test_what_dump_writes_reads_back(fields):
    block = frontmatter.read(f"---\n{frontmatter.dump(fields)}---\n\nbody\n".encode())

    assert block.fields == fields
    assert list(block.fields) == list(fields)


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=200) | st.binary(max_size=100).map(lambda inner: b"---\na: b\n" + inner + b"\n---\nx"))
@example(b"---\n%YAML " + b"9" * 5000 + b".1\n---\n")
@example(b'---\na: "\\U00110000"\n---\n')
@example(b"---\n? [a]\n: b\n---\n")
@example(b"---\na:\n  ? {}\n  : b\n---\n")
@example(b"---\r---\r")
def test_reading_never_raises_and_the_body_is_the_end_of_the_file(data):
    block = frontmatter.read(data)

    assert block.body == data[block.body_offset :].decode("utf-8", "replace")


@settings(max_examples=100, deadline=None)
@given(st.integers(0, len(RICH.encode()) - 1), st.binary(max_size=3), st.integers(0, 4))
def test_reading_a_damaged_block_never_raises(position, put, cut):
    data = RICH.encode()

    damaged = data[:position] + put + data[position + cut :]

    block = frontmatter.read(damaged)

    assert block.body == damaged[block.body_offset :].decode("utf-8", "replace")
    assert block.fields or not block.present
