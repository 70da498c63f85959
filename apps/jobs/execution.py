"""Carry out a run: which function does which kind, and how a run that somebody asks for comes to be carried out."""

import logging
import traceback
from collections.abc import Callable

from django.conf import settings

from apps.errors import Conflict, MemoryHubError
from apps.jobs import consolidate
from apps.runs import queries
from apps.runs import services as runs
from apps.runs.models import Run
from apps.vault import credentials

logger = logging.getLogger(__name__)

JOBS: dict[str, Callable[[Run], None]] = {Run.Kind.CONSOLIDATE: consolidate.consolidate}


def perform(run: Run) -> Run:
    """Claim a queued run and carry it out in this process. Conflict `busy_run` when it cannot be claimed.

    Whatever ends it is stored on the run and raised.
    """
    with runs.claimed(run):
        logger.info("Run %s of %s began: %s.", run.public_id, run.agent_id, run.kind)
        JOBS[run.kind](run)
    logger.info("Run %s of %s ended: %s.", run.public_id, run.agent_id, run.outcome)
    return run


def perform_now(agent_id: str, kind: str, *, source: str, asked_by: str = "", force: bool = False) -> Run:
    """Carry out a run of this kind in this process, at once.

    One that is queued already and waits for a worker is the one carried out.
    Conflict `busy_run` while a run of the agent is under way.
    """
    try:
        run = runs.queue(agent_id, kind, source=source, asked_by=asked_by, force=force)
    except Conflict as error:
        waiting = queries.waiting(agent_id, kind)
        if error.code != "busy_run" or waiting is None:
            raise
        run = waiting
        if force:
            runs.insist(run)
    return perform(run)


def advance() -> Run | None:
    """Carry out the first queued run that can be claimed; None when there is none, or enough are under way here.

    One process of a worker stays free for the minute's round. A run that fails is
    stored as failed and told in the log. So is one that ends in a bug: django-q2
    would keep the error's own words, and they may quote anything.
    """
    if runs.alive() >= settings.MEMORYHUB_WORKERS:
        return None
    for run in queries.queued():
        try:
            return perform(run)
        except MemoryHubError as error:
            logger.warning("Run %s of %s: %s", run.public_id, run.agent_id, error.code)
        except Exception:
            told = credentials.masked(traceback.format_exc())
            logger.error("Run %s of %s ended in an error nobody foresaw.\n%s", run.public_id, run.agent_id, told)
        ended = queries.run(run.public_id)
        if ended.state != Run.State.QUEUED:
            return ended
        # It could not be claimed, because a run of its agent lives or its lock is out of reach: the next one's turn.
    return None
