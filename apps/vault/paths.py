"""A safe path inside a root: no "..", no link on the way, every Unicode form alike, no case twin.

The text of a path is judged by `clean`; the folders on the way are then opened
one by one without following links, so a link swapped in between leads nowhere.
"""

import errno
import os
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from apps.errors import Conflict, Invalid, NotFound, StorageFailed

# Most file systems hold 255 bytes a name; the temporary name beside it is shorter.
NAME_BYTES = 255
DEPTH = 16


def clean(path: str, *, field: str = "path") -> str:
    """The path in NFC with forward slashes, or Invalid `bad_name` saying what is wrong.

    Refused: empty, absolute, `.` or `..` or hidden parts, backslashes, control
    characters, lone surrogates, parts over 255 bytes, more than 16 parts.
    """
    reason = fault(path)
    if reason:
        raise Invalid(f"This path cannot be used: {reason}.", code="bad_name", field=field)
    return unicodedata.normalize("NFC", path)


def fault(path: str) -> str:
    """Why a path cannot be used, in half a sentence; empty when it can."""
    if not path:
        return "it is empty"
    if any(0xD800 <= ord(letter) <= 0xDFFF for letter in path):
        return "it holds half a surrogate pair, or bytes that are not UTF-8"
    if any(unicodedata.category(letter) == "Cc" for letter in path):
        return "it holds a control character"
    if "\\" in path:
        return "it holds a backslash"
    if path.startswith("/"):
        return "it is absolute"
    parts = path.split("/")
    if len(parts) > DEPTH:
        return f"it has more than {DEPTH} parts"
    for part in parts:
        if not part:
            return "a part of it is empty"
        if part.startswith("."):
            return "a part of it is hidden or leads upwards"
        if len(unicodedata.normalize("NFC", part).encode()) > NAME_BYTES:
            return f"a part of it is longer than {NAME_BYTES} bytes"
    return ""


@contextmanager
def parent(root: Path, path: str, *, create: bool = False) -> Iterator[tuple[int, str]]:
    """Open the folder that holds `path`; yield its descriptor and the file's name as it is on disk.

    Without `create` a missing folder is NotFound. With it, missing folders are
    made and made durable, except the root itself: StorageFailed `root_missing`.
    """
    parts = clean(path).split("/")
    descriptor = open_root(root)
    try:
        for part in parts[:-1]:
            descriptor = _step(descriptor, part, path, create=create)
        yield descriptor, on_disk(descriptor, parts[-1])
    finally:
        os.close(descriptor)


def open_root(root: Path) -> int:
    """A descriptor of the root folder itself, which must be there and be no link."""
    try:
        return os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as error:
        raise StorageFailed(
            f"The folder {root} cannot be opened ({error.strerror}).",
            code="not_permitted" if error.errno == errno.EACCES else "root_missing",
            path=str(root),
        ) from error


def _step(descriptor: int, part: str, path: str, *, create: bool) -> int:
    """Go one folder down, closing the one above; a link on the way is NotFound `link_refused`."""
    name = on_disk(descriptor, part)
    try:
        while True:
            try:
                below = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=descriptor)
            except FileNotFoundError:
                if not create:
                    raise NotFound(f"There is no file {path}.", path=path) from None
                _make_folder(descriptor, name)
            else:
                break
    except OSError as error:
        if error.errno in {errno.ELOOP, errno.ENOTDIR}:
            raise refused(path) from error
        raise
    os.close(descriptor)
    return below


def _make_folder(descriptor: int, name: str) -> None:
    refuse_twin(descriptor, name)
    try:
        os.mkdir(name, dir_fd=descriptor)
    except FileExistsError:
        return
    os.fsync(descriptor)


def refused(path: str) -> NotFound:
    return NotFound(
        f"{path} is, or leads through, a link or something that is no plain file; that is never followed.",
        code="link_refused",
        path=path,
    )


def on_disk(descriptor: int, name: str) -> str:
    """The name under which a file lies in the folder: composed, else decomposed, else in any mixed form.

    A Mac hands over decomposed names and some keyboards half composed ones; all mean one file.
    The name itself when there is none.
    """
    if name.isascii():
        return name
    for form in (name, unicodedata.normalize("NFD", name)):
        try:
            os.stat(form, dir_fd=descriptor, follow_symlinks=False)
        except FileNotFoundError:
            continue
        return form
    alike = (other for other in os.listdir(descriptor) if unicodedata.normalize("NFC", other) == name)
    return min(alike, default=name)


def refuse_twin(descriptor: int, name: str) -> None:
    """Raise Conflict `case_twin` when a new name differs from an existing one only in letter case.

    The folder may be copied to a disk that cannot tell the two apart.
    """
    wanted = unicodedata.normalize("NFC", name).casefold()
    for other in os.listdir(descriptor):
        if other != name and unicodedata.normalize("NFC", other).casefold() == wanted:
            raise Conflict(f"“{other}” is there already and differs only in letter case.", code="case_twin", name=other)
