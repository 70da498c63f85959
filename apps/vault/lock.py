"""The writer lock of one scope: `flock` on a file of its own, freed by the kernel when its holder dies."""

import fcntl
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from apps.errors import Busy, StorageFailed
from apps.vault import files

_OPEN = b"open"
_held = threading.local()


@contextmanager
def held(path: Path, *, seconds: float) -> Iterator[bool]:
    """Hold the lock; yields True when the last holder died inside.

    Waits up to `seconds` in the kernel's own queue (polling starves a waiter
    under load), then raises Busy. Not reentrant: a second call on the same
    thread raises RuntimeError at once instead of waiting for itself.
    """
    mine: set[Path] = _held.__dict__.setdefault("paths", set())
    if path in mine:
        raise RuntimeError(f"{path.stem} is locked by this very thread; the lock is not reentrant.")
    with files.translated(str(path)):
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        if not _acquire(descriptor, seconds):
            raise Busy(f"Another writer holds {path.stem}; it was not free in {seconds:g} s.", seconds=seconds)
        unclean = os.pread(descriptor, len(_OPEN), 0) == _OPEN
        with files.translated(str(path)):
            os.pwrite(descriptor, _OPEN, 0)
        mine.add(path)
        try:
            yield unclean
        finally:
            mine.discard(path)
            os.ftruncate(descriptor, 0)
    finally:
        os.close(descriptor)


def free(path: Path) -> bool:
    """Whether nobody holds the lock at this moment. StorageFailed when its file cannot be opened."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return True
    except OSError as error:
        raise StorageFailed(
            f"{path} cannot be opened: {error.strerror}.", code="not_permitted", path=str(path)
        ) from error
    try:
        return _try(descriptor)
    finally:
        os.close(descriptor)


def _try(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _acquire(descriptor: int, seconds: float) -> bool:
    """Take the lock, waiting in the kernel on a helper thread, since flock itself has no time-out."""
    if _try(descriptor):
        return True
    if seconds <= 0:  # a helper thread would wait on, for as long as the lock is held
        return False
    # The thread works on its own duplicate: an abandoned wait ends by closing it, which also frees
    # a lock that arrives too late. A lock belongs to the open file, so the duplicate locks ours.
    duplicate = os.dup(descriptor)
    arrived, guard = threading.Event(), threading.Lock()
    abandoned = False

    def wait() -> None:
        try:
            fcntl.flock(duplicate, fcntl.LOCK_EX)
            with guard:
                if abandoned:
                    fcntl.flock(duplicate, fcntl.LOCK_UN)
                else:
                    arrived.set()
        finally:
            os.close(duplicate)

    threading.Thread(target=wait, name="lock-wait", daemon=True).start()
    if arrived.wait(seconds):
        return True
    with guard:
        if arrived.is_set():
            return True
        abandoned = True
    return False
