"""The map: where each kind of file lives, and which kind a path is.

Access to files is by kind, never by "inside a folder": the default agent's
root is the home itself, so being below it means nothing (decisions.md, Files).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

OWNER = "owner"
MASTER = "default"

# Own state beside the memory: locks, index files, the secret key.
STATE = ".memoryhub"
# Temporary files of a replacement in progress; the writer that finds an unclean lock removes them.
TEMPORARY = ".mh-"

MEMORY = "MEMORY.md"
NOTES = "memory"
PERSONA = ("AGENTS.md", "SOUL.md", "IDENTITY.md", "USER.md", "TOOLS.md")

AGENT_ID = re.compile(r"[a-z0-9-]{1,60}")
# `owner` is the shared scope; the others are words of the routes below /api/agents/.
RESERVED_IDS = frozenset({OWNER, "user", "search", "proposals", "sync"})

# memory.md 3.1: matched whole; whether the day exists is not asked.
NOTE_STEM = re.compile(r"\d{4}-\d{2}-\d{2}(-[a-z0-9-]+)?", re.ASCII)


@dataclass(frozen=True)
class Scope:
    """The unit of locking, permission and search: `owner` or an agent's id.

    `root` is a real path (no links in it); `zone` an IANA time zone name.
    """

    id: str
    root: Path
    zone: str


def home_directory(home: Path, agent_id: str) -> Path:
    """The folder an agent has unless it was given a workspace: the master's is the home itself."""
    return home if agent_id == MASTER else home / "agents" / agent_id


def note_path(stem: str) -> str:
    return f"{NOTES}/{stem}.md"


def kind(scope_id: str, path: str, persona: Sequence[str] = PERSONA) -> str | None:
    """The kind of file a relative path names, or None when it is no memory file.

    `path` must have passed `paths.clean`. `memory` also answers for another
    letter case of MEMORY.md, because a folder may come from a case-blind disk.
    """
    parts = path.split("/")
    if not path.endswith(".md"):
        return None
    if scope_id == OWNER:
        return _owner_kind(parts)
    if len(parts) == 1:
        return _top_kind(path, persona)
    if parts[0] == "bank":
        return "bank"
    if parts[0] != NOTES:
        return None
    if len(parts) == 2 and NOTE_STEM.fullmatch(parts[1].removesuffix(".md")):
        return "note"
    if parts[1] == "wiki" and len(parts) == 4:
        if parts[2] in {"entities", "concepts", "syntheses"}:
            return "page"
        if parts[2] == "reports":
            return "report"
    return "free"


def _owner_kind(parts: list[str]) -> str | None:
    if parts == ["USER.md"]:
        return "user"
    if len(parts) == 2 and parts[0] == "facts":
        return "index" if parts[1] == "INDEX.md" else "fact"
    return None


def _top_kind(name: str, persona: Sequence[str]) -> str | None:
    if name.lower() == MEMORY.lower():
        return "memory"
    if name in persona:
        return "persona"
    return "dreams" if name == "DREAMS.md" else None


def folders(scope_id: str) -> tuple[tuple[str, bool], ...]:
    """The folders of a scope that hold its files, as (path, with sub-folders); `""` is the root."""
    if scope_id == OWNER:
        return (("", False), ("facts", False))
    return (("", False), (NOTES, True), ("bank", True))
