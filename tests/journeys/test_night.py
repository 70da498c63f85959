"""The night: a real worker, a real queue and a model server; then killed at every step, and nothing is lost or paid twice."""

import os
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pytest

from apps import access
from apps.agents import queries as agents
from apps.agents import registry
from apps.agents.models import Agent
from apps.errors import Conflict
from apps.jobs import bell, execution, nightly, requests
from apps.ledger import locks
from apps.llm import client
from apps.proposals.models import Proposal
from apps.runs import services as runs
from apps.runs.models import Call, Run
from apps.vault import layout, lock
from tests.journeys import scenes
from tests.journeys.processes import PROJECT, Children, Worker, environment, until
from tests.llm.model_server import ModelServer, ok, slow, status

pytestmark = pytest.mark.django_db(transaction=True)

MEMORY = "# Memory\n\n- one (2026-01-05)\n- two"
NOTE = "# 2026-09-19\n\n- 08:00 tea is at four\n"
ANSWER = f"{MEMORY}\n- tea is at four (2026-09-19)\n\n---REASONS---\n- said on the 19th\n"
# The night of every agent here, and the moment it is due.
DUE = datetime(2026, 9, 20, 3, 10, tzinfo=UTC)


def agent_with_notes(agent_id: str, *, autonomous: bool = False, model: str = "") -> layout.Scope:
    """An agent whose night is due, with a memory older than its note."""
    scope = agents.scope_of(registry.add(agent_id, cron="10 3 * * *", autonomous=autonomous, model=model))
    Agent.objects.filter(pk=agent_id).update(cron_since=DUE - timedelta(hours=1))
    (scope.root / layout.MEMORY).write_text(f"{MEMORY}\n")
    os.utime(scope.root / layout.MEMORY, (1, 1))
    (scope.root / "memory" / "2026-09-19.md").write_text(NOTE)
    return scope


def model(server: ModelServer) -> dict[str, str]:
    """Settings of a worker that asks this server and knows what it costs."""
    return {
        "MODEL": "openai/night",
        "MODEL_ADDRESSES": f"openai/night={server.address}",
        "MODEL_PRICES": "openai/night=1000/2000",
        "MODEL_RETRIES": "0",
    }


def state(kind: str) -> Callable[[], Run | None]:
    return lambda: Run.objects.filter(state=kind).first()


def test_a_night_begins_by_itself_and_in_the_morning_the_proposal_waits_with_its_price(home: Path, employ) -> None:
    scope = agent_with_notes("coach")
    with ModelServer(lambda request: ok(ANSWER, usage={"prompt_tokens": 900, "completion_tokens": 100})) as server:
        employ(**model(server))
        run = until(state("done"))
    proposal = Proposal.objects.get()
    assert (run.outcome, run.source, proposal.run) == ("proposed", "job:coach/night", run.public_id)
    assert (run.prompt_tokens, run.completion_tokens, run.cost) == (900, 100, Decimal("1.1"))
    assert len(server.requests) == 1
    assert (scope.root / layout.MEMORY).read_text() == f"{MEMORY}\n"
    assert proposal.state == "pending"


def test_a_worker_killed_while_the_model_thinks_loses_nothing_blocks_nothing_and_pays_once(home: Path, employ) -> None:
    scope = agent_with_notes("coach")
    with ModelServer([slow(60), ok(ANSWER)]) as server:
        first = employ(**model(server))
        until(lambda: server.requests)
        first.kill()
        until(lambda: lock.free(locks.run_lock_path("coach")), seconds=5)
        employ(**model(server))
        lost = until(state("lost"))
        assert "Its process ended" in lost.error
        assert Call.objects.get().cost is None
        assert len(server.requests) == 1, "what may have been billed is not asked again the same night"
        assert (scope.root / layout.MEMORY).read_text() == f"{MEMORY}\n"
        requests.consolidate("coach", actor=access.operator())
        assert until(state("done")).outcome == "proposed"
    assert len(server.requests) == 2


def test_two_workers_many_bells_and_three_impatient_people_make_one_run(home: Path, employ) -> None:
    """C20: one run, one proposal, one set of model calls."""
    agent_with_notes("coach")
    with ModelServer(lambda request: slow(3, ok(ANSWER))) as server:
        crew: list[Worker] = [employ(**model(server)), employ(**model(server))]
        until(lambda: server.requests)
        for _ in range(3):
            bell.ring()
            bell.ring_tick()
            with pytest.raises(Conflict) as error:
                requests.consolidate("coach", actor=access.operator())
            assert error.value.code == "busy_run"
        assert until(state("done")).outcome == "proposed"
        for worker in crew:
            worker.stop()
    assert (len(server.requests), Run.objects.count(), Proposal.objects.count()) == (1, 1, 1)


def test_a_model_that_always_fails_is_asked_once_a_night(home: Path, employ) -> None:
    agent_with_notes("coach")
    with ModelServer(lambda request: status(500)) as server:
        worker = employ(**model(server))
        run = until(state("failed"))
        for _ in range(5):
            bell.ring()
            bell.ring_tick()
        registry.add("kira")
        asked = requests.consolidate("kira", actor=access.operator())
        until(lambda: Run.objects.get(pk=asked.pk).state == "done")  # the queue goes on, and it came after the bells
        worker.stop()
    assert (run.outcome, len(server.requests)) == ("provider_error", 1)
    assert Run.objects.filter(agent_id="coach").count() == 1


