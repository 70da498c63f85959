"""Runs in the admin: a record to read, never to edit."""

from django.contrib import admin
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from apps.ledger.present import moment
from apps.runs.models import Run


@admin.register(Run)
class RunAdmin(admin.ModelAdmin):
    list_display = ("when", "agent", "what", "state", "took", "model")
    list_filter = ("state", "agent_id")
    search_fields = ("public_id", "agent_id", "summary")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Run | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Run | None = None) -> bool:
        return False

    @admin.display(description=_("when"), ordering="created_at")
    def when(self, run: Run) -> str:
        return moment(run.created_at)

    @admin.display(description=_("agent"), ordering="agent_id")
    def agent(self, run: Run) -> str:
        return run.agent_id

    @admin.display(description=_("what came of it"))
    def what(self, run: Run) -> str:
        return run.summary or run.error

    @admin.display(description=_("seconds"))
    def took(self, run: Run) -> str:
        return "" if run.seconds is None else f"{run.seconds:.1f}"
