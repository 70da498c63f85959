"""What a request that brought no text means: silence, after which somebody may be asked again, or an end."""

import re
import socket
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NoReturn

import httpx

from apps.errors import ModelFailed
from apps.llm import replies
from apps.llm.exchange import MOST_BYTES, Exchange, TooLong

# "litellm.InternalServerError: InternalServerError: OpenAIException - ": its type of error, which is often wrong.
_LITELLM_PREFIX = re.compile(r"^(?:[\w.]+(?:Error|Exception)(?: -|:) )+")


# The question was sent then, and somebody may have worked on it.
_CLOSED = "the connection closed without an answer"


@dataclass(frozen=True)
class Silence:
    """No answer came. `words` say why; `wait` are the seconds the server asks to be left alone, if it does."""

    reason: str
    words: str
    status: int | None = None
    wait: float | None = None


def judge(name: str, exchange: Exchange, error: Exception | None, masks: Mapping[str, str]) -> Silence:
    """Tell from what passed whether a model stayed silent. Raises ModelFailed when it did not.

    `error` is what litellm made of it, None when it returned or is still at
    work. Its type is not asked: litellm has one for a refused connection, half
    an answer and a page of HTML.
    """
    status = exchange.status
    if status is None and not exchange.heard:
        return _unheard(name, exchange, error, masks)
    if status is None or 200 <= status < 300:
        _spoilt(name, exchange, masks)
    sentence = replies.error_sentence(exchange.body, masks)
    told = f"{status} ({sentence})" if sentence else str(status)
    if status == 429 or status >= 500:
        reason = "rate_limited" if status == 429 else "server_error"
        return Silence(reason, told, status, replies.retry_after(exchange.headers))
    raise ModelFailed(f"{name} refused the question: {told}.", model=name, status=status)


def _unheard(name: str, exchange: Exchange, error: Exception | None, masks: Mapping[str, str]) -> Silence:
    """Not one byte of a response came."""
    failure = exchange.failure
    if isinstance(failure, httpx.TimeoutException) or (failure is None and error is None):
        return Silence("timeout", f"no answer within {exchange.seconds:g} seconds")
    if isinstance(failure, (httpx.NetworkError, httpx.ProxyError, httpx.RemoteProtocolError)):
        words = _connection(failure)
        return Silence("closed" if words == _CLOSED else "connection", words)
    # A provider with its own way to the network, for a login say: only what cannot have reached it counts.
    if exchange.deadline is None and any(
        isinstance(one, (ConnectionRefusedError, socket.gaierror)) for one in _causes(error)
    ):
        return Silence("connection", _connection(error))
    told = replies.short(_LITELLM_PREFIX.sub("", str(failure or error)).partition("\n")[0], masks)
    raise ModelFailed(f"{name} could not be asked: {told}", model=name, status=None)


def _spoilt(name: str, exchange: Exchange, masks: Mapping[str, str]) -> NoReturn:
    """An answer began; whatever is wrong with it, the model has worked."""
    sentence = replies.error_sentence(exchange.body, masks)
    if isinstance(exchange.failure, TooLong):
        told = f"gave an answer of more than {MOST_BYTES // 2**20} MiB"
    elif (exchange.failure is None and not exchange.whole) or isinstance(exchange.failure, httpx.TimeoutException):
        told = f"began an answer and did not end it within {exchange.seconds:g} seconds"
    elif exchange.failure is not None:
        told = "broke off in the middle of its answer"
    elif sentence:
        told = f"answered with an error: {sentence}"
    else:
        kind = replies.short(exchange.headers.get("content-type", ""), masks) or "no type"
        told = f"answered, but not as a model does ({kind}, {len(exchange.body)} bytes)"
    raise ModelFailed(f"{name} {told}.", code="bad_answer", model=name, status=exchange.status)


def _connection(error: BaseException | None) -> str:
    causes = list(_causes(error))
    if any(isinstance(one, ConnectionRefusedError) for one in causes):
        return "connection refused"
    if any(isinstance(one, socket.gaierror) for one in causes):
        return "no such host"
    if any(isinstance(one, httpx.ConnectError) for one in causes):
        return "no connection"
    return _CLOSED


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__
