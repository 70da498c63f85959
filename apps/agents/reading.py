"""What an actor may read of an agent's files, as values for pages and answers. Readers take no lock."""

from dataclasses import dataclass

from django.conf import settings

from apps.access import Actor
from apps.agents import plans, queries, store
from apps.errors import NotFound, TooLarge
from apps.ledger import blame as ledger_blame
from apps.vault import files, layout, lines, paths

# Lines of a file whose origins are told: a longer answer or margin nobody reads.
MOST_LINES = 5_000


@dataclass(frozen=True)
class File:
    """One file as text; `sha256` is of its bytes and None when there is no file (the text is empty then)."""

    scope: str
    path: str
    text: str
    sha256: str | None


@dataclass(frozen=True)
class Memory:
    """An agent's memory file and the list of its day notes, newest first."""

    file: File
    notes: tuple[store.Note, ...]


@dataclass(frozen=True)
class Blamed:
    """A file and the origin of each of its lines."""

    file: File
    origins: tuple[ledger_blame.Origin, ...]


def memory(agent_id: str, *, actor: Actor) -> Memory:
    """MEMORY.md as stored, and the notes. NotFound for an agent the actor may not see."""
    scope = queries.visible_scope(actor, agent_id, "read")
    path, data = store.read_memory(scope.root)
    return Memory(_file(scope, path, data), tuple(store.notes(scope.root)))


def note_names(agent_id: str, *, actor: Actor) -> list[store.NoteName]:
    """The agent's notes by name and size, newest first; none of them is read."""
    return store.note_names(queries.visible_scope(actor, agent_id, "read").root)


def note(agent_id: str, day: str, *, actor: Actor) -> File:
    """One note; empty when there is none. Invalid `bad_name` for what cannot be a note's name."""
    scope = queries.visible_scope(actor, agent_id, "read")
    path = layout.note_path(plans.note_stem(day))
    return _file(scope, path, files.read(scope.root, path))


def file(agent_id: str, path: str, *, actor: Actor) -> File:
    """Any file of a known kind below the agent's root; NotFound when it is none, or not there."""
    scope = queries.visible_scope(actor, agent_id, "read")
    named = paths.clean(path)
    kind = layout.kind(scope.id, named, settings.MEMORYHUB_PERSONA_FILES)
    if kind == "memory":
        named = store.memory_path(scope.root)
    data = files.read(scope.root, named) if kind else None
    if data is None and kind != "memory":
        raise NotFound(f"There is no file {path}.", path=path)
    return _file(scope, named, data)


def blame(agent_id: str, path: str, *, actor: Actor) -> Blamed:
    """A file and who brought each of its lines. NotFound as `file`, also for a memory that is not there yet.

    TooLarge as `origins`.
    """
    found = file(agent_id, path, actor=actor)
    if found.sha256 is None:
        raise NotFound(f"There is no file {path}.", path=path)
    return Blamed(found, origins(found))


def origins(found: File) -> tuple[ledger_blame.Origin, ...]:
    """The origin of every line of a file that was read. TooLarge when it has more than 5,000 lines."""
    count = len(lines.split(found.text))
    if count > MOST_LINES:
        raise TooLarge(
            f"Who brought each line is told of files up to {MOST_LINES:,} lines; this has {count:,}.",
            limit=MOST_LINES,
            path=found.path,
        )
    # Bytes that are not UTF-8 were replaced on reading, as they are in the texts of the history.
    return tuple(ledger_blame.blame(found.scope, found.path, found.text.encode()))


def _file(scope: layout.Scope, path: str, data: bytes | None) -> File:
    return File(scope.id, path, store.decode(data), files.sha256(data))
