from argparse import ArgumentParser
from typing import Any

from apps.agents import queries as agents
from apps.console import FAILED, Console
from apps.errors import MemoryHubError
from apps.jobs import consolidate
from apps.runs.models import Run


def record(run: Run) -> dict[str, Any]:
    return {
        "id": run.public_id,
        "kind": run.kind,
        "agent": run.agent_id,
        "state": run.state,
        "outcome": run.outcome,
        "summary": run.summary,
        "seconds": run.seconds,
        "model": run.model,
        "prompt_tokens": run.prompt_tokens,
        "completion_tokens": run.completion_tokens,
        "cost": run.cost,
        "notes_read": len(run.read),
        "notes_left_out": len(run.left_out),
    }


class Command(Console):
    help = "Run a job now, in this process: `run consolidate --agent X --now`."

    def define(self, parser: ArgumentParser) -> None:
        verbs = self.verbs(
            parser,
            consolidate="ask a model for a rewrite of an agent's memory; the answer waits for a person",
        )
        job = verbs["consolidate"]
        who = job.add_mutually_exclusive_group(required=True)
        who.add_argument("--agent", help="the agent's id")
        who.add_argument("--all", action="store_true", help="every agent of the crew, one after the other")
        job.add_argument("--now", action="store_true", required=True, help="in this process")
        job.add_argument("--force", action="store_true", help="ask even when nothing is newer than the memory")

    def consolidate(self, options: dict[str, Any]) -> int | None:
        if options["agent"]:
            run = consolidate.consolidate(options["agent"], force=options["force"])
            self.show(record(run), f"{run.agent_id}: {run.summary}")
            return None
        return self._all(options["force"])

    def _all(self, force: bool) -> int:
        done, failed = [], []
        for agent in agents.agents():
            try:
                run = consolidate.consolidate(agent.id, force=force)
            except MemoryHubError as error:
                failed.append({"agent": agent.id, "code": error.code, "message": error.message})
                if not self.as_json:
                    self.stderr.write(f"{agent.id}: {error.message}")
            else:
                done.append(record(run))
                if not self.as_json:
                    self.stdout.write(f"{run.agent_id}: {run.summary}")
        if self.as_json:
            self.show({"runs": done, "failed": failed})
        return FAILED if failed else 0
