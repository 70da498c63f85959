"""Agents and tokens in the admin."""

from datetime import datetime, timedelta
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods

from apps import access
from apps.agents import queries, registry
from apps.agents.models import Agent, Token
from apps.errors import MemoryHubError
from apps.ledger.present import moment
from apps.records import CalmAdmin

# What a token may do, as the form and the list say it.
RIGHT_WORDS = {
    "read": gettext_lazy("Read: memory, notes, history and proposals."),
    "write_notes": gettext_lazy("Add notes: append to a day's note."),
    "write": gettext_lazy("Write: replace memory, delete notes, undo, without a proposal; needs presence too."),
    "propose": gettext_lazy("Propose: suggest changes for a person to decide; no call asks for it yet."),
    "decide": gettext_lazy("Decide: approve and reject what waits; needs presence too."),
    "manage": gettext_lazy("Manage: add and change agents; no call asks for it yet."),
    "present": gettext_lazy("Presence: a person is at the other end when the source is chat, telegram or api."),
}


class AgentForm(forms.ModelForm):
    """The form writes through the registry while it is cleaned, so that every refusal stands beside its field."""

    class Meta:
        model = Agent
        fields = ("id", *registry.FIELDS)

    def validate_unique(self) -> None:
        """Left to the registry, which lets an archived agent come back."""

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        if self.errors:
            return cleaned
        facts = {name: cleaned[name] for name in registry.FIELDS if name in cleaned}
        try:
            if self.instance._state.adding:
                self.instance = registry.add(cleaned["id"], **facts)
            else:
                self.instance = registry.change(self.instance.pk, **facts)
        except MemoryHubError as error:
            field = error.details.get("field")
            self.add_error(field if field in self.fields else None, error.message)
        return cleaned


@admin.register(Agent)
class AgentAdmin(CalmAdmin):
    form = AgentForm
    # One at a time: taking an agent out of the crew ends its tokens.
    actions = None
    list_display = ("id", "name", "memory", "nights", "days", "folder")
    search_fields = ("id", "name")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Agent]:
        return super().get_queryset(request).filter(archived_at=None)

    def get_fields(self, request: HttpRequest, obj: Agent | None = None) -> tuple[str, ...]:
        """The directory has a link to its page only for whoever may change it there."""
        return ("id", *registry.FIELDS, "where" if self.has_change_permission(request, obj) else "folder")

    def get_readonly_fields(self, request: HttpRequest, obj: Agent | None = None) -> tuple[str, ...]:
        return ("where", "folder") if obj is None else ("id", "where", "folder")

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        next_step = _("No agents yet: “manage.py agents sync” finds the folders that are there, or add one.")
        return super().changelist_view(request, {"next_step": next_step, **(extra_context or {})})

    @admin.display(description=gettext_lazy("directory"))
    def where(self, agent: Agent) -> str:
        if agent._state.adding:
            return _("Its usual place in the home; another folder can be chosen afterwards.")
        change = reverse("admin:agents_agent_directory", args=[agent.pk])
        return format_html('{} <a href="{}">{}</a>', str(queries.directory(agent)), change, _("Change"))

    @admin.display(description=gettext_lazy("directory"))
    def folder(self, agent: Agent) -> str:
        return str(queries.directory(agent))

    @admin.display(description=gettext_lazy("time zone"))
    def days(self, agent: Agent) -> str:
        return queries.zone(agent)

    @admin.display(description=gettext_lazy("nights"))
    def nights(self, agent: Agent) -> str:
        return f"{agent.cron}{', ' + _('autonomous') if agent.autonomous else ''}" if agent.cron else _("never")

    @admin.display(description=gettext_lazy("memory"))
    def memory(self, agent: Agent) -> str:
        return format_html('<a href="{}">MEMORY.md</a>', reverse("web:file", args=[agent.pk, "MEMORY.md"]))

    def save_model(self, request: HttpRequest, obj: Agent, form: forms.ModelForm, change: bool) -> None:
        """Done by the form already."""

    def changeform_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Without the transaction the admin would open: the registry takes locks, and they come first."""
        return self._changeform_view(request, *args, **kwargs)  # type: ignore[attr-defined]

    def has_delete_permission(self, request: HttpRequest, obj: Agent | None = None) -> bool:
        """The master stays."""
        return super().has_delete_permission(request, obj) and not (obj and obj.is_master)

    def delete_model(self, request: HttpRequest, obj: Agent) -> None:
        """Deleting takes an agent out of the crew; its files and history stay."""
        registry.archive(obj.pk)

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(require_http_methods(["GET", "POST"])(self.directory))
        return [path("<str:agent_id>/directory/", view, name="agents_agent_directory"), *super().get_urls()]

    def directory(self, request: HttpRequest, agent_id: str) -> HttpResponse:
        """Point an agent at another folder: a page of its own, because it takes the scope's lock."""
        agent = self.get_object(request, agent_id)
        if agent is None or not self.has_change_permission(request, agent):
            raise PermissionDenied
        form = DirectoryForm(request.POST or None, initial={"directory": agent.directory})
        if request.method == "POST" and form.is_valid():
            try:
                registry.move(agent_id, form.cleaned_data["directory"])
            except MemoryHubError as error:
                form.add_error("directory", error.message)
            else:
                messages.info(request, _("The directory of %(agent)s is changed.") % {"agent": agent_id})
                return HttpResponseRedirect(reverse("admin:agents_agent_change", args=[agent_id]))
        context = {
            **self.admin_site.each_context(request),
            "title": _("Directory of %(agent)s") % {"agent": agent_id},
            "form": form,
            "usual": queries.usual_directory(agent_id),
            "back_url": reverse("admin:agents_agent_change", args=[agent_id]),
        }
        return TemplateResponse(request, "admin/agents/directory.html", context)


