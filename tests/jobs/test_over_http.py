"""A consolidation over real HTTP against a model server that is slow, busy, cut off, empty or talks nonsense."""

from contextlib import suppress
from decimal import Decimal

import pytest

from apps.agents import registry
from apps.errors import ModelFailed
from apps.proposals.models import Proposal
from apps.runs.models import Call, Run
from tests.jobs.running import consolidate
from tests.llm.model_server import ModelServer, ok, refused_address, slow, status, truncated

pytestmark = pytest.mark.django_db(transaction=True)

OLD = "# Memory\n\n- one (2026-01-05)\n- two\n"
ANSWER = f"{OLD}- tea is at four (2026-09-19)\n\n---REASONS---\n- said on the 19th\n"
USAGE = {"prompt_tokens": 900, "completion_tokens": 100}


@pytest.fixture
def ask(notes, memory, settings):
    """Let `coach` be consolidated by a server that behaves as given; returns the run and the server."""
    notes({"2026-09-19": "# 2026-09-19\n\n- 08:00 tea is at four\n"})
    settings.MEMORYHUB_MODEL_SECONDS = 1
    settings.MEMORYHUB_MODEL_PRICES = {"openai/test": (Decimal(1000), Decimal(2000))}

    def run(*behaviours, names=("openai/test",), **addresses):
        with ModelServer(list(behaviours)) as server:
            settings.MEMORYHUB_MODEL = list(names)
            settings.MEMORYHUB_MODEL_ADDRESSES = dict.fromkeys(names, server.address) | {
                f"openai/{name}": address for name, address in addresses.items()
            }
            with suppress(ModelFailed):
                consolidate("coach")
        return Run.objects.latest("id"), server

    return run


def untouched(memory) -> bool:
    return memory.read_text() == OLD and not Proposal.objects.exists()


def test_a_good_answer_is_proposed_with_its_tokens_and_price(ask, memory):
    run, server = ask(ok(ANSWER, usage=USAGE))
    assert (run.state, run.outcome, run.prompt_tokens, run.completion_tokens) == ("done", "proposed", 900, 100)
    assert (run.cost, run.model, run.finish_reason) == (Decimal("1.1"), "test-1", "stop")
    assert run.estimate["notes"] == 1
    assert Decimal(run.estimate["cost"]) > run.cost
    [request] = server.requests
    assert [message["role"] for message in request.body["messages"]] == ["user"]
    assert "tea is at four" in request.prompt


def test_without_a_price_in_the_settings_it_is_unknown_and_not_zero(ask, settings):
    settings.MEMORYHUB_MODEL_PRICES = {}
    run, _ = ask(ok(ANSWER, usage=USAGE))
    assert (run.state, run.cost, run.tokens) == ("done", None, 1000)
    assert Call.objects.get().cost is None


def test_a_busy_provider_is_asked_again_and_the_attempt_is_kept(ask):
    run, server = ask(status(429, headers={"Retry-After": "0"}), ok(ANSWER))
    assert (run.state, len(server.requests)) == ("done", 2)
    assert [(one["reason"], one["status"]) for one in Call.objects.get().attempts] == [("rate_limited", 429)]


def test_the_second_route_takes_over_where_no_answer_came(ask):
    run, server = ask(ok(ANSWER), names=("openai/gone", "openai/test"), gone=refused_address())
    assert (run.state, run.outcome, len(server.requests)) == ("done", "proposed", 1)
    assert {one["reason"] for one in Call.objects.get().attempts} == {"connection"}


def test_the_rules_take_over_when_no_provider_answers(ask, memory):
    (memory.parent / "memory" / "2026-09-19.md").write_text("# 2026-09-19\n\n## Retain\n- W tea is at four\n")
    run, _ = ask(names=("openai/gone", "offline"), gone=refused_address())
    assert (run.state, run.outcome, run.model) == ("done", "proposed", "offline")


