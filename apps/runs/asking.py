"""Ask a model for a run, and book every question before it is sent and after it is answered."""

import hashlib
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.db import transaction

from apps.errors import ModelFailed
from apps.ledger import database, locks, texts
from apps.llm import client, routes
from apps.runs import budgets, services
from apps.runs.models import Call, Run
from apps.vault import credentials, files

# More than any model can read, and more dollars than a call can cost: a server that says so is not believed.
_MOST_TOKENS, _DEAREST_CALL = 1_000_000_000, Decimal(100_000)


def route(names: Sequence[str]) -> routes.Route:
    """These models with everything the settings say about how to reach and price them."""
    return routes.Route(
        names=tuple(names),
        seconds=settings.MEMORYHUB_MODEL_SECONDS,
        retries=settings.MEMORYHUB_MODEL_RETRIES,
        addresses=settings.MEMORYHUB_MODEL_ADDRESSES,
        key=settings.MEMORYHUB_MODEL_KEY,
        prices=settings.MEMORYHUB_MODEL_PRICES,
        output_tokens=settings.MEMORYHUB_MODEL_OUTPUT_TOKENS or None,
    )


def ask(
    run: Run,
    task: client.Task,
    *,
    route: routes.Route,
    cost: Decimal | None = Decimal(0),
    limits: Sequence[budgets.Limit] = (),
) -> client.Answer:
    """Ask a model and book what it says of itself on the run, before anything is done with the answer.

    `cost` is what it is expected to take (None: unknown); where that would exceed
    a limit nobody is asked. An answer to the very same question that an earlier
    run of the agent paid for and died before using is taken instead, at no cost.
    Raises ModelFailed.
    """
    sha = hashlib.sha256(task.prompt.encode("utf-8", "surrogatepass")).hexdigest()
    call = Call(
        run=run,
        purpose=task.purpose,
        route=", ".join(route.names),
        free=set(route.names) == {client.OFFLINE},
        prompt_sha=sha,
        reserved=_price(cost),
    )
    paid = _paid(run, task.purpose, sha)
    if paid is not None:
        return _reuse(run, call, paid)
    _reserve(call, limits, agent_id=run.agent_id, cost=cost)
    began = time.monotonic()
    try:
        answer = client.ask(task, route=route)
    except ModelFailed as error:
        call.state = Call.State.FAILED
        call.seconds = time.monotonic() - began
        call.model = str(error.details.get("model", ""))[:160]
        call.error = credentials.masked(error.message)
        call.attempts = error.details.get("attempts", [])
        billed = error.code == "bad_answer" or _may_be_billed(call.attempts)
        call.cost = None if billed and not call.free else Decimal(0)
        database.patiently(call.save)
        raise
    _book(run, call, answer)
    return answer


def _reserve(call: Call, limits: Sequence[budgets.Limit], *, agent_id: str, cost: Decimal | None) -> None:
    """Put the call on disk before the question leaves: if this process dies now, it is known and its price is not.

    One at a time where there are budgets, so that two runs do not both take what is left of one.
    """
    with ExitStack() as stack:
        if limits:
            stack.enter_context(locks.scope_locked("budgets.all"))  # no agent's id holds a dot
            budgets.check(limits, agent_id=agent_id, cost=cost)
        with transaction.atomic(durable=True):
            call.save()


def _may_be_billed(attempts: Iterable[Mapping[str, Any]]) -> bool:
    """Whether a model may have worked although it stayed silent.

    One that could not be reached, or said that it was busy, did not.
    """
    return any(one["reason"] not in {"connection", "rate_limited"} and one["status"] != 503 for one in attempts)


def _paid(run: Run, purpose: str, sha: str) -> Call | None:
    """The newest answer to this question that was paid for and not used."""
    rows = Call.objects.filter(
        run__agent_id=run.agent_id,
        run__kind=run.kind,
        run__state__in=[Run.State.LOST, Run.State.FAILED],
        purpose=purpose,
        prompt_sha=sha,
        state=Call.State.ANSWERED,
        used=False,
    )
    return rows.select_related("run", "answer").order_by("-id").first()


def _reuse(run: Run, call: Call, paid: Call) -> client.Answer:
    text = paid.answer.content.decode("utf-8", "surrogatepass") if paid.answer else ""
    answer = client.Answer(
        text=text,
        provider=paid.provider,
        model=paid.model,
        finish_reason=paid.finish_reason,
        prompt_tokens=0,
        completion_tokens=0,
        cost=Decimal(0),
        seconds=0.0,
    )
    call.state = Call.State.REUSED
    call.reuses = paid.run.public_id
    _book(run, call, answer)
    return replace(answer, prompt_tokens=paid.prompt_tokens, completion_tokens=paid.completion_tokens)


def _book(run: Run, call: Call, answer: client.Answer) -> None:
    data = answer.text.encode("utf-8", "surrogatepass")
    if call.state != Call.State.REUSED:
        call.state = Call.State.ANSWERED
    call.answer_id = files.sha256(data)
    call.provider, call.model = _word(answer.provider, 80), _word(answer.model, 160)
    call.finish_reason = _word(answer.finish_reason, 32)
    call.prompt_tokens, call.completion_tokens = _count(answer.prompt_tokens), _count(answer.completion_tokens)
    call.attempts = [
        {
            "model": one.model,
            "provider": one.provider,
            "seconds": round(one.seconds, 3),
            "reason": one.reason,
            "status": one.status,
        }
        for one in answer.attempts
    ]
    # What a silent model took before is not known, so neither is the whole.
    unclear = not call.free and _may_be_billed(call.attempts)
    call.seconds, call.cost = answer.seconds, None if unclear else _price(answer.cost)

    def keep() -> None:
        with transaction.atomic(durable=True):
            texts.keep([data])
            call.save()

    database.patiently(keep)  # it is paid for
    known = not run.answered or run.cost is not None
    facts = {
        "answered": True,
        "provider": call.provider,
        "model": call.model,
        "finish_reason": call.finish_reason,
        "prompt_tokens": _sum(run.prompt_tokens, call.prompt_tokens),
        "completion_tokens": _sum(run.completion_tokens, call.completion_tokens),
        "cost": _price((run.cost or Decimal(0)) + call.cost) if known and call.cost is not None else None,
    }
    # The answer is kept in any case; a run that was taken for lost meanwhile is not ours any more.
    mine = Run.objects.filter(pk=run.pk, state=Run.State.RUNNING)
    if database.patiently(lambda: mine.update(**facts)) != 1:
        raise services.lost(run)
    for name, value in facts.items():
        setattr(run, name, value)


def _word(text: str, most: int) -> str:
    """What a server calls itself, as a row can hold it: it may have sent anything."""
    return "".join(letter for letter in text if letter.isprintable())[:most]


def _price(cost: Decimal | None) -> Decimal | None:
    """The cost if it can be true and a row can hold it, else unknown."""
    return cost if cost is not None and cost.is_finite() and 0 <= cost <= _DEAREST_CALL else None


def _count(tokens: int | None) -> int | None:
    return tokens if tokens is not None and 0 <= tokens <= _MOST_TOKENS else None


def _sum(so_far: int | None, more: int | None) -> int | None:
    """Counts added up; one that is unknown adds nothing."""
    return so_far if more is None else (so_far or 0) + more