class DirectoryForm(forms.Form):
    directory = forms.CharField(
        label=gettext_lazy("Directory"),
        required=False,
        help_text=gettext_lazy("An existing folder under an allowed workspace root. Empty: the usual place."),
        widget=forms.TextInput(attrs={"class": "field", "autocomplete": "off", "spellcheck": "false"}),
    )


class TokenForm(forms.ModelForm):
    rights = forms.MultipleChoiceField(
        label=gettext_lazy("Rights"),
        choices=list(RIGHT_WORDS.items()),
        initial=["read", "write_notes"],
        widget=forms.CheckboxSelectMultiple,
    )

    class Meta:
        model = Token
        fields = ("name", "agent", "rights", "expiry")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """The admin draws one field as a date and a time; each gets a name of its own for screen readers."""
        super().__init__(*args, **kwargs)
        if "expiry" in self.fields:
            parts = getattr(self.fields["expiry"].widget, "widgets", [])
            for part, label in zip(parts, (_("Until, date"), _("Until, time")), strict=False):
                part.attrs["aria-label"] = label

    def clean_expiry(self) -> datetime | None:
        expiry = self.cleaned_data["expiry"]
        if expiry is not None and not timezone.now() < expiry < timezone.now() + timedelta(days=registry.MOST_DAYS):
            raise forms.ValidationError(_("The end must lie ahead, and within a hundred years."))
        return expiry


@admin.register(Token)
class TokenAdmin(CalmAdmin):
    form = TokenForm
    list_display = ("name", "agent", "may", "issued", "until")
    list_filter = ("agent",)
    # Nothing of it can be changed, and the address of its page would be its hash.
    list_display_links = None
    empty_value_display = gettext_lazy("every agent")

    def has_change_permission(self, request: HttpRequest, obj: Token | None = None) -> bool:
        """A token is issued and revoked, never changed: whoever holds it would not know."""
        return False

    @admin.display(description=gettext_lazy("rights"))
    def may(self, token: Token) -> str:
        return ", ".join(str(RIGHT_WORDS[right]).partition(":")[0].lower() for right in token.rights)

    @admin.display(description=gettext_lazy("issued"), ordering="created")
    def issued(self, token: Token) -> str:
        return moment(token.created)

    @admin.display(description=gettext_lazy("until"), ordering="expiry")
    def until(self, token: Token) -> str:
        return moment(token.expiry) or _("no end")

    def get_form(self, request: HttpRequest, obj: Token | None = None, change: bool = False, **kwargs: Any) -> Any:
        """Offer only the rights this person has, and presence: nobody gives away more than that."""
        form = super().get_form(request, obj, change, **kwargs)
        if "rights" in form.base_fields:
            mine = access.staff(request.user, via="admin").rights | {"present"}
            form.base_fields["rights"].choices = [  # type: ignore[attr-defined]
                (right, word) for right, word in RIGHT_WORDS.items() if right in mine
            ]
        return form

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> tuple[Any, Any, Any, Any]:
        """Named without a link: its address holds the hash."""
        _linked, counts, lacking, protected = super().get_deleted_objects(objs, request)
        return [str(token) for token in objs], counts, lacking, protected

    def render_change_form(self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any) -> Any:
        """One button: what follows is the page with the secret, whichever is pressed."""
        buttons = {"show_save_and_add_another": False, "show_save_and_continue": False}
        return super().render_change_form(request, {**context, **buttons}, *args, **kwargs)

    def formfield_for_dbfield(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        field = super().formfield_for_dbfield(db_field, request, **kwargs)
        if field and db_field.name == "agent":
            field.widget.can_add_related = field.widget.can_change_related = field.widget.can_view_related = False
        return field

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        if db_field.name == "agent":
            kwargs["queryset"] = Agent.objects.filter(archived_at=None)
            kwargs["empty_label"] = _("Every agent")
            kwargs["help_text"] = _("The token reaches this agent alone, or all of them, also those added later.")
        return super().formfield_for_foreignkey(db_field, request, **kwargs)

    def save_model(self, request: HttpRequest, obj: Token, form: forms.ModelForm, change: bool) -> None:
        made, secret = registry.issue_token(
            obj.name,
            rights=obj.rights,
            actor=access.staff(request.user, via="admin"),
            agent_id=obj.agent_id or "",
            expiry=obj.expiry,
        )
        obj.digest, obj.public_id = made.digest, made.public_id
        request.issued_secret = secret  # type: ignore[attr-defined]

    def response_add(self, request: HttpRequest, obj: Token, post_url_continue: str | None = None) -> HttpResponse:
        """Show the secret once, on this very answer; it is nowhere kept."""
        issued = {
            "secret": request.issued_secret,  # type: ignore[attr-defined]
            "name": obj.name,
            "agent": obj.agent_id or _("every agent"),
            "rights": [RIGHT_WORDS[right] for right in obj.rights],
            "expires": obj.expiry,
            "back_url": reverse("admin:agents_token_changelist"),
        }
        context = {**self.admin_site.each_context(request), "title": obj.name, "issued": issued}
        response = TemplateResponse(request, "admin/agents/token_issued.html", context)
        response["Cache-Control"] = "no-store"
        return response