def test_c17_an_answer_cut_off_is_a_failed_run_with_its_tokens_booked_and_no_second_call(ask, memory):
    run, server = ask(ok('```json\n{"memory": "# M', usage=USAGE, finish_reason="length"))
    assert (run.state, run.outcome, run.prompt_tokens, run.cost) == ("failed", "truncated", 900, Decimal("1.1"))
    assert "test-1" in run.error
    assert "100" in run.error
    assert (len(server.requests), untouched(memory)) == (1, True)


@pytest.mark.parametrize("text", ["", None, "   \n"])
def test_c17_an_empty_answer_is_a_failed_run_and_never_nothing_to_do(ask, memory, text):
    run, server = ask(ok(text, usage=USAGE))
    assert (run.state, run.outcome) == ("failed", "bad_answer")
    assert (len(server.requests), untouched(memory)) == (1, True)


def test_c17_an_empty_answer_with_length_says_that_the_limit_was_reached(ask, memory):
    run, _ = ask(ok("", usage=USAGE, finish_reason="length"))
    assert (run.state, run.outcome, untouched(memory)) == ("failed", "truncated", True)


def test_c17_a_whole_looking_answer_with_length_is_not_used(ask, memory):
    run, _ = ask(ok(ANSWER, usage=USAGE, finish_reason="length"))
    assert (run.state, run.outcome, untouched(memory)) == ("failed", "truncated", True)


@pytest.mark.parametrize("behaviour", [truncated(), status(200, "")])
def test_half_an_answer_is_never_asked_for_again(ask, memory, behaviour):
    run, server = ask(behaviour, ok(ANSWER), names=("openai/test", "openai/other"))
    assert (run.state, run.outcome) == ("failed", "bad_answer")
    assert (len(server.requests), untouched(memory)) == (1, True)


def test_a_silent_model_fails_the_run_in_time_and_says_so(ask, memory):
    run, _ = ask(slow(30))
    assert (run.state, run.outcome, untouched(memory)) == ("failed", "provider_error", True)
    assert "1 second" in run.error
    assert run.seconds < 20
    assert Call.objects.get().cost is None


def test_nonsense_is_a_failed_run_or_waits_for_a_person_but_is_never_written(ask, memory):
    registry.change("coach", autonomous=True)
    run, _ = ask(ok("I am sorry, I cannot help with that.", usage=USAGE))
    assert memory.read_text() == OLD
    assert run.outcome in {"bad_answer", "held"}


def test_a_refused_key_is_told_and_not_tried_on_the_next_model(ask, memory):
    run, server = ask(
        status(401, "Incorrect API key provided: sk-proj-abcdefghijklmnop1234"),
        ok(ANSWER),
        names=("openai/test", "openai/other"),
    )
    assert (run.state, run.outcome, len(server.requests), untouched(memory)) == ("failed", "provider_error", 1, True)
    assert "401" in run.error
    assert "abcdefghijklmnop" not in run.error


def test_a_budget_that_the_run_would_exceed_refuses_it_before_anything_is_sent(ask, memory):
    registry.change("coach", budget_day=Decimal("0.5"))
    run, server = ask(ok(ANSWER, usage=USAGE))
    assert (run.state, run.outcome, len(server.requests), untouched(memory)) == ("refused", "over_budget", 0, True)
    assert Call.objects.count() == 0


def test_a_budget_and_a_model_without_a_price_refuse_each_other(ask, settings):
    settings.MEMORYHUB_MODEL_PRICES = {}
    settings.MEMORYHUB_BUDGET_MONTH = Decimal(5)
    run, server = ask(ok(ANSWER, usage=USAGE))
    assert (run.state, run.outcome, len(server.requests)) == ("refused", "price_unknown", 0)


def test_a_run_within_its_budget_goes_on_until_it_is_spent(ask, memory, notes):
    registry.change("coach", budget_month=Decimal("55"))
    run, _ = ask(ok(ANSWER, usage={"prompt_tokens": 20_000, "completion_tokens": 15_000}))
    assert (run.state, run.cost) == ("done", Decimal(50))
    notes({"2026-09-20": "- 09:00 coffee is at ten\n"})
    again, server = ask(ok(ANSWER))
    assert (again.state, again.outcome, len(server.requests)) == ("refused", "over_budget", 0)
