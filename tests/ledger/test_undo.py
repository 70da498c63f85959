"""Undo gives the old bytes back and keeps whatever came later, or changes nothing and says why."""

from typing import Any

import pytest

from apps import access
from apps.access import Actor
from apps.agents import services as agents
from apps.errors import Conflict, Forbidden, NotFound
from apps.ledger import queries, services
from apps.ledger.models import Batch
from apps.vault import formats
from apps.vault.changes import Change, appended
from apps.vault.layout import Scope

pytestmark = pytest.mark.django_db(transaction=True)

ME = access.operator()
NOTE = "memory/2026-09-19.md"


def write(scope: Scope, *changes: Change, proposal: str = "") -> str:
    with services.writing(scope) as desk:
        batch = desk.write(changes, actor=ME, proposal=proposal)
    assert batch
    return batch.public_id


def put(scope: Scope, path: str, text: bytes | None) -> str:
    return write(scope, Change(path, read(scope, path), text))


def append(scope: Scope, line: str, path: str = NOTE) -> str:
    before = read(scope, path) or b""
    return write(scope, appended(path, before, formats.append_line(before, line)))


def read(scope: Scope, path: str) -> bytes | None:
    place = scope.root / path
    return place.read_bytes() if place.exists() else None


def edit(scope: Scope, path: str, text: bytes) -> None:
    """A person saves the file in an editor; no row is made."""
    (scope.root / path).write_bytes(text)


def undo(batch: str) -> str:
    return agents.undo(batch, actor=ME).public_id


def refused(batch: str) -> Conflict:
    with pytest.raises(Conflict) as caught:
        undo(batch)
    return caught.value


TEXTS = [
    None,
    b"",
    b"- one\n- two\n",
    b"no final newline",
    b"- one\r\n- two\r\n",
    b"\xef\xbb\xbf- BOM\n",
    b"\xff\xfe is no UTF-8 \x00\n",
    "- ăn phở 🍜\n- 会议在周一\n- ประชุม\n".encode(),
]


@pytest.mark.parametrize("old", TEXTS)
@pytest.mark.parametrize("new", [None, b"", b"- other\n", b"\xff\n"])
def test_exactly_the_old_bytes_return_when_nothing_changed_since(
    scope: Scope, old: bytes | None, new: bytes | None
) -> None:
    if old == new:
        new = b"- something else\n"
    if old is not None:
        edit(scope, "MEMORY.md", old)
    batch = put(scope, "MEMORY.md", new)
    undo(batch)
    assert read(scope, "MEMORY.md") == old


@pytest.mark.parametrize("old", [b"- one\n", b"- one", b"- one\r\n", b"- one\r\n- two", b"\xff\n", b"# day\n\n"])
def test_an_append_is_taken_out_to_the_byte(scope: Scope, old: bytes) -> None:
    edit(scope, NOTE, old)
    undo(append(scope, "- added"))
    assert read(scope, NOTE) == old


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
@pytest.mark.parametrize("finished", [True, False])
def test_an_append_undone_after_another_keeps_the_later_one(scope: Scope, end: bytes, finished: bool) -> None:
    old = b"# day" + end + b"- zero" + (end if finished else b"")
    edit(scope, NOTE, old)
    first, second = append(scope, "- first"), append(scope, "- second")
    undo(first)
    # The end of the unfinished line stays: the line that came later needs it.
    assert read(scope, NOTE) == b"# day" + end + b"- zero" + end + b"- second" + end
    undo(second)
    assert read(scope, NOTE) == b"# day" + end + b"- zero" + end


def test_equal_lines_are_told_apart_by_where_they_were_put(scope: Scope) -> None:
    edit(scope, NOTE, b"- zero\n")
    batches = [append(scope, line) for line in ("- same", "- between", "- same")]
    undo(batches[2])
    assert read(scope, NOTE) == b"- zero\n- same\n- between\n"
    undo(batches[0])
    assert read(scope, NOTE) == b"- zero\n- between\n"


