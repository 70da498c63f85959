"""Home, a file with its lines, a stuck write: for staff, by permission, and never a 500."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from apps.ledger import services as ledger
from apps.ledger.models import Batch
from apps.vault.changes import Change

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def mai(client: Client, staff: User) -> Client:
    client.force_login(staff)
    return client


def test_home_is_for_staff_only(client, crew):
    assert client.get("/").status_code == 302
    client.force_login(User.objects.create_user("guest"))
    assert client.get("/").status_code == 403


def test_home_says_when_nothing_waits(mai, crew):
    page = mai.get("/").content.decode()
    assert "Nothing waits." in page
    assert "Nothing has run yet." in page


def test_home_says_what_a_failed_run_left_undone_and_why(mai, crew):
    from apps.runs.models import Run

    Run.objects.create(kind="consolidate", agent_id="coach", state="failed", error="No answer within 120 seconds.")
    page = mai.get("/").content.decode()
    assert "No answer within 120 seconds." in page
    assert "Nothing was proposed and nothing was written." in page


def test_headings_are_told_apart_but_not_inside_a_fence(mai, scope):
    (scope.root / "MEMORY.md").write_text("# Memory\n\n```\n# code\n```\n")
    page = mai.get("/memory/coach/MEMORY.md").content.decode()
    assert 'id="L1" class="head-line"' in page
    assert 'id="L4">' in page


def test_a_file_is_shown_with_its_lines_and_one_marked(mai, scope):
    (scope.root / "memory" / "2026-09-19.md").write_text("# day\n\n- tea <b>bold</b>\n")
    page = mai.get("/memory/coach/memory/2026-09-19.md?line=3").content.decode()
    assert 'id="L3" class="hit"' in page
    assert "tea &lt;b&gt;bold&lt;/b&gt;" in page
    raw = mai.get("/memory/coach/memory/2026-09-19.md?raw=1")
    assert (raw["Content-Type"], raw.content.decode()) == ("text/plain; charset=utf-8", "# day\n\n- tea <b>bold</b>\n")


@pytest.mark.parametrize(
    "path",
    [
        "coach/memory/nothing.md", "coach/../default/MEMORY.md", "coach/.memoryhub/secret_key", "nobody/MEMORY.md",
        "coach/memory/%2e%2e/%2e%2e/MEMORY.md", "default/memoryhub.sqlite3", "default/agents/coach/MEMORY.md", "coach/memory/x%00.md",
    ],
)  # fmt: skip
def test_only_files_of_a_known_kind_can_be_asked_for(mai, crew, path):
    assert mai.get(f"/memory/{path}").status_code in {400, 404}


def test_the_default_agents_scope_is_not_the_whole_home(mai, crew, home):
    (home / "secrets.md").write_text("not memory")
    (home / "agents" / "coach" / "MEMORY.md").write_text("coach's")
    for path in ("secrets.md", "agents/coach/MEMORY.md", "users/owner/USER.md", ".memoryhub/x.md"):
        assert mai.get(f"/memory/default/{path}").status_code == 404


@pytest.fixture
def stuck(scope, person) -> Batch:
    """A batch of two files, half written, whose second file somebody changed."""
    for name in ("MEMORY.md", "memory/2026-09-19.md"):
        (scope.root / name).write_text("old\n")
    with ledger.writing(scope) as desk:
        changes = [Change("MEMORY.md", b"old\n", b"new\n"), Change("memory/2026-09-19.md", b"old\n", b"new\n")]
        batch = desk.write(changes, actor=person)
    (scope.root / "memory/2026-09-19.md").write_text("by hand\n")
    Batch.objects.filter(pk=batch.pk).update(state=Batch.State.STUCK)
    return batch


def test_a_stuck_write_stands_above_everything_and_can_be_resolved(mai, stuck, scope):
    assert f"/stuck/{stuck.public_id}/" in mai.get("/").content.decode()
    page = mai.get(f"/stuck/{stuck.public_id}/").content.decode()
    assert "Changed by somebody in the middle." in page
    assert mai.post(f"/stuck/{stuck.public_id}/", {"how": "nonsense"}).status_code == 404
    assert mai.post(f"/stuck/{stuck.public_id}/", {"how": "undo"}).status_code == 302
    stuck.refresh_from_db()
    assert stuck.state == "failed"
    assert (scope.root / "MEMORY.md").read_text() == "old\n"
    assert (scope.root / "memory/2026-09-19.md").read_text() == "by hand\n"
    assert mai.post(f"/stuck/{stuck.public_id}/", {"how": "undo"}).status_code == 409
    assert mai.get("/stuck/000000000000/").status_code == 404


def test_the_history_page_shows_a_write_and_takes_it_back(mai, staff, scope, person):
    from django.contrib.auth.models import Permission

    staff.user_permissions.add(Permission.objects.get(codename="view_batch"))
    (scope.root / "MEMORY.md").write_text("- old <i>\n")
    with ledger.writing(scope) as desk:
        batch = desk.write([Change("MEMORY.md", b"- old <i>\n", b"- new\n")], actor=person, reason="because")
    page = mai.get(f"/admin/ledger/batch/{batch.pk}/change/").content.decode()
    assert "old &lt;i&gt;" in page
    assert "because" in page
    assert mai.get(f"/admin/ledger/batch/{batch.pk}/undo/").status_code == 405
    assert mai.post(f"/admin/ledger/batch/{batch.pk}/undo/").status_code == 302
    assert (scope.root / "MEMORY.md").read_text() == "- old <i>\n"
    assert mai.post(f"/admin/ledger/batch/{batch.pk}/undo/").status_code == 409


def test_agents_and_tokens_are_made_in_the_admin_and_the_secret_shown_once(client, home, db):
    client.force_login(User.objects.create_superuser("root"))
    made = client.post("/admin/agents/agent/add/", {"id": "kira", "name": "Kira", "zone": "Asia/Tokyo", "model": ""})
    assert made.status_code == 302
    assert (home / "agents/kira/memory").is_dir()
    bad = client.post("/admin/agents/agent/add/", {"id": "Bad Id", "name": "", "zone": "Mars/X", "model": ""})
    assert bad.status_code == 200
    assert "is not a time zone" in bad.content.decode()
    issued = client.post(
        "/admin/agents/token/add/", {"name": "bot", "agent": "kira", "rights": ["read"], "expiry_0": "", "expiry_1": ""}
    )
    assert issued.status_code == 200
    assert "mh_" in issued.content.decode()
    assert "no-store" in issued["Cache-Control"]
    assert "mh_" not in client.get("/admin/agents/token/").content.decode().replace("mh_page", "")
    moved = client.post("/admin/agents/agent/kira/directory/", {"directory": "/etc"})
    assert (moved.status_code, "MEMORYHUB_WORKSPACE_ROOTS" in moved.content.decode()) == (200, True)
    assert client.post("/admin/agents/agent/kira/delete/", {"post": "yes"}).status_code == 302
    assert (home / "agents/kira").is_dir()
    assert client.get("/admin/agents/agent/").content.decode().count("kira") == 0


def test_a_refusal_stands_beside_its_field_and_an_archived_agent_comes_back(client, home, db):
    client.force_login(User.objects.create_superuser("root"))
    form = {"id": "kira", "name": "Kira", "zone": "", "model": ""}
    (home / "agents").mkdir()
    (home / "agents" / "kira").symlink_to(home.parent)
    refused = client.post("/admin/agents/agent/add/", form)
    assert (refused.status_code, "leads through a link" in refused.content.decode()) == (200, True)
    assert not (home.parent / "memory").exists()
    (home / "agents" / "kira").unlink()
    assert client.post("/admin/agents/agent/add/", form).status_code == 302
    assert "already" in client.post("/admin/agents/agent/add/", form).content.decode()
    page = client.get("/admin/agents/agent/kira/delete/").content.decode()
    assert "files, its history" in page
    assert client.post("/admin/agents/agent/kira/delete/", {"post": "yes"}).status_code == 302
    assert client.post("/admin/agents/agent/add/", form).status_code == 302
    assert client.post("/admin/agents/agent/kira/change/", form | {"name": "K"}).status_code == 302
    assert "<td" in client.get("/admin/agents/agent/").content.decode()


def test_nobody_gives_away_a_right_they_lack(client, crew):
    from django.contrib.auth.models import Permission

    clerk = User.objects.create_user("clerk", is_staff=True)
    for name in ("add_token", "view_token", "view_agent"):
        clerk.user_permissions.add(Permission.objects.get(codename=name))
    client.force_login(clerk)
    form = {"name": "bot", "agent": "", "expiry_0": "", "expiry_1": ""}
    refused = client.post("/admin/agents/token/add/", form | {"rights": ["read", "decide"]})
    assert "mh_" not in refused.content.decode().replace("mh_page", "")
    issued = client.post("/admin/agents/token/add/", form | {"rights": ["read", "present"]})
    assert "mh_" in issued.content.decode()


def test_staff_without_permissions_reach_no_page_that_shows_memory(client, crew, stuck):
    """Every address of the admin, walked: nothing of a memory's text, whatever the method."""
    from django.contrib import admin

    client.force_login(User.objects.create_user("bare", is_staff=True))
    seen = set()
    for model_admin in admin.site._registry.values():
        for pattern in model_admin.get_urls():
            base = f"/admin/{model_admin.opts.app_label}/{model_admin.opts.model_name}/"
            route = str(pattern.pattern).replace("<path:object_id>", str(stuck.pk)).replace("<int:pk>", str(stuck.pk))
            for mark in ("<str:proposal_id>", "<str:agent_id>", "<str:side>"):
                route = route.replace(mark, "coach")
            for method in (client.get, client.post):
                answer = method(base + route)
                seen.add(answer.status_code)
                assert answer.status_code in {302, 403, 404, 405}, base + route
                assert b"old" not in answer.content
    assert 403 in seen
    for path in ("/", f"/stuck/{stuck.public_id}/", "/memory/coach/MEMORY.md"):
        assert client.get(path).status_code == 403
