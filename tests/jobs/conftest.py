"""An agent with notes, and a model whose answers the test writes."""

import json
import os
from dataclasses import dataclass, field

import pytest
from django.core.management import CommandError, call_command

from apps.errors import ModelFailed
from apps.llm import client


@dataclass
class Recorded:
    """Answers in the order they will be given, and the tasks that were asked."""

    answers: list = field(default_factory=list)
    asked: list = field(default_factory=list)

    def __call__(self, task, *, route):
        self.asked.append(task)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def will_say(self, text: str, *, finish_reason: str = "stop") -> None:
        self.answers.append(client.Answer(text, "recorded", "recorded-1", finish_reason, 900, 100, None, 0.5))

    def will_fail(self, code: str = "provider_error") -> None:
        self.answers.append(ModelFailed("The provider said no.", code=code))


@pytest.fixture
def model(monkeypatch) -> Recorded:
    """The one seam: whatever asks a model asks this one."""
    recorded = Recorded()
    monkeypatch.setattr(client, "ask", recorded)
    return recorded


@pytest.fixture
def notes(scope):
    """Write notes of `coach`: `notes({"2026-09-19": "- text"})`; they are newer than MEMORY.md."""

    def write(texts: dict[str, str]) -> None:
        for day, text in texts.items():
            (scope.root / "memory" / f"{day}.md").write_text(text)

    return write


@pytest.fixture
def memory(scope):
    """MEMORY.md of `coach`, older than any note."""
    file = scope.root / "MEMORY.md"
    file.write_text("# Memory\n\n- one (2026-01-05)\n- two\n")
    os.utime(file, (1, 1))
    return file


@pytest.fixture
def run(capsys):
    """Call a command; returns exit code and what it printed, as JSON when asked for."""

    def call(*words: str):
        code = 0
        try:
            call_command(*words)
        except SystemExit as error:
            code = error.code
        except CommandError as error:
            return error.returncode, str(error)
        text = capsys.readouterr().out
        return code, json.loads(text) if "--json" in words else text

    return call
