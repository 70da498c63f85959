"""What came of a run, in words: for its page, the list of runs and the home page."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.urls import reverse
from django.utils import timezone
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.agents.models import Agent
from apps.jobs import nightly
from apps.ledger.present import Piece
from apps.proposals import sentences
from apps.proposals.models import Proposal
from apps.runs.models import Run
from apps.runs.services import MOST_ATTEMPTS
from apps.vault import layout
from apps.web import night

OPEN = frozenset({Run.State.QUEUED, Run.State.RUNNING})
# Ended without what it was for.
FAILED = frozenset({Run.State.FAILED, Run.State.LOST, Run.State.REFUSED})

# How a run ended that made no proposal, by its outcome; to stand after the agent's name.
_ENDED = {
    "nothing_newer": gettext_lazy("nothing is newer than the memory; no model was asked"),
    "unchanged": gettext_lazy("nothing to change"),
    "provider_error": gettext_lazy("no answer from a model"),
    "bad_answer": gettext_lazy("the answer was no memory"),
    "truncated": gettext_lazy("the answer was cut off"),
    "over_budget": gettext_lazy("over budget"),
    "price_unknown": gettext_lazy("its price is unknown"),
    "unknown_model": gettext_lazy("the model is not known"),
    "bad_encoding": gettext_lazy("MEMORY.md is not plain UTF-8"),
    "memory_too_large": gettext_lazy("MEMORY.md is too long"),
    "open_fence": gettext_lazy("a code block of MEMORY.md is not closed"),
    "busy": gettext_lazy("something else was being written"),
    "disk_full": gettext_lazy("the disk is full"),
    "not_permitted": gettext_lazy("a file may not be read or written"),
    "root_missing": gettext_lazy("its folder is not there"),
    "not_found": gettext_lazy("the agent is gone"),
    "lost": gettext_lazy("its worker ended"),
    "crashed": gettext_lazy("an error nobody foresaw"),
}

# What somebody can do about it, where the error does not say so itself.
_REMEDIES = {
    "provider_error": gettext_lazy(
        "Check the model's name, address and key. A second model in MEMORYHUB_MODEL is asked when the first is silent."
    ),
    "bad_answer": gettext_lazy("If it happens again, choose another model for this agent."),
    "truncated": gettext_lazy("Raise MEMORYHUB_MODEL_OUTPUT_TOKENS, or choose another model for this agent."),
    "over_budget": gettext_lazy("To have it sooner, raise the budget."),
    "unknown_model": gettext_lazy("Change the agent's model, or MEMORYHUB_MODEL."),
    "disk_full": gettext_lazy("Make room on the disk."),
    "not_permitted": gettext_lazy("Let the worker's user read and write the agent's folder."),
    "root_missing": gettext_lazy("Mount or make the folder, or choose another for the agent."),
    "crashed": gettext_lazy("The worker's log has the whole error under the number of this run."),
}

# The errors about a place in the memory name its line in their sentence.
_ABOUT_A_LINE = frozenset({"bad_encoding", "open_fence"})
_LINE = re.compile(r"\bline (\d+)")

# Runs looked through for what followed a failed one; a night that made it good is seldom far.
_LATER = 500


def what(run: Run, proposed: Proposal | None) -> str:
    """What came of it in a few words, to stand after the agent's name: “adds 4, removes 1”, “over budget”."""
    if run.state == Run.State.QUEUED:
        return _("waits for a worker")
    if run.state == Run.State.RUNNING:
        return _("is under way")
    if proposed is not None:
        return sentences.changes(proposed.analysis.get("counts", {}))
    return str(_ENDED.get(run.outcome, "")) or (_("nothing proposed") if run.state == Run.State.DONE else state(run))


def state(run: Run) -> str:
    return str(capfirst(run.get_state_display()))


def why(run: Run) -> str:
    """Why it did not do what it was for, as one or two sentences; empty for a run that did, or is still open."""
    if run.state not in FAILED:
        return ""
    if run.state == Run.State.LOST:
        return _("The worker that ran it ended before it did.")
    return run.error or run.summary


def remedy(run: Run) -> str:
    return str(_REMEDIES.get(run.outcome, "")) if run.state in FAILED else ""


def place(run: Run) -> Piece | None:
    """The line of the memory that stood in the way, with its address."""
    line = _LINE.search(run.error) if run.outcome in _ABOUT_A_LINE else None
    if line is None:
        return None
    label = _("%(file)s, line %(line)s") % {"file": layout.MEMORY, "line": line[1]}
    address = reverse("web:file", args=[run.agent_id, layout.MEMORY])
    return Piece(label, f"{address}?line={line[1]}#L{line[1]}")


@dataclass(frozen=True)
class Next:
    """What follows a run that failed: another attempt, a later run, the next night; `run` is the one that is there."""

    told: str
    run: Run | None = None


class Following:
    """What follows each of some failed runs, found in a few queries for all of them."""

    def __init__(self, rows: Iterable[Run], crew: list[Agent], now: datetime | None = None) -> None:
        failed = [run for run in rows if run.state in FAILED]
        agents = {run.agent_id for run in failed}
        later = Run.objects.filter(agent_id__in=agents, pk__gt=min((run.pk for run in failed), default=0))
        self._later = list(later.order_by("id")[:_LATER]) if failed else []
        self._crew = {agent.pk for agent in crew}
        self._now = now or timezone.now()
        wanted = [agent for agent in crew if agent.pk in agents]
        self._nights = {one.agent_id: one for one in nightly.upcoming(wanted, self._now)}

    def of(self, run: Run) -> Next:
        again = next((one for one in self._later if one.retry_of == run.public_id), None)
        if again is not None:
            return Next(_attempt(again), again)
        later = [one for one in self._later if (one.agent_id, one.kind) == (run.agent_id, run.kind) and one.pk > run.pk]
        went = next((one for one in later if one.state == Run.State.DONE), None)
        if went is not None:
            return Next(_("A later run read the same notes."), went)
        standing = next((one for one in later if one.state in OPEN), None)
        if standing is not None:
            return Next(_("Another run is queued or under way."), standing)
        coming = self._nights.get(run.agent_id)
        if coming is not None:
            return Next(_("It tries again %(when)s.") % {"when": night.when(coming.at, self._now)})
        return Next(_("The next run reads the same notes.") if run.agent_id in self._crew else "")


def _attempt(again: Run) -> str:
    facts = {"n": again.attempt, "most": MOST_ATTEMPTS}
    if again.state == Run.State.QUEUED:
        return _("Attempt %(n)d of %(most)d is queued.") % facts
    if again.state == Run.State.RUNNING:
        return _("Attempt %(n)d of %(most)d is under way.") % facts
    return _("Attempt %(n)d of %(most)d came after it.") % facts
