from decimal import Decimal

import pytest

from apps.errors import ModelFailed
from apps.llm import client
from apps.llm.client import Task

TASK = Task(
    purpose="rewrite",
    prompt="unused by rules",
    data={
        "memory": "# Memory\n\n- Prefers tea",
        "notes": [{"name": "2026-09-19", "date": "2026-09-19", "text": "- 09:00 prefers tea"}],
        "today": "2026-09-20",
        "limit": 24_000,
    },
)


def test_offline_answers_in_the_format_of_a_model_and_costs_nothing() -> None:
    answer = client.ask(TASK, route=["offline"])
    assert answer.text.startswith("# Memory\n\n- Prefers tea (2026-09-19)\n\n---REASONS---\n- ")
    assert (answer.provider, answer.model, answer.finish_reason) == ("offline", "offline", "stop")
    assert (answer.prompt_tokens, answer.completion_tokens, answer.cost) == (0, 0, Decimal(0))
    assert answer.seconds >= 0


@pytest.mark.parametrize("route", [["gpt-9"], ["offline", "gpt-9"], ["Offline"]])
def test_a_name_that_is_not_known_is_refused_wherever_it_stands(route: list[str]) -> None:
    wrong = next(name for name in route if name != "offline")
    with pytest.raises(ModelFailed, match=f"“{wrong}”.*Possible: offline") as refused:
        client.ask(TASK, route=route)
    assert refused.value.code == "unknown_model"
    assert refused.value.details == {"model": wrong, "possible": ["offline"]}


def test_an_empty_route_is_refused() -> None:
    with pytest.raises(ModelFailed) as refused:
        client.ask(TASK, route=[])
    assert refused.value.code == "unknown_model"


def test_rules_exist_only_for_the_purposes_they_name() -> None:
    with pytest.raises(ValueError, match="'compose'"):
        client.ask(Task("compose", "", {}), route=["offline"])
