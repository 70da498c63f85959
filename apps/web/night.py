"""What the home page says of nights: when the next one begins, and what keeps it from beginning."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from django.conf import settings
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.agents.models import Agent
from apps.jobs import doctor, nightly
from apps.ledger.present import moment
from apps.runs import queries

# Hours of the clock that people call night.
_EVENING, _MORNING = 20, 6


def coming(crew: Sequence[Agent], now: datetime | None = None) -> str:
    """“The next night begins tonight at 03:10 (kira).” Empty when no agent has nights."""
    now = now or timezone.now()
    nights = nightly.upcoming(list(crew), now)
    if not nights:
        return ""
    first = nights[0].at
    names = ", ".join(night.agent_id for night in nights if night.at == first)
    if first <= now:
        return _("The night of %(agents)s begins now.") % {"agents": names}
    return _("The next night begins %(when)s (%(agents)s).") % {"agents": names, "when": when(first, now)}


def when(at: datetime, now: datetime) -> str:
    """“tonight at 03:10”, as somebody in that zone would say it; a zone that is not the site's is named."""
    if at <= now:
        return _("now")
    zone = getattr(at.tzinfo, "key", settings.TIME_ZONE)
    facts = {"day": _day(at, now), "time": date_format(at, "H:i"), "zone": zone}
    return (_("%(day)s at %(time)s") if zone == settings.TIME_ZONE else _("%(day)s at %(time)s in %(zone)s")) % facts


def _day(at: datetime, now: datetime) -> str:
    days = (at.date() - now.astimezone(at.tzinfo).date()).days
    if not _MORNING <= at.hour < _EVENING and at - now < timedelta(hours=24) and (days < 1 or at.hour < _MORNING):
        return _("tonight")
    if days < 2:
        return _("tomorrow") if days else _("today")
    return date_format(at, "j M")


def trouble(crew: Sequence[Agent], now: datetime | None = None) -> str:
    """One line when something is to be done and no worker was seen lately; empty otherwise."""
    now = now or timezone.now()
    waiting, seen = queries.queued(), queries.last_pulse()
    if not _unseen(seen, now) or not (waiting or any(agent.cron for agent in crew)):
        return ""
    told = _("No worker was ever seen.") if seen is None else _("No worker since %(when)s.") % {"when": moment(seen)}
    if waiting:
        n = len(waiting)
        told += " " + ngettext("%(n)d run waits for it.", "%(n)d runs wait for it.", n) % {"n": n}
    return told + " " + _("Until one is there no night begins.")


def slow(now: datetime | None = None) -> str:
    """One line when a worker does its rounds and runs wait all the same, longer than they should; empty otherwise."""
    now = now or timezone.now()
    old = [run for run in queries.queued() if now - run.created_at > timedelta(minutes=doctor.UNSEEN_MINUTES)]
    if not old or _unseen(queries.last_pulse(), now):
        return ""
    facts = {"n": len(old), "agent": old[0].agent_id, "when": moment(old[0].created_at)}
    told = ngettext(
        "The run of %(agent)s has waited since %(when)s.",
        "%(n)d runs wait, that of %(agent)s since %(when)s.",
        len(old),
    )
    busy = ", ".join(run.agent_id for run in queries.running())
    return told % facts + (" " + _("Under way: %(agents)s.") % {"agents": busy} if busy else "")


def _unseen(seen: datetime | None, now: datetime) -> bool:
    return seen is None or now - seen >= timedelta(minutes=doctor.UNSEEN_MINUTES)
