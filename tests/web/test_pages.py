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


@pytest.fixture
def root(client: Client, db) -> Client:
    client.force_login(User.objects.create_superuser("root"))
    return client


def test_a_home_without_agents_says_the_next_step(root, home):
    page = root.get("/").content.decode()
    assert "manage.py agents sync" in page
    assert "/admin/agents/agent/add/" in page
    assert "manage.py agents sync" in root.get("/admin/agents/agent/").content.decode()


def run_of(agent, **fields):
    from apps.runs.models import Run

    return Run.objects.create(kind="consolidate", agent_id=agent, state="done", **fields)


def proposed(scope, run, text="- new\n"):
    from apps.proposals import services

    numbers = {"counts": {"added": 1}}
    return services.propose_rewrite(
        scope.id,
        path="MEMORY.md",
        text=text.encode(),
        previous=None,
        reasons="",
        analysis=numbers,
        source="x",
        run=run.public_id,
    )


def test_a_proposed_run_tells_how_its_proposal_stands_now(root, scope, person):
    """Not how it stood when the run ended: on Home, in Activity, on its own page."""
    from apps.proposals import services

    run = run_of("coach", outcome="proposed", summary="Adds 1. Proposal waits for a person.")
    one = proposed(scope, run)
    pages = ("/", "/admin/runs/run/", f"/admin/runs/run/{run.pk}/change/")

    def told(word):
        for address in pages:
            page = root.get(address).content.decode()
            assert word in page, address
            assert "waits for a person" not in page, address

    told("Waits")
    assert f"{one.public_id}/review/" in root.get("/").content.decode()
    services.approve(one.public_id, seen=None, actor=person)
    told("Approved")
    from apps.agents import services as agents

    one.refresh_from_db()
    agents.undo(one.batch, actor=person)
    told("Taken back")


def test_runs_that_found_nothing_newer_are_one_quiet_line(root, crew):
    for agent in ("coach", "default", "coach"):
        run_of(agent, outcome="nothing_newer", summary="Nothing is newer than the memory; no model was asked.")
    page = root.get("/").content.decode()
    assert "3 runs found nothing newer than the memory: coach, default." in page
    assert "no model was asked" not in page


def test_a_single_idle_run_speaks_for_itself(root, crew):
    run_of("coach", outcome="nothing_newer", summary="Nothing is newer than the memory; no model was asked.")
    assert "no model was asked" in root.get("/").content.decode()


def test_a_run_names_the_notes_it_read_as_links_while_they_are_there(root, scope):
    (scope.root / "memory" / "2026-09-18.md").write_text("# day\n")
    run = run_of("coach", read=["2026-09-17:aaaa1111", "2026-09-18:bbbb2222"], left_out=["2026-09-19:cccc3333"])
    page = root.get(f"/admin/runs/run/{run.pk}/change/").content.decode()
    assert 'href="/memory/coach/memory/2026-09-18.md"' in page
    assert "<li>2026-09-17</li>" in page
    assert "Left for a later run" in page
    assert "aaaa1111" not in page and "cccc3333" not in page
    assert "/history/" not in page


def test_the_history_names_the_token_and_leads_to_file_proposal_and_run(root, scope):
    from apps import access
    from apps.agents import queries, registry
    from apps.agents.models import Token

    token, _ = registry.issue_token("night bot", rights=["read", "write"], actor=access.operator())
    actor = queries.token_actor(token, "job:x", via="api")
    run = run_of("coach")
    one = proposed(scope, run)
    with ledger.writing(scope) as desk:
        batch = desk.write(
            [Change("MEMORY.md", None, b"- a\n")], actor=actor, run=run.public_id, proposal=one.public_id
        )
    address = f"/admin/ledger/batch/{batch.pk}/change/"
    for page in (root.get(address).content.decode(), root.get("/admin/ledger/batch/").content.decode()):
        assert "night bot" in page
        assert token.public_id not in page
    page = root.get(address).content.decode()
    for link in ("/memory/coach/MEMORY.md", f"{one.public_id}/review/", f"/admin/runs/run/{run.pk}/change/"):
        assert f'{link}"' in page
    Token.objects.all().delete()
    assert token.public_id in root.get(address).content.decode()


