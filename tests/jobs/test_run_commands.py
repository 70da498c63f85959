"""The commands around runs: nights and budgets of agents, queued runs, estimates, lists, and what `doctor` says."""

from datetime import timedelta
from decimal import Decimal

import pytest
from django.utils import timezone
from django_q.brokers import get_broker
from django_q.models import Schedule

from apps.agents.models import Agent
from apps.jobs import bell, doctor, execution
from apps.runs import services as runs
from apps.runs.models import Call, Pulse, Run

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def note(scope):
    (scope.root / "memory" / "2026-09-19.md").write_text("# 2026-09-19\n\n## Retain\n- W tea is at four\n")


def test_an_agents_nights_autonomy_and_budgets_are_set_kept_and_taken_away(run, crew):
    words = ("--cron", "10 3 * * *", "--autonomous", "--budget-day", "0.50", "--budget-month", "9", "--json")
    _, told = run("agents", "set", "coach", *words)
    assert (told["cron"], told["autonomous"], Decimal(told["budget_day"])) == ("10 3 * * *", True, Decimal("0.5"))
    run("agents", "set", "coach", "--name", "The coach")
    coach = Agent.objects.get(pk="coach")
    assert (coach.cron, coach.autonomous, coach.budget_day, coach.budget_month) == (
        "10 3 * * *",
        True,
        Decimal("0.5"),
        9,
    )
    run("agents", "set", "coach", "--cron", "", "--no-autonomous", "--budget-day", "", "--budget-month", "")
    coach.refresh_from_db()
    assert (coach.cron, coach.cron_since, coach.autonomous) == ("", None, False)
    assert (coach.budget_day, coach.budget_month) == (None, None)


@pytest.mark.parametrize(
    ("words", "field"),
    [
        (("--cron", "every night"), "cron"),
        (("--cron", "0 3 30 2 *"), "cron"),
        (("--budget-day", "-1"), "budget_day"),
        (("--budget-day", "much"), "budget_day"),
        (("--budget-month", "NaN"), "budget_month"),
        (("--budget-month", "1e99"), "budget_month"),
        (("--model", ",,,"), "model"),
        (("--model", "a,b,c,d,e,f"), "model"),
        (("--model", "openai/x\ny"), "model"),
        (("--model", "oobabooga/http://127.0.0.1:1"), "model"),
    ],
)
def test_a_setting_that_makes_no_sense_is_refused_by_its_field_and_changes_nothing(run, crew, words, field):
    code, told = run("agents", "set", "coach", *words, "--json")
    assert (code, told["error"]["details"]["field"]) == (1, field)
    coach = Agent.objects.get(pk="coach")
    assert (coach.cron, coach.budget_day, coach.budget_month) == ("", None, None)


def test_a_consolidation_is_queued_and_a_worker_does_it(run, note):
    code, told = run("run", "consolidate", "--agent", "coach", "--json")
    assert (code, told["state"], told["asked_by"]) == (0, "queued", "operator")
    assert get_broker().queue_size() == 1
    assert run("run", "consolidate", "--agent", "coach")[0] == 75
    assert execution.advance().outcome == "proposed"


def test_now_takes_over_the_one_that_waits(run, note):
    _, queued = run("run", "consolidate", "--agent", "coach", "--json")
    code, done = run("run", "consolidate", "--agent", "coach", "--now", "--force", "--json")
    assert (code, done["id"], done["state"]) == (0, queued["id"], "done")
    assert Run.objects.get().force is True


def test_all_agents_are_queued_and_one_that_is_busy_is_told(run, crew, note):
    assert run("run", "consolidate", "--all")[0] == 0
    assert Run.objects.filter(state="queued").count() == 2
    code, told = run("run", "consolidate", "--all", "--json")
    assert (code, [one["code"] for one in told["failed"]]) == (75, ["busy_run", "busy_run"])


def test_an_estimate_says_what_it_would_take_and_asks_nobody(run, note):
    code, told = run("run", "estimate", "--agent", "coach", "--json")
    assert (code, told["estimate"]["notes"], told["estimate"]["cost"]) == (0, 1, "0.000000")
    assert told["estimate"]["prompt_tokens"] > 100
    assert Run.objects.count() == 0
    run("run", "consolidate", "--agent", "coach", "--now")
    assert run("run", "estimate", "--agent", "coach", "--json")[1] == {"estimate": None}
    assert run("run", "estimate", "--agent", "nobody")[0] == 1


def test_runs_are_listed_and_shown_with_calls_price_and_batches(run, note):
    run("run", "consolidate", "--agent", "coach", "--now")
    done = Run.objects.get()
    Call.objects.filter(run=done).update(
        cost=None, free=False, model="m-1", attempts=[{"model": "m-0", "reason": "timeout", "seconds": 1.0}]
    )
    Run.objects.filter(pk=done.pk).update(cost=None, credentials=[["memory/2026-09-19.md", 4, "key"]])
    code, text = run("runs", "list")
    assert code == 0
    assert "proposed" in text
    assert "unknown" in text
    _, text = run("runs", "show", done.public_id)
    for word in ("call  rewrite", "m-1", "price unknown", "m-0: timeout", "memory/2026-09-19.md:4", "estimated"):
        assert word in text
    _, told = run("runs", "show", done.public_id, "--json")
    assert (told["cost"], told["calls"][0]["model"], told["batches"]) == (None, "m-1", [])
    assert run("runs", "list", "--state", "failed", "--json")[1] == {"runs": []}
    assert run("runs", "list", "--state", "odd")[0] == 1
    assert run("runs", "show", "000000000000")[0] == 1


def findings(check: str) -> list[str]:
    return [one.message for one in doctor.examine() if one.check == check]


def test_doctor_is_quiet_about_the_queue_where_nothing_runs_by_itself(crew):
    assert findings("worker") + findings("queue") + findings("schedule") == []


def test_doctor_says_that_no_worker_is_there_when_there_are_nights_or_something_waits(crew, run):
    run("agents", "set", "coach", "--cron", "10 3 * * *")
    assert "never" in findings("worker")[0]
    bell.ensure_schedule()
    runs.pulse()
    assert findings("worker") + findings("schedule") == []
    Pulse.objects.update(at=timezone.now() - timedelta(minutes=doctor.UNSEEN_MINUTES + 1))
    assert "last seen" in findings("worker")[0]


def test_doctor_says_when_the_schedule_is_gone(crew, run):
    run("agents", "set", "coach", "--cron", "10 3 * * *")
    runs.pulse()
    Schedule.objects.all().delete()
    assert len(findings("schedule")) == 1


def test_doctor_names_runs_that_wait_too_long_and_runs_that_died(crew):
    waiting = runs.queue("coach", "consolidate", source="x")
    Run.objects.filter(pk=waiting.pk).update(created_at=timezone.now() - timedelta(hours=1))
    dead = Run.objects.create(agent_id="default", kind="consolidate", state="running")
    told = " ".join(findings("queue"))
    assert waiting.public_id in told
    assert f"{dead.public_id} died" in told


def test_doctor_names_unsuitable_queue_settings(crew, settings):
    settings.Q_CLUSTER = {**settings.Q_CLUSTER, "retry": 5}
    assert "retry is 5" in findings("queue")[0]
