from argparse import ArgumentParser
from typing import Any

from apps.agents import queries, registry
from apps.agents.models import Agent
from apps.console import Console


def record(agent: Agent) -> dict[str, Any]:
    return {
        "id": agent.id,
        "name": agent.name,
        "directory": str(queries.directory(agent)),
        "zone": queries.zone(agent),
        "model": agent.model,
        "master": agent.is_master,
    }


class Command(Console):
    help = "The crew: add an agent, change it, list them, make rows for folders found under agents/."

    def define(self, parser: ArgumentParser) -> None:
        verbs = self.verbs(
            parser,
            add="make an agent and its memory/ folder",
            set="change what is given",
            archive="take an agent out of the crew; its files and history stay",
            sync="make rows for the master and every folder under agents/",
            list="the agents with their folders and zones",
        )
        for verb in ("add", "set"):
            verbs[verb].add_argument("id")
            verbs[verb].add_argument("--name")
            verbs[verb].add_argument("--directory", help="an existing workspace; empty: the usual place in the home")
            verbs[verb].add_argument("--zone", help="a time zone such as Asia/Ho_Chi_Minh; empty: the owner's")
            verbs[verb].add_argument("--model", help="models tried in order, by comma; empty: the site's")
        verbs["archive"].add_argument("id")

    def add(self, options: dict[str, Any]) -> None:
        fields = {name: options[name] or "" for name in ("name", "directory", "zone", "model")}
        self._tell(registry.add(options["id"], **fields))

    def set(self, options: dict[str, Any]) -> None:
        agent = registry.change(options["id"], **{name: options[name] for name in ("name", "zone", "model")})
        if options["directory"] is not None:
            agent = registry.move(options["id"], options["directory"])
        self._tell(agent)

    def archive(self, options: dict[str, Any]) -> None:
        registry.archive(options["id"])
        self.show({"archived": options["id"]}, f"{options['id']} left the crew; its files stay where they are.")

    def sync(self, options: dict[str, Any]) -> int:
        done = registry.sync()
        self.show(
            {"added": done.added, "present": done.present, "archived": done.archived, "refused": dict(done.refused)},
            *[f"added   {name}" for name in done.added],
            *[f"there   {name}" for name in done.present],
            *[f"archived {name}" for name in done.archived],
            *[f"refused {name}: {reason}" for name, reason in done.refused],
        )
        return 1 if done.refused else 0

    def list(self, options: dict[str, Any]) -> None:
        rows = [record(agent) for agent in queries.agents()]
        self.show({"agents": rows}, *[f"{row['id']:<24} {row['zone']:<24} {row['directory']}" for row in rows])

    def _tell(self, agent: Agent) -> None:
        row = record(agent)
        self.show(row, f"{row['id']}: {row['directory']}, {row['zone']}")
