"""The one seam between memoryhub and a model.

A caller describes what it wants as a Task and gets an Answer or ModelFailed.
Tests replace `ask`; nothing else in the product talks to a model.
"""

import logging
import os
import re
import threading
import time
import warnings
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from apps.errors import ModelFailed
from apps.llm import offline, replies
from apps.llm.routes import MOST_NAMES, Route

if TYPE_CHECKING:
    from apps.llm.verdicts import Silence

OFFLINE = "offline"

# Seconds before a name is asked again, doubled each time; what a server asks for comes first, up to the longest.
FIRST_PAUSE = 0.5
LONGEST_PAUSE = 30
# Seconds of all pauses of one question.
ALL_PAUSES = 60

# Seconds for what litellm does before anything leaves: load a provider's code, fetch a cloud's access token.
PREPARATION = 60
# Seconds for what it does when nothing is on the way any more: turn an answer or an error into its own.
AFTERWARDS = 10

# litellm signs a person in, in the middle of the night, as soon as it is asked about these.
_SIGN_IN = {"github_copilot", "chatgpt"}
_SECRET_NAME = re.compile("KEY|TOKEN|SECRET|PASSWORD", re.IGNORECASE)
_SECRET_LENGTH = 8
_ADDRESS_NAME = ("API_BASE", "BASE_URL", "API_URL")


@dataclass(frozen=True)
class Task:
    """One question: `prompt` is what a language model reads, `data` the same inputs for rules.

    `purpose` says which question it is ("rewrite"); it also names the line in the ledger.
    """

    purpose: str
    prompt: str
    data: Mapping[str, Any]


@dataclass(frozen=True)
class Attempt:
    """A request that brought no answer.

    `reason` is connection (nobody was reached), closed (after the question was
    sent), timeout, rate_limited or server_error.
    """

    model: str
    provider: str
    seconds: float
    reason: str
    status: int | None = None


@dataclass(frozen=True)
class Answer:
    """What came back, with what it took.

    `text` is "" when the model said nothing; `model` is the name the answer
    gives itself. Tokens and `cost` (US dollars) are None when unknown, never 0
    for unknown. `finish_reason` is "stop" for a whole answer, "length" for one
    cut off, else the provider's word, "" when it gave none. `seconds` are those
    of this request; `attempts` are the ones before it that brought no answer.
    """

    text: str
    provider: str
    model: str
    finish_reason: str
    prompt_tokens: int | None
    completion_tokens: int | None
    cost: Decimal | None
    seconds: float
    attempts: tuple[Attempt, ...] = ()


def check(route: Route) -> None:
    """Raise ModelFailed `unknown_model` when the route is empty, too long, or any name in it cannot be called.

    All of it is checked, so that a misspelt second choice shows at once and not
    in the night it is needed. Nothing is sent; the first name beside `offline`
    loads litellm, which takes seconds.
    """
    if len(route.names) > MOST_NAMES:
        told = f"{len(route.names)} models are named; at most {MOST_NAMES} are tried."
        raise ModelFailed(told, code="unknown_model", limit=MOST_NAMES)
    for name in route.names or ("",):
        if name != OFFLINE and not _provider(name):
            told = f"The model “{replies.short(name, {})}” is not known." if name else "No model is set."
            possible = (
                f"Possible: {OFFLINE}, or a name as litellm writes it, provider/model, that needs no sign-in and holds "
                "no address."
            )
            raise ModelFailed(f"{told} {possible}", code="unknown_model", model=name, possible=[OFFLINE])


def price(name: str, prompt_tokens: int, completion_tokens: int, *, route: Route) -> Decimal | None:
    """US dollars for so many tokens, None when nobody knows.

    The operator's prices come first. litellm's list holds for a provider at its
    own address only, and a 0 in it means that nobody entered a price.
    """
    if name == OFFLINE:
        return Decimal(0)
    if name in route.prices:
        each = route.prices[name]
        return (each[0] * prompt_tokens + each[1] * completion_tokens) / 1_000_000
    provider = _provider(name)
    if provider is None or name in route.addresses or _address_in_environment(provider):
        return None
    litellm = _litellm()
    model = litellm.get_llm_provider(name)[0]
    listed = [litellm.model_cost.get(key, {}) for key in (name, f"{provider}/{model}", model)]
    if not any(one.get("litellm_provider") == provider and one.get("input_cost_per_token") for one in listed):
        return None
    try:
        parts = litellm.cost_per_token(
            model=model,
            custom_llm_provider=provider,
            prompt_tokens=prompt_tokens,
            completion_tokens=completion_tokens,
        )
    except Exception:  # whatever it stumbles over, the price is unknown then
        return None
    return round(sum((Decimal(str(part)) for part in parts), Decimal(0)), 12)


