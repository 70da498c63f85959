"""Asking for a run over HTTP, following it, and the numbers of all of them."""

from datetime import UTC, datetime
from decimal import Decimal

import pytest
from django_q.models import OrmQ

from apps.agents import registry
from apps.agents.models import Agent
from apps.jobs import execution
from apps.llm import client
from apps.runs import services as runs
from apps.runs.models import Call, Run

pytestmark = pytest.mark.django_db(transaction=True)

PATH = "agents/coach/memory/consolidate"


@pytest.fixture
def notes(scope):
    (scope.root / "memory" / "2026-09-19.md").write_text("# 2026-09-19\n\n- 08:00 tea is at four\n")


@pytest.fixture
def model(monkeypatch):
    """A model that keeps the memory and adds a line."""

    def ask(task, *, route):
        text = "# Memory\n\n- tea is at four (2026-09-19)\n"
        return client.Answer(text, "p", "m-1", "stop", 900, 100, Decimal("0.01"), 0.1)

    monkeypatch.setattr(client, "ask", ask)


def test_a_consolidation_is_queued_and_answered_202_with_its_run(api, notes, model):
    answer = api.post(PATH)
    run = Run.objects.get()
    assert (answer.status_code, answer.json()) == (
        202,
        {"agent_id": "coach", "run_source": "memory:consolidate", "run_id": run.public_id},
    )
    assert (run.state, run.force, run.asked_by) == ("queued", False, run.asked_by)
    assert api.get(f"runs/{run.public_id}").json()["state"] == "queued"
    execution.advance()
    told = api.get(f"runs/{run.public_id}").json()
    assert (told["state"], told["outcome"], told["prompt_tokens"], told["cost"]) == (
        "done",
        "proposed",
        900,
        "0.010000",
    )
    assert [(call["purpose"], call["model"], call["finish_reason"]) for call in told["calls"]] == [
        ("rewrite", "m-1", "stop")
    ]
    assert told["batches"] == []


def test_it_rings_for_a_worker(api, notes, settings):
    if not settings.MEMORYHUB_REDIS_URL:
        api.post(PATH)
        assert OrmQ.objects.count() == 1


def test_while_one_is_queued_or_under_way_the_answer_is_409_and_names_it(api, notes):
    run_id = api.post(PATH).json()["run_id"]
    refused = api.post(PATH)
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "busy_run")
    assert refused.json()["error"]["details"]["run"] == run_id
    with runs.claimed(Run.objects.get()):
        refused = api.post(PATH)
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "busy_run")
    assert Run.objects.count() == 1


def test_force_is_taken_along_and_anything_else_in_the_body_is_refused(api):
    assert api.post(PATH, {"force": True}).status_code == 202
    assert Run.objects.get().force is True
    for body in ({"force": "yes please"}, {"now": True}, {"force": None}):
        assert api.post(PATH, body).status_code == 422
    assert api.call("POST", PATH, raw=b"[]").status_code == 422
    assert api.call("POST", PATH, raw=b"{").status_code == 400


@pytest.mark.parametrize("agent", ["nobody", "COACH", "..", "a" * 61])
def test_an_unknown_agent_is_404(api, agent):
    assert api.post(f"agents/{agent}/memory/consolidate").status_code == 404


def test_a_refused_source_keeps_its_code(api):
    forged = api.post(PATH, None, MemoryHub_Source="memory:consolidate")
    assert (forged.status_code, forged.json()["error"]["code"]) == (422, "forged_source")


def test_runs_are_listed_newest_first_with_filters_and_a_way_past_the_first_page(api, crew):
    made = [
        Run.objects.create(agent_id=agent, kind="consolidate", state=state)
        for agent, state in [("coach", "done"), ("coach", "failed"), ("default", "done")]
    ]
    ids = [run.public_id for run in reversed(made)]

    def listed(query: str = "") -> list[str]:
        return [run["id"] for run in api.get(f"runs{query}").json()["runs"]]

    assert listed() == ids
    assert listed("?agent=coach") == ids[1:]
    assert listed("?state=failed") == [ids[1]]
    assert listed("?kind=consolidate&limit=1") == ids[:1]
    assert listed(f"?before={ids[0]}") == ids[1:]


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("state=odd", "unknown_state"),
        ("kind=odd", "unknown_kind"),
        ("limit=0", None),
        ("limit=x", None),
        ("agent=%00", None),
    ],
)
def test_a_filter_that_makes_no_sense_is_422(api, query, code):
    answer = api.get(f"runs?{query}")
    assert answer.status_code == 422
    if code:
        assert answer.json()["error"]["code"] == code


@pytest.mark.parametrize("run_id", ["000000000000", "x", "é", "a/b"])
def test_a_run_that_is_not_there_is_404(api, run_id):
    assert api.get(f"runs/{run_id}").status_code == 404


def test_another_agents_runs_and_money_are_not_told(api_with, crew):
    run = Run.objects.create(agent_id="coach", kind="consolidate", state="done", summary="marker-coach")
    Call.objects.create(
        run=run, purpose="rewrite", state="answered", route="x", model="m-coach", cost=5, prompt_sha="x"
    )
    registry.change("coach", cron="10 3 * * *")
    stranger = api_with("read", agent="default")
    assert stranger.get("runs").json() == {"runs": []}
    assert stranger.get(f"runs/{run.public_id}").status_code == 404
    stats = stranger.get("stats")
    assert b"coach" not in stats.content
    assert stats.json()["spending"]["day"]["calls"] == 0


def test_stats_tell_what_waits_runs_was_spent_and_comes(api, crew):
    run = Run.objects.create(agent_id="coach", kind="consolidate", state="running")
    Call.objects.create(
        run=run, purpose="rewrite", state="answered", route="x", model="m-1", cost=Decimal("0.25"), prompt_sha="x",
        prompt_tokens=900, completion_tokens=100,
    )  # fmt: skip
    Call.objects.create(run=run, purpose="rewrite", state="asked", route="x", prompt_sha="y")
    registry.change("coach", cron="10 3 * * *", zone="Asia/Ho_Chi_Minh")
    Agent.objects.update(cron_since=datetime(2026, 1, 1, tzinfo=UTC))
    stats = api.get("stats").json()
    assert (stats["pending_proposals"], stats["agents"], stats["queued_runs"], stats["running_runs"]) == (0, 2, 0, 1)
    day = stats["spending"]["day"]
    assert (day["calls"], day["cost"], day["unknown_price"], day["prompt_tokens"]) == (2, "0.250000", 1, 900)
    assert day["models"]["m-1"]["cost"] == "0.250000"
    assert [night["agent"] for night in stats["nights"]] == ["coach"]
    assert stats["worker_seen_at"] is None
