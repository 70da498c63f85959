"""The commands as an operator calls them: text or JSON, and exit codes."""

import json
import os
import subprocess
import sys
import time

import pytest
from django.conf import settings

from apps.agents import registry, store
from apps.ledger import locks
from apps.ledger.models import Batch
from apps.vault import lock

pytestmark = pytest.mark.django_db(transaction=True)


def test_agents_are_added_changed_listed_and_archived(run, home):
    assert run("agents", "add", "kira", "--name", "Kira", "--zone", "Asia/Tokyo", "--json")[1]["zone"] == "Asia/Tokyo"
    assert run("agents", "set", "kira", "--name", "K", "--json")[1]["name"] == "K"
    assert run("agents", "add", "kira")[0] == 1
    assert "kira" in run("agents", "list")[1]
    assert run("agents", "sync", "--json")[1]["added"] == ["default"]
    assert run("agents", "archive", "kira")[0] == 0
    assert [row["id"] for row in run("agents", "list", "--json")[1]["agents"]] == ["default"]


def test_a_refusal_in_json_is_json_with_its_code(run, home):
    code, answer = run("agents", "add", "No Good", "--json")
    assert (code, answer["error"]["code"], answer["error"]["details"]["field"]) == (1, "bad_name", "id")


def test_tokens_are_issued_once_listed_without_secret_and_revoked(run, crew):
    _, issued = run(
        "token", "issue", "bot", "--agent", "coach", "--rights", "read,write_notes", "--days", "3", "--json"
    )
    assert issued["token"].startswith("mh_")
    _, listed = run("token", "list", "--json")
    assert issued["token"] not in json.dumps(listed)
    assert (listed["tokens"][0]["agent"], listed["tokens"][0]["expired"]) == ("coach", False)
    assert run("token", "revoke", issued["id"])[0] == 0
    assert run("token", "revoke", issued["id"])[0] == 1


def test_a_consolidation_is_run_now_and_a_second_one_finds_nothing_newer(run, scope):
    (scope.root / "memory" / "2026-09-19.md").write_text("# d\n\n## Retain\n\n- W: The shop is closed in August.\n")
    code, first = run("run", "consolidate", "--agent", "coach", "--now", "--json")
    assert (code, first["outcome"], first["state"]) == (0, "proposed", "done")
    assert run("run", "consolidate", "--agent", "coach", "--now", "--json")[1]["outcome"] == "nothing_newer"
    assert run("run", "consolidate", "--agent", "coach", "--now", "--force", "--json")[1]["outcome"] == "proposed"
    assert run("run", "consolidate", "--agent", "nobody", "--now")[0] == 1


def test_a_run_that_fails_exits_1_and_a_busy_one_75(run, scope):
    (scope.root / "memory" / "2026-09-19.md").write_text("- a\n")
    registry.change("coach", model="no-such/model")
    assert run("run", "consolidate", "--agent", "coach", "--now")[0] == 1
    process = os.fork()
    if process == 0:
        with lock.held(locks.run_lock_path("coach"), seconds=1):
            time.sleep(30)
        os._exit(0)
    try:
        while lock.free(locks.run_lock_path("coach")):
            pass
        assert run("run", "consolidate", "--agent", "coach", "--now")[0] == 75
    finally:
        os.kill(process, 9)
        os.waitpid(process, 0)


def test_all_agents_in_turn_and_one_that_fails_does_not_stop_the_others(run, crew):
    for one in crew:
        (one.root / "memory" / "2026-09-19.md").write_text("## Retain\n\n- W: The shop is closed in August.\n")
    (crew[1].root / "MEMORY.md").write_bytes(b"\xff")
    os.utime(crew[1].root / "MEMORY.md", (1, 1))
    code, answer = run("run", "consolidate", "--all", "--now", "--json")
    assert code == 1
    assert [row["agent"] for row in answer["runs"]] == ["default"]
    assert answer["failed"][0]["code"] == "bad_encoding"