def ask(task: Task, *, route: Route) -> Answer:
    """The answer of the first model of the route that gives one.

    A name is asked again, and the next one is tried, only when no answer came:
    no connection, a time-out before a response began, status 429 or 5xx. After a
    time-out the same name is not asked again. Raises ModelFailed: as `check`,
    before anything is asked; `provider_error` when no model answered, or one
    refused the question; `bad_answer` when an answer began and is no use. Their
    `attempts` are those of an Answer, as dicts.
    """
    check(route)
    attempts: list[Attempt] = []
    try:
        return replace(_first_answer(task, route, attempts), attempts=tuple(attempts))
    except ModelFailed as error:
        error.details["attempts"] = [asdict(one) for one in attempts]
        raise


def _first_answer(task: Task, route: Route, attempts: list[Attempt]) -> Answer:
    """As `ask`; what brought no answer is added to the list as it happens."""
    told: dict[str, str] = {}
    paused = 0.0
    for name in route.names:
        if name == OFFLINE:
            return _by_rules(task)
        for already in range(route.retries + 1):
            started = time.perf_counter()
            got = _request(task.prompt, name, route)
            if isinstance(got, Answer):
                return got
            seconds = time.perf_counter() - started
            attempts.append(Attempt(name, _provider(name) or "", seconds, got.reason, got.status))
            told[name] = got.words
            pause = FIRST_PAUSE * 2**already if got.wait is None else got.wait
            last = already == route.retries or got.reason == "timeout"
            if last or pause > LONGEST_PAUSE or paused + pause > ALL_PAUSES:
                break
            time.sleep(pause)
            paused += pause
    raise ModelFailed(_nobody(told, route.seconds, {one.reason for one in attempts}))


def _nobody(told: Mapping[str, str], seconds: float, reasons: set[str]) -> str:
    """That no model answered, with the last thing each of them did."""
    if reasons == {"timeout"}:
        return f"No answer within {seconds:g} seconds from {', '.join(told)}."
    if len(told) == 1:
        ((name, words),) = told.items()
        return f"No answer from {name}: {words}."
    return f"No model answered. {'; '.join(f'{name}: {words}' for name, words in told.items())}."


def _by_rules(task: Task) -> Answer:
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


def _request(prompt: str, name: str, route: Route) -> "Answer | Silence":
    """One request, on time. Raises ModelFailed when it must be the last one.

    It runs in a thread of its own, because a server that sends a byte now and
    then keeps every time-out of a socket from coming.
    """
    from apps.llm import exchange, verdicts

    litellm = _litellm()
    under_way = exchange.Exchange(route.seconds)
    returned: list[Any] = []
    raised: list[Exception] = []

    def complete() -> None:
        exchange.under_way.set(under_way)
        _ignore_warnings()
        try:
            returned.append(litellm.completion(**_question(prompt, name, route)))
        except Exception as error:  # litellm raises its own, those of its libraries, and what its bugs raise
            raised.append(error)
        finally:
            under_way.begun.set()

    started = time.perf_counter()
    thread = threading.Thread(target=complete, name=f"model {name}", daemon=True)
    thread.start()
    under_way.begun.wait(PREPARATION)
    if under_way.deadline is not None:
        thread.join(max(under_way.deadline - time.monotonic(), 0))
    if under_way.begun.is_set() and (under_way.deadline is None or under_way.whole):
        thread.join(AFTERWARDS)
    seconds = time.perf_counter() - started
    if thread.is_alive():
        under_way.give_up()
    elif returned and (under_way.status is None or under_way.status < 300):
        answer = _answer(returned[0], replies.read(under_way.body), name, seconds, route)
        if answer is not None:
            return answer
    return verdicts.judge(name, under_way, next(iter(raised), None), _masks(route))


