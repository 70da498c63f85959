"""Proposals in the admin: the list, the review page, and deciding.

A decision is a view of its own, because the admin's change form runs inside a
transaction and a claim must be committed before the first file changes.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import Case, F, IntegerField, QuerySet, Value, When
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.http import require_GET, require_POST

from apps import access
from apps.access import Actor
from apps.agents import services as agents
from apps.errors import Busy, Forbidden, MemoryHubError, NotFound, StorageFailed
from apps.ledger import queries as ledger
from apps.ledger.present import moment
from apps.proposals import present, queries, sentences, services
from apps.proposals.models import Proposal
from apps.proposals.review import Notice, Strip
from apps.records import RecordAdmin

# What the chips of the reject panel say; the word goes into the stored reason.
CHIPS = {
    "wrong": gettext_lazy("Wrong"),
    "private": gettext_lazy("Private"),
    "not_lasting": gettext_lazy("Not lasting"),
    "already_known": gettext_lazy("Already known"),
}
VIEWS = ("marked", "side", "whole")
_STRIP = "mh_strip"


class WorstFilter(admin.SimpleListFilter):
    """By the gravest check, as it was stored with the proposal."""

    title = gettext_lazy("checks")
    parameter_name = "worst"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(severity, sentences.severity_word(severity)) for severity in ("stop", "check")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Proposal]) -> QuerySet[Proposal]:
        return queryset.filter(analysis__worst=self.value()) if self.value() else queryset


@admin.register(Proposal)
class ProposalAdmin(RecordAdmin):
    list_filter = ("state", WorstFilter, "agent_id")
    show_facets = admin.ShowFacets.ALWAYS
    search_fields = ("public_id", "agent_id", "name")
    list_per_page = 50
    actions = ("reject_selected",)

    def has_decide_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("proposals.decide_proposal")

    def get_ordering(self, request: HttpRequest) -> Any:
        """What waits first, oldest first as in the walk; then what is decided, newest first."""
        pending = When(state=Proposal.State.PENDING, then=Value(0))
        turn = When(state=Proposal.State.PENDING, then=F("id"))
        whole = IntegerField()
        return (Case(pending, default=Value(1), output_field=whole), Case(turn, default=-F("id"), output_field=whole))

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        first = Proposal.objects.filter(state=Proposal.State.PENDING).order_by("created_at", "id").first()
        own = {
            "first_waiting_url": present.url(first) if first else "",
            "headline": sentences.waiting(queries.waiting_analyses()),
            "title": capfirst(self.opts.verbose_name_plural),
            "strip": _strip(request),
        }
        return super().changelist_view(request, {**own, **(extra_context or {})})

    def describe(self, request: HttpRequest, rows: Sequence[Proposal], context: dict[str, Any]) -> None:
        """The rows in the groups they are drawn in."""
        context["groups"] = _groups(rows, self.has_decide_permission(request))

    def page(self, request: HttpRequest, proposal: Proposal) -> HttpResponse:
        return HttpResponseRedirect(present.url(proposal))

    def get_urls(self) -> list[URLPattern]:
        posts = {"approve": self.approve, "reject": self.reject, "undo": self.undo, "reopen": self.reopen}
        decisions = [
            path(
                f"<str:proposal_id>/{name}/",
                self.admin_site.admin_view(require_POST(view)),
                name=f"proposals_proposal_{name}",
            )
            for name, view in posts.items()
        ]
        review = self.admin_site.admin_view(require_GET(self.review))
        text = self.admin_site.admin_view(require_GET(self.text))
        return [
            path("<str:proposal_id>/review/", review, name="proposals_proposal_review"),
            path("<str:proposal_id>/text/<str:side>/", text, name="proposals_proposal_text"),
            *decisions,
            *super().get_urls(),
        ]

    def review(self, request: HttpRequest, proposal_id: str) -> HttpResponse:
        return self._page(request, self._proposal(request, proposal_id))

    def text(self, request: HttpRequest, proposal_id: str, side: str) -> HttpResponse:
        """One whole text as plain text, never as a page: what is in it must not run here."""
        proposal = self._proposal(request, proposal_id)
        sides = {"now": queries.previous_text, "after": queries.proposed_text}
        if side not in sides:
            raise Http404
        return HttpResponse(sides[side](proposal) or b"", content_type="text/plain; charset=utf-8")

    def approve(self, request: HttpRequest, proposal_id: str) -> HttpResponse:
        proposal = self._proposal(request, proposal_id)
        try:
            services.approve(proposal_id, seen=request.POST.get("seen", ""), actor=self._actor(request))
        except MemoryHubError as error:
            return self._refused(request, proposal, error, _("Not approved."))
        return self._decided(request, proposal, _("Approved for %(agent)s.") % {"agent": proposal.agent_id}, "undo")

    def reject(self, request: HttpRequest, proposal_id: str) -> HttpResponse:
        proposal = self._proposal(request, proposal_id)
        why, reason = request.POST.get("why", ""), request.POST.get("reason", "")
        told = ": ".join(filter(None, [str(CHIPS.get(why, "")), reason.strip()]))
        try:
            services.reject(proposal_id, actor=self._actor(request), reason=told)
        except MemoryHubError as error:
            return self._refused(request, proposal, error, _("Not rejected."))
        return self._decided(request, proposal, _("Rejected for %(agent)s.") % {"agent": proposal.agent_id}, "reopen")

    def undo(self, request: HttpRequest, proposal_id: str) -> HttpResponse:
        proposal = self._proposal(request, proposal_id)
        try:
            agents.undo(proposal.batch, actor=self._actor(request))
        except MemoryHubError as error:
            return self._refused(request, proposal, error, _("Not undone."))
        _say(request, _("Taken back. Reopen it to decide anew."))
        return HttpResponseRedirect(present.url(proposal))

    def reopen(self, request: HttpRequest, proposal_id: str) -> HttpResponse:
        proposal = self._proposal(request, proposal_id)
        try:
            made = services.reopen(proposal_id, actor=self._actor(request))
        except MemoryHubError as error:
            return self._refused(request, proposal, error, _("Not reopened."))
        _say(request, _("Reopened. It waits again."))
        return HttpResponseRedirect(present.url(made))

    @admin.action(description=gettext_lazy("Reject selected"), permissions=["decide"])
    def reject_selected(self, request: HttpRequest, rows: QuerySet[Proposal]) -> None:
        """Row by row through the same checks, each reported."""
        rejected = 0
        for proposal in rows.order_by("created_at", "id"):
            try:
                services.reject(proposal.public_id, actor=self._actor(request), reason=request.POST.get("reason", ""))
            except MemoryHubError as error:
                facts = {"id": proposal.public_id, "agent": proposal.agent_id, "why": error.message}
                messages.warning(request, _("%(agent)s, %(id)s: %(why)s") % facts)
            else:
                rejected += 1
        if rejected:
            told = ngettext("Rejected %(n)d proposal.", "Rejected %(n)d proposals.", rejected)
            messages.info(request, told % {"n": rejected})

    def _actor(self, request: HttpRequest) -> Actor:
        return access.staff(request.user, via="admin")

    def _proposal(self, request: HttpRequest, proposal_id: str) -> Proposal:
        if not self.has_view_permission(request):
            raise PermissionDenied
        try:
            return queries.proposal(proposal_id)
        except NotFound as error:
            raise Http404 from error

    def _page(self, request: HttpRequest, proposal: Proposal, *, status: int = 200, **refused: Any) -> HttpResponse:
        view = request.GET.get("view", "marked")
        review = present.review(
            proposal,
            actor=self._actor(request),
            may=request.user.has_perm,
            show_all="all" in request.GET,
            strip=_strip(request, beside=proposal.public_id),
            **refused,
        )
        dates = review.redated.count if review.redated else 0
        context = {
            **self.admin_site.each_context(request),
            "title": f"{proposal.agent_id}: {review.title}",
            "review": review,
            "approve_text": sentences.approve(review.entry_count, dates),
            "how_much": sentences.how_much(review.entry_count, dates),
            "view": view
            if view in VIEWS and not (review.capped and view != "whole")
            else "whole"
            if review.capped
            else "marked",
        }
        return TemplateResponse(request, "admin/proposals/proposal/review.html", context, status=status)

    def _refused(self, request: HttpRequest, proposal: Proposal, error: MemoryHubError, title: str) -> HttpResponse:
        """The same page with what did not happen, why, what to do, and everything that was typed."""
        if isinstance(error, Forbidden):
            raise PermissionDenied(error.message) from error
        request.session.pop(_STRIP, None)
        proposal.refresh_from_db()
        status = 503 if isinstance(error, Busy) else 507 if isinstance(error, StorageFailed) else 409
        return self._page(
            request,
            proposal,
            status=status,
            notice=_notice(title, error, proposal),
            typed_why=request.POST.get("why", ""),
            typed_reason=request.POST.get("reason", ""),
        )

    def _decided(self, request: HttpRequest, proposal: Proposal, told: str, way_back: str) -> HttpResponse:
        _say(request, told, proposal, way_back)
        following = queries.place(proposal).next
        if following:
            return HttpResponseRedirect(_review_url(following))
        return HttpResponseRedirect(reverse("admin:proposals_proposal_changelist"))


def _groups(rows: Iterable[Proposal], may_decide: bool) -> list[dict[str, Any]]:
    """The rows of one page of the list: what can lose something, what is quick, what is decided."""
    listed = list(rows)
    written = ledger.states(one.batch for one in listed if one.batch)
    written |= dict.fromkeys(ledger.undone(written), "undone")
    named: dict[str, dict[str, Any]] = {
        "time": {"title": _("Take your time"), "hint": _("Something goes, or a check says stop."), "lines": []},
        "quick": {"title": _("Quick"), "hint": _("Nothing goes, and no check says stop."), "lines": []},
        "decided": {"title": _("Decided"), "hint": _("Opening one offers undo or reopening."), "lines": []},
    }
    if not may_decide:
        named["decided"]["hint"] = ""
    for one in listed:
        pending = one.state == Proposal.State.PENDING
        key = "decided" if not pending else "time" if sentences.wants_time(one.analysis) else "quick"
        named[key]["lines"].append(
            {
                "proposal": one,
                "pending": pending,
                "url": present.url(one),
                "what": sentences.changes(one.analysis.get("counts", {})),
                "created": moment(one.created_at),
                "outcome": sentences.standing(one.state, written.get(one.batch, "")),
                "decided": moment(one.resolved_at),
                "successor_url": _review_url(one.superseded_by) if one.superseded_by else "",
                "checks": sentences.checks(one.analysis) if pending else [],
            }
        )
    return [{"key": key, **group} for key, group in named.items() if group["lines"]]


def _say(request: HttpRequest, text: str, proposal: Proposal | None = None, way_back: str = "") -> None:
    """Keep for the next pages what was done, with the view that takes it back (`undo`, `reopen`) if one does."""
    request.session[_STRIP] = {"text": text, "proposal": proposal.public_id if proposal else "", "way_back": way_back}


def _strip(request: HttpRequest, *, beside: str = "") -> Strip | None:
    """What the last decision did: on every page while it can be taken back, else on the first one only.

    The page of that very proposal (`beside`) says it itself, with the same button.
    """
    kept = request.session.get(_STRIP)
    if kept is None:
        return None
    if not kept.get("way_back") or not _stands(kept["proposal"], kept["way_back"]):
        del request.session[_STRIP]
        return None if kept.get("way_back") else Strip(kept["text"])
    if kept["proposal"] == beside:
        return None
    address = reverse(f"admin:proposals_proposal_{kept['way_back']}", args=[kept["proposal"]])
    return Strip(kept["text"], address, _("Reopen") if kept["way_back"] == "reopen" else _("Undo"))


def _stands(proposal_id: str, way_back: str) -> bool:
    """Whether a decision is still as it was taken, so that its way back is open."""
    try:
        proposal = queries.proposal(proposal_id)
    except NotFound:
        return False
    written = queries.written(proposal)
    if way_back == "reopen":
        return queries.reopenable(proposal, written)
    return written is not None and written.state == "done"


def _review_url(proposal_id: str) -> str:
    return reverse("admin:proposals_proposal_review", args=[proposal_id])


def _notice(title: str, error: MemoryHubError, proposal: Proposal) -> Notice:
    if isinstance(error, Busy | StorageFailed):
        return Notice(title, error.message, _("Try again in a moment; nothing you typed is lost."))
    successor = error.details.get("superseded_by") or proposal.superseded_by
    if successor:
        return Notice(title, error.message, "", _("See what replaced it"), _review_url(successor))
    if error.code == "changed_since_proposed":
        return Notice(title, error.message, _("Your edit stays; the next run proposes anew."))
    places = " ".join(str(conflict.get("path", "")) for conflict in error.details.get("conflicts", []))
    return Notice(title, error.message, places)
