"""What a provider's own words say, read from the bytes it sent.

litellm fills what a provider leaves out: zeros or counts of its own for tokens,
"stop" for every finish reason it does not know, and always "stop" for Ollama's
/api/generate, also after an answer that was cut off. So that no guess is booked
as a fact, these are read from the answer itself.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any

# Where OpenAI, Cohere and OpenRouter, then Gemini, Ollama, Anthropic and Bedrock tell why an answer ended.
_REASON_KEYS = {"finish_reason", "finishreason", "done_reason", "stop_reason", "stopreason"}
_MODEL_KEYS = {"model", "modelversion"}
_WHOLE = {"stop", "end_turn", "stop_sequence", "complete", "eos", "eos_token"}
_CUT_OFF = {"length", "max_tokens", "max_output_tokens", "max_length", "model_length", "model_context_window_exceeded"}
_PROMPT_WORDS = ("prompt", "input")
_COMPLETION_WORDS = ("completion", "output", "candidates", "generated")

# Characters of a provider's error that are worth keeping.
_SENTENCE = 300


@dataclass(frozen=True)
class Reply:
    """`model` and `finish_reason` are "" when not told; the others say whether a count of tokens was told at all."""

    model: str
    finish_reason: str
    prompt_counted: bool
    completion_counted: bool

    @property
    def tells_anything(self) -> bool:
        """Whether this looks like an answer of a model at all."""
        return bool(self.model or self.finish_reason or self.prompt_counted or self.completion_counted)


def read(body: bytes) -> Reply:
    """What an answer tells beside its text. A body that is not JSON tells nothing."""
    pairs = list(_pairs(_json(body)))
    models = (value for key, value in pairs if key in _MODEL_KEYS and isinstance(value, str))
    reasons = (value for key, value in pairs if key in _REASON_KEYS and isinstance(value, str))
    counts = [
        key for key, value in pairs if ("token" in key or "eval_count" in key) and type(value) is int and value >= 0
    ]
    return Reply(
        model=next(models, ""),
        finish_reason=_standard(next(reasons, "")),
        prompt_counted=any(word in key for key in counts for word in _PROMPT_WORDS),
        completion_counted=any(key == "eval_count" or any(w in key for w in _COMPLETION_WORDS) for key in counts),
    )


def _standard(reason: str) -> str:
    """OpenAI's words for what all providers have; a provider's own word, in lower case, for anything else."""
    word = reason.lower()
    return "stop" if word in _WHOLE else "length" if word in _CUT_OFF else word


def _json(body: bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def _pairs(value: Any) -> Iterator[tuple[str, Any]]:
    """Every key of a JSON value with what stands under it, outer ones first, keys in lower case."""
    level = [value]
    while level:
        deeper: list[Any] = []
        for one in level:
            if isinstance(one, dict):
                yield from ((key.lower(), inner) for key, inner in one.items())
                deeper += one.values()
            elif isinstance(one, list):
                deeper += one
        level = deeper


def error_sentence(body: bytes, masks: Mapping[str, str]) -> str:
    """The provider's own sentence about what is wrong, "" if there is none; secrets are masked before it is cut."""
    found = _json(body)
    if isinstance(found, list) and found:
        found = found[0]
    for key in ("error", "message", "detail"):
        if isinstance(found, dict) and found.get(key):
            inner = found[key]
            found = inner.get("message") if isinstance(inner, dict) else inner
            break
    return short(found, masks) if isinstance(found, str) else ""


def short(text: str, masks: Mapping[str, str]) -> str:
    """One line of at most 300 characters in which every key of `masks` is replaced by its value."""
    for secret in sorted(masks, key=len, reverse=True):
        text = text.replace(secret, masks[secret])
    line = " ".join("".join(character if character.isprintable() else " " for character in text).split())
    return line if len(line) <= _SENTENCE else line[: _SENTENCE - 1] + "…"


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds a server asks to be left alone (RFC 9110, 10.2.3), None when it does not say or cannot be read.

    A date counts from the date of the response, so that no clock is compared
    with another one.
    """
    value = headers.get("retry-after", "")
    if value.isascii() and value.isdigit():
        return float(value[:9])
    try:
        seconds = (parsedate_to_datetime(value) - parsedate_to_datetime(headers.get("date", ""))).total_seconds()
    except (ValueError, TypeError, OverflowError):
        return None
    return max(seconds, 0.0)
