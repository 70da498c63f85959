"""One command serves the site and works the queue off, and ends both."""

import os
import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from apps import access
from apps.agents import registry
from apps.jobs import requests
from apps.runs import queries
from apps.runs.models import Run
from tests.journeys.processes import PROJECT, environment, until

pytestmark = pytest.mark.django_db(transaction=True)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def running(home: Path) -> list[int]:
    """Every process that works on this home."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            told = (entry / "environ").read_bytes() if entry.name.isdigit() else b""
        except OSError:
            continue
        if f"MEMORYHUB_HOME={home}".encode() in told.split(b"\x00") and int(entry.name) != os.getpid():
            found.append(int(entry.name))
    return found


def answers(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/admin/login/", timeout=2) as page:
            return page.status == 200
    except OSError:
        return False


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGINT])
def test_the_site_answers_a_run_is_done_and_one_signal_ends_everything(home: Path, end: signal.Signals) -> None:
    registry.add("coach")
    port = free_port()
    program = [sys.executable, "manage.py", "serve", "--port", str(port)]
    process = subprocess.Popen(program, cwd=PROJECT, env=environment(home), stdout=subprocess.PIPE, text=True)
    try:
        until(lambda: answers(port))
        until(queries.last_pulse)
        run = requests.consolidate("coach", actor=access.operator())
        until(lambda: Run.objects.get(pk=run.pk).state == "done")
        process.send_signal(end)
        process.wait(timeout=20)
        until(lambda: not running(home), seconds=10)
    finally:
        process.kill()
        for pid in running(home):
            os.kill(pid, signal.SIGKILL)
        process.communicate()


def test_a_worker_that_dies_is_replaced(home: Path) -> None:
    registry.add("coach")
    port = free_port()
    program = [sys.executable, "manage.py", "serve", "--port", str(port)]
    process = subprocess.Popen(program, cwd=PROJECT, env=environment(home), stdout=subprocess.DEVNULL)
    try:
        first = until(queries.last_pulse)
        worker = next(pid for pid in running(home) if _command(pid)[2:3] == ["worker"] and os.getsid(pid) == pid)
        os.kill(worker, signal.SIGKILL)  # the parent alone: its children would go on beside the next ones
        until(lambda: queries.last_pulse() != first)
        assert {os.getsid(pid) for pid in running(home) if _command(pid)[2:3] == ["worker"]} & {worker} == set()
    finally:
        process.terminate()
        process.wait(timeout=20)
        for pid in running(home):
            os.kill(pid, signal.SIGKILL)


def _command(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/cmdline").read_bytes().decode().split("\x00")


def test_nothing_outlives_a_site_that_was_killed(home: Path) -> None:
    registry.add("coach")
    program = [sys.executable, "manage.py", "serve", "--port", str(free_port())]
    process = subprocess.Popen(program, cwd=PROJECT, env=environment(home), stdout=subprocess.DEVNULL)
    try:
        until(queries.last_pulse)
        process.kill()
        process.wait()
        until(lambda: not running(home), seconds=20)
    finally:
        for pid in running(home):
            os.kill(pid, signal.SIGKILL)


def test_nothing_outlives_a_worker_whose_parent_was_killed(home: Path, employ) -> None:
    registry.add("coach")
    worker = employ()
    until(queries.last_pulse)
    assert len(running(home)) > 3
    os.kill(worker.process.pid, signal.SIGKILL)
    worker.process.wait()
    until(lambda: not running(home), seconds=10)


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("whole_group", [True, False])
def test_a_worker_that_is_told_to_end_ends_with_all_it_started(
    home: Path, employ, end: signal.Signals, whole_group: bool
) -> None:
    registry.add("coach")
    worker = employ()
    until(queries.last_pulse)
    (os.killpg if whole_group else os.kill)(worker.process.pid, end)
    worker.process.wait(timeout=15)
    until(lambda: not running(home), seconds=10)


def test_a_port_that_is_taken_is_told_before_anything_is_started(home: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        program = [sys.executable, "manage.py", "serve", "--port", str(taken.getsockname()[1])]
        ran = subprocess.run(
            program, cwd=PROJECT, env=environment(home), capture_output=True, text=True, timeout=60, check=False
        )
    assert ran.returncode == 1
    assert "is taken" in ran.stderr
    assert running(home) == []
