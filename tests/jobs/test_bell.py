"""The bell: one schedule each minute, a ring that reaches a worker over whichever broker is set, and never an error."""

import pytest
from django.conf import settings
from django.utils import timezone
from django_q.brokers import get_broker
from django_q.models import Schedule
from django_q.signing import SignedPackage

from apps.jobs import bell

pytestmark = pytest.mark.django_db(transaction=True)


def rung() -> list[str]:
    """What the broker has to hand out, as a worker would get it; nothing is left afterwards."""
    broker = get_broker()
    names = []
    while handed := broker.dequeue():
        for receipt, package in handed:
            names.append(SignedPackage.loads(package)["func"])
            broker.acknowledge(receipt)
    return names


@pytest.fixture(autouse=True)
def _silence():
    get_broker().purge_queue()
    yield
    get_broker().purge_queue()


def test_the_broker_is_the_one_that_is_set():
    wanted = "ORM default" if not settings.MEMORYHUB_REDIS_URL else "Redis"
    assert get_broker().info().startswith(wanted)


def test_a_ring_reaches_whoever_listens_with_the_name_of_a_function_and_nothing_else():
    bell.ring()
    bell.ring_tick()
    assert sorted(rung()) == ["apps.jobs.tasks.advance", "apps.jobs.tasks.tick"]


def test_a_broker_that_is_out_of_reach_costs_a_line_in_the_log_and_no_error(monkeypatch, caplog):
    def unreachable(*args, **options):
        raise ConnectionError("no broker at redis://user:secret@host")

    monkeypatch.setattr(bell, "async_task", unreachable)
    bell.ring()
    assert "ConnectionError" in caplog.text
    assert "secret" not in caplog.text


def test_the_schedule_is_made_once_and_mended_when_somebody_changed_it():
    bell.ensure_schedule()
    bell.ensure_schedule()
    schedule = Schedule.objects.get(func=bell.TICK)
    assert (schedule.schedule_type, schedule.minutes, schedule.repeats) == (Schedule.MINUTES, 1, -1)
    assert bell.scheduled()
    Schedule.objects.filter(pk=schedule.pk).update(schedule_type=Schedule.DAILY, next_run=timezone.now())
    Schedule.objects.create(func=bell.TICK, schedule_type=Schedule.HOURLY)
    assert not bell.scheduled()
    bell.ensure_schedule()
    assert Schedule.objects.filter(func=bell.TICK).count() == 1
    assert bell.scheduled()


def test_schedules_of_other_functions_are_left_alone():
    Schedule.objects.create(func="builtins.print", schedule_type=Schedule.DAILY)
    bell.ensure_schedule()
    assert Schedule.objects.count() == 2
