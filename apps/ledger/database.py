"""What a database that refuses means: busy, full, or out of reach, as errors of ours."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from django.db import OperationalError

from apps.errors import Busy, MemoryHubError, StorageFailed

T = TypeVar("T")

# Seconds for which something that must not be forgotten is tried again, and between two tries.
_PATIENCE, _PAUSE = 120.0, 1.0

# What SQLite and PostgreSQL say, lower-cased. A refused or broken connection passes, like a lock.
_BUSY = ("locked", "too many clients", "connection", "deadlock", "timeout", "server closed")
_FULL = ("database or disk is full", "no space left")


def told(error: OperationalError) -> MemoryHubError:
    """Busy `database_busy` for what passes by itself, StorageFailed `disk_full` or `database` for what does not."""
    text = str(error).lower()
    if any(words in text for words in _FULL):
        return StorageFailed("The disk of the database is full; nothing was written.", code="disk_full")
    if any(words in text for words in _BUSY):
        return Busy("The database is busy; try again.", code="database_busy")
    return StorageFailed(
        f"The database does not answer as it should ({error}). If it is new, run `manage.py migrate`.", code="database"
    )


@contextmanager
def translated() -> Iterator[None]:
    """Turn what the database refuses inside into an error of ours."""
    try:
        yield
    except OperationalError as error:
        raise told(error) from error


def patiently(store: Callable[[], T]) -> T:
    """Do what stores something dear, again and again while the database is busy or its disk is full.

    Gives up with the database's own error after two minutes. Call it outside a transaction.
    """
    deadline = time.monotonic() + _PATIENCE
    while True:
        try:
            return store()
        except OperationalError:
            if time.monotonic() > deadline:
                raise
            time.sleep(_PAUSE)
