"""Ask for a run on somebody's behalf: what doors call."""

from apps import access
from apps.access import Actor
from apps.agents import queries as agents
from apps.jobs import bell
from apps.jobs.consolidate import SOURCE
from apps.runs import services as runs
from apps.runs.models import Run


def consolidate(agent_id: str, *, actor: Actor, force: bool = False) -> Run:
    """Queue a consolidation and ring for a worker; the rewrite it makes waits for a person like any other.

    It takes the right to propose. NotFound for an agent the actor may not see,
    Conflict `busy_run` while a run of the agent is queued or under way.
    """
    access.require(actor, "propose", scope=agent_id)
    agents.agent(agent_id)
    run = runs.queue(agent_id, Run.Kind.CONSOLIDATE, source=SOURCE, asked_by=actor.id, force=force)
    bell.ring()
    return run
