"""What passes between this machine and a model's server while one question is under way.

litellm tells a refused connection, an answer that broke off and a page of HTML
by the same exception. Whether a model may be asked again hangs on the
difference, so every request of litellm goes through the transport here, which
keeps what really came.
"""

import threading
import time
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

import httpx

# Bytes of one answer after decompression; the longest that is used anywhere is a fact of a few hundred thousand.
MOST_BYTES = 16 * 2**20

# litellm asks Ollama about a model's price and context beside the question; nothing here reads that.
_BESIDE_THE_QUESTION = "/api/show"


class TooLong(httpx.TransportError):
    """The answer is longer than MOST_BYTES."""


@dataclass
class Exchange:
    """The last request of a question and what came of it.

    `heard` is set with the first byte of a response, from which on an answer has
    begun, `status` with the end of its head, `whole` with its last byte.
    `failure` is what ended a request before that. `deadline`, a reading of
    `time.monotonic`, is set with the first request, `seconds` after it, and so
    is `begun`.
    """

    seconds: float
    deadline: float | None = None
    begun: threading.Event = field(default_factory=threading.Event)
    heard: bool = False
    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    whole: bool = False
    failure: httpx.RequestError | None = None
    _asked: set[tuple[str, str]] = field(default_factory=set)

    def begin(self, request: httpx.Request) -> None:
        """Note a request. Raises httpx.UnsupportedProtocol, and notes nothing, for one that must not leave.

        litellm sends a question a second time by itself when an error speaks of
        the roles of messages; the first response stands.
        """
        asked = (request.method, str(request.url))
        if asked in self._asked or request.url.path.endswith(_BESIDE_THE_QUESTION):
            raise httpx.UnsupportedProtocol("This is not part of the question, or was asked already.")
        self._asked.add(asked)
        if self.deadline is None:
            self.deadline = time.monotonic() + self.seconds
        self.heard, self.status, self.headers, self.body, self.whole, self.failure = False, None, {}, b"", False, None
        self.begun.set()

    def left(self) -> float:
        """Seconds to the deadline. Raises httpx.ReadTimeout when it has passed."""
        seconds = (self.deadline or 0) - time.monotonic()
        if seconds <= 0:
            raise httpx.ReadTimeout("The time of this request is over.")
        return seconds

    def listen(self, event: str, info: Mapping[str, Any]) -> None:
        """httpx's `trace` extension: hand over each new connection, to notice the first byte that comes back.

        A connection through a proxy speaks with the proxy before it is made
        secure; what the model says comes over the one made last.
        """
        if not event.endswith((".connect_tcp.complete", ".start_tls.complete")):
            return
        stream = info["return_value"]
        read = stream.read
        self.heard = False

        def heard(*args: Any, **options: Any) -> bytes:
            data: bytes = read(*args, **options)
            self.heard = self.heard or bool(data)
            return data

        stream.read = heard

    def give_up(self) -> None:
        """Let nothing more leave, and nothing more be read."""
        self.deadline = 0.0


# The question the running thread asks; without one nothing leaves.
under_way: ContextVar[Exchange | None] = ContextVar("under_way", default=None)


class Transport(httpx.BaseTransport):
    """Sends the requests of the exchange under way, on time and once each, and reads responses to their end.

    Redirects are handed on as they are, without their address, so that no
    prompt follows one. Proxies and certificates are those of the environment
    (HTTPS_PROXY, NO_PROXY, SSL_CERT_FILE). Connections are not kept: a night
    asks rarely, and a kept one may be dead by then.
    """

    def __init__(self) -> None:
        self._client = httpx.Client(limits=httpx.Limits(max_keepalive_connections=0))

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        exchange = under_way.get()
        if exchange is None:
            raise httpx.UnsupportedProtocol("No question is under way.")
        exchange.begin(request)
        try:
            return self._sent(request, exchange)
        except httpx.RequestError as error:
            exchange.failure = error
            raise

    def _sent(self, request: httpx.Request, exchange: Exchange) -> httpx.Response:
        timeout = httpx.Timeout(exchange.left()).as_dict()
        request.extensions = {**request.extensions, "timeout": timeout, "trace": exchange.listen}
        response = self._client.send(request, stream=True, follow_redirects=False)
        try:
            exchange.headers, exchange.status = dict(response.headers), response.status_code
            exchange.body = b"".join(_within_limits(response, exchange))
            exchange.whole = True
        finally:
            response.close()
        gone = {"content-encoding", "content-length", "transfer-encoding", "location"}
        headers = [(name, value) for name, value in response.headers.multi_items() if name.lower() not in gone]
        return httpx.Response(response.status_code, headers=headers, content=exchange.body, request=request)

    def close(self) -> None:
        """Nothing to do: litellm closes its clients when it likes, and this transport serves all of them."""


def _within_limits(response: httpx.Response, exchange: Exchange) -> Iterator[bytes]:
    length = 0
    for chunk in response.iter_bytes():
        exchange.left()
        length += len(chunk)
        if length > MOST_BYTES:
            raise TooLong(f"More than {MOST_BYTES} bytes.")
        yield chunk
