"""Other processes on the same database and home: children that die, and servers that answer."""

import contextlib
import http.client
import itertools
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

PROJECT = Path(__file__).parents[2]


def environment(home: Path, **extra: str) -> dict[str, str]:
    """The variables under which another process uses this test's database, home and queue."""
    from django.conf import settings

    return {
        **os.environ,
        **{f"MEMORYHUB_{name}": value for name, value in extra.items()},
        "MEMORYHUB_QUEUE_NAME": settings.Q_CLUSTER["name"],
        "DJANGO_SETTINGS_MODULE": "memoryhub.settings",
        "MEMORYHUB_HOME": str(home),
        "MEMORYHUB_DATABASE_URL": _database_url(),
        "MEMORYHUB_SECRET_KEY": "tests-only-" + "x" * 40,
        "MEMORYHUB_TIME_ZONE": "UTC",
    }


def _database_url() -> str:
    from django.db import connection

    told = connection.settings_dict
    if connection.vendor == "sqlite":
        return f"sqlite:///{told['NAME']}"
    user, password, name = (quote(str(told[key]), safe="") for key in ("USER", "PASSWORD", "NAME"))
    return f"postgres://{user}:{password}@{told['HOST']}:{told['PORT']}/{name}"


@dataclass(frozen=True)
class Outcome:
    """What became of a child: the points it passed, and, unless it died, a value or an error (class, code)."""

    died: bool
    points: tuple[str, ...]
    value: Any
    error: tuple[str, str] | None


class Children:
    """A running `tests.journeys.child`; `home` is where the next children work."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.journeys.child"],
            cwd=PROJECT,
            env=environment(home),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self, do: str, *, options: dict[str, Any] | None = None, **arguments: Any) -> Outcome:
        """One action in one process; `options` are those of a job (`die_at` and the like)."""
        [outcome] = self.together({"do": do, "with": arguments, **(options or {})})
        return outcome

    def killed_everywhere(
        self, do: str, prepare: Callable[[int], dict[str, Any]], *, options: dict[str, Any] | None = None
    ) -> Iterator[Outcome]:
        """Run an action again and again, killed one point later each time; the last outcome survived.

        `prepare` makes the arguments of the run with this number.
        """
        for number in itertools.count():
            outcome = self.run(do, options={**(options or {}), "die_at": number}, **prepare(number))
            yield outcome
            if not outcome.died:
                return

    def together(self, *jobs: dict[str, Any]) -> list[Outcome]:
        """Several actions at the same moment, each in its own process."""
        assert self._process.stdin
        assert self._process.stdout
        print(json.dumps({"home": str(self.home), "jobs": jobs}), file=self._process.stdin, flush=True)
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError("The child server ended; its traceback is above.")
        return [_outcome(answer) for answer in json.loads(line)]

    def stop(self) -> None:
        self._process.communicate()


class Worker:
    """`manage.py worker` in a session of its own, with its children; `facts` are settings without their prefix."""

    def __init__(self, home: Path, **facts: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "manage.py", "worker"],
            cwd=PROJECT,
            env=environment(home, **facts),
            start_new_session=True,
            stdout=subprocess.DEVNULL,
        )

    def kill(self) -> None:
        """Everything at once and without a word, as when the power goes."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def stop(self) -> None:
        """As a service manager does it: told to end, and given time."""
        self.process.terminate()
        self.process.wait(timeout=30)


def until(true: Callable[[], Any], seconds: float = 40) -> Any:
    """Wait for something to become true, and return it; fails the test when it does not."""
    deadline = time.monotonic() + seconds
    while not (value := true()):
        assert time.monotonic() < deadline, "It did not happen in time."
        time.sleep(0.05)
    return value


def _outcome(answer: dict[str, Any]) -> Outcome:
    error = answer.get("error")
    return Outcome(
        answer["died"], tuple(answer["points"]), answer.get("value"), (error[0], error[1]) if error else None
    )


class Server:
    """memoryhub under uvicorn, in a process of its own."""

    def __init__(self, home: Path, token: str) -> None:
        self._headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        program = [sys.executable, "-m", "uvicorn", "memoryhub.asgi:application"]
        options = ["--host", "127.0.0.1", "--port", str(self.port), "--log-level", "warning"]
        self.process = subprocess.Popen([*program, *options], cwd=PROJECT, env=environment(home))

    def wait_until_it_answers(self, seconds: float = 20) -> None:
        deadline = time.monotonic() + seconds
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
            except OSError:
                if self.process.poll() is not None or time.monotonic() > deadline:
                    raise
                time.sleep(0.02)
            else:
                return

    def connect(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)

    def call(self, connection: http.client.HTTPConnection, method: str, path: str, body: Any) -> tuple[int, Any]:
        """Send JSON, return the status and the JSON that came back."""
        connection.request(method, path, json.dumps(body), self._headers)
        response = connection.getresponse()
        return response.status, json.loads(response.read())

    def save(self, connection: http.client.HTTPConnection, agent: str, text: str) -> None:
        """Call the tool `memory_save`; anything but success fails the test."""
        path = f"/api/agents/{agent}/tools/memory_save"
        status, answer = self.call(connection, "POST", path, {"arguments": {"text": text}})
        assert (status, answer.get("is_error")) == (200, False), answer

    def stop(self) -> None:
        self.process.kill()
        self.process.wait()
