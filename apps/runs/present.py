"""A run, and what all of them cost, as programs get them."""

from collections.abc import Iterable
from decimal import Decimal
from typing import Any

from apps.access import Actor
from apps.ledger import queries as ledger
from apps.runs import budgets, queries
from apps.runs.models import Call, Run


def record(run: Run) -> dict[str, Any]:
    """A run without its calls. A cost of null is unknown, not zero."""
    return {
        "id": run.public_id,
        "kind": run.kind,
        "agent": run.agent_id,
        "state": run.state,
        "outcome": run.outcome or None,
        "summary": run.summary,
        "error": run.error or None,
        "source": run.source,
        "asked_by": run.asked_by or None,
        "night": run.local_date,
        "attempt": run.attempt,
        "retry_of": run.retry_of or None,
        "created_at": run.created_at,
        "started_at": run.started_at,
        "finished_at": run.finished_at,
        "seconds": run.seconds,
        "provider": run.provider or None,
        "model": run.model or None,
        "finish_reason": run.finish_reason or None,
        "prompt_tokens": run.prompt_tokens,
        "completion_tokens": run.completion_tokens,
        "cost": dollars(run.cost),
        "estimate": run.estimate or None,
        "verdict": run.verdict or None,
        "notes_read": len(run.read),
        "notes_left_out": len(run.left_out),
        "credentials": [{"path": path, "line": line, "kind": kind} for path, line, kind in run.credentials],
    }


def whole(run: Run, actor: Actor) -> dict[str, Any]:
    """A run with its calls, and the batches it led to."""
    batches = ledger.history(actor, run=run.public_id, limit=200)
    return {
        **record(run),
        "calls": [_call(call) for call in queries.calls(run)],
        "batches": [batch.public_id for batch in batches],
    }


def _call(call: Call) -> dict[str, Any]:
    return {
        "purpose": call.purpose,
        "state": call.state,
        "route": call.route.split(", "),
        "asked_at": call.asked_at,
        "seconds": call.seconds,
        "provider": call.provider or None,
        "model": call.model or None,
        "finish_reason": call.finish_reason or None,
        "prompt_tokens": call.prompt_tokens,
        "completion_tokens": call.completion_tokens,
        "cost": dollars(call.cost),
        "attempts": call.attempts,
        "reuses": call.reuses or None,
        "error": call.error or None,
    }


def spending(agent_ids: Iterable[str] | None) -> dict[str, Any]:
    """What calls took this day and month: together, by model and by purpose. None means every agent."""
    told = {}
    for span in ("day", "month"):
        totals = budgets.totals(span, agent_ids)
        for sums in (totals, *totals["models"].values(), *totals["purposes"].values()):
            sums["cost"] = dollars(sums["cost"])
        told[span] = totals
    return told


def dollars(cost: Decimal | None) -> str | None:
    """US dollars as programs get them: text with six places, so that nobody rounds; None is unknown."""
    return None if cost is None else f"{cost:.6f}"
