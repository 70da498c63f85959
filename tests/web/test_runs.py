"""Runs as people see them: the page of one, the list, the home page, “Consolidate now”, the head of a review."""

import re
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from types import SimpleNamespace
from zoneinfo import ZoneInfo

import pytest
from django.contrib.auth.models import Permission, User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from apps.agents import registry
from apps.agents import services as agents
from apps.errors import ModelFailed
from apps.jobs import execution
from apps.ledger.models import Batch
from apps.llm import client as llm
from apps.proposals.models import Proposal
from apps.runs import services as runs
from apps.runs.models import Call, Pulse, Run
from apps.web import home_page, night, outcomes
from tests.jobs.running import consolidate

pytestmark = pytest.mark.django_db(transaction=True)

MEMORY = "# Memory\n\n- likes tea (2026-01-05)\n- works at the bakery\n"
KEPT = f"{MEMORY}- tea is at four (2026-09-19)\n"
NOW = datetime(2026, 9, 21, 7, 0, tzinfo=UTC)


@pytest.fixture
def root(client: Client, db: None) -> Client:
    client.force_login(User.objects.create_superuser("root"))
    return client


@pytest.fixture
def mai(client: Client, staff: User) -> Client:
    client.force_login(staff)
    return client


@pytest.fixture
def model(monkeypatch):
    """What asks a model gets these answers, in order."""
    answers: list[llm.Answer] = []

    def says(text: str, **told) -> None:
        fields = {"cost": Decimal("0.0112"), "finish_reason": "stop", "attempts": (), **told}
        answers.append(
            llm.Answer(
                text=text,
                provider="openai",
                model="openai/gpt-x",
                prompt_tokens=8_800,
                completion_tokens=612,
                seconds=13.6,
                **fields,
            )
        )

    monkeypatch.setattr(llm, "ask", lambda task, *, route: answers.pop(0))
    return SimpleNamespace(says=says)


@pytest.fixture
def noted(scope):
    """`coach` with a memory and one note."""
    (scope.root / "MEMORY.md").write_text(MEMORY)
    (scope.root / "memory" / "2026-09-19.md").write_text(
        "# day\n\n- 08:00 tea is at four\n- api_key: sk-9fQ2xL0vTz71\n"
    )
    return scope


def run_of(agent_id: str, ago: int = 60, **fields) -> Run:
    """A run that took 14 seconds, `ago` seconds ago."""
    fields = {"state": "done", "kind": "consolidate", "source": "memory:consolidate", **fields}
    at = timezone.now() - timedelta(seconds=ago)
    run = Run.objects.create(agent_id=agent_id, **fields)
    times = {"created_at": at, "started_at": None if run.state == "queued" else at}
    ended = run.state not in {"queued", "running"}
    Run.objects.filter(pk=run.pk).update(**times, finished_at=at + timedelta(seconds=14) if ended else None)
    run.refresh_from_db()
    return run


def call_of(run: Run, ago: int = 0, **fields) -> Call:
    call = Call.objects.create(run=run, purpose="rewrite", route="openai/gpt-x", prompt_sha="x", **fields)
    Call.objects.filter(pk=call.pk).update(asked_at=timezone.now() - timedelta(seconds=ago))
    return call


def page_of(browser: Client, run: Run) -> str:
    answer = browser.get(f"/admin/runs/run/{run.pk}/change/")
    assert answer.status_code == 200
    return re.sub(r"\s*(</?(?:dd|dt|td|p)\b[^>]*>)\s*", r"\1", answer.content.decode().replace("\xa0", " "))


def home_of(browser: Client) -> str:
    return browser.get("/").content.decode().replace("\xa0", " ")


# The page of a run


