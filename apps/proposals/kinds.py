"""The kinds of proposal: what each one's intent means as changes of files. Plain functions."""

from collections.abc import Callable, Mapping
from typing import Any

from apps.errors import Invalid
from apps.vault.changes import Change

Read = Callable[[str], bytes | None]
Fetch = Callable[[str | None], bytes | None]

REWRITE = "agent_memory_rewrite"


def rewrite_intent(path: str, text_sha: str, previous_sha: str | None) -> dict[str, Any]:
    """The intent of a rewrite: the whole new file by its digest, and the text it was made from."""
    return {"path": path, "text": text_sha, "previous": previous_sha}


def plan(kind: str, intent: Mapping[str, Any], read: Read, fetch: Fetch) -> list[Change]:
    """The changes a proposal would make to the files as they are now.

    `read` gives a file's present bytes, `fetch` a kept text by digest. Invalid
    `unknown_kind` for a kind this version does not know.
    """
    if kind == REWRITE:
        return [Change(intent["path"], read(intent["path"]), fetch(intent["text"]))]
    raise Invalid(f"This version does not know proposals of kind “{kind}”.", code="unknown_kind", kind=kind)