@pytest.mark.parametrize(
    ("edited", "left"),
    [
        (b"- zero\n- added\n- later\n", b"- zero\n- later\n"),
        (b"- before\n- zero\n- added\n", b"- before\n- zero\n"),
        (b"- added\n- zero\n", b"- zero\n"),
        (b"- ZERO\n- added\nno newline", b"- ZERO\nno newline"),
    ],
)
def test_an_append_is_found_again_after_edits_around_it(scope: Scope, edited: bytes, left: bytes) -> None:
    edit(scope, NOTE, b"- zero\n")
    batch = append(scope, "- added")
    edit(scope, NOTE, edited)
    undo(batch)
    assert read(scope, NOTE) == left


def test_an_append_whose_line_was_changed_cannot_be_undone(scope: Scope) -> None:
    edit(scope, NOTE, b"- zero\n")
    batch = append(scope, "- added")
    edit(scope, NOTE, b"- zero\n- added, and then some\n")
    error = refused(batch)
    assert error.code == "undo_conflict"
    assert [(one["path"], one["added"]) for one in error.details["conflicts"]] == [(NOTE, "- added\n")]
    assert read(scope, NOTE) == b"- zero\n- added, and then some\n"


def test_the_first_saved_line_of_a_day_is_undone_and_the_second_stays(scope: Scope) -> None:
    first = agents.append_note("coach", "first", actor=ME)
    agents.append_note("coach", "second", actor=ME)
    undo(first.batch)
    text = (read(scope, first.path) or b"").decode()
    assert "first" not in text
    assert text.count("second") == 1


def test_a_rewrite_undone_after_a_line_was_added_keeps_that_line(scope: Scope) -> None:
    old = b"# Memory\n\n- tea (2026-01-02)\n- Monday\n"
    edit(scope, "MEMORY.md", old)
    batch = put(scope, "MEMORY.md", b"# Memory\n\n- coffee (2026-09-19)\n- Monday\n")
    append(scope, "- later", "MEMORY.md")
    undo(batch)
    assert read(scope, "MEMORY.md") == old + b"- later\n"


def test_edits_by_hand_elsewhere_in_the_file_are_kept(scope: Scope) -> None:
    edit(scope, "MEMORY.md", "# A\n\n- một\n- hai\n\n# B\n\n- ba\n".encode())
    batch = put(scope, "MEMORY.md", "# A\n\n- một, viết lại\n- hai\n\n# B\n\n- ba\n".encode())
    edit(scope, "MEMORY.md", "# A\n\n- một, viết lại\n- hai\n\n# B\n\n- ba\n- bốn 四\n".encode())
    undo(batch)
    assert read(scope, "MEMORY.md") == "# A\n\n- một\n- hai\n\n# B\n\n- ba\n- bốn 四\n".encode()


def test_a_conflict_is_shown_with_its_place_and_nothing_is_written(scope: Scope) -> None:
    edit(scope, "MEMORY.md", b"# A\n\n- tea\n- Monday\n")
    batch = put(scope, "MEMORY.md", b"# A\n\n- coffee\n- Monday\n")
    edit(scope, "MEMORY.md", b"# A\n\n- cocoa\n- Monday\n")
    error = refused(batch)
    assert error.code == "undo_conflict"
    [conflict] = error.details["conflicts"]
    [place] = conflict["places"]
    assert conflict["path"] == "MEMORY.md"
    assert place["line"] == 3
    assert ("coffee" in place["written"], "cocoa" in place["now"], "tea" in place["before"]) == (True,) * 3
    assert read(scope, "MEMORY.md") == b"# A\n\n- cocoa\n- Monday\n"
    assert Batch.objects.filter(undoes=batch).count() == 0


def test_later_changes_of_a_file_that_is_no_text_are_a_conflict_and_no_guess(scope: Scope) -> None:
    edit(scope, "MEMORY.md", b"\xff one\n")
    batch = put(scope, "MEMORY.md", b"\xff two\n")
    edit(scope, "MEMORY.md", b"\xff three\n")
    assert refused(batch).code == "undo_conflict"


def test_a_created_file_is_deleted_again_and_a_deleted_one_comes_back(scope: Scope) -> None:
    made = put(scope, NOTE, b"- one\n")
    undo(made)
    assert read(scope, NOTE) is None
    edit(scope, NOTE, b"- kept\n")
    undo(put(scope, NOTE, None))
    assert read(scope, NOTE) == b"- kept\n"


