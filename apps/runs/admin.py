"""Runs in the admin: a record to read, never to edit."""

from django.contrib import admin
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from apps.runs.models import Run


@admin.register(Run)
class RunAdmin(admin.ModelAdmin):
    list_display = ("created_at", "kind", "agent_id", "state", "outcome", "took", "model", "summary")
    list_filter = ("state", "kind", "agent_id")
    search_fields = ("public_id", "agent_id", "summary")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Run | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Run | None = None) -> bool:
        return False

    @admin.display(description=_("seconds"))
    def took(self, run: Run) -> str:
        return "" if run.seconds is None else f"{run.seconds:.1f}"
