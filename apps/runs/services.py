"""The queue: ask for a run, claim it, store how it ended, find the ones that died."""

import logging
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import date
from functools import partial

from django.db import IntegrityError, OperationalError, transaction
from django.db.models import Q
from django.utils import timezone

from apps.errors import Busy, Conflict, MemoryHubError, ModelFailed
from apps.ledger import database, locks
from apps.runs import heartbeat, queries
from apps.runs.models import Call, Pulse, Run
from apps.vault import credentials, lock

logger = logging.getLogger(__name__)

# memory.md 6.6: an error's text in a summary.
_SUMMARY_CHARACTERS = 160
_ERROR_CHARACTERS = 2_000
# A run that keeps dying, or keeps finding the home busy, is given up after so many times.
MOST_ATTEMPTS = 3
# Codes of ModelFailed that mean: nobody was asked, because it would have cost too much.
REFUSALS = frozenset({"over_budget", "price_unknown"})
_PULSE = "tick"


def queue(
    agent_id: str, kind: str, *, source: str, asked_by: str = "", force: bool = False, night: date | None = None
) -> Run:
    """Ask for a run. Conflict `busy_run`, naming it, while one of the agent runs or one of this kind is queued.

    `night` is the agent's own date when the schedule asks; Conflict `night_done`
    when that date has had its run.
    """
    mark_lost(agent_id)
    busy = Run.objects.filter(agent_id=agent_id).filter(
        Q(state=Run.State.RUNNING) | Q(state=Run.State.QUEUED, kind=kind)
    )
    if standing := busy.first():
        raise _busy_run(agent_id, standing)
    if night is not None and had_night(agent_id, kind, night):
        raise Conflict(f"{agent_id} has had its night of {night}.", code="night_done", scope=agent_id)
    try:
        with database.translated(), transaction.atomic():
            return Run.objects.create(
                agent_id=agent_id, kind=kind, source=source, asked_by=asked_by, force=force, local_date=night
            )
    except IntegrityError as error:
        raise _busy_run(agent_id, busy.first()) from error


def insist(run: Run) -> bool:
    """Let a queued run ask even when nothing is newer; True when it was still queued."""
    return Run.objects.filter(pk=run.pk, state=Run.State.QUEUED).update(force=True) == 1


def had_night(agent_id: str, kind: str, night: date) -> bool:
    return Run.objects.filter(agent_id=agent_id, kind=kind, local_date=night).exists()


def _busy_run(agent_id: str, standing: Run | None = None) -> Conflict:
    waits = standing is not None and standing.state == Run.State.QUEUED
    told = f"A run of {agent_id} is {'queued already' if waits else 'under way'}."
    return Conflict(told, code="busy_run", scope=agent_id, run=standing.public_id if standing else "")


@contextmanager
def claimed(run: Run) -> Iterator[Run]:
    """Take a queued run and hold it for as long as the block lasts; its end is stored whatever happens.

    The lock file of the agent's runs is taken before the row and kept until the
    outcome is stored, so a running row whose lock is free is known to be dead.
    Conflict `busy_run` when another run of the agent lives or somebody else took
    this one. An error in the block ends the run as failed (refused, when it would
    have cost too much) and is raised again; one that only says "busy" queues another try.
    """
    with ExitStack() as stack:
        try:
            stack.enter_context(lock.held(locks.run_lock_path(run.agent_id), seconds=0))
        except (Busy, RuntimeError) as error:  # held by another process, or by this very thread
            raise _busy_run(run.agent_id) from error
        _bury(run.agent_id)
        _take(run)
        stack.enter_context(heartbeat.beating(run.pk))
        try:
            yield run
        except BaseException as error:
            _fail(run, error)
            raise
        if run.state == Run.State.RUNNING and not database.patiently(partial(_done, run)):
            raise lost(run)


def _take(run: Run) -> None:
    """One conditional UPDATE from queued to running; whoever comes second gets Conflict `busy_run`."""
    now = timezone.now()
    facts = {"state": Run.State.RUNNING, "started_at": now, "seen_at": now, "host": socket.gethostname()[:255]}
    try:
        with database.translated(), transaction.atomic(durable=True):
            taken = Run.objects.filter(pk=run.pk, state=Run.State.QUEUED).update(**facts)
    except IntegrityError as error:
        raise _busy_run(run.agent_id) from error
    if taken != 1:
        raise _busy_run(run.agent_id)
    run.refresh_from_db()


def _done(run: Run) -> bool:
    return finish(run, Run.State.DONE, outcome=run.outcome, summary=run.summary)


