"""Agents, their folders and their tokens."""

import os

import pytest

from apps import access
from apps.agents import queries, registry
from apps.agents.models import Agent, Token
from apps.errors import Conflict, Invalid, NotFound
from apps.ledger import services as ledger
from apps.vault.changes import Change

pytestmark = pytest.mark.django_db(transaction=True)


def test_an_agent_gets_its_folder_and_the_master_is_the_home_itself(home):
    registry.add("coach", name="Coach", zone="Asia/Ho_Chi_Minh")
    master = registry.add("default")
    assert (home / "agents/coach/memory").is_dir()
    assert (home / "memory").is_dir()
    assert master.is_master
    assert queries.scope("default").root == home
    assert queries.scope("coach").zone == "Asia/Ho_Chi_Minh"


@pytest.mark.parametrize(
    "name", ["", "Coach", "a b", "a_b", "x" * 61, "owner", "../kira", "a/b", "é", "search", "coach\n"]
)
def test_an_id_that_cannot_be_one_is_refused_and_makes_no_folder(home, name):
    with pytest.raises(Invalid) as caught:
        registry.add(name)
    assert caught.value.details["field"] == "id"
    assert Agent.objects.count() == 0
    assert not (home / "agents").exists()


def test_a_zone_nobody_knows_is_refused(crew):
    for zone in ("Mars/Olympus", "../etc/passwd", "UTC+25"):
        with pytest.raises(Invalid) as caught:
            registry.change("coach", zone=zone)
        assert caught.value.details["field"] == "zone"


def test_a_change_of_zone_renames_no_old_note(crew, scope):
    note = scope.root / "memory" / "2026-09-19.md"
    note.write_text("x")
    registry.change("coach", zone="Pacific/Kiritimati")
    assert [p.name for p in (scope.root / "memory").iterdir()] == ["2026-09-19.md"]


def test_an_agent_twice_is_a_conflict_and_an_archived_one_comes_back_with_its_files(crew, scope):
    (scope.root / "MEMORY.md").write_text("kept")
    with pytest.raises(Conflict):
        registry.add("coach")
    _, secret = registry.issue_token("t", rights=["read"], agent_id="coach", actor=access.operator())
    registry.archive("coach")
    with pytest.raises(NotFound):
        queries.scope("coach")
    assert (Token.objects.count(), bool(secret)) == (0, True)
    registry.add("coach")
    assert (queries.scope("coach").root / "MEMORY.md").read_text() == "kept"


def test_sync_makes_rows_for_folders_and_says_which_it_cannot(home):
    for name in ("kira", "Not An Id", ".hidden"):
        (home / "agents" / name).mkdir(parents=True)
    (home / "elsewhere").mkdir()
    (home / "agents" / "linked").symlink_to(home / "elsewhere")
    (home / "agents" / "file.md").write_text("x")
    done = registry.sync()
    assert done.added == ["default", "kira"]
    assert [name for name, _ in done.refused] == ["Not An Id", "linked"]
    assert registry.sync().present == ["default", "kira"]


@pytest.fixture
def workspaces(tmp_path, settings):
    root = (tmp_path / "work").resolve()
    (root / "one" / "inner").mkdir(parents=True)
    (root / "two").mkdir()
    settings.MEMORYHUB_WORKSPACE_ROOTS = [root]
    return root


def test_an_existing_workspace_is_used_where_it_lies(crew, workspaces):
    (workspaces / "one" / "MEMORY.md").write_text("theirs")
    registry.add("kira", directory=str(workspaces / "one"))
    assert queries.scope("kira").root == workspaces / "one"
    assert (workspaces / "one" / "memory").is_dir()


@pytest.mark.parametrize(
    "where", ["outside", "root", "relative", "missing", "home", "other agent", "inside other", "link out"]
)
def test_a_workspace_outside_the_roots_or_over_another_folder_is_refused(
    crew, home, workspaces, tmp_path, settings, where
):
    registry.add("kira", directory=str(workspaces / "one"))
    (tmp_path / "outside").mkdir()
    (workspaces / "door").symlink_to(tmp_path / "outside")
    if where == "home":
        settings.MEMORYHUB_WORKSPACE_ROOTS = [home.parent]
    directory = {
        "outside": str(tmp_path / "outside"),
        "root": str(workspaces),
        "relative": "work/two",
        "missing": str(workspaces / "none"),
        "home": str(home / "agents"),
        "other agent": str(workspaces / "one"),
        "inside other": str(workspaces / "one" / "inner"),
        "link out": str(workspaces / "door"),
    }[where]
    with pytest.raises(Invalid) as caught:
        registry.add("mo", directory=directory)
    assert caught.value.code == "bad_directory"
    assert not Agent.objects.filter(pk="mo").exists()


def test_an_agent_is_moved_under_its_lock_and_not_while_a_write_is_stuck(crew, scope, workspaces, person):
    from apps.ledger.models import Batch

    with ledger.writing(scope) as desk:
        batch = desk.write([Change("MEMORY.md", None, b"x")], actor=person)
    Batch.objects.filter(pk=batch.pk).update(state="stuck")
    with pytest.raises(Conflict) as caught:
        registry.move("coach", str(workspaces / "two"))
    assert caught.value.code == "batch_open"
    Batch.objects.filter(pk=batch.pk).update(state="done")
    registry.move("coach", str(workspaces / "two"))
    assert queries.scope("coach").root == workspaces / "two"
    registry.move("coach", "")
    assert queries.scope("coach").root == scope.root


@pytest.mark.parametrize("rights", [[], ["reed"], ["read", "root"]])
def test_a_token_needs_rights_that_exist(crew, rights):
    with pytest.raises(Invalid) as caught:
        registry.issue_token("t", rights=rights, actor=access.operator())
    assert caught.value.details["field"] == "rights"
    assert Token.objects.count() == 0


def test_only_the_hash_of_a_token_is_kept(crew):
    token, secret = registry.issue_token("t", rights=["read"], actor=access.operator())
    assert secret.startswith("mh_")
    assert secret not in str(Token.objects.values().get(pk=token.pk))
    with pytest.raises(NotFound):
        registry.issue_token("t", rights=["read"], agent_id="nobody", actor=access.operator())


def test_new_files_follow_the_umask_and_old_ones_keep_their_mode(crew, scope, person):
    old = os.umask(0o027)
    try:
        with ledger.writing(scope) as desk:
            desk.write([Change("MEMORY.md", None, b"x")], actor=person)
    finally:
        os.umask(old)
    assert (scope.root / "MEMORY.md").stat().st_mode & 0o777 == 0o640
    (scope.root / "MEMORY.md").chmod(0o604)
    with ledger.writing(scope) as desk:
        desk.write([Change("MEMORY.md", b"x", b"y")], actor=person)
    assert (scope.root / "MEMORY.md").stat().st_mode & 0o777 == 0o604
