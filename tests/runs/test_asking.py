"""What a question to a model leaves behind: booked before and after, added up, never asked twice for the same money."""

import hashlib
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from decimal import Decimal

import pytest
from django.db import OperationalError, connection

from apps.errors import Conflict, ModelFailed
from apps.ledger import database, texts
from apps.llm import client
from apps.llm.routes import Route
from apps.runs import asking, budgets, services
from apps.runs.models import Call, Run

pytestmark = pytest.mark.django_db(transaction=True)

TASK = client.Task("rewrite", "Who is Kira?", {})
ROUTE = Route(names=("openai/m",))


def answer(text: str = "a", tokens: tuple = (10, 5), cost: Decimal | None = Decimal("0.01")) -> client.Answer:
    return client.Answer(text, "p", "m-1", "stop", *tokens, cost, 0.1)


@pytest.fixture
def seam(monkeypatch):
    """Answers to give, in order; an exception is raised."""
    told = []

    def ask(task, *, route):
        given = told.pop(0)
        if callable(given):
            given = given()
        if isinstance(given, BaseException):
            raise given
        return given

    monkeypatch.setattr(client, "ask", ask)
    return told


def ends(run: Run, error: type[BaseException] | BaseException) -> None:
    """The run asks, gets its answer, and ends in this error."""

    def work() -> None:
        with services.claimed(run):
            asking.ask(run, TASK, route=ROUTE)
            raise error

    with pytest.raises(type(error) if isinstance(error, BaseException) else error):
        work()


@pytest.fixture
def run(home) -> Run:
    return services.queue("coach", "consolidate", source="x")


def test_what_the_answers_cost_is_added_up_and_unknown_stays_unknown(run, seam):
    seam += [answer(), answer(tokens=(None, 5), cost=None)]
    with services.claimed(run):
        asking.ask(run, TASK, route=ROUTE)
        assert (run.prompt_tokens, run.completion_tokens, run.cost) == (10, 5, Decimal("0.01"))
        asking.ask(run, client.Task("rewrite", "Another", {}), route=ROUTE)
    stored = Run.objects.get()
    assert (stored.prompt_tokens, stored.completion_tokens, stored.cost) == (10, 10, None)
    assert stored.answered is True
    assert [(one.cost, one.prompt_tokens) for one in Call.objects.all()] == [(Decimal("0.010000"), 10), (None, None)]


def test_the_question_is_on_disk_before_it_is_sent_and_its_text_never(run, seam):
    seen = []

    def look():
        seen.extend(Call.objects.values("state", "cost", "prompt_sha", "route"))
        return answer()

    seam.append(look)
    with services.claimed(run):
        asking.ask(run, TASK, route=ROUTE)
    sha = hashlib.sha256(TASK.prompt.encode()).hexdigest()
    assert seen == [{"state": "asked", "cost": None, "prompt_sha": sha, "route": "openai/m"}]
    assert "Kira" not in str(list(Call.objects.values())) + str(list(Run.objects.values()))


@pytest.mark.parametrize("cost", [Decimal("NaN"), Decimal("-1"), Decimal("Infinity"), Decimal("1e9"), None])
@pytest.mark.parametrize("tokens", [(-1, -5), (2**40, 2**62)])
def test_a_price_or_a_count_that_makes_no_sense_is_unknown(run, seam, cost, tokens):
    seam.append(answer(tokens=tokens, cost=cost))
    with services.claimed(run):
        asking.ask(run, TASK, route=ROUTE)
    stored = Call.objects.get()
    assert (stored.cost, stored.prompt_tokens, stored.completion_tokens) == (None, None, None)


def test_an_estimate_that_no_row_can_hold_is_asked_about_and_stored_as_unknown(run, seam):
    seam.append(answer())
    with services.claimed(run):
        asking.ask(run, TASK, route=ROUTE, cost=Decimal("1e30"))
    assert Call.objects.get().reserved is None


def test_whatever_a_server_calls_itself_the_answer_is_kept_and_the_run_can_be_read(run, seam):
    odd = "m\x00\ud83d\u202e" + "x" * 500
    seam.append(replace(answer("paid"), model=odd, provider=odd, finish_reason=odd))
    with services.claimed(run):
        asking.ask(run, TASK, route=ROUTE)
    call = Call.objects.get()
    assert call.model == ("m" + "x" * 500)[:160]
    assert call.answer.content == b"paid"
    assert Run.objects.get().state == "done"


def test_a_database_that_is_locked_when_the_answer_comes_does_not_lose_it(run, seam, monkeypatch):
    monkeypatch.setattr(database, "_PAUSE", 0.01)
    keep, refused = texts.keep, []

    def locked_twice(contents):
        if len(refused) < 2:
            refused.append(True)
            raise OperationalError("database is locked")
        keep(contents)

    monkeypatch.setattr(texts, "keep", locked_twice)
    seam.append(answer("paid"))
    with services.claimed(run):
        assert asking.ask(run, TASK, route=ROUTE).text == "paid"
    assert (Call.objects.get().state, Run.objects.get().state, len(refused)) == ("answered", "done", 2)


def test_a_call_that_failed_is_kept_with_its_attempts_and_costs_nothing_when_nobody_worked(run, seam):
    attempts = [{"model": "openai/m", "provider": "openai", "seconds": 0.1, "reason": "rate_limited", "status": 429}]
    seam.append(ModelFailed("openai/m: 429.", code="provider_error", attempts=attempts))
    with pytest.raises(ModelFailed), services.claimed(run):
        asking.ask(run, TASK, route=ROUTE)
    call = Call.objects.get()
    assert (call.state, call.error, call.attempts, call.cost) == ("failed", "openai/m: 429.", attempts, 0)