def test_a_file_deleted_or_made_anew_since_is_a_conflict(scope: Scope) -> None:
    edit(scope, NOTE, b"- one\n")
    changed = put(scope, NOTE, b"- two\n")
    (scope.root / NOTE).unlink()
    assert refused(changed).code == "undo_conflict"
    edit(scope, "MEMORY.md", b"- one\n")
    deleted = put(scope, "MEMORY.md", None)
    edit(scope, "MEMORY.md", b"- somebody made it anew\n")
    assert refused(deleted).code == "undo_conflict"
    assert read(scope, "MEMORY.md") == b"- somebody made it anew\n"


PAGES = [f"memory/wiki/entities/{name}.md" for name in ("redis", "预算", "đường")]


def pages(scope: Scope) -> str:
    """A batch of three pages: one changed, one new, one deleted."""
    for path in (PAGES[0], PAGES[2]):
        (scope.root / path).parent.mkdir(parents=True, exist_ok=True)
        edit(scope, path, b"# Old\n\n- one\n")
    return write(
        scope,
        Change(PAGES[0], b"# Old\n\n- one\n", b"# New\n\n- one\n- two\n"),
        Change(PAGES[1], None, b"# Made\n\n- two\n"),
        Change(PAGES[2], b"# Old\n\n- one\n", None),
    )


def test_a_batch_of_three_files_is_undone_wholly(scope: Scope) -> None:
    undo(pages(scope))
    assert [read(scope, path) for path in PAGES] == [b"# Old\n\n- one\n", None, b"# Old\n\n- one\n"]


@pytest.mark.parametrize(
    ("path", "text"),
    [(PAGES[0], b"# New\n\n- one\n- two, changed\n"), (PAGES[2], b"made anew\n")],
)
def test_a_batch_of_which_one_file_cannot_be_undone_is_not_undone_at_all(scope: Scope, path: str, text: bytes) -> None:
    batch = pages(scope)
    edit(scope, path, text)
    before = [read(scope, one) for one in PAGES]
    error = refused(batch)
    assert [one["path"] for one in error.details["conflicts"]] == [path]
    assert [read(scope, one) for one in PAGES] == before
    edit(scope, path, {PAGES[0]: b"# New\n\n- one\n- two\n"}.get(path, b""))
    if path == PAGES[2]:
        (scope.root / path).unlink()
    undo(batch)
    assert [read(scope, one) for one in PAGES] == [b"# Old\n\n- one\n", None, b"# Old\n\n- one\n"]


def test_the_second_undo_is_refused_and_names_the_reason(scope: Scope) -> None:
    edit(scope, NOTE, b"- zero\n")
    batch = append(scope, "- added")
    undo(batch)
    append(scope, "- added")
    assert refused(batch).code == "already_undone"
    assert read(scope, NOTE) == b"- zero\n- added\n"


def test_an_undo_is_a_batch_and_can_be_undone_itself_and_so_on(scope: Scope) -> None:
    edit(scope, "MEMORY.md", b"- old\n")
    batch = put(scope, "MEMORY.md", b"- new\n")
    first = undo(batch)
    row = queries.batch(first)
    assert (row.undoes, row.actor, row.state) == (batch, "operator", "done")
    assert queries.undone_by(batch) == first
    second = undo(first)
    assert read(scope, "MEMORY.md") == b"- new\n"
    assert queries.undone_by(batch) == ""
    # The write stands again, so it can be undone again.
    third = undo(batch)
    assert read(scope, "MEMORY.md") == b"- old\n"
    assert queries.undone_by(batch) == third
    assert queries.undone_by(second) == ""
    assert refused(batch).code == "already_undone"


def test_undoing_an_undone_append_puts_the_line_back_and_keeps_what_came_later(scope: Scope) -> None:
    edit(scope, NOTE, b"- zero\n")
    taken_out = undo(append(scope, "- added"))
    append(scope, "- later")
    undo(taken_out)
    lines = (read(scope, NOTE) or b"").splitlines()
    assert sorted(lines) == [b"- added", b"- later", b"- zero"]


def test_what_is_gone_from_the_file_already_leaves_nothing_to_undo(scope: Scope) -> None:
    edit(scope, NOTE, b"- zero\n")
    batch = append(scope, "- added")
    edit(scope, NOTE, b"- zero\n")
    assert refused(batch).code == "nothing_to_undo"


