"""Reading runs: one, a list, what is open, when a worker was last seen."""

import socket
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from django.db import connection
from django.db.models import Count, Q, QuerySet, Sum
from django.utils import timezone

from apps.access import Actor
from apps.errors import Invalid, NotFound
from apps.runs.models import Call, Pulse, Run

# Seconds without a heartbeat after which a run on another host counts as dead.
DEAD_AFTER = 90.0


def run(run_id: str) -> Run:
    """The run with this public id, or NotFound."""
    found = Run.objects.filter(public_id=run_id).first() if run_id.isalnum() else None
    if found is None:
        raise NotFound(f"There is no run {run_id}.")
    return found


def visible(actor: Actor) -> QuerySet[Run]:
    """Runs of the agents this actor may see; the filter is in the query itself."""
    rows = Run.objects.all()
    return rows if actor.scopes is None else rows.filter(agent_id__in=actor.scopes)


def seen(run_id: str, actor: Actor) -> Run:
    """The run, or NotFound, also when the actor may not see it."""
    found = run(run_id)
    if not actor.sees(found.agent_id):
        raise NotFound(f"There is no run {run_id}.")
    return found


def listed(
    actor: Actor, *, agent_id: str = "", kind: str = "", state: str = "", before: str = "", limit: int = 50
) -> list[Run]:
    """Runs, newest first. `before` is the id of the run to continue after. Invalid for an unknown state or kind."""
    for word, given, known in (("state", state, Run.State.values), ("kind", kind, Run.Kind.values)):
        if given and given not in known:
            raise Invalid(f"“{given}” is no {word}; there are {', '.join(known)}.", code=f"unknown_{word}", field=word)
    rows = visible(actor)
    if agent_id:
        rows = rows.filter(agent_id=agent_id)
    if kind:
        rows = rows.filter(kind=kind)
    if state:
        rows = rows.filter(state=state)
    if before:
        rows = rows.filter(pk__lt=seen(before, actor).pk)
    return list(rows.order_by("-id")[:limit])


def calls(run_: Run) -> list[Call]:
    """The questions the run put to a model, in order."""
    return list(run_.calls.defer("answer__data").order_by("id"))


def answered(agent_id: str, kind: str) -> list[Run]:
    """Runs of the agent in which a model answered, oldest first."""
    return list(Run.objects.filter(agent_id=agent_id, kind=kind, answered=True).order_by("id"))


def latest(agent_ids: Iterable[str], limit: int = 20) -> list[Run]:
    return list(Run.objects.filter(agent_id__in=list(agent_ids)).order_by("-id")[:limit])


def queued() -> list[Run]:
    """Runs that wait for a worker, the first asked for first."""
    return list(Run.objects.filter(state=Run.State.QUEUED).order_by("id"))


def running() -> list[Run]:
    """Runs that are said to be under way, dead ones among them."""
    return list(Run.objects.filter(state=Run.State.RUNNING).order_by("id"))


def lives_elsewhere(run: Run) -> bool:
    """Whether a running run's heart was heard lately from another host, whose locks cannot be seen here."""
    if connection.vendor != "postgresql" or run.host == socket.gethostname()[:255] or run.seen_at is None:
        return False
    return timezone.now() - run.seen_at < timedelta(seconds=DEAD_AFTER)


def waiting(agent_id: str, kind: str) -> Run | None:
    """The queued run of this agent and kind."""
    return Run.objects.filter(agent_id=agent_id, kind=kind, state=Run.State.QUEUED).first()


def unclear(run_: Run) -> bool:
    """Whether the run put a question to a model that may have been billed although nothing came of it."""
    unanswered = Q(state=Call.State.ASKED) | Q(state=Call.State.FAILED, cost=None)
    return Call.objects.filter(unanswered, run=run_, free=False).exists()


def tried_again(run_: Run) -> bool:
    """Whether another try of this run was queued."""
    return Run.objects.filter(retry_of=run_.public_id).exists()


@dataclass(frozen=True)
class Cost:
    """What a run's calls cost: US dollars that are known, and whether there are calls of unknown price besides."""

    known: Decimal
    unknown: bool


def costs(rows: Iterable[Run]) -> dict[int, Cost]:
    """What each run cost, by its key, in one query for all; a run that asked nobody is not in it."""
    asked = Call.objects.filter(run__in=[one.pk for one in rows]).values("run_id")
    sums = asked.annotate(known=Sum("cost"), unknown=Count("pk", filter=Q(cost=None, free=False)))
    return {row["run_id"]: Cost(row["known"] or Decimal(0), bool(row["unknown"])) for row in sums}


def open_run(agent_id: str) -> Run | None:
    """The run of the agent that runs, else the first that waits."""
    rows = Run.objects.filter(agent_id=agent_id, state__in=[Run.State.RUNNING, Run.State.QUEUED])
    return rows.order_by("-state", "id").first()


def nights(agent_id: str, kind: str) -> set[str]:
    """The dates of the agent's nights so far, as ISO text."""
    rows = Run.objects.filter(agent_id=agent_id, kind=kind, local_date__isnull=False)
    return {day.isoformat() for day in rows.values_list("local_date", flat=True) if day}


def last_pulse() -> datetime | None:
    """When a worker last did its round, None when none ever did."""
    return Pulse.objects.values_list("at", flat=True).first()
