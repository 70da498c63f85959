"""Budgets by day and month, for an agent and for all together; an unknown price is not zero."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from apps.errors import ModelFailed
from apps.runs import budgets
from apps.runs.models import Call, Run

pytestmark = pytest.mark.django_db


def spend(
    agent: str, cost: str | None, at: datetime | None = None, *, state: str = "answered", reserved: str | None = None
) -> None:
    run = Run.objects.create(agent_id=agent, kind="consolidate", state="done")
    call = Call.objects.create(
        run=run,
        purpose="rewrite",
        state=state,
        route="openai/m",
        model="m",
        cost=cost and Decimal(cost),
        reserved=reserved and Decimal(reserved),
        prompt_sha="x",
    )
    if at:
        Call.objects.filter(pk=call.pk).update(asked_at=at)


def test_a_day_begins_at_midnight_of_the_sites_zone(settings):
    settings.TIME_ZONE = "Asia/Ho_Chi_Minh"
    now = datetime(2026, 3, 5, 17, 30, tzinfo=UTC)
    assert budgets.began("day", now) == datetime(2026, 3, 5, 17, 0, tzinfo=UTC)
    assert budgets.began("month", now) == datetime(2026, 2, 28, 17, 0, tzinfo=UTC)
    assert budgets.ends("day", now) == datetime(2026, 3, 6, 17, 0, tzinfo=UTC)
    assert budgets.ends("month", now) == datetime(2026, 3, 31, 17, 0, tzinfo=UTC)


@pytest.mark.parametrize("day", ["2026-03-29", "2026-10-25"])
def test_a_day_of_23_or_25_hours_is_a_day(settings, day):
    settings.TIME_ZONE = "Europe/Berlin"
    noon = datetime.fromisoformat(f"{day}T11:00+00:00")
    length = budgets.ends("day", noon).astimezone(UTC) - budgets.began("day", noon).astimezone(UTC)
    assert length in {timedelta(hours=23), timedelta(hours=25)}
    assert budgets.ends("day", noon).hour == 0


def test_what_was_spent_is_added_up_by_span_and_agent_and_unknown_prices_are_counted():
    now = datetime(2026, 9, 15, 12, 0, tzinfo=UTC)
    spend("coach", "0.10", now)
    spend("kira", "0.20", now)
    spend("coach", None, now)
    spend("coach", None, now, state="asked")
    spend("coach", "0.40", now - timedelta(days=3))
    spend("coach", "0.80", now - timedelta(days=30))
    assert budgets.spent("day", "coach", now) == budgets.Spent(Decimal("0.10"), 2)
    assert budgets.spent("day", "", now) == budgets.Spent(Decimal("0.30"), 2)
    assert budgets.spent("month", "coach", now) == budgets.Spent(Decimal("0.50"), 2)


@pytest.mark.parametrize(("span", "agent"), [("day", "coach"), ("month", "coach"), ("day", ""), ("month", "")])
def test_a_run_that_would_exceed_a_budget_is_refused_with_what_is_spent_and_when_it_begins_anew(span, agent):
    spend("coach", "0.95")
    limit = [budgets.Limit(span, Decimal("1"), agent)]
    budgets.check(limit, agent_id="coach", cost=Decimal("0.05"))
    with pytest.raises(ModelFailed) as error:
        budgets.check(limit, agent_id="coach", cost=Decimal("0.051"))
    assert error.value.code == "over_budget"
    assert "$0.9500 is spent" in error.value.message
    assert f"The next {span} begins" in error.value.message
    assert ("of coach" in error.value.message) == (agent == "coach")


def test_what_another_agent_spent_counts_for_the_total_only():
    spend("kira", "0.95")
    budgets.check([budgets.Limit("day", Decimal("1"), "coach")], agent_id="coach", cost=Decimal("0.5"))
    with pytest.raises(ModelFailed):
        budgets.check([budgets.Limit("day", Decimal("1"))], agent_id="coach", cost=Decimal("0.5"))


def test_an_unknown_price_is_refused_under_a_budget_and_passes_without_one():
    budgets.check([], agent_id="coach", cost=None)
    with pytest.raises(ModelFailed) as error:
        budgets.check([budgets.Limit("day", Decimal("1"))], agent_id="coach", cost=None)
    assert error.value.code == "price_unknown"


def test_what_costs_nothing_passes_even_when_the_budget_is_spent():
    spend("coach", "5")
    budgets.check([budgets.Limit("day", Decimal("1"), "coach")], agent_id="coach", cost=Decimal(0))


def test_a_question_that_is_under_way_or_died_counts_as_expected_until_its_price_is_known():
    spend("coach", None, state="asked", reserved="0.60")
    spend("coach", "0.10", reserved="0.60")
    assert budgets.spent("day", "coach") == budgets.Spent(Decimal("0.70"), 1)
    with pytest.raises(ModelFailed):
        budgets.check([budgets.Limit("day", Decimal("1"), "coach")], agent_id="coach", cost=Decimal("0.31"))


def test_a_budget_of_zero_lets_nothing_pass_that_costs():
    with pytest.raises(ModelFailed):
        budgets.check([budgets.Limit("day", Decimal(0), "coach")], agent_id="coach", cost=Decimal("0.000001"))


def test_totals_name_models_and_purposes():
    spend("coach", "0.10")
    spend("coach", None)
    totals = budgets.totals("day", ["coach"])
    assert (totals["calls"], totals["cost"], totals["unknown_price"]) == (2, Decimal("0.10"), 1)
    assert totals["models"]["m"]["calls"] == 2
    assert set(totals["purposes"]) == {"rewrite"}
    assert budgets.totals("day", ["kira"])["calls"] == 0
