"""Reading runs."""

from collections.abc import Iterable

from apps.errors import NotFound
from apps.runs.models import Run


def run(run_id: str) -> Run:
    """The run with this public id, or NotFound."""
    found = Run.objects.filter(public_id=run_id).first()
    if found is None:
        raise NotFound(f"There is no run {run_id}.")
    return found


def answered(agent_id: str, kind: str) -> list[Run]:
    """Runs of the agent in which a model answered, oldest first."""
    return list(Run.objects.filter(agent_id=agent_id, kind=kind, answered=True).order_by("id"))


def latest(agent_ids: Iterable[str], limit: int = 20) -> list[Run]:
    return list(Run.objects.filter(agent_id__in=list(agent_ids)).order_by("-id")[:limit])
