"""Agents, their scopes, their day, and the actors that tokens and people become."""

import unicodedata
from datetime import date, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from django.conf import settings
from django.utils import timezone

from apps import access
from apps.access import Actor
from apps.agents.models import Agent, Token
from apps.errors import Invalid, NotFound
from apps.runs import budgets
from apps.vault import layout


def agent(agent_id: str) -> Agent:
    """The agent with this id, or NotFound; an archived one is not found either."""
    found = Agent.objects.filter(pk=agent_id, archived_at=None).first() if _storable(agent_id) else None
    if found is None:
        raise NotFound(f"There is no agent “{agent_id}”.", scope=agent_id)
    return found


def _storable(text: str) -> bool:
    """PostgreSQL cannot even be asked for a text with NUL in it."""
    return layout.AGENT_ID.fullmatch(text) is not None


def agents(actor: Actor | None = None) -> list[Agent]:
    """The agents of the crew, by id; with an actor, those it may see."""
    rows = Agent.objects.filter(archived_at=None)
    return list(rows if actor is None or actor.scopes is None else rows.filter(pk__in=actor.scopes))


def home() -> Path:
    return Path(settings.MEMORYHUB_HOME)


def directory(one: Agent) -> Path:
    return Path(one.directory) if one.directory else usual_directory(one.id)


def scope_of(one: Agent) -> layout.Scope:
    return layout.Scope(one.id, directory(one), zone(one))


def scope(agent_id: str) -> layout.Scope:
    """Where the agent's files are and which zone its days follow, or NotFound."""
    return scope_of(agent(agent_id))


def visible_scope(actor: Actor, agent_id: str, right: str) -> layout.Scope:
    """The scope, if the actor may see it (NotFound otherwise) and has the right (Forbidden otherwise)."""
    access.require(actor, right, scope=agent_id)
    return scope(agent_id)


def zone(one: Agent) -> str:
    return one.zone or settings.TIME_ZONE


def now_in(scope: layout.Scope, now: datetime | None = None) -> datetime:
    """The agent's wall clock: the one answer to "which day and time is it for this agent"."""
    return (now or timezone.now()).astimezone(ZoneInfo(scope.zone))


def today(scope: layout.Scope) -> date:
    return now_in(scope).date()


def token_actor(token: Token, source: str, *, via: str) -> Actor:
    """The actor a token is for a call that names `source`.

    Present only when the source is one in which a person is there and the token
    says it may claim that. Invalid `forged_source` for `memory:…`.
    """
    refuse_forged(source)
    rights = frozenset(token.rights)
    return Actor(
        kind="token",
        id=token.public_id,
        rights=rights - {"present"},
        scopes=None if token.agent_id is None else frozenset({token.agent_id}),
        present="present" in rights and access.source_kind(source) in access.PRESENT_SOURCES,
        source=source,
        via=via,
    )


def refuse_forged(source: str) -> None:
    """`memory:…` names our own jobs; a caller from outside must not pass for one (memory.md 9)."""
    if len(source) > 120 or any(unicodedata.category(letter) in {"Cc", "Cf", "Cs"} for letter in source):
        raise Invalid(
            "A source is at most 120 characters without control or invisible ones.",
            code="bad_source",
            field="source",
        )
    if access.source_kind(source).strip().casefold() == "memory":
        raise Invalid(
            "A source that begins with “memory:” is kept for memoryhub itself.",
            code="forged_source",
            field="source",
        )


def usual_directory(agent_id: str) -> Path:
    return layout.home_directory(home(), agent_id)


def route(one: Agent) -> list[str]:
    """The models to try for this agent, in order: its own, else the site's."""
    return [name.strip() for name in one.model.split(",") if name.strip()] or list(settings.MEMORYHUB_MODEL)


def limits(one: Agent) -> list[budgets.Limit]:
    """The budgets a run of this agent must keep: its own, and those of all agents together."""
    named = (
        ("day", one.budget_day, one.id),
        ("month", one.budget_month, one.id),
        ("day", settings.MEMORYHUB_BUDGET_DAY, ""),
        ("month", settings.MEMORYHUB_BUDGET_MONTH, ""),
    )
    return [budgets.Limit(span, dollars, whose) for span, dollars, whose in named if dollars is not None]
