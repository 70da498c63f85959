import signal
import threading
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.db import connections
from django_q.cluster import Cluster

from apps.console import Console
from apps.jobs import bell, orphans
from apps.ledger import locks


class Command(Console):
    help = "Work off the queue: nights, runs that were asked for, interrupted writes. Ends with Ctrl-C or SIGTERM."

    def define(self, parser: ArgumentParser) -> None:
        parser.add_argument("--with-parent", action="store_true", help="end when the process that started it ends")

    def run(self, options: dict[str, Any]) -> None:
        locks.lock_path("worker")  # a home that is not there is told before anything is started
        bell.ensure_schedule()
        bell.ring_tick()
        orphans.leave_no_orphans()
        if options["with_parent"]:
            orphans.die_with_parent(signal.SIGTERM)
        # The cluster forks; a connection must not be shared by two processes.
        connections.close_all()
        self.show(
            {"home": str(settings.MEMORYHUB_HOME), "workers": settings.MEMORYHUB_WORKERS},
            f"Working for {settings.MEMORYHUB_HOME}, on at most {settings.MEMORYHUB_WORKERS} runs side by side.",
        )
        self.stdout.flush()
        _work()


def _work() -> None:
    """Run django-q2's cluster until it ends or a signal ends it.

    Its own command waits for ever when the whole group is told to end: the guard
    dies with the lock in hand that the parent's signal handler wants. So a signal
    is only noted here, and the cluster is stopped by a thread that nobody waits for.
    """
    cluster, ending = Cluster(), threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: ending.set())
    cluster.start()
    guard, stopper = cluster.sentinel, threading.Thread(target=cluster.stop, daemon=True)
    while guard.is_alive():
        if ending.is_set() and stopper.ident is None:
            stopper.start()
        guard.join(0.2)
