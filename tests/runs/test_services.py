"""A Run's life: queued, claimed, ended; one at a time for an agent; found when it died, and tried again."""

import multiprocessing
import os
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import OperationalError, connection, connections
from django.utils import timezone

from apps.errors import Busy, Conflict, ModelFailed
from apps.ledger import locks
from apps.runs import heartbeat, queries, services
from apps.runs.models import Call, Run
from apps.vault import lock

pytestmark = pytest.mark.django_db(transaction=True)


def queued(agent: str = "coach", **facts) -> Run:
    return services.queue(agent, "consolidate", source="memory:consolidate", **facts)


def died(**facts) -> Run:
    """A run whose process is gone: running on the row, its lock free."""
    run = queued()
    Run.objects.filter(pk=run.pk).update(state="running", **facts)
    return Run.objects.get(pk=run.pk)


def test_a_run_is_queued_then_running_inside_the_block_and_done_after_it(home):
    run = queued()
    assert run.state == "queued"
    with services.claimed(run):
        assert Run.objects.get().state == "running"
        assert not lock.free(locks.run_lock_path("coach"))
        run.outcome, run.summary = "unchanged", "Nothing to change."
    stored = queries.run(run.public_id)
    assert (stored.state, stored.outcome, stored.summary) == ("done", "unchanged", "Nothing to change.")
    assert stored.seconds is not None
    assert stored.seconds >= 0
    assert lock.free(locks.run_lock_path("coach"))


def test_an_error_ends_it_as_failed_with_the_code_and_is_raised(home):
    with pytest.raises(ModelFailed), services.claimed(queued()):
        raise ModelFailed("No answer.", code="provider_error")
    run = Run.objects.get()
    assert (run.state, run.outcome, run.error, run.summary) == ("failed", "provider_error", "No answer.", "No answer.")


def test_a_run_that_would_cost_too_much_is_refused_not_failed(home):
    with pytest.raises(ModelFailed), services.claimed(queued()):
        raise ModelFailed("The budget is spent.", code="over_budget")
    assert (Run.objects.get().state, Run.objects.get().outcome) == ("refused", "over_budget")


def test_a_bug_ends_it_as_failed_too_and_its_summary_is_cut(home):
    with pytest.raises(ZeroDivisionError), services.claimed(queued()):
        raise ZeroDivisionError("x\x00\ud83d" * 2000)
    run = Run.objects.get()
    assert (run.state, run.outcome, len(run.summary), len(run.error)) == ("failed", "crashed", 160, 2000)
    assert "\x00" not in run.error


def test_an_error_that_quotes_a_credential_is_kept_without_it(home):
    with pytest.raises(RuntimeError), services.claimed(queued()):
        raise RuntimeError("Could not read export SERVICE_TOKEN=sk-test-0000000000000000000000000000")
    assert "sk-test" not in Run.objects.get().error


def test_another_agents_run_is_no_hindrance_and_the_same_agents_is(home):
    mine, theirs = queued(), queued("kira")
    with services.claimed(mine):
        with services.claimed(theirs):
            assert Run.objects.filter(state="running").count() == 2
        with pytest.raises(Conflict) as error:
            queued()
        assert (error.value.code, error.value.details["run"]) == ("busy_run", mine.public_id)


def test_while_one_is_queued_the_same_is_not_queued_again(home):
    first = queued()
    with pytest.raises(Conflict) as error:
        queued()
    assert (error.value.code, error.value.details["run"]) == ("busy_run", first.public_id)
    assert Run.objects.count() == 1


def test_a_run_can_be_claimed_once(home):
    run = queued()
    same = Run.objects.get(pk=run.pk)
    with services.claimed(run):
        pass
    with pytest.raises(Conflict) as error, services.claimed(same):
        pass
    assert error.value.code == "busy_run"
    assert Run.objects.get().state == "done"


def test_ten_processes_claim_a_run_and_one_gets_it(home):
    run = queued()
    connections.close_all()
    context = multiprocessing.get_context("fork")
    results = context.Queue()

    def claim() -> None:
        try:
            with services.claimed(Run.objects.get(pk=run.pk)):
                time.sleep(0.3)
            results.put("ran")
        except Conflict as error:
            results.put(error.code)
        finally:
            connections.close_all()

    crew = [context.Process(target=claim) for _ in range(10)]
    for one in crew:
        one.start()
    told = [results.get(timeout=20) for _ in crew]
    for one in crew:
        one.join()
    assert sorted(told) == ["busy_run"] * 9 + ["ran"]
    assert Run.objects.count() == 1


def test_a_living_run_is_not_taken_for_lost(home):
    run = queued()
    connections.close_all()
    context = multiprocessing.get_context("fork")
    inside = context.Event()

    def work() -> None:
        with services.claimed(Run.objects.get(pk=run.pk)):
            inside.set()
            time.sleep(30)

    process = context.Process(target=work)
    process.start()
    assert inside.wait(10)
    assert services.mark_lost() == []
    os.kill(process.pid, signal.SIGKILL)
    process.join()
    assert [lost.public_id for lost in services.mark_lost()] == [run.public_id]
    assert queries.run(run.public_id).state == "lost"