def test_a_run_tells_its_tokens_price_estimate_calls_and_the_requests_without_an_answer(root, noted, model):
    silent = llm.Attempt("openai/gpt-y", "openai", 120.0, "timeout")
    busy = llm.Attempt("openai/gpt-y", "openai", 0.4, "rate_limited", 429)
    model.says(KEPT, attempts=(silent, busy))
    run = consolidate("coach")
    Run.objects.filter(pk=run.pk).update(estimate={"notes": 1, "cost": "0.120000"})
    page = page_of(root, run)
    for told in (
        "coach: adds 1",
        "9,412: 8,800 in, 612 out",
        "$0.011, estimated at about $0.12",
        "openai/gpt-y: silent for 120 s",
        "openai/gpt-y: too many requests (429)",
        '<th scope="row">Rewrite</th>',
        "whole",
        "Its proposal now: Waits.",
        f"/{Proposal.objects.get().public_id}/review/",
    ):
        assert told in page, told


def test_an_unknown_price_is_said_to_be_unknown_everywhere_and_never_nothing(root, noted, model):
    model.says(KEPT, cost=None)
    run = consolidate("coach")
    Call.objects.update(free=False)
    page = page_of(root, run)
    assert "<dt>Price</dt><dd>unknown</dd>" in page
    assert '<td data-label="Price">unknown</td>' in page
    assert "price unknown" in home_of(root)
    listed = root.get("/admin/runs/run/").content.decode()
    assert "1 call of unknown price." in listed
    for page in (page_of(root, run), home_of(root)):
        assert "$0" not in page


def test_what_costs_nothing_is_free(root, noted):
    run = consolidate("coach")
    assert "<dt>Price</dt><dd>free</dd>" in page_of(root, run)


def test_the_lines_in_which_a_credential_was_masked_are_links_and_the_credential_is_nowhere(root, noted, model):
    model.says(KEPT)
    page = page_of(root, consolidate("coach"))
    assert "Masked before the model read it" in page
    assert 'href="/memory/coach/memory/2026-09-19.md?line=4#L4">2026-09-19, line 4: a' in page
    assert "sk-9fQ2xL0vTz71" not in page


def test_a_masked_line_whose_note_is_gone_is_no_link(root, noted, model):
    model.says(KEPT)
    run = consolidate("coach")
    (noted.root / "memory" / "2026-09-19.md").unlink()
    page = page_of(root, run)
    assert "memory/2026-09-19.md, line 4: a" in page
    assert "?line=4" not in page


def test_an_answer_paid_for_by_an_earlier_run_names_that_run(root, noted, model):
    model.says(KEPT)
    first = consolidate("coach")
    Run.objects.filter(pk=first.pk).update(state="lost")
    Call.objects.update(used=False)
    Proposal.objects.all().delete()
    page = page_of(root, consolidate("coach", force=True))
    assert f'href="/admin/runs/run/{first.pk}/change/">answer of run {first.public_id}, paid before' in page
    assert "paid before</td>" in page


def test_what_a_run_wrote_is_linked_for_whoever_may_see_the_history(client, staff, noted, model):
    registry.change("coach", autonomous=True)
    model.says(KEPT)
    run = consolidate("coach")
    assert run.outcome == "written"
    client.force_login(staff)
    staff.user_permissions.add(Permission.objects.get(codename="view_run"))
    batch = reverse("admin:ledger_batch_change", args=[Batch.objects.get().pk])
    page = page_of(client, run)
    assert "Written by itself: nothing was lost and nothing stood against it." in page
    assert "MEMORY.md, " in page
    assert batch not in page
    client.force_login(User.objects.create_superuser("root"))
    assert f'href="{batch}"' in page_of(client, run)


def test_a_run_that_proposed_what_waited_already_leads_to_that_proposal(root, noted, model):
    for _ in range(2):
        model.says(KEPT)
        run = consolidate("coach", force=True)
    one = Proposal.objects.get()
    assert one.run != run.public_id
    assert f"/{one.public_id}/review/" in page_of(root, run)
    assert "coach: adds 1" in page_of(root, run)


