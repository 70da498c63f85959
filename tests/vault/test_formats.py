"""From bytes to a document and back (C03, C06, C30; memory.md 3.1)."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from apps.errors import Invalid
from apps.vault import formats, frontmatter

MEMORY = "# Nhớ\n\n- trà sen (2026-09-01)\n  không đường\n- 東京 in May\n\nprose\nmore\n"


def entries_of(document):
    return [(entry.text, entry.start, entry.end, entry.kind) for entry in document.entries]


def test_a_memory_is_its_entries_with_the_line_numbers_of_an_editor():
    document = formats.read(MEMORY.encode(), "memory")

    assert entries_of(document) == [
        ("# Nhớ", 1, 1, "heading"),
        ("- trà sen (2026-09-01)\n  không đường", 3, 4, "bullet"),
        ("- 東京 in May", 5, 5, "bullet"),
        ("prose\nmore", 7, 8, "prose"),
    ]
    assert (document.text, document.body, document.fields) == (MEMORY, MEMORY, {})
    assert (document.bom, document.newline, document.final_newline) == (False, "\n", True)
    assert (document.problems, document.undecodable) == ((), None)


@pytest.mark.parametrize("kind", ["memory", "note", "page", "fact", "persona", "free"])
def test_fields_are_no_entries_and_the_entries_below_keep_their_line_numbers(kind):
    data = b"\xef\xbb\xbf---\r\ntitle: Printer\r\nsources:\r\n- note:2026-09-01\r\n---\r\n\r\n- 2nd floor"

    document = formats.read(data, kind)

    assert document.fields == {"title": "Printer", "sources": ["note:2026-09-01"]}
    assert entries_of(document) == [("- 2nd floor", 7, 7, "bullet")]
    assert document.body == "\r\n- 2nd floor"
    assert document.text == data.removeprefix(frontmatter.BOM).decode()
    assert (document.bom, document.newline, document.final_newline) == (True, "\r\n", False)
    assert document.problems == ()


@pytest.mark.parametrize(("kind", "warned"), [("fact", True), ("page", True), ("note", False), ("persona", False)])
def test_a_fact_or_page_without_fields_is_read_and_reported(kind, warned):
    document = formats.read(b"likes tea\n", kind)

    assert document.body == "likes tea\n"
    assert [problem.line for problem in document.problems] == ([1] if warned else [])


def test_bytes_that_are_not_utf8_are_replaced_for_display_and_named_by_line_and_byte():
    document = formats.read(b"one\r\ntwo caf\xe9\nthree\xff\n", "note")

    assert document.text == "one\r\ntwo caf\ufffd\nthree\ufffd\n"
    assert document.undecodable == (2, 12)
    assert [(problem.line, problem.reason) for problem in document.problems] == [(2, "byte 12 (0xe9) is not UTF-8")]


def test_a_nul_is_reported_with_its_line():
    document = formats.read("à\n\nb\x00c\n".encode(), "memory")

    assert [(problem.line, problem.reason) for problem in document.problems] == [(3, "byte 5 is NUL")]
    assert document.text == "à\n\nb\x00c\n"


def test_problems_of_fields_and_of_bytes_stand_in_the_order_of_lines():
    document = formats.read(b"---\na: \xff\nb: c: d\ndue: 2026-02-30\n---\n\x00\n", "fact")

    assert [problem.line for problem in document.problems] == [2, 3, 4, 6]
    assert document.fields == {"a": "\ufffd", "b": "c: d", "due": "2026-02-30"}


@pytest.mark.parametrize(
    ("data", "line", "expected"),
    [
        (b"", "- a", b"- a\n"),
        (b"plain text, no block\n", "- more", b"plain text, no block\n- more\n"),
        (b"no newline", "- more", b"no newline\n- more\n"),
        (b"\xef\xbb\xbf", "- a", b"\xef\xbb\xbf- a\n"),
        (b"\xef\xbb\xbfone\r\ntwo", "- a\nb", b"\xef\xbb\xbfone\r\ntwo\r\n- a\r\nb\r\n"),
        (b"a\r\nb\r\nc\nd", "- x", b"a\r\nb\r\nc\nd\r\n- x\r\n"),
        (b"a\nb\nc\r\n", "- x", b"a\nb\nc\r\n- x\n"),
        (b"a\r\nb\n", "- x", b"a\r\nb\n- x\r\n"),
        (b"a\nb\r\n", "- x", b"a\nb\r\n- x\n"),
        (b"cut off \xe1\xbb", "- x", b"cut off \xe1\xbb\n- x\n"),
        (b"a\n\n\n", "- phở", "a\n\n\n- phở\n".encode()),
    ],
)
def test_appending_adds_one_line_in_the_files_own_manner(data, line, expected):
    assert formats.append_line(data, line) == expected


@pytest.mark.parametrize(
    ("data", "text", "expected"),
    [
        (b"", "a\nb", b"a\nb\n"),
        (b"old\r\n", "a\nb\n\n\n", b"a\r\nb\r\n"),
        (b"\xef\xbb\xbfold\r\nx\r\ny\n", "\ufeffa\r\nb\nc\r", b"\xef\xbb\xbfa\r\nb\r\nc\r\n"),
        (b"old", "\n    indented\n", b"\n    indented\n"),
        (b"\xef\xbb\xbfold\n", "", b"\xef\xbb\xbf"),
        (b"old\n", "\n\n", b""),
    ],
)
def test_a_rewrite_keeps_byte_order_mark_and_line_end_and_one_final_newline(data, text, expected):
    assert formats.like(data, text) == expected


STORABLE = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00") | st.sampled_from("\r\n\ufeff"))


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=50) | st.sampled_from([b"\xef\xbb\xbfa\r\n", b"a\r\nb\n"]), STORABLE)
def test_a_rewrite_done_twice_is_done_once(data, text):
    once = formats.like(data, text)

    assert formats.like(data, once.decode()) == once


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=50) | st.sampled_from([b"\xef\xbb\xbfa\r\n", b"a\r\nb"]), STORABLE)
def test_appending_keeps_every_byte_and_the_line_reads_back(data, line):
    after = formats.append_line(data, line)

    assert after.startswith(data)
    written = after[len(data) :].decode().replace("\r\n", "\n")
    assert written.removesuffix("\n").endswith(line.replace("\r\n", "\n").replace("\r", "\n"))


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=100), st.sampled_from(["memory", "note", "page", "fact", "persona"]))
@example(b"\xed\xa0\x80\x00---\r---", "fact")
def test_reading_never_raises_and_loses_no_text(data, kind):
    document = formats.read(data, kind)

    assert document.text == data.removeprefix(frontmatter.BOM).decode("utf-8", "replace")
    assert (document.undecodable is None) == (document.text.encode() == data.removeprefix(frontmatter.BOM))


def test_a_file_of_our_own_is_byte_exact_and_reads_back():
    fields = {"title": "Phở: the place", "sources": ["note:2026-09-20"], "updated": "2026-09-20"}

    data = formats.write(fields, "\n  Quán ngon.\n\n")

    assert (
        data
        == (
            "---\ntitle: 'Phở: the place'\nsources:\n- note:2026-09-20\nupdated: '2026-09-20'\n---\n\nQuán ngon.\n"
        ).encode()
    )
    document = formats.read(data, "page")
    assert (document.fields, document.body, document.problems) == (fields, "\nQuán ngon.\n", ())


@pytest.mark.parametrize("text", ["a\x00b", "\ud83d", "ok \udfff"])
def test_what_cannot_be_stored_is_refused_by_every_writer_and_names_the_field(text):
    writers = [
        lambda: formats.refuse_unstorable(text, "text"),
        lambda: formats.append_line(b"", text),
        lambda: formats.like(b"", text),
        lambda: formats.write({}, text),
    ]
    for write in writers:
        with pytest.raises(Invalid) as refused:
            write()
        assert refused.value.code == "bad_text"
        assert refused.value.details["field"] in {"text", "body"}


@pytest.mark.parametrize("text", ["", "\ufeff\u2028\x07 phở 東京 👍🏽", "\ufffd"])
def test_everything_else_may_be_stored(text):
    formats.refuse_unstorable(text, "body")
