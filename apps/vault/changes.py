"""What a write changes: path, bytes before, bytes after; and how a file stands against it."""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from apps.errors import NotFound, Stale
from apps.vault import files


@dataclass(frozen=True)
class Change:
    """One file of a batch. None means "no file": before a creation, after a deletion.

    `append` says that `after` is `before` plus something at its end, so that the
    ledger keeps the added bytes only.
    """

    path: str
    before: bytes | None
    after: bytes | None
    append: bool = False

    @property
    def sha_before(self) -> str | None:
        return files.sha256(self.before)

    @property
    def sha_after(self) -> str | None:
        return files.sha256(self.after)

    @property
    def added(self) -> bytes:
        """The appended bytes of an append."""
        return (self.after or b"")[len(self.before or b"") :]


@dataclass(frozen=True)
class Precondition:
    """What the caller believes about the file: its sha256 is one of `match`, or (`absent`) there is none."""

    match: frozenset[str] | None = None
    absent: bool = False

    def check(self, path: str, now: bytes | None) -> None:
        """Raise Stale, with the file's present sha256, when the belief does not hold."""
        sha = files.sha256(now)
        if self.absent and now is not None:
            raise Stale(f"{path} is there already.", code="already_there", path=path, sha256=sha)
        if self.match is not None and (sha is None or not self.match & {sha, "*"}):
            raise Stale(f"{path} is not the text you saw.", code="changed_since_seen", path=path, sha256=sha)


def appended(path: str, before: bytes | None, after: bytes) -> Change:
    """An append when there is something to append to; a new file keeps its whole text."""
    return Change(path, before, after, append=before is not None)


def digest(changes: Iterable[Change]) -> str:
    """One sha256 over paths and contents before and after: what a reviewer approves."""
    rows = sorted((change.path, change.sha_before, change.sha_after) for change in changes)
    return hashlib.sha256(json.dumps(rows).encode()).hexdigest()


Standing = Literal["before", "after", "other"]


def standing(root: Path, path: str, sha_before: str | None, sha_after: str | None) -> Standing:
    """Whether the file on disk equals what the change started from, what it leads to, or neither.

    A link or special file somebody put there is neither.
    """
    try:
        now = files.sha256(files.read(root, path))
    except NotFound:
        return "other"
    if now == sha_after:
        return "after"
    return "before" if now == sha_before else "other"
