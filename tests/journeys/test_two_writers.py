"""Two servers on one home: every saved line is there once and whole, whoever writes, whoever dies."""

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from http.client import HTTPException

import pytest

from apps.ledger.models import Batch
from apps.vault.layout import Scope
from tests.journeys import scenes
from tests.journeys.processes import Server

pytestmark = pytest.mark.django_db(transaction=True)

Serve = Callable[[], Server]


def all_at_once(writers: list[Callable[[], None]]) -> None:
    """Run every writer in its own thread; the first failure fails the test."""
    failures: list[BaseException] = []

    def guarded(write: Callable[[], None]) -> None:
        try:
            write()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=guarded, args=(write,)) for write in writers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


def saver(server: Server, texts: list[str]) -> Callable[[], None]:
    def save() -> None:
        connection = server.connect()
        for text in texts:
            server.save(connection, "coach", text)
        connection.close()

    return save


def saved_lines(scope: Scope) -> list[str]:
    """Every line of every note that is neither empty nor a heading, without its time."""
    notes = [text.decode() for path, text in scenes.contents(scope.root).items() if path.startswith("memory/")]
    lines = [line for note in notes for line in note.splitlines() if line and not line.startswith("# ")]
    assert all(line[:2] == "- " and line[4] == ":" and line[7] == " " for line in lines)
    return [line[8:] for line in lines]


def test_forty_saves_at_once_through_two_servers_are_there_once_each(scope: Scope, serve: Serve) -> None:
    servers = [serve(), serve()]
    texts = [f"dòng {number} 第{number}行" + " x" * 25 * number for number in range(40)]
    all_at_once([saver(servers[number % 2], [text]) for number, text in enumerate(texts)])
    assert sorted(saved_lines(scope)) == sorted(texts)
    assert Batch.objects.filter(state="done").count() == 40
    assert scenes.leftovers(scope.root) == []


def test_eight_writers_of_five_hundred_lines_lose_and_tear_nothing(scope: Scope, serve: Serve) -> None:
    servers = [serve(), serve()]
    crowd = [[f"writer {writer} line {number}" for number in range(500)] for writer in range(8)]
    all_at_once([saver(servers[writer % 2], texts) for writer, texts in enumerate(crowd)])
    lines = saved_lines(scope)
    assert len(lines) == 4_000
    assert sorted(lines) == sorted(text for texts in crowd for text in texts)
    # A writer's own lines stand in the order in which it sent them.
    for texts in crowd:
        mine = set(texts)
        assert [line for line in lines if line in mine] == texts


def test_a_server_killed_in_the_middle_of_a_large_save_leaves_the_old_or_the_new_text(
    scope: Scope, serve: Serve
) -> None:
    path, root = "/api/agents/coach/memory", scope.root
    texts = [f"- {number} dòng dài\n" * 340_000 for number in range(7)]
    survivor = serve()
    assert len(texts[0].encode()) > 5_000_000
    began = time.monotonic()
    assert survivor.call(survivor.connect(), "PUT", path, {"memory_md": texts[0]})[0] == 200
    whole = time.monotonic() - began
    current = texts[0]
    for number, text in enumerate(texts[1:], start=1):
        victim = serve()
        killer = threading.Timer(whole * number / 6, victim.process.kill)
        killer.start()
        with suppress(OSError, HTTPException):
            victim.call(victim.connect(), "PUT", path, {"memory_md": text})
        killer.join()
        victim.process.wait()
        now = (root / "MEMORY.md").read_text()
        assert now in {current, text}
        # The next writer does not wait for the dead one, and settles what it left.
        survivor.save(survivor.connect(), "coach", f"after death {number}")
        settled = (root / "MEMORY.md").read_text()
        assert settled in {now, text}
        assert scenes.leftovers(root) == []
        assert not Batch.objects.exclude(state="done").exists()
        current = settled
    assert saved_lines(scope) == [f"after death {number}" for number in range(1, 7)]
