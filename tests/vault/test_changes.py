"""How a file stands against a change, what a reviewer's digest covers, and what a caller believes."""

import os
from pathlib import Path

import pytest

from apps.errors import Stale
from apps.vault import changes, files
from apps.vault.changes import Change, Precondition

OLD, NEW = files.sha256(b"old"), files.sha256(b"new")


@pytest.mark.parametrize(
    ("content", "before", "after", "standing"),
    [
        (b"old", OLD, NEW, "before"),
        (b"new", OLD, NEW, "after"),
        (b"mine", OLD, NEW, "other"),
        (None, OLD, NEW, "other"),
        (None, None, NEW, "before"),
        (b"new", None, NEW, "after"),
        (b"mine", None, NEW, "other"),
        (b"old", OLD, None, "before"),
        (None, OLD, None, "after"),
        (b"mine", OLD, None, "other"),
        (b"", None, NEW, "other"),
        (b"old", OLD, OLD, "after"),
    ],
)
def test_a_file_stands_before_after_or_elsewhere(
    tmp_path: Path, content: bytes | None, before: str | None, after: str | None, standing: str
) -> None:
    if content is not None:
        (tmp_path / "x.md").write_bytes(content)
    assert changes.standing(tmp_path, "x.md", before, after) == standing


@pytest.mark.parametrize("path", ["x.md", "folder/x.md"])
def test_a_link_that_somebody_put_there_is_neither_old_nor_new(tmp_path: Path, path: str) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "x.md").write_bytes(b"new")
    os.symlink("real/x.md", tmp_path / "x.md")
    os.symlink("real", tmp_path / "folder")
    assert changes.standing(tmp_path, path, OLD, NEW) == "other"


def test_a_missing_folder_stands_for_a_missing_file(tmp_path: Path) -> None:
    assert changes.standing(tmp_path, "a/b/x.md", None, NEW) == "before"


def test_the_digest_covers_paths_and_both_texts_and_no_order() -> None:
    one, two = Change("a.md", b"1", b"2"), Change("b.md", None, b"3")
    same = changes.digest([one, two])
    assert changes.digest([two, one]) == same
    others = [
        [one],
        [one, Change("c.md", None, b"3")],
        [one, Change("b.md", b"", b"3")],
        [one, Change("b.md", None, b"")],
        [one, Change("b.md", None, None)],
        [Change("a.md", b"2", b"1"), two],
        [one, two, two],
    ]
    assert len({same, *map(changes.digest, others)}) == len(others) + 1


def test_an_append_knows_what_it_added_and_a_new_file_is_no_append() -> None:
    appended = changes.appended("x.md", b"one\n", b"one\ntwo\n")
    assert (appended.append, appended.added) == (True, b"two\n")
    assert not changes.appended("x.md", None, b"two\n").append


def _holds(when: Precondition, now: bytes | None) -> bool:
    try:
        when.check("x.md", now)
    except Stale:
        return False
    return True


def test_a_broken_precondition_says_what_the_file_is_now() -> None:
    with pytest.raises(Stale) as caught:
        Precondition(absent=True).check("x.md", b"old")
    assert caught.value.details == {"path": "x.md", "sha256": OLD}


def test_a_precondition_holds_exactly_when_the_file_is_what_the_caller_believes() -> None:
    assert OLD
    anything, absent = Precondition(), Precondition(absent=True)
    seen, exists = Precondition(match=frozenset({OLD})), Precondition(match=frozenset({"*"}))
    foreign = Precondition(match=frozenset())
    table = {
        (anything, b"old"): True,
        (anything, None): True,
        (absent, None): True,
        (absent, b""): False,
        (seen, b"old"): True,
        (seen, b"new"): False,
        (seen, None): False,
        (exists, b"new"): True,
        (exists, None): False,
        (foreign, b"old"): False,
        (foreign, None): False,
    }
    assert {case: _holds(*case) for case in table} == table