def test_a_note_that_was_read_in_part_is_named(root, noted, model, settings):
    settings.MEMORYHUB_NOTES_CHARACTERS = settings.MEMORYHUB_INPUT_CHARACTERS = 200
    (noted.root / "memory" / "2026-09-19.md").write_text("# day\n\n" + "- 08:00 tea is at four, as always\n" * 40)
    model.says(KEPT)
    assert "The note 2026-09-19 was too long and was read in part." in page_of(root, consolidate("coach"))


@pytest.mark.parametrize(
    ("state", "outcome", "title", "todo"),
    [
        ("failed", "provider_error", "coach: no answer from a model", "A second model in MEMORYHUB_MODEL"),
        ("failed", "truncated", "coach: the answer was cut off", "Raise MEMORYHUB_MODEL_OUTPUT_TOKENS"),
        ("failed", "bad_answer", "coach: the answer was no memory", "choose another model"),
        ("failed", "disk_full", "coach: the disk is full", "Make room on the disk."),
        ("failed", "crashed", "coach: an error nobody foresaw", "The worker&#x27;s log"),
        ("refused", "over_budget", "coach: over budget", "raise the budget"),
        ("refused", "price_unknown", "coach: its price is unknown", ""),
        ("failed", "something_new", "coach: Failed", ""),
    ],
)
def test_a_run_that_failed_says_what_did_not_happen_why_and_what_to_do(root, crew, state, outcome, title, todo):
    page = page_of(root, run_of("coach", state=state, outcome=outcome, error="This is <why>."))
    assert f'<h1 class="title">{title}</h1>' in page
    assert "<b>Nothing was proposed and nothing was written.</b> This is &lt;why&gt;." in page
    assert todo in page
    assert "The next run reads the same notes." in page
    assert 'action="/memory/coach/consolidate/"' in page


def test_a_memory_that_is_not_utf8_is_named_with_its_line_as_a_link(root, noted):
    (noted.root / "MEMORY.md").write_bytes(b"# Memory\n\n- caf\xe9\n")
    with pytest.raises(ModelFailed):
        consolidate("coach", force=True)
    page = page_of(root, Run.objects.get())
    assert "coach: MEMORY.md is not plain UTF-8" in page
    assert 'href="/memory/coach/MEMORY.md?line=3#L3">MEMORY.md, line 3</a>' in page


def test_a_refused_run_shows_every_budget_what_is_spent_of_it_and_when_it_begins_anew(root, crew, settings):
    settings.MEMORYHUB_BUDGET_DAY, settings.MEMORYHUB_BUDGET_MONTH = None, Decimal(20)
    registry.change("coach", budget_day=Decimal("0.05"))
    call_of(run_of("coach"), state="answered", cost=Decimal("0.048"))
    page = page_of(root, run_of("coach", state="refused", outcome="over_budget", error="Too much."))
    assert "$0.048 of $0.05 today for coach; the next day begins " in page
    assert "$0.048 of $20.00 this month for all agents; the next month begins 1 " in page
    assert "$20.00" not in page_of(root, run_of("coach", state="failed", outcome="bad_answer", error="No."))


def test_a_lost_run_names_its_next_attempt_and_that_one_names_the_lost(root, crew):
    lost = run_of("coach", state="lost", outcome="lost", error="The process ended.")
    again = runs.again(lost)
    page = page_of(root, lost)
    assert "The worker that ran it ended before it did.</p>" in page
    assert "Attempt 2 of 3 is queued." in page
    assert f'href="/admin/runs/run/{again.pk}/change/">See that run</a>' in page
    assert (
        f'2 of 3, <a class="link" href="/admin/runs/run/{lost.pk}/change/">after run {lost.public_id}</a>'
        in page_of(root, again)
    )


def test_a_lost_run_whose_question_may_have_been_paid_for_waits_for_the_night(root, crew):
    registry.change("coach", cron="10 3 * * *")
    lost = run_of("coach", state="lost", outcome="lost", error="The process ended.")
    call_of(lost, state="asked")
    page = page_of(root, lost)
    assert "It tries again " in page
    assert "What it asked may have been paid for, so nothing asks again before." in page
    assert "asked; nobody saw an answer" in page


