"""Run a job in this process, as `manage.py run consolidate --now` does."""

from apps.jobs import execution
from apps.jobs.consolidate import SOURCE
from apps.runs.models import Run


def consolidate(agent_id: str, *, force: bool = False) -> Run:
    return execution.perform_now(agent_id, Run.Kind.CONSOLIDATE, source=SOURCE, force=force)
