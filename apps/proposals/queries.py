"""Reading proposals: one, a list, how many wait, and the walk from one to the next."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet

from apps.access import Actor
from apps.errors import Invalid, NotFound
from apps.ledger import queries as ledger
from apps.ledger import texts
from apps.proposals.models import Proposal
from apps.vault import lines


def visible(actor: Actor) -> QuerySet[Proposal]:
    """Proposals of the scopes and agents this actor may see; the filter is in the query itself."""
    rows = Proposal.objects.all()
    return rows if actor.scopes is None else rows.filter(scope__in=actor.scopes, agent_id__in=actor.scopes)


def proposal(proposal_id: str, actor: Actor | None = None) -> Proposal:
    """The proposal with this public id, or NotFound, also when the actor may not see it."""
    rows = Proposal.objects.all() if actor is None else visible(actor)
    found = rows.filter(public_id=proposal_id).first() if "\x00" not in proposal_id else None
    if found is None:
        raise NotFound(f"There is no proposal {proposal_id}.")
    return found


def listed(actor: Actor, state: str = "pending", *, limit: int = 200) -> list[Proposal]:
    """Proposals, newest created first, later-inserted first on ties. Invalid for an unknown state; `all` is one."""
    if state not in {"all", *Proposal.State.values}:
        raise Invalid(
            f"“{state}” is no status; there are all, {', '.join(Proposal.State.values)}.",
            code="unknown_status",
            field="status",
        )
    rows = visible(actor)
    if state != "all":
        rows = rows.filter(state=state)
    return list(rows.order_by("-created_at", "-id")[:limit])


def waiting() -> int:
    return Proposal.objects.filter(state=Proposal.State.PENDING).count()


def waiting_analyses() -> list[dict[str, Any]]:
    """What was found about each proposal that waits, oldest first."""
    rows = Proposal.objects.filter(state=Proposal.State.PENDING).order_by("created_at", "id")
    return list(rows.values_list("analysis", flat=True))


@dataclass(frozen=True)
class Place:
    """Where a proposal stands among those that wait, oldest first; ids are empty at the ends."""

    number: int
    total: int
    previous: str
    next: str


def place(one: Proposal) -> Place:
    """The proposal's place in the walk through what waits; a decided one keeps its place between its neighbours."""
    waiting_ids = list(
        Proposal.objects.filter(state=Proposal.State.PENDING)
        .order_by("created_at", "id")
        .values_list("id", "public_id")
    )
    before = [public for pk, public in waiting_ids if pk < one.pk]
    after = [public for pk, public in waiting_ids if pk > one.pk]
    return Place(
        number=len(before) + 1,
        total=len(before) + len(after) + (1 if one.state == Proposal.State.PENDING else 0),
        previous=before[-1] if before else "",
        next=after[0] if after else (before[0] if before else ""),
    )


def pending_rewrite(agent_id: str) -> Proposal | None:
    return Proposal.objects.filter(agent_id=agent_id, kind=Proposal.Kind.REWRITE, state=Proposal.State.PENDING).first()


def settled_runs(agent_id: str) -> set[str]:
    """Runs whose rewrite a person approved or rejected: the notes they read count as folded in.

    An approval that was undone counts as declined, so it is settled too. Of
    several proposals of one run (a reopened one) the latest decides.
    """
    latest: dict[str, str] = {}
    rows = Proposal.objects.filter(agent_id=agent_id, kind=Proposal.Kind.REWRITE).order_by("id")
    for origins, state in rows.values_list("origins", "state"):
        latest.update({origin["run"]: state for origin in origins if origin.get("run")})
    return {run for run, state in latest.items() if state in {Proposal.State.APPROVED, Proposal.State.REJECTED}}


def proposed_runs(agent_id: str) -> set[str]:
    """Runs of the agent that led to a proposal, whatever became of it."""
    rows = Proposal.objects.filter(agent_id=agent_id, kind=Proposal.Kind.REWRITE)
    return {
        origin["run"] for origins in rows.values_list("origins", flat=True) for origin in origins if origin.get("run")
    }


def declined_lines(agent_id: str) -> frozenset[str]:
    """Keys of lines that rewrites brought and people turned down or took back, unless they approved them later."""
    rows = Proposal.objects.filter(agent_id=agent_id, kind=Proposal.Kind.REWRITE)
    decided = list(rows.filter(state__in=[Proposal.State.REJECTED, Proposal.State.APPROVED]).order_by("resolved_at"))
    found = contents(decided)
    declined: set[str] = set()
    for one in decided:
        told = found[one.public_id]
        brought = _keys(told.proposed) - _keys(told.previous or b"")
        if one.state == Proposal.State.REJECTED or (told.written and told.written.state == "undone"):
            declined |= brought
        else:
            declined -= brought
    return frozenset(declined)


def _keys(data: bytes) -> set[str]:
    text = data.decode("utf-8", "replace")
    return {lines.key(line.text) for line in lines.split(text) if line.text.strip()}


@dataclass(frozen=True)
class Written:
    """How an approved proposal's write stands: `done`, `stuck`, `writing`, or `undone` by a later batch."""

    state: str
    undone_by: str = ""


@dataclass(frozen=True)
class Contents:
    """What a proposal's row names: both texts, and how its write stands (None when it wrote nothing)."""

    proposed: bytes
    previous: bytes | None
    written: Written | None


def contents(rows: Iterable[Proposal]) -> dict[str, Contents]:
    """The contents of many proposals by public id, in a handful of queries."""
    wanted = list(rows)
    kept = texts.fetch_many(sha for one in wanted for sha in (one.intent["text"], one.intent["previous"]))
    states = ledger.states(one.batch for one in wanted if one.batch)
    undone = ledger.undone(states)
    return {
        one.public_id: Contents(
            kept.get(one.intent["text"], b""),
            kept.get(one.intent["previous"]),
            _written(one.batch, states, undone),
        )
        for one in wanted
    }


def _written(batch: str, states: dict[str, str], undone: dict[str, str]) -> Written | None:
    if batch not in states:
        return None
    return Written("undone", undone[batch]) if batch in undone else Written(states[batch])


def written(one: Proposal) -> Written | None:
    """None unless the proposal was approved and wrote something."""
    states = ledger.states([one.batch] if one.batch else [])
    return _written(one.batch, states, ledger.undone(states))


def reopenable(one: Proposal, how: Written | None) -> bool:
    """Whether a decided proposal can be made to wait again: rejected or undone, and not reopened before."""
    declined = one.state == Proposal.State.REJECTED or (how is not None and how.state == "undone")
    return declined and not Proposal.objects.filter(reopens=one.public_id).exists()


def proposed_text(one: Proposal) -> bytes:
    return texts.fetch(one.intent["text"]) or b""


def previous_text(one: Proposal) -> bytes | None:
    return texts.fetch(one.intent["previous"])
