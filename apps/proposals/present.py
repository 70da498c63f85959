"""Build what the review page draws from a proposal: rows in groups, evidence beside them, sentences.

Everything here reads; deciding is in `services`. A page asks for one proposal,
the list never does: its numbers were stored when the proposal was made.
"""

from collections.abc import Callable, Sequence
from typing import Any

from django.conf import settings
from django.urls import reverse
from django.utils.formats import number_format
from django.utils.translation import gettext as _

from apps.access import Actor
from apps.agents import store
from apps.errors import NotFound, StorageFailed
from apps.ledger import queries as ledger
from apps.ledger.present import moment
from apps.proposals import marking, queries, reasons, sentences, services
from apps.proposals.drawing import Drawing
from apps.proposals.models import Proposal
from apps.proposals.review import (
    Consequence,
    FileLine,
    Group,
    Notice,
    Piece,
    Redated,
    RedatedRow,
    Review,
    Strip,
)
from apps.runs import queries as runs
from apps.runs.models import Run
from apps.vault import lines, pairing
from apps.vault.pairing import Difference

# Entries of a group that are drawn at first; the rest is one click away (design.md, Review).
FIRST_ROWS, UNFOLDED = 40, 60
# Beyond these only counts and the two whole texts are shown: case C29.
MOST_CHARACTERS, MOST_DIFFERENCES = 1_000_000, 3_000
# Lines of a whole text drawn on the page, and characters of one line; the text itself is one link away.
MOST_LINES, MOST_LINE_CHARACTERS = 4_000, 2_000


def review(
    proposal: Proposal,
    *,
    actor: Actor,
    may: Callable[[str], bool],
    show_all: bool = False,
    strip: Strip | None = None,
    notice: Notice | None = None,
    typed_why: str = "",
    typed_reason: str = "",
) -> Review:
    """The whole page for one proposal. Never raises for a proposal whose agent or files are gone.

    `may` says whether the person has a permission: nobody is sent to a page that refuses them.
    `strip` tells of the last decision, `notice` of a refused one with what was typed for it.
    """
    numbers = proposal.analysis.get("counts", {})
    old, new = store.decode(queries.previous_text(proposal)), store.decode(queries.proposed_text(proposal))
    capped = len(old) + len(new) > MOST_CHARACTERS or sum(numbers.values()) > MOST_DIFFERENCES
    differences = [] if capped else pairing.differences(old, new)
    told, own_words = reasons.by_entry(proposal.reasons, differences)
    drawing = Drawing(proposal, told, linked=may("agents.view_agent"))
    written = queries.written(proposal)
    look = [one for one in differences if drawing.wants_a_look(one)]
    backed = [one for one in differences if not drawing.wants_a_look(one) and not drawing.only_date(one)]
    pending, decider = proposal.state == Proposal.State.PENDING, actor.may("decide", proposal.scope)
    place = queries.place(proposal)
    return Review(
        proposal=proposal,
        url=url(proposal),
        path=proposal.name,
        title=sentences.counts(numbers),
        verdict=_verdict(look, backed, capped) if pending else "",
        facts_line=_facts_line(proposal, linked=may("runs.view_run")),
        groups=_groups(drawing, look, backed, show_all=show_all),
        redated=_redated(drawing, differences),
        own_words=tuple(own_words),
        whole_warnings=drawing.whole(),
        consequence=_consequence(proposal) if pending else None,
        old_lines=_lines(old, [entry for one in differences for entry in one.old], "del"),
        new_lines=_lines(new, [one.new for one in differences if one.new], "ins"),
        digest=_digest(proposal),
        capped=capped,
        may_decide=decider,
        pending=pending,
        outcome=_outcome(proposal, written),
        outcome_links=_outcome_links(proposal, may),
        undo_url=_action(proposal, "undo") if decider and written and written.state == "done" else "",
        reopen_url=_action(proposal, "reopen") if decider and queries.reopenable(proposal, written) else "",
        position=(place.number, place.total) if pending else None,
        previous_url=_url_of(place.previous),
        next_url=_url_of(place.next),
        approve_url=_action(proposal, "approve"),
        reject_url=_action(proposal, "reject"),
        now_url=_text_url(proposal, "now"),
        after_url=_text_url(proposal, "after"),
        strip=strip,
        notice=notice,
        typed_why=typed_why,
        typed_reason=typed_reason,
    )


def url(proposal: Proposal) -> str:
    return _url_of(proposal.public_id)


def _url_of(proposal_id: str) -> str:
    return reverse("admin:proposals_proposal_review", args=[proposal_id]) if proposal_id else ""


def _action(proposal: Proposal, name: str) -> str:
    return reverse(f"admin:proposals_proposal_{name}", args=[proposal.public_id])


def _text_url(proposal: Proposal, side: str) -> str:
    return reverse("admin:proposals_proposal_text", args=[proposal.public_id, side])


def _verdict(look: Sequence[Difference], backed: Sequence[Difference], capped: bool) -> str:
    if capped:
        return _("Too long to show entry by entry. Read both texts before you decide.")
    return sentences.verdict(len(look), len(backed))


def _groups(
    drawing: Drawing, look: Sequence[Difference], backed: Sequence[Difference], *, show_all: bool
) -> tuple[Group, ...]:
    first = FIRST_ROWS if len(look) + len(backed) > UNFOLDED and not show_all else len(look) + len(backed)
    named = (
        ("look", _("Look at these"), _("Something may be lost, hidden, or backed by no note."), look),
        ("backed", _("Backed by notes, nothing lost"), "", backed),
    )
    return tuple(
        Group(key, title, hint, tuple(map(drawing.row, found[:first])), max(0, len(found) - first))  # type: ignore[arg-type]
        for key, title, hint, found in named
        if found
    )


