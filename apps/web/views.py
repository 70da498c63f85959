"""Pages for people: what waits and what ran, a stuck write and its ways out, a file with line numbers."""

from collections.abc import Iterator

from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from apps import access
from apps.agents import queries as agents
from apps.agents import reading
from apps.errors import Forbidden, Invalid, MemoryHubError, NotFound, StorageFailed
from apps.ledger import present as ledger_present
from apps.ledger import queries as ledger
from apps.ledger import recovery
from apps.ledger.models import Batch
from apps.proposals import present, queries, sentences, services
from apps.proposals.models import Proposal
from apps.proposals.review import Notice, Piece, QuotedLine
from apps.vault import entries, layout, lines
from apps.web import blame, consolidating, home_page, night, trail

# Lines of a file and characters of a line drawn; the plain text is one link away.
MOST_LINES, MOST_LINE_CHARACTERS = 5_000, 2_000


def _staff(request: HttpRequest, right: str = "read") -> access.Actor:
    """The signed-in person as an actor; PermissionDenied without the right, whoever is no staff has none."""
    actor = access.staff(request.user, via="web")
    if not getattr(request.user, "is_staff", False) or not actor.may(right):
        raise PermissionDenied
    return actor


@never_cache
@login_required
@require_GET
def home(request: HttpRequest) -> HttpResponse:
    actor = _staff(request)
    pending = queries.visible(actor).filter(state=Proposal.State.PENDING).order_by("created_at", "id")
    waiting = list(pending[: home_page.ROWS])
    crew = agents.agents(actor)
    coming = night.coming(crew)
    page = {
        "title": sentences.waiting(queries.waiting_analyses()),
        "trouble": night.trouble(crew),
        "slow": night.slow(),
        "coming": coming,
        "lead": _lead(bool(crew), bool(waiting), coming),
        "review_url": present.url(waiting[0]) if waiting else "",
        "stuck": [_stuck_piece(batch) for batch in ledger.open_batches() if batch.state == Batch.State.STUCK],
        "waits": [home_page.waiting_line(one) for one in waiting],
        "sections": home_page.sections(request, actor, crew),
        "no_agents": not crew,
        "no_nights": bool(crew) and not any(one.cron for one in crew),
        "add_url": reverse("admin:agents_agent_add") if request.user.has_perm("agents.add_agent") else "",
        "agents_url": reverse("admin:agents_agent_changelist") if actor.may("manage") else "",
    }
    return render(request, "web/home.html", {"home": page})


def _lead(crew: bool, waiting: bool, coming: str) -> str:
    if waiting:
        return _("Nothing of it has been written yet.")
    return (coming or _("Every memory is as its last decision left it.")) if crew else ""


def _stuck_piece(batch: Batch) -> Piece:
    told = _("A write to %(scope)s stopped half-way, because a file was changed in the middle of it.")
    return Piece(told % {"scope": batch.scope}, reverse("web:stuck", args=[batch.public_id]))


@login_required
@require_POST
def consolidate(request: HttpRequest, scope_id: str) -> HttpResponse:
    """Ask for a consolidation of an agent's memory and follow it on its page."""
    return consolidating.ask(request, _staff(request, "propose"), scope_id)


@never_cache
@login_required
@require_http_methods(["GET", "POST"])
def stuck(request: HttpRequest, batch_id: str) -> HttpResponse:
    """A write that stopped because a file was changed in the middle of it; POST takes one of three ways out."""
    actor = _staff(request)
    try:
        batch = ledger.batch(batch_id)
    except NotFound as error:
        raise Http404 from error
    if request.method == "GET":
        return _stuck_page(request, batch, actor)
    way = {"keep": "keep_mine", "force": "force", "undo": "undo"}.get(request.POST.get("how", ""))
    if way is None:
        raise Http404
    try:
        services.settle_stuck(batch_id, way, actor=actor)
    except Forbidden as error:
        raise PermissionDenied from error
    except MemoryHubError as error:
        return _stuck_page(request, batch, actor, Notice(_("Nothing was changed."), error.message, ""))
    return HttpResponseRedirect(reverse("web:home"))