def test_a_run_whose_question_was_free_has_no_unknown_price(root, crew):
    lost = run_of("coach", state="lost", outcome="lost", error="The process ended.")
    call_of(lost, state="asked", free=True)
    page = page_of(root, lost)
    assert "may have been paid for" not in page
    assert "unknown" not in page


def test_a_queued_run_is_followed_and_says_whether_a_worker_is_there(root, crew):
    run_of("default", state="queued")
    page = page_of(root, run_of("coach", state="queued", asked_by="mai"))
    assert '<div id="run" data-follow>' in page
    assert "Waits for a worker. 1 run is before it." in page
    assert "No worker was ever seen. 2 runs wait for it." in page
    assert "You may leave this page" in page
    assert "Look again" in page
    assert "<dd>mai</dd>" in page
    runs.pulse()
    assert "No worker" not in page_of(root, Run.objects.get(agent_id="coach"))


def test_a_running_run_says_what_it_does_and_for_how_long(root, crew):
    run = run_of("coach", state="running", ago=40)
    assert re.search(r"Reading the notes, 4\d s\.", page_of(root, run))
    call = call_of(run, state="asked", ago=14)
    page = page_of(root, run)
    assert re.search(r"Asking openai/gpt-x, 1\d s of at most 120 s for each\.", page)
    assert "unknown" not in page, "the price of what is under way"
    Call.objects.filter(pk=call.pk).update(state="answered", route="a/b, c/d")
    assert re.search(r"Judging the answer, 4\d s\.", page_of(root, run))


def test_a_run_that_takes_longer_than_one_can_says_so(root, crew, settings):
    run = run_of("coach", state="running", ago=settings.MEMORYHUB_QUEUE_TIMEOUT + 60)
    assert "No run may take that long." in page_of(root, run)


def test_an_ended_run_is_not_followed(root, crew):
    page = page_of(root, run_of("coach", outcome="unchanged"))
    assert "data-follow" not in page
    assert "Look again" not in page


def test_a_run_with_thousands_of_masked_lines_opens(root, noted):
    masked = [["memory/2026-09-19.md", line, "key"] for line in range(1, 5_001)]
    page = page_of(root, run_of("coach", credentials=masked))
    assert "And 4940 more." in page
    assert "5000</span>" in page


def test_a_run_of_an_agent_that_left_opens(root, noted, model):
    model.says(KEPT)
    run = consolidate("coach")
    registry.archive("coach")
    page = page_of(root, run)
    assert "2026-09-19" in page
    page = page_of(root, run_of("coach", state="failed", outcome="not_found", error="There is no agent."))
    assert "coach: the agent is gone" in page
    assert "The next run reads" not in page


# The list


def test_the_list_says_what_was_spent_beside_the_budgets_of_all_agents(root, crew, settings):
    settings.MEMORYHUB_BUDGET_DAY = settings.MEMORYHUB_BUDGET_MONTH = None
    run = run_of("coach", outcome="unchanged", prompt_tokens=12_000, completion_tokens=345, answered=True)
    call_of(run, state="answered", cost=Decimal("0.04"))
    call_of(run, state="failed", cost=None)
    page = root.get("/admin/runs/run/").content.decode()
    assert "Today $0.04 in 2 calls, this month $0.04. 1 call of unknown price." in page
    assert "Budgets" not in page
    assert "12,345" in page
    assert "$0.04 and unknown" in page
    settings.MEMORYHUB_BUDGET_DAY = Decimal(1)
    page = root.get("/admin/runs/run/").content.decode()
    assert "Today $0.04 of $1.00 in 2 calls" in page
    assert "Budgets are for all agents together." in page


