"""The margin of a file: who brought each stretch of its lines, said once, and the whole story one click away."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import groupby

from django.http import HttpRequest
from django.urls import reverse
from django.utils.formats import date_format
from django.utils.timezone import localdate, localtime
from django.utils.translation import gettext as _

from apps import access
from apps.agents import reading
from apps.errors import TooLarge
from apps.ledger.blame import Origin
from apps.ledger.models import Batch
from apps.ledger.present import Piece, moment
from apps.proposals.review import QuotedLine
from apps.runs.models import Run
from apps.web import trail


@dataclass(frozen=True)
class Stretch:
    """Lines in a row that came the same way.

    `kind` is `today`, `earlier` or `outside`; blank lines between two stretches have none, and nothing in the
    margin. `story` is empty for whoever may not see the history.
    """

    kind: str
    when: str
    who: str
    story: tuple[Piece, ...]
    lines: tuple[QuotedLine, ...]


@dataclass(frozen=True)
class Margin:
    """The stretches of a file, or none and the reason (`said`); `switch` hides the margin or shows it again."""

    stretches: tuple[Stretch, ...]
    said: str
    switch: Piece

    @property
    def has_stories(self) -> bool:
        return any(stretch.story for stretch in self.stretches)


def margin(request: HttpRequest, found: reading.File, rows: Sequence[QuotedLine]) -> Margin | None:
    """Who brought each line of a file as it was read; None for a file without lines. `?margin=off` leaves it out."""
    if not rows:
        return None
    if request.GET.get("margin") == "off":
        return Margin((), "", Piece(_("Show who brought each line"), "?"))
    try:
        origins = reading.origins(found)
    except TooLarge as error:
        long = _("Who brought each line is told of files up to %(limit)s lines.")
        return Margin((), long % {"limit": f"{error.details['limit']:,}"}, Piece(""))
    if not origins:
        return None
    told = _Teller(request, found.path, origins)
    stretches = tuple(told.stretch(part, rows) for part in _parts(origins))
    return Margin(stretches, "", Piece(_("Hide"), "?margin=off"))


def _parts(origins: Iterable[Origin]) -> list[list[Origin]]:
    """Neighbours of one origin together, with the blank lines between them; other blank lines stand apart."""
    parts: list[list[Origin]] = []
    for brought_by, group in groupby(origins, _brought_by):
        if len(parts) > 1 and not _brought_by(parts[-1][0]) and _brought_by(parts[-2][0]) == brought_by:
            blank = parts.pop()
            parts[-1] += [*blank, *group]
        else:
            parts.append(list(group))
    return parts


def _brought_by(origin: Origin) -> str:
    """The batch, the word for none, or nothing for a blank line."""
    return origin.batch.public_id if origin.batch else "outside" if origin.outside else ""


class _Teller:
    """Tells of batches in few words and in many; what it has to look up it looks up once for all of them."""

    def __init__(self, request: HttpRequest, path: str, origins: Iterable[Origin]) -> None:
        self.may = request.user.has_perm
        self.actor = access.staff(request.user, via="web")
        self.today = localdate()
        # The name of a day note says its day: there the clock says more.
        self.day = path.rpartition("/")[2][:10]
        self.is_open = self.may("ledger.view_batch")
        batches = {one.batch.pk: one.batch for one in origins if one.batch}.values() if self.is_open else ()
        tokens = any(batch.actor_kind == "token" for batch in batches)
        self.names = trail.token_names() if tokens else {}
        self.runs = _keys(Run, {batch.run for batch in batches}) if self.may("runs.view_run") else {}
        self.undone = _keys(Batch, {batch.undoes for batch in batches})

    def stretch(self, part: Sequence[Origin], rows: Sequence[QuotedLine]) -> Stretch:
        lines = tuple(rows[one.line - 1] for one in part)
        batch = part[0].batch
        if batch is None:
            if not part[0].outside:
                return Stretch("", "", "", (), lines)
            return Stretch("outside", "", _("Outside"), self._story_of_outside(), lines)
        at = localtime(batch.created_at)
        kind = "today" if at.date() == self.today else "earlier"
        return Stretch(
            kind, self._when(at.date(), date_format(at, "TIME_FORMAT")), self._who(batch), self._story(batch), lines
        )

    def _when(self, day: date, clock: str) -> str:
        if day.isoformat() == self.day:
            return clock
        # Translators: a day without its year, as Django's date formats write it.
        form = _("j M") if day.year == self.today.year else "DATE_FORMAT"
        return date_format(day, form).replace(" ", "\u00a0")

    def _who(self, batch: Batch) -> str:
        if not self.is_open:
            return _kind(batch)
        who = self._name(batch)
        if batch.undoes:
            return _("undo by %(who)s") % {"who": who}
        if batch.actor_kind == "job" and batch.run:
            return _("run %(run)s") % {"run": batch.run[:4]}
        if batch.proposal:
            return _("approved by %(who)s") % {"who": who}
        source = access.source_kind(batch.source)
        return source if source in {"chat", "telegram"} else who

    def _name(self, batch: Batch) -> str:
        return self.names.get(batch.actor, batch.actor) if batch.actor_kind == "token" else batch.actor

    def _story(self, batch: Batch) -> tuple[Piece, ...]:
        if not self.is_open:
            return ()
        links = []
        if batch.proposal and self.may("proposals.view_proposal"):
            proposal = reverse("admin:proposals_proposal_review", args=[batch.proposal])
            links.append(Piece(_("See the proposal"), proposal))
        if batch.run in self.runs:
            links.append(Piece(_("See the run"), reverse("admin:runs_run_change", args=[self.runs[batch.run]])))
        if batch.undoes in self.undone:
            undone = reverse("admin:ledger_batch_change", args=[self.undone[batch.undoes]])
            links.append(Piece(_("See what it took back"), undone))
        may_undo = self.actor.may("decide" if batch.proposal else "write")
        whole = _("See the whole write or undo it") if may_undo else _("See the whole write")
        links.append(Piece(whole, reverse("admin:ledger_batch_change", args=[batch.pk])))
        told = Piece(self._sentence(batch))
        return (told, *(piece for link in links for piece in (Piece(" "), link)))

    def _sentence(self, batch: Batch) -> str:
        facts = {
            "who": self._name(batch),
            "when": moment(batch.created_at),
            "via": batch.via,
            "source": batch.source,
            "run": batch.run,
            "undoes": batch.undoes,
        }
        if batch.undoes:
            return _("Put back by an undo of the write %(undoes)s: %(who)s, %(when)s, through %(via)s.") % facts
        if batch.actor_kind == "job" and batch.run:
            told = _("Proposed by the run %(run)s and written without a person, %(when)s.") % facts
        elif batch.proposal and batch.run:
            told = _("Proposed by the run %(run)s, approved by %(who)s, %(when)s, through %(via)s.") % facts
        elif batch.proposal:
            told = _("Approved by %(who)s, %(when)s, through %(via)s.") % facts
        elif batch.source and batch.source != "web":
            told = _("Written by %(who)s (%(source)s), %(when)s, through %(via)s.") % facts
        else:
            told = _("Written by %(who)s, %(when)s, through %(via)s.") % facts
        # What an approval says when the reviewer gave no reason is in the sentence already.
        is_said = batch.reason in {"", f"Proposal {batch.proposal} approved"}
        return told if is_said else f"{told} {batch.reason}"

    def _story_of_outside(self) -> tuple[Piece, ...]:
        if not self.is_open:
            return ()
        told = _("Edited outside memoryhub, or brought by a write whose text is no longer kept: nobody is on record.")
        return (Piece(told),)


def _keys(model: type[Run] | type[Batch], ids: set[str]) -> dict[str, int]:
    """The primary keys of those rows that are there, by public id."""
    wanted = ids - {""}
    if not wanted:
        return {}
    rows = model._default_manager.filter(public_id__in=wanted)
    return dict(rows.values_list("public_id", "pk"))


def _kind(batch: Batch) -> str:
    """What sort of write it was, without a name."""
    if batch.undoes:
        return _("undo")
    if batch.actor_kind == "job":
        return _("a run")
    if batch.proposal:
        return _("approved")
    return _("a person") if batch.actor_kind == "staff" else _("an agent")
