"""“Consolidate now” on the pages: who may ask, what is said beside the button, and the request itself."""

from dataclasses import dataclass

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext as _

from apps.access import Actor
from apps.agents import queries as agents
from apps.errors import MemoryHubError, NotFound
from apps.jobs import requests
from apps.runs import queries as runs
from apps.runs.models import Run
from apps.vault import layout
from apps.web import trail


@dataclass(frozen=True)
class Offer:
    """The form beside a memory: where it leads, what may come of it, and the run that is open already (`open_url`)."""

    url: str
    hint: str
    is_open: bool
    open_url: str


def offer(request: HttpRequest, actor: Actor, scope_id: str, path: str) -> Offer | None:
    """What stands on the page of an agent's MEMORY.md; None on other files and for whoever may not propose."""
    if path.lower() != layout.MEMORY.lower() or not actor.may("propose", scope_id):
        return None
    try:
        agent = agents.agent(scope_id)
    except NotFound:
        return None
    standing = runs.open_run(scope_id)
    hint = (
        _("What loses nothing and nobody need look at is written by itself; anything else waits for a person.")
        if agent.autonomous
        else _("Nothing is written before somebody approves it.")
    )
    return Offer(url(scope_id, actor), hint, standing is not None, _url(request, standing) if standing else "")


def anyway(run: Run, actor: Actor) -> str:
    """Where to have a model asked although nothing was newer; empty for any other run, and for whoever may not."""
    return again(run, actor) if run.outcome == "nothing_newer" else ""


def again(run: Run, actor: Actor) -> str:
    """Where to ask for another run of the same agent; empty for whoever may not, or when one is open already."""
    return "" if runs.open_run(run.agent_id) else url(run.agent_id, actor)


def url(agent_id: str, actor: Actor) -> str:
    """Where to ask for a run of this agent; empty for whoever may not."""
    return reverse("web:consolidate", args=[agent_id]) if actor.may("propose", agent_id) else ""


def ask(request: HttpRequest, actor: Actor, agent_id: str) -> HttpResponse:
    """Queue a consolidation and lead to its run, or to the one that is open already; whoever may see no run goes back.

    Raises Http404 for an agent that is not there.
    """
    run: Run | None
    try:
        run = requests.consolidate(agent_id, actor=actor, force=request.POST.get("force") == "yes")
    except NotFound as error:
        raise Http404 from error
    except MemoryHubError as error:
        run = _standing(error)
        told = error.message if run else _("Nothing was asked for. %(why)s") % {"why": error.message}
        messages.add_message(request, messages.INFO if run else messages.ERROR, told)
    else:
        if not request.user.has_perm("runs.view_run"):
            messages.info(request, _("Asked for. What comes of it stands here, or waits among the proposals."))
    address = _url(request, run) if run else ""
    return HttpResponseRedirect(address or reverse("web:file", args=[agent_id, layout.MEMORY]))


def _standing(error: MemoryHubError) -> Run | None:
    """The run that a refusal names because it is open already."""
    try:
        return runs.run(str(error.details.get("run", ""))) if error.code == "busy_run" else None
    except NotFound:
        return None


def _url(request: HttpRequest, run: Run) -> str:
    return trail.run_url(run) if request.user.has_perm("runs.view_run") else ""
