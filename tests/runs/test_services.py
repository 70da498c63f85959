"""A Run's life: running, then how it ended; one at a time for an agent; what a model says it cost."""

from decimal import Decimal

import pytest

from apps.errors import Conflict, ModelFailed
from apps.ledger import locks
from apps.llm import client
from apps.runs import queries, services
from apps.runs.models import Run
from apps.vault import lock

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_run_is_running_inside_the_block_and_done_after_it(home):
    with services.running("coach", "consolidate", source="memory:consolidate") as run:
        assert Run.objects.get().state == "running"
        assert not lock.free(locks.run_lock_path("coach"))
        run.outcome, run.summary = "unchanged", "Nothing to change."
    stored = queries.run(run.public_id)
    assert (stored.state, stored.outcome, stored.summary) == ("done", "unchanged", "Nothing to change.")
    assert stored.seconds is not None
    assert stored.seconds >= 0
    assert lock.free(locks.run_lock_path("coach"))


def test_an_error_ends_it_as_failed_with_the_code_and_is_raised(home):
    with pytest.raises(ModelFailed), services.running("coach", "consolidate", source="x"):
        raise ModelFailed("No answer.", code="provider_error")
    run = Run.objects.get()
    assert (run.state, run.outcome, run.error, run.summary) == ("failed", "provider_error", "No answer.", "No answer.")


def test_a_bug_ends_it_as_failed_too_and_its_summary_is_cut(home):
    with pytest.raises(ZeroDivisionError), services.running("coach", "consolidate", source="x"):
        raise ZeroDivisionError("x\x00\ud83d" * 200)
    run = Run.objects.get()
    assert (run.state, run.outcome, len(run.summary)) == ("failed", "crashed", 160)
    assert "\x00" not in run.error


def test_another_agents_run_is_no_hindrance_and_the_same_agents_is(home):
    with services.running("coach", "consolidate", source="x"):
        with services.running("kira", "consolidate", source="x"):
            assert Run.objects.filter(state="running").count() == 2
        with pytest.raises((Conflict, RuntimeError)), services.running("coach", "consolidate", source="x"):
            pass
    assert set(Run.objects.values_list("state", flat=True)) == {"done"}


def test_what_the_answers_cost_is_added_up_and_unknown_stays_unknown(home, monkeypatch):
    answers = [
        client.Answer("a", "p", "m-1", "stop", 10, 5, Decimal("0.01"), 0.1),
        client.Answer("b", "p", "m-2", "stop", None, 5, None, 0.1),
    ]
    monkeypatch.setattr(client, "ask", lambda task, route: answers.pop(0))
    with services.running("coach", "consolidate", source="x") as run:
        services.ask(run, client.Task("rewrite", "", {}), route=["m"])
        assert (run.prompt_tokens, run.completion_tokens, run.cost) == (10, 5, Decimal("0.01"))
        services.ask(run, client.Task("rewrite", "", {}), route=["m"])
    stored = Run.objects.get()
    assert (stored.prompt_tokens, stored.completion_tokens, stored.cost, stored.model) == (10, 10, None, "m-2")
    assert stored.answered is True
