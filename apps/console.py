"""What every command shares: verbs, `--json`, exit codes, and errors as one sentence.

Exit 0 fine, 1 findings or failure, 2 usage, 75 busy (the code sysexits.h has for "try again").
"""

import json
import os
import sys
from abc import abstractmethod
from argparse import SUPPRESS, ArgumentParser, ArgumentTypeError
from collections.abc import Callable
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.core.serializers.json import DjangoJSONEncoder
from django.db import OperationalError, ProgrammingError

from apps.errors import Busy, MemoryHubError
from apps.ledger import database

FAILED, USAGE, BUSY = 1, 2, 75


class Console(BaseCommand):
    """A command, perhaps made of verbs: a method named like the verb takes the options and returns an exit code."""

    as_json = False

    def add_arguments(self, parser: ArgumentParser) -> None:
        self._take_json(parser)
        self.define(parser)

    @abstractmethod
    def define(self, parser: ArgumentParser) -> None:
        """Add the command's own verbs and arguments."""

    def verbs(self, parser: ArgumentParser, **helps: str) -> dict[str, ArgumentParser]:
        """One sub-parser a verb, each with its help and `--json`."""
        group = parser.add_subparsers(dest="verb", required=True, metavar="verb")
        made = {}
        for verb, text in helps.items():
            made[verb] = group.add_parser(verb, help=text, description=text)
            self._take_json(made[verb], default=SUPPRESS)
        return made

    def _take_json(self, parser: ArgumentParser, **extra: Any) -> None:
        parser.add_argument("--json", action="store_true", help="print one JSON document instead of text", **extra)

    def handle(self, *args: Any, **options: Any) -> None:
        self.as_json = options["json"]
        for name, value in options.items():
            if isinstance(value, str) and any(0xD800 <= ord(letter) <= 0xDFFF for letter in value):
                raise CommandError(f"--{name} is not UTF-8.", returncode=USAGE)
        try:
            code = self._method(options.get("verb") or "run")(options)
        except MemoryHubError as error:
            self._refuse(error)
        except (OperationalError, ProgrammingError) as error:
            self._refuse(database.told(OperationalError(str(error))))
        if code:
            sys.exit(code)

    def execute(self, *args: Any, **options: Any) -> str | None:
        """As Django does it; whoever reads no further (`| head`) is no error."""
        try:
            output = super().execute(*args, **options)
            sys.stdout.flush()
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return None
        return output

    def _method(self, verb: str) -> Callable[[dict[str, Any]], int | None]:
        """The method of a verb; `show` is taken by the printing, so that verb's is `show_one`."""
        method: Callable[[dict[str, Any]], int | None] = getattr(self, "show_one" if verb == "show" else verb)
        return method

    def _refuse(self, error: MemoryHubError) -> None:
        code = BUSY if isinstance(error, Busy) or error.code == "busy_run" else FAILED
        if not self.as_json:
            raise CommandError(error.message, returncode=code) from error
        self.show({"error": {"code": error.code, "message": error.message, "details": error.details}})
        sys.exit(code)

    @staticmethod
    def number(least: int, most: int | None = None) -> Callable[[str], int]:
        """An argument type: a whole number within these bounds, else a usage error (exit 2)."""

        def parse(text: str) -> int:
            value = int(text)
            if value < least or (most is not None and value > most):
                raise ArgumentTypeError(f"must be {least} or more" + (f", at most {most}" if most else ""))
            return value

        parse.__name__ = "whole number"
        return parse

    def show(self, value: Any, *lines: str) -> None:
        """Print the value as JSON when asked to, the lines otherwise."""
        if self.as_json:
            self.stdout.write(json.dumps(value, cls=DjangoJSONEncoder, ensure_ascii=False, indent=2))
        else:
            for line in lines:
                self.stdout.write(line)