def test_history_is_listed_and_undone(run, scope, person):
    from apps.agents import services
    from apps.vault.changes import Precondition

    services.write_memory("coach", "one\n", actor=person, when=Precondition())
    services.write_memory("coach", "two\n", actor=person, when=Precondition())
    _, listed = run("history", "list", "--scope", "coach", "--json")
    assert [row["changes"][0]["path"] for row in listed["batches"]] == ["MEMORY.md", "MEMORY.md"]
    newest = listed["batches"][0]["id"]
    assert run("history", "undo", newest)[0] == 0
    assert (scope.root / "MEMORY.md").read_text() == "one\n"
    assert run("history", "undo", newest)[0] == 1
    assert run("history", "list", "--before", newest, "--json")[1]["batches"][0]["id"] == listed["batches"][1]["id"]


def test_doctor_finds_nothing_in_a_sound_home_and_names_what_is_wrong(run, crew, scope, home):
    assert run("doctor", "--json") == (0, {"findings": []})
    (scope.root / "memory" / "plan.md").write_text("---\ntitle: Re: x\n---\n")
    Batch.objects.create(scope="coach", root=str(scope.root), state="stuck", actor_kind="staff", actor="x", via="web")
    (home / "users" / "owner" / "facts").mkdir(parents=True)
    (home / "users" / "owner" / "facts" / "broken.md").write_text("no fields")
    code, found = run("doctor", "--json")
    assert code == 1
    assert {(one["check"], one["scope"], one["path"], one["line"]) for one in found["findings"]} == {
        ("files", "coach", "memory/plan.md", 2),
        ("files", "owner", "facts/broken.md", 1),
        ("writes", "coach", "", 0),
    }


def test_recover_says_when_nothing_is_unfinished_and_wants_a_way_for_a_batch(run, crew):
    assert run("recover") == (0, "Nothing is unfinished.\n")
    assert run("recover", "--batch", "0" * 12)[0] == 2
    assert run("recover", "--force")[0] == 2
    assert run("recover", "--batch", "0" * 12, "--force")[0] == 1


def test_troubles_of_the_owner_scope_know_facts(home):
    folder = home / "users" / "owner"
    (folder / "facts").mkdir(parents=True)
    (folder / "facts" / "a.md").write_text("---\nname: a\n---\n\nx\n")
    assert store.troubles(folder, "owner", ()) == []


@pytest.mark.parametrize(
    "words",
    [
        ("token", "issue", "x", "--days", "0"),
        ("token", "issue", "x", "--days", "99999999999"),
        ("token", "issue", b"x\xff"),
        ("history", "list", "--limit", "0"),
        ("history", "list", "--path", b"\xff"),
        ("history", "lost"),
        ("recover", "--force"),
    ],
)
def test_arguments_out_of_range_or_not_utf8_are_usage_errors(words, crew):
    ran = subprocess.run([sys.executable, "manage.py", *words], cwd=settings.BASE_DIR, capture_output=True, check=False)
    assert ran.returncode == 2
    assert b"Traceback" not in ran.stderr


def test_a_directory_that_cannot_be_looked_at_and_the_masters_leave_are_refused(run, crew):
    assert run("agents", "add", "kira", "--directory", "/" + "x" * 300)[0] == 1
    assert run("agents", "archive", "default")[0] == 1


def test_sync_goes_on_behind_a_folder_it_cannot_use(run, home):
    (home / "agents" / "aaa").mkdir(parents=True)
    (home / "agents" / "aaa" / "memory").write_text("a file")
    (home / "agents" / "zzz").mkdir()
    code, done = run("agents", "sync", "--json")
    assert (code, done["added"], list(done["refused"])) == (1, ["default", "zzz"], ["aaa"])


def test_doctor_names_a_model_nobody_can_ask(run, crew):
    registry.change("coach", model="offline, gpt-9")
    code, found = run("doctor", "--json")
    assert (code, found["findings"][0]["check"], found["findings"][0]["scope"]) == (1, "models", "coach")
