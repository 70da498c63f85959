from argparse import ArgumentParser, BooleanOptionalAction
from decimal import Decimal, InvalidOperation
from typing import Any

from apps.agents import queries, registry
from apps.agents.models import Agent
from apps.console import Console
from apps.errors import Invalid


def record(agent: Agent) -> dict[str, Any]:
    return {
        "id": agent.id,
        "name": agent.name,
        "directory": str(queries.directory(agent)),
        "zone": queries.zone(agent),
        "model": agent.model,
        "master": agent.is_master,
        "autonomous": agent.autonomous,
        "cron": agent.cron,
        "budget_day": agent.budget_day,
        "budget_month": agent.budget_month,
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
            verbs[verb].add_argument(
                "--cron", help="its nights, in its zone, such as “10 3 * * *” for 03:10; empty: never"
            )
            verbs[verb].add_argument(
                "--autonomous",
                action=BooleanOptionalAction,
                help="write a rewrite that loses nothing and nobody need look at without a person",
            )
            for span in ("day", "month"):
                verbs[verb].add_argument(
                    f"--budget-{span}", metavar="DOLLARS", help=f"the most its runs may cost a {span}; empty: no budget"
                )
        verbs["archive"].add_argument("id")

    def add(self, options: dict[str, Any]) -> None:
        self._tell(registry.add(options["id"], directory=options["directory"] or "", **self._given(options)))

    def set(self, options: dict[str, Any]) -> None:
        agent = registry.change(options["id"], **self._given(options))
        if options["directory"] is not None:
            agent = registry.move(options["id"], options["directory"])
        self._tell(agent)

    def _given(self, options: dict[str, Any]) -> dict[str, Any]:
        """What was named on the command line; an empty budget is none."""
        given = {name: options[name] for name in registry.FIELDS if options[name] is not None}
        for name in ("budget_day", "budget_month"):
            if name in given:
                given[name] = self._dollars(name, given[name])
        return given

    def _dollars(self, name: str, text: str) -> Decimal | None:
        if not text.strip():
            return None
        try:
            return Decimal(text)
        except InvalidOperation as error:
            raise Invalid(f"“{text}” is no amount in dollars.", code="bad_value", field=name) from error

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
        self.show(
            {"agents": rows},
            *[f"{row['id']:<24} {row['zone']:<24} {row['cron'] or '-':<16} {row['directory']}" for row in rows],
        )

    def _tell(self, agent: Agent) -> None:
        row = record(agent)
        facts = [
            row["directory"],
            row["zone"],
            f"nights {row['cron']}" if row["cron"] else "no nights",
            "writes by itself what loses nothing" if row["autonomous"] else "everything waits for a person",
            f"model {row['model'] or 'of the site'}",
            *(f"${row[f'budget_{span}']:f} a {span}" for span in ("day", "month") if row[f"budget_{span}"] is not None),
        ]
        self.show(row, f"{row['id']}: {', '.join(facts)}")
