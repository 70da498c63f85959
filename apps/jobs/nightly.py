"""The minute's round of a worker, and when an agent's night is due.

A night is a date of the agent's own calendar: its cron is read on its own wall
clock, and a date has one run of each kind, however often clocks are changed,
bells are doubled or a laptop was closed. A night that was slept through is made up
for once, when the next worker looks.
"""

import logging
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from django.utils import timezone

from apps.agents import cron
from apps.agents import queries as agents
from apps.agents.models import Agent
from apps.errors import Conflict, MemoryHubError
from apps.jobs import bell
from apps.ledger import services as ledger
from apps.runs import queries as runs_queries
from apps.runs import services as runs
from apps.runs.models import Run
from apps.vault import credentials

logger = logging.getLogger(__name__)

# What a night has, in order. Each is a run of its own; one that fails does not stop the next.
NIGHT: tuple[str, ...] = (Run.Kind.CONSOLIDATE,)


def tick(now: datetime | None = None) -> None:
    """Finish interrupted writes, mark lost runs, queue the nights that are due, and ring if anything waits.

    A step that fails is told in the log and does not stop the others; repeating is harmless.
    """
    moment = now or timezone.now()
    steps: tuple[Callable[[], object], ...] = (
        runs.pulse,
        ledger.recover,
        runs.mark_lost,
        lambda: queue_due(moment),
        _ring_if_needed,
    )
    for step in steps:
        with _told("A step of the minute's round failed."):
            step()


def _ring_if_needed() -> None:
    if runs_queries.queued():
        bell.ring()


def queue_due(now: datetime) -> list[Run]:
    """Queue a run of each kind for every agent whose night is due; returns the new ones.

    While a run of the agent is under way its night waits for the next round.
    """
    made: list[Run] = []
    for agent in agents.agents():
        with _told(f"The night of {agent.id} could not be queued."):
            made += _queue_night(agent, now)
    return made


def _queue_night(agent: Agent, now: datetime) -> Iterator[Run]:
    night = due(agent, now)
    for kind in NIGHT if night else ():
        if night and not runs.had_night(agent.id, kind, night.date()):
            try:
                yield runs.queue(agent.id, kind, source=f"job:{agent.id}/night", night=night.date())
            except Conflict as error:
                logger.info("The night of %s waits: %s", agent.id, error.message)


@contextmanager
def _told(what: str) -> Iterator[None]:
    """Tell the log of whatever goes wrong inside, and go on: one agent's trouble must not cost another its night."""
    try:
        yield
    except MemoryHubError as error:
        logger.warning("%s %s", what, error.message)
    except Exception:
        logger.error("%s\n%s", what, credentials.masked(traceback.format_exc()))


def due(agent: Agent, now: datetime) -> datetime | None:
    """The agent's latest night so far, as local wall time; None without one, or when its cron is younger than that."""
    if not agent.cron:
        return None
    latest = cron.latest(agent.cron, wall_clock(agent, now))
    if latest is None or (agent.cron_since is not None and latest < wall_clock(agent, agent.cron_since)):
        return None
    return latest


def wall_clock(agent: Agent, moment: datetime) -> datetime:
    """The moment as the agent's clock shows it, without a zone."""
    return moment.astimezone(ZoneInfo(agents.zone(agent))).replace(tzinfo=None)


@dataclass(frozen=True)
class Night:
    """A coming night: whose, and when, with its zone."""

    agent_id: str
    at: datetime


def upcoming(crew: list[Agent], now: datetime) -> list[Night]:
    """The next night of every agent that has any, the soonest first. A date that had its run is passed over."""
    nights = [Night(agent.id, at) for agent in crew for at in _next(agent, now)]
    return sorted(nights, key=lambda night: (night.at, night.agent_id))


def _next(agent: Agent, now: datetime) -> Iterator[datetime]:
    """The next night, or nothing; one that is due and has not run yet is next, and is as good as now."""
    had = runs_queries.nights(agent.id, NIGHT[0])
    for at in _candidates(agent, now):
        if at.date().isoformat() not in had:
            yield at.replace(tzinfo=ZoneInfo(agents.zone(agent)))
            return


def _candidates(agent: Agent, now: datetime) -> Iterator[datetime]:
    """The night that may be due and the coming ones, one a date, as wall time."""
    if not agent.cron:
        return
    latest = due(agent, now)
    if latest is not None:
        yield latest
    clock = wall_clock(agent, now)
    for _ in range(_MOST_DATES):
        following = cron.following(agent.cron, clock)
        if following is None:
            return
        yield following
        clock = following.replace(hour=23, minute=59)


# No more than today and, while a zone is being changed, tomorrow can have had their night.
_MOST_DATES = 5
