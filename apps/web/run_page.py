"""The page of one run: what came of it, what it asked and what that cost, what it read, and what follows."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import date_format, number_format
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from apps import access
from apps.agents import queries as agents
from apps.agents import reading
from apps.agents.models import Agent
from apps.errors import MemoryHubError
from apps.ledger import queries as ledger
from apps.ledger.models import Batch
from apps.ledger.present import Piece, moment
from apps.proposals import present, sentences
from apps.proposals import queries as proposals
from apps.proposals.models import Proposal
from apps.proposals.review import Notice
from apps.runs import queries as runs
from apps.runs.models import Call, Run
from apps.runs.services import MOST_ATTEMPTS
from apps.vault import layout
from apps.web import consolidating, night, outcomes, spending, trail

# Masked places and calls drawn; a page must open, whatever a note holds.
MOST_MASKED, MOST_BATCHES = 60, 20

_PURPOSES = {"rewrite": gettext_lazy("Rewrite")}
_KINDS = {
    "private_key": gettext_lazy("a private key"),
    "url_password": gettext_lazy("a password in a link"),
    "key": gettext_lazy("a key"),
    "authorization": gettext_lazy("a login in a header or option"),
    "assigned": gettext_lazy("a password or token"),
}
_FINISHED = {"stop": gettext_lazy("whole"), "length": gettext_lazy("cut off"), "": gettext_lazy("not said")}
_NO_ANSWER = {
    "connection": gettext_lazy("%(model)s: no connection"),
    "closed": gettext_lazy("%(model)s: the connection closed without an answer"),
    "timeout": gettext_lazy("%(model)s: silent for %(seconds)s"),
    "rate_limited": gettext_lazy("%(model)s: too many requests"),
    "server_error": gettext_lazy("%(model)s: an error of its server"),
}


@dataclass(frozen=True)
class CallRow:
    """One question to a model as a row of the table; `finish` may lead to the run whose answer it took."""

    purpose: str
    model: str
    tokens: str
    seconds: str
    price: str
    finish: tuple[Piece, ...]
    attempts: tuple[str, ...]


def record(request: HttpRequest, run: Run) -> dict[str, Any]:
    """What `admin/runs/run/record.html` draws. Reads only; no file that is out of reach keeps the page from opening."""
    actor = access.staff(request.user, via="admin")
    proposed = trail.proposals_of([run]).get(run.public_id)
    calls = runs.calls(run)
    batches = ledger.history(actor, run=run.public_id, limit=MOST_BATCHES)
    crew = agents.agents(actor)
    is_open = run.state in outcomes.OPEN
    follows = outcomes.Following([run], crew).of(run) if run.state in outcomes.FAILED else outcomes.Next("")
    return {
        "title": _title(run, proposed),
        "open": is_open,
        "progress": _progress(run, calls) if is_open else "",
        "trouble": _trouble(run, crew),
        "lead": _lead(request, run, proposed),
        "notice": _notice(run, proposed, follows),
        "follow": Piece(_("See that run"), trail.run_url(follows.run)) if follows.run else None,
        "place": outcomes.place(run) if actor.may("read") else None,
        "again": consolidating.again(run, actor) if run.state in outcomes.FAILED else "",
        "anyway": consolidating.anyway(run, actor),
        "facts": list(_facts(run)),
        "limits": _limits(run, crew),
        "calls": [_call_row(call, run) for call in calls],
        "read": trail.notes(run, run.read, actor),
        "left_out": trail.notes(run, run.left_out, actor),
        "masked": _masked(run, actor),
        "masked_more": max(0, len(run.credentials) - MOST_MASKED),
        "batches": [_batch(request, batch) for batch in batches],
    }


def _title(run: Run, proposed: Proposal | None) -> str:
    facts = {"agent": run.agent_id, "what": outcomes.what(run, proposed)}
    if run.state == Run.State.QUEUED:
        return _("%(agent)s is queued") % facts
    return (_("%(agent)s is under way") if run.state == Run.State.RUNNING else _("%(agent)s: %(what)s")) % facts


def _progress(run: Run, calls: Sequence[Call]) -> str:
    """What it does at this moment, with the seconds that took so far."""
    if run.state == Run.State.QUEUED:
        before = sum(1 for one in runs.queued() if one.pk < run.pk)
        told = _("Waits for a worker.")
        more = ngettext("%(n)d run is before it.", "%(n)d runs are before it.", before) % {"n": before}
        return f"{told} {more}" if before else told
    asked = next((call for call in calls if call.state == Call.State.ASKED), None)
    since = asked.asked_at if asked else run.started_at or run.created_at
    facts = {
        "models": _(" or ").join(asked.route.split(", ")) if asked else "",
        "seconds": sentences.duration(round((timezone.now() - since).total_seconds())),
        "most": sentences.duration(settings.MEMORYHUB_MODEL_SECONDS),
    }
    if asked:
        return _("Asking %(models)s, %(seconds)s of at most %(most)s for each.") % facts
    return (_("Judging the answer, %(seconds)s.") if calls else _("Reading the notes, %(seconds)s.")) % facts


def _trouble(run: Run, crew: Sequence[Agent]) -> str:
    """What keeps an open run from beginning or ending; empty when nothing is known to."""
    if run.state == Run.State.QUEUED:
        return night.trouble(crew)
    longest = timedelta(seconds=settings.MEMORYHUB_QUEUE_TIMEOUT)
    if run.state == Run.State.RUNNING and run.started_at and timezone.now() - run.started_at > longest:
        return _("No run may take that long. If its worker is gone, the next round of a worker says so.")
    return ""


def _lead(request: HttpRequest, run: Run, proposed: Proposal | None) -> list[Piece]:
    """How its outcome stands now, with the way to the proposal."""
    told = {
        "unchanged": _("The model read the notes and left the memory as it is."),
        "written": _("Written by itself: nothing was lost and nothing stood against it."),
        "overtaken": _("The memory was written during the run, so what it proposed is stale. Nothing was written."),
        "decided": _("Somebody decided it first; that decision stands."),
    }
    pieces = [Piece(told[run.outcome])] if run.outcome in told else []
    if run.outcome == "nothing_newer":
        pieces += _read_before(request, run)
    if silent := [one["model"] for call in runs.calls(run) for one in call.attempts if one["model"] != run.model]:
        facts = {"models": ", ".join(dict.fromkeys(silent)), "model": run.model}
        pieces.append(Piece(_("%(models)s gave no answer, so %(model)s was asked.") % facts if run.answered else ""))
    if run.cut:
        pieces.append(Piece(_("The note %(note)s was too long and was read in part.") % {"note": run.cut}))
    if why := present.held(run):
        pieces.append(Piece(_("Held for you: %(why)s.") % {"why": why}))
    if proposed is not None:
        standing = trail.standing([proposed])[proposed.public_id][1]
        pieces.append(Piece(_("Its proposal now: %(state)s.") % {"state": standing}))
        if address := trail.proposal_link(request, proposed):
            pieces.append(Piece(_("See the proposal"), address))
    return pieces


def _read_before(request: HttpRequest, run: Run) -> Iterator[Piece]:
    """Why nothing was newer, as far as it can be told now."""
    waiting = proposals.pending_rewrite(run.agent_id)
    if waiting is None:
        yield Piece(_("Every note was read by an earlier run, and what came of that is decided."))
        return
    yield Piece(_("Every note was read by the run whose proposal waits."))
    if address := trail.proposal_link(request, waiting):
        yield Piece(_("See the proposal"), address)


def _notice(run: Run, proposed: Proposal | None, follows: outcomes.Next) -> Notice | None:
    """What did not happen, why, and what to do; None for a run that did what it was for, or may still."""
    if run.state not in outcomes.FAILED:
        return None
    title = (
        _("It ended before its proposal could be settled.")
        if proposed
        else _("Nothing was proposed and nothing was written.")
    )
    paid = _("What it asked may have been paid for, so nothing asks again before.") if _unclear(run, follows) else ""
    what_next = " ".join(filter(None, (outcomes.remedy(run), follows.told, paid)))
    return Notice(title, outcomes.why(run), what_next)


def _unclear(run: Run, follows: outcomes.Next) -> bool:
    """Whether a question was sent whose answer nobody saw, which keeps a lost run from being tried again by itself."""
    if run.state != Run.State.LOST or follows.run is not None:
        return False
    return runs.unclear(run)


def _facts(run: Run) -> Iterator[tuple[str, list[Piece]]]:
    """What is known of a run, as pairs of a word and pieces of text; what is not known is left out."""
    price, expected = spending.prices([run]).get(run.pk, ""), spending.estimated(run)
    tokens = spending.tokens(run.prompt_tokens, run.completion_tokens)
    together = number_format(run.tokens or 0, force_grouping=True)
    pairs = (
        (_("State"), outcomes.state(run)),
        (_("Night"), date_format(run.local_date, "DATE_FORMAT") if run.local_date else ""),
        (_("Asked for by"), trail.token_names().get(run.asked_by, run.asked_by)),
        (_("Asked for at"), "" if moment(run.created_at) == moment(run.started_at) else moment(run.created_at)),
        (_("Began"), moment(run.started_at)),
        (_("Took"), "" if run.seconds is None else sentences.duration(run.seconds)),
        (_("Model"), run.model or run.provider),
        (_("Tokens"), f"{together}: {tokens}" if tokens else ""),
        (_("Price"), ", ".join(filter(None, (price, expected)))),
    )
    yield from ((word, [Piece(value)]) for word, value in pairs if value)
    if run.attempt > 1:
        yield _("Attempt"), _attempt(run)
    yield _("Run"), [Piece(run.public_id)]
    if run.source:
        yield _("Source"), [Piece(run.source)]


def _attempt(run: Run) -> list[Piece]:
    told = _("%(n)d of %(most)d") % {"n": run.attempt, "most": MOST_ATTEMPTS}
    earlier = Run.objects.filter(public_id=run.retry_of).first() if run.retry_of else None
    if earlier is None:
        return [Piece(told)]
    return [Piece(f"{told}, "), Piece(_("after run %(run)s") % {"run": earlier.public_id}, trail.run_url(earlier))]


def _limits(run: Run, crew: Sequence[Agent]) -> list[str]:
    """The budgets of a run that was refused for them, as they are now."""
    if run.state != Run.State.REFUSED:
        return []
    return [told for agent in crew if agent.pk == run.agent_id for told in spending.limits(agent)]


def _call_row(call: Call, run: Run) -> CallRow:
    return CallRow(
        purpose=str(_PURPOSES.get(call.purpose, capfirst(call.purpose))),
        model=call.model or call.route,
        tokens=spending.tokens(call.prompt_tokens, call.completion_tokens),
        seconds="" if call.seconds is None else sentences.duration(call.seconds),
        price=_call_price(call, run),
        finish=tuple(_finish(call, run)),
        attempts=tuple(_no_answer(one) for one in call.attempts),
    )


def _call_price(call: Call, run: Run) -> str:
    if call.state == Call.State.REUSED:
        return _("paid before")
    if call.state == Call.State.ASKED and run.state in outcomes.OPEN:
        return ""
    return sentences.price(Decimal(0) if call.free else call.cost)


def _finish(call: Call, run: Run) -> Iterator[Piece]:
    """How the question ended, in a word or a sentence."""
    if call.state == Call.State.ASKED:
        told = _("asked") if run.state in outcomes.OPEN else _("asked; nobody saw an answer")
        yield Piece(told)
    elif call.state == Call.State.FAILED:
        yield Piece(call.error or _("no answer"))
    elif call.state == Call.State.REUSED:
        paid = Run.objects.filter(public_id=call.reuses).first()
        told = _("answer of run %(run)s, paid before") % {"run": call.reuses}
        yield Piece(told, trail.run_url(paid) if paid else "")
    else:
        yield Piece(str(_FINISHED.get(call.finish_reason, call.finish_reason)))


def _no_answer(attempt: dict[str, Any]) -> str:
    told = str(_NO_ANSWER.get(attempt["reason"], "%(model)s")) % {
        "model": attempt["model"],
        "seconds": sentences.duration(attempt["seconds"]),
    }
    return f"{told} ({attempt['status']})" if attempt.get("status") else told


def _masked(run: Run, actor: access.Actor) -> list[Piece]:
    """“2026-09-19, line 4: a key”, each a link to the line if its file is still there to be read."""
    try:
        there = {note.path for note in reading.note_names(run.agent_id, actor=actor)} | {layout.MEMORY}
    except MemoryHubError:
        there = set()
    told = []
    for path, line, kind in run.credentials[:MOST_MASKED]:
        name = path.rpartition("/")[2].removesuffix(".md") if path in there - {layout.MEMORY} else path
        facts = {"file": name, "line": line, "kind": _KINDS.get(kind, kind.replace("_", " "))}
        address = reverse("web:file", args=[run.agent_id, path]) if path in there else ""
        label = _("%(file)s, line %(line)s: %(kind)s") % facts
        told.append(Piece(label, f"{address}?line={line}#L{line}" if address else ""))
    return told


def _batch(request: HttpRequest, batch: Batch) -> Piece:
    files = ", ".join(change.path for change in batch.changes.all()[:3])
    facts = {"when": moment(batch.created_at), "files": files, "state": batch.get_state_display()}
    told = _("%(files)s, %(when)s") if batch.state == Batch.State.DONE else _("%(files)s, %(when)s: %(state)s")
    may = request.user.has_perm("ledger.view_batch")
    return Piece(told % facts, reverse("admin:ledger_batch_change", args=[batch.pk]) if may else "")
