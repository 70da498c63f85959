"""Look for whatever would surprise its owner: a home that cannot be written, broken files, no worker."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from django.conf import settings
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.utils import timezone

from apps.agents import queries as agents
from apps.agents import store
from apps.errors import MemoryHubError, ModelFailed
from apps.jobs import bell, checks
from apps.ledger import locks
from apps.ledger import queries as ledger
from apps.llm import client
from apps.runs import asking
from apps.runs import queries as runs
from apps.vault import credentials, layout, lock

# Minutes without the minute's round after which a worker counts as gone; two may be missed while it is busy.
UNSEEN_MINUTES = 5


@dataclass(frozen=True)
class Finding:
    """One thing a person should look at; `line` is 0 for the whole, `scope` and `path` empty where none is meant."""

    check: str
    message: str
    scope: str = ""
    path: str = ""
    line: int = 0


def examine() -> list[Finding]:
    """Every finding of every check; none means that all is well. Changes nothing but a file it removes again.

    A database that is not ready is the one finding there is then, besides the home's own.
    """
    database = list(_database())
    if any(finding.check == "database" for finding in database):
        return [*_home(), *database]
    return [*_home(), *_models(), *_agents(), *_batches(), *_queue()]


def _home() -> Iterator[Finding]:
    home = agents.home()
    probe = home / layout.STATE / f"doctor-{os.getpid()}"
    try:
        probe.parent.mkdir(exist_ok=True)
        with probe.open("wb") as file:
            file.write(b"x")
            file.flush()
            os.fsync(file.fileno())
        probe.unlink()
    except OSError as error:
        yield Finding("home", f"The home {home} cannot be written: {error.strerror or error}.")


def _database() -> Iterator[Finding]:
    try:
        executor = MigrationExecutor(connection)
        waiting = executor.migration_plan(executor.loader.graph.leaf_nodes())
        if waiting:
            yield Finding("database", f"{len(waiting)} migrations wait; run `manage.py migrate`.")
        if connection.settings_dict["ATOMIC_REQUESTS"]:
            yield Finding(
                "database",
                "ATOMIC_REQUESTS is on; a claim could not be committed before the first file changes.",
            )
        if connection.vendor == "sqlite":
            yield from _sqlite()
    except DatabaseError as error:
        yield Finding("database", f"The database does not answer: {error}.")


def _sqlite() -> Iterator[Finding]:
    with connection.cursor() as cursor:
        mode = cursor.execute("PRAGMA journal_mode").fetchone()[0]
        synchronous = cursor.execute("PRAGMA synchronous").fetchone()[0]
        intact = cursor.execute("PRAGMA quick_check").fetchone()[0]
    if mode != "wal":
        yield Finding("database", f"SQLite's journal mode is {mode}, not wal; readers and the writer block each other.")
    if synchronous < 2:
        yield Finding("database", "SQLite's synchronous is below FULL; a power cut could lose the record of a write.")
    if intact != "ok":
        yield Finding("database", f"SQLite finds the database damaged: {intact}.")


def _models() -> Iterator[Finding]:
    routes = {"": settings.MEMORYHUB_MODEL} | {one.id: agents.route(one) for one in agents.agents() if one.model}
    for scope, route in routes.items():
        try:
            client.check(asking.route(route))
        except ModelFailed as error:
            yield Finding("models", error.message, scope)


def _agents() -> Iterator[Finding]:
    persona = settings.MEMORYHUB_PERSONA_FILES
    places: list[tuple[str, Path]] = [(scope.id, scope.root) for scope in map(agents.scope_of, agents.agents())]
    owner = agents.home() / "users" / layout.OWNER
    if owner.exists():
        places.append((layout.OWNER, owner))
    for scope_id, root in places:
        try:
            if root.is_dir() and not os.access(root, os.W_OK | os.X_OK):
                yield Finding("files", f"The folder {root} cannot be written.", scope_id)
            for trouble in store.troubles(root, scope_id, persona):
                yield Finding("files", trouble.reason, scope_id, trouble.path, trouble.line)
            yield from _credentials(root, scope_id)
        except MemoryHubError as error:
            yield Finding("files", error.message, scope_id)


def _credentials(root: Path, scope_id: str) -> Iterator[Finding]:
    """Lines of memory and notes that hold what looks like a credential; what it is, is never said."""
    path, data = store.read_memory(root)
    for name, text in [(path, store.decode(data)), *((note.path, note.text) for note in store.notes(root))]:
        for found in credentials.find(text):
            told = f"Looks like it holds a {found.kind.replace('_', ' ')}; it is masked before a model reads it."
            yield Finding("secrets", told, scope_id, name, found.line)


def _batches() -> Iterator[Finding]:
    for batch in ledger.open_batches():
        how = "a person must resolve it" if batch.state == batch.State.STUCK else "`manage.py recover` finishes it"
        yield Finding("writes", f"Batch {batch.public_id} is {batch.state}; {how}.", batch.scope)


def _queue() -> Iterator[Finding]:
    """Settings, schedule, worker, and runs that nobody carries out; quiet where nothing runs by itself."""
    for message in checks.queue_settings(None):
        yield Finding("queue", message.msg)
    waiting = runs.queued()
    seen, old = runs.last_pulse(), timezone.now() - timedelta(minutes=UNSEEN_MINUTES)
    wanted = bool(waiting) or any(agent.cron for agent in agents.agents())
    if wanted and (seen is None or seen < old):
        told = "never" if seen is None else f"last seen {timezone.localtime(seen):%Y-%m-%d %H:%M}"
        yield Finding("worker", f"No worker does its round ({told}), so no night begins; start `manage.py worker`.")
    elif seen is not None and not bell.scheduled():
        yield Finding("schedule", "django-q2 has no schedule for the minute's round; restart `manage.py worker`.")
    for run in waiting:
        if run.created_at < old:
            since = f"{timezone.localtime(run.created_at):%Y-%m-%d %H:%M}"
            yield Finding("queue", f"Run {run.public_id} ({run.kind}) has waited since {since}.", run.agent_id)
    for run in runs.running():
        try:
            died = lock.free(locks.run_lock_path(run.agent_id)) and not runs.lives_elsewhere(run)
        except MemoryHubError as error:
            yield Finding("queue", error.message, run.agent_id)
            continue
        if died:
            yield Finding("queue", f"Run {run.public_id} died; the next round of a worker says so.", run.agent_id)
