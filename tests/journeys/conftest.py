"""Other processes for the journeys: children that can be killed, servers that can be called."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.journeys.processes import Children, Server, Worker


@pytest.fixture(scope="session")
def child_server(django_db_setup: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Children]:
    running = Children(tmp_path_factory.mktemp("children"))
    yield running
    running.stop()


@pytest.fixture
def children(child_server: Children, home: Path, db: None) -> Children:
    """Processes on this test's home and database."""
    child_server.home = home
    return child_server


@pytest.fixture
def serve(home: Path, token: str) -> Iterator[Callable[[], Server]]:
    """Starts a server on this test's home and database; call it again for a second one."""
    servers: list[Server] = []

    def start() -> Server:
        servers.append(Server(home, token))
        servers[-1].wait_until_it_answers()
        return servers[-1]

    yield start
    for server in servers:
        server.stop()


@pytest.fixture
def employ(home: Path, db: None) -> Iterator[Callable[..., Worker]]:
    """Starts a worker on this test's home and database; call it again for a second one."""
    crew: list[Worker] = []

    def start(**facts: str) -> Worker:
        crew.append(Worker(home, **facts))
        return crew[-1]

    yield start
    for worker in crew:
        worker.kill()
