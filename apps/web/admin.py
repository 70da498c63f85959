"""History in the admin: what was written, and taking it back. Nothing here can be edited."""

from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST

from apps import access
from apps.agents import services as agents
from apps.errors import Forbidden, MemoryHubError
from apps.ledger import present, queries
from apps.ledger.models import Batch


@admin.register(Batch)
class BatchAdmin(admin.ModelAdmin):
    list_display = ("when", "scope", "paths", "actor", "reason", "state")
    list_filter = ("state", "scope", "via")
    search_fields = ("public_id", "actor", "reason", "changes__path")
    list_per_page = 50

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Batch | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Batch | None = None) -> bool:
        return False

    def get_queryset(self, request: HttpRequest) -> Any:
        return super().get_queryset(request).prefetch_related("changes")

    @admin.display(description=gettext_lazy("when"), ordering="created_at")
    def when(self, batch: Batch) -> str:
        return present.moment(batch.created_at)

    @admin.display(description=gettext_lazy("files"))
    def paths(self, batch: Batch) -> str:
        return ", ".join(change.path for change in batch.changes.all()[:3])

    def get_urls(self) -> list[URLPattern]:
        undo = self.admin_site.admin_view(require_POST(self.undo))
        return [path("<int:pk>/undo/", undo, name="ledger_batch_undo"), *super().get_urls()]

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        batch = self.get_object(request, object_id)
        if batch is None or not self.has_view_permission(request, batch):
            return super().change_view(request, object_id, form_url, extra_context)
        return self._page(request, batch)

    def _page(self, request: HttpRequest, batch: Batch, notice: dict[str, str] | None = None) -> HttpResponse:
        undone_by = queries.undone_by(batch.public_id)
        may = access.staff(request.user, via="admin").may("decide" if batch.proposal else "write")
        undoable = batch.state == Batch.State.DONE and not undone_by and may
        history = {
            "title": _("%(scope)s: %(paths)s") % {"scope": batch.scope, "paths": self.paths(batch)},
            "facts_line": present.facts(batch),
            "files": present.file_changes(batch),
            "undo_url": reverse("admin:ledger_batch_undo", args=[batch.pk]) if undoable else "",
            "undone": _("Taken back by batch %(id)s.") % {"id": undone_by} if undone_by else "",
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
            return self._page(request, batch, notice(error))
        messages.info(request, _("Taken back."))
        return HttpResponseRedirect(reverse("admin:ledger_batch_change", args=[made.pk]))


def notice(error: MemoryHubError) -> dict[str, str]:
    """What did not happen, why, and where the clash is, for a page."""
    places = [
        f"{conflict['path']}" + (f": {conflict['reason']}" if conflict.get("reason") else "")
        for conflict in error.details.get("conflicts", [])
    ]
    return {"title": _("Nothing was undone."), "why": error.message, "what_to_do": " ".join(places)}
