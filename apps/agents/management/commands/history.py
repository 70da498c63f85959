from argparse import ArgumentParser
from typing import Any

from apps import access
from apps.agents import services
from apps.console import Console
from apps.ledger import present, queries


class Command(Console):
    help = "What was written to memory, newest first, and taking a write back."

    def define(self, parser: ArgumentParser) -> None:
        verbs = self.verbs(parser, list="batches, newest first", undo="take a batch back, keeping what came later")
        helps = {
            "scope": "an agent's id",
            "path": "a file, as MEMORY.md or memory/2026-09-19.md",
            "actor": "who wrote",
            "run": "the run it came from",
            "before": "a batch's id: what came before it",
        }
        for name, text in helps.items():
            verbs["list"].add_argument(f"--{name}", default="", help=text)
        verbs["list"].add_argument("--limit", type=self.number(1, 200), default=50, help="rows (default: %(default)s)")
        verbs["undo"].add_argument("batch")

    def list(self, options: dict[str, Any]) -> None:
        rows = queries.history(
            access.operator(),
            scope=options["scope"],
            path=options["path"],
            by=options["actor"],
            run=options["run"],
            before=options["before"],
            limit=options["limit"],
        )
        undone = queries.undone(row.public_id for row in rows)
        records = [present.record(row, undone.get(row.public_id)) for row in rows]
        self.show({"batches": records}, *[self._line(row) for row in records])

    def _line(self, row: dict[str, Any]) -> str:
        undone = f"  undone by {row['undone_by']}" if row["undone_by"] else ""
        when = f"{row['created_at']:%Y-%m-%d %H:%M}"
        where = f"{row['scope']:<16} {', '.join(change['path'] for change in row['changes'])}"
        return f"{row['id']}  {when}  {row['state']:<8} {where}  {row['actor']['id']}{undone}"

    def undo(self, options: dict[str, Any]) -> None:
        made = services.undo(options["batch"], actor=access.operator())
        self.show(present.record(made), f"{options['batch']} is taken back by {made.public_id}.")
