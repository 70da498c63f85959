"""The lines of the home page: what waits, what the last night did, and what ran besides."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.timezone import localtime
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.access import Actor
from apps.agents.models import Agent
from apps.ledger.models import Batch
from apps.ledger.present import Piece, moment
from apps.proposals import present, sentences
from apps.proposals.models import Proposal
from apps.runs import queries as runs
from apps.runs.models import Run
from apps.web import consolidating, outcomes, spending, trail

# Rows of a list on the home page, and of the night's, which must show every failure; the list of runs is one link away.
ROWS, NIGHT_ROWS = 8, 40
# Runs looked through for the latest night.
_LOOKED_THROUGH = 120
# Nights are a day apart; whatever began in the hours before the newest run of a night belongs to the same one.
_NIGHT = timedelta(hours=20)
# A night that began longer ago than this is not the last one any more, and is called by its date.
_LAST = timedelta(hours=30)


@dataclass(frozen=True)
class Section:
    """A list of runs with its heading."""

    key: str
    title: str
    hint: str
    lines: list[dict[str, Any]]


def waiting_line(one: Proposal) -> dict[str, Any]:
    return {
        "first": moment(one.created_at),
        "agent": one.agent_id,
        "what": sentences.changes(one.analysis.get("counts", {})),
        "checks": sentences.checks(one.analysis),
        "url": present.url(one),
    }


def sections(request: HttpRequest, actor: Actor, crew: list[Agent], now: datetime | None = None) -> list[Section]:
    """The latest night's runs, in its order, then other recent ones, newest first; none when nothing ran yet."""
    now = now or timezone.now()
    latest = runs.latest([agent.pk for agent in crew], _LOOKED_THROUGH)
    night = sorted(_latest_night(latest), key=lambda run: run.pk)
    others = [run for run in latest if run not in night][: ROWS * 5]
    lines = Lines(request, actor, crew, [*night, *others], now)
    found = []
    if night:
        newest = night[-1].created_at
        title = _("Last night")
        if now - newest > _LAST:
            title = _("The night of %(day)s") % {"day": date_format(localtime(newest), "j M")}
        found.append(Section("night", title, lines.together(night), lines.told(night, NIGHT_ROWS, clock=True)))
    if others:
        title = _("Other recent runs") if night else _("Last runs")
        found.append(Section("others", title, "", lines.told(others, ROWS)))
    return found


def _latest_night(latest: Sequence[Run]) -> list[Run]:
    """The runs of the newest night: of each agent those of its own latest date, retries among them."""
    nightly = [run for run in latest if run.source.startswith("job:")]
    if not nightly:
        return []
    dates: dict[str, Any] = {}
    for run in nightly:  # the newest first
        if run.local_date:
            dates.setdefault(run.agent_id, run.local_date)
    began = nightly[0].created_at - _NIGHT
    return [run for run in nightly if run.created_at >= began and run.local_date in {None, dates.get(run.agent_id)}]


