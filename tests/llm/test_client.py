import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import pytest

from apps.errors import ModelFailed
from apps.llm import client, routes
from apps.llm.client import Task
from apps.llm.routes import MOST_NAMES, Route

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
ROOT = Path(__file__).parent.parent.parent


def test_offline_answers_in_the_format_of_a_model_and_costs_nothing() -> None:
    answer = client.ask(TASK, route=Route(("offline",)))
    assert answer.text.startswith("# Memory\n\n- Prefers tea (2026-09-19)\n\n---REASONS---\n- ")
    assert (answer.provider, answer.model, answer.finish_reason) == ("offline", "offline", "stop")
    assert (answer.prompt_tokens, answer.completion_tokens, answer.cost) == (0, 0, Decimal(0))
    assert answer.seconds >= 0 and answer.attempts == ()


@pytest.mark.parametrize(
    "names",
    [
        ("nosuch-9",),
        ("offline", "nosuch/model"),
        ("Offline",),
        ("openai/",),
        ("/gpt",),
        ("openai",),
        ("openai/a b",),
        ("openai/a\x00",),
        ("openai/\ud800",),
        ("nosuch" * 10_000,),
        ("github_copilot/gpt-4o",),
    ],
)
def test_a_name_that_cannot_be_called_is_refused_wherever_it_stands(names: tuple[str, ...]) -> None:
    wrong = next(name for name in names if name != "offline")
    with pytest.raises(
        ModelFailed, match=r"is not known\. Possible: offline, or a name as litellm writes it"
    ) as refused:
        client.ask(TASK, route=Route(names))
    assert refused.value.code == "unknown_model"
    assert len(refused.value.message) < 500
    assert refused.value.details == {"model": wrong, "possible": ["offline"]}


@pytest.mark.parametrize("name", ["gpt-4o", "openai/any-name-at-all", "ollama/llama3:8b", "anthropic/claude-x"])
def test_a_name_with_a_provider_that_litellm_knows_passes(name: str) -> None:
    client.check(Route(("offline", name)))


def test_an_empty_route_is_refused() -> None:
    with pytest.raises(ModelFailed, match="No model is set") as refused:
        client.check(Route(()))
    assert refused.value.code == "unknown_model"


def test_a_route_has_at_most_so_many_names() -> None:
    client.check(Route(("offline",) * MOST_NAMES))
    with pytest.raises(ModelFailed, match=f"6 models are named; at most {MOST_NAMES}") as refused:
        client.check(Route(("offline",) * (MOST_NAMES + 1)))
    assert refused.value.code == "unknown_model"


def test_rules_exist_only_for_the_purposes_they_name() -> None:
    with pytest.raises(ValueError, match="'compose'"):
        client.ask(Task("compose", "", {}), route=Route(("offline",)))


def test_litellm_is_loaded_by_the_first_name_that_needs_it_and_not_before() -> None:
    program = (
        "import sys; from apps.llm import client; from apps.llm.routes import Route\n"
        "client.check(Route(('offline',)))\n"
        "print('litellm' in sys.modules, 'httpx' in sys.modules)"
    )
    ran = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert ran.stdout == "False False\n"


def test_a_route_does_not_show_its_key() -> None:
    assert "hush-hush" not in repr(Route(("offline",), key="hush-hush"))


def test_addresses_are_read_by_name() -> None:
    text = "openai/gemma=http://127.0.0.1:8080/v1, ollama/llama3:8b = https://models.example.org,"
    assert routes.addresses(text) == {
        "openai/gemma": "http://127.0.0.1:8080/v1",
        "ollama/llama3:8b": "https://models.example.org",
    }
    assert routes.addresses(" ") == {}


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("openai/gemma", "pairs name=value"),
        ("=http://h", "pairs name=value"),
        ("a=", "pairs name=value"),
        ("a=ftp://h/v1", "does not begin with http"),
        ("a=file:///etc/passwd", "does not begin with http"),
        ("a=127.0.0.1:8080", "does not begin with http"),
        ("a=http://", "does not begin with http"),
        ("a=http://h:99999/v1", "cannot be read"),
        ("a=http://[::1/v1", "cannot be read"),
        ("a=http://me:hush@h/v1", "user name or a password"),
        ("a=http://me@h/v1", "user name or a password"),
        ("a=http://h/v1?key=hush", "no plain base address"),
        ("a=http://h/v 1", "no plain base address"),
        ("a=http://h/\x00", "no plain base address"),
        ("a=http://h,a=http://i", "“a” stands twice"),
    ],
)
def test_an_address_that_will_not_do_is_refused_without_repeating_it(text: str, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence) as refused:
        routes.addresses(text)
    assert "hush" not in str(refused.value)


def test_prices_are_read_as_exact_numbers() -> None:
    assert routes.prices("openai/gemma=0/0, x/y=0.15 / 0.6") == {
        "openai/gemma": (Decimal(0), Decimal(0)),
        "x/y": (Decimal("0.15"), Decimal("0.6")),
    }


@pytest.mark.parametrize("value", ["1", "1/2/3", "a/b", "-1/0", "0/nan", "inf/0", "1,5/2", "/"])
def test_a_price_that_is_no_two_numbers_is_refused(value: str) -> None:
    with pytest.raises(ValueError, match=r"two numbers from 0 to|pairs name=value"):
        routes.prices(f"openai/gemma={value}")


def test_the_prices_of_the_operator_win_and_a_price_nobody_knows_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("OPENAI_BASE_URL", "OPENAI_API_BASE"):
        monkeypatch.delenv(variable, raising=False)
    own = Route((), prices={"gpt-4o": (Decimal(3), Decimal(7))}, addresses={"openai/gpt-4o": "http://h"})
    assert client.price("gpt-4o", 1000, 100, route=own) == Decimal("0.0037")
    assert client.price("openai/gpt-4o", 1000, 100, route=own) is None, "the operator's server has its own price"
    assert client.price("offline", 1000, 100, route=own) == 0
    assert client.price("nosuch/model", 1000, 100, route=own) is None
    assert client.price("openai/no-such-model", 1000, 100, route=own) is None
    assert client.price("ollama/llama2", 1000, 100, route=own) is None, "a 0 in litellm's list is no price"
    listed = client.price("openai/gpt-4o", 1000, 100, route=Route(()))
    assert listed is not None and 0 < listed < 1
    assert client.price("openai/gpt-4o", 2000, 200, route=Route(())) == 2 * listed


@pytest.mark.parametrize("variable", ["OPENAI_BASE_URL", "OPENAI_API_BASE"])
def test_a_provider_sent_elsewhere_by_the_environment_has_no_listed_price(
    variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, "http://127.0.0.1:8080/v1")
    assert client.price("openai/gpt-4o", 1000, 100, route=Route(())) is None
