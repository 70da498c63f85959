"""Propose, approve, reject, reopen, and settle a proposal whose write got stuck.

Code decides here, never a model: an approval writes exactly what the reviewer
saw, or nothing.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils import timezone

from apps import access
from apps.access import Actor
from apps.agents import queries as agents
from apps.agents import services as writing
from apps.errors import Busy, Conflict, Forbidden, TooLarge
from apps.ledger import database, texts
from apps.ledger import queries as ledger_queries
from apps.ledger import services as ledger
from apps.ledger.models import Batch
from apps.proposals import kinds, queries
from apps.proposals.models import Proposal
from apps.vault import changes as vault_changes
from apps.vault import files, formats
from apps.vault.changes import Change


@dataclass(frozen=True)
class Preview:
    """What approving would do to the files as they are now, and the digest that stands for it."""

    changes: tuple[Change, ...]
    digest: str
    moved_on: bool


def propose_rewrite(
    agent_id: str,
    *,
    path: str,
    text: bytes,
    previous: bytes | None,
    reasons: str,
    analysis: Mapping[str, Any],
    source: str,
    run: str = "",
    reopens: str = "",
) -> Proposal:
    """Propose a whole new text for an agent's memory, made from exactly `previous` (None: no file yet).

    An identical pending one is kept and gains an origin; any other pending
    rewrite of the agent becomes superseded by the new one.
    """
    intent = kinds.rewrite_intent(path, files.sha256(text) or "", files.sha256(previous))
    origin = {"source": source, "run": run, "at": timezone.now().isoformat(timespec="seconds")}
    for _ in range(3):
        try:
            with database.translated(), transaction.atomic(durable=True):
                same = _identical(agent_id, intent)
                if same:
                    same.origins = [*same.origins, origin]
                    same.save(update_fields=["origins"])
                    return same
                texts.keep([text, previous])
                made = Proposal(
                    kind=Proposal.Kind.REWRITE,
                    scope=agent_id,
                    agent_id=agent_id,
                    name=path,
                    source=source,
                    origins=[origin],
                    intent=intent,
                    bases={path: intent["previous"]},
                    reasons=reasons,
                    analysis=dict(analysis),
                    run=run,
                    reopens=reopens,
                )
                _supersede(_pending_rewrites(agent_id), by=made.public_id)
                made.save(force_insert=True)
                return made
        except IntegrityError:
            # Somebody proposed at the same moment; theirs is older now and is superseded in the next round.
            continue
    raise Busy("Another proposal for this memory is being made.", scope=agent_id)


def _pending_rewrites(agent_id: str) -> QuerySet[Proposal]:
    return Proposal.objects.filter(scope=agent_id, kind=Proposal.Kind.REWRITE, state=Proposal.State.PENDING)


def _identical(agent_id: str, intent: Mapping[str, Any]) -> Proposal | None:
    return next((one for one in _pending_rewrites(agent_id) if one.intent == intent), None)


def _supersede(rows: QuerySet[Proposal], *, by: str = "") -> None:
    """One conditional UPDATE: only rows that are still pending, so that a decision taken meanwhile stands."""
    rows.filter(state=Proposal.State.PENDING).update(
        state=Proposal.State.SUPERSEDED, superseded_by=by, resolved_at=timezone.now()
    )


def preview(proposal: Proposal) -> Preview:
    """Plan a proposal against the files as they are now; nothing is written and no lock is taken.

    NotFound when its agent left the crew.
    """
    root = agents.scope(proposal.scope).root
    return _preview(proposal, lambda path: files.read(root, path))


def _preview(proposal: Proposal, read: kinds.Read) -> Preview:
    changes = tuple(kinds.plan(proposal.kind, proposal.intent, read, texts.fetch))
    moved = any(files.sha256(read(path)) != sha for path, sha in proposal.bases.items())
    return Preview(changes, vault_changes.digest(changes), moved)


def approve(proposal_id: str, *, seen: str | None, actor: Actor, reason: str = "") -> Proposal:
    """Carry out a proposal exactly as the reviewer saw it.

    `seen` is the digest printed on the review page. If the files have moved on
    since, nothing is written: Conflict `changed_since_proposed` (a rewrite is
    superseded then) or `changed_since_seen`. Conflict `already_decided` or
    `superseded` when somebody was faster; NotFound when the agent left.
    """
    proposal = _require_decider(proposal_id, actor)
    _refuse_reason(reason)
    return _carry_out(proposal, seen=seen, actor=actor, reason=reason)


def apply_unattended(proposal_id: str, *, actor: Actor) -> Proposal:
    """Carry out a proposal that fixed rules let pass, with nobody there, under the same checks as an approval.

    Only for our own jobs; whether the rules let it pass is the caller's to know.
    Raises as `approve`: whoever decided it first keeps the last word.
    """
    if actor.kind != "job":
        raise Forbidden("Only a job may write a proposal that nobody decided.", code="not_present")
    proposal = queries.proposal(proposal_id, actor)
    access.require(actor, "decide")
    return _carry_out(proposal, seen=None, actor=actor, reason="Nothing was lost and nothing stood against it.")


def _carry_out(proposal: Proposal, *, seen: str | None, actor: Actor, reason: str) -> Proposal:
    _refuse_decided(proposal)  # a second click need not wait for the lock
    proposal_id = proposal.public_id
    with writing.desk(proposal.scope) as desk:
        proposal = queries.proposal(proposal_id, actor)
        _refuse_decided(proposal)
        shown = _preview(proposal, desk.read)
        if shown.moved_on:
            _settle_moved(proposal)
            raise Conflict(
                f"{proposal.name} changed after this was proposed, so the proposal is stale. Nothing was written.",
                code="changed_since_proposed",
                proposal=proposal_id,
            )
        if seen is not None and seen != shown.digest:
            raise Conflict("The files changed since you looked. Nothing was written.", code="changed_since_seen")
        prepared = desk.stage(change for change in shown.changes if change.before != change.after)
        with transaction.atomic(durable=True):  # must be on disk before the first rename
            batch = desk.record(
                prepared,
                actor=actor,
                reason=reason or f"Proposal {proposal_id} approved",
                # Of several runs that came to the same the last one got as far as this.
                run=proposal.origins[-1].get("run") or proposal.run,
                proposal=proposal_id,
            )
            _claim(proposal, Proposal.State.APPROVED, actor=actor, reason=reason, batch=batch.public_id)
        desk.publish(batch, prepared, on_failure=_release(proposal))
    proposal.refresh_from_db()
    return proposal


def reject(proposal_id: str, *, actor: Actor, reason: str = "") -> Proposal:
    """Turn a proposal down, with a reason if you like. No file is looked at, so it works for an agent that left."""
    proposal = _require_decider(proposal_id, actor)
    _refuse_reason(reason)
    _refuse_decided(proposal)
    with database.translated(), transaction.atomic(durable=True):
        _claim(proposal, Proposal.State.REJECTED, actor=actor, reason=reason)
    proposal.refresh_from_db()
    return proposal


def reopen(proposal_id: str, *, actor: Actor) -> Proposal:
    """Make a rejected or undone proposal wait again, as a new one that names the old.

    Conflict `not_reopenable` for any other; `changed_since_proposed` when the
    file is not the text it was made from, because approving would overwrite that;
    `another_waits` when a newer one does, which reopening would supersede.
    """
    old = _require_decider(proposal_id, actor)
    if not queries.reopenable(old, queries.written(old)):
        raise Conflict(
            "Only a rejected or undone proposal that was not reopened yet can be.",
            code="not_reopenable",
            proposal=proposal_id,
        )
    if preview(old).moved_on:
        raise Conflict(
            f"{old.name} is not the text this was made from any more; the next run proposes anew.",
            code="changed_since_proposed",
            proposal=proposal_id,
        )
    newer = _pending_rewrites(old.scope).first()
    if newer:
        raise Conflict(
            "A newer proposal for this memory waits; decide that one first.",
            code="another_waits",
            proposal=newer.public_id,
        )
    return propose_rewrite(
        old.agent_id,
        path=old.intent["path"],
        text=queries.proposed_text(old),
        previous=queries.previous_text(old),
        reasons=old.reasons,
        analysis=old.analysis,
        source=old.source,
        run=old.run,
        reopens=proposal_id,
    )


def settle_stuck(batch_id: str, way: str, *, actor: Actor) -> Batch:
    """Resolve a stuck batch and what it belongs to together.

    `keep_mine` leaves the disk (its proposal is superseded), `force` writes the
    rest, `undo` puts back what can be (its proposal waits again).
    """
    batch = ledger_queries.batch(batch_id)
    access.require(actor, "decide" if batch.proposal else "write", scope=batch.scope)
    access.require_present(actor)
    if way not in {"keep_mine", "force", "undo"}:
        raise ValueError(f"No way out is called {way}.")

    def settled(failed: Batch) -> None:
        rows = Proposal.objects.filter(public_id=failed.proposal, state=Proposal.State.APPROVED, batch=failed.public_id)
        if way == "undo":
            _wait_again(rows, failed.scope)
        else:
            rows.update(state=Proposal.State.SUPERSEDED, resolved_at=timezone.now())

    return ledger.settle(batch_id, way, on_failed=settled if batch.proposal else None)  # type: ignore[arg-type]


_UNDECIDED = {"resolved_at": None, "decided_by": "", "decision_reason": "", "batch": ""}


def _require_decider(proposal_id: str, actor: Actor) -> Proposal:
    proposal = queries.proposal(proposal_id, actor)  # NotFound before Forbidden: what is not yours is not there
    access.require(actor, "decide")
    access.require_present(actor)
    return proposal


def _refuse_reason(reason: str) -> None:
    formats.refuse_unstorable(reason, "reason")
    limit = settings.MEMORYHUB_REASON_CHARACTERS
    if len(reason) > limit:
        raise TooLarge(
            f"A reason may have {limit:,} characters; this has {len(reason):,}.", limit=limit, field="reason"
        )


def _refuse_decided(proposal: Proposal) -> None:
    if proposal.state == Proposal.State.SUPERSEDED:
        raise Conflict(
            "This proposal is stale: it was superseded. Nothing was written.",
            code="superseded",
            proposal=proposal.public_id,
            superseded_by=proposal.superseded_by,
        )
    if proposal.state != Proposal.State.PENDING:
        raise Conflict(
            f"This proposal was {proposal.get_state_display()} already.",
            code="already_decided",
            proposal=proposal.public_id,
            state=proposal.state,
            decided_by=proposal.decided_by,
        )


def _claim(proposal: Proposal, state: str, *, actor: Actor, reason: str, batch: str = "") -> None:
    """One conditional UPDATE; whoever comes second gets Conflict `already_decided`."""
    claimed = Proposal.objects.filter(pk=proposal.pk, state=Proposal.State.PENDING).update(
        state=state, resolved_at=timezone.now(), decided_by=actor.id, decision_reason=reason, batch=batch
    )
    if claimed != 1:
        proposal.refresh_from_db()
        _refuse_decided(proposal)
        raise Conflict("This proposal was decided at the same moment.", code="already_decided")


def _settle_moved(proposal: Proposal) -> None:
    """Commit that a rewrite is superseded before anybody is told so."""
    with transaction.atomic(durable=True):
        _supersede(Proposal.objects.filter(pk=proposal.pk))


def _release(proposal: Proposal) -> Callable[[], None]:
    """Make the proposal wait again, in the transaction that marks its batch failed."""

    def release() -> None:
        _wait_again(Proposal.objects.filter(pk=proposal.pk, state=Proposal.State.APPROVED), proposal.scope)

    return release


def _wait_again(rows: QuerySet[Proposal], scope_id: str) -> None:
    """Back to pending; superseded instead when a newer rewrite has taken the place meanwhile."""
    try:
        with transaction.atomic():
            rows.update(state=Proposal.State.PENDING, **_UNDECIDED)
    except IntegrityError:
        newer = _pending_rewrites(scope_id).values_list("public_id", flat=True).first() or ""
        rows.update(state=Proposal.State.SUPERSEDED, superseded_by=newer, resolved_at=timezone.now())
