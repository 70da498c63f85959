import os
import secrets
import shutil
import time
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.management import call_command
from django.core.management.base import CommandError

from apps.agents import queries as agents
from apps.agents import registry
from apps.console import Console
from apps.errors import MemoryHubError
from apps.jobs import consolidate, execution
from apps.proposals import queries as proposals
from apps.runs.models import Run
from apps.vault import layout
from apps.web import serving

USER = "demo"
# The example memory counts as a week old, so that the notes copied beside it are newer (memory.md 6.2).
WEEK = 7 * 24 * 3600
# When the example's agents have their nights.
NIGHT = "10 3 * * *"


class Command(Console):
    help = "An example home with proposals waiting, a person who may decide them, and the site served until Ctrl-C."

    def define(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default="127.0.0.1")
        parser.add_argument("--port", type=int, default=8000)
        parser.add_argument("--example", default="bakery", help="a folder of fixtures/homes/")
        parser.add_argument("--no-serve", action="store_true", help="prepare everything, then stop")

    def run(self, options: dict[str, Any]) -> None:
        if os.environ.get("MEMORYHUB_HOME") is None:
            raise CommandError("Name a folder in MEMORYHUB_HOME; the demo never touches your own home.", returncode=2)
        serves = not options["no_serve"]
        if serves and not serving.is_free(options["host"], options["port"]):
            raise CommandError(f"Port {options['port']} is taken; choose another with PORT=….")
        is_new = self._copy(Path(settings.BASE_DIR) / "fixtures" / "homes" / options["example"])
        call_command("migrate", verbosity=0)
        registry.sync()
        crew = sorted(agents.agents(), key=lambda one: not one.is_master)
        for agent in crew if is_new else ():
            registry.change(agent.id, cron=NIGHT)
        told = [self._consolidated(agent.id) for agent in crew]
        password = self._person()
        address = f"http://{options['host']}:{options['port']}"
        waiting = proposals.waiting()
        self.show(
            {"address": address, "user": USER, "password": password, "waiting": waiting},
            *told,
            "",
            f"Sign in and decide what waits ({waiting}):" if waiting else "Nothing waits. Sign in and look around:",
            f"  address   {address}/",
            f"  user      {USER}",
            f"  password  {password}",
            f"  files     {settings.MEMORYHUB_HOME}",
            "",
            "Ctrl-C ends it; the next `make demo` goes on where you were.",
        )
        if serves:
            self.stdout.flush()
            serving.serve(options["host"], options["port"])

    def _consolidated(self, agent_id: str) -> str:
        """What came of the agent's consolidation; one that fails is told and does not stop the demo."""
        try:
            run = execution.perform_now(agent_id, Run.Kind.CONSOLIDATE, source=consolidate.SOURCE, asked_by=USER)
            return f"{agent_id}: {run.summary}"
        except MemoryHubError as error:
            return f"{agent_id}: {error.message}"

    def _copy(self, example: Path) -> bool:
        """Copy the example once, and say whether it was now; a home that was copied before goes on as it is.

        One that was made otherwise is refused.
        """
        home = agents.home()
        mark = home / layout.STATE / "demo"
        if not example.is_dir():
            raise CommandError(f"There is no example {example.name}.", returncode=2)
        if mark.exists():
            return False
        copying = mark.with_name("copying")
        if not copying.exists() and any(entry.name != layout.STATE for entry in home.iterdir()):
            raise CommandError(f"{home} holds something already; the demo never touches a home of yours.", returncode=2)
        copying.touch()
        shutil.copytree(example, home, dirs_exist_ok=True)
        old = time.time() - WEEK
        for memory in home.glob("**/MEMORY.md"):
            os.utime(memory, (old, old))
        copying.rename(mark)
        return True

    def _person(self) -> str:
        """A member of staff who may do everything, and the password, which stays the same from demo to demo."""
        kept = agents.home() / ".memoryhub" / "demo_password"
        if not kept.exists():
            kept.touch(mode=0o600)
            kept.write_text(secrets.token_urlsafe(9))
        password = kept.read_text()
        users = get_user_model().objects
        person = users.filter(username=USER).first() or users.create_superuser(USER)
        if not person.check_password(password):
            person.set_password(password)
            person.save()
        return password
