"""What runs cost and were expected to cost, in words. What nobody knows is said to be unknown, and is never nothing."""

from collections.abc import Iterable
from decimal import Decimal

from django.conf import settings
from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.agents import queries as agents
from apps.agents.models import Agent
from apps.ledger.present import moment
from apps.proposals import sentences
from apps.runs import budgets, queries
from apps.runs.models import Run


def prices(rows: Iterable[Run]) -> dict[int, str]:
    """What each run that ended cost, by its key, in one query for all; a run that asked nobody has no price."""
    listed = [run for run in rows if run.finished_at is not None]
    told = {run.pk: sentences.price(run.cost) for run in listed if run.answered or run.cost is not None}
    return told | {run_id: _price(cost) for run_id, cost in queries.costs(listed).items()}


def _price(cost: queries.Cost) -> str:
    if not cost.unknown:
        return sentences.price(cost.known)
    if not cost.known:
        return sentences.price(None)
    return _("%(dollars)s and unknown") % {"dollars": sentences.dollars(cost.known)}


def estimated(run: Run) -> str:
    """What it was expected to cost before a model was asked; empty when it was never estimated, or costs nothing."""
    if not run.estimate:
        return ""
    cost = run.estimate.get("cost")
    if cost is None:
        return _("not to be estimated")
    return _("estimated at about %(dollars)s") % {"dollars": sentences.dollars(Decimal(cost))} if Decimal(cost) else ""


def tokens(prompt: int | None, completion: int | None) -> str:
    """“8,800 in, 612 out”; empty when neither is known, or no model counted any."""
    if not prompt and not completion:
        return ""
    facts = {"in": _count(prompt), "out": _count(completion)}
    return _("%(in)s\u00a0in, %(out)s\u00a0out") % facts


def _count(number: int | None) -> str:
    return _("unknown") if number is None else number_format(number, force_grouping=True)


def line() -> str:
    """What all agents' calls took today and this month, beside the budgets of all together."""
    day, month = budgets.totals("day"), budgets.totals("month")
    facts = {
        "n": day["calls"],
        "today": _of(day["cost"], settings.MEMORYHUB_BUDGET_DAY),
        "month": _of(month["cost"], settings.MEMORYHUB_BUDGET_MONTH),
    }
    told = ngettext(
        "Today %(today)s in %(n)d call, this month %(month)s.",
        "Today %(today)s in %(n)d calls, this month %(month)s.",
        day["calls"],
    )
    parts = [told % facts]
    if unknown := month["unknown_price"]:
        told = ngettext("%(n)d call of unknown price.", "%(n)d calls of unknown price.", unknown)
        parts.append(told % {"n": unknown})
    if settings.MEMORYHUB_BUDGET_DAY is not None or settings.MEMORYHUB_BUDGET_MONTH is not None:
        parts.append(_("Budgets are for all agents together."))
    return " ".join(parts)


def _of(spent: Decimal, budget: Decimal | None) -> str:
    if budget is None:
        return sentences.dollars(spent)
    return _("%(spent)s of %(budget)s") % {"spent": sentences.dollars(spent), "budget": sentences.dollars(budget)}


def limits(agent: Agent) -> list[str]:
    """Each budget a run of the agent must keep, what is spent of it now, and when it begins anew."""
    return [_limit(one) for one in agents.limits(agent)]


def _limit(one: budgets.Limit) -> str:
    facts = {
        "spent": sentences.dollars(budgets.spent(one.span, one.agent_id).known),
        "budget": sentences.dollars(one.dollars),
        "whose": one.agent_id or _("all agents"),
        "when": moment(budgets.ends(one.span)),
    }
    if one.span == "day":
        return _("%(spent)s of %(budget)s today for %(whose)s; the next day begins %(when)s.") % facts
    return _("%(spent)s of %(budget)s this month for %(whose)s; the next month begins %(when)s.") % facts
