"""C11: one answer to "which day is it for this agent", for notes, jobs, nights and the API alike."""

from datetime import date, datetime, timedelta

import pytest
from django.utils import timezone

from apps import access
from apps.agents import queries, registry
from apps.agents import services as agents
from apps.agents.models import Agent
from apps.jobs import nightly
from apps.proposals.models import Proposal
from apps.runs.models import Run
from tests.jobs.running import consolidate

pytestmark = pytest.mark.django_db(transaction=True)

EVENINGS = [
    ("Asia/Ho_Chi_Minh", "2026-03-05T17:30:00+00:00", "2026-03-06"),
    ("America/Los_Angeles", "2026-04-21T02:40:00+00:00", "2026-04-20"),
    ("Pacific/Kiritimati", "2026-12-31T10:00:00+00:00", "2027-01-01"),
    ("Pacific/Pago_Pago", "2026-03-01T10:59:00+00:00", "2026-02-28"),
    ("Asia/Kathmandu", "2026-05-01T18:14:00+00:00", "2026-05-01"),
    ("Asia/Kathmandu", "2026-05-01T18:15:00+00:00", "2026-05-02"),
]


@pytest.mark.parametrize(("zone", "clock", "day"), EVENINGS)
def test_note_prompt_proposal_and_night_agree_on_the_day(crew, model, monkeypatch, zone, clock, day):
    now = datetime.fromisoformat(clock)
    monkeypatch.setattr(timezone, "now", lambda: now)
    registry.change("coach", zone=zone)
    saved = agents.append_note("coach", "tea is at four", actor=access.operator())
    assert saved.path == f"memory/{day}.md"

    model.will_say(f"# Memory\n\n- tea is at four ({day})\n")
    assert consolidate("coach").outcome == "proposed"
    [task] = model.asked
    assert task.data["today"] == day
    assert f"Today is {day}." in task.prompt
    assert not [one for one in Proposal.objects.get().analysis["warnings"] if one["code"] == "date_unknown"]

    minute = queries.now_in(queries.scope("coach"), now)
    registry.change("coach", cron=f"{minute.minute} {minute.hour} * * *")
    Agent.objects.filter(pk="coach").update(cron_since=now - timedelta(days=2))
    assert [run.local_date for run in nightly.queue_due(now)] == [date.fromisoformat(day)]
    assert Run.objects.latest("id").local_date.isoformat() == day


def test_a_change_of_zone_renames_no_old_note_and_counts_from_the_next_line(crew, monkeypatch, scope):
    monkeypatch.setattr(timezone, "now", lambda: datetime.fromisoformat("2026-03-05T17:30:00+00:00"))
    registry.change("coach", zone="Asia/Ho_Chi_Minh")
    agents.append_note("coach", "one", actor=access.operator())
    registry.change("coach", zone="America/Los_Angeles")
    agents.append_note("coach", "two", actor=access.operator())
    names = sorted(path.name for path in (scope.root / "memory").glob("*.md"))
    assert names == ["2026-03-05.md", "2026-03-06.md"]
