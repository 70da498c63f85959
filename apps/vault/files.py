"""Read, list, replace and delete files of a scope. A file is always whole: old or new.

A replacement is a temporary file of its own name in the same folder, synced,
then renamed, then the folder synced. Mode and owner of the old file are kept;
links and special files are refused.
"""

import errno
import hashlib
import os
import secrets
import stat
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from apps.errors import Invalid, NotFound, StorageFailed
from apps.vault import layout, paths

_CODES = {
    errno.ENOSPC: "disk_full",
    errno.EDQUOT: "disk_full",
    errno.EFBIG: "disk_full",
    errno.EACCES: "not_permitted",
    errno.EPERM: "not_permitted",
    errno.EROFS: "not_permitted",
}


@dataclass(frozen=True)
class Staged:
    """A synced temporary file beside its target; `temporary` is empty for a deletion."""

    path: str
    temporary: str


@dataclass(frozen=True)
class Found:
    """One Markdown file of a listing. `problem` says why it is not read (a link, no plain file, a twin)."""

    path: str
    size: int
    modified: float
    problem: str = ""


def sha256(data: bytes | None) -> str | None:
    """Hex digest of the bytes; None stands for "no file" and stays None."""
    return None if data is None else hashlib.sha256(data).hexdigest()


@contextmanager
def translated(path: str) -> Iterator[None]:
    """Turn what the operating system says into StorageFailed with a code."""
    try:
        yield
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            raise Invalid(f"The name of {path} is too long for this disk.", code="bad_name", field="path") from error
        raise StorageFailed(
            f"The disk refused {path}: {error.strerror or error}.",
            code=_CODES.get(error.errno or 0, "io_error"),
            path=path,
        ) from error


def read(root: Path, path: str) -> bytes | None:
    """The bytes of a file, or None when there is none.

    NotFound `link_refused` for a link or anything that is no plain file.
    """
    try:
        with translated(path), paths.parent(root, path) as (folder, name):
            return _read(folder, name, path)
    except NotFound as error:
        if error.code == "not_found":
            return None
        raise


def _read(folder: int, name: str, path: str) -> bytes | None:
    try:
        # O_NONBLOCK: opening a named pipe must not wait for a writer that never comes.
        descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    except FileNotFoundError:
        return None
    except OSError as error:
        if error.errno in {errno.ELOOP, errno.ENXIO}:
            raise paths.refused(path) from error
        raise
    # Looked at before it becomes a file object, which would refuse a folder with an error of its own.
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise paths.refused(path)
    with os.fdopen(descriptor, "rb") as file:
        return file.read()


def stage(root: Path, path: str, data: bytes | None) -> Staged:
    """Write the coming content beside its target and make it durable; the target is not touched.

    None stages a deletion, for which nothing is written. Missing folders are
    made. Raises StorageFailed, and leaves no temporary file when it does.
    """
    if data is None:
        return Staged(path, "")
    temporary = layout.TEMPORARY + secrets.token_hex(8)
    with translated(path), paths.parent(root, path, create=True) as (folder, name):
        old = _status(folder, name, path)
        if old is None:
            paths.refuse_twin(folder, name)
        descriptor = os.open(
            temporary,
            os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC,
            0o666,
            dir_fd=folder,
        )
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
                file.flush()
                if old is not None:
                    _keep_owner(descriptor, old)
                os.fsync(descriptor)
        except BaseException:
            _unlink(folder, temporary)
            raise
    return Staged(path, temporary)


def _status(folder: int, name: str, path: str) -> os.stat_result | None:
    try:
        status = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(status.st_mode):
        raise paths.refused(path)
    return status


def _keep_owner(descriptor: int, old: os.stat_result) -> None:
    mine = os.fstat(descriptor)
    if (mine.st_uid, mine.st_gid) != (old.st_uid, old.st_gid):
        # Only root may give a file away; for anybody else the file was writable by group and stays so.
        with suppress(PermissionError):
            os.fchown(descriptor, old.st_uid, old.st_gid)
    os.fchmod(descriptor, stat.S_IMODE(old.st_mode))