def _question(prompt: str, name: str, route: Route) -> dict[str, Any]:
    """What litellm is called with. Half a surrogate pair cannot travel and becomes U+FFFD."""
    text = prompt.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    asked: dict[str, Any] = {
        "model": name,
        "messages": [{"role": "user", "content": text}],
        "timeout": float(route.seconds),
        "max_retries": 0,
        "num_retries": 0,
        "drop_params": True,
    }
    if route.output_tokens is not None:
        asked["max_tokens"] = route.output_tokens
    if name in route.addresses:
        # Without a key litellm would send the one the environment has for the provider.
        asked |= {"api_base": route.addresses[name], "api_key": route.key or "none"}
    return asked


def _answer(response: Any, reply: replies.Reply, name: str, seconds: float, route: Route) -> Answer | None:
    """What litellm understood, without what it made up; None when that is no answer of a model."""
    choice = next(iter(getattr(response, "choices", None) or ()), None)
    text = getattr(getattr(choice, "message", None), "content", None)
    if choice is None or not isinstance(text, str | None) or not (text or reply.tells_anything):
        return None
    usage = getattr(response, "usage", None)
    prompt_tokens = _count(usage, "prompt_tokens") if reply.prompt_counted else None
    completion_tokens = _count(usage, "completion_tokens") if reply.completion_counted else None
    cost = None
    if prompt_tokens is not None and completion_tokens is not None:
        cost = price(name, prompt_tokens, completion_tokens, route=route)
    return Answer(
        text=text or "",
        provider=_provider(name) or "",
        # A server can put any text here: what it was sent, the key it was called with.
        model=replies.short(reply.model, _masks(route)) or name,
        finish_reason=replies.short(reply.finish_reason, _masks(route)),
        prompt_tokens=prompt_tokens,
        completion_tokens=completion_tokens,
        cost=cost,
        seconds=seconds,
    )


def _count(usage: Any, name: str) -> int | None:
    """A number of tokens that makes sense; a ledger has no place for others."""
    value = getattr(usage, name, None)
    return value if isinstance(value, int) and 0 <= value < 2**31 else None


def _provider(name: str) -> str | None:
    """The provider litellm would ask for this name, None when there is none, or one that wants a person to sign in.

    A name that is an address, which some providers of litellm take, is none
    either: where memory is sent is for the operator to say, in `Route.addresses`.
    """
    if not name.isprintable() or " " in name or "://" in name or name.partition("/")[0] in _SIGN_IN:
        return None
    try:
        model, provider, *_ = _litellm().get_llm_provider(name)
    except Exception:  # it raises several types for an unknown name, some of them by accident
        return None
    return str(provider) if model else None


def _address_in_environment(provider: str) -> bool:
    """Whether a variable such as OPENAI_BASE_URL or OLLAMA_API_BASE leads this provider's requests elsewhere."""
    first = re.split("[_-]", provider.removeprefix("text-completion-"))[0].upper()
    return any(
        value and variable.startswith(first) and variable.endswith(_ADDRESS_NAME)
        for variable, value in os.environ.items()
    )


def _masks(route: Route) -> dict[str, str]:
    """Every secret this process knows of, for `replies.short`."""
    secrets = [v for k, v in os.environ.items() if _SECRET_NAME.search(k) and len(v) >= _SECRET_LENGTH]
    return dict.fromkeys([*secrets, *filter(None, [route.key])], "•••")


_loading = threading.Lock()
_loaded = False


def _litellm() -> Any:
    """litellm, set up so that only questions leave and nothing is printed. The first time takes seconds."""
    global _loaded  # noqa: PLW0603
    with _loading:
        if not _loaded:
            # Its list of prices from the package, no .env of a folder above read, no tokenizer fetched.
            os.environ |= {
                "LITELLM_LOCAL_MODEL_COST_MAP": "True",
                "LITELLM_MODE": "PRODUCTION",
                "LITELLM_OFFLINE_MODE": "true",
            }
        _ignore_warnings()
        import litellm

        if not _loaded:
            import httpx

            from apps.llm.exchange import Transport

            litellm.sync_transport = transport = Transport()
            litellm.client_session = httpx.Client(transport=transport)
            litellm.suppress_debug_info = True
            for logger in ("openai", "httpx", "httpcore"):
                logging.getLogger(logger).setLevel(logging.WARNING)
            for logger in ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy"):
                # Its warnings quote what a server said.
                logging.getLogger(logger).setLevel(logging.ERROR)
            _loaded = True
    return litellm


def _ignore_warnings() -> None:
    """Warnings of litellm about itself are nothing an operator can act on, and errors where warnings are errors."""
    for module in ("litellm", "pydantic", "openai"):
        warnings.filterwarnings("ignore", module=rf"{module}\b")
