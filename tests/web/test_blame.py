"""The margin of a file's page: who brought each stretch of lines, for whom the whole story, and at what price."""

import re
from datetime import timedelta

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.utils import timezone

from apps import access
from apps.agents import queries, registry
from apps.agents import services as agents
from apps.ledger import services as ledger
from apps.ledger.models import Batch
from apps.ledger.present import moment
from apps.proposals import services as proposals
from apps.runs.models import Run
from apps.vault.changes import Change, appended

pytestmark = pytest.mark.django_db(transaction=True)

MEMORY = "/memory/coach/MEMORY.md"


@pytest.fixture
def mai(client: Client, staff: User) -> Client:
    """Mai, who may see the proposals, the runs and the history."""
    for name in ("view_proposal", "view_run", "view_batch"):
        staff.user_permissions.add(Permission.objects.get(codename=name))
    client.force_login(staff)
    return client


@pytest.fixture
def put(scope, person):
    """Replace a file of coach's through the desk, if need be as somebody else, or some days ago."""

    def write(text, *, path="MEMORY.md", actor=person, days=0, **facts):
        with ledger.writing(scope) as desk:
            batch = desk.write([Change(path, desk.read(path), text.encode())], actor=actor, **facts)
        Batch.objects.filter(pk=batch.pk).update(created_at=timezone.now() - timedelta(days=days))
        batch.refresh_from_db()
        return batch

    return write


def stretches(page):
    """Kind, mark and line numbers of each stretch, as somebody reads them."""
    found = []
    for part in re.split(r'<div class="stretch ', page)[1:]:
        mark = re.search(r'<p class="origin">(.*?)</p>', part, re.S)
        words = re.sub(r"<[^>]+>", "", mark[1]).replace("\xa0", " ") if mark else ""
        found.append((part.partition('"')[0], words.partition(": ")[2], re.findall(r'<li id="L(\d+)"', part)))
    return found


def day(days=0, form="%-d %b"):
    return f"{timezone.localtime() - timedelta(days=days):{form}}"


def story(page, line):
    """The words and the links of what a mark tells; the mark that opens it is there."""
    assert f'<a href="#w{line}" data-panel="w{line}">' in page
    text = re.search(rf'<div class="quote story" id="w{line}">(.*?)</div>', page, re.S)[1]
    links = dict(re.findall(r'href="([^"]+)">([^<]+)<', text))
    return re.sub(r"<[^>]+>", "", text), {word: address for address, word in links.items()}


def test_the_margin_says_once_a_stretch_who_brought_it(mai, scope, put):
    put("# Memory\n\n- tea\n", days=800)
    put("# Memory\n\n- tea\n\n- milk\n- bread\n")
    path = scope.root / "MEMORY.md"
    path.write_text(path.read_text() + "- by hand\n")
    page = mai.get(MEMORY).content.decode()
    assert stretches(page) == [
        ("earlier", f"{day(800, '%-d %b %Y')}, mai", ["1", "2", "3"]),
        ("nobody", "", ["4"]),
        ("today", f"{day()}, mai", ["5", "6"]),
        ("outside", "Outside", ["7"]),
    ]


def test_stretches_of_one_batch_with_anothers_line_between_them_stay_apart(mai, put):
    put("a\nc\n", days=300)
    put("a\nb\nc\n")
    page = mai.get(MEMORY).content.decode()
    assert [(kind, lines) for kind, _, lines in stretches(page)] == [
        ("earlier", ["1"]),
        ("today", ["2"]),
        ("earlier", ["3"]),
    ]