def publish(root: Path, staged: Staged) -> None:
    """Put a staged file in its place, or delete the target; then sync the folder.

    Deleting a file that is gone already is fine.
    """
    with translated(staged.path), paths.parent(root, staged.path) as (folder, name):
        _status(folder, name, staged.path)
        if staged.temporary:
            os.rename(staged.temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
        else:
            _unlink(folder, name)
        os.fsync(folder)


def discard(root: Path, staged: Staged) -> None:
    """Remove a staged file that will not be published; quiet when it is gone."""
    if not staged.temporary:
        return
    with suppress(NotFound, StorageFailed, OSError), paths.parent(root, staged.path) as (folder, _):
        _unlink(folder, staged.temporary)


def _unlink(folder: int, name: str) -> None:
    with suppress(FileNotFoundError):
        os.unlink(name, dir_fd=folder)


def replace(root: Path, path: str, data: bytes | None) -> None:
    """Stage and publish in one go; None deletes."""
    staged = stage(root, path, data)
    try:
        publish(root, staged)
    except BaseException:
        discard(root, staged)
        raise


def listing(root: Path, folder: str = "", *, deep: bool = False) -> list[Found]:
    """The Markdown files of a folder, by path; with `deep` those of its sub-folders too.

    Hidden names are left out. A link or special file is listed with its problem
    and not followed. A missing folder is an empty list.
    """
    found: list[Found] = []
    with translated(folder or str(root)):
        for base, names in _walk(root, folder, deep=deep):
            with _open_folder(root, base) as descriptor:
                for name in names:
                    if name.endswith(".md") and not name.startswith("."):
                        found += _describe(descriptor, f"{base}/{name}" if base else name, name)
    return sorted(found, key=lambda file: file.path)


def _describe(descriptor: int, path: str, name: str) -> list[Found]:
    try:
        status = os.stat(name, dir_fd=descriptor, follow_symlinks=False)
    except FileNotFoundError:
        return []
    shown = _shown(path)
    reason = paths.fault(path)
    if reason:
        return [Found(shown, status.st_size, status.st_mtime, f"Its name cannot be used: {reason}.")]
    if stat.S_ISLNK(status.st_mode):
        return [Found(shown, 0, status.st_mtime, "It is a link; links are not followed.")]
    if not stat.S_ISREG(status.st_mode):
        return [Found(shown, 0, status.st_mtime, "It is no plain file.")]
    if paths.on_disk(descriptor, unicodedata.normalize("NFC", name)) != name:
        twin = "The same name is there in another Unicode form; that file is read, not this one."
        return [Found(shown, status.st_size, status.st_mtime, twin)]
    return [Found(shown, status.st_size, status.st_mtime)]


def _shown(path: str) -> str:
    """A path as text, in NFC; bytes of a name that are no UTF-8 become question marks."""
    return unicodedata.normalize("NFC", path.encode(errors="replace").decode())


def strays(root: Path, folder: str, *, deep: bool) -> list[tuple[str, str]]:
    """What stands where folders of memory should, with the reason it is not looked into: (path, reason).

    Linked folders and folders whose name is no UTF-8 below `folder`, and a plain
    file or link in its own place. Only asked of folders that are listed with their sub-folders.
    """
    if not deep:
        return []
    found = []
    with translated(folder), _open_folder(root, "") as descriptor:
        found += _stray(descriptor, folder, folder, top=True)
        for base, names in _walk(root, folder, deep=True):
            with _open_folder(root, base) as inner:
                for name in names:
                    if not name.startswith("."):
                        found += _stray(inner, f"{base}/{name}", name)
    return sorted(found)


def _stray(descriptor: int, path: str, name: str, *, top: bool = False) -> list[tuple[str, str]]:
    try:
        status = os.stat(name, dir_fd=descriptor, follow_symlinks=False)
    except FileNotFoundError:
        return []
    if stat.S_ISLNK(status.st_mode) and (top or not name.endswith(".md")):
        return [(_shown(path), "It is a link; links are not followed.")]
    if top and not stat.S_ISDIR(status.st_mode):
        return [(_shown(path), "It should be a folder.")]
    if stat.S_ISDIR(status.st_mode) and paths.fault(path):
        return [(_shown(path), f"Its name cannot be used: {paths.fault(path)}; what is in it is not read.")]
    return []


@contextmanager
def _open_folder(root: Path, folder: str) -> Iterator[int]:
    descriptor = paths.open_root(root)
    try:
        for part in filter(None, folder.split("/")):
            below = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=descriptor)
            os.close(descriptor)
            descriptor = below
        yield descriptor
    finally:
        os.close(descriptor)


def _walk(root: Path, folder: str, *, deep: bool) -> Iterator[tuple[str, list[str]]]:
    waiting = [folder]
    while waiting:
        base = waiting.pop()
        try:
            with _open_folder(root, base) as descriptor:
                names = os.listdir(descriptor)
                inner = [name for name in names if deep and not name.startswith(".") and _is_folder(descriptor, name)]
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            if error.errno == errno.ELOOP:
                continue
            raise
        waiting += [f"{base}/{name}" if base else name for name in inner]
        yield base, names


def _is_folder(descriptor: int, name: str) -> bool:
    try:
        return stat.S_ISDIR(os.stat(name, dir_fd=descriptor, follow_symlinks=False).st_mode)
    except FileNotFoundError:
        return False


def remove_temporaries(root: Path, folders: tuple[tuple[str, bool], ...]) -> int:
    """Delete what dead writers left behind in these folders; returns how many files.

    Only the holder of the scope's lock may call this: a living writer's file looks the same.
    """
    removed = 0
    for folder, deep in folders:
        with translated(folder or str(root)):
            for base, names in _walk(root, folder, deep=deep):
                leftovers = [name for name in names if name.startswith(layout.TEMPORARY)]
                if leftovers:
                    with _open_folder(root, base) as descriptor:
                        for name in leftovers:
                            _unlink(descriptor, name)
                            removed += 1
    return removed
