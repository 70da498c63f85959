"""What one consolidation starts from, read without the lock, and the same with every credential masked."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property

from django.conf import settings

from apps import access
from apps.agents import queries as agents
from apps.agents import store
from apps.errors import ModelFailed
from apps.jobs import inputs
from apps.ledger import blame
from apps.llm import masking
from apps.proposals import support
from apps.vault import formats, layout, lines


@dataclass(frozen=True)
class Material:
    """The memory file as bytes and trimmed text, every note with text, and the agent's day."""

    scope: layout.Scope
    path: str
    data: bytes | None
    memory: str
    notes: tuple[store.Note, ...]
    today: date

    @cached_property
    def keyed(self) -> dict[str, inputs.Note]:
        """The notes as the job's inputs, by key (name and content)."""
        rows = [inputs.Note(note.day, note.date, note.text) for note in self.notes]
        return {row.key: row for row in rows}

    @cached_property
    def paths(self) -> dict[str, str]:
        """Where each note lies, by its name."""
        return {note.day: note.path for note in self.notes}


@dataclass(frozen=True)
class Masked:
    """Memory and chosen notes as a model gets them, and how to put the credentials back."""

    memory: str
    notes: tuple[inputs.Note, ...]
    masks: masking.Masks
    # [path, line, kind] of every credential found.
    credentials: tuple[tuple[str, int, str], ...]


def read(scope: layout.Scope) -> Material:
    """Everything the agent's memory is made from, as it is on disk now."""
    path, data = store.read_memory(scope.root)
    text = store.decode(data).removeprefix("\ufeff")
    notes = tuple(note for note in store.notes(scope.root) if note.text.strip())
    return Material(scope, path, data, lines.trimmed(text), notes, agents.today(scope))


def refuse_unsuitable(material: Material) -> None:
    """Raise ModelFailed for a memory that must not be rewritten: `bad_encoding`, `memory_too_large`."""
    data = material.data or b""
    fault = formats.read(data, "memory").undecodable
    nul = data.find(b"\x00")
    if fault is None and nul >= 0:
        fault = (data[:nul].count(b"\n") + 1, nul)
    if fault is not None:
        line, byte = fault
        raise ModelFailed(
            f"{material.path} is not plain UTF-8 in line {line} (byte {byte}). Save it as UTF-8 without NUL; "
            "until then it is left alone.",
            code="bad_encoding",
            path=material.path,
            line=line,
            byte=byte,
        )
    limit = settings.MEMORYHUB_MEMORY_REFUSED_CHARACTERS
    if len(material.memory) > limit:
        raise ModelFailed(
            f"{material.path} has {len(material.memory):,} characters; over {limit:,} no model is asked. "
            "Move what is not needed every day into a file under memory/, or shorten it by hand.",
            code="memory_too_large",
            path=material.path,
            limit=limit,
        )


def masked(material: Material, notes: Sequence[inputs.Note]) -> Masked:
    """Memory and these notes without their credentials; files on disk stay as they are."""
    texts, masks = masking.mask([material.memory, *(note.text for note in notes)])
    paths = [material.path, *(material.paths[note.name] for note in notes)]
    found = [(path, one.line, one.kind) for path, about in zip(paths, masks.found, strict=True) for one in about]
    given = tuple(replace(note, text=text) for note, text in zip(notes, texts[1:], strict=True))
    return Masked(texts[0], given, masks, tuple(found))


def witnesses(material: Material, notes: Sequence[inputs.Note]) -> list[support.NoteText]:
    """The notes as sources for a review, each with the lines that an untrusted writer put there."""
    stored = {note.day: note for note in material.notes}
    return [
        support.NoteText(stored[note.name].path, note.text, untrusted=_untrusted(material.scope.id, stored[note.name]))
        for note in notes
    ]


def _untrusted(scope_id: str, note: store.Note) -> dict[int, str]:
    """Lines of a note that came neither from a person nor from the agent's own turns, with their source.

    Asked of the bytes that were read: the file may have other lines by now.
    """
    return {
        origin.line: origin.batch.source
        for origin in blame.blame(scope_id, note.path, note.data)
        if origin.batch is not None and not access.trusted(origin.batch.source)
    }