def test_an_approved_proposal_tells_its_run_and_approver_and_leads_to_both_and_to_the_undo(mai, scope, person):
    run = Run.objects.create(kind="consolidate", agent_id="coach", state="done")
    one = proposals.propose_rewrite(
        "coach", path="MEMORY.md", text=b"- new\n", previous=None, reasons="", analysis={}, source="x", run=run.public_id
    )  # fmt: skip
    batch = Batch.objects.get(public_id=proposals.approve(one.public_id, seen=None, actor=person).batch)
    page = mai.get(MEMORY).content.decode()
    assert stretches(page) == [("today", f"{day()}, approved by mai", ["1"])]
    words, links = story(page, 1)
    assert f"Proposed by the run {run.public_id}, approved by mai, {moment(batch.created_at)}, through web." in words
    assert links == {
        "See the proposal": f"/admin/proposals/proposal/{one.public_id}/review/",
        "See the run": f"/admin/runs/run/{run.pk}/change/",
        "See the whole write or undo it": f"/admin/ledger/batch/{batch.pk}/change/",
    }
    for address in links.values():
        assert mai.get(address).status_code == 200


def test_what_a_run_wrote_without_a_person_names_the_run_and_nobody(mai, put):
    run = Run.objects.create(kind="consolidate", agent_id="coach", state="done")
    job = access.Actor(kind="job", id="coach", rights=frozenset(), source="memory:consolidate", via="job")
    put("- a\n", actor=job, run=run.public_id, proposal="0123456789ab", reason="Nothing was lost.")
    page = mai.get(MEMORY).content.decode()
    assert stretches(page) == [("today", f"{day()}, run {run.public_id[:4]}", ["1"])]
    words, _ = story(page, 1)
    assert f"Proposed by the run {run.public_id} and written without a person, " in words
    assert "Nothing was lost." in words
    assert "approved" not in words


def test_what_an_undo_put_back_says_so_and_leads_to_what_it_took_back(mai, put, person):
    put("- a\n- b\n", days=300)
    cut = put("- a\n", days=300)
    agents.undo(cut.public_id, actor=person)
    page = mai.get(MEMORY).content.decode()
    assert [row[1:] for row in stretches(page)][1] == (f"{day()}, undo by mai", ["2"])
    words, links = story(page, 2)
    assert f"Put back by an undo of the write {cut.public_id}: mai, " in words
    assert links["See what it took back"] == f"/admin/ledger/batch/{cut.pk}/change/"


def test_a_note_of_that_day_says_the_time_and_where_the_words_came_from(mai, scope):
    token, _ = registry.issue_token("night bot", rights=access.RIGHTS, actor=access.operator())
    for source in ("telegram", "delegate:helper"):
        agents.append_note("coach", f"from {source}", actor=queries.token_actor(token, source, via="api"))
    first, second = Batch.objects.order_by("pk")
    today = timezone.localdate()
    Batch.objects.update(created_at=timezone.localtime().replace(hour=17, minute=2))
    path = f"memory/{queries.today(scope)}.md"
    page = mai.get(f"/memory/coach/{path}").content.decode()
    assert queries.today(scope) == today
    assert stretches(page) == [
        ("today", "17:02, telegram", ["1", "2", "3"]),
        ("today", "17:02, night bot", ["4"]),
    ]
    assert "Written by night bot (telegram), " in story(page, 1)[0]
    assert "through api. memory_save" in story(page, 4)[0]
    assert token.public_id not in page
    assert first.pk < second.pk


def test_what_nobody_is_on_record_for_says_so(mai, scope):
    (scope.root / "MEMORY.md").write_text("- by hand\n")
    words, links = story(mai.get(MEMORY).content.decode(), 1)
    assert "nobody is on record" in words
    assert links == {}


def test_links_are_only_those_the_viewer_may_follow(mai, staff, put):
    run = Run.objects.create(kind="consolidate", agent_id="coach", state="done")
    put("- a\n", run=run.public_id, proposal="0123456789ab")
    for name in ("view_proposal", "view_run", "decide_proposal"):
        staff.user_permissions.remove(Permission.objects.get(codename=name))
    assert list(story(mai.get(MEMORY).content.decode(), 1)[1]) == ["See the whole write"]


