from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError

from apps.console import Console
from apps.web import serving


class Command(Console):
    help = "Serve the site and work off the queue, until Ctrl-C. Bigger places run uvicorn and `worker` as services."

    def define(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default="127.0.0.1")
        parser.add_argument("--port", type=self.number(1, 65_535), default=8000)
        parser.add_argument("--no-worker", action="store_true", help="the site alone; a worker runs elsewhere")

    def run(self, options: dict[str, Any]) -> None:
        if not serving.is_free(options["host"], options["port"]):
            raise CommandError(f"Port {options['port']} is taken; choose another with --port.")
        address = f"http://{options['host']}:{options['port']}"
        self.show(
            {"address": address, "home": str(settings.MEMORYHUB_HOME)},
            f"{address}/ serves {settings.MEMORYHUB_HOME}. Ctrl-C ends it.",
        )
        self.stdout.flush()
        serving.serve(options["host"], options["port"], worker=not options["no_worker"])