@pytest.mark.parametrize(("name", "value"), [("QUEUE_RETRY", "5"), ("QUEUE_TIMEOUT", "60"), ("QUEUE_RETRY", "2700")])
def test_a_worker_with_unsuitable_queue_settings_does_not_start(home: Path, name: str, value: str) -> None:
    ran = subprocess.run(
        [sys.executable, "manage.py", "worker"],
        cwd=PROJECT, env=environment(home, **{name: value}), capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert ran.returncode == 1
    assert "memoryhub.E001" in ran.stderr


class Nights:
    """A new agent for every death, one day apart, so that each has a night of its own."""

    def __init__(self, folder: Path, *, autonomous: bool) -> None:
        self.folder, self.autonomous = folder, autonomous
        self.scope: layout.Scope
        self.now = DUE

    @property
    def log(self) -> Path:
        return self.folder / f"{self.scope.id}.log"

    @property
    def asked(self) -> int:
        return self.log.read_text().count("asked") if self.log.exists() else 0

    def prepare(self, number: int) -> dict[str, str]:
        self.scope = agent_with_notes(f"run-{number}", autonomous=self.autonomous, model="openai/night")
        self.now = DUE
        return {"at": self.now.isoformat(), "log": str(self.log)}

    def another_worker(self, monkeypatch, *, later: timedelta) -> None:
        """Somebody else does the minute's round and works the queue off."""
        monkeypatch.setattr(client, "ask", scenes.paid_model(self.log))
        self.now += later
        nightly.tick(self.now)
        while execution.advance():
            pass

    def assert_nothing_is_left_open(self) -> None:
        assert not Run.objects.filter(state__in=["queued", "running"]).exists()
        assert lock.free(locks.run_lock_path(self.scope.id))
        assert scenes.leftovers(self.scope.root) == []

    @property
    def memory(self) -> str:
        return (self.scope.root / layout.MEMORY).read_text()


@pytest.mark.parametrize("autonomous", [False, True])
def test_a_night_killed_anywhere_is_done_by_the_next_worker_or_the_next_night_and_paid_once(
    children: Children, tmp_path: Path, monkeypatch, autonomous: bool
) -> None:
    nights = Nights(tmp_path, autonomous=autonomous)
    deaths, slept = 0, 0
    for outcome in children.killed_everywhere("night", nights.prepare):
        deaths += outcome.died
        nights.another_worker(monkeypatch, later=timedelta(minutes=1))
        nights.assert_nothing_is_left_open()
        assert nights.asked <= 1, "one night pays once"
        agent_id = nights.scope.id
        unclear = Call.objects.filter(run__agent_id=agent_id, state="asked").exists()
        if unclear:  # it may have been billed: left to the next night, which reads the same notes
            slept += 1
            assert not Proposal.objects.filter(agent_id=agent_id).exists()
            assert nights.memory == f"{MEMORY}\n"
            nights.another_worker(monkeypatch, later=timedelta(days=1))
            nights.assert_nothing_is_left_open()
        proposal = Proposal.objects.get(agent_id=agent_id)
        answered = Call.objects.filter(run__agent_id=agent_id, state="answered")
        assert answered.count() == 1
        if autonomous:
            assert (proposal.state, nights.memory) == ("approved", f"{MEMORY}\n- tea is at four (2026-09-19)\n")
        else:
            assert (proposal.state, nights.memory) == ("pending", f"{MEMORY}\n")
        # The night after has nothing to do and pays nothing.
        before = nights.asked
        nights.another_worker(monkeypatch, later=timedelta(days=1))
        assert nights.asked == before
        registry.archive(agent_id)
    assert deaths > 30
    assert 0 < slept < deaths / 3


@pytest.mark.parametrize("first_died", ["after commit 2", "before commit 3", "after commit 4"])
def test_the_worker_that_clears_up_after_a_dead_one_may_die_anywhere_too(
    children: Children, tmp_path: Path, monkeypatch, first_died: str
) -> None:
    """The first one dies early, with the question sent, or with the answer paid for; the second at every step."""
    nights = Nights(tmp_path, autonomous=True)

    def clear_up(number: int) -> dict[str, str]:
        told = nights.prepare(number)
        assert children.run("night", options={"die_at": first_died}, **told).died
        return told | {"at": (DUE + timedelta(minutes=1)).isoformat()}

    for outcome in children.killed_everywhere("night", clear_up):
        for minutes in (2, 3, 4):
            nights.another_worker(monkeypatch, later=timedelta(minutes=minutes))
        nights.assert_nothing_is_left_open()
        assert nights.asked <= 1, "one night pays once"
        nights.another_worker(monkeypatch, later=timedelta(days=1))
        nights.assert_nothing_is_left_open()
        assert nights.memory == f"{MEMORY}\n- tea is at four (2026-09-19)\n", outcome.points[-1:]
        assert Proposal.objects.get(agent_id=nights.scope.id).state == "approved"
        registry.archive(nights.scope.id)


def test_runs_of_other_agents_go_on_while_one_is_under_way(
    children: Children, home: Path, monkeypatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(client, "ask", scenes.paid_model(tmp_path / "log"))
    mine = agent_with_notes("coach").id
    theirs = agent_with_notes("kira").id
    busy = runs.queue(mine, Run.Kind.CONSOLIDATE, source="memory:consolidate")
    waiting = runs.queue(theirs, Run.Kind.CONSOLIDATE, source="memory:consolidate")
    with runs.claimed(busy):
        done = execution.advance()
    assert done is not None
    assert done.public_id == waiting.public_id