class Lines:
    """Runs as lines of a page; what no run knows by itself is asked for once, for all of them."""

    def __init__(
        self, request: HttpRequest, actor: Actor, crew: list[Agent], rows: Sequence[Run], now: datetime
    ) -> None:
        self._request, self._actor = request, actor
        self._proposed = trail.proposals_of(rows)
        self._standing = trail.standing(self._proposed.values())
        self._prices = spending.prices(rows)
        self._following = outcomes.Following(rows, crew, now)
        self._may_open = request.user.has_perm("runs.view_run")
        self._busy = {run.agent_id for run in rows if run.state in outcomes.OPEN}
        self._batches = self._batch_urls()

    def _batch_urls(self) -> dict[str, str]:
        if not self._request.user.has_perm("ledger.view_batch"):
            return {}
        rows = Batch.objects.filter(public_id__in=[one.batch for one in self._proposed.values() if one.batch])
        keys = rows.values_list("public_id", "pk")
        return {public: reverse("admin:ledger_batch_change", args=[pk]) for public, pk in keys}

    def together(self, rows: Sequence[Run]) -> str:
        """“4 runs, $0.049 together”; without a price when nothing was paid for, or nobody knows all of it."""
        told = ngettext("%(n)d run", "%(n)d runs", len(rows)) % {"n": len(rows)}
        known = sum((run.cost or Decimal(0) for run in rows), Decimal(0))
        if not known:
            return told
        facts = {"runs": told, "dollars": sentences.dollars(known)}
        whole = not any(self._prices.get(run.pk, "") and run.cost is None for run in rows)
        return (_("%(runs)s, %(dollars)s together") if whole else _("%(runs)s, %(dollars)s known together")) % facts

    def told(self, rows: Sequence[Run], most: int, *, clock: bool = False) -> list[dict[str, Any]]:
        """One line a run; those that found nothing to read are told together, at the end."""
        idle = [run for run in rows if run.outcome == "nothing_newer"]
        shown = [run for run in rows if len(idle) < 2 or run not in idle]
        told = [self._line(run, clock=clock) for run in shown[:most]]
        if len(idle) > 1:
            facts = {"n": len(idle), "agents": ", ".join(sorted({run.agent_id for run in idle}))}
            what = _("%(n)d runs found nothing newer than the memory: %(agents)s.") % facts
            told.append({"first": _first(idle[0], clock=clock), "quiet": True, "what": what})
        return told

    def _line(self, run: Run, *, clock: bool) -> dict[str, Any]:
        proposal, failed = self._proposed.get(run.public_id), run.state in outcomes.FAILED
        line: dict[str, Any] = {
            "first": _first(run, clock=clock),
            "agent": run.agent_id,
            "failed": failed,
            "what": outcomes.what(run, proposal),
            "detail": " ".join(self._details(run, proposal)),
            "links": [],
            "state": "failed" if failed else "waiting" if run.state in outcomes.OPEN else "done",
            "state_word": outcomes.state(run),
            "aside": self._aside(run),
            "url": trail.run_url(run) if self._may_open else "",
        }
        if proposal is not None and not failed:
            line["state"], line["state_word"] = self._standing[proposal.public_id]
            line["url"] = trail.proposal_link(self._request, proposal)
            if address := self._batches.get(proposal.batch):
                line["links"].append(Piece(_("What was written"), address))
        elif failed and run.agent_id not in self._busy and self._following.of(run).run is None:
            line["again_url"] = consolidating.url(run.agent_id, self._actor)
        return line

    def _details(self, run: Run, proposal: Proposal | None) -> Iterable[str]:
        if run.state in outcomes.FAILED:
            yield outcomes.why(run)
            if proposal is None:
                yield _("Nothing was proposed and nothing was written.")
            yield self._following.of(run).told
            return
        if why := present.held(run):
            yield _("Held for you: %(why)s.") % {"why": why}
        if run.outcome == "overtaken":
            yield _("The memory was written during the run, so this is stale. Nothing was written.")
        if run.read and run.state == Run.State.DONE:
            yield ngettext("%(n)d note read.", "%(n)d notes read.", len(run.read)) % {"n": len(run.read)}
        if run.left_out:
            n = len(run.left_out)
            yield ngettext("%(n)d is left for a later run.", "%(n)d are left for a later run.", n) % {"n": n}

    def _aside(self, run: Run) -> str:
        told = [] if run.seconds is None else [_("took %(seconds)s") % {"seconds": sentences.duration(run.seconds)}]
        price = self._prices.get(run.pk, "")
        if price == sentences.price(None):
            told.append(_("price unknown"))
        elif price and price != sentences.price(Decimal(0)):
            told.append(price)
        return ", ".join(told)


def _first(run: Run, *, clock: bool) -> str:
    at = run.started_at or run.created_at
    return date_format(localtime(at), "TIME_FORMAT") if clock else moment(run.created_at)
