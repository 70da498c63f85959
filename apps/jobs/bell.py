"""django-q2 as a bell: it calls `tick` each minute and `advance` when something waits. What waits is in the Run table.

A bell that is lost is rung again by the next tick; one that is doubled finds
nothing to do.
"""

import logging

from django.utils import timezone
from django_q.models import Schedule
from django_q.tasks import async_task

logger = logging.getLogger(__name__)

TICK = "apps.jobs.tasks.tick"
ADVANCE = "apps.jobs.tasks.advance"
NAME = "memoryhub: the minute's round"


def ring() -> None:
    """Let a worker look at the queue soon. A broker that cannot be reached is told in the log: a tick rings again."""
    _send(ADVANCE)


def ring_tick() -> None:
    """Have the minute's round done soon, without waiting for the schedule."""
    _send(TICK)


def _send(task: str) -> None:
    try:
        async_task(task, task_name=task.rpartition(".")[2])
    except Exception as error:  # each broker raises its own; the run is queued all the same
        logger.warning("The bell could not be rung (%s); the next tick does it.", type(error).__name__)


def ensure_schedule() -> None:
    """Make sure that `tick` is called each minute, by one schedule and one only, from now on."""
    mine = Schedule.objects.filter(func=TICK)
    first = mine.order_by("pk").first()
    if first is None:
        Schedule.objects.create(
            func=TICK, name=NAME, schedule_type=Schedule.MINUTES, minutes=1, repeats=-1, next_run=timezone.now()
        )
        return
    mine.exclude(pk=first.pk).delete()
    if not scheduled():
        first.schedule_type, first.minutes, first.repeats, first.next_run = Schedule.MINUTES, 1, -1, timezone.now()
        first.save()


def scheduled() -> bool:
    """Whether `tick` is called each minute, as far as the schedule's row says."""
    return Schedule.objects.filter(func=TICK, schedule_type=Schedule.MINUTES, minutes=1, repeats=-1).exists()