def test_only_a_finished_write_is_undone(scope: Scope) -> None:
    batch = put(scope, "MEMORY.md", b"x\n")
    for state in (Batch.State.FAILED, Batch.State.STUCK):
        Batch.objects.filter(public_id=batch).update(state=state)
        assert refused(batch).code == "not_undoable"
    assert read(scope, "MEMORY.md") == b"x\n"


def test_undoing_needs_a_present_person_with_the_right_of_the_write(scope: Scope) -> None:
    plain, approved = put(scope, "MEMORY.md", b"x\n"), ""
    approved = write(scope, Change(NOTE, None, b"y\n"), proposal="0123456789ab")

    def actor(*rights: str, **facts: Any) -> Actor:
        return Actor("token", "t", frozenset(rights), **{"present": True, **facts})

    with pytest.raises(Forbidden):
        agents.undo(plain, actor=actor("read", "decide"))
    with pytest.raises(Forbidden):
        agents.undo(approved, actor=actor("read", "write"))
    with pytest.raises(Forbidden) as caught:
        agents.undo(plain, actor=actor("write", present=False))
    assert caught.value.code == "not_present"
    with pytest.raises(NotFound):
        agents.undo(plain, actor=actor("write", scopes=frozenset({"default"})))
    with pytest.raises(NotFound):
        agents.undo("ffffffffffff", actor=ME)
    agents.undo(plain, actor=actor("write"))
    agents.undo(approved, actor=actor("decide"))
    assert (read(scope, "MEMORY.md"), read(scope, NOTE)) == (None, None)


def test_the_line_after_a_byte_order_mark_begins_a_line(scope):
    note = scope.root / "memory" / "2026-09-19.md"
    note.write_bytes(formats.BOM)
    first = agents_append(scope, "one")
    second = agents_append(scope, "two")
    agents.undo(first, actor=ME)
    agents.undo(second, actor=ME)
    assert not note.exists() or not note.read_bytes().removeprefix(formats.BOM).strip()


def agents_append(scope, text):
    path = "memory/2026-09-19.md"
    with services.writing(scope) as desk:
        before = desk.read(path)
        batch = desk.write([appended(path, before, formats.append_line(before, f"- {text}"))], actor=ME)
    return batch.public_id


def test_two_equal_lines_are_both_taken_back(scope):
    (scope.root / "memory" / "2026-09-19.md").write_text("# day\n")
    first, second = agents_append(scope, "same"), agents_append(scope, "same")
    agents.undo(first, actor=ME)
    agents.undo(second, actor=ME)
    assert (scope.root / "memory" / "2026-09-19.md").read_text() == "# day\n"


def test_a_text_too_large_to_merge_is_refused_and_stays(scope):
    big = "".join(f"- line {number} of a long memory\n" for number in range(20_000))
    with services.writing(scope) as desk:
        desk.write([Change("MEMORY.md", None, big.encode())], actor=ME)
        batch = desk.write(
            [Change("MEMORY.md", big.encode(), big.replace("line 7 ", "line seven ").encode())], actor=ME
        )
    (scope.root / "MEMORY.md").write_text(big + "- later\n")
    with pytest.raises(Conflict, match="changed since") as caught:
        agents.undo(batch.public_id, actor=ME)
    assert "too large" in str(caught.value.details)


def test_an_undo_works_in_the_folder_the_agent_has_now(scope, tmp_path, settings):
    from apps.agents import registry

    (tmp_path / "work" / "one").mkdir(parents=True)
    settings.MEMORYHUB_WORKSPACE_ROOTS = [(tmp_path / "work").resolve()]
    with services.writing(scope) as desk:
        batch = desk.write([Change("MEMORY.md", None, b"here\n")], actor=ME)
    registry.move("coach", str((tmp_path / "work" / "one").resolve()))
    with pytest.raises(Conflict):
        agents.undo(batch.public_id, actor=ME)
    assert (scope.root / "MEMORY.md").read_text() == "here\n"
    (tmp_path / "work" / "one" / "MEMORY.md").write_text("here\n")
    agents.undo(batch.public_id, actor=ME)
    assert not (tmp_path / "work" / "one" / "MEMORY.md").exists()
    assert (scope.root / "MEMORY.md").read_text() == "here\n"