def _fail(run: Run, error: BaseException) -> None:
    if isinstance(error, OperationalError):
        error = database.told(error)
    code = getattr(error, "code", None)
    outcome = code if isinstance(code, str) else "crashed"
    state = Run.State.REFUSED if isinstance(error, ModelFailed) and code in REFUSALS else Run.State.FAILED
    told, busy = _told(error), isinstance(error, Busy)

    def end() -> None:
        with transaction.atomic():
            if finish(run, state, outcome=outcome, error=told, judged=isinstance(error, ModelFailed)) and busy:
                again(run)

    database.patiently(end)


def _told(error: BaseException) -> str:
    """The error as the run keeps it: our own sentences whole, anything else by its type and text; no credentials."""
    told = error.message if isinstance(error, MemoryHubError) else f"{type(error).__name__}: {error}"
    return credentials.masked(told)


def finish(run: Run, state: str, *, outcome: str, summary: str = "", error: str = "", judged: bool = True) -> bool:
    """Store how an open run ended; False when it had ended already, which stands then.

    `judged` says that the answers it paid for were looked at, so that nobody need
    use them again.
    """
    error = _storable(error)[:_ERROR_CHARACTERS]
    facts = {
        "state": state,
        "outcome": outcome,
        "error": error,
        "summary": _storable(summary) or error[:_SUMMARY_CHARACTERS],
        "finished_at": timezone.now(),
        "verdict": run.verdict,
    }
    with transaction.atomic():
        kept = Run.objects.filter(pk=run.pk, state__in=[Run.State.QUEUED, Run.State.RUNNING]).update(**facts)
        if kept != 1:
            return False
        if judged:
            shas = Call.objects.filter(run=run).values_list("prompt_sha", flat=True)
            Call.objects.filter(run__agent_id=run.agent_id, prompt_sha__in=list(shas)).update(used=True)
    for name, value in facts.items():
        setattr(run, name, value)
    return True


def lost(run: Run) -> Conflict:
    """What a process is told that still works on a run somebody took for dead: another host, say, unheard for long."""
    return Conflict(f"Run {run.public_id} was taken for lost meanwhile.", code="run_lost", run=run.public_id)


def _storable(text: str) -> str:
    """An error may quote anything; a database takes neither NUL nor half a surrogate pair."""
    return text.replace("\x00", "").encode("utf-8", "replace").decode()


def again(run: Run) -> Run | None:
    """Queue another try of a run that died, unless that could pay twice or it has been tried often enough.

    A call that was sent and never answered may have been billed, so such a run is
    left to the next night, which reads the same notes.
    """
    if run.attempt >= MOST_ATTEMPTS or queries.unclear(run):
        return None
    try:
        with transaction.atomic():
            return Run.objects.create(
                agent_id=run.agent_id,
                kind=run.kind,
                source=run.source,
                asked_by=run.asked_by,
                force=run.force,
                local_date=run.local_date if run.state == Run.State.LOST else None,
                attempt=run.attempt + 1,
                retry_of=run.public_id,
            )
    except IntegrityError:
        return None  # one is queued already


def mark_lost(agent_id: str | None = None) -> list[Run]:
    """Mark running runs whose process is gone as lost, at once, and queue their next try; returns the lost ones.

    The kernel frees a dead process's lock. Where several hosts share a database
    the heartbeat must have stopped too, because another host's locks cannot be seen.
    """
    rows = Run.objects.filter(state=Run.State.RUNNING)
    if agent_id is not None:
        rows = rows.filter(agent_id=agent_id)
    found: list[Run] = []
    for one in rows.values_list("agent_id", flat=True).distinct():
        try:
            with lock.held(locks.run_lock_path(one), seconds=0):
                found += _bury(one)
        except (Busy, RuntimeError, Conflict):
            continue  # it lives, in another process, on this thread, or on another host
        except MemoryHubError as error:
            if agent_id is not None:
                raise
            logger.warning("The runs of %s could not be looked at: %s", one, error.message)
    return found


def alive() -> int:
    """How many runs are being carried out on this host."""
    agents = Run.objects.filter(state=Run.State.RUNNING).values_list("agent_id", flat=True)
    return sum(not lock.free(locks.run_lock_path(one)) for one in agents)


def _bury(agent_id: str) -> list[Run]:
    """Call it under the lock of the agent's runs. Conflict `busy_run` when one lives on another host."""
    buried = []
    for run in Run.objects.filter(agent_id=agent_id, state=Run.State.RUNNING):
        if queries.lives_elsewhere(run):
            raise _busy_run(agent_id, run)
        # Together: a process that dies between the two would leave the night without its next try.
        with transaction.atomic():
            ended = finish(
                run,
                Run.State.LOST,
                outcome="lost",
                error="Its process ended before it could store how the run ended.",
                judged=False,
            )
            if ended:
                again(run)
                buried.append(run)
    return buried


def pulse() -> None:
    """Note that a worker did its round just now."""
    Pulse.objects.update_or_create(name=_PULSE, defaults={"at": timezone.now(), "host": socket.gethostname()[:255]})
