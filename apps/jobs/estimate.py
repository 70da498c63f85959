"""What a question to a model will take, said before it is asked."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from apps.llm import client
from apps.llm.routes import Route

# A cautious count that needs no tokenizer (some would be fetched from a network): English takes about four bytes a
# token, Vietnamese three, Chinese and Japanese two to three, so three a token is rarely too few.
BYTES_A_TOKEN = 3


@dataclass(frozen=True)
class Estimate:
    """Notes given, characters and tokens sent, tokens of the longest answer, US dollars (None: unknown)."""

    notes: int
    characters: int
    prompt_tokens: int
    completion_tokens: int
    cost: Decimal | None

    def stored(self) -> dict[str, Any]:
        """Plain JSON values for the run's row."""
        return {
            "notes": self.notes,
            "characters": self.characters,
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": self.completion_tokens,
            "cost": None if self.cost is None else f"{self.cost:.6f}",
        }


def of(prompt: str, *, notes: int, answer_characters: int, route: Route) -> Estimate:
    """The estimate of one question whose answer has at most so many characters, of the script the question is in.

    Thoughts of a reasoning model are not in it. Of several models the dearest
    counts; one of unknown price makes the whole unknown. Raises ModelFailed
    `unknown_model` as `client.check`.
    """
    client.check(route)
    sent = tokens(prompt)
    back = -(-sent * answer_characters // max(len(prompt), 1))
    back = min(back, route.output_tokens or back)
    return Estimate(notes, len(prompt), sent, back, _dearest(route.names, sent, back, route))


def tokens(text: str) -> int:
    """About how many tokens a text takes, rather too many than too few."""
    return -(-len(text.encode("utf-8", "replace")) // BYTES_A_TOKEN)


def _dearest(names: Sequence[str], sent: int, back: int, route: Route) -> Decimal | None:
    prices = [client.price(name, sent, back, route=route) for name in names]
    known = [price for price in prices if price is not None]
    return max(known) if len(known) == len(prices) else None