def test_a_write_that_was_taken_back_says_so_in_the_list_until_that_is_taken_back_too(root, scope, person):
    from apps.agents import services as agents

    with ledger.writing(scope) as desk:
        batch = desk.write([Change("MEMORY.md", None, b"- a\n")], actor=person)

    def states():
        rows = root.get("/admin/ledger/batch/").content.decode().split('class="field-how">')[1:]
        return [row.partition("<")[0] for row in rows]

    assert states() == ["Done"]
    undo = agents.undo(batch.public_id, actor=person)
    assert states() == ["Done", "Taken back"]
    assert (
        f"/admin/ledger/batch/{undo.pk}/change/" in root.get(f"/admin/ledger/batch/{batch.pk}/change/").content.decode()
    )
    agents.undo(undo.public_id, actor=person)
    assert states() == ["Done", "Taken back", "Done"]


def test_the_file_page_lists_the_notes_and_leads_back(mai, scope):
    for day in ("2026-09-18", "2026-09-19"):
        (scope.root / "memory" / f"{day}.md").write_text("# đi\n")
    page = mai.get("/memory/coach/MEMORY.md").content.decode()
    assert page.index("memory/2026-09-19.md") < page.index("memory/2026-09-18.md")
    assert "6\xa0bytes" in page
    assert (
        "coach has no MEMORY.md. The first approved night makes it; a file of that name in its folder is one too."
        in page
    )
    assert "The file is empty." not in page
    assert "/admin/agents/agent/" in page
    note = mai.get("/memory/coach/memory/2026-09-18.md").content.decode()
    assert 'href="/memory/coach/memory/2026-09-18.md" aria-current="page"' in note
    assert 'href="/memory/coach/MEMORY.md"' in note
    (scope.root / "MEMORY.md").write_text("")
    assert "The file is empty." in mai.get("/memory/coach/MEMORY.md").content.decode()


def test_memory_is_the_section_one_is_in_on_a_files_page(mai, scope):
    page = mai.get("/memory/coach/MEMORY.md").content.decode()
    section = page[page.index('href="/admin/agents/agent/"') :].partition(">")[0]
    assert "aria-current" in section


@pytest.mark.parametrize(
    ("address", "status"),
    [("/nothing/here/", 404), ("/stuck/000000000000/", 404), ("/admin/ledger/batch/1/undo/", 403)],
)
def test_refusals_have_our_look_and_a_way_home(mai, crew, address, status):
    answer = mai.post(address) if status == 403 else mai.get(address)
    page = answer.content.decode()
    assert answer.status_code == status
    assert "memoryhub.css" in page
    assert 'class="btn first" href="/"' in page


def test_pages_of_last_resort_need_no_context():
    from django.template import loader

    for name, told in (("400.html", "cannot be read"), ("500.html", "Something broke")):
        page = loader.get_template(name).render()
        assert told in page and "memoryhub.css" in page and 'href="/"' in page


def test_a_refused_request_leaves_one_line_in_the_log_and_a_fault_its_traceback():
    import io
    import logging

    from django.conf import settings

    config = settings.LOGGING
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    for name in config["handlers"]["console"]["filters"]:
        from django.utils.module_loading import import_string

        handler.addFilter(import_string(config["filters"][name]["()"])())
    for status in (403, 500):
        try:
            raise RuntimeError(f"fault {status}")
        except RuntimeError as error:
            record = logging.LogRecord(
                "django.request", 30, "", 1, "told", None, (type(error), error, error.__traceback__)
            )
            record.status_code = status
            handler.handle(record)
    text = stream.getvalue()
    assert "fault 403" not in text
    assert "fault 500" in text


def test_signing_out_and_lists_speak_our_words(root, crew):
    for address, title in (("agents/agent", "Agents"), ("ledger/batch", "History"), ("runs/run", "Runs")):
        page = root.get(f"/admin/{address}/").content.decode()
        assert f"<title>{title} | memoryhub" in page
        assert "Select " not in page
        assert "0 history" not in page
    page = root.post("/admin/logout/").content.decode()
    assert "You are signed out" in page
    assert "quality time" not in page


def test_the_menu_leads_to_tokens_only_for_whoever_may_see_them(client, root, crew):
    assert "/admin/agents/token/" in root.get("/").content.decode()
    client.force_login(User.objects.create_user("bare", is_staff=True))
    page = client.get("/").content.decode()
    assert "/admin/agents/token/" not in page
    assert "Log out" in page


