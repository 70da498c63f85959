"""Who acts, and what they may do, as plain data.

Rights are words. Doors build an Actor from a token or a signed-in person;
services ask `require`.
"""

from dataclasses import dataclass
from typing import Literal, Protocol

from apps.errors import Forbidden, NotFound

RIGHTS = ("read", "write_notes", "write", "propose", "decide", "manage", "present")

# What a staff permission lets a person do; docs/api.md prints this table. Presence is no permission:
# whoever is signed in is there.
STAFF_RIGHTS = {
    "agents.view_agent": ("read",),
    "agents.write_memory": ("write", "write_notes", "propose"),
    "proposals.decide_proposal": ("decide",),
    "agents.change_agent": ("manage",),
}

# Kinds of turn in which a person is at the other end (memory.md 2.7).
PRESENT_SOURCES = frozenset({"chat", "telegram", "api"})
# Kinds of turn whose words are a person's or the agent's own: those, this site, the agent's schedules and our jobs.
# Whatever else names itself (`delegate:…`, an import, a mail) may carry words of strangers (docs/adr/0011).
OWN_SOURCES = PRESENT_SOURCES | {"", "web", "job", "memory"}


@dataclass(frozen=True)
class Actor:
    """One caller for one call.

    `scopes` is None for an actor that may reach every scope. `present` says a
    person is at the other end of this very call. `source` is the kind of turn
    as the caller named it (`chat`, `job:…`, `delegate:…`).
    """

    kind: Literal["staff", "token", "job"]
    id: str
    rights: frozenset[str]
    scopes: frozenset[str] | None = None
    present: bool = False
    source: str = ""
    via: str = ""

    def may(self, right: str, scope: str | None = None) -> bool:
        return right in self.rights and (scope is None or self.sees(scope))

    def sees(self, scope: str) -> bool:
        return self.scopes is None or scope in self.scopes


def require(actor: Actor, right: str, *, scope: str | None = None) -> None:
    """Let the actor pass or raise.

    A scope the actor may not see is NotFound, the same as one that does not
    exist; a missing right on a visible scope is Forbidden and names the right.
    """
    if scope is not None and not actor.sees(scope):
        raise NotFound(f"There is no agent “{scope}”.", code="not_found", scope=scope)
    if right not in actor.rights:
        raise Forbidden(f"This needs the right “{right}”.", code="missing_right", right=right)


def require_present(actor: Actor) -> None:
    """Raise Forbidden `not_present` unless a person is at the other end."""
    if not actor.present:
        raise Forbidden(
            "Only a turn with a person present may write this. An unattended turn may propose it.",
            code="not_present",
            source=actor.source,
        )


def source_kind(source: str) -> str:
    """Reduce a source to its kind: `job:coach/nightly` is `job`."""
    return source.partition(":")[0]


def trusted(source: str) -> bool:
    """Whether words written in a turn of this source are a person's or the agent's own."""
    return source_kind(source) in OWN_SOURCES


def job(agent_id: str, *, source: str) -> Actor:
    """A job that carries out what its agent may do by itself: nobody is there, and only this scope is in reach."""
    return Actor(
        kind="job", id=agent_id, rights=frozenset({"decide"}), scopes=frozenset({agent_id}), source=source, via="job"
    )


def operator(via: str = "command") -> Actor:
    """Whoever can run commands on this host can read and write the home anyway."""
    return Actor(kind="staff", id="operator", rights=frozenset(RIGHTS), present=True, source="web", via=via)


class Person(Protocol):
    """A signed-in user, as far as rights go."""

    @property
    def is_staff(self) -> bool: ...

    def has_perm(self, perm: str) -> bool: ...

    def get_username(self) -> str: ...


def staff(person: Person, *, via: str) -> Actor:
    """The actor a signed-in person is: their permissions as rights, present, source `web`.

    Whoever is no staff has none, whatever else they are.
    """
    rights = {
        right
        for permission, granted in STAFF_RIGHTS.items()
        if person.is_staff and person.has_perm(permission)
        for right in granted
    }
    return Actor(kind="staff", id=person.get_username(), rights=frozenset(rights), present=True, source="web", via=via)
