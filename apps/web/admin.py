"""History and runs in the admin: what was written and what ran. A write can be taken back, nothing be edited."""

from collections.abc import Sequence
from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.formats import number_format
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST

from apps import access
from apps.agents import services as agents
from apps.errors import Forbidden, MemoryHubError
from apps.ledger import present, queries
from apps.ledger.models import Batch
from apps.proposals import sentences
from apps.records import RecordAdmin
from apps.runs.models import Run
from apps.web import outcomes, run_page, spending, trail


class AgentFilter(admin.AllValuesFieldListFilter):
    """By agent, under a word people know; the field is an id or a scope."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.title = _("agent")


@admin.register(Batch)
class BatchAdmin(RecordAdmin):
    list_display = ("when", "agent", "paths", "who", "reason", "how")
    list_filter = ("state", ("scope", AgentFilter), "via")
    search_fields = ("public_id", "actor", "reason", "changes__path")

    def get_queryset(self, request: HttpRequest) -> Any:
        return super().get_queryset(request).prefetch_related("changes")

    def describe(self, request: HttpRequest, rows: Sequence[Batch], context: dict[str, Any]) -> None:
        """The name of a row's token, and whether it was taken back."""
        names, undone = trail.token_names(), queries.undone(batch.public_id for batch in rows)
        for batch in rows:
            batch.token_name = names.get(batch.actor, "") if batch.actor_kind == "token" else ""  # type: ignore[attr-defined]
            batch.is_undone = batch.public_id in undone  # type: ignore[attr-defined]

    @admin.display(description=gettext_lazy("agent"), ordering="scope")
    def agent(self, batch: Batch) -> str:
        return batch.scope

    @admin.display(description=gettext_lazy("who"), ordering="actor")
    def who(self, batch: Batch) -> str:
        return getattr(batch, "token_name", "") or batch.actor

    @admin.display(description=gettext_lazy("state"), ordering="state")
    def how(self, batch: Batch) -> str:
        return _("Taken back") if getattr(batch, "is_undone", False) else capfirst(batch.get_state_display())

    @admin.display(description=gettext_lazy("when"), ordering="created_at")
    def when(self, batch: Batch) -> str:
        return present.moment(batch.created_at)

    @admin.display(description=gettext_lazy("files"))
    def paths(self, batch: Batch) -> str:
        return ", ".join(change.path for change in batch.changes.all()[:3])

    def get_urls(self) -> list[URLPattern]:
        undo = self.admin_site.admin_view(require_POST(self.undo))
        return [path("<int:pk>/undo/", undo, name="ledger_batch_undo"), *super().get_urls()]

    def page(self, request: HttpRequest, batch: Batch, notice: dict[str, str] | None = None) -> HttpResponse:
        undone_by = queries.undone_by(batch.public_id)
        actor = access.staff(request.user, via="admin")
        may = actor.may("decide" if batch.proposal else "write")
        undoable = batch.state == Batch.State.DONE and not undone_by and may
        history = {
            "title": _("%(scope)s: %(paths)s") % {"scope": batch.scope, "paths": self.paths(batch)},
            "facts_line": trail.facts(request, batch),
            "files": trail.linked(batch.scope, present.file_changes(batch), actor),
            "undo_url": reverse("admin:ledger_batch_undo", args=[batch.pk]) if undoable else "",
            "undone_url": trail.batch_url(undone_by) if undone_by else "",
            "notice": notice,
        }
        context = {**self.admin_site.each_context(request), "title": history["title"], "history": history}
        status = 409 if notice else 200
        return TemplateResponse(request, "admin/ledger/batch/history.html", context, status=status)

    def undo(self, request: HttpRequest, pk: int) -> HttpResponse:
        batch = self.get_object(request, str(pk))
        if batch is None or not self.has_view_permission(request, batch):
            raise PermissionDenied
        try:
            made = agents.undo(batch.public_id, actor=access.staff(request.user, via="admin"))
        except Forbidden as error:
            raise PermissionDenied from error
        except MemoryHubError as error:
            return self.page(request, batch, notice(error))
        messages.info(request, _("Taken back."))
        return HttpResponseRedirect(reverse("admin:ledger_batch_change", args=[made.pk]))


def notice(error: MemoryHubError) -> dict[str, str]:
    """What did not happen, why, and where the clash is, for a page."""
    places = [
        f"{conflict['path']}" + (f": {conflict['reason']}" if conflict.get("reason") else "")
        for conflict in error.details.get("conflicts", [])
    ]
    return {"title": _("Nothing was undone."), "why": error.message, "what_to_do": " ".join(places)}


@admin.register(Run)
class RunAdmin(RecordAdmin):
    list_display = ("when", "agent", "what", "how", "took", "counted", "price")
    list_filter = ("state", ("agent_id", AgentFilter))
    search_fields = ("public_id", "agent_id", "summary")

    def describe(self, request: HttpRequest, rows: Sequence[Run], context: dict[str, Any]) -> None:
        """What was spent, what each run cost, and what became of its proposal: its own summary is of its end."""
        proposed = trail.proposals_of(rows)
        standing = trail.standing(proposed.values())
        prices = spending.prices(rows)
        for run in rows:
            led_to = proposed.get(run.public_id)
            run.proposed = led_to  # type: ignore[attr-defined]
            run.standing = standing[led_to.public_id][1] if led_to else ""  # type: ignore[attr-defined]
            run.told_price = prices.get(run.pk, "")  # type: ignore[attr-defined]
        context["spending"] = spending.line()
        context["next_step"] = _("No runs yet. A night makes one, or “Consolidate now” on a MEMORY.md.")

    @admin.display(description=gettext_lazy("when"), ordering="created_at")
    def when(self, run: Run) -> str:
        return present.moment(run.created_at)

    @admin.display(description=gettext_lazy("agent"), ordering="agent_id")
    def agent(self, run: Run) -> str:
        return run.agent_id

    @admin.display(description=gettext_lazy("what came of it"))
    def what(self, run: Run) -> str:
        return str(capfirst(outcomes.what(run, getattr(run, "proposed", None))))

    @admin.display(description=gettext_lazy("state"), ordering="state")
    def how(self, run: Run) -> str:
        failed = run.state in outcomes.FAILED
        return outcomes.state(run) if failed else getattr(run, "standing", "") or outcomes.state(run)

    @admin.display(description=gettext_lazy("took"))
    def took(self, run: Run) -> str:
        return "" if run.seconds is None else sentences.duration(run.seconds)

    @admin.display(description=gettext_lazy("tokens"))
    def counted(self, run: Run) -> str:
        return number_format(run.tokens, force_grouping=True) if run.tokens else ""

    @admin.display(description=gettext_lazy("price"))
    def price(self, run: Run) -> str:
        return getattr(run, "told_price", "")

    def page(self, request: HttpRequest, run: Run) -> HttpResponse:
        record = run_page.record(request, run)
        context = {**self.admin_site.each_context(request), "title": record["title"], "record": record}
        return TemplateResponse(request, "admin/runs/run/record.html", context)
