"""Which models are asked, in which order, and on what terms: plain values, and how an operator writes them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from urllib.parse import urlsplit

# A route is a first choice and what stands in for it, not a search through every provider there is.
MOST_NAMES = 5
# Dollars per million tokens; more is a slip of the keyboard, and the books have no place for it.
DEAREST = 1_000_000


@dataclass(frozen=True)
class Route:
    """Names of models in the order they are tried, each as litellm writes it ("openai/gpt-4o"), or "offline".

    `seconds` is the whole time of one request, from sending to the last byte;
    `retries` are further requests to the same name when no answer came.
    `addresses` are base addresses of the operator's own servers by name; `key`
    is sent to those and to nobody else. `prices` by name are US dollars per
    million prompt and completion tokens and win over what litellm knows.
    `output_tokens` is the most a model is asked to write; None asks for nothing.
    """

    names: tuple[str, ...]
    seconds: float = 120
    retries: int = 1
    addresses: Mapping[str, str] = field(default_factory=dict)
    key: str = field(default="", repr=False)
    prices: Mapping[str, tuple[Decimal, Decimal]] = field(default_factory=dict)
    output_tokens: int | None = None


def fault(names: Sequence[str]) -> str:
    """What is wrong with the names of a route, as far as can be seen without asking litellm; empty when nothing is."""
    if len(names) > MOST_NAMES:
        return f"{len(names)} models are named; at most {MOST_NAMES} are tried."
    odd = next((name for name in names if not name.isprintable() or " " in name or "://" in name), None)
    if odd is not None:
        shown = "".join(letter if letter.isprintable() else "?" for letter in odd)[:80]
        return f"“{shown}” is no name of a model: no spaces and no address (the operator names those in the settings)."
    return ""


def addresses(text: str) -> dict[str, str]:
    """Read `name=address` pairs divided by commas: "openai/gemma=http://127.0.0.1:8080/v1".

    Raises ValueError, with a sentence that holds no address, for what is not
    http or https, and for an address with a user name or a password in it.
    """
    found = {}
    for name, value in _pairs(text, "addresses"):
        if problem := _problem(value):
            raise ValueError(f"The address of “{name}” {problem}.")
        found[name] = value
    return found


def prices(text: str) -> dict[str, tuple[Decimal, Decimal]]:
    """Read `name=prompt/completion` pairs divided by commas, in dollars per million tokens: "x/y=0.15/0.6".

    Raises ValueError with a sentence unless both are finite numbers of at least 0.
    """
    found = {}
    for name, value in _pairs(text, "prices"):
        try:
            numbers = [Decimal(part.strip()) for part in value.split("/")]
        except InvalidOperation:
            numbers = []
        if len(numbers) != 2 or not all(number.is_finite() and 0 <= number <= DEAREST for number in numbers):
            raise ValueError(
                f"The price of “{name}” must be two numbers from 0 to {DEAREST:,}, "
                "dollars per million prompt and completion tokens: 0.15/0.6."
            )
        found[name] = (numbers[0], numbers[1])
    return found


def _pairs(text: str, what: str) -> Iterator[tuple[str, str]]:
    """The pairs of a setting, each name once; empty parts are passed over, so that a comma at the end does no harm."""
    seen = set()
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if not (name and equals and value):
            raise ValueError(f"The {what} of models are pairs name=value divided by commas; a part of them is not.")
        if name in seen:
            raise ValueError(f"“{name}” stands twice in the {what} of models.")
        seen.add(name)
        yield name, value


def _problem(address: str) -> str | None:
    """What is wrong with a base address, as the end of a sentence that does not repeat it: it may hold a password."""
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError:
        return "cannot be read"
    if parts.scheme not in {"http", "https"} or not parts.hostname or port == 0:
        return "does not begin with http:// or https:// and a host"
    if "@" in parts.netloc:
        return "holds a user name or a password; a key has a setting of its own"
    if parts.query or parts.fragment or not address.isprintable() or " " in address:
        return "is no plain base address: no spaces, no ? and no #"
    return None