def _stuck_page(request: HttpRequest, batch: Batch, actor: access.Actor, notice: Notice | None = None) -> HttpResponse:
    batch.refresh_from_db()
    is_stuck = batch.state == Batch.State.STUCK
    page = {
        "title": _("%(scope)s is half written") % {"scope": batch.scope}
        if is_stuck
        else _("This write is %(state)s") % {"state": batch.get_state_display()},
        "why": _("A file was changed while this was being written, so the rest was left alone.") if is_stuck else "",
        "facts_line": trail.facts(request, batch),
        "files": _stuck_files(batch) if is_stuck else [],
        "has_proposal": bool(batch.proposal),
        "resolve_url": reverse("web:stuck", args=[batch.public_id]),
        "notice": notice,
        "may_resolve": is_stuck and actor.may("decide" if batch.proposal else "write"),
    }
    return render(request, "web/stuck.html", {"stuck": page}, status=409 if notice else 200)


def _stuck_files(batch: Batch) -> list[ledger_present.FileChange]:
    """Every file of the batch and how it stands; a folder out of reach is told: then above all this page must open."""
    words = {
        "before": _("Not written yet."),
        "after": _("Written."),
        "other": _("Changed by somebody in the middle."),
    }
    try:
        standings = recovery.standings(batch)
    except StorageFailed as error:
        return [
            ledger_present.FileChange(row.path, _("Out of reach."), error.message, ()) for row in batch.changes.all()
        ]
    return [ledger_present.FileChange(one.path, words[one.standing], "", ()) for one in standings]


@never_cache
@login_required
@require_GET
def file(request: HttpRequest, scope_id: str, path: str) -> HttpResponse:
    """One file of a scope as numbered lines; `?line=8` marks one. Only files of a known kind can be asked for."""
    actor = _staff(request)
    try:
        found = reading.file(scope_id, path, actor=actor)
    except (NotFound, Invalid) as error:
        raise Http404 from error
    except StorageFailed as error:
        return render(request, "web/unreadable.html", {"path": path, "why": error.message}, status=507)
    if "raw" in request.GET:
        return HttpResponse(found.text, content_type="text/plain; charset=utf-8")
    wanted = request.GET.get("line", "")
    headings = {entry.start for entry in entries.parse(found.text) if entry.kind == "heading"}
    written = ledger.last_written(found.scope, found.path)
    facts = (
        _("Last written here on %(when)s.") % {"when": ledger_present.moment(written)}
        if written
        else _("Never written by memoryhub.")
    )
    notes = reading.note_names(found.scope, actor=actor)
    is_memory = found.path.lower() == layout.MEMORY.lower()
    rows = [
        QuotedLine(line.number, line.text[:MOST_LINE_CHARACTERS], str(line.number) == wanted, line.number in headings)
        for line in lines.split(found.text)[:MOST_LINES]
    ]
    page = {
        "title": found.path.rpartition("/")[2],
        "scope": found.scope,
        "path": found.path,
        "missing": found.sha256 is None,
        "facts_line": (Piece(f"{facts} "), *_elsewhere(request, found)),
        "lines": rows,
        "margin": blame.margin(request, found, rows),
        "memory_url": _address(found.scope, layout.MEMORY),
        "is_memory": is_memory,
        "consolidate": consolidating.offer(request, actor, found.scope, found.path),
        "notes": [(note, _address(found.scope, note.path), note.path == found.path) for note in notes],
        "back": Piece(_("All agents"), reverse("admin:agents_agent_changelist"))
        if is_memory
        else Piece(_("Memory of %(agent)s") % {"agent": found.scope}, _address(found.scope, layout.MEMORY)),
    }
    return render(request, "web/note.html", {"note": page})


def _address(scope_id: str, path: str) -> str:
    return reverse("web:file", args=[scope_id, path])


def _elsewhere(request: HttpRequest, found: reading.File) -> Iterator[Piece]:
    """The way from a file to its agent's proposals and history, for whoever may see them, and to the bare text."""
    links = []
    if request.user.has_perm("proposals.view_proposal"):
        address = reverse("admin:proposals_proposal_changelist") + f"?agent_id={found.scope}"
        links.append(Piece(_("Proposals"), address))
    if request.user.has_perm("ledger.view_batch"):
        links.append(Piece(_("History"), reverse("admin:ledger_batch_changelist") + f"?scope={found.scope}"))
    if found.text:
        links.append(Piece(_("As plain text"), "?raw=1"))
    for at, link in enumerate(links):
        yield from ([Piece(", ")] if at else [])
        yield link
