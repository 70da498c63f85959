"""Start a run, ask a model on its behalf, and store how it ended."""

import logging
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from decimal import Decimal

from django.db import IntegrityError, transaction
from django.utils import timezone

from apps.errors import Busy, Conflict, MemoryHubError
from apps.ledger import locks
from apps.llm import client
from apps.runs.models import Run
from apps.vault import lock

logger = logging.getLogger(__name__)

# memory.md 6.6: an error's text in a summary.
_SUMMARY_CHARACTERS = 160


@contextmanager
def running(agent_id: str, kind: str, *, source: str) -> Iterator[Run]:
    """A Run in state running, for as long as the block lasts; its end is stored whatever happens.

    One running run per agent: Conflict `busy_run` while another one lives. The
    lock file is held until the outcome is stored, so a run whose lock is free is
    known to be dead and is marked lost here. An error in the block ends the run
    as failed and is raised again.
    """
    with ExitStack() as stack:
        try:
            stack.enter_context(lock.held(locks.run_lock_path(agent_id), seconds=0))
        except Busy as error:
            raise _busy_run(agent_id) from error
        run = _start(agent_id, kind, source)
        try:
            yield run
        except BaseException as error:
            finish(run, Run.State.FAILED, outcome=getattr(error, "code", None) or "crashed", error=_told(error))
            raise
        if run.state == Run.State.RUNNING:
            finish(run, Run.State.DONE, outcome=run.outcome, summary=run.summary)


def _busy_run(agent_id: str) -> Conflict:
    return Conflict(f"A run of {agent_id} is under way.", code="busy_run", scope=agent_id)


def _start(agent_id: str, kind: str, source: str) -> Run:
    lost = Run.objects.filter(agent_id=agent_id, state=Run.State.RUNNING)
    for run in lost:
        finish(run, Run.State.LOST, outcome="lost", error="The process that ran it ended before it did.")
    try:
        with transaction.atomic(durable=True):
            return Run.objects.create(
                agent_id=agent_id,
                kind=kind,
                source=source,
                state=Run.State.RUNNING,
                started_at=timezone.now(),
            )
    except IntegrityError as error:
        raise _busy_run(agent_id) from error


def _told(error: BaseException) -> str:
    """The error as the run keeps it: our own sentences whole, anything else by its type and text."""
    if isinstance(error, MemoryHubError):
        return error.message
    return f"{type(error).__name__}: {error}"


def finish(run: Run, state: str, *, outcome: str, summary: str = "", error: str = "") -> None:
    """Store how a run ended."""
    run.state, run.outcome, run.error = state, outcome, _storable(error)
    run.summary = summary or run.error[:_SUMMARY_CHARACTERS]
    run.finished_at = timezone.now()
    run.save()


def _storable(text: str) -> str:
    """An error may quote anything; a database takes neither NUL nor half a surrogate pair."""
    return text.replace("\x00", "").encode("utf-8", "replace").decode()


def ask(run: Run, task: client.Task, *, route: Sequence[str]) -> client.Answer:
    """Ask a model and book what it says of itself on the run, before anything is done with the answer."""
    answer = client.ask(task, route=route)
    known = not run.answered or run.cost is not None
    run.answered = True
    run.provider, run.model, run.finish_reason = answer.provider, answer.model, answer.finish_reason
    cost = answer.cost if answer.cost is not None and answer.cost.is_finite() and answer.cost >= 0 else None
    run.prompt_tokens = _sum(run.prompt_tokens, answer.prompt_tokens)
    run.completion_tokens = _sum(run.completion_tokens, answer.completion_tokens)
    run.cost = (run.cost or Decimal(0)) + cost if known and cost is not None else None
    run.save()
    return answer


def _sum(so_far: int | None, more: int | None) -> int | None:
    """Counts added up; one that is unknown or makes no sense adds nothing."""
    return so_far if more is None or more < 0 else (so_far or 0) + more
