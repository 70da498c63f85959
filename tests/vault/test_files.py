"""A file is always whole, old or new; a replacement leaves nothing behind and changes nothing else."""

import errno
import os
import stat
import threading
from pathlib import Path
from typing import Any

import pytest

from apps.errors import Invalid, StorageFailed
from apps.vault import files, layout


def names(folder: Path) -> list[str]:
    return sorted(os.listdir(folder))


def failing(error: int, monkeypatch: pytest.MonkeyPatch, call: str) -> None:
    def fail(*args: object, **options: object) -> None:
        raise OSError(error, os.strerror(error))

    monkeypatch.setattr(os, call, fail)


@pytest.mark.parametrize(
    "data", [b"", b"one\n", b"no final newline", b"\xff\x00 no text\r\n", b"\xef\xbb\xbfBOM", b"x" * 5_000_000]
)
def test_bytes_come_back_as_they_were_written(tmp_path: Path, data: bytes) -> None:
    files.replace(tmp_path, "memory/a/x.md", data)
    assert files.read(tmp_path, "memory/a/x.md") == data


def test_a_missing_file_and_a_missing_folder_read_as_none(tmp_path: Path) -> None:
    assert files.read(tmp_path, "x.md") is None
    assert files.read(tmp_path, "memory/a/x.md") is None
    assert names(tmp_path) == []


def test_staging_touches_nothing_but_a_hidden_file_beside_the_target(tmp_path: Path) -> None:
    (tmp_path / "x.md").write_bytes(b"old")
    staged = files.stage(tmp_path, "x.md", b"new")
    assert (tmp_path / "x.md").read_bytes() == b"old"
    assert names(tmp_path) == [staged.temporary, "x.md"]
    assert staged.temporary.startswith(layout.TEMPORARY)
    files.publish(tmp_path, staged)
    assert names(tmp_path) == ["x.md"]
    assert (tmp_path / "x.md").read_bytes() == b"new"


def test_two_writers_of_one_file_have_temporary_files_of_their_own(tmp_path: Path) -> None:
    one, two = files.stage(tmp_path, "x.md", b"one"), files.stage(tmp_path, "x.md", b"two")
    files.publish(tmp_path, two)
    files.publish(tmp_path, one)
    assert (tmp_path / "x.md").read_bytes() == b"one"
    assert names(tmp_path) == ["x.md"]


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664, 0o444])
def test_mode_bits_of_the_old_file_are_kept(tmp_path: Path, mode: int) -> None:
    (tmp_path / "x.md").write_bytes(b"old")
    (tmp_path / "x.md").chmod(mode)
    files.replace(tmp_path, "x.md", b"new")
    assert stat.S_IMODE((tmp_path / "x.md").stat().st_mode) == mode


@pytest.mark.parametrize("umask", [0o022, 0o077, 0o002])
def test_a_new_file_gets_what_the_umask_leaves(tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        files.replace(tmp_path, "x.md", b"new")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "x.md").stat().st_mode) == 0o666 & ~umask


def test_deleting_a_file_that_is_gone_is_fine(tmp_path: Path) -> None:
    (tmp_path / "x.md").write_bytes(b"old")
    files.replace(tmp_path, "x.md", None)
    files.replace(tmp_path, "x.md", None)
    assert names(tmp_path) == []


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (errno.ENOSPC, "disk_full"),
        (errno.EDQUOT, "disk_full"),
        (errno.EFBIG, "disk_full"),
        (errno.EACCES, "not_permitted"),
        (errno.EROFS, "not_permitted"),
        (errno.EIO, "io_error"),
    ],
)
@pytest.mark.parametrize("call", ["fsync", "rename"])
def test_a_disk_that_refuses_is_named_and_leaves_the_old_file_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str, error: int, code: str
) -> None:
    (tmp_path / "x.md").write_bytes(b"old")
    failing(error, monkeypatch, call)
    with pytest.raises(StorageFailed) as caught:
        files.replace(tmp_path, "x.md", b"new")
    assert (caught.value.code, caught.value.details["path"]) == (code, "x.md")
    assert (tmp_path / "x.md").read_bytes() == b"old"
    assert names(tmp_path) == ["x.md"]


