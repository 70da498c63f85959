"""The one seam between memoryhub and a model.

A caller describes what it wants as a Task and gets an Answer or ModelFailed.
Tests replace `ask`; nothing else in the product talks to a model.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from apps.errors import ModelFailed
from apps.llm import offline

OFFLINE = "offline"


@dataclass(frozen=True)
class Task:
    """One question: `prompt` is what a language model reads, `data` the same inputs for rules.

    `purpose` says which question it is ("rewrite"); it also names the line in the ledger.
    """

    purpose: str
    prompt: str
    data: Mapping[str, Any]


@dataclass(frozen=True)
class Answer:
    """What came back, with what it took.

    Tokens and `cost` (US dollars) are None when unknown, never 0 for unknown.
    `finish_reason` is "stop" for a whole answer, "length" for one cut off.
    """

    text: str
    provider: str
    model: str
    finish_reason: str
    prompt_tokens: int | None
    completion_tokens: int | None
    cost: Decimal | None
    seconds: float


def check(route: Sequence[str]) -> None:
    """Raise ModelFailed `unknown_model` when the route is empty or any name in it is not one this version can call.

    All of it is checked, so that a misspelt second choice shows at once and not
    in the night it is needed.
    """
    for name in route or [""]:
        if name != OFFLINE:
            told = f"The model “{name}” is not known." if name else "No model is set."
            raise ModelFailed(f"{told} Possible: {OFFLINE}.", code="unknown_model", model=name, possible=[OFFLINE])


def ask(task: Task, *, route: Sequence[str]) -> Answer:
    """Answer a task with the first model of the route. Raises ModelFailed as `check`, before anything is asked."""
    check(route)
    started = time.perf_counter()
    text = offline.answer(task.purpose, task.data)
    return Answer(
        text=text,
        provider=OFFLINE,
        model=OFFLINE,
        finish_reason="stop",
        prompt_tokens=0,
        completion_tokens=0,
        cost=Decimal(0),
        seconds=time.perf_counter() - started,
    )
