"""Fold an agent's day notes into its long-term memory: a model rewrites, code judges, a person decides.

Read without the lock, ask without the lock; only the proposal is stored. The
outcomes are those of memory.md 6.6 for an agent that is not autonomous.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from pathlib import Path

from django.conf import settings

from apps.agents import queries as agents
from apps.agents import store
from apps.errors import ModelFailed
from apps.jobs import answers, inputs, prompt
from apps.llm.client import Task
from apps.proposals import analysis, sentences, support
from apps.proposals import queries as proposals
from apps.proposals import services as proposing
from apps.runs import queries as runs_queries
from apps.runs import services as runs
from apps.runs.models import Run
from apps.vault import files, formats, layout, lines

SOURCE = "memory:consolidate"


@dataclass(frozen=True)
class Material:
    """What one consolidation starts from: the memory file as bytes and trimmed text, and every note with text."""

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


def consolidate(agent_id: str, *, force: bool = False, source: str = SOURCE) -> Run:
    """Run one consolidation in this process and return its Run.

    Without `force` no model is asked when nothing is newer. Conflict `busy_run`
    while another run of the agent lives; ModelFailed and StorageFailed end the
    run as failed and are raised. MEMORY.md is never written here.
    """
    scope = agents.scope(agent_id)
    agent = agents.agent(agent_id)
    route = agents.route(agent)
    with runs.running(agent_id, Run.Kind.CONSOLIDATE, source=source) as run:
        material = _read(scope)
        folded = _folded(agent_id)
        chosen = inputs.collect(
            material.keyed.values(),
            material.memory,
            dates=settings.MEMORYHUB_NOTE_DATES,
            budget=settings.MEMORYHUB_INPUT_CHARACTERS,
            least=settings.MEMORYHUB_NOTES_CHARACTERS,
            folded=folded,
        )
        if not chosen.notes or not (force or _something_newer(agent_id, scope.root, material, folded)):
            run.outcome, run.summary = (
                "nothing_newer",
                "Nothing is newer than the memory; no model was asked.",
            )
            return run
        run.read = sorted(chosen.keys)
        run.left_out = sorted(key for key, note in material.keyed.items() if note.name in chosen.left_out)
        _refuse_unsuitable(material)
        rewrite = _ask(run, route, material, chosen)
        _conclude(run, agent_id, material, chosen, rewrite)
    return run


def _read(scope: layout.Scope) -> Material:
    path, data = store.read_memory(scope.root)
    text = store.decode(data).removeprefix("\ufeff")
    notes = tuple(note for note in store.notes(scope.root) if note.text.strip())
    return Material(path, data, lines.trimmed(text), notes, agents.today(scope))


def _folded(agent_id: str) -> frozenset[str]:
    """Keys of notes that count as folded in: a run that read them was answered and settled.

    Settled means that its proposal was approved or rejected, or that nothing was to change.
    """
    settled, proposed = proposals.settled_runs(agent_id), proposals.proposed_runs(agent_id)
    keys: set[str] = set()
    for run in runs_queries.answered(agent_id, Run.Kind.CONSOLIDATE):
        unchanged = run.state == Run.State.DONE and run.public_id not in proposed
        if unchanged or run.public_id in settled:
            keys.update(run.read)
    return frozenset(keys)


def _something_newer(agent_id: str, root: Path, material: Material, folded: frozenset[str]) -> bool:
    """Whether a model should be asked at all (decisions.md, Runs and jobs).

    While a rewrite waits, only a note that its run has not seen counts. Without
    any history modification times decide, as in memory.md 6.2.
    """
    unread = set(material.keyed) - folded
    waiting = proposals.pending_rewrite(agent_id)
    if waiting:
        for origin in waiting.origins:
            if origin.get("run"):
                run = runs_queries.run(origin["run"])
                unread -= {*run.read, *run.left_out}
        return bool(unread)
    if runs_queries.answered(agent_id, Run.Kind.CONSOLIDATE):
        return bool(unread)
    if material.data is None:
        return bool(material.notes)
    written = next(file.modified for file in files.listing(root) if file.path == material.path)
    return any(note.modified > written for note in material.notes)


def _refuse_unsuitable(material: Material) -> None:
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


def _ask(run: Run, route: Sequence[str], material: Material, chosen: inputs.Inputs) -> answers.Rewrite:
    limit = settings.MEMORYHUB_MEMORY_CHARACTERS
    task = Task(
        purpose="rewrite",
        prompt=prompt.rewrite(
            material.memory,
            chosen.notes,
            today=material.today,
            limit=limit,
            days=settings.MEMORYHUB_STALE_DAYS,
        ),
        data={
            "memory": material.memory,
            "notes": [{"name": note.name, "date": note.date, "text": note.text} for note in chosen.notes],
            "today": material.today.isoformat(),
            "limit": limit,
        },
    )
    answer = runs.ask(run, task, route=route)
    return answers.parse(answer.text, current=material.memory, finish_reason=answer.finish_reason, limit=limit)


def _conclude(run: Run, agent_id: str, material: Material, chosen: inputs.Inputs, rewrite: answers.Rewrite) -> None:
    later = f" {len(chosen.left_out)} notes are left for a later run." if chosen.left_out else ""
    if chosen.cut:
        later = f" The note {chosen.cut} was too long and was read in part.{later}"
    if lines.trimmed(rewrite.text) == material.memory:
        run.outcome, run.summary = "unchanged", f"The model found nothing to change.{later}"
        return
    by_name = {note.day: note.path for note in material.notes}
    found = analysis.analyse(
        material.memory,
        rewrite.text,
        notes=[support.NoteText(by_name[note.name], note.text) for note in chosen.notes],
        dates=chosen.dates | {material.today.isoformat()},
        limit=settings.MEMORYHUB_MEMORY_CHARACTERS,
        findings={finding.code: finding.lines for finding in rewrite.findings},
        left_out=len(chosen.left_out),
    )
    reasons = [*rewrite.reasons, *found.remarks]
    proposal = proposing.propose_rewrite(
        agent_id,
        path=material.path,
        text=formats.like(material.data or b"", rewrite.text),
        previous=material.data,
        reasons="\n".join(f"- {reason}" for reason in reasons),
        analysis=found.stored(),
        source=SOURCE,
        run=run.public_id,
    )
    run.outcome = "proposed"
    run.summary = f"{sentences.counts(found.counts)}. Proposal {proposal.public_id} waits for a person.{later}"