def test_whoever_may_not_see_the_history_is_told_date_and_kind_only(client, scope, put, person):
    reader = User.objects.create_user("bob", is_staff=True)
    reader.user_permissions.add(Permission.objects.get(codename="view_agent"))
    client.force_login(reader)
    put("a\n", days=300, reason="because")
    put("a\nb\n", proposal="0123456789ab")
    cut = put("a\n")
    agents.undo(cut.public_id, actor=person)
    path = scope.root / "MEMORY.md"
    path.write_text(path.read_text() + "c\n")
    page = client.get(MEMORY).content.decode()
    assert [mark.partition(", ")[2] or mark for _, mark, _ in stretches(page)] == ["a person", "undo", "Outside"]
    main = page.partition("<main")[2]
    for hidden in ("mai", "because", "data-panel", "/admin/ledger/", "/admin/runs/", cut.public_id, "whole story"):
        assert hidden not in main.replace("main", ""), hidden


def test_the_margin_can_be_left_out_and_brought_back(mai, put):
    put("- a\n")
    assert 'href="?margin=off"' in mai.get(MEMORY).content.decode()
    page = mai.get(f"{MEMORY}?margin=off").content.decode()
    assert stretches(page) == []
    assert 'id="L1"' in page
    assert "Show who brought each line" in page


def test_a_very_long_file_is_shown_and_says_why_it_has_no_margin(mai, scope):
    (scope.root / "memory" / "long.md").write_text("x\n" * 5_001)
    page = mai.get("/memory/coach/memory/long.md").content.decode()
    assert "Who brought each line is told of files up to 5,000 lines." in page
    assert stretches(page) == []
    assert 'id="L5000"' in page


@pytest.mark.parametrize("text", ["", "\ufeff", "\n\n", "\ufeff- a\r\n\r- b"])
def test_odd_files_are_shown_too(mai, scope, text):
    (scope.root / "MEMORY.md").write_bytes(text.encode())
    page = mai.get(MEMORY)
    assert page.status_code == 200
    shown = [number for _, _, lines in stretches(page.content.decode()) for number in lines]
    assert shown == [str(number) for number in range(1, {"": 1, "\ufeff": 1, "\n\n": 3}.get(text, 4))]


def test_words_from_a_file_and_from_a_reason_are_never_markup(mai, put):
    put("- <b>tea</b>\n", reason="<i>why</i>")
    page = mai.get(MEMORY).content.decode()
    assert "&lt;b&gt;tea" in page
    assert "&lt;i&gt;why" in page
    assert "<b>tea" not in page and "<i>why" not in page
    assert "style=" not in page.partition("<main")[2]


def test_the_number_of_queries_does_not_grow_with_the_number_of_lines(mai, scope, put, django_assert_max_num_queries):
    """Neither with the lines of one write, nor with lines that each came with a write, a run and an undo of their own."""

    def counted(path):
        with django_assert_max_num_queries(1_000) as asked:
            assert mai.get(f"/memory/coach/{path}").status_code == 200
        return len(asked)

    def grow(path, lines):
        put("# day\n", path=path)
        for number in range(lines):
            run = Run.objects.create(kind="consolidate", agent_id="coach", state="done")
            with ledger.writing(scope) as desk:
                before = desk.read(path)
                change = appended(path, before, before + f"- {number}\n".encode())
                batch = desk.write([change], actor=access.operator(), run=run.public_id, proposal="0123456789ab")
            last = Batch.objects.order_by("pk").first().public_id
            Batch.objects.filter(pk=batch.pk).update(actor_kind="token", undoes=last)

    put("".join(f"- {number}\n" for number in range(5)), path="memory/short.md")
    put("".join(f"- {number}\n" for number in range(3_000)), path="memory/long.md")
    grow("memory/2026-09-18.md", 2)
    grow("memory/2026-09-19.md", 40)
    assert counted("memory/long.md") == counted("memory/short.md")
    assert counted("memory/2026-09-19.md") == counted("memory/2026-09-18.md")
