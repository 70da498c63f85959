"""What was spent, and whether a run may spend more. Days and months are those of the site's own zone."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

from django.conf import settings
from django.db.models import Count, Q, QuerySet, Sum
from django.db.models.functions import Coalesce
from django.utils import timezone

from apps.errors import ModelFailed
from apps.runs.models import Call


@dataclass(frozen=True)
class Spent:
    """US dollars known to be spent, and how many calls of unknown price there were besides."""

    known: Decimal
    unknown: int


@dataclass(frozen=True)
class Limit:
    """One budget: `span` is "day" or "month"; `agent_id` empty means all agents together."""

    span: str
    dollars: Decimal
    agent_id: str = ""

    @property
    def told(self) -> str:
        whose = f"of {self.agent_id}" if self.agent_id else "of all agents together"
        return f"The budget {whose} is ${self.dollars.normalize():f} a {self.span}"


def began(span: str, now: datetime | None = None) -> datetime:
    """When this day or month began, in the site's zone."""
    local = (now or timezone.now()).astimezone(ZoneInfo(settings.TIME_ZONE))
    midnight = local.replace(hour=0, minute=0, second=0, microsecond=0, fold=0)
    return midnight.replace(day=1) if span == "month" else midnight


def ends(span: str, now: datetime | None = None) -> datetime:
    """When the next day or month begins."""
    start = began(span, now)
    if span == "day":
        return began("day", start + timedelta(hours=36))
    return began("month", start + timedelta(days=32))


def spent(span: str, agent_id: str = "", now: datetime | None = None) -> Spent:
    """What this day's or month's calls cost so far; one whose answer has not come counts as expected."""
    rows = Call.objects.filter(asked_at__gte=began(span, now))
    if agent_id:
        rows = rows.filter(run__agent_id=agent_id)
    sums = rows.aggregate(known=Sum(Coalesce("cost", "reserved")), unknown=Count("pk", filter=Q(cost=None, free=False)))
    return Spent(sums["known"] or Decimal(0), sums["unknown"])


def totals(span: str, agent_ids: Iterable[str] | None = None, now: datetime | None = None) -> dict[str, Any]:
    """Calls, tokens and dollars of this day or month, together, by model and by purpose; unknown prices are counted."""
    rows = Call.objects.filter(asked_at__gte=began(span, now)).exclude(state=Call.State.REUSED)
    if agent_ids is not None:
        rows = rows.filter(run__agent_id__in=list(agent_ids))
    sums = {
        "calls": Count("pk"),
        # Before the sum that takes the column's name.
        "unknown_price": Count("pk", filter=Q(cost=None, free=False)),
        "prompt_tokens": Sum("prompt_tokens", default=0),
        "completion_tokens": Sum("completion_tokens", default=0),
        "cost": Sum("cost", default=Decimal(0)),
    }
    return {
        "since": began(span, now),
        **rows.aggregate(**sums),
        "models": _by(rows, "model", sums),
        "purposes": _by(rows, "purpose", sums),
    }


def _by(rows: QuerySet[Call], field: str, sums: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The sums for each value of a field, by that value."""
    found: list[dict[str, Any]] = list(rows.values(field).annotate(**sums).order_by(field))
    return {str(row.pop(field)): row for row in found}


def check(limits: Sequence[Limit], *, agent_id: str, cost: Decimal | None) -> None:
    """Let a run of this estimated cost pass, or raise ModelFailed `over_budget` or `price_unknown`.

    Without budgets everything passes. An unknown price is not zero: where a
    budget is set, a model whose price nobody knows is not asked.
    """
    if not limits or cost == 0:
        return
    if cost is None:
        raise ModelFailed(
            f"{limits[0].told}, and nobody knows what this model costs. Name its price in MEMORYHUB_MODEL_PRICES, or "
            "take the budget away.",
            code="price_unknown",
            scope=agent_id,
        )
    for limit in limits:
        so_far = spent(limit.span, limit.agent_id)
        if so_far.known + cost > limit.dollars:
            raise ModelFailed(
                f"{limit.told}; ${so_far.known:.4f} is spent and this run might take ${cost:.4f}. No model was asked. "
                f"The next {limit.span} begins {ends(limit.span):%Y-%m-%d}.",
                code="over_budget",
                scope=agent_id,
                span=limit.span,
                budget=str(limit.dollars),
                spent=str(so_far.known),
                estimate=str(cost),
            )
