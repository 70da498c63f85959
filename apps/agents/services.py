"""What can be done with an agent's memory: save a line, write or delete a file."""

import hashlib
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from django.conf import settings

from apps import access
from apps.access import Actor
from apps.agents import plans, queries, store
from apps.errors import Busy, Invalid, NotFound, TooLarge
from apps.ledger import queries as ledger_queries
from apps.ledger import services as ledger
from apps.ledger.models import Batch
from apps.vault import files, formats, layout, lines
from apps.vault.changes import Change, Precondition

Plan = Callable[[ledger.Desk], Change]


@dataclass(frozen=True)
class Saved:
    """What a memory_save did: the note's path, the line the entry begins at, how many entries there are now."""

    batch: str
    path: str
    line: int
    entries: int
    repeated: bool


@dataclass(frozen=True)
class Written:
    """A file after a write: sha256 of its bytes, None when it was deleted; the batch is empty if nothing changed."""

    path: str
    sha256: str | None
    batch: str


def body_key(name: str | None, body: object) -> ledger.Key:
    """The idempotency key of a request with this JSON body, None for none. Invalid `bad_key` for an unusable name."""
    if name is None:
        return ledger.Key()
    if not 1 <= len(name.strip()) <= 200 or not name.isprintable():
        raise Invalid("An idempotency key is 1 to 200 printable characters.", code="bad_key", field="Idempotency-Key")
    canonical = json.dumps(body, sort_keys=True, ensure_ascii=True)
    return ledger.Key(name, hashlib.sha256(canonical.encode()).hexdigest())


@contextmanager
def desk(agent_id: str) -> Iterator[ledger.Desk]:
    """The desk of an agent's scope. NotFound, or Busy when the agent was moved while we waited for the lock."""
    scope = queries.scope(agent_id)
    with ledger.writing(scope) as opened:
        if queries.scope(agent_id) != scope:
            raise Busy(f"The folder of {agent_id} was changed meanwhile.", scope=agent_id)
        yield opened


def undo(batch_id: str, *, actor: Actor) -> Batch:
    """Take a write back in its agent's folder as it is now; see `ledger.undo`.

    It takes the right to decide for what a proposal wrote, to write for the
    rest, and somebody there. NotFound when the agent left.
    """
    batch = ledger_queries.batch(batch_id)
    if not actor.sees(batch.scope):
        raise NotFound(f"There is no batch {batch_id}.")
    access.require(actor, "decide" if batch.proposal else "write")
    access.require_present(actor)
    with desk(batch.scope) as opened:
        return ledger.undo(batch_id, desk=opened, actor=actor)


def append_note(agent_id: str, text: str, *, actor: Actor, key: str | None = None) -> Saved:
    """Add one line to today's note of the agent, in the agent's zone.

    A repeated call with the same key and text answers from the first one's
    batch. Raises Invalid (empty, NUL), TooLarge, Conflict (key reused), Busy, StorageFailed.
    """
    scope = queries.visible_scope(actor, agent_id, "write_notes")
    formats.refuse_unstorable(text, "text")
    limit = settings.MEMORYHUB_SAVE_CHARACTERS
    if len(text) > limit:
        raise TooLarge(
            f"A saved line may have {limit:,} characters; this has {len(text):,}.", limit=limit, field="text"
        )
    idempotency = body_key(key, {"tool": "memory_save", "text": text})
    with desk(agent_id) as opened:
        batch = ledger.repeated(agent_id, actor, idempotency)
        is_repeat = batch is not None
        if batch is None:
            # The clock is read under the lock, so that lines stand in the order of their times.
            change = plans.save_line(text, queries.now_in(scope), opened.read)
            _refuse_large(change.after or b"")
            batch = opened.write([change], actor=actor, reason="memory_save", key=idempotency)
    if batch is None:
        raise RuntimeError("An append always changes the file.")
    return _saved(scope, batch, is_repeat)


def _saved(scope: layout.Scope, batch: Batch, is_repeat: bool) -> Saved:
    row = batch.changes.get()
    now = store.decode((files.read(scope.root, row.path) or b"")[: row.offset or 0])
    line = len(lines.split(now)) + 1 if row.is_append else 3
    return Saved(batch.public_id, row.path, line, store.count_entries(scope.root), is_repeat)


def write_memory(agent_id: str, text: str, *, actor: Actor, when: Precondition, key: str | None = None) -> Written:
    """Replace the agent's MEMORY.md by exactly this text. Raises as `write_note`."""
    scope = _writable(agent_id, actor)
    _refuse_text(text, "memory_md")
    return _write(
        scope,
        lambda desk: plans.put(store.memory_path(scope.root), text, desk.read),
        actor=actor,
        when=when,
        key=body_key(key, {"put": "memory", "text": text}),
    )


def write_note(
    agent_id: str, day: str, text: str, *, actor: Actor, when: Precondition, key: str | None = None
) -> Written:
    """Replace one note by exactly this text, making it when missing.

    Raises Forbidden `not_present` in an unattended turn, Invalid, TooLarge,
    Stale when `when` does not hold, Busy, StorageFailed.
    """
    scope = _writable(agent_id, actor)
    path = layout.note_path(plans.note_stem(day))
    _refuse_text(text, "body")
    return _write(
        scope,
        lambda desk: plans.put(path, text, desk.read),
        actor=actor,
        when=when,
        key=body_key(key, {"put": path, "text": text}),
    )


def delete_note(agent_id: str, day: str, *, actor: Actor, when: Precondition) -> Written:
    """Delete one note; undo brings it back. NotFound when there is none."""
    scope = _writable(agent_id, actor)
    path = layout.note_path(plans.note_stem(day))
    return _write(scope, lambda desk: plans.delete(path, desk.read), actor=actor, when=when, key=ledger.Key())


def _writable(agent_id: str, actor: Actor) -> layout.Scope:
    """The scope, for an actor that may write it; the answer tells what is there, so it must be able to read too."""
    access.require(actor, "read", scope=agent_id)
    scope = queries.visible_scope(actor, agent_id, "write")
    access.require_present(actor)
    return scope


def _write(scope: layout.Scope, plan: Plan, *, actor: Actor, when: Precondition, key: ledger.Key) -> Written:
    with desk(scope.id) as opened:
        done = ledger.repeated(scope.id, actor, key)
        if done:
            row = done.changes.get()
            return Written(row.path, row.sha_after, done.public_id)
        change = plan(opened)
        when.check(change.path, change.before)
        batch = opened.write([change], actor=actor, key=key)
    return Written(change.path, change.sha_after, batch.public_id if batch else "")


def _refuse_text(text: str, field: str) -> None:
    formats.refuse_unstorable(text, field)
    _refuse_large(text.encode(), field)


def _refuse_large(data: bytes, field: str = "text") -> None:
    limit = settings.MEMORYHUB_TEXT_LIMIT
    if len(data) > limit:
        raise TooLarge(f"A file may have {limit:,} bytes; this would have {len(data):,}.", limit=limit, field=field)