def test_neither_the_list_nor_the_home_page_asks_the_database_once_a_run(root, noted, model):
    registry.change("coach", cron="10 3 * * *")
    model.says(KEPT)
    consolidate("coach")

    def queries(address: str) -> int:
        with CaptureQueriesContext(
            connection,
        ) as captured:
            assert root.get(address).status_code == 200
        return len(captured)

    def more(n: int) -> None:
        for number in range(n):
            call_of(run_of("coach", outcome="unchanged"), state="answered", cost=Decimal("0.01"))
            source = "job:coach/night"
            call_of(run_of("coach", state="failed", outcome="bad_answer", source=source, error="No."), state="failed")
            run_of("coach", state="failed", outcome="bad_answer", error=str(number))
            one = run_of("coach", outcome="proposed", ago=3600)
            Proposal.objects.filter(run="").update(run=one.public_id)

    more(2)
    addresses = ("/", "/admin/runs/run/")
    before = [queries(address) for address in addresses]
    more(20)
    assert [queries(address) for address in addresses] == before


def test_an_empty_list_says_what_makes_the_first_run(root, crew):
    assert "No runs yet. A night makes one" in root.get("/admin/runs/run/").content.decode()


# Home


def test_the_last_night_comes_first_and_other_runs_after_it(root, crew):
    today = timezone.localdate()
    run_of("coach", ago=90_000, source="job:coach/night", local_date=today - timedelta(days=1), outcome="unchanged")
    run_of("coach", ago=7200, source="job:coach/night", local_date=today, outcome="unchanged")
    run_of("default", ago=7100, source="job:default/night", local_date=today, state="failed", error="No answer at all.")
    run_of("coach", outcome="unchanged")
    page = home_of(root)
    night_part, others = page.partition('id="others"')[0].partition('id="night"')[2], page.partition('id="others"')[2]
    assert "Last night" in night_part
    assert "2 runs" in night_part
    assert night_part.count("<strong>coach</strong>") == 1
    assert "<strong>default</strong>: failed" in night_part.replace("Failed", "failed")
    assert others.count("<strong>coach</strong>") == 2


def test_a_night_long_past_is_called_by_its_date(root, crew):
    run_of("coach", ago=5 * 86_400, source="job:coach/night", local_date=date(2026, 9, 1), outcome="unchanged")
    page = home_of(root)
    assert "Last night" not in page
    assert "The night of " in page


def test_a_failed_run_says_what_was_not_written_when_it_tries_again_and_offers_another(root, crew):
    registry.change("coach", cron="10 3 * * *")
    run_of("coach", state="failed", outcome="provider_error", error="No answer within 120 seconds.")
    page = home_of(root)
    assert "<strong>coach</strong>: no answer from a model" in page
    assert "No answer within 120 seconds. Nothing was proposed and nothing was written. It tries again " in page
    assert " at 03:10." in page
    assert 'action="/memory/coach/consolidate/"' in page


def test_a_failure_that_a_later_run_made_good_is_not_tried_again(root, crew):
    run_of("coach", state="failed", outcome="provider_error", error="No answer.")
    run_of("coach", outcome="unchanged")
    page = home_of(root)
    assert "A later run read the same notes." in page
    assert "Run now" not in page


def test_what_a_job_wrote_by_itself_says_so_until_it_is_taken_back(root, person, noted, model):
    registry.change("coach", autonomous=True)
    model.says(KEPT)
    consolidate("coach")
    batch = Batch.objects.get()
    link = f'href="/admin/ledger/batch/{batch.pk}/change/">What was written</a>'
    assert "Written by itself" in home_of(root)
    assert link in home_of(root)
    assert "Written by itself" in root.get("/admin/runs/run/").content.decode()
    agents.undo(batch.public_id, actor=person)
    assert "Written by itself" not in home_of(root)
    assert "Taken back" in home_of(root)


def test_trouble_stands_above_everything(root, crew):
    queued = run_of("coach", state="queued", ago=900)
    page = home_of(root)
    assert "No worker was ever seen. 1 run waits for it." in page
    assert page.index("No worker") < page.index("<h1")
    runs.pulse()
    page = home_of(root)
    assert "No worker" not in page
    assert "The run of coach has waited since" in page
    assert page.index("The run of coach has waited") < page.index("<h1")
    Run.objects.filter(pk=queued.pk).update(created_at=timezone.now())
    assert "has waited since" not in home_of(root)
    Pulse.objects.update(at=timezone.now() - timedelta(hours=2))
    assert "No worker since" in home_of(root)


