"""The review page and the list, as staff use them."""

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client

from apps.proposals import present, services
from apps.proposals.models import Proposal

pytestmark = pytest.mark.django_db(transaction=True)

NEW = "# Memory\n\n- one\n- three\n"
LIST = "/admin/proposals/proposal/"


@pytest.fixture
def mai(client: Client, staff: User) -> Client:
    for name in ("view_proposal", "view_run", "view_batch"):
        staff.user_permissions.add(Permission.objects.get(codename=name))
    client.force_login(staff)
    return client


def address(proposal, name="review"):
    return f"{LIST}{proposal.public_id}/{name}/"


def test_a_get_never_decides(mai, propose, memory):
    proposal = propose(NEW)
    for name in ("approve", "reject", "undo", "reopen"):
        assert mai.get(address(proposal, name)).status_code == 405
    proposal.refresh_from_db()
    assert proposal.state == "pending"


def test_without_the_permission_the_page_can_be_read_and_nothing_decided(client, propose, memory):
    reader = User.objects.create_user("bob", is_staff=True)
    reader.user_permissions.add(Permission.objects.get(codename="view_proposal"))
    client.force_login(reader)
    proposal = propose(NEW)
    page = client.get(address(proposal))
    assert page.status_code == 200
    assert "Approve" not in page.content.decode()
    for name in ("approve", "reject", "reopen"):
        assert client.post(address(proposal, name)).status_code == 403
    assert client.post(LIST, {"action": "reject_selected", "_selected_action": [proposal.pk]}).status_code in {
        200,
        302,
        403,
    }
    proposal.refresh_from_db()
    assert proposal.state == "pending"


def test_whoever_may_not_even_look_gets_403_and_a_stranger_the_login(client, propose, memory):
    proposal = propose(NEW)
    assert client.get(address(proposal)).status_code == 302
    client.force_login(User.objects.create_user("charlie", is_staff=True))
    assert client.get(address(proposal)).status_code == 403
    assert client.post(address(proposal, "approve")).status_code == 403


def test_approving_leads_to_the_next_with_undo_in_the_strip(mai, propose, memory):
    proposal = propose(NEW)
    other = services.propose_rewrite(
        "default", path="MEMORY.md", text=b"x", previous=None, reasons="", analysis={}, source="memory:consolidate"
    )
    answer = mai.post(address(proposal, "approve"), {"seen": services.preview(proposal).digest}, follow=True)
    assert answer.redirect_chain[-1][0] == present.url(other)
    assert "Approved for coach." in answer.content.decode()
    assert memory.read_text() == NEW
    undone = mai.post(address(proposal, "undo"), follow=True)
    assert "Taken back." in undone.content.decode()
    assert memory.read_text() == "# Memory\n\n- one\n- two\n"


def test_a_refused_decision_is_409_and_keeps_what_was_typed(mai, propose, memory):
    proposal = propose(NEW)
    memory.write_text("edited\n")
    refused = mai.post(address(proposal, "approve"), {"seen": services.preview(proposal).digest})
    assert refused.status_code == 409
    assert "changed after this was proposed" in refused.content.decode()
    long = "quite a long reason " * 200
    second = propose("- x\n")
    refused = mai.post(address(second, "reject"), {"why": "private", "reason": long})
    assert refused.status_code == 409
    assert "quite a long reason" in refused.content.decode()


def test_bulk_reject_goes_row_by_row_and_reports_those_decided_already(mai, crew, person):
    rows = []
    for number in range(5):
        proposal = services.propose_rewrite(
            "coach", path="MEMORY.md", text=f"{number}".encode(), previous=None, reasons="", analysis={}, source="x"
        )
        if number < 3:
            services.reject(proposal.public_id, actor=person)
        rows.append(proposal)
    selected = [one.pk for one in rows]
    page = mai.post(LIST, {"action": "reject_selected", "_selected_action": selected, "reason": "no"}, follow=True)
    text = page.content.decode()
    assert "Rejected 1 proposal." in text
    assert text.count("rejected already") == 3
    assert text.count("it was superseded") == 1
    assert Proposal.objects.get(pk=rows[4].pk).decision_reason == "no"


def test_the_list_offers_no_way_to_approve_delete_add_or_edit(mai, propose, memory):
    proposal = propose(NEW)
    page = mai.get(LIST).content.decode()
    assert "delete_selected" not in page
    assert "Approve" not in page
    assert mai.get(f"{LIST}add/").status_code == 403
    assert mai.post(f"{LIST}{proposal.pk}/delete/", {"post": "yes"}).status_code == 403
    assert mai.post(f"{LIST}{proposal.pk}/change/", {"state": "approved"}).status_code == 302
    proposal.refresh_from_db()
    assert proposal.state == "pending"


