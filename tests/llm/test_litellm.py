"""Questions through litellm over real HTTP, to a server that can do everything wrong."""

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from apps.errors import ModelFailed
from apps.llm import client, exchange, replies
from apps.llm.client import Answer, Task
from apps.llm.routes import Route
from tests.llm import model_server as server
from tests.llm.model_server import Behaviour, ModelServer, ok, status

ROOT = Path(__file__).parent.parent.parent
PROMPT = "What is worth keeping?"
A, B = "openai/a", "openai/b"
USELESS = {
    "bytes that are no text": server.nonsense(),
    "a page of HTML": server.html(),
    "JSON that is no answer": server.wrong_json(),
    "no choice": server.raw(b'{"choices": []}'),
    "a list": server.raw(b"[]"),
    "deep JSON": server.raw(b'{"a":' * 100_000),
    "an error under status 200": server.raw(b'{"error": {"message": "overloaded", "code": 503}}'),
    "numbers for text": server.raw(b'{"choices": [{"message": {"content": 7}}], "response": 7}'),
    "less than was promised": server.truncated(),
    "half a chunked body": server.chunked_and_cut(),
    "half a head": lambda exchange: exchange.wfile.write(b"HTTP/1.1 200 OK\r\nContent-") and None,
    "another protocol": server.no_http(),
}


def ask(route: Route, prompt: str = PROMPT) -> Answer:
    return client.ask(Task("rewrite", prompt, {}), route=route)


def at(model: ModelServer, *names: str, **terms: Any) -> Route:
    """A route of names that are all served here; time-outs are short."""
    where = model.root if names[0].startswith("ollama") else model.address
    return Route(names, addresses=dict.fromkeys(names, where), **{"seconds": 0.6, **terms})


def failure(route: Route, prompt: str = PROMPT) -> ModelFailed:
    with pytest.raises(ModelFailed) as failed:
        ask(route, prompt)
    return failed.value


def asked(model: ModelServer) -> list[str]:
    """The models that were asked, in order."""
    return [request.body["model"] for request in model.requests]


def reasons(attempts: Sequence[Any]) -> list[tuple[str, str, int | None]]:
    return [(one.model, one.reason, one.status) for one in attempts]


def test_one_question_is_one_request_with_one_message_and_the_text_comes_back_as_it_is() -> None:
    text = " \n# Memory\n\n- café 茶 \u0000 <b>\n\n"
    with ModelServer([ok(text, model="a-2026")]) as model:
        answer = ask(at(model, A, output_tokens=700))
    (request,) = model.requests
    assert request.path == "/v1/chat/completions"
    assert request.body == {"model": "a", "messages": [{"role": "user", "content": PROMPT}], "max_tokens": 700}
    assert answer.text == text
    assert (answer.provider, answer.model, answer.finish_reason) == ("openai", "a-2026", "stop")
    assert (answer.prompt_tokens, answer.completion_tokens, answer.cost) == (12, 3, None)
    assert 0 < answer.seconds < 30 and answer.attempts == ()


@pytest.mark.parametrize(("name", "path"), [("ollama/a", "/api/generate"), ("ollama_chat/a", "/api/chat")])
def test_ollama_is_asked_once_and_says_itself_that_it_was_cut_off(name: str, path: str) -> None:
    with ModelServer([ok("Half an ans", finish_reason="length")]) as model:
        answer = ask(at(model, name))
    assert [request.path for request in model.requests] == [path]
    assert PROMPT in model.requests[0].prompt
    assert (answer.text, answer.finish_reason) == ("Half an ans", "length")
    assert (answer.prompt_tokens, answer.completion_tokens, answer.cost) == (12, 3, None)


@pytest.mark.parametrize("name", [A, "ollama/a", "ollama_chat/a"])
def test_tokens_that_a_server_does_not_count_are_unknown(name: str) -> None:
    with ModelServer([ok("Hello", usage=None)]) as model:
        route = at(model, name, prices={name: (Decimal(1), Decimal(1))})
        answer = ask(route)
    assert (answer.prompt_tokens, answer.completion_tokens, answer.cost) == (None, None, None)
    assert asked(model) == ["a"], "nothing else is looked up on the server"


