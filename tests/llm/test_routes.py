"""Names, addresses and prices as an operator writes them."""

from decimal import Decimal

import pytest

from apps.llm import routes


@pytest.mark.parametrize(
    "names",
    [
        ["a", "b", "c", "d", "e", "f"],
        ["openai/x y"],
        ["openai/x\n"],
        ["openai/\u202ex"],
        ["oobabooga/http://127.0.0.1:1"],
    ],
)
def test_a_route_that_cannot_be_is_told_without_asking_litellm(names):
    assert routes.fault(names).endswith((".", ")."))
    assert routes.fault(names).isprintable()


def test_a_route_that_may_be_has_no_fault():
    assert routes.fault(["openai/gpt-4o", "ollama/gemma3:270m", "vertex_ai/claude@20240620", "offline"]) == ""


@pytest.mark.parametrize("text", ["x/y=1e30/1", "x/y=-1/0", "x/y=NaN/1", "x/y=1", "x/y=a/b", "x/y=1/2/3"])
def test_a_price_that_cannot_be_is_refused(text):
    with pytest.raises(ValueError, match="price of"):
        routes.prices(text)


def test_prices_are_dollars_a_million_tokens():
    assert routes.prices("x/y=0.15/0.6, z/w=0/0") == {
        "x/y": (Decimal("0.15"), Decimal("0.6")),
        "z/w": (Decimal(0), Decimal(0)),
    }
