"""Admin lists that take hostile addresses calmly, and lists of rows that nobody edits by hand."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

from django.contrib import admin
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse

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
        """Only what the list's own filters ask for: any other comparison can be made to fail in a database."""
        field, *how = lookup.split("__")
        offered = {_parameter(one) for one in self.list_filter}
        return field in offered and set(how) <= {"exact", "in", "isnull", "id"} and len(str(value)) <= MOST_CHARACTERS

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        if request.method == "POST":
            # What cannot be a key was not ticked here.
            ticked = [value for value in request.POST.getlist(ACTION_CHECKBOX_NAME) if self._is_key(value)]
            posted = request.POST.copy()
            posted.setlist(ACTION_CHECKBOX_NAME, ticked)
            request.POST = posted  # type: ignore[assignment]
        return super().changelist_view(request, extra_context)

    def _is_key(self, text: str) -> bool:
        if self.opts.pk.get_internal_type() == "BigAutoField":
            return text.isascii() and text.isdigit() and len(text) <= 18
        return text.isascii() and text.isprintable() and len(text) <= MOST_CHARACTERS


def _parameter(offered: Any) -> str:
    """The name in the address of one of a list's filters: a field, a field with its filter, or a filter of its own."""
    if isinstance(offered, tuple | list):
        return str(offered[0])
    return str(getattr(offered, "parameter_name", offered))


class RecordAdmin(CalmAdmin):
    """Rows that services write: a list, and a page of its own for each; nothing to add, change or delete here."""

    list_per_page = 50

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    @abstractmethod
    def page(self, request: HttpRequest, row: Any) -> HttpResponse:
        """The page of one row, for somebody who may view it."""

    @abstractmethod
    def describe(self, request: HttpRequest, rows: Sequence[Any], context: dict[str, Any]) -> None:
        """Tell the rows of a list, or its context, what no row knows by itself; one call for the whole list."""

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        response = super().changelist_view(request, extra_context)
        context = response.context_data if isinstance(response, TemplateResponse) else None
        if context and "cl" in context:
            self.describe(request, context["cl"].result_list, context)
        return response

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        row = self.get_object(request, object_id)
        if row is None or not self.has_view_permission(request, row):
            return super().change_view(request, object_id, form_url, extra_context)
        return self.page(request, row)