def test_a_name_too_long_for_the_disk_is_the_callers_fault(tmp_path: Path) -> None:
    deep = "/".join(["d" * 250] * 16) + "/x.md"
    with pytest.raises(Invalid):
        files.replace(tmp_path, deep, b"x")


def test_the_file_and_its_folder_are_synced_around_the_rename(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    order: list[str] = []
    fsync, rename = os.fsync, os.rename

    def synced(descriptor: int) -> None:
        order.append("sync folder" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "sync file")
        fsync(descriptor)

    def renamed(*args: Any, **options: Any) -> None:
        order.append("rename")
        rename(*args, **options)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(os, "rename", renamed)
    files.replace(tmp_path, "new/x.md", b"new")
    # The first one makes the new folder itself durable.
    assert order == ["sync folder", "sync file", "rename", "sync folder"]


def test_a_reader_meets_the_old_or_the_new_file_and_nothing_in_between(tmp_path: Path) -> None:
    texts = {b"a" * 200_000, b"b" * 300_000}
    stop = threading.Event()
    files.replace(tmp_path, "x.md", min(texts))

    def write() -> None:
        while not stop.is_set():
            for text in texts:
                files.replace(tmp_path, "x.md", text)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        seen = {files.read(tmp_path, "x.md") for _ in range(400)}
    finally:
        stop.set()
        writer.join()
    assert seen == texts


def test_a_listing_holds_markdown_by_path_and_nothing_hidden(tmp_path: Path) -> None:
    for name in ("b.md", "a.md", ".c.md", "d.txt", "sub/e.md", ".hidden/f.md", "sub/.mh-00", "sub/deep/g.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"12345")
    assert [file.path for file in files.listing(tmp_path)] == ["a.md", "b.md"]
    deep = files.listing(tmp_path, deep=True)
    assert [file.path for file in deep] == ["a.md", "b.md", "sub/deep/g.md", "sub/e.md"]
    assert {file.size for file in deep} == {5}
    assert [file.path for file in files.listing(tmp_path, "sub")] == ["sub/e.md"]
    assert files.listing(tmp_path, "nowhere") == []


def test_a_name_that_is_no_text_is_listed_and_breaks_nothing(tmp_path: Path) -> None:
    (tmp_path / "ok.md").write_bytes(b"")
    with open(os.fsencode(tmp_path) + b"/\xff.md", "wb"):
        pass
    assert [file.path for file in files.listing(tmp_path)] == ["?.md", "ok.md"]


def test_only_temporary_files_of_the_named_folders_are_removed(tmp_path: Path) -> None:
    kept = ["x.md", "memory/y.md", ".obsidian/.mh-1", "other/.mh-2", "memory/.mine"]
    gone = [".mh-3", "memory/.mh-4", "memory/wiki/.mh-5"]
    for name in kept + gone:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"")
    assert files.remove_temporaries(tmp_path, (("", False), ("memory", True))) == 3
    left = [str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()]
    assert sorted(left) == sorted(kept)


def test_discarding_is_quiet_when_the_file_or_its_folder_is_gone(tmp_path: Path) -> None:
    staged = files.stage(tmp_path, "a/x.md", b"x")
    files.discard(tmp_path, staged)
    files.discard(tmp_path, staged)
    assert names(tmp_path / "a") == []
    (tmp_path / "a").rmdir()
    files.discard(tmp_path, staged)
    assert names(tmp_path) == []


def test_no_file_has_no_digest_and_an_empty_file_has_one() -> None:
    assert files.sha256(None) is None
    assert files.sha256(b"") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
