"""A model server on 127.0.0.1 that answers as a test says, right or wrong, over real HTTP.

    with ModelServer([status(503), ok("Hello")]) as server:
        route = Route(("openai/test",), addresses={"openai/test": server.address})

A list is a script, one behaviour a request; a function of the request's body
chooses the behaviour of every request. It speaks the OpenAI dialect under
`/v1` and Ollama's under `/api`.
"""

import contextlib
import json
import socket
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

USAGE = {"prompt_tokens": 12, "completion_tokens": 3, "total_tokens": 15}


@dataclass(frozen=True)
class Request:
    """What a client sent; `headers` have names in lower case."""

    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]

    @property
    def prompt(self) -> str:
        """The user's message."""
        return self.body["prompt"] if "prompt" in self.body else self.body["messages"][-1]["content"]


class Exchange(BaseHTTPRequestHandler):
    """One request being answered; behaviours write to it."""

    server: "_Server"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or b"{}")
        request = Request(self.path, {k.lower(): v for k, v in self.headers.items()}, body)
        self.close_connection = True
        with contextlib.suppress(OSError):  # the client went away, which some tests are about
            self.server.next_behaviour(request)(self)

    def wait(self, seconds: float) -> None:
        """Sleep, but not longer than the server lives."""
        self.server.stopping.wait(seconds)

    def head(self, code: int, headers: Mapping[str, str]) -> None:
        self.send_response(code)
        for name, value in {"Content-Type": "application/json", **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.flush()

    def whole(self, code: int, body: bytes, headers: Mapping[str, str] | None = None) -> None:
        self.head(code, {"Content-Length": str(len(body)), **(headers or {})})
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        """Say nothing: what was asked is in `requests`."""


Behaviour = Callable[[Exchange], None]


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, behaviours: Sequence[Behaviour] | Callable[[dict[str, Any]], Behaviour]) -> None:
        super().__init__(("127.0.0.1", 0), Exchange)
        self.behaviours = behaviours
        self.requests: list[Request] = []
        self.stopping = threading.Event()
        self.turn = threading.Lock()

    def next_behaviour(self, request: Request) -> Behaviour:
        with self.turn:
            self.requests.append(request)
            if callable(self.behaviours):
                return self.behaviours(request.body)
            at = len(self.requests) - 1
            return self.behaviours[at] if at < len(self.behaviours) else status(418, "The script is over.")


class ModelServer:
    """A context manager; inside it `address` answers, and `requests` holds what was asked so far."""

    def __init__(self, behaviours: Sequence[Behaviour] | Callable[[dict[str, Any]], Behaviour]) -> None:
        self._server = _Server(behaviours)
        self.root = f"http://127.0.0.1:{self._server.server_address[1]}"
        self.address = f"{self.root}/v1"

    @property
    def requests(self) -> list[Request]:
        return self._server.requests

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return self

    def __exit__(self, *error: object) -> None:
        self._server.stopping.set()
        self._server.shutdown()
        self._server.server_close()


def refused_address() -> str:
    """An address of this machine at which nobody listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{free.getsockname()[1]}/v1"


def _answer(
    path: str, text: str | None, usage: Mapping[str, Any] | None, finish_reason: str | None, model: str
) -> bytes:
    """An answer in the dialect of the path that was asked."""
    if path.startswith("/api/"):
        body: dict[str, Any] = {"model": model, "created_at": "2026-09-20T03:00:00Z", "done": True}
        body |= {"response": text} if path == "/api/generate" else {"message": {"role": "assistant", "content": text}}
        if finish_reason is not None:
            body["done_reason"] = finish_reason
        if usage is not None:
            body |= {"prompt_eval_count": usage["prompt_tokens"], "eval_count": usage["completion_tokens"]}
    else:
        choice = {
            "index": 0,
            "message": {"role": "assistant", "content": text},
            "finish_reason": finish_reason,
        }
        body = {"id": "c-1", "object": "chat.completion", "created": 1, "model": model, "choices": [choice]}
        if usage is not None:
            body["usage"] = dict(usage)
    return json.dumps(body).encode()


def ok(
    text: str | None = "Hello",
    *,
    usage: Mapping[str, Any] | None = USAGE,
    finish_reason: str | None = "stop",
    model: str = "test-1",
) -> Behaviour:
    """A whole answer. `text` may be empty or None, `usage` None for a server that counts nothing."""
    return lambda exchange: exchange.whole(200, _answer(exchange.path, text, usage, finish_reason, model))


def slow(seconds: float, then: Behaviour | None = None) -> Behaviour:
    """Nothing for so long, then an answer."""

    def behave(exchange: Exchange) -> None:
        exchange.wait(seconds)
        (then or ok())(exchange)

    return behave


def drip(seconds: float, text: str = "Hello") -> Behaviour:
    """A whole answer, one byte at a time, each after `seconds`."""

    def behave(exchange: Exchange) -> None:
        body = _answer(exchange.path, text, USAGE, "stop", "test-1")
        exchange.head(200, {"Content-Length": str(len(body))})
        for byte in body:
            exchange.wfile.write(bytes([byte]))
            exchange.wait(seconds)

    return behave


def stall(seconds: float) -> Behaviour:
    """Half an answer, then nothing for so long, then the end of the connection."""

    def behave(exchange: Exchange) -> None:
        truncated()(exchange)
        exchange.wait(seconds)

    return behave


def truncated() -> Behaviour:
    """Less than the Content-Length promised."""

    def behave(exchange: Exchange) -> None:
        body = _answer(exchange.path, "Hello", USAGE, "stop", "test-1")
        exchange.head(200, {"Content-Length": str(len(body))})
        exchange.wfile.write(body[: len(body) // 2])
        exchange.wfile.flush()

    return behave


def chunked_and_cut() -> Behaviour:
    """One chunk of a chunked body, and no end."""

    def behave(exchange: Exchange) -> None:
        exchange.protocol_version = "HTTP/1.1"
        body = _answer(exchange.path, "Hello", USAGE, "stop", "test-1")[:40]
        exchange.head(200, {"Transfer-Encoding": "chunked"})
        exchange.wfile.write(b"%x\r\n%s\r\n" % (len(body), body))

    return behave


def status(code: int, message: str = "", headers: Mapping[str, str] | None = None) -> Behaviour:
    """An error as providers tell it."""

    def behave(exchange: Exchange) -> None:
        error: Any = message if exchange.path.startswith("/api/") else {"message": message, "type": "error"}
        exchange.whole(code, json.dumps({"error": error}).encode() if message else b"", headers)

    return behave


def rate_limited(retry_after: str = "0") -> Behaviour:
    return status(429, "Slow down.", {"Retry-After": retry_after})


def raw(body: bytes, content_type: str = "application/json", code: int = 200) -> Behaviour:
    """These very bytes."""
    return lambda exchange: exchange.whole(code, body, {"Content-Type": content_type})


def nonsense() -> Behaviour:
    return raw(b"\x00\xff lorem ipsum", "text/plain")


def html() -> Behaviour:
    return raw(b"<html><body>Sign in to the hotel's network</body></html>", "text/html")


def wrong_json() -> Behaviour:
    """JSON, but no answer of a model."""
    return raw(b'{"weather": "fine"}')


def no_http() -> Behaviour:
    """Something answers, but not in HTTP."""
    return lambda exchange: exchange.wfile.write(b"SSH-2.0-OpenSSH_9.9\r\n") and None


def closed() -> Behaviour:
    """The connection ends without one byte."""
    return lambda exchange: None


def redirect(address: str) -> Behaviour:
    return status(307, "Elsewhere.", {"Location": address})