def test_what_waits_comes_first_and_is_counted_in_the_index(mai, propose, memory, person):
    services.reject(propose(NEW).public_id, actor=person)
    waiting = propose("- y\n")
    services.reject(propose("- z\n").public_id, actor=person)
    waiting = propose("- w\n")
    page = mai.get(LIST).content.decode()
    first = page.index("/review/")
    assert page[page.rindex('"', 0, first) :].startswith(f'"{LIST}{waiting.public_id}/review/')
    assert "1 wait" in page
    assert '<span class="pill">1' in mai.get("/admin/").content.decode()


def test_the_list_computes_no_difference(mai, propose, memory, monkeypatch):
    from apps.vault import pairing

    propose(NEW)
    monkeypatch.setattr(pairing, "differences", lambda *args, **kwargs: pytest.fail("the list compared texts"))
    assert mai.get(LIST).status_code == 200


def test_c29_two_thousand_changed_lines_are_shown_in_groups_with_both_texts_one_click_away(mai, propose, scope):
    lines = [f"- [09:15] job {n} finished ok in 31s" for n in range(2_000)]
    (scope.root / "MEMORY.md").write_text("\n".join(lines))
    proposal = propose("\n".join(line.replace("ok", "well") for line in lines))
    page = mai.get(address(proposal)).content.decode()
    assert page.count("finished") < 300
    assert "Show the other 1,9" in page
    assert "Approve" in page
    for side, text in (("now", lines[0]), ("after", "finished well")):
        whole = mai.get(f"{address(proposal, 'text')}{side}/")
        assert whole["Content-Type"].startswith("text/plain")
        assert text in whole.content.decode()
    assert mai.get(f"{address(proposal, 'text')}else/").status_code == 404


def test_c29_a_text_too_long_to_compare_is_decided_by_its_whole_texts(mai, propose, scope):
    (scope.root / "MEMORY.md").write_text("- " + "word " * 400_000)
    proposal = propose("- " + "other " * 100_000)
    page = mai.get(address(proposal)).content.decode()
    assert "Too long to show entry by entry" in page
    assert "Approve" in page
    assert f"{address(proposal, 'text')}now/" in page
    assert len(page) < 100_000


def test_text_from_a_model_is_text_on_the_page(mai, propose, memory):
    attack = "<img src=x onerror=alert(1)><script>alert(1)</script></textarea>"
    proposal = propose(f"# Memory\n\n- one\n- {attack}\n", reasons=f"- {attack}")
    for view in ("", "?view=side", "?view=whole"):
        page = mai.get(address(proposal) + view).content.decode()
        assert "<img src=x" not in page
        assert "<script>alert" not in page
        assert "&lt;img src=x" in page


def test_removed_words_are_never_struck_and_changed_words_are_marked_in_both_halves(mai, propose, memory):
    memory.write_text("# Memory\n\n- the mill delivers flour on Tuesday morning\n- no croissants on Mondays\n")
    proposal = propose("# Memory\n\n- the mill delivers flour on Wednesday morning\n")
    marked = mai.get(address(proposal)).content.decode()
    assert "croissants" in marked
    assert [part for part in marked.split("<del")[1:] if "croissants" in part.split("</del>")[0]] == []
    side = mai.get(address(proposal) + "?view=side").content.decode()
    assert "Tuesday</del>" in side
    assert "Wednesday</ins>" in side


def test_a_new_address_without_a_source_is_said_once(mai, propose, memory):
    page = mai.get(address(propose("# Memory\n\n- one\n- two\n- prices: bad.example/list\n"))).content.decode()
    assert page.count("no source found in the notes read.") == 1
    assert "No source found in the notes read." not in page


def test_an_agent_that_left_leaves_only_the_rejection(mai, propose, memory):
    from apps.agents import registry

    proposal = propose(NEW)
    registry.archive("coach")
    page = mai.get(address(proposal)).content.decode()
    assert "Approve" not in page
    assert "Its agent has left" in page
    mai.post(address(proposal, "reject"), {"why": "", "reason": ""})
    proposal.refresh_from_db()
    assert proposal.state == "rejected"


