"""From a run to its proposal to what was written, and back: the links by which these pages lead on.

Only links that whoever looks may follow.
"""

from collections.abc import Iterable
from dataclasses import replace

from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext as _

from apps import access
from apps.agents import reading, registry
from apps.errors import MemoryHubError, NotFound
from apps.ledger import present as ledger
from apps.ledger import queries as batches
from apps.ledger.models import Batch
from apps.ledger.present import FileChange, Piece
from apps.proposals import present, sentences
from apps.proposals.models import Proposal
from apps.runs import queries as runs
from apps.runs.models import Run

# Outcomes of a run that left a proposal behind, one of its own or one that an earlier run had made already.
_PROPOSED = frozenset({"proposed", "held", "written", "overtaken", "decided"})


def proposals_of(rows: Iterable[Run]) -> dict[str, Proposal]:
    """The latest proposal of each run that led to one, by the run's id."""
    listed = list(rows)
    own = Proposal.objects.filter(run__in=[run.public_id for run in listed])
    found = {one.run: one for one in own.order_by("id")}
    others = {run.public_id for run in listed if run.outcome in _PROPOSED} - found.keys()
    if others:
        agents = {run.agent_id for run in listed if run.public_id in others}
        for one in Proposal.objects.filter(agent_id__in=agents).order_by("id"):
            found |= {origin["run"]: one for origin in one.origins if origin.get("run") in others}
    return found


def standing(rows: Iterable[Proposal]) -> dict[str, tuple[str, str]]:
    """How proposals stand now, by id: a sign (`waiting`, `done`, `closed`) and a word."""
    listed = list(rows)
    written = batches.states(one.batch for one in listed if one.batch)
    by_jobs = Batch.objects.filter(public_id__in=written, actor_kind="job")
    by_itself = set(by_jobs.values_list("public_id", flat=True))
    written |= dict.fromkeys(batches.undone(written), "undone")
    told = {}
    for one in listed:
        write = written.get(one.batch, "")
        waits = one.state == Proposal.State.PENDING or write in {"stuck", "writing"}
        kept = one.state == Proposal.State.APPROVED and write != "undone"
        sign = "waiting" if waits else "done" if kept else "closed"
        alone = write == Batch.State.DONE and one.batch in by_itself
        word = _("Written by itself") if alone else sentences.standing(one.state, write)
        told[one.public_id] = (sign, word)
    return told


def token_names() -> dict[str, str]:
    return {token.public_id: token.name for token in registry.tokens()}


def facts(request: HttpRequest, batch: Batch) -> tuple[Piece, ...]:
    """Who wrote when and why, then the ways to the proposal, the run, and the write it took back."""
    who = token_names().get(batch.actor, "") if batch.actor_kind == "token" else ""
    links = []
    if batch.proposal and request.user.has_perm("proposals.view_proposal"):
        links.append(Piece(_("See the proposal"), reverse("admin:proposals_proposal_review", args=[batch.proposal])))
    if batch.run and request.user.has_perm("runs.view_run"):
        links += [Piece(_("See the run"), url) for url in [_run_url(batch.run)] if url]
    if batch.undoes and request.user.has_perm("ledger.view_batch"):
        links.append(Piece(_("See what it took back"), batch_url(batch.undoes)))
    return (*ledger.facts(batch, who=who), *(piece for link in links for piece in (Piece(" "), link)))


def _run_url(run_id: str) -> str:
    try:
        return run_url(runs.run(run_id))
    except NotFound:
        return ""


def run_url(run: Run) -> str:
    return reverse("admin:runs_run_change", args=[run.pk])


def batch_url(batch_id: str) -> str:
    return reverse("admin:ledger_batch_change", args=[batches.batch(batch_id).pk])


def linked(scope_id: str, changes: Iterable[FileChange], actor: access.Actor) -> list[FileChange]:
    """The files of a batch, each with its address if it is still there to be read."""
    return [
        replace(one, url=reverse("web:file", args=[scope_id, one.path]))
        if _readable(scope_id, one.path, actor)
        else one
        for one in changes
    ]


def _readable(scope_id: str, path: str, actor: access.Actor) -> bool:
    try:
        return reading.file(scope_id, path, actor=actor).sha256 is not None
    except MemoryHubError:
        return False


def notes(run: Run, keys: Iterable[str], actor: access.Actor) -> list[Piece]:
    """The notes a run names by their keys (`2026-09-18:1d92…`), each a link if it is still there."""
    try:
        there = {note.day: note.path for note in reading.note_names(run.agent_id, actor=actor)}
    except MemoryHubError:
        there = {}
    names = [key.partition(":")[0] for key in keys]
    return [
        Piece(name, reverse("web:file", args=[run.agent_id, there[name]]) if name in there else "") for name in names
    ]


def proposal_link(request: HttpRequest, one: Proposal) -> str:
    return present.url(one) if request.user.has_perm("proposals.view_proposal") else ""
