"""The program that dies: runs one action in a process of its own and ends it at a chosen point.

`python -m tests.journeys.child` is a server that forks for every action, because starting
Python and Django anew for some hundred deaths would take minutes. It has one thread
and no database connection, so forking is safe.

A request is one line of JSON, `{"home": folder, "jobs": [job, …]}`; its jobs run at the same moment,
each in its own process. A job is `{"do": name, "with": arguments}` and may hold
`die_at` (the point at which the process ends, by its name or its number from 0), `refuse_renames`
(numbers of the renames that say the disk is full) and `file_limit` (bytes a file may have).
The answer is one line: for every job the points its process passed, and value and error unless it died.

A *point* is the moment before or after an fsync, rename, unlink, commit or writing SQL statement; it is
called `after rename 2` when it is the second of its sort.
"""

import errno
import functools
import json
import os
import resource
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

Json = dict[str, Any]

# Time for every process of a request to be forked and connected before all of them start.
_HEAD_START_SECONDS = 0.05


class Points:
    """Tells the points a process passes, and ends it, as a power switch would, at one of them."""

    def __init__(self, sending: int, die_at: int | str | None) -> None:
        self._sending = sending
        self._die_at = die_at
        self._passed: Counter[str] = Counter()

    def at(self, sort: str) -> None:
        number = self._passed.total()
        self._passed[sort] += 1
        name = f"{sort} {self._passed[sort]}"
        # Told at once: a process that dies cannot tell later.
        os.write(self._sending, f"{name}\n".encode())
        if self._die_at in {number, name}:
            os._exit(0)

    def around(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(call)
        def watched(*args: Any, **options: Any) -> Any:
            self.at(f"before {name}")
            result = call(*args, **options)
            self.at(f"after {name}")
            return result

        return watched


def _watch(points: Points) -> None:
    from django.db import connection
    from django.db.backends.base.base import BaseDatabaseWrapper

    for name in ("fsync", "rename", "unlink"):
        setattr(os, name, points.around(name, getattr(os, name)))
    commit = "_commit"  # what `atomic` calls when the outermost block ends
    setattr(BaseDatabaseWrapper, commit, points.around("commit", getattr(BaseDatabaseWrapper, commit)))

    def statement(execute: Callable[..., Any], sql: str, *rest: Any) -> Any:
        verb = sql.split(maxsplit=1)[0].upper()
        return (points.around(verb, execute) if verb in {"INSERT", "UPDATE", "DELETE"} else execute)(sql, *rest)

    connection.ensure_connection()
    connection.execute_wrappers.append(statement)


def refuse_renames(numbers: Iterable[int], rename: Callable[..., None]) -> Callable[..., None]:
    """A rename that says “disk full” at the calls with these numbers, counted from 0."""
    refused, count = set(numbers), iter(range(sys.maxsize))

    def refusing(*args: Any, **options: Any) -> None:
        if next(count) in refused:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        rename(*args, **options)

    return refusing


def _approve(proposal: str, *, four_files: bool = False) -> str:
    from apps import access
    from apps.proposals import kinds, services
    from tests.journeys import scenes

    if four_files:
        # No kind of this version changes more than one file; everything around the plan is the real approval.
        kinds.plan = scenes.four_changes
    return services.approve(proposal, seen=None, actor=access.operator()).state


def _reject(proposal: str) -> str:
    from apps import access
    from apps.proposals import services

    return services.reject(proposal, actor=access.operator()).state


def _append(agent: str, text: str, key: str) -> str:
    from apps import access
    from apps.agents import services

    return services.append_note(agent, text, actor=access.operator(), key=key).path


def _write_memory(agent: str, text: str) -> str:
    from apps import access
    from apps.agents import services
    from apps.vault.changes import Precondition

    return services.write_memory(agent, text, actor=access.operator(), when=Precondition()).path


def _open_desk(agent: str) -> None:
    from apps.agents import queries
    from apps.ledger import services

    with services.writing(queries.scope(agent)):
        pass


def _settle(batch: str, way: str) -> str:
    from apps import access
    from apps.proposals import services

    return services.settle_stuck(batch, way, actor=access.operator()).state


def _night(at: str, log: str) -> str | None:
    from datetime import datetime

    from apps.jobs import execution, nightly
    from apps.llm import client
    from tests.journeys import scenes

    client.ask = scenes.paid_model(Path(log))
    nightly.tick(datetime.fromisoformat(at))
    run = execution.advance()
    return run.outcome if run else None


ACTIONS: Mapping[str, Callable[..., Any]] = {
    "approve": _approve,
    "reject": _reject,
    "append": _append,
    "write_memory": _write_memory,
    "open_desk": _open_desk,
    "settle": _settle,
    "night": _night,
}


def _act(job: Json, start: float, sending: int) -> Json:
    from apps.errors import MemoryHubError

    points = Points(sending, job.get("die_at"))
    if "refuse_renames" in job:
        os.rename = refuse_renames(job["refuse_renames"], os.rename)
    _watch(points)
    if "file_limit" in job:
        resource.setrlimit(resource.RLIMIT_FSIZE, (job["file_limit"], job["file_limit"]))
    time.sleep(max(0.0, start - time.monotonic()))
    try:
        return {"value": ACTIONS[job["do"]](**job["with"]), "error": None}
    except MemoryHubError as error:
        return {"value": None, "error": [type(error).__name__, error.code]}


def _fork(job: Json, start: float) -> tuple[int, int]:
    receiving, sending = os.pipe()
    process = os.fork()
    if process:
        os.close(sending)
        return process, receiving
    try:
        os.write(sending, json.dumps(_act(job, start, sending)).encode())
    except BaseException:
        sys.excepthook(*sys.exc_info())
        os._exit(1)
    os._exit(0)


def _answer(request: Json) -> list[Json]:
    from django.conf import settings

    from apps.llm import client, routes

    settings.MEMORYHUB_HOME = Path(request["home"])
    if any(job["do"] == "night" for job in request["jobs"]):
        # litellm takes seconds to import; the children inherit it.
        client.check(routes.Route(names=("openai/night",)))
    start = time.monotonic() + (_HEAD_START_SECONDS if len(request["jobs"]) > 1 else 0)
    answers: list[Json] = []
    for process, receiving in [_fork(job, start) for job in request["jobs"]]:
        with os.fdopen(receiving) as pipe:
            lines = pipe.read().splitlines()
        if os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]):
            raise RuntimeError(f"A child failed by itself; its traceback is above. {request}")
        survived = bool(lines) and lines[-1].startswith("{")
        told: Json = json.loads(lines.pop()) if survived else {}
        answers.append({"died": not survived, "points": lines, **told})
    return answers


def main() -> None:
    import django

    django.setup()
    # Imported before the first fork, so that no child pays for it.
    import apps.agents.services
    import apps.jobs.nightly
    import apps.proposals.services  # noqa: F401

    for line in sys.stdin:
        sys.stdout.write(json.dumps(_answer(json.loads(line))) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