def test_without_the_right_to_change_an_agent_there_is_no_way_to_its_directory(client, crew):
    from django.contrib.auth.models import Permission

    reader = User.objects.create_user("bob", is_staff=True)
    reader.user_permissions.add(Permission.objects.get(codename="view_agent"))
    client.force_login(reader)
    page = client.get("/admin/agents/agent/coach/change/").content.decode()
    assert "agents/coach" in page
    assert "/directory/" not in page
    client.force_login(User.objects.create_superuser("root"))
    assert "/directory/" in client.get("/admin/agents/agent/coach/change/").content.decode()


def test_an_agent_that_was_refused_has_no_directory_to_change(root, home):
    page = root.post("/admin/agents/agent/add/", {"id": "kira", "name": "", "zone": "Mars/X", "model": ""})
    assert "is not a time zone" in page.content.decode()
    assert "/directory/" not in page.content.decode()


def test_tokens_are_told_in_words_and_never_linked_by_their_hash(root, crew):
    from apps.agents.models import Token

    form = root.get("/admin/agents/token/add/").content.decode()
    assert "Every agent" in form
    assert "append to a day" in form
    issued = root.post(
        "/admin/agents/token/add/",
        {"name": "bot", "agent": "", "rights": ["read", "decide"], "expiry_0": "", "expiry_1": ""},
    ).content.decode()
    assert "No end; revoke it when it is no longer needed." in issued
    token = Token.objects.get()
    page = root.get("/admin/agents/token/").content.decode()
    assert "read, decide" in page and "every agent" in page and "no end" in page
    asked = root.post(
        "/admin/agents/token/", {"action": "delete_selected", "_selected_action": [token.pk]}
    ).content.decode()
    for shown in (page, asked, root.get("/admin/").content.decode()):
        assert f"/{token.pk}/" not in shown


@pytest.mark.parametrize(
    "query",
    [
        "q=" + "word " * 3000, "q=%00", "o=-9.99.x", "p=99999", "p=x", "state=%00", "public_id__regex=(", "all=x", "e=1",
        "nosuch=1", "created_at__year=0", "created__year=10000", "analysis__contains=x", "cost__gt=1e999999",
        "id__in=99999999999999999999999999", "agent__id__exact=" + "x" * 5000, "state__exact=pending", "worst=stop",
    ],
)  # fmt: skip
def test_no_address_makes_a_list_fail(client, crew, stuck, query):
    client.force_login(User.objects.create_superuser("root"))
    for name in ("proposals/proposal", "ledger/batch", "runs/run", "agents/agent", "agents/token"):
        assert client.get(f"/admin/{name}/?{query}").status_code in {200, 302, 400}, name


@pytest.mark.parametrize("ticked", ["abc", "", "9" * 23, "1\x00", "-1", "٣"])
def test_no_selection_makes_a_bulk_rejection_fail(client, crew, ticked):
    client.force_login(User.objects.create_superuser("root"))
    answer = client.post("/admin/proposals/proposal/", {"action": "reject_selected", "_selected_action": ticked})
    assert answer.status_code in {200, 302}


def test_pages_open_when_a_folder_or_a_file_is_out_of_reach(client, crew, stuck, scope):
    client.force_login(User.objects.create_superuser("root"))
    scope.root.rename(scope.root.with_name("away"))
    page = client.get(f"/stuck/{stuck.public_id}/")
    assert (page.status_code, "Out of reach." in page.content.decode()) == (200, True)
    assert client.post(f"/stuck/{stuck.public_id}/", {"how": "undo"}).status_code == 409
    unread = client.get("/memory/coach/MEMORY.md")
    assert (unread.status_code, "Not read." in unread.content.decode()) == (507, True)
    assert client.get("/").status_code == 200
    assert client.get(f"/admin/ledger/batch/{stuck.pk}/change/").status_code == 200
    stuck.refresh_from_db()
    assert stuck.state == "stuck"


def test_pages_that_show_memory_are_kept_in_no_cache(client, crew, scope, staff):
    client.force_login(staff)
    (scope.root / "MEMORY.md").write_text("private\n")
    for path in ("/", "/memory/coach/MEMORY.md", "/memory/coach/MEMORY.md?raw=1"):
        assert "no-store" in client.get(path)["Cache-Control"]
