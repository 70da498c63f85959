"""The two locks around a scope's writing: the kernel's on this host, PostgreSQL's between hosts."""

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from django.conf import settings
from django.db import DatabaseError, connection

from apps.errors import Busy, StorageFailed
from apps.vault import layout, lock

# First half of the advisory lock's key, so that we never meet another program's locks in one database.
_SPACE = 0x6D68  # "mh"


def lock_path(name: str) -> Path:
    """The lock file of this name. StorageFailed `root_missing` when the home is not there.

    The home is never made here: where its disk is not mounted yet, a new one in
    its place would be written to.
    """
    home = Path(settings.MEMORYHUB_HOME)
    if not home.is_dir():
        raise StorageFailed(f"The home {home} is not there.", code="root_missing", path=str(home))
    return home / layout.STATE / "locks" / f"{name}.lock"


def run_lock_path(agent_id: str) -> Path:
    """The lock of an agent's running run; an id holds no dot, so no scope's lock has this name."""
    return lock_path(f"run.{agent_id}")


def crew_lock_path() -> Path:
    """The lock under which agents get their folders, so that no two get the same."""
    return lock_path("crew.folders")


@contextmanager
def scope_locked(scope_id: str) -> Iterator[bool]:
    """Hold both locks of the scope; yields True when the last holder died inside. Busy when not free in time."""
    deadline = time.monotonic() + settings.MEMORYHUB_LOCK_SECONDS
    with lock.held(lock_path(scope_id), seconds=settings.MEMORYHUB_LOCK_SECONDS) as unclean:
        if connection.vendor != "postgresql":
            yield unclean
            return
        with _advisory(scope_id, deadline):
            yield unclean


@contextmanager
def _advisory(scope_id: str, deadline: float) -> Iterator[None]:
    """A session lock on a connection of its own: closing the connection frees it, whatever happened."""
    session = connection.copy()
    try:
        milliseconds = max(1, int((deadline - time.monotonic()) * 1000))
        try:
            with session.cursor() as cursor:
                cursor.execute("SELECT set_config('lock_timeout', %s, false)", [str(milliseconds)])
                cursor.execute("SELECT pg_advisory_lock(%s, hashtext(%s))", [_SPACE, scope_id])
        except DatabaseError as error:
            raise Busy(f"Another writer holds {scope_id}, or the database takes no more.", scope=scope_id) from error
        yield
    finally:
        with suppress(DatabaseError):
            session.close()
