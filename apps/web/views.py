"""Pages for people: what waits and what ran, a stuck write and its ways out, a file with line numbers."""

from collections.abc import Iterator
from typing import Any

from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.formats import date_format
from django.utils.text import capfirst
from django.utils.timezone import localtime
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods

from apps import access
from apps.agents import queries as agents
from apps.agents import reading
from apps.errors import Forbidden, Invalid, MemoryHubError, NotFound
from apps.ledger import present as ledger_present
from apps.ledger import queries as ledger
from apps.ledger import recovery
from apps.ledger.models import Batch
from apps.proposals import present, queries, sentences, services
from apps.proposals.models import Proposal
from apps.proposals.review import Notice, Piece, QuotedLine
from apps.runs import queries as runs
from apps.runs.models import Run
from apps.vault import entries, lines

# Rows of each list on the home page; the lists themselves are one link away.
ROWS = 8
# Lines of a file and characters of a line drawn; the plain text is one link away.
MOST_LINES, MOST_LINE_CHARACTERS = 5_000, 2_000


def _staff(request: HttpRequest, right: str = "read") -> access.Actor:
    """The signed-in person as an actor; PermissionDenied without the right, whoever is no staff has none."""
    actor = access.staff(request.user, via="web")
    if not getattr(request.user, "is_staff", False) or not actor.may(right):
        raise PermissionDenied
    return actor


@login_required
@require_GET
def home(request: HttpRequest) -> HttpResponse:
    actor = _staff(request)
    waiting = list(queries.visible(actor).filter(state=Proposal.State.PENDING).order_by("created_at", "id")[:ROWS])
    page = {
        "title": sentences.waiting(queries.waiting_analyses()),
        "lead": _("Nothing of it has been written yet.")
        if waiting
        else _("Every memory is as its last decision left it."),
        "review_url": present.url(waiting[0]) if waiting else "",
        "stuck": [_stuck_piece(batch) for batch in ledger.open_batches() if batch.state == Batch.State.STUCK],
        "waits": [_waiting_line(one) for one in waiting],
        "runs": [_run_line(run) for run in runs.latest([one.pk for one in agents.agents(actor)], ROWS)],
    }
    return render(request, "web/home.html", {"home": page})


def _stuck_piece(batch: Batch) -> Piece:
    told = _("A write to %(scope)s stopped half-way, because a file was changed in the middle of it.")
    return Piece(told % {"scope": batch.scope}, reverse("web:stuck", args=[batch.public_id]))


def _waiting_line(one: Proposal) -> dict[str, Any]:
    return {
        "first": _moment(one.created_at),
        "agent": one.agent_id,
        "what": sentences.changes(one.analysis.get("counts", {})),
        "detail": "",
        "checks": sentences.checks(one.analysis),
        "url": present.url(one),
    }


def _run_line(run: Run) -> dict[str, Any]:
    failed = run.state in {Run.State.FAILED, Run.State.LOST, Run.State.REFUSED}
    aside = [] if run.seconds is None else [sentences.duration(run.seconds)]
    if run.cost:
        aside.append(f"${run.cost:.3f}")
    return {
        "first": _moment(run.created_at),
        "agent": run.agent_id,
        "what": run.summary or run.error,
        "detail": _("Nothing was proposed and nothing was written. The next run reads the same notes.")
        if failed
        else "",
        "state": "failed" if failed else "done" if run.state == Run.State.DONE else "waiting",
        "state_word": capfirst(run.get_state_display()),
        "aside": ", ".join(aside),
        "url": reverse("admin:runs_run_change", args=[run.pk]) if failed else "",
    }


def _moment(moment: Any) -> str:
    return date_format(localtime(moment), "j M, H:i")


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
    ways = {"keep": "keep_mine", "force": "force", "undo": "undo"}
    try:
        services.settle_stuck(batch_id, ways[request.POST.get("how", "")], actor=actor)
    except KeyError as error:
        raise Http404 from error
    except Forbidden as error:
        raise PermissionDenied from error
    except MemoryHubError as error:
        return _stuck_page(request, batch, actor, Notice(_("Nothing was changed."), error.message, ""))
    return HttpResponseRedirect(reverse("web:home"))


def _stuck_page(request: HttpRequest, batch: Batch, actor: access.Actor, notice: Notice | None = None) -> HttpResponse:
    batch.refresh_from_db()
    is_stuck = batch.state == Batch.State.STUCK
    words = {
        "before": _("Not written yet."),
        "after": _("Written."),
        "other": _("Changed by somebody in the middle."),
    }
    page = {
        "title": _("%(scope)s is half written") % {"scope": batch.scope}
        if is_stuck
        else _("This write is %(state)s") % {"state": batch.get_state_display()},
        "why": _("A file was changed while this was being written, so the rest was left alone.") if is_stuck else "",
        "facts_line": ledger_present.facts(batch),
        "files": [ledger_present.FileChange(one.path, words[one.standing], "", ()) for one in recovery.standings(batch)]
        if is_stuck
        else [],
        "resolve_url": reverse("web:stuck", args=[batch.public_id]),
        "notice": notice,
        "may_resolve": is_stuck and actor.may("decide" if batch.proposal else "write"),
    }
    return render(request, "web/stuck.html", {"stuck": page}, status=409 if notice else 200)


@login_required
@require_GET
def file(request: HttpRequest, scope_id: str, path: str) -> HttpResponse:
    """One file of a scope as numbered lines; `?line=8` marks one. Only files of a known kind can be asked for."""
    actor = _staff(request)
    try:
        found = reading.file(scope_id, path, actor=actor)
    except (NotFound, Invalid) as error:
        raise Http404 from error
    if "raw" in request.GET:
        return HttpResponse(found.text, content_type="text/plain; charset=utf-8")
    wanted = request.GET.get("line", "")
    numbered = lines.split(found.text)[:MOST_LINES]
    headings = {entry.start for entry in entries.parse(found.text) if entry.kind == "heading"}
    written = ledger.last_written(found.scope, found.path)
    facts = (
        _("Last written here on %(when)s.") % {"when": _moment(written)}
        if written
        else _("Never written by memoryhub.")
    )
    page = {
        "title": found.path.rpartition("/")[2],
        "scope": found.scope,
        "path": found.path,
        "facts_line": (
            Piece(f"{facts} "),
            *_elsewhere(request, found.scope),
            Piece(_("As plain text"), "?raw=1"),
        ),
        "lines": [
            QuotedLine(
                line.number, line.text[:MOST_LINE_CHARACTERS], str(line.number) == wanted, line.number in headings
            )
            for line in numbered
        ],
        "back_url": "",
        "back_text": "",
    }
    return render(request, "web/note.html", {"note": page})


def _elsewhere(request: HttpRequest, scope_id: str) -> Iterator[Piece]:
    """The way from a file to its agent's proposals and history, for whoever may see them."""
    if request.user.has_perm("proposals.view_proposal"):
        yield Piece(_("Proposals"), reverse("admin:proposals_proposal_changelist") + f"?agent_id={scope_id}")
        yield Piece(", ")
    if request.user.has_perm("ledger.view_batch"):
        yield Piece(_("History"), reverse("admin:ledger_batch_changelist") + f"?scope={scope_id}")
        yield Piece(", ")
