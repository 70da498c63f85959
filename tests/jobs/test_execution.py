"""Working the queue off: one run that cannot begin never keeps the others waiting, and no bell rings for ever."""

import logging

import pytest

from apps.errors import Busy
from apps.jobs import consolidate, execution, nightly, tasks
from apps.jobs.execution import JOBS
from apps.ledger import locks
from apps.runs import services as runs
from apps.runs.models import Run

pytestmark = pytest.mark.django_db(transaction=True)


def queued(agent: str) -> Run:
    return runs.queue(agent, Run.Kind.CONSOLIDATE, source=consolidate.SOURCE)


@pytest.fixture
def rung(monkeypatch):
    """How often the bell was rung."""
    rings = []
    monkeypatch.setattr(tasks.bell, "ring", lambda: rings.append("ring"))
    return rings


@pytest.fixture
def job(monkeypatch):
    """Let the consolidation do something else: `job(function of the run)`."""

    def do(work):
        monkeypatch.setitem(JOBS, Run.Kind.CONSOLIDATE, work)

    return do


def test_a_run_whose_lock_cannot_be_opened_stays_queued_and_the_next_one_is_done(crew, rung):
    stuck, fine = queued("coach"), queued("default")
    path = locks.run_lock_path("coach")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.mkdir()
    assert execution.advance().public_id == fine.public_id
    tasks.advance()
    assert rung == [], "what stays queued is no reason to ring again"
    assert Run.objects.get(pk=stuck.pk).state == "queued"
    path.rmdir()
    assert execution.advance().public_id == stuck.public_id


def test_a_home_that_is_not_there_leaves_the_queue_as_it_is_and_rings_for_nobody(crew, rung, home, settings):
    queued("coach")
    settings.MEMORYHUB_HOME = home / "gone"
    for _ in range(5):
        tasks.advance()
    assert rung == []
    assert Run.objects.get().state == "queued"


def test_no_more_runs_than_the_setting_says_go_on_at_once(crew, settings):
    settings.MEMORYHUB_WORKERS = 1
    mine, theirs = queued("coach"), queued("default")
    with runs.claimed(mine):
        assert execution.advance() is None
    assert execution.advance().public_id == theirs.public_id


def test_a_worker_has_a_process_more_than_runs_may_go_on(settings):
    assert settings.Q_CLUSTER["workers"] == settings.MEMORYHUB_WORKERS + 1


def test_a_run_that_found_the_home_busy_waits_for_the_next_round(crew, rung, job):
    def busy(run):
        raise Busy("Another writer holds coach.")

    job(busy)
    queued("coach")
    tasks.advance()
    assert rung == []
    assert Run.objects.get(state="queued").attempt == 2
    nightly.tick()
    assert rung == ["ring"]


def test_a_run_that_ended_rings_for_the_next(crew, rung, job):
    job(lambda run: None)
    queued("coach")
    tasks.advance()
    assert rung == ["ring"]


def test_a_bug_is_told_with_the_number_of_its_run_and_without_what_it_quotes(crew, job, caplog):
    def bug(run):
        raise KeyError("export SERVICE_TOKEN=sk-test-0000000000000000000000000000")

    job(bug)
    run = queued("coach")
    with caplog.at_level(logging.ERROR):
        assert execution.advance().state == "failed"
    assert run.public_id in caplog.text
    assert "Traceback" in caplog.text
    assert "sk-test" not in caplog.text