@pytest.mark.parametrize(
    ("code", "reason"), [("provider_error", "timeout"), ("provider_error", "closed"), ("bad_answer", "")]
)
def test_a_call_that_may_have_been_billed_for_nothing_has_an_unknown_price(run, seam, code, reason):
    attempts = [{"model": "openai/m", "provider": "openai", "seconds": 120, "reason": reason, "status": None}]
    seam.append(ModelFailed("Nothing of use.", code=code, attempts=attempts if reason else []))
    with pytest.raises(ModelFailed), services.claimed(run):
        asking.ask(run, TASK, route=ROUTE)
    assert Call.objects.get().cost is None


@pytest.mark.parametrize(
    ("reason", "status", "cost"),
    [
        ("timeout", None, None),
        ("server_error", 504, None),
        ("server_error", 503, Decimal("0.01")),
        ("rate_limited", 429, Decimal("0.01")),
    ],
)
def test_a_model_that_stayed_silent_before_another_answered_may_be_billed_too(run, seam, reason, status, cost):
    silent = client.Attempt("openai/silent", "openai", 120.0, reason, status)
    seam.append(replace(answer(), attempts=(silent,)))
    with services.claimed(run):
        asking.ask(run, TASK, route=ROUTE)
    assert Call.objects.get().cost == cost


def test_an_answer_paid_for_by_a_run_that_died_is_used_by_the_next_for_nothing(run, seam):
    seam.append(answer("# Memory\n\nwith \x00 and \ud83d odd things"))
    ends(run, KeyboardInterrupt)
    Run.objects.filter(pk=run.pk).update(state="running", finished_at=None)
    services.mark_lost()
    again = Run.objects.get(state="queued")
    with services.claimed(again):
        got = asking.ask(again, TASK, route=ROUTE)
    assert (got.text, got.model, got.finish_reason) == ("# Memory\n\nwith \x00 and \ud83d odd things", "m-1", "stop")
    assert (again.cost, again.prompt_tokens) == (0, 0)
    assert [one.state for one in Call.objects.order_by("id")] == ["answered", "reused"]


def test_what_it_may_cost_is_reserved_before_it_is_sent_and_a_limit_refuses_it(run, seam):
    limits = [budgets.Limit("day", Decimal("1"))]
    seen = []

    def look():
        seen.extend(Call.objects.values_list("reserved", flat=True))
        return answer()

    seam += [look, answer()]
    with services.claimed(run):
        asking.ask(run, TASK, route=ROUTE, cost=Decimal("0.995"), limits=limits)
    assert seen == [Decimal("0.995")]
    again = services.queue("kira", "consolidate", source="x")
    with pytest.raises(ModelFailed) as error, services.claimed(again):
        asking.ask(again, TASK, route=ROUTE, cost=Decimal("0.995"), limits=limits)
    assert error.value.code == "over_budget"
    assert Call.objects.count() == 1


def test_two_runs_at_the_same_moment_do_not_both_take_what_is_left_of_a_budget(home, monkeypatch):
    limits = [budgets.Limit("day", Decimal("1"))]
    monkeypatch.setattr(client, "ask", lambda task, *, route: time.sleep(0.3) or answer())

    def work(agent: str) -> str:
        try:
            mine = services.queue(agent, "consolidate", source="x")
            with services.claimed(mine):
                asking.ask(mine, TASK, route=ROUTE, cost=Decimal("0.6"), limits=limits)
        except ModelFailed as error:
            return error.code
        finally:
            connection.close()
        return "asked"

    with ThreadPoolExecutor(4) as pool:
        told = list(pool.map(work, ["a", "b", "c", "d"]))
    assert sorted(told) == ["asked", "over_budget", "over_budget", "over_budget"]


def test_an_answer_that_comes_after_the_run_was_taken_for_lost_is_kept_and_the_run_is_left_alone(run, seam):
    def late():
        Run.objects.filter(pk=run.pk).update(state="lost")
        return answer("late")

    seam.append(late)
    with pytest.raises(Conflict), services.claimed(run):
        asking.ask(run, TASK, route=ROUTE)
    assert Run.objects.get().state == "lost"
    again = services.queue("coach", "consolidate", source="x")
    with services.claimed(again):
        assert asking.ask(again, TASK, route=ROUTE).text == "late"


def test_a_call_that_failed_names_its_model_and_the_time_it_took(run, seam):
    seam.append(ModelFailed("openai/m refused the question: 401.", code="provider_error", model="openai/m", status=401))
    with pytest.raises(ModelFailed), services.claimed(run):
        asking.ask(run, TASK, route=ROUTE)
    call = Call.objects.get()
    assert (call.model, call.cost) == ("openai/m", 0)
    assert call.seconds >= 0


def test_another_question_is_asked_anew(run, seam):
    seam += [answer("one"), answer("two")]
    ends(run, KeyboardInterrupt)
    again = services.queue("coach", "consolidate", source="x")
    with services.claimed(again):
        assert asking.ask(again, client.Task("rewrite", "Another", {}), route=ROUTE).text == "two"


def test_an_answer_that_was_judged_is_not_used_again(run, seam):
    seam += [answer("bad"), answer("good")]
    ends(run, ModelFailed("No memory in it.", code="bad_answer"))
    again = services.queue("coach", "consolidate", source="x")
    with services.claimed(again):
        assert asking.ask(again, TASK, route=ROUTE).text == "good"


def test_an_answer_paid_for_by_another_agent_is_never_used(run, seam, home):
    seam += [answer("of coach"), answer("of kira")]
    ends(run, KeyboardInterrupt)
    other = services.queue("kira", "consolidate", source="x")
    with services.claimed(other):
        assert asking.ask(other, TASK, route=ROUTE).text == "of kira"
