"""Fold an agent's day notes into its long-term memory: a model rewrites, code judges, a person decides.

Read without the lock, ask without the lock. The answer becomes a proposal; that
of an autonomous agent is written at once when it loses nothing and has nothing a
person must see (gate.py). The outcomes are those of memory.md 6.6.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from django.conf import settings

from apps import access
from apps.agents import queries as agents
from apps.agents.models import Agent
from apps.errors import Conflict
from apps.jobs import answers, estimate, gate, inputs, material, prompt
from apps.jobs.material import Masked, Material
from apps.llm.client import Task
from apps.llm.routes import Route
from apps.proposals import analysis, sentences
from apps.proposals import queries as proposals
from apps.proposals import services as proposing
from apps.proposals.models import Proposal
from apps.runs import asking
from apps.runs import queries as runs
from apps.runs.models import Run
from apps.vault import files, formats, lines

SOURCE = "memory:consolidate"


@dataclass(frozen=True)
class Question:
    """What would be asked, of whom, and what it will take."""

    material: Material
    chosen: inputs.Inputs
    masked: Masked
    task: Task
    route: Route
    estimate: estimate.Estimate


def consolidate(run: Run) -> None:
    """Carry out one claimed run.

    Without `force` no model is asked when nothing is newer. ModelFailed (also
    `over_budget`) and StorageFailed end the run and leave every file as it is.
    """
    agent = agents.agent(run.agent_id)
    read = material.read(agents.scope_of(agent))
    folded = _folded(agent.id)
    chosen = _chosen(read, folded)
    if not chosen.notes or not (run.force or _something_newer(agent, run, read, folded)):
        run.outcome, run.summary = "nothing_newer", _nothing_newer(agent.id, chosen)
        return
    run.read = sorted(chosen.keys)
    run.left_out = sorted(key for key, note in read.keyed.items() if note.name in chosen.left_out)
    question = _question(agent, read, chosen)
    run.credentials = [list(one) for one in question.masked.credentials]
    run.estimate = question.estimate.stored()
    run.cut = chosen.cut or ""
    run.save(update_fields=["read", "left_out", "credentials", "estimate", "cut"])
    answer = asking.ask(
        run, question.task, route=question.route, cost=question.estimate.cost, limits=agents.limits(agent)
    )
    rewrite = answers.parse(
        answer.text,
        current=question.masked.memory,
        finish_reason=answer.finish_reason,
        limit=settings.MEMORYHUB_MEMORY_CHARACTERS,
        model=answer.model,
        tokens=answer.completion_tokens,
    )
    _conclude(run, agent, question, rewrite)


def preview(agent_id: str) -> estimate.Estimate | None:
    """What a consolidation would take if it were asked now; None when nothing is newer."""
    agent = agents.agent(agent_id)
    read = material.read(agents.scope_of(agent))
    folded = _folded(agent_id)
    chosen = _chosen(read, folded)
    if not chosen.notes or not _something_newer(agent, None, read, folded):
        return None
    return _question(agent, read, chosen).estimate


def _chosen(read: Material, folded: frozenset[str]) -> inputs.Inputs:
    return inputs.collect(
        read.keyed.values(),
        read.memory,
        dates=settings.MEMORYHUB_NOTE_DATES,
        budget=settings.MEMORYHUB_INPUT_CHARACTERS,
        least=settings.MEMORYHUB_NOTES_CHARACTERS,
        folded=folded,
    )


def _folded(agent_id: str) -> frozenset[str]:
    """Keys of notes that count as folded in: a run that read them was answered and settled.

    Settled means that its proposal was approved or rejected, or that nothing was to change.
    """
    settled, proposed = proposals.settled_runs(agent_id), proposals.proposed_runs(agent_id)
    keys: set[str] = set()
    for run in runs.answered(agent_id, Run.Kind.CONSOLIDATE):
        unchanged = run.state == Run.State.DONE and run.public_id not in proposed
        if unchanged or run.public_id in settled:
            keys.update(run.read)
    return frozenset(keys)


def _something_newer(agent: Agent, run: Run | None, read: Material, folded: frozenset[str]) -> bool:
    """Whether a model should be asked at all (decisions.md, Runs and jobs).

    While a rewrite waits, only a note that its run has not seen counts; or, of an
    autonomous agent, that the run which proposed it died before it could judge.
    Without any history modification times decide, as in memory.md 6.2.
    """
    unread = set(read.keyed) - folded
    waiting = proposals.pending_rewrite(agent.id)
    if waiting:
        origins = {origin["run"] for origin in waiting.origins if origin.get("run")}
        if run is not None and agent.autonomous and run.retry_of in origins:
            return True
        for origin in origins:
            known = runs.run(origin)
            unread -= {*known.read, *known.left_out}
        return bool(unread)
    if runs.answered(agent.id, Run.Kind.CONSOLIDATE):
        return bool(unread)
    if read.data is None:
        return bool(read.notes)
    return _newer_file(read.scope.root, read)


def _nothing_newer(agent_id: str, chosen: inputs.Inputs) -> str:
    if not chosen.notes:
        return "There are no notes; no model was asked."
    waiting = proposals.pending_rewrite(agent_id)
    if waiting:
        return (
            f"Nothing is newer than what proposal {waiting.public_id} was made from, which waits; no model was asked."
        )
    return "Nothing is newer than the memory: every note was read and decided on before. No model was asked."


def _newer_file(root: Path, read: Material) -> bool:
    written = next(file.modified for file in files.listing(root) if file.path == read.path)
    return any(note.modified > written for note in read.notes)


def _question(agent: Agent, read: Material, chosen: inputs.Inputs) -> Question:
    material.refuse_unsuitable(read)
    masked = material.masked(read, chosen.notes)
    limit = settings.MEMORYHUB_MEMORY_CHARACTERS
    task = Task(
        purpose="rewrite",
        prompt=prompt.rewrite(
            masked.memory,
            masked.notes,
            today=read.today,
            mark=masked.masks.mark,
            limit=limit,
            days=settings.MEMORYHUB_STALE_DAYS,
        ),
        data={
            "memory": masked.memory,
            "notes": [{"name": note.name, "date": note.date, "text": note.text} for note in masked.notes],
            "today": read.today.isoformat(),
            "limit": limit,
        },
    )
    route = asking.route(agents.route(agent))
    said = min(limit, len(task.prompt)) + answers.REASONS_LIMIT
    expected = estimate.of(task.prompt, notes=len(chosen.notes), answer_characters=said, route=route)
    return Question(read, chosen, masked, task, route, expected)


def _conclude(run: Run, agent: Agent, question: Question, rewrite: answers.Rewrite) -> None:
    read, chosen = question.material, question.chosen
    later = _left(chosen)
    restored = question.masked.masks.restore(rewrite.text)
    if lines.trimmed(restored.text) == read.memory:
        run.outcome, run.summary = "unchanged", f"The model found nothing to change.{later}"
        return
    dates = chosen.dates | {read.today.isoformat()}
    witnesses = material.witnesses(read, chosen.notes)
    found = analysis.analyse(
        read.memory,
        restored.text,
        notes=witnesses,
        dates=dates,
        limit=settings.MEMORYHUB_MEMORY_CHARACTERS,
        findings=_findings(rewrite, [*restored.missing, *restored.unknown]),
        left_out=len(chosen.left_out),
    )
    proposal = proposing.propose_rewrite(
        agent.id,
        path=read.path,
        text=formats.like(read.data or b"", restored.text),
        previous=read.data,
        reasons="\n".join(f"- {reason}" for reason in [*rewrite.reasons, *found.remarks]),
        analysis=found.stored(),
        source=SOURCE,
        run=run.public_id,
    )
    told = f"{sentences.counts(found.counts)}. "
    # As it is now: somebody may have thought better of it while the model did.
    if not agents.agent(agent.id).autonomous:
        run.outcome, run.summary = "proposed", f"{told}Proposal {proposal.public_id} waits for a person.{later}"
        return
    verdict = gate.judge(read.memory, restored.text, dates=dates, warnings=found.warnings)
    if _declined(agent.id, read.memory, restored.text):
        verdict = replace(verdict, held_by=(*verdict.held_by, "declined"))
    if not verdict.clean:
        run.outcome, run.verdict = "held", verdict.stored()
        run.summary = f"{told}Held for a person: {verdict.why} Proposal {proposal.public_id} waits.{later}"
        return
    run.outcome, how = _apply(proposal, agent)
    run.summary = f"{told}{how}{later}"


def _declined(agent_id: str, old: str, new: str) -> bool:
    """Whether the rewrite brings back a line that a person turned down or took back before."""
    before, after = ({lines.key(line.text) for line in lines.split(text)} for text in (old, new))
    return not (after - before).isdisjoint(proposals.declined_lines(agent_id))


def _left(chosen: inputs.Inputs) -> str:
    later = f" {len(chosen.left_out)} notes are left for a later run." if chosen.left_out else ""
    if chosen.cut:
        later = f" The note {chosen.cut} was too long and was read in part.{later}"
    return later


def _findings(rewrite: answers.Rewrite, placeholders: Sequence[str]) -> Mapping[str, Sequence[str]]:
    """What the parser found, with the marks of masked credentials that the answer lost or made up."""
    found = {finding.code: finding.lines for finding in rewrite.findings}
    if placeholders:
        found["placeholder"] = (*found.get("placeholder", ()), *placeholders)
    return found


def _apply(proposal: Proposal, agent: Agent) -> tuple[str, str]:
    """Write what the gate let pass, under the same checks as a person's approval; the outcome and its sentence."""
    try:
        proposing.apply_unattended(proposal.public_id, actor=access.job(agent.id, source=SOURCE))
    except Conflict as error:
        if error.code == "changed_since_proposed":
            return "overtaken", "The memory was written during the run, so this is stale; nothing was written."
        return "decided", "Somebody decided it first; that decision stands."
    return "written", "Nothing was lost and nothing stood against it, so it is written."
