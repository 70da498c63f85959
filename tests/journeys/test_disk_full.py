"""The disk refuses: the caller is told, the files are the old ones, and the proposal waits."""

import errno
import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from apps import access
from apps.agents import services as agents
from apps.errors import MemoryHubError, StorageFailed
from apps.proposals import kinds
from apps.proposals import services as proposals
from tests.journeys import scenes
from tests.journeys.child import refuse_renames
from tests.journeys.processes import Children

pytestmark = pytest.mark.django_db(transaction=True)

LARGE = b"- a line of memory\n" * 20_000


def approve(scene: scenes.Scene) -> None:
    proposals.approve(scene.proposal_id, seen=None, actor=access.operator())


@pytest.fixture
def four_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let an approval change four files, as later kinds of proposal will."""
    monkeypatch.setattr(kinds, "plan", scenes.four_changes)


def test_a_limit_on_file_size_met_while_staging_writes_nothing(children: Children) -> None:
    scene = scenes.scene("coach", new_memory=LARGE)
    outcome = children.run("approve", proposal=scene.proposal_id, options={"file_limit": 100_000})
    assert outcome.error == ("StorageFailed", "disk_full")
    scene.assert_nothing_was_written()
    approve(scene)
    scene.assert_all_was_written({**scenes.ONE_AFTER, scenes.MEMORY: LARGE})


def test_a_limit_met_by_the_third_of_four_files_leaves_none_of_them(
    four_files: None, monkeypatch: pytest.MonkeyPatch, home: Path
) -> None:
    scene = scenes.scene("coach")
    with refusing(monkeypatch, "fsync", lambda number: number == 4), pytest.raises(StorageFailed) as caught:
        approve(scene)
    assert caught.value.code == "disk_full"
    scene.assert_nothing_was_written()


@contextmanager
def refusing(monkeypatch: pytest.MonkeyPatch, call: str, refuses: Callable[[int], bool]) -> Iterator[list[int]]:
    """Let a system call say “disk full” whenever `refuses` says so of its number, counted from 0."""
    original = getattr(os, call)
    numbers: list[int] = []

    def guarded(*args: Any, **options: Any) -> Any:
        numbers.append(len(numbers))
        if refuses(numbers[-1]):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return original(*args, **options)

    with monkeypatch.context() as patched:
        patched.setattr(os, call, guarded)
        yield numbers


@pytest.mark.parametrize("call", ["rename", "fsync"])
def test_a_disk_that_refuses_once_at_any_moment_leaves_the_old_files(
    four_files: None, home: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    with refusing(monkeypatch, call, lambda number: False) as numbers:
        approve(scenes.scene("whole"))
    assert len(numbers) == {"rename": 3, "fsync": 9}[call]
    for failing in numbers:
        scene = scenes.scene(f"fails-{failing}")
        with refusing(monkeypatch, call, failing.__eq__), pytest.raises(StorageFailed) as caught:
            approve(scene)
        assert caught.value.code == "disk_full"
        # The first five syncs belong to the staging, before there is a batch.
        staged = call == "rename" or failing >= 5
        scene.assert_nothing_was_written(batches=("failed",) if staged else ())
        approve(scene)
        assert (scene.disk, scene.proposal.state) == (scenes.FOUR_AFTER, "approved")


@pytest.mark.parametrize("call", ["rename", "fsync"])
def test_when_putting_back_fails_too_the_next_writer_rolls_forward(
    four_files: None, home: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    # From the second replaced file on, nothing works any more.
    first = {"rename": 1, "fsync": 6}[call]
    scene = scenes.scene("coach")
    with refusing(monkeypatch, call, lambda number: number >= first):
        with pytest.raises(StorageFailed) as caught:
            approve(scene)
        assert caught.value.code == "disk_full"
        assert [batch.state for batch in scene.batches] == ["writing"]
        assert scene.proposal.state == "approved"
        # The disk is still full: the next writer waits and says why, and nothing changes.
        with pytest.raises(MemoryHubError) as caught_later:
            agents.append_note("coach", "later", actor=access.operator())
        assert (type(caught_later.value).__name__, caught_later.value.code) == ("Busy", "recovery_failed")
        assert caught_later.value.details["path"] in {*scenes.FOUR_AFTER, scenes.DRAFT}
        scene.assert_every_file_is_whole(scenes.FOUR_AFTER)
    scene.next_writer()
    scene.assert_all_was_written(scenes.FOUR_AFTER)


def test_a_save_refused_by_the_disk_can_be_sent_again_with_its_key(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scene = scenes.scene("coach")
    save: Callable[[], agents.Saved] = lambda: agents.append_note(  # noqa: E731
        "coach", "once", actor=access.operator(), key="same"
    )
    monkeypatch.setattr(os, "rename", refuse_renames([0], os.rename))
    with pytest.raises(StorageFailed):
        save()
    saved = save()
    assert (saved.repeated, save().repeated) == (False, True)
    assert scene.disk[saved.path].count(b"once") == 1


@contextmanager
def small_disk(folder: Path) -> Iterator[Path]:
    """A real file system of 1 MiB."""
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1M", "tmpfs", folder], check=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", folder], check=True)


def _can_mount() -> bool:
    probe = ["unshare", "--mount", "sh", "-c", "mount -t tmpfs -o size=1M tmpfs /mnt"]
    try:
        return os.geteuid() == 0 and subprocess.run(probe, capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        return False


if _can_mount():  # The limit on file size above proves the same where a file system cannot be mounted.

    def test_a_file_system_that_is_really_full_refuses_and_recovers(home: Path, tmp_path: Path, settings: Any) -> None:
        with small_disk(tmp_path.resolve() / "small") as disk:
            settings.MEMORYHUB_WORKSPACE_ROOTS = [disk]
            (disk / "coach").mkdir()
            scene = scenes.scene("coach", directory=str(disk / "coach"), new_memory=LARGE)
            filler = disk / "filler"
            filler.write_bytes(b"x" * (1024 * 1024 - 300_000))
            with pytest.raises(StorageFailed) as caught:
                approve(scene)
            assert caught.value.code == "disk_full"
            scene.assert_nothing_was_written()
            # A line still fits; the old memory was never touched.
            agents.append_note("coach", "still here", actor=access.operator())
            filler.unlink()
            approve(scene)
            assert scene.disk[scenes.MEMORY] == LARGE
            agents.undo(scene.proposal.batch, actor=access.operator())
            assert scene.disk[scenes.MEMORY] == scenes.OLD_MEMORY