def test_a_count_of_one_side_alone_is_no_price() -> None:
    with ModelServer([ok("Hello", usage={"prompt_tokens": 5})]) as model:
        answer = ask(at(model, A, prices={A: (Decimal(1), Decimal(1))}))
    assert (answer.prompt_tokens, answer.completion_tokens, answer.cost) == (5, None, None)


def test_the_price_of_an_answer_is_the_operators() -> None:
    with ModelServer([ok("Hello")]) as model:
        answer = ask(at(model, A, prices={A: (Decimal("0.5"), Decimal(2))}))
    assert answer.cost == (12 * Decimal("0.5") + 3 * 2) / 1_000_000


@pytest.mark.parametrize("text", ["", None])
def test_an_empty_answer_is_an_answer_with_its_reason(text: str | None) -> None:
    with ModelServer([ok(text, finish_reason="length")]) as model:
        answer = ask(at(model, A))
    assert (answer.text, answer.finish_reason) == ("", "length")


@pytest.mark.parametrize(
    ("told", "standard"),
    [
        ("max_tokens", "length"),
        ("end_turn", "stop"),
        ("content_filter", "content_filter"),
        ("error", "error"),
        (None, ""),
    ],
)
def test_a_finish_reason_is_told_and_never_guessed(told: str | None, standard: str) -> None:
    with ModelServer([ok("Hello", finish_reason=told)]) as model:
        assert ask(at(model, A)).finish_reason == standard


def test_an_offline_name_takes_over_by_rules() -> None:
    data = {"memory": "- Tea", "notes": [], "limit": 24_000}
    route = Route((A, "offline"), addresses={A: server.refused_address()}, retries=0, seconds=0.6)
    answer = client.ask(Task("rewrite", PROMPT, data), route=route)
    assert (answer.text, answer.provider) == ("- Tea", "offline")
    assert reasons(answer.attempts) == [(A, "connection", None)]


def test_a_429_is_waited_out_and_asked_again() -> None:
    with ModelServer([server.rate_limited("1"), ok("Hello")]) as model:
        started = time.monotonic()
        answer = ask(at(model, A, B))
        took = time.monotonic() - started
    assert asked(model) == ["a", "a"]
    assert reasons(answer.attempts) == [(A, "rate_limited", 429)]
    assert answer.text == "Hello" and took >= 1


def test_a_server_that_wants_to_be_left_alone_for_long_is_left_alone() -> None:
    with ModelServer([server.rate_limited("31"), ok("Hello")]) as model:
        assert ask(at(model, A, B)).text == "Hello"
    assert asked(model) == ["a", "b"]


@pytest.mark.parametrize("code", [429, 500, 502, 503, 529])
def test_a_server_in_trouble_is_asked_again_and_then_the_next_one(code: int) -> None:
    with ModelServer([status(code), status(code, "Busy."), ok("Hello")]) as model:
        answer = ask(at(model, A, B, retries=1))
    assert asked(model) == ["a", "a", "b"]
    reason = "rate_limited" if code == 429 else "server_error"
    assert reasons(answer.attempts) == [(A, reason, code), (A, reason, code)]


@pytest.mark.parametrize("name", [A, "ollama_chat/a"])
def test_a_connection_closed_without_a_word_is_tried_again(name: str) -> None:
    with ModelServer([server.closed(), ok("Hello")]) as model:
        answer = ask(at(model, name))
    assert answer.text == "Hello" and reasons(answer.attempts) == [(name, "closed", None)]


@pytest.mark.parametrize("name", [A, "ollama/a"])
def test_a_silent_server_is_not_asked_twice_and_the_next_one_answers(name: str) -> None:
    with ModelServer([server.slow(5)]) as silent, ModelServer([ok("Hello")]) as other:
        where = silent.root if name.startswith("ollama") else silent.address
        route = Route((name, B), addresses={name: where, B: other.address}, seconds=0.5, retries=3)
        started = time.monotonic()
        answer = ask(route)
        took = time.monotonic() - started
    assert len(silent.requests) == 1 and answer.text == "Hello"
    assert reasons(answer.attempts) == [(name, "timeout", None)]
    assert 0.5 <= answer.attempts[0].seconds < took < 5


