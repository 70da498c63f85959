"""Which nights are due: by the agent's own clock, once a date, through spring and autumn, and after a closed laptop."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from django_q.models import OrmQ

from apps.agents import registry
from apps.agents.models import Agent
from apps.jobs import nightly
from apps.ledger import locks
from apps.runs import queries as runs_queries
from apps.runs import services as runs
from apps.runs.models import Run

pytestmark = pytest.mark.django_db(transaction=True)

BERLIN, HANOI, LOS_ANGELES = "Europe/Berlin", "Asia/Ho_Chi_Minh", "America/Los_Angeles"


@pytest.fixture
def night(crew):
    """Give `coach` a night: `night("30 2 * * *", "Europe/Berlin")`, wished for long ago unless said otherwise."""

    def give(cron: str, zone: str, *, since: str = "2020-01-01T00:00+00:00") -> Agent:
        registry.change("coach", cron=cron, zone=zone)
        Agent.objects.filter(pk="coach").update(cron_since=datetime.fromisoformat(since))
        return Agent.objects.get(pk="coach")

    return give


def minutes(start: datetime, hours: float) -> list[datetime]:
    """Every minute from a moment on, as a worker's rounds come."""
    return [start + timedelta(minutes=number) for number in range(int(hours * 60))]


def rounds(moments: list[datetime]) -> list[datetime]:
    """Do a round at each moment, every run ending at once; the moments at which one was queued."""
    made = []
    for moment in moments:
        for run in nightly.queue_due(moment):
            runs.finish(run, Run.State.DONE, outcome="nothing_newer")
            made.append(moment)
    return made


def dates() -> list[date]:
    return list(Run.objects.order_by("id").values_list("local_date", flat=True))


@pytest.mark.parametrize(
    ("zone", "utc", "local"),
    [
        (HANOI, "2026-03-05T20:10+00:00", date(2026, 3, 6)),
        (LOS_ANGELES, "2026-04-21T10:10+00:00", date(2026, 4, 21)),
        ("UTC", "2026-03-05T03:10+00:00", date(2026, 3, 5)),
        ("Pacific/Kiritimati", "2026-03-04T13:10+00:00", date(2026, 3, 5)),
    ],
)
def test_a_night_comes_due_by_the_agents_own_clock_and_has_its_own_date(night, zone, utc, local):
    night("10 3 * * *", zone)
    moment = datetime.fromisoformat(utc)
    rounds([moment - timedelta(days=1)])
    made = rounds(minutes(moment - timedelta(hours=2), 4))
    assert made == [moment]
    assert dates()[-1] == local
    assert Run.objects.latest("id").source == "job:coach/night"


def test_the_night_that_spring_skips_is_run_right_after_the_gap_and_once(night):
    """02:30 does not exist in Berlin on 29 March 2026: the clock goes from 02:00 to 03:00."""
    night("30 2 * * *", BERLIN, since="2026-03-28T12:00+00:00")
    made = rounds(minutes(datetime(2026, 3, 28, 23, 0, tzinfo=UTC), 24))
    assert [moment.astimezone(ZoneInfo(BERLIN)).isoformat() for moment in made] == ["2026-03-29T03:00:00+02:00"]
    assert dates() == [date(2026, 3, 29)]


def test_the_night_that_autumn_has_twice_is_run_once(night):
    """02:30 comes twice in Berlin on 25 October 2026."""
    night("30 2 * * *", BERLIN, since="2026-10-24T12:00+00:00")
    made = rounds(minutes(datetime(2026, 10, 24, 22, 0, tzinfo=UTC), 24))
    assert [moment.astimezone(ZoneInfo(BERLIN)).isoformat() for moment in made] == ["2026-10-25T02:30:00+02:00"]
    assert dates() == [date(2026, 10, 25)]


def test_a_year_has_a_night_a_date_whatever_clocks_do(night):
    night("30 2 * * *", BERLIN, since="2025-12-31T23:00+00:00")
    start = datetime(2025, 12, 31, 23, 0, tzinfo=UTC)
    rounds([start + timedelta(hours=3 * number) for number in range(365 * 8)])
    first = date(2026, 1, 1)
    assert dates() == [first + timedelta(days=number) for number in range(365)]


def test_a_closed_laptop_makes_up_for_the_last_night_and_only_for_that(night):
    night("10 3 * * *", BERLIN, since="2026-09-01T00:00+00:00")
    rounds([datetime(2026, 9, 10, 6, 0, tzinfo=UTC)])
    made = rounds(minutes(datetime(2026, 9, 15, 7, 0, tzinfo=UTC), 3))
    assert made == [datetime(2026, 9, 15, 7, 0, tzinfo=UTC)]
    assert dates() == [date(2026, 9, 10), date(2026, 9, 15)]


def test_a_cron_set_in_the_afternoon_does_not_start_the_night_that_is_over(night):
    night("10 3 * * *", BERLIN, since="2026-09-15T13:00+00:00")
    made = rounds(minutes(datetime(2026, 9, 15, 13, 0, tzinfo=UTC), 24))
    assert [moment.astimezone(ZoneInfo(BERLIN)).isoformat() for moment in made] == ["2026-09-16T03:10:00+02:00"]


