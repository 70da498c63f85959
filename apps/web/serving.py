"""The site and its worker side by side, for one person's machine; bigger places run the two as services."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress
from types import FrameType

import uvicorn
from django.conf import settings

# Seconds a worker gets to end by itself before it is killed; a run it was in is marked lost and tried again.
GRACE = 5.0
# Seconds between a worker's death and the next one, so that one that cannot start does not fill the log.
PAUSE = 3.0


def is_free(host: str, port: int) -> bool:
    """Whether the port can be had; asked before anything is printed that would not be true."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return True


def serve(host: str, port: int, *, worker: bool = True) -> None:
    """Serve until Ctrl-C or SIGTERM, and keep a worker running meanwhile."""
    crew = _Worker() if worker else None
    signal.signal(signal.SIGTERM, _end)
    try:
        if crew:
            crew.start()
        uvicorn.run("memoryhub.asgi:application", host=host, port=port, log_level="warning", lifespan="off")
    except KeyboardInterrupt:
        pass
    finally:
        if crew:
            crew.stop()


def _end(signum: int, frame: FrameType | None) -> None:
    """Leave in good order: what is in `finally` must still be done."""
    raise SystemExit(0)


class _Worker:
    """A worker process in a session of its own, so that it and its children can be ended together."""

    def __init__(self) -> None:
        self._ending = threading.Event()
        self._turn = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._keeper = threading.Thread(target=self._keep, name="worker-keeper", daemon=True)

    def start(self) -> None:
        self._keeper.start()

    def _keep(self) -> None:
        """Start one, and another whenever one dies."""
        while True:
            with self._turn:
                if self._ending.is_set():
                    return
                process = self._process = subprocess.Popen(  # noqa: S603 our own program
                    [sys.executable, str(settings.BASE_DIR / "manage.py"), "worker", "--with-parent"],
                    start_new_session=True,
                    stdout=subprocess.DEVNULL,
                )
            process.wait()
            # Its children outlive a parent that was killed, and would go on beside the next ones.
            _signal(process.pid, signal.SIGKILL, group=True)
            self._ending.wait(PAUSE)

    def stop(self) -> None:
        with self._turn:
            self._ending.set()
            process = self._process
        if process is None:
            return
        _signal(process.pid, signal.SIGTERM, group=False)
        deadline = time.monotonic() + GRACE
        while process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.05)
        _signal(process.pid, signal.SIGKILL, group=True)


def _signal(pid: int, number: signal.Signals, *, group: bool) -> None:
    with suppress(ProcessLookupError):
        (os.killpg if group else os.kill)(pid, number)