def test_when_nobody_answers_the_sentence_says_what_each_of_them_did() -> None:
    with ModelServer([status(503, "Loading the model.")]) as model:
        route = Route((A, B), addresses={A: server.refused_address(), B: model.address}, retries=0)
        failed = failure(route)
    assert failed.code == "provider_error"
    assert failed.message == f"No model answered. {A}: connection refused; {B}: 503 (Loading the model.)."
    seconds = [one.pop("seconds") for one in failed.details["attempts"]]
    assert all(second >= 0 for second in seconds)
    assert failed.details["attempts"] == [
        {"model": A, "provider": "openai", "reason": "connection", "status": None},
        {"model": B, "provider": "openai", "reason": "server_error", "status": 503},
    ]


def test_one_silent_model_is_a_sentence_of_its_own() -> None:
    with ModelServer([server.slow(5)]) as model:
        failed = failure(at(model, A, seconds=0.5))
    assert (failed.code, failed.message) == ("provider_error", "No answer within 0.5 seconds from openai/a.")
    assert [one["reason"] for one in failed.details["attempts"]] == ["timeout"]


@pytest.mark.parametrize("name", [A, "ollama/a", "ollama_chat/a"])
@pytest.mark.parametrize("useless", USELESS)
def test_after_an_answer_began_nobody_is_asked_again(useless: str, name: str) -> None:
    with ModelServer([USELESS[useless], ok("never asked for")]) as model:
        failed = failure(at(model, name, "openai/b"))
    assert (failed.code, len(model.requests)) == ("bad_answer", 1), failed.message
    assert failed.message.startswith(f"{name} ") and failed.details["attempts"] == []


@pytest.mark.parametrize(
    "behaviour", [server.stall(5), server.drip(0.03), server.drip(0.2)], ids=["stall", "drip", "slow drip"]
)
def test_an_answer_that_does_not_end_in_time_is_given_up_and_not_asked_for_again(behaviour: Behaviour) -> None:
    with ModelServer([behaviour, ok("never asked for")]) as model:
        started = time.monotonic()
        failed = failure(at(model, A, B))
        took = time.monotonic() - started
    assert (failed.code, len(model.requests)) == ("bad_answer", 1)
    assert failed.message == "openai/a began an answer and did not end it within 0.6 seconds."
    assert took < 2


def test_an_answer_without_end_is_cut_off_by_its_length() -> None:
    def endless(answering: server.Exchange) -> None:
        answering.head(200, {})
        while True:
            answering.wfile.write(b" " * 2**20)

    with ModelServer([endless]) as model:
        failed = failure(at(model, A, seconds=30))
    assert (failed.code, failed.message) == ("bad_answer", "openai/a gave an answer of more than 16 MiB.")


@pytest.mark.parametrize("code", [400, 401, 403, 404, 422])
@pytest.mark.parametrize("name", [A, "ollama_chat/a"])
def test_a_refusal_is_final_and_in_the_providers_words(code: int, name: str) -> None:
    with ModelServer([status(code, "No such\n thing, " + "x" * 1000), ok("never asked for")]) as model:
        failed = failure(at(model, name, B))
    assert (failed.code, len(model.requests)) == ("provider_error", 1)
    assert failed.message.startswith(f"{name} refused the question: {code} (No such thing, xxx")
    assert len(failed.message) < 400
    assert (failed.details["model"], failed.details["status"]) == (name, code)


def test_litellm_itself_asks_nothing_twice() -> None:
    """It would, after an error in these words."""
    with ModelServer([status(400, "Conversation roles must alternate user/assistant"), ok("never asked for")]) as model:
        failed = failure(at(model, A))
    assert (len(model.requests), failed.details["status"]) == (1, 400)


def test_what_failed_before_a_refusal_is_told_with_it() -> None:
    with ModelServer([status(503), status(401)]) as model:
        failed = failure(at(model, A, B, retries=0))
    assert [one["status"] for one in failed.details["attempts"]] == [503]


