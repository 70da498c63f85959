"""One writer at a time between processes; waiters queue; the kernel frees what a dead holder held."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from apps.errors import Busy
from apps.vault import lock

ROOT = Path(__file__).parents[2]

HOLD = """
import sys, time
from pathlib import Path
from apps.vault import lock
with lock.held(Path(sys.argv[1]), seconds=5):
    print("held", flush=True)
    sys.stdin.readline()
"""

# Takes the lock, holds it for 5 ms, and comes straight back for more until the given moment.
GREEDY = """
import sys, time
from pathlib import Path
from apps.vault import lock
turns, worst, end = 0, 0.0, float(sys.argv[2])
while time.time() < end:
    asked = time.monotonic()
    with lock.held(Path(sys.argv[1]), seconds=10):
        worst = max(worst, time.monotonic() - asked)
        turns += 1
        time.sleep(0.005)
print(turns, worst)
"""

# Adds one to a number in a file, again and again; without a lock most additions would be lost.
COUNT = """
import sys
from pathlib import Path
from apps.vault import lock
number = Path(sys.argv[2])
for _ in range(100):
    with lock.held(Path(sys.argv[1]), seconds=30):
        number.write_text(str(int(number.read_text()) + 1))
"""


def start(program: str, *arguments: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", program, *map(str, arguments)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


@contextmanager
def holder(path: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that holds the lock."""
    with start(HOLD, path) as process:
        assert process.stdout
        assert process.stdout.readline() == "held\n"
        try:
            yield process
        finally:
            process.kill()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "locks" / "coach.lock"


def test_the_lock_is_free_before_and_after_and_not_inside(path: Path) -> None:
    assert lock.free(path)
    with lock.held(path, seconds=1):
        assert not lock.free(path)
    assert lock.free(path)


def test_an_error_inside_frees_the_lock_and_leaves_it_clean(path: Path) -> None:
    with pytest.raises(KeyError), lock.held(path, seconds=1):
        raise KeyError
    with lock.held(path, seconds=1) as unclean:
        assert not unclean


def test_a_second_call_on_the_same_thread_raises_at_once(path: Path) -> None:
    with lock.held(path, seconds=30):
        began = time.monotonic()
        with pytest.raises(RuntimeError, match="coach"), lock.held(path, seconds=30):
            pass
        assert time.monotonic() - began < 1
        assert not lock.free(path)
    with lock.held(path, seconds=1):
        pass


def test_two_scopes_do_not_wait_for_each_other(path: Path) -> None:
    with lock.held(path, seconds=1), lock.held(path.with_name("owner.lock"), seconds=1):
        pass


def test_waiting_ends_with_busy_after_the_wait_and_leaves_nothing_held(path: Path) -> None:
    with holder(path):
        began = time.monotonic()
        with pytest.raises(Busy) as caught, lock.held(path, seconds=0.3):
            pass
        assert 0.3 <= time.monotonic() - began < 2
        assert caught.value.details["seconds"] == 0.3
    # The abandoned wait must not take the lock when it comes free at last.
    time.sleep(0.1)
    with lock.held(path, seconds=1):
        pass


def test_a_waiter_gets_the_lock_when_the_holder_lets_go(path: Path) -> None:
    with holder(path) as process:
        assert process.stdin
        threading.Timer(0.2, process.stdin.close).start()
        with lock.held(path, seconds=10) as unclean:
            assert not unclean


def test_another_thread_waits_like_another_process(path: Path) -> None:
    inside = threading.Event()
    order: list[str] = []

    def other() -> None:
        inside.wait()
        with lock.held(path, seconds=10):
            order.append("second")

    thread = threading.Thread(target=other)
    thread.start()
    with lock.held(path, seconds=1):
        inside.set()
        time.sleep(0.1)
        order.append("first")
    thread.join()
    assert order == ["first", "second"]


def test_the_lock_of_a_killed_holder_is_free_and_says_that_it_died_inside(path: Path) -> None:
    with holder(path) as process:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        assert lock.free(path)
        began = time.monotonic()
        with lock.held(path, seconds=10) as unclean:
            assert unclean
        assert time.monotonic() - began < 1
    with lock.held(path, seconds=1) as unclean:
        assert not unclean


def test_a_waiter_learns_that_the_holder_it_waited_for_died(path: Path) -> None:
    with holder(path) as process:
        threading.Timer(0.2, process.kill).start()
        with lock.held(path, seconds=10) as unclean:
            assert unclean


def test_a_waiter_killed_while_waiting_leaves_the_lock_usable_and_clean(path: Path) -> None:
    with lock.held(path, seconds=1):
        waiting = start(HOLD, path)
        time.sleep(0.5)
        waiting.kill()
        waiting.communicate()
    with lock.held(path, seconds=1) as unclean:
        assert not unclean


def test_no_waiter_starves_among_writers_that_come_straight_back(path: Path) -> None:
    end = time.time() + 2.5
    processes = [start(GREEDY, path, end) for _ in range(6)]
    results = [process.communicate()[0].split() for process in processes]
    turns = [int(count) for count, _ in results]
    # A turn takes 5 ms and six take part; polling let a writer wait for seconds while one took all turns.
    assert min(turns) > max(turns) / 4
    assert max(float(worst) for _, worst in results) < 0.5


def test_what_is_done_under_the_lock_by_many_processes_is_never_lost(path: Path, tmp_path: Path) -> None:
    number = tmp_path / "number"
    number.write_text("0")
    processes = [start(COUNT, path, number) for _ in range(4)]
    assert [process.wait() for process in processes] == [0] * 4
    for process in processes:
        process.communicate()
    assert number.read_text() == "400"