def test_a_crew_without_nights_is_told_how_to_have_one(root, mai, crew):
    page = home_of(mai)
    assert "No agent has nights. Set one:" in page
    assert "manage.py agents set ID --cron" in page
    registry.change("coach", cron="10 3 * * *")
    page = home_of(mai)
    assert "No agent has nights" not in page
    assert "The next night begins" in page


@pytest.mark.parametrize(
    ("at", "zone", "told"),
    [
        (datetime(2026, 9, 22, 3, 10), "UTC", "tonight at 03:10"),
        (datetime(2026, 9, 21, 22, 30), "UTC", "tonight at 22:30"),
        (datetime(2026, 9, 21, 12, 0), "UTC", "today at 12:00"),
        (datetime(2026, 9, 22, 12, 0), "UTC", "tomorrow at 12:00"),
        (datetime(2026, 9, 24, 3, 10), "UTC", "24 Sep at 03:10"),
        (datetime(2026, 9, 22, 3, 10), "Asia/Tokyo", "tonight at 03:10 in Asia/Tokyo"),
        (datetime(2026, 9, 21, 6, 59), "UTC", "now"),
    ],
)
def test_a_coming_night_is_named_as_people_in_its_zone_say_it(at, zone, told):
    assert night.when(at.replace(tzinfo=ZoneInfo(zone)), NOW) == told


def test_each_agent_has_its_own_latest_date_in_a_night_across_zones(root, crew):
    """At one moment it is the 21st for one agent and still the 20th for another."""
    run_of("coach", ago=40_000, source="job:coach/night", local_date=date(2026, 9, 20), outcome="unchanged")
    run_of("default", ago=600, source="job:default/night", local_date=date(2026, 9, 21), outcome="unchanged")
    assert [run.agent_id for run in home_page._latest_night(list(Run.objects.all()))] == ["default", "coach"]


def test_every_outcome_of_a_consolidation_has_its_words(crew):
    for outcome in ("nothing_newer", "unchanged", "provider_error", "truncated", "over_budget", "lost", "busy"):
        assert outcomes.what(Run(state="done" if outcome in {"nothing_newer", "unchanged"} else "failed",
                                 outcome=outcome), None) not in {"Failed", "nothing proposed"}  # fmt: skip


# Consolidate now


def test_the_button_on_a_memory_queues_a_run_and_leads_to_its_page(root, noted):
    page = root.get("/memory/coach/MEMORY.md").content.decode()
    assert 'action="/memory/coach/consolidate/"' in page
    assert "Nothing is written before somebody approves it." in page
    answer = root.post("/memory/coach/consolidate/")
    run = Run.objects.get()
    assert (answer.status_code, answer["Location"]) == (302, f"/admin/runs/run/{run.pk}/change/")
    assert (run.state, run.agent_id, run.asked_by, run.force) == ("queued", "coach", "root", False)
    page = root.get("/memory/coach/MEMORY.md").content.decode()
    assert "A run is queued or under way." in page
    assert f'href="/admin/runs/run/{run.pk}/change/">Follow it</a>' in page
    assert "Consolidate now" not in page


def test_a_second_press_leads_to_the_run_that_is_open_already_and_says_so(root, noted):
    first = root.post("/memory/coach/consolidate/")["Location"]
    answer = root.post("/memory/coach/consolidate/", follow=True)
    assert answer.redirect_chain == [(first, 302)]
    assert "A run of coach is queued already." in answer.content.decode()
    assert Run.objects.count() == 1


def test_an_autonomous_agent_says_what_may_be_written_by_itself(root, noted):
    registry.change("coach", autonomous=True)
    assert "What loses nothing and nobody need look at is written by itself" in (
        root.get("/memory/coach/MEMORY.md").content.decode()
    )


