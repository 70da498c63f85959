"""Build what the review page draws from a proposal: rows in groups, evidence beside them, sentences.

Everything here reads; deciding is in `services`. A page asks for one proposal,
the list never does: its numbers were stored when the proposal was made.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings
from django.urls import reverse
from django.utils.formats import date_format
from django.utils.timezone import localtime
from django.utils.translation import gettext as _

from apps.access import Actor
from apps.agents import queries as agents
from apps.agents import store
from apps.errors import NotFound
from apps.ledger import queries as ledger
from apps.proposals import marking, queries, reasons, sentences, services, support, warnings
from apps.proposals.models import Proposal
from apps.proposals.review import (
    Consequence,
    Evidence,
    FileLine,
    Group,
    Notice,
    Piece,
    QuotedLine,
    Redated,
    RedatedRow,
    Review,
    Row,
    Segment,
    Source,
    Strip,
)
from apps.runs import queries as runs
from apps.vault import files, folding, lines, pairing
from apps.vault.pairing import Difference

# Entries of a group that are drawn at first; the rest is one click away (design.md, Review).
FIRST_ROWS, UNFOLDED = 40, 60
# Beyond these only counts and the two whole texts are shown: case C29.
MOST_CHARACTERS, MOST_DIFFERENCES = 1_000_000, 3_000
# Lines of a whole text drawn on the page, and characters of one line; the text itself is one link away.
MOST_LINES, MOST_LINE_CHARACTERS = 4_000, 2_000


@dataclass(frozen=True)
class _Found:
    """What was stored about a proposal, by entry."""

    checks: Mapping[str, Sequence[warnings.Warning]]
    supports: Mapping[str, Mapping[str, Any]]
    counts: Mapping[str, int]

    def of(self, entry: str) -> Sequence[warnings.Warning]:
        return self.checks.get(entry, ())


def review(
    proposal: Proposal,
    *,
    actor: Actor,
    show_all: bool = False,
    strip: Strip | None = None,
    notice: Notice | None = None,
    typed_why: str = "",
    typed_reason: str = "",
) -> Review:
    """The whole page for one proposal. Never raises for a proposal whose agent or files are gone.

    `strip` tells of the last decision, `notice` of a refused one with what was typed for it.
    """
    found = _found(proposal)
    old, new = store.decode(queries.previous_text(proposal)), store.decode(queries.proposed_text(proposal))
    capped = len(old) + len(new) > MOST_CHARACTERS or sum(found.counts.values()) > MOST_DIFFERENCES
    differences = [] if capped else pairing.differences(old, new)
    told, own_words = reasons.by_entry(proposal.reasons, differences)
    root = _root(proposal)
    rows = [_row(one, found, proposal, root, told.get(one.id, "")) for one in differences if not _only_date(one, found)]
    look = [row for row in rows if _wants_a_look(row)]
    backed = [row for row in rows if not _wants_a_look(row)]
    place = queries.place(proposal)
    return Review(
        proposal=proposal,
        url=url(proposal),
        path=proposal.name,
        title=sentences.counts(found.counts),
        verdict=_verdict(look, backed, capped) if proposal.state == Proposal.State.PENDING else "",
        facts_line=_facts_line(proposal),
        groups=_groups(look, backed, show_all=show_all),
        redated=_redated(differences, found),
        own_words=tuple(own_words),
        whole_warnings=tuple(map(_evidence, found.of(""))),
        consequence=_consequence(proposal),
        old_text=old,
        new_text=new,
        old_lines=_lines(old, [entry for one in differences for entry in one.old], "del"),
        new_lines=_lines(new, [one.new for one in differences if one.new], "ins"),
        digest=_digest(proposal),
        capped=capped,
        may_decide=actor.may("decide", proposal.scope),
        pending=proposal.state == Proposal.State.PENDING,
        outcome=outcome(proposal),
        outcome_links=_outcome_links(proposal),
        undo_url=_action(proposal, "undo") if _undoable(proposal) else "",
        reopen_url=_action(proposal, "reopen") if _reopenable(proposal) else "",
        position=(place.number, place.total) if proposal.state == Proposal.State.PENDING else None,
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


def _found(proposal: Proposal) -> _Found:
    by_entry: dict[str, list[warnings.Warning]] = {}
    for stored in proposal.analysis.get("warnings", []):
        one = warnings.Warning(
            stored["code"],
            stored["severity"],
            stored["entry"],
            stored["side"],
            tuple(stored["words"]),
            stored["params"],
        )
        by_entry.setdefault(one.entry, []).append(one)
    return _Found(by_entry, proposal.analysis.get("supports", {}), proposal.analysis.get("counts", {}))


def _root(proposal: Proposal) -> Path | None:
    try:
        return agents.scope(proposal.scope).root
    except NotFound:
        return None


def _only_date(one: Difference, found: _Found) -> bool:
    """Whether a difference goes into the one folded line of dates: nothing else changes and no check speaks."""
    return one.kind == "redated" and not any(warning.severity != "note" for warning in found.of(one.id))


def _row(one: Difference, found: _Found, proposal: Proposal, root: Path | None, reason: str) -> Row:
    old_warned, new_warned = _warned(found.of(one.id), "old"), _warned(found.of(one.id), "new")
    marked: tuple[Segment, ...] = ()
    unmarked = False
    if one.new and len(one.old) == 1 and one.kind in {"reworded", "heading_renamed"}:
        marked, unmarked = marking.woven(one.old[0], one.new, old_warned, new_warned)
    evidence = tuple(map(_evidence, _said_once(found.of(one.id))))
    stored = found.supports.get(one.id)
    return Row(
        id=one.id,
        kind=one.kind,
        word=sentences.kind_word(one.kind),
        count=len(one.old),
        place=_place(one),
        old=tuple(marking.text(entry, old_warned) for entry in one.old),
        new=marking.text(one.new, new_warned) if one.new else None,
        marked=marked,
        unmarked=unmarked,
        evidence=evidence,
        source=_source(one, stored, proposal, root) if stored else None,
        remark=_remark(one),
        reason=reason,
    )


def _warned(found: Sequence[warnings.Warning], side: str) -> list[marking.Warned]:
    return [
        marking.Warned(word, "letter" if warning.code == "odd_character" else warning.severity)
        for warning in found
        if warning.side == side
        for word in warning.words
    ]


def _said_once(found: Sequence[warnings.Warning]) -> list[warnings.Warning]:
    """A new address already says that no source was found; the graver check speaks for both. Order is severity."""
    codes = {one.code for one in found}
    told = [one for one in found if one.code != "no_support" or "address_new" not in codes]
    return sorted(told, key=lambda one: sentences.SEVERITIES.index(one.severity))


def _place(one: Difference) -> str:
    after = _last(one.new.headings) if one.new else ""
    before = _last(one.old[0].headings) if one.old else after
    if one.kind == "moved" and before != after:
        return f"{before or _('Top')} → {after or _('Top')}"
    return after if one.new else before


def _last(headings: Sequence[str]) -> str:
    return headings[-1].lstrip("# ").strip() if headings else ""


def _remark(one: Difference) -> str:
    if one.kind == "moved":
        return _("Same words, other order.") if "reordered" in one.flags else _("Same words, other place.")
    if one.kind == "heading_renamed":
        return _("Everything under it stays.")
    if one.kind == "reworded" and "format" in one.flags:
        return _("Only signs or spaces change.")
    return ""


def _evidence(warning: warnings.Warning) -> Evidence:
    return Evidence(warning.severity, sentences.severity_word(warning.severity), warning.sentence)


def _source(one: Difference, stored: Mapping[str, Any], proposal: Proposal, root: Path | None) -> Source:
    path, start, end = stored["path"], stored["line_start"], stored["line_end"]
    note = support.NoteText(path, store.decode(_note(root, path)))
    quoted = support.quoted(note.text, support.Support(path, start, end, stored["found"], stored["total"]))
    held = set(folding.content_words(" ".join(line.text for line in quoted if line.supporting)))
    words = support.words_of(one.new) if one.new else frozenset()
    missing = len(held & words) * 100 < support.SHARE * len(words) or not words
    return Source(
        label=sentences.source_label(path, note.date, start),
        path=path,
        line=start,
        found=stored["found"],
        total=stored["total"],
        lines=() if missing else tuple(QuotedLine(line.number, line.text, line.supporting) for line in quoted),
        url=reverse("web:file", args=[proposal.scope, path]) + f"?line={start}#L{start}",
        missing=missing,
    )


def _note(root: Path | None, path: str) -> bytes | None:
    """The note as it is now; one that is gone or cannot be read shows as changed since."""
    try:
        return files.read(root, path) if root else None
    except NotFound:
        return None


def _wants_a_look(row: Row) -> bool:
    """Anything that can lose or smuggle something: removed, checked, or without a source."""
    if row.kind == "removed" or any(one.severity in {"check", "stop"} for one in row.evidence):
        return True
    return row.kind in {"added", "reworded"} and row.source is None and not row.remark


def _verdict(look: Sequence[Row], backed: Sequence[Row], capped: bool) -> str:
    if capped:
        return _("Too long to show entry by entry. Read both texts before you decide.")
    return sentences.verdict(len(look), len(backed))


def _groups(look: Sequence[Row], backed: Sequence[Row], *, show_all: bool) -> tuple[Group, ...]:
    first = FIRST_ROWS if len(look) + len(backed) > UNFOLDED and not show_all else len(look) + len(backed)
    named = (
        ("look", _("Look at these"), _("Something may be lost, or no note backs it."), look),
        ("backed", _("Backed by notes, nothing lost"), "", backed),
    )
    return tuple(
        Group(key, title, hint, tuple(rows[:first]), max(0, len(rows) - first))  # type: ignore[arg-type]
        for key, title, hint, rows in named
        if rows
    )


def _redated(differences: Sequence[Difference], found: _Found) -> Redated | None:
    rows = tuple(
        RedatedRow(
            marking.bare(one.new),
            lines.date_suffix(one.old[0].text) or "",
            lines.date_suffix(one.new.text) or "",
        )
        for one in differences
        if one.new and _only_date(one, found)
    )
    return Redated(len(rows), rows) if rows else None


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
    except NotFound:
        return ""


def _facts_line(proposal: Proposal) -> tuple[Piece, ...]:
    """When, from what, by which run and model, in one quiet line."""
    pieces = [Piece(_when(proposal.created_at))]
    if proposal.intent["previous"] is None and proposal.state == Proposal.State.PENDING:
        pieces.insert(0, Piece(_("%(file)s is not there yet.") % {"file": proposal.name} + " "))
    notes = sentences.notes(proposal.analysis.get("notes", []))
    if notes:
        pieces.append(Piece(f", {notes}"))
    pieces.append(Piece(". "))
    try:
        run = runs.run(proposal.run)
    except NotFound:
        return tuple(pieces)
    pieces.append(Piece(_("Run %(run)s") % {"run": run.public_id}, reverse("admin:runs_run_change", args=[run.pk])))
    told = [run.model or run.provider]
    if run.seconds is not None:
        told.append(sentences.duration(run.seconds))
    tokens = (run.prompt_tokens or 0) + (run.completion_tokens or 0)
    if tokens:
        told.append(_("%(tokens)s\u00a0tokens") % {"tokens": f"{tokens:,}"})
        told.append(_("price unknown") if run.cost is None else f"${run.cost:.3f}")
    return (*pieces, Piece(f": {', '.join(filter(None, told))}."))


def _when(moment: Any) -> str:
    return date_format(localtime(moment), "D j M Y, H:i").replace(" ", "\u00a0")


def outcome(proposal: Proposal) -> str:
    """How a decided proposal ended, in one sentence; empty while it waits."""
    if proposal.state == Proposal.State.PENDING:
        return ""
    when = _when(proposal.resolved_at) if proposal.resolved_at else ""
    if proposal.state == Proposal.State.SUPERSEDED:
        return _("Superseded on %(when)s.") % {"when": when}
    facts = {"who": proposal.decided_by, "when": when}
    if proposal.state == Proposal.State.REJECTED:
        told = _("Rejected by %(who)s on %(when)s.") % facts
        return f"{told} “{proposal.decision_reason}”" if proposal.decision_reason else told
    written = queries.written(proposal)
    told = _("Approved by %(who)s on %(when)s.") % facts
    if written and written.state == "undone":
        return told + " " + _("It was taken back since.")
    if written and written.state in {"stuck", "writing"}:
        return told + " " + _("It is not fully written yet.")
    return told


def _outcome_links(proposal: Proposal) -> tuple[Piece, ...]:
    """Where to read on about a decided proposal: what was written, what is stuck, what replaced it."""
    links = []
    if proposal.batch:
        batch = ledger.batch(proposal.batch)
        if batch.state == "stuck":
            links.append(Piece(_("Look at what is stuck"), reverse("web:stuck", args=[batch.public_id])))
        links.append(Piece(_("What was written"), reverse("admin:ledger_batch_change", args=[batch.pk])))
    if proposal.superseded_by:
        links.append(Piece(_("See what replaced it"), _url_of(proposal.superseded_by)))
    return tuple(links)


def _undoable(proposal: Proposal) -> bool:
    written = queries.written(proposal)
    return written is not None and written.state == "done"


def _reopenable(proposal: Proposal) -> bool:
    written = queries.written(proposal)
    return proposal.state == Proposal.State.REJECTED or (written is not None and written.state == "undone")