def test_a_decided_proposal_says_how_it_ended_and_leads_to_what_was_written(mai, propose, memory, person):
    proposal = propose(NEW)
    services.approve(proposal.public_id, seen=None, actor=person)
    page = mai.get(address(proposal)).content.decode()
    assert "Approved by mai" in page
    assert "What was written" in page
    assert "Undo" in page
    turned_down = propose("# Memory\n\n- one\n- four\n")
    services.reject(turned_down.public_id, actor=person, reason="only this week")
    assert "only this week" in mai.get(address(turned_down)).content.decode()
    assert present.url(turned_down) in mai.get(f"{LIST}?state__exact=rejected").content.decode()
    assert present.url(proposal) not in mai.get(f"{LIST}?state__exact=rejected").content.decode()


def test_the_list_tells_what_wants_time_from_what_is_quick_and_can_be_narrowed_to_stops(mai, propose, memory):
    quick = services.propose_rewrite(
        "default", path="MEMORY.md", text=b"x", previous=None, reasons="", analysis={}, source="memory:consolidate"
    )
    slow = propose("# Memory\n\n- prices: bad.example/list\n")
    page = mai.get(LIST).content.decode()
    assert "2 wait. 1 wants time, 1 is quick." in page
    assert page.index(present.url(slow), page.index("Take your time")) < page.index(">Quick<")
    assert page.index(">Quick<") < page.index(present.url(quick), page.index(">Quick<"))
    stops = mai.get(f"{LIST}?worst=stop").content.decode().partition('id="result_list"')[2]
    assert present.url(slow) in stops
    assert present.url(quick) not in stops


def approved(mai, proposal):
    return mai.post(address(proposal, "approve"), {"seen": services.preview(proposal).digest}, follow=True)


def in_default(text=b"x"):
    return services.propose_rewrite(
        "default", path="MEMORY.md", text=text, previous=None, reasons="", analysis={}, source="memory:consolidate"
    )


def test_after_the_last_decision_the_list_offers_to_take_it_back(mai, propose, memory):
    proposal = propose(NEW)
    page = approved(mai, proposal)
    assert page.redirect_chain[-1][0] == LIST
    strip = page.content.decode().partition('class="strip"')[2].partition("</form>")[0]
    assert address(proposal, "undo") in page.content.decode()
    assert "Approved for coach." in strip and 'data-key="u"' in strip and ">Undo<" in strip


def test_a_rejection_can_be_reopened_from_the_strip_and_only_while_nobody_did(mai, propose, memory):
    proposal = propose(NEW)
    page = mai.post(address(proposal, "reject"), {"why": "", "reason": ""}, follow=True).content.decode()
    strip = page.partition('class="strip"')[2].partition("</form>")[0]
    assert address(proposal, "reopen") in strip
    assert 'data-key="u"' in strip and ">Reopen<" in strip
    services.reopen(proposal.public_id, actor=person_of(mai))
    assert 'class="strip"' not in mai.get(LIST).content.decode()


def person_of(client):
    from apps import access

    return access.staff(User.objects.get(username="mai"), via="web")


def test_the_strip_stays_while_the_decision_can_be_taken_back_and_no_longer(mai, propose, memory):
    proposal, other = propose(NEW), in_default()
    approved(mai, proposal)
    for _ in range(2):
        assert "Approved for coach." in mai.get(address(other)).content.decode()
    own = mai.get(address(proposal)).content.decode()
    assert 'class="strip"' not in own
    assert own.count('data-key="u"') == 1
    undone = mai.post(address(proposal, "undo"), follow=True).content.decode()
    assert "Taken back." in undone and "Approved for coach." not in undone
    assert 'class="strip"' not in mai.get(address(other)).content.decode()


def test_a_write_taken_back_elsewhere_takes_the_strip_with_it(mai, propose, memory):
    from apps.agents import services as agents

    proposal, other = propose(NEW), in_default()
    approved(mai, proposal)
    proposal.refresh_from_db()
    agents.undo(proposal.batch, actor=person_of(mai))
    assert 'class="strip"' not in mai.get(address(other)).content.decode()


def test_a_refused_decision_replaces_the_strip(mai, propose, memory, home):
    proposal, other = propose(NEW), in_default()
    approved(mai, proposal)
    (home / "MEMORY.md").write_text("by hand\n")
    refused = mai.post(address(other, "approve"), {"seen": services.preview(other).digest}).content.decode()
    assert "Not approved." in refused
    assert 'class="strip"' not in refused
    assert 'class="strip"' not in mai.get(LIST).content.decode()


def test_the_button_names_everything_it_writes(mai, propose, memory):
    before = b"- tea with milk (2026-01-01)\n- one\n"
    memory.write_bytes(before)
    proposal = services.propose_rewrite(
        "coach",
        path="MEMORY.md",
        text=b"- tea with milk (2026-02-02)\n- one\n- three apples\n- four pears\n",
        previous=before,
        reasons="",
        analysis={"counts": {"added": 2, "redated": 1}},
        source="x",
    )
    page = mai.get(address(proposal)).content.decode()
    assert "Approve all 2 and 1 date<" in page
    assert "2 entries change, 1 date" in page


