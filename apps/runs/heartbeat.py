"""Says every few seconds that a run lives, for databases that several hosts share."""

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import DatabaseError, connection
from django.utils import timezone

from apps.runs.models import Run

logger = logging.getLogger(__name__)

# Seconds between two beats; several may be missed before `queries.DEAD_AFTER`.
EVERY = 15.0


@contextmanager
def beating(pk: int) -> Iterator[None]:
    """Refresh the run's `seen_at` from a thread of its own. On SQLite the lock file says all, so nothing is written."""
    if connection.vendor != "postgresql":
        yield
        return
    stop = threading.Event()
    thread = threading.Thread(target=_beat, args=(pk, stop), name="run-heartbeat", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def _beat(pk: int, stop: threading.Event) -> None:
    try:
        while not stop.wait(EVERY):
            try:
                Run.objects.filter(pk=pk, state=Run.State.RUNNING).update(seen_at=timezone.now())
            except DatabaseError:
                logger.exception("The heartbeat of a run could not be stored; it is tried again.")
                connection.close()
    finally:
        connection.close()
