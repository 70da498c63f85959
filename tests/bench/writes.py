"""How fast lines are saved through the API, beside what the disk itself can do in the same minute.

`make bench-writes` starts a server on a temporary home (SQLite) and prints a table: saves a
second with one writer and with eight, as a share of the rate at which the same folder takes
fsync'ed writes of 4 KiB, and how many bytes the database grows for a byte of memory.
Numbers of two machines compare only as shares of their own disks.
"""

import argparse
import os
import sqlite3
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

# Disk and writers take turns, so that a disk that is slow for a while is slow for both.
ROUNDS = 4
DISK_SECONDS = 0.7
WRITING_SECONDS = 2.2
# A line as agents save them: a sentence of a good hundred bytes.
LINE = "Khách hàng đồng ý dời buổi họp sang thứ năm; hợp đồng 预算 ký sau khi có báo giá mới, số {number}."

Action = Callable[[int], None]


@dataclass(frozen=True)
class Turn:
    """What one turn of a measurement did: how long each action took, and all of them together (seconds)."""

    durations: tuple[float, ...]
    elapsed: float

    @property
    def rate(self) -> float:
        return len(self.durations) / self.elapsed


def repeat(seconds: float, once: Action) -> list[float]:
    """Do something again and again for that long; how long each time took."""
    durations: list[float] = []
    end = time.perf_counter() + seconds
    while (began := time.perf_counter()) < end:
        once(len(durations))
        durations.append(time.perf_counter() - began)
    return durations


def disk(folder: Path) -> Turn:
    """Writes of 4 KiB with an fsync each, one after the other, at the end of one file in the folder."""
    descriptor = os.open(folder / "fsync-rate", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def write(_: int) -> None:
        os.write(descriptor, os.urandom(4096))
        os.fsync(descriptor)

    try:
        return Turn(tuple(repeat(DISK_SECONDS, write)), DISK_SECONDS)
    finally:
        os.close(descriptor)


def saves(writers: int, connected: Callable[[], Action]) -> Turn:
    """Lines saved by so many writers at once; `connected` makes the action of one writer."""
    durations: list[float] = []
    failures: list[Exception] = []

    def work() -> None:
        try:
            durations.extend(repeat(WRITING_SECONDS, connected()))
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(writers)]
    began = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
    return Turn(tuple(durations), time.perf_counter() - began)


def database_bytes(home: Path) -> int:
    """The size of the database with everything in its main file."""
    with sqlite3.connect(home / "memoryhub.sqlite3") as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        pages, size = (connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "page_size"))
    connection.close()
    return int(pages) * int(size)


def run(home: Path) -> None:
    os.environ.pop("MEMORYHUB_DATABASE_URL", None)
    os.environ.update(MEMORYHUB_HOME=str(home), DJANGO_SETTINGS_MODULE="memoryhub.settings")
    import django

    django.setup()
    from django.core.management import call_command

    from apps import access
    from apps.agents import queries, registry
    from tests.journeys.processes import Server

    call_command("migrate", verbosity=0)
    roots = {agent: queries.scope_of(registry.add(agent)).root for agent in ("one", "eight")}
    server = Server(home, registry.issue_token("bench", rights=["read", "write_notes"], actor=access.operator())[1])

    def saver(agent: str) -> Callable[[], Action]:
        def connected() -> Action:
            connection = server.connect()
            return lambda number: server.save(connection, agent, LINE.format(number=number))

        return connected

    crowds = {"1 writer": (1, saver("one")), "8 writers, one agent": (8, saver("eight"))}
    turns: dict[str, list[Turn]] = {name: [] for name in crowds}
    disks: list[Turn] = []
    try:
        server.wait_until_it_answers()
        saver("one")()(0)  # the first request imports what later ones find imported
        before = database_bytes(home)
        for _ in range(ROUNDS):
            for name, (writers, connected) in crowds.items():
                disks.append(disk(home))
                turns[name].append(saves(writers, connected))
        disks.append(disk(home))
        grown = database_bytes(home) - before
    finally:
        server.stop()
    appended = sum(note.stat().st_size for root in roots.values() for note in (root / "memory").glob("*.md"))
    sys.stdout.write(
        f"home: {home}\n\n{table(disks, turns)}\n\n"
        f"database: {grown:,} bytes for {appended:,} bytes of notes: {grown / appended:.1f} a byte\n"
    )


def table(disks: list[Turn], turns: dict[str, list[Turn]]) -> str:
    """Rates, and each turn's share of the disk's rate just before and after it: the median of the rounds."""
    rows = [f"{'':24}{'a second':>10}{'of the disk':>13}{'median':>11}{'slowest':>11}"]
    rows.append(_row("disk: 4 KiB, fsync", disks, [1.0]))
    for place, (name, own) in enumerate(turns.items()):
        around = [disks[place + number * len(turns) :][:2] for number in range(len(own))]
        shares = [
            turn.rate / statistics.mean(one.rate for one in beside) for turn, beside in zip(own, around, strict=True)
        ]
        rows.append(_row(name, own, shares))
    return "\n".join(rows)


def _row(name: str, turns: list[Turn], shares: list[float]) -> str:
    durations = [one * 1000 for turn in turns for one in turn.durations]
    rate, share = statistics.median(turn.rate for turn in turns), statistics.median(shares)
    median, slowest = statistics.median(durations), max(durations)
    return f"{name:24}{rate:>10,.1f}{share:>13.3f}{median:>8.1f} ms{slowest:>8.1f} ms"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--folder", type=Path, help="where to put the temporary home; decides which disk is meant")
    with tempfile.TemporaryDirectory(prefix="memoryhub-bench-", dir=parser.parse_args().folder) as folder:
        run(Path(folder).resolve())


if __name__ == "__main__":
    main()
