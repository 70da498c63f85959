"""The few exceptions every part of memoryhub raises.

They know nothing of HTTP, commands or pages: each door keeps one table that
turns them into its own answer (`apps/api/errors.py`, the admin's messages,
`CommandError`). Whatever is not one of these is a bug and is not caught.
"""

from typing import Any


class MemoryHubError(Exception):
    """Something refused, with a sentence a person can act on.

    `code` is a stable word for programs; `details` are plain values (text,
    numbers, lists of them) that a door may show: field, path, line, limit.
    """

    default_code = "error"

    def __init__(self, message: str, *, code: str | None = None, **details: Any) -> None:
        super().__init__(message)
        self.message = message
        self.code = code or self.default_code
        self.details = details


class NotFound(MemoryHubError):
    """No such file, agent, proposal or batch; also "not yours"."""

    default_code = "not_found"


class Conflict(MemoryHubError):
    """The world moved on: somebody decided, changed or runs the same thing."""

    default_code = "conflict"


class Stale(MemoryHubError):
    """A precondition (`If-Match`, `If-None-Match`) does not hold."""

    default_code = "stale"


class Invalid(MemoryHubError):
    """The input itself cannot be accepted, whatever the state."""

    default_code = "invalid"


class TooLarge(MemoryHubError):
    """Over a limit; `limit` names it."""

    default_code = "too_large"


class Forbidden(MemoryHubError):
    """The actor is known but may not do this."""

    default_code = "forbidden"


class Busy(MemoryHubError):
    """A lock was not free in time, or recovery waits; try again."""

    default_code = "busy"


class StorageFailed(MemoryHubError):
    """The disk refuses: `disk_full`, `not_permitted`, `root_missing`, `io_error`."""

    default_code = "io_error"


class ModelFailed(MemoryHubError):
    """A model gave no usable answer: `provider_error`, `bad_answer`, `truncated`, `bad_encoding`, …"""

    default_code = "provider_error"