def test_a_cron_two_minutes_ahead_starts_in_two_minutes(night):
    night("42 15 * * *", BERLIN, since="2026-09-15T13:40:30+00:00")
    assert rounds(minutes(datetime(2026, 9, 15, 13, 40, tzinfo=UTC), 1)) == [datetime(2026, 9, 15, 13, 42, tzinfo=UTC)]


def test_a_cron_that_comes_due_often_still_has_one_night_a_date(night):
    night("*/5 * * * *", BERLIN, since="2026-09-14T22:00+00:00")
    made = rounds(minutes(datetime(2026, 9, 14, 22, 1, tzinfo=UTC), 26))
    assert len(made) == 2
    assert dates() == [date(2026, 9, 15), date(2026, 9, 16)]


def test_an_agent_without_a_cron_or_that_left_has_no_nights(night):
    night("", BERLIN)
    assert rounds(minutes(datetime(2026, 9, 15, 0, 0, tzinfo=UTC), 24)) == []
    night("10 3 * * *", BERLIN)
    registry.archive("coach")
    assert rounds(minutes(datetime(2026, 9, 15, 0, 0, tzinfo=UTC), 24)) == []


def test_a_night_waits_while_a_run_of_the_agent_is_under_way_and_comes_after_it(night):
    night("10 3 * * *", BERLIN, since="2026-09-14T12:00+00:00")
    moment = datetime(2026, 9, 15, 1, 10, tzinfo=UTC)
    asked = runs.queue("coach", "consolidate", source="memory:consolidate")
    with runs.claimed(asked):
        assert nightly.queue_due(moment) == []
    made = nightly.queue_due(moment + timedelta(minutes=1))
    assert [run.local_date for run in made] == [date(2026, 9, 15)]


def test_a_change_of_zone_gives_no_date_a_second_night(night):
    night("10 3 * * *", HANOI, since="2026-09-14T12:00+00:00")
    rounds([datetime(2026, 9, 14, 20, 10, tzinfo=UTC)])
    assert dates() == [date(2026, 9, 15)]
    registry.change("coach", zone=LOS_ANGELES)
    rounds(minutes(datetime(2026, 9, 15, 10, 0, tzinfo=UTC), 1))
    assert dates() == [date(2026, 9, 15)]


def test_changing_anything_but_the_cron_keeps_when_it_was_wished_for(crew):
    registry.change("coach", cron="10 3 * * *")
    since = Agent.objects.get(pk="coach").cron_since
    registry.change("coach", name="The coach", cron="10  3 * * *")
    assert Agent.objects.get(pk="coach").cron_since == since
    registry.change("coach", cron="11 3 * * *")
    assert Agent.objects.get(pk="coach").cron_since > since
    registry.change("coach", cron="")
    assert Agent.objects.get(pk="coach").cron_since is None


def test_what_comes_next_passes_over_a_date_that_had_its_night(night):
    agent = night("*/30 * * * *", BERLIN, since="2026-09-01T00:00+00:00")
    now = datetime(2026, 9, 15, 13, 0, tzinfo=UTC)
    assert nightly.upcoming([agent], now)[0].at.isoformat() == "2026-09-15T15:00:00+02:00"
    rounds([now])
    assert nightly.upcoming([agent], now)[0].at.isoformat() == "2026-09-16T00:00:00+02:00"


def test_what_comes_next_is_told_soonest_first_across_zones(night):
    coach = night("10 3 * * *", BERLIN, since="2026-09-15T12:00+00:00")
    default = registry.change("default", cron="10 3 * * *", zone=HANOI)
    Agent.objects.filter(pk="default").update(cron_since=datetime(2026, 9, 15, 12, 0, tzinfo=UTC))
    default.refresh_from_db()
    nights = nightly.upcoming([coach, default], datetime(2026, 9, 15, 13, 0, tzinfo=UTC))
    assert [(one.agent_id, one.at.isoformat()) for one in nights] == [
        ("default", "2026-09-16T03:10:00+07:00"),
        ("coach", "2026-09-16T03:10:00+02:00"),
    ]


def test_a_tick_notes_that_a_worker_is_there_and_rings_only_when_something_waits(crew):
    from apps.runs import queries

    nightly.tick()
    assert queries.last_pulse() is not None
    assert OrmQ.objects.count() == 0
    runs.queue("coach", "consolidate", source="memory:consolidate")
    nightly.tick()
    assert OrmQ.objects.count() == 1


def test_one_agents_trouble_costs_no_other_its_night(night):
    """A zone that the time zone data forgot, a lock file that cannot be opened."""
    coach = night("10 3 * * *", BERLIN, since="2026-09-14T12:00+00:00")
    Agent.objects.filter(pk=coach.pk).update(zone="Nowhere/Gone")
    registry.change("default", cron="10 3 * * *", zone=BERLIN)
    Agent.objects.filter(pk="default").update(cron_since=datetime(2026, 9, 14, 12, 0, tzinfo=UTC))
    registry.add("kira", cron="10 3 * * *", zone=BERLIN)
    Agent.objects.filter(pk="kira").update(cron_since=datetime(2026, 9, 14, 12, 0, tzinfo=UTC))
    Run.objects.create(agent_id="default", kind="consolidate", state="running")
    path = locks.run_lock_path("default")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.mkdir()
    nightly.tick(datetime(2026, 9, 15, 6, 0, tzinfo=UTC))
    assert list(Run.objects.filter(state="queued").values_list("agent_id", flat=True)) == ["kira"]
    assert runs_queries.last_pulse() is not None