def test_a_run_that_died_is_lost_at_once_and_tried_again_as_a_new_one(home):
    run = died()
    assert [lost.public_id for lost in services.mark_lost()] == [run.public_id]
    again = Run.objects.get(state="queued")
    assert (again.retry_of, again.attempt, again.source) == (run.public_id, 2, "memory:consolidate")
    assert services.mark_lost() == []


def test_a_night_that_died_is_tried_again_for_the_same_date(home):
    from datetime import date

    run = queued(night=date(2026, 9, 15))
    Run.objects.filter(pk=run.pk).update(state="running")
    services.mark_lost()
    assert Run.objects.get(state="queued").local_date == date(2026, 9, 15)
    with pytest.raises(Conflict):
        queued(night=date(2026, 9, 15))


def test_whoever_asks_next_finds_the_dead_one_lost_too(home):
    died(attempt=services.MOST_ATTEMPTS)
    run = queued()
    assert sorted(Run.objects.values_list("state", flat=True)) == ["lost", "queued"]
    with services.claimed(run):
        pass
    assert run.state == "done"


def test_it_is_given_up_after_the_set_number_of_attempts(home):
    died(attempt=services.MOST_ATTEMPTS)
    services.mark_lost()
    assert list(Run.objects.values_list("state", flat=True)) == ["lost"]


def test_a_call_that_may_have_been_billed_is_not_made_again_the_same_night(home):
    run = died()
    Call.objects.create(run=run, purpose="rewrite", route="openai/x", prompt_sha="0" * 64)
    services.mark_lost()
    assert list(Run.objects.values_list("state", flat=True)) == ["lost"]


def test_a_call_that_failed_and_may_have_been_billed_is_not_made_again_either(home):
    run = died()
    Call.objects.create(run=run, purpose="rewrite", route="openai/x", prompt_sha="0" * 64, state="failed", cost=None)
    services.mark_lost()
    assert list(Run.objects.values_list("state", flat=True)) == ["lost"]


def test_a_process_that_dies_while_it_marks_a_run_lost_leaves_it_to_the_next(home, monkeypatch):
    died()

    def die(run):
        raise SystemExit

    with monkeypatch.context() as patched:
        patched.setattr(services, "again", die)
        with pytest.raises(SystemExit):
            services.mark_lost()
    assert list(Run.objects.values_list("state", flat=True)) == ["running"]
    services.mark_lost()
    assert sorted(Run.objects.values_list("state", flat=True)) == ["lost", "queued"]


def test_a_run_that_was_taken_for_lost_meanwhile_stays_lost(home):
    run = queued()

    def work() -> None:
        with services.claimed(run):
            Run.objects.filter(pk=run.pk).update(state="lost")

    with pytest.raises(Conflict) as error:
        work()
    assert error.value.code == "run_lost"
    assert Run.objects.get().state == "lost"


def test_a_refused_claim_leaves_no_thread_and_no_open_file_behind(home):
    run, waiting = queued(), None
    with services.claimed(run):
        before = threading.active_count(), len(os.listdir("/proc/self/fd"))
        with ThreadPoolExecutor(1) as pool:
            for _ in range(20):
                waiting = pool.submit(_looked)
                assert waiting.result() == []
        assert threading.active_count() <= before[0]
        assert len(os.listdir("/proc/self/fd")) <= before[1] + 2


def _looked() -> list[Run]:
    try:
        return services.mark_lost()
    finally:
        connection.close()


def test_a_call_to_the_rules_costs_nothing_and_is_made_again(home):
    run = died()
    Call.objects.create(run=run, purpose="rewrite", route="offline", free=True, prompt_sha="0" * 64)
    services.mark_lost()
    assert Run.objects.filter(state="queued").count() == 1


@pytest.mark.parametrize("error", [Busy("The scope is locked."), OperationalError("database is locked")])
def test_a_busy_home_or_database_does_not_lose_the_run(home, error):
    with pytest.raises(type(error)), services.claimed(queued()):
        raise error
    assert Run.objects.get(state="queued").attempt == 2


def test_a_run_on_another_host_is_lost_when_its_heart_has_stopped(home):
    """Another host's locks cannot be seen; on SQLite there is no other host."""
    run = died(host="another-host", seen_at=timezone.now())
    shared = connection.vendor == "postgresql"
    assert bool(services.mark_lost()) != shared
    if shared:
        with pytest.raises(Conflict):
            queued()
    Run.objects.filter(pk=run.pk).update(
        state="running", seen_at=timezone.now() - timedelta(seconds=queries.DEAD_AFTER + 1)
    )
    assert [lost.public_id for lost in services.mark_lost()] == [run.public_id]


def test_a_heart_beats_where_hosts_share_a_database_and_nothing_is_written_where_they_cannot(home, monkeypatch):
    monkeypatch.setattr(heartbeat, "EVERY", 0.02)
    with services.claimed(queued()) as run:
        began = run.seen_at
        time.sleep(0.3)
        assert (Run.objects.get().seen_at > began) == (connection.vendor == "postgresql")
    assert Run.objects.get().state == "done"


def test_a_night_is_had_once_a_date(home):
    from datetime import date

    with services.claimed(queued(night=date(2026, 9, 15))):
        pass
    with pytest.raises(Conflict) as error:
        queued(night=date(2026, 9, 15))
    assert error.value.code == "night_done"
    queued(night=date(2026, 9, 16))
