"""A person asks for a consolidation and watches it: queued, asking, ended; with the outcome, or why there is none."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from django.db import connections

from apps.agents import registry
from apps.errors import ModelFailed
from apps.jobs import execution
from apps.llm import client
from apps.proposals.models import Proposal
from apps.runs import services as runs
from apps.runs.models import Run
from tests.browser.test_review import SIZES, picture, sign_in

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

MEMORY = "# Memory\n\n- likes tea (2026-01-05)\n"
ANSWER = f"{MEMORY}- tea is at four (2026-09-19)\n\n---REASONS---\n- said on the 19th\n"


@pytest.fixture
def coach(home, db):
    """An agent with a memory, and a note that is newer."""
    registry.add("coach", cron="10 3 * * *")
    folder = home / "agents" / "coach"
    (folder / "memory").mkdir(parents=True, exist_ok=True)
    (folder / "MEMORY.md").write_text(MEMORY)
    (folder / "memory" / "2026-09-19.md").write_text(
        "# day\n\n- api_key: sk-9fQ2xL0vTz71\n\n## Retain\n\n- W: tea is always at four\n"
    )
    runs.pulse()
    return folder


@pytest.fixture
def thinking(monkeypatch) -> threading.Event:
    """A model that thinks until this is set, then answers with the memory and what the note says."""
    ready = threading.Event()

    def ask(task, *, route):
        assert ready.wait(30)
        return client.Answer(ANSWER, "openai", "openai/gpt-x", "stop", 8_800, 612, None, 13.6)

    monkeypatch.setattr(client, "ask", ask)
    return ready


@contextmanager
def worker() -> Iterator[None]:
    """Somebody who carries out what waits, beside the page."""

    def work() -> None:
        try:
            execution.advance()
        finally:
            connections.close_all()

    thread = threading.Thread(target=work)
    thread.start()
    yield
    thread.join(30)
    assert not thread.is_alive()


@pytest.fixture
def faults(page) -> list[str]:
    """What the console complains about."""
    found: list[str] = []
    page.on("console", lambda said: found.append(said.text) if said.type in {"error", "warning"} else None)
    return found


def sideways(page) -> int:
    return page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")


def test_a_consolidation_is_asked_for_and_followed_to_its_proposal(
    page, live_server, coach, reviewer, thinking, faults
):
    sign_in(page, live_server)
    page.goto(f"{live_server.url}/memory/coach/MEMORY.md")
    page.get_by_text("Nothing is written before somebody approves it.").wait_for()
    page.get_by_role("button", name="Consolidate now").click()
    page.get_by_role("heading", name="coach is queued").wait_for()
    page.get_by_text("Waits for a worker.").wait_for()
    assert not page.get_by_role("link", name="Look again").is_visible()
    loaded = page.evaluate("performance.timeOrigin")
    with worker():
        page.get_by_text("Asking offline").wait_for()
        assert page.locator("#live").inner_text() == ""
        thinking.set()
    page.get_by_role("heading", name="coach: adds 1").wait_for()
    assert page.evaluate("performance.timeOrigin") == loaded, "the page was not loaded anew"
    assert page.locator("#live").inner_text() == "coach: adds 1. Its proposal now: Waits. See the proposal"
    assert "coach: adds 1" in page.title()
    row = page.locator("table.calls tbody tr").inner_text()
    assert "Rewrite" in row and "openai/gpt-x" in row and "whole" in row
    assert page.locator("[data-follow]").count() == 0
    page.get_by_role("link", name="2026-09-19, line 3").wait_for()
    page.get_by_role("link", name="See the proposal").click()
    page.get_by_role("button", name="Approve").wait_for()
    assert Proposal.objects.get().public_id in page.url
    assert faults == []


def test_a_link_in_the_replaced_part_keeps_the_focus(page, live_server, coach, reviewer):
    lost = runs.queue("coach", "consolidate", source="memory:consolidate")
    Run.objects.filter(pk=lost.pk).update(state="lost", outcome="lost")
    lost.refresh_from_db()
    again = runs.again(lost)
    sign_in(page, live_server)
    page.goto(f"{live_server.url}/admin/runs/run/{again.pk}/change/")
    earlier = page.get_by_role("link", name=f"after run {lost.public_id}")
    earlier.focus()
    page.evaluate("document.querySelector('#run h1').textContent = 'as it was'")
    page.get_by_role("heading", name="coach is queued").wait_for()
    assert earlier.evaluate("link => link === document.activeElement")


def test_a_run_that_fails_under_the_eyes_of_somebody_says_what_did_not_happen(
    page, live_server, coach, reviewer, monkeypatch, faults
):
    def ask(task, *, route):
        raise ModelFailed("No answer within 120 seconds from openai/gpt-x.")

    monkeypatch.setattr(client, "ask", ask)
    sign_in(page, live_server)
    page.goto(f"{live_server.url}/memory/coach/MEMORY.md")
    page.get_by_role("button", name="Consolidate now").click()
    page.get_by_text("Waits for a worker.").wait_for()
    with worker():
        page.get_by_role("heading", name="coach: no answer from a model").wait_for()
    said = page.locator("#live").inner_text()
    assert "Nothing was proposed and nothing was written. No answer within 120 seconds" in said
    page.get_by_text("It tries again").wait_for()
    page.get_by_role("button", name="Consolidate now").click()
    page.get_by_role("heading", name="coach is queued").wait_for()
    assert Run.objects.count() == 2
    assert faults == []


def test_without_script_a_run_is_followed_by_hand(chromium, live_server, coach, reviewer):
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    try:
        sign_in(page, live_server)
        page.goto(f"{live_server.url}/memory/coach/MEMORY.md")
        page.get_by_role("button", name="Consolidate now").click()
        page.get_by_role("heading", name="coach is queued").wait_for()
        assert execution.advance().outcome == "proposed"
        page.get_by_role("link", name="Look again").click()
        page.get_by_role("heading", name="coach: adds 1").wait_for()
    finally:
        context.close()


def test_signing_out_elsewhere_ends_the_following_quietly(page, live_server, coach, reviewer, faults):
    run = runs.queue("coach", "consolidate", source="memory:consolidate")
    sign_in(page, live_server)
    page.goto(f"{live_server.url}/admin/runs/run/{run.pk}/change/")
    page.context.clear_cookies()
    with page.expect_response(lambda answer: "/login/" in answer.url, timeout=10_000):
        pass
    page.wait_for_timeout(300)
    page.get_by_role("heading", name="coach is queued").wait_for()
    assert faults == []


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", SIZES)
def test_runs_at_every_width_and_theme(page, live_server, coach, reviewer, faults, width, theme):
    """Queued, refused, failed, done: nothing scrolls sideways, nothing is drawn by an inline style or script."""
    registry.change("coach", budget_day="0.05")
    made = {
        "refused": Run(state="refused", outcome="over_budget", error="The budget of coach is $0.05 a day; no model was asked."),
        "failed": Run(state="failed", outcome="bad_encoding", error="MEMORY.md is not plain UTF-8 in line 4 (byte 61)."),
        "queued": Run(state="queued"),
    }  # fmt: skip
    for run in made.values():
        run.agent_id, run.kind, run.source, run.asked_by = "coach", "consolidate", "memory:consolidate", "hanh"
        run.save()
    assert execution.advance().outcome == "proposed"
    made["done"] = made.pop("queued")
    page.emulate_media(color_scheme=theme)
    page.set_viewport_size({"width": width, "height": SIZES[width]})
    sign_in(page, live_server)
    addresses = {f"run-{state}": f"/admin/runs/run/{run.pk}/change/" for state, run in made.items()}
    addresses |= {"runs": "/admin/runs/run/", "home-runs": "/", "memory-offer": "/memory/coach/MEMORY.md"}
    for name, address in addresses.items():
        served = page.goto(live_server.url + address).text()
        assert " style=" not in served and "<style" not in served, f"{name} has an inline style"
        assert "<script>" not in served and " onclick=" not in served, f"{name} has an inline script"
        picture(page, f"{name}-{width}-{theme}")
        assert sideways(page) <= 0, f"{name} scrolls sideways by {sideways(page)} px"
        assert page.locator("h1").count() == 1, name
        ids = page.evaluate("[...document.querySelectorAll('[id]')].map((element) => element.id)")
        assert len(ids) == len(set(ids)), f"{name} has an id twice"
    assert faults == []
