from argparse import ArgumentParser
from typing import Any

from apps import access
from apps.agents import queries as agents
from apps.console import BUSY, FAILED, Console
from apps.errors import MemoryHubError
from apps.jobs import consolidate, execution, requests
from apps.runs import present
from apps.runs.models import Run


class Command(Console):
    help = "Ask for a job: `run consolidate --agent X` queues it for a worker, `--now` does it in this process."

    def define(self, parser: ArgumentParser) -> None:
        verbs = self.verbs(
            parser,
            consolidate="ask a model for a rewrite of an agent's memory; the answer waits for a person",
            estimate="what a consolidation would take if it were asked now: notes, characters, tokens, price",
        )
        job = verbs["consolidate"]
        who = job.add_mutually_exclusive_group(required=True)
        who.add_argument("--agent", help="the agent's id")
        who.add_argument("--all", action="store_true", help="every agent of the crew")
        job.add_argument("--now", action="store_true", help="in this process; without it a worker does it")
        job.add_argument("--force", action="store_true", help="ask even when nothing is newer than the memory")
        verbs["estimate"].add_argument("--agent", required=True, help="the agent's id")

    def consolidate(self, options: dict[str, Any]) -> int | None:
        if options["agent"]:
            run = self._one(options["agent"], options)
            self.show(present.record(run), self._told(run))
            return None
        return self._all(options)

    def _one(self, agent_id: str, options: dict[str, Any]) -> Run:
        actor, force = access.operator(), options["force"]
        if not options["now"]:
            return requests.consolidate(agent_id, actor=actor, force=force)
        agents.agent(agent_id)
        return execution.perform_now(
            agent_id, Run.Kind.CONSOLIDATE, source=consolidate.SOURCE, asked_by=actor.id, force=force
        )

    def _told(self, run: Run) -> str:
        if run.state == Run.State.QUEUED:
            return f"{run.agent_id}: run {run.public_id} is queued for a worker."
        return f"{run.agent_id}: {run.summary}"

    def _all(self, options: dict[str, Any]) -> int:
        done, failed = [], []
        for agent in agents.agents():
            try:
                run = self._one(agent.id, options)
            except MemoryHubError as error:
                failed.append({"agent": agent.id, "code": error.code, "message": error.message})
                if not self.as_json:
                    self.stderr.write(f"{agent.id}: {error.message}")
            else:
                done.append(present.record(run))
                if not self.as_json:
                    self.stdout.write(self._told(run))
        if self.as_json:
            self.show({"runs": done, "failed": failed})
        if not failed:
            return 0
        return BUSY if all(one["code"] == "busy_run" for one in failed) else FAILED

    def estimate(self, options: dict[str, Any]) -> None:
        expected = consolidate.preview(options["agent"])
        if expected is None:
            self.show({"estimate": None}, "Nothing is newer than the memory; no model would be asked.")
            return
        stored = expected.stored()
        price = "unknown" if stored["cost"] is None else f"about ${stored['cost']}"
        self.show(
            {"estimate": stored},
            f"{expected.notes} notes, {expected.characters:,} characters; about {expected.prompt_tokens:,} tokens to "
            f"send and {expected.completion_tokens:,} for the longest answer; price {price}.",
        )