@pytest.mark.parametrize("name", [A, "ollama_chat/a"])
def test_a_question_follows_no_redirect(name: str) -> None:
    with ModelServer([ok("never asked for")]) as elsewhere, ModelServer([server.redirect(elsewhere.address)]) as model:
        failed = failure(at(model, name))
    assert "refused the question: 307" in failed.message
    assert (len(model.requests), len(elsewhere.requests)) == (1, 0)


@pytest.mark.parametrize("name", [A, "ollama_chat/a", "groq/a"])
def test_a_server_of_the_operator_gets_its_own_key_and_never_the_providers(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in ("OPENAI_API_KEY", "OLLAMA_API_KEY", "GROQ_API_KEY"):
        monkeypatch.setenv(variable, "sk-of-the-provider")
    for key in ("", "of-the-operator"):
        with ModelServer([status(400)]) as model:
            failure(at(model, name, key=key))
        (request,) = model.requests
        assert request.headers["authorization"] == f"Bearer {key or 'none'}"
        assert "sk-of-the-provider" not in str(request)


def test_a_key_in_an_error_is_masked_before_the_error_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOUSE_TOKEN", "house-secret-1")
    monkeypatch.setenv("EMPTY_KEY", "")
    said = "Wrong key op-secret, house-secret-1 " + "x" * 250 + " op-secret"
    for behaviour in (status(401, said), status(503, said), server.raw(json.dumps({"error": said}).encode())):
        with ModelServer([behaviour]) as model:
            failed = failure(at(model, A, key="op-secret", retries=0))
        assert "Wrong key •••, •••" in failed.message
        assert "op-s" not in str(failed.details) + failed.message and "house" not in failed.message


def test_a_provider_without_a_key_says_so_and_is_not_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in [name for name in os.environ if name.startswith("OPENAI_")]:
        monkeypatch.delenv(variable)
    failed = failure(Route(("openai/gpt-4o", "offline")))
    assert failed.code == "provider_error"
    assert failed.message.startswith("openai/gpt-4o could not be asked: Missing credentials")


@pytest.mark.parametrize("prompt", ["", "\x00", "half a pair \ud800 here", "x" * 2_000_000])
def test_any_prompt_can_be_sent(prompt: str) -> None:
    with ModelServer([ok("Hello")]) as model:
        assert ask(at(model, A, seconds=30), prompt).text == "Hello"
    assert model.requests[0].prompt == prompt.replace("\ud800", "\ufffd")


def test_half_a_surrogate_pair_in_an_answer_is_kept() -> None:
    with ModelServer([ok("a \ud800 b")]) as model:
        assert ask(at(model, A)).text == "a \ud800 b"


def test_questions_at_the_same_time_do_not_mix() -> None:
    answers: dict[str, str] = {}

    def one(text: str) -> None:
        answers[text] = ask(at(model, A, seconds=10), text).text

    with ModelServer(lambda body: server.slow(0.2, ok(body["messages"][0]["content"]))) as model:
        threads = [threading.Thread(target=one, args=(str(n),)) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert answers == {str(n): str(n) for n in range(8)}


def test_nothing_leaves_beside_a_question_and_nothing_of_it_is_printed() -> None:
    """In a process in which only the model's server can be reached, with litellm's own debugging asked for."""
    program = """
import socket, sys
from urllib.parse import urlsplit
from apps.llm import client
from apps.llm.routes import Route
from apps.errors import ModelFailed

address = sys.argv[1]
allowed = urlsplit(address).port
real = socket.socket.connect
def connect(self, to):
    if to[1] != allowed:
        print("REACHED OUT", to)
        raise SystemExit(9)
    return real(self, to)
socket.socket.connect = connect
def resolve(host, *rest, **options):
    if host not in ("127.0.0.1", b"127.0.0.1"):
        print("LOOKED UP", host)
        raise socket.gaierror(host)
    return looked_up(host, *rest, **options)
looked_up, socket.getaddrinfo = socket.getaddrinfo, resolve

name = "openai/gpt-4o"
route = Route((name,), addresses={name: address}, retries=0)
task = client.Task("rewrite", "the-prompt-itself", {})
print(client.ask(task, route=route).text)
for _ in range(3):
    try:
        client.ask(task, route=route)
    except ModelFailed as error:
        print(error.code)
print(client.price(name, 10, 10, route=Route(())) is None)
print(client.price("ollama/nosuch", 10, 10, route=Route(())) is None)
"""
    env = {name: value for name, value in os.environ.items() if not name.endswith(("API_BASE", "BASE_URL"))}
    with ModelServer([ok("Hello"), status(500, "Broken."), server.html(), status(400, "No.")]) as model:
        ran = subprocess.run(
            [sys.executable, "-W", "error", "-W", "ignore::ResourceWarning", "-c", program, model.address],
            cwd=ROOT,
            env={**env, "LITELLM_LOG": "DEBUG"},
            capture_output=True,
            text=True,
            check=False,
        )
    assert ran.stdout.split() == ["Hello", "provider_error", "bad_answer", "provider_error", "False", "True"], (
        ran.stderr
    )
    assert "the-prompt-itself" not in ran.stdout + ran.stderr
    assert len(model.requests) == 4


def test_a_request_outside_a_question_does_not_leave() -> None:
    import httpx

    with ModelServer([ok("Hello")]) as model:
        with httpx.Client(transport=exchange.Transport()) as outside, pytest.raises(httpx.UnsupportedProtocol):
            outside.post(model.address, json={})
        assert model.requests == []


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7),
        ({"retry-after": "-7"}, None),
        ({"retry-after": "²"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "9" * 400}, 999_999_999),
        ({"retry-after": "Sun, 20 Sep 2026 03:00:09 GMT", "date": "Sun, 20 Sep 2026 03:00:00 GMT"}, 9),
        ({"retry-after": "Sun, 20 Sep 2026 03:00:00 GMT", "date": "Sun, 20 Sep 2026 03:00:09 GMT"}, 0),
        ({"retry-after": "Sun, 20 Sep 2026 03:00:09 GMT"}, None),
    ],
)
def test_a_server_says_how_long_it_wants_to_be_left_alone(headers: dict[str, str], seconds: float | None) -> None:
    assert replies.retry_after(headers) == seconds


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ({"error": {"message": "Quota used up."}}, "Quota used up."),
        ({"error": "model not found"}, "model not found"),
        ([{"error": {"code": 400, "message": "API key not valid."}}], "API key not valid."),
        ({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}, "Overloaded"),
        ({"message": "Too many tokens"}, "Too many tokens"),
        ({"detail": "Not Found"}, "Not Found"),
        ({"detail": [{"loc": ["body"]}]}, ""),
        ({"error": None}, ""),
        (7, ""),
    ],
)
def test_a_providers_sentence_is_found_where_providers_put_it(body: Any, sentence: str) -> None:
    assert replies.error_sentence(json.dumps(body).encode(), {}) == sentence


@pytest.mark.parametrize(
    ("body", "reply"),
    [
        (
            {"model": "claude-x", "stop_reason": "max_tokens", "usage": {"input_tokens": 4, "output_tokens": 2}},
            replies.Reply("claude-x", "length", True, True),
        ),
        (
            {
                "candidates": [{"content": {"parts": [{"text": "finish_reason"}]}, "finishReason": "MAX_TOKENS"}],
                "usageMetadata": {"promptTokenCount": 4, "candidatesTokenCount": 2},
                "modelVersion": "gemini-x",
            },
            replies.Reply("gemini-x", "length", True, True),
        ),
        ({"finish_reason": "COMPLETE", "usage": {"tokens": {}}}, replies.Reply("", "stop", False, False)),
        ({"usage": {"prompt_tokens": -1, "completion_tokens": True}}, replies.Reply("", "", False, False)),
        ([], replies.Reply("", "", False, False)),
    ],
)
def test_answers_of_every_dialect_are_read(body: Any, reply: replies.Reply) -> None:
    assert replies.read(json.dumps(body).encode()) == reply
