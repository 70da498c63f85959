"""Admin lists that take hostile addresses calmly, and lists of rows that nobody edits by hand."""

from typing import Any

from django.contrib import admin
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse

# Each searched word is one more condition of the query; databases refuse very deep ones.
MOST_WORDS, MOST_CHARACTERS = 20, 300


class CalmAdmin(admin.ModelAdmin):
    """A list whose search, filters and selection cannot be made to fail by what stands in the address or form."""

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        words = search_term[:MOST_CHARACTERS].split()[:MOST_WORDS]
        return super().get_search_results(request, queryset, " ".join(words))

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest) -> bool:
        """No regular expressions from an address: a bad one is an error in the database."""
        return "regex" not in lookup and super().lookup_allowed(lookup, value, request)

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        if request.method == "POST" and self._numbered():
            # What is no number was not ticked here.
            ticked = [value for value in request.POST.getlist(ACTION_CHECKBOX_NAME) if _is_key(value)]
            posted = request.POST.copy()
            posted.setlist(ACTION_CHECKBOX_NAME, ticked)
            request.POST = posted  # type: ignore[assignment]
        return super().changelist_view(request, extra_context)

    def _numbered(self) -> bool:
        return self.opts.pk.get_internal_type() == "BigAutoField"


def _is_key(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 18


class RecordAdmin(CalmAdmin):
    """Rows that are written by services only: to be read here, never added, changed or deleted."""

    list_per_page = 50

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False
