from argparse import ArgumentParser
from dataclasses import asdict
from typing import Any

from apps.console import FAILED, Console
from apps.jobs import doctor


class Command(Console):
    help = "Look for what would surprise you: a home that cannot be written, broken files, unfinished writes."

    def define(self, parser: ArgumentParser) -> None:
        """Nothing to choose."""

    def run(self, options: dict[str, Any]) -> int:
        findings = doctor.examine()
        self.show(
            {"findings": [asdict(finding) for finding in findings]},
            *[self._line(finding) for finding in findings],
            *([] if findings else ["All is well."]),
        )
        return FAILED if findings else 0

    def _line(self, finding: doctor.Finding) -> str:
        place = "/".join(filter(None, [finding.scope, finding.path])) + (f":{finding.line}" if finding.line else "")
        return f"{finding.check:<9} {place + '  ' if place else ''}{finding.message}"
