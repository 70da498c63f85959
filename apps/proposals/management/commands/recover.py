from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from apps import access
from apps.console import BUSY, FAILED, Console
from apps.ledger import queries, recovery, services
from apps.proposals import services as proposals


class Command(Console):
    help = (
        "Finish writes that a dead process left, and list stuck ones. With --batch: resolve one that is stuck "
        "because somebody changed a file in the middle of it."
    )

    def define(self, parser: ArgumentParser) -> None:
        parser.add_argument("--batch", help="the stuck batch to resolve")
        ways = parser.add_mutually_exclusive_group()
        ways.add_argument("--keep-mine", dest="way", action="store_const", const="keep_mine", help="leave the files")
        ways.add_argument("--force", dest="way", action="store_const", const="force", help="write the rest")
        ways.add_argument("--undo", dest="way", action="store_const", const="undo", help="put back what can be")

    def run(self, options: dict[str, Any]) -> int | None:
        if bool(options["batch"]) != bool(options["way"]):
            raise CommandError("--batch goes with one of --keep-mine, --force, --undo.", returncode=2)
        if options["batch"]:
            batch = proposals.settle_stuck(options["batch"], options["way"], actor=access.operator())
            self.show({"batch": batch.public_id, "state": batch.state}, f"{batch.public_id} is {batch.state}.")
            return None
        return self._recover()

    def _recover(self) -> int:
        handled, failed = services.recover()
        stuck = [
            {
                "batch": batch.public_id,
                "scope": batch.scope,
                "files": [{"path": one.path, "standing": one.standing} for one in recovery.standings(batch)],
            }
            for batch in queries.open_batches()
            if batch.state == batch.State.STUCK
        ]
        self.show(
            {"finished": handled, "waiting": [error.message for error in failed], "stuck": stuck},
            *[f"finished {batch}" for batch in handled],
            *[f"waiting  {error.message}" for error in failed],
            *[
                f"stuck    {one['batch']} {one['scope']} "
                + ", ".join(f"{file['path']} ({file['standing']})" for file in one["files"])  # type: ignore[index]
                for one in stuck
            ],
            *([] if handled or failed or stuck else ["Nothing is unfinished."]),
        )
        return FAILED if stuck else BUSY if failed else 0