@pytest.mark.parametrize(
    ("entries", "dates", "button", "count"),
    [
        (0, 0, "Approve", ""),
        (1, 0, "Approve", "1 entry changes"),
        (3, 0, "Approve all 3", "3 entries change"),
        (0, 1, "Approve 1 date", "1 date"),
        (0, 4, "Approve all 4 dates", "4 dates"),
        (1, 1, "Approve 1 and 1 date", "1 entry changes, 1 date"),
        (1_200, 2, "Approve all 1,200 and 2 dates", "1,200 entries change, 2 dates"),
    ],
)
def test_entries_and_dates_in_numbers(entries, dates, button, count):
    from apps.proposals import sentences

    assert (sentences.approve(entries, dates), sentences.how_much(entries, dates)) == (button, count)


def test_list_walk_and_home_go_from_the_oldest_waiting_to_the_newest(mai, propose, memory, home):
    from apps.agents import registry

    registry.add("kira")
    rows = [in_default(), propose("# Memory\n\n- one\n- two\n- three\n")]
    rows.append(
        services.propose_rewrite(
            "kira", path="MEMORY.md", text=b"y", previous=None, reasons="", analysis={}, source="x"
        )
    )
    wanted = [present.url(one) for one in rows]
    for page in (mai.get("/").content.decode(), mai.get(LIST).content.decode()):
        lines = page.partition('<ul class="lines">')[2] or page.partition('id="result_list"')[2]
        places = [lines.index(url) for url in wanted]
        assert places == sorted(places)
        assert page.index(wanted[0]) == min(page.index(url) for url in wanted)  # “Review from the top” is the first


def test_a_superseded_row_leads_to_its_successor_and_an_undone_one_says_so(mai, propose, memory, person):
    from apps.agents import services as agents

    old = propose(NEW)
    new = propose("# Memory\n\n- one\n- five\n")
    page = mai.get(f"{LIST}?state__exact=superseded").content.decode()
    assert f'href="{present.url(new)}">See what replaced it' in page
    assert present.url(old) in page
    services.approve(new.public_id, seen=None, actor=person)
    new.refresh_from_db()
    agents.undo(new.batch, actor=person)
    assert "<strong>Taken back</strong>" in mai.get(f"{LIST}?state__exact=approved").content.decode()


def test_keys_are_told_only_where_they_work(mai, propose, memory):
    proposal = propose(NEW)
    assert "<kbd>j</kbd>" in mai.get(address(proposal)).content.decode()
    assert "<kbd>j</kbd>" not in mai.get(address(proposal) + "?view=whole").content.decode()


def test_a_reader_sees_no_button_that_would_be_refused(client, propose, memory, person):
    rejected = propose(NEW)
    services.reject(rejected.public_id, actor=person)
    written = propose("# Memory\n\n- one\n- six\n")
    services.approve(written.public_id, seen=None, actor=person)
    reader = User.objects.create_user("bob", is_staff=True)
    reader.user_permissions.add(Permission.objects.get(codename="view_proposal"))
    client.force_login(reader)
    for proposal in (rejected, written):
        page = client.get(address(proposal)).content.decode()
        for name in ("approve", "reject", "undo", "reopen"):
            assert address(proposal, name) not in page
    assert "undo or reopening" not in client.get(LIST).content.decode()


def test_a_rejection_that_a_busy_database_refuses_is_503_and_keeps_what_was_typed(mai, propose, memory, monkeypatch):
    from django.db import OperationalError

    proposal = propose(NEW)

    def busy(*args, **kwargs):
        raise OperationalError("database is locked")

    monkeypatch.setattr(services, "_claim", busy)
    refused = mai.post(address(proposal, "reject"), {"why": "private", "reason": "typed words"})
    assert refused.status_code == 503
    assert "typed words" in refused.content.decode()
    proposal.refresh_from_db()
    assert proposal.state == "pending"


def test_a_rejected_one_is_reopened_once(mai, propose, memory, person):
    proposal = propose(NEW)
    services.reject(proposal.public_id, actor=person)
    assert "Reopen" in mai.get(address(proposal)).content.decode()
    assert mai.post(address(proposal, "reopen")).status_code == 302
    assert address(proposal, "reopen") not in mai.get(address(proposal)).content.decode()
    assert mai.post(address(proposal, "reopen")).status_code == 409
