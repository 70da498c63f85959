import re
from argparse import ArgumentParser
from typing import Any

from apps import access
from apps.agents import reading, services
from apps.console import Console
from apps.ledger import blame, present, queries
from apps.vault import layout

# A terminal obeys them; the words of a memory are only to be read.
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


class Command(Console):
    help = "What was written to memory, newest first, who brought each line, and taking a write back."

    def define(self, parser: ArgumentParser) -> None:
        verbs = self.verbs(
            parser,
            list="batches, newest first",
            blame="a file line by line, and the batch that brought each line",
            undo="take a batch back, keeping what came later",
        )
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
        verbs["blame"].add_argument("--agent", required=True, help="whose file")
        verbs["blame"].add_argument("--path", default=layout.MEMORY, help="the file (default: %(default)s)")
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

    def blame(self, options: dict[str, Any]) -> None:
        found = reading.blame(options["agent"], options["path"], actor=access.operator())
        told = {"scope": found.file.scope, "path": found.file.path, "sha256": found.file.sha256}
        rows = [blame.record(origin) for origin in found.origins]
        self.show({**told, "lines": rows}, *[self._blamed(row) for row in rows])

    def _blamed(self, row: dict[str, Any]) -> str:
        when = f"{row['at']:%Y-%m-%d %H:%M}" if row["batch"] else ""
        who = row["by"]["id"][:16] if row["batch"] else "outside" if row["outside"] else ""
        text = _CONTROLS.sub("\ufffd", row["text"])
        return f"{when:<16}  {who:<16}  {row['batch'] or '':<12}  {row['line']:>5}  {text}".rstrip()

    def undo(self, options: dict[str, Any]) -> None:
        made = services.undo(options["batch"], actor=access.operator())
        self.show(present.record(made), f"{options['batch']} is taken back by {made.public_id}.")
