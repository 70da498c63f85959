"""Names that lead out of the memory folder, and links inside it, through the doors."""

import json
import os
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from django.test import Client

from apps.agents import queries, registry
from apps.errors import Invalid
from apps.vault.layout import Scope
from tests.journeys import scenes

pytestmark = pytest.mark.django_db(transaction=True)

SECRET = b"- a secret of somebody else\n"


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A folder that is none of memoryhub's business, with everything an agent's folder has."""
    folder = tmp_path.resolve() / "elsewhere"
    for path in ("MEMORY.md", "memory/2026-09-19.md", "2026-09-19.md"):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(SECRET)
    return folder


@pytest.fixture
def call(token: str) -> Any:
    """Call the API; the status and the parsed answer."""
    client = Client(headers={"Authorization": f"Bearer {token}"})

    def calling(method: str, path: str, body: Any = None) -> tuple[int, Any]:
        response = client.generic(
            method, path, json.dumps(body) if body is not None else "", content_type="application/json"
        )
        return response.status_code, json.loads(response.content) if response.content else None

    return calling


@pytest.mark.parametrize(
    "name",
    [
        "../../etc/passwd",
        "/etc/passwd",
        "a/../../b",
        "..%2f..%2fb",
        "..\\b",
        "notes\x00",
        "..",
        ".",
        "../MEMORY",
        "2026-09-19/../../../x",
        "2026-09-19\n",
        "２０２６-09-19",
        "2026-09-19.md",
    ],
)
def test_a_note_whose_name_leads_out_is_neither_read_nor_written(
    scope: Scope, home: Path, call: Any, name: str
) -> None:
    before = scenes.contents(home)
    for quoted in {quote(name, safe=""), quote(name)}:
        address = f"/api/agents/coach/memory/notes/{quoted}"
        for method, body in (("GET", None), ("PUT", {"body": "x"}), ("DELETE", None)):
            status, answer = call(method, address, body)
            assert status in {404, 405, 422}, (method, quoted, answer)
            assert "passwd" not in json.dumps(answer.get("error", {}).get("details", {}))
    assert scenes.contents(home) == before


@pytest.mark.parametrize(
    "agent_id", ["../kira", "..", "kira/../coach", "KIRA", "kira\x00", "", "a" * 61, "owner", "ki ra"]
)
def test_an_agent_cannot_be_named_so_that_its_folder_lies_elsewhere(home: Path, call: Any, agent_id: str) -> None:
    before = sorted(home.rglob("*"))
    with pytest.raises(Invalid) as caught:
        registry.add(agent_id)
    assert caught.value.details["field"] == "id"
    status, _ = call("GET", f"/api/agents/{quote(agent_id, safe='')}/memory")
    assert status in {404, 422}
    assert sorted(home.rglob("*")) == before


def link(scope: Scope, where: str, outside: Path) -> None:
    """Replace a part of the agent's folder by a link to the same part elsewhere."""
    place = scope.root if where == "the agent's folder" else scope.root / where
    target = outside if where == "the agent's folder" else outside / where
    if place.is_dir():
        place.rename(place.with_name(place.name + "-aside"))
    place.symlink_to(target)


@pytest.mark.parametrize("where", ["MEMORY.md", "memory", "memory/2026-09-19.md", "the agent's folder"])
def test_nothing_behind_a_link_is_shown_or_changed(scope: Scope, outside: Path, call: Any, where: str) -> None:
    before = scenes.contents(outside)
    link(scope, where, outside)
    answers = [
        call("GET", "/api/agents/coach/memory"),
        call("PUT", "/api/agents/coach/memory", {"memory_md": "x"}),
        call("GET", "/api/agents/coach/memory/notes/2026-09-19"),
        call("PUT", "/api/agents/coach/memory/notes/2026-09-19", {"body": "x"}),
        call("DELETE", "/api/agents/coach/memory/notes/2026-09-19"),
        call("POST", "/api/agents/coach/tools/memory_save", {"arguments": {"text": "x"}}),
    ]
    assert "secret" not in json.dumps(answers)
    assert scenes.contents(outside) == before
    assert sorted(entry.name for entry in outside.rglob("*") if entry.name.startswith(".")) == []
    codes = {answer["error"]["code"] for status, answer in answers if status >= 400}
    assert codes <= {"link_refused", "root_missing"}
    assert codes


def test_a_link_that_takes_the_place_of_a_written_file_is_not_written_through_by_undo(
    scope: Scope, outside: Path, call: Any
) -> None:
    call("PUT", "/api/agents/coach/memory", {"memory_md": "one\n"})
    call("PUT", "/api/agents/coach/memory", {"memory_md": "two\n"})
    batch = call("GET", "/api/history")[1]["batches"][0]["id"]
    os.unlink(scope.root / "MEMORY.md")
    link(scope, "MEMORY.md", outside)
    status, answer = call("POST", f"/api/history/{batch}/undo")
    assert (status, answer["error"]["code"]) == (404, "link_refused")
    assert (outside / "MEMORY.md").read_bytes() == SECRET


def test_linked_folders_are_no_agents(home: Path, crew: object, outside: Path) -> None:
    (home / "agents" / "kira").symlink_to(outside)
    found = registry.sync()
    assert [name for name, _ in found.refused] == ["kira"]
    assert [agent.id for agent in queries.agents()] == ["coach", "default"]


def test_a_link_swapped_in_during_a_save_leads_nowhere(
    scope: Scope, outside: Path, call: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    rename = os.rename

    def swapping(*args: Any, **options: Any) -> None:
        """The folder becomes a link to elsewhere just before the temporary file is renamed."""
        monkeypatch.setattr(os, "rename", rename)
        link(scope, "memory", outside)
        rename(*args, **options)

    before = scenes.contents(outside)
    monkeypatch.setattr(os, "rename", swapping)
    call("POST", "/api/agents/coach/tools/memory_save", {"arguments": {"text": "safe"}})
    assert scenes.contents(outside) == before
    [note] = (scope.root / "memory-aside").glob("*.md")
    assert "safe" in note.read_text()