def _redated(drawing: Drawing, differences: Sequence[Difference]) -> Redated | None:
    rows = []
    for one in differences:
        if one.new and drawing.only_date(one):
            old_date, new_date = (lines.date_suffix(entry.text) or "" for entry in (one.old[0], one.new))
            rows.append(RedatedRow(marking.bare(one.new), old_date, new_date, drawing.note_of(new_date)))
    return Redated(len(rows), tuple(rows)) if rows else None


def _lines(text: str, entries: Sequence[Any], change: str) -> tuple[FileLine, ...]:
    changed = {number for entry in entries for number in range(entry.start, entry.end + 1)}
    return tuple(
        FileLine(line.number, line.text[:MOST_LINE_CHARACTERS], change if line.number in changed else "")  # type: ignore[arg-type]
        for line in lines.split(text)[:MOST_LINES]
    )


def _consequence(proposal: Proposal) -> Consequence | None:
    size = proposal.analysis.get("characters")
    return Consequence(size["after"], size["before"], settings.MEMORYHUB_MEMORY_CHARACTERS) if size else None


def _digest(proposal: Proposal) -> str:
    if proposal.state != Proposal.State.PENDING:
        return ""
    try:
        return services.preview(proposal).digest
    except (NotFound, StorageFailed):
        return ""


def _facts_line(proposal: Proposal, *, linked: bool) -> tuple[Piece, ...]:
    """When, from what, by which run and model, and what kept it from being written by itself, in one quiet line."""
    try:
        run = runs.run(proposal.run)
    except NotFound:
        run = None
    when = _("Night of %(when)s") if run is not None and run.local_date else "%(when)s"
    pieces = [Piece(when % {"when": moment(proposal.created_at)})]
    if proposal.intent["previous"] is None and proposal.state == Proposal.State.PENDING:
        pieces.insert(0, Piece(_("%(file)s is not there yet.") % {"file": proposal.name} + " "))
    notes = sentences.notes(proposal.analysis.get("notes", []))
    if notes:
        pieces.append(Piece(f", {notes}"))
    pieces.append(Piece(". "))
    return (*pieces, *(_run_pieces(run, linked=linked) if run is not None else ()))


def _run_pieces(run: Run, *, linked: bool) -> tuple[Piece, ...]:
    url = reverse("admin:runs_run_change", args=[run.pk]) if linked else ""
    told = [run.model or run.provider]
    if run.seconds is not None:
        told.append(sentences.duration(run.seconds))
    if run.tokens:
        told.append(_("%(tokens)s\u00a0tokens") % {"tokens": number_format(run.tokens, force_grouping=True)})
        told.append(_("price unknown") if run.cost is None else sentences.price(run.cost))
    why = held(run)
    return (
        Piece(_("Run %(run)s") % {"run": run.public_id}, url),
        Piece(f": {', '.join(filter(None, told))}."),
        *([Piece(" " + _("Held for you: %(why)s.") % {"why": why})] if why else []),
    )


def held(run: Run) -> str:
    """What kept a run of an autonomous agent from writing its rewrite, as “2 lines dropped or reworded”; else empty."""
    return sentences.held(run.verdict) if run.outcome == "held" else ""


def _outcome(proposal: Proposal, written: queries.Written | None) -> str:
    """How a decided proposal ended, in one sentence; empty while it waits."""
    if proposal.state == Proposal.State.PENDING:
        return ""
    when = moment(proposal.resolved_at) if proposal.resolved_at else ""
    if proposal.state == Proposal.State.SUPERSEDED:
        if not proposal.superseded_by:
            return _("Superseded on %(when)s: %(file)s had changed.") % {"when": when, "file": proposal.name}
        return _("Superseded on %(when)s by a newer proposal.") % {"when": when}
    facts = {"who": proposal.decided_by, "when": when}
    if proposal.state == Proposal.State.REJECTED:
        told = _("Rejected by %(who)s on %(when)s.") % facts
        return f"{told} “{proposal.decision_reason}”" if proposal.decision_reason else told
    if by_itself(proposal):
        told = _("Written by itself on %(when)s, nothing was lost.") % facts
    else:
        told = _("Approved by %(who)s on %(when)s.") % facts
    if written and written.state == "undone":
        return told + " " + _("It was taken back since.")
    if written and written.state in {"stuck", "writing"}:
        return told + " " + _("It is not fully written yet.")
    return told


def by_itself(proposal: Proposal) -> bool:
    """Whether nobody approved it: fixed rules let the job of an autonomous agent write it."""
    return bool(proposal.batch) and ledger.batch(proposal.batch).actor_kind == "job"


def _outcome_links(proposal: Proposal, may: Callable[[str], bool]) -> tuple[Piece, ...]:
    """Where to read on about a decided proposal: what was written, what is stuck, what replaced it."""
    links = []
    if proposal.batch:
        batch = ledger.batch(proposal.batch)
        if batch.state == "stuck" and may("agents.view_agent"):
            links.append(Piece(_("Look at what is stuck"), reverse("web:stuck", args=[batch.public_id])))
        if may("ledger.view_batch"):
            links.append(Piece(_("What was written"), reverse("admin:ledger_batch_change", args=[batch.pk])))
    if proposal.superseded_by:
        links.append(Piece(_("See what replaced it"), _url_of(proposal.superseded_by)))
    return tuple(links)