def test_notes_have_no_button(root, noted):
    assert "Consolidate now" not in root.get("/memory/coach/memory/2026-09-19.md").content.decode()


def test_whoever_may_see_no_run_comes_back_to_the_memory(mai, noted):
    answer = mai.post("/memory/coach/consolidate/", follow=True)
    assert answer.redirect_chain == [("/memory/coach/MEMORY.md", 302)]
    assert "Asked for." in answer.content.decode()
    answer = mai.post("/memory/coach/consolidate/", follow=True)
    assert answer.redirect_chain == [("/memory/coach/MEMORY.md", 302)]
    assert "queued already" in answer.content.decode()


def test_asking_takes_a_sign_in_the_right_to_propose_and_a_token_against_forgery(client, noted):
    assert client.post("/memory/coach/consolidate/")["Location"].startswith("/admin/login/")
    reader = User.objects.create_user("reader", is_staff=True)
    reader.user_permissions.add(Permission.objects.get(codename="view_agent"))
    client.force_login(reader)
    assert client.post("/memory/coach/consolidate/").status_code == 403
    assert "Consolidate now" not in client.get("/memory/coach/MEMORY.md").content.decode()
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(User.objects.create_superuser("root"))
    assert strict.post("/memory/coach/consolidate/").status_code == 403
    assert Run.objects.count() == 0


def test_only_agents_of_the_crew_can_be_asked_for_and_only_by_post(root, noted):
    assert root.get("/memory/coach/consolidate/").status_code == 405
    for name in ("nobody", "owner", "..", "%00", "coach%00", "%F0%9F%8D%B5"):
        assert root.post(f"/memory/{name}/consolidate/").status_code in {400, 404}, name
    assert Run.objects.count() == 0


def test_a_refusal_that_is_no_open_run_is_told_where_the_button_was(root, noted, home, tmp_path):
    """The home's disk is gone, so nobody can tell whether a running run lives; the page says that instead of failing."""
    run_of("coach", state="running")
    home.rename(tmp_path / "unplugged")
    answer = root.post("/memory/coach/consolidate/")
    assert (answer.status_code, answer["Location"]) == (302, "/memory/coach/MEMORY.md")
    (tmp_path / "unplugged").rename(home)
    assert "Nothing was asked for. The home" in root.get("/memory/coach/MEMORY.md").content.decode()


# The head of a review


def review_of(browser: Client, one: Proposal) -> str:
    return browser.get(f"/admin/proposals/proposal/{one.public_id}/review/").content.decode().replace("\xa0", " ")


def test_a_review_names_its_night_and_what_the_run_took(root, noted, model):
    model.says(KEPT)
    run = runs.queue("coach", "consolidate", source="job:coach/night", night=date(2026, 9, 20))
    execution.perform(run)
    page = review_of(root, Proposal.objects.get())
    assert "Night of " in page
    assert "from 1 note (19 Sep)" in page
    assert "openai/gpt-x" in page
    assert "9,412 tokens, $0.011." in page
    assert "Held for you" not in page


def test_a_rewrite_held_from_being_written_by_itself_says_why_everywhere(root, noted, model):
    registry.change("coach", autonomous=True)
    model.says(KEPT.replace("- works at the bakery\n", ""))
    run = consolidate("coach")
    assert run.outcome == "held"
    told = "Held for you: 1 line dropped or reworded"
    assert told in review_of(root, Proposal.objects.get())
    assert told in page_of(root, run)
    assert told in home_of(root)


def test_a_rewrite_written_by_itself_is_not_said_to_be_approved(root, person, noted, model):
    registry.change("coach", autonomous=True)
    model.says(KEPT)
    consolidate("coach")
    one = Proposal.objects.get()
    page = review_of(root, one)
    assert "Written by itself on " in page
    assert "nothing was lost" in page
    assert "Approved by" not in page
    agents.undo(one.batch, actor=person)
    assert "It was taken back since." in review_of(root, one)
