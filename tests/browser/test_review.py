"""A person signs in, opens what waits, approves, finds the file changed, takes it back."""

import pytest

from apps.proposals.models import Proposal
from tests.browser.conftest import PICTURES

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

SIZES = {1440: 1000, 390: 844}
# For so long after a decision no other can be taken (static/memoryhub.js).
A_MOMENT = 1_100


def sign_in(page, live_server):
    page.goto(live_server.url)
    page.get_by_label("Username").fill("hanh")
    page.get_by_label("Password").fill("bánh mì")
    page.get_by_role("button", name="Log in").click()


def picture(page, name):
    PICTURES.mkdir(exist_ok=True)
    page.screenshot(path=PICTURES / f"{name}.png", full_page=True)


def test_the_way_from_sign_in_to_a_changed_file_and_back(page, live_server, bakery, reviewer):
    memory = bakery / "MEMORY.md"
    before = memory.read_bytes()
    sign_in(page, live_server)
    page.get_by_role("heading", name="2 wait.").wait_for()
    page.get_by_role("link", name="Review from the top").click()
    page.get_by_role("heading", level=1).wait_for()
    assert "flour price" in page.inner_text("main") or "Hai Phát" in page.inner_text("main")
    assert "Approved" not in page.inner_text("main")

    while Proposal.objects.get(state="pending", agent_id="default").public_id not in page.url:
        page.get_by_role("link", name="Next", exact=False).last.click()
    page.get_by_role("button", name="Approve").click()
    page.get_by_text("Approved for default.").wait_for()
    after = memory.read_bytes()
    assert after != before
    assert "Thursday to Sunday" in after.decode()

    page.get_by_role("button", name="Undo").click()
    page.get_by_text("Taken back.").wait_for()
    assert memory.read_bytes() == before

    page.wait_for_timeout(A_MOMENT)
    page.get_by_role("button", name="Reopen").click()
    page.get_by_text("It waits again.").wait_for()
    assert Proposal.objects.filter(state="pending").count() == 2


def test_a_file_edited_meanwhile_is_said_and_what_was_typed_is_kept(page, live_server, bakery, reviewer):
    proposal = Proposal.objects.get(agent_id="default")
    sign_in(page, live_server)
    page.goto(f"{live_server.url}/admin/proposals/proposal/{proposal.public_id}/review/")
    memory = bakery / "MEMORY.md"
    memory.write_text(memory.read_text() + "- edited by hand\n")
    page.get_by_role("button", name="Approve").click()
    page.get_by_text("changed after this was proposed").wait_for()
    assert memory.read_text().endswith("- edited by hand\n")
    proposal.refresh_from_db()
    assert proposal.state == "superseded"


def test_rejecting_with_a_reason_by_keyboard_alone(page, live_server, bakery, reviewer):
    proposal = Proposal.objects.get(agent_id="coach")
    sign_in(page, live_server)
    page.goto(f"{live_server.url}/admin/proposals/proposal/{proposal.public_id}/review/")
    page.keyboard.press("r")
    page.get_by_role("heading", name="Reject all of it").wait_for()
    page.get_by_label("Not lasting").check()
    page.get_by_placeholder("A word to the agent, if you like").fill("only this week")
    page.keyboard.press("Enter")
    page.get_by_text("Rejected for coach.").wait_for()
    proposal.refresh_from_db()
    assert (proposal.state, proposal.decision_reason) == ("rejected", "Not lasting: only this week")


def first_review(page, live_server):
    sign_in(page, live_server)
    page.get_by_role("link", name="Review from the top").click()
    page.get_by_role("button", name="Approve").wait_for()


def states():
    return sorted(Proposal.objects.values_list("state", flat=True))


def test_a_double_press_decides_once(page, live_server, bakery, reviewer):
    """The next proposal comes up under the same key and the same pointer; nobody has seen it yet."""
    first_review(page, live_server)
    page.keyboard.press("a")
    page.locator("#said .strip").wait_for()
    page.keyboard.press("a")
    page.keyboard.press("u")
    page.get_by_role("button", name="Approve").click()
    page.keyboard.press("r")
    page.keyboard.press("Enter")
    page.wait_for_timeout(300)
    assert states() == ["approved", "pending"]
    page.keyboard.press("Escape")
    page.wait_for_timeout(A_MOMENT)
    page.keyboard.press("a")
    page.get_by_role("heading", name="Nothing waits.").wait_for()
    assert states() == ["approved", "approved"]


def test_a_key_held_down_decides_nothing(page, live_server, bakery, reviewer):
    first_review(page, live_server)
    page.evaluate("document.body.dispatchEvent(new KeyboardEvent('keydown', {key: 'a', repeat: true, bubbles: true}))")
    page.wait_for_timeout(300)
    assert states() == ["pending", "pending"]


def test_the_last_decision_is_taken_back_by_key_from_the_list_and_from_its_own_page(
    page, live_server, bakery, reviewer
):
    memory = bakery / "MEMORY.md"
    before = memory.read_bytes()
    Proposal.objects.filter(agent_id="coach").delete()
    proposal = Proposal.objects.get()
    review = f"{live_server.url}/admin/proposals/proposal/{proposal.public_id}/review/"
    first_review(page, live_server)
    page.keyboard.press("a")
    page.get_by_role("heading", name="Nothing waits.").wait_for()
    assert memory.read_bytes() != before
    page.wait_for_timeout(A_MOMENT)
    page.keyboard.press("u")
    page.get_by_text("Taken back.").wait_for()
    assert memory.read_bytes() == before
    page.wait_for_timeout(A_MOMENT)
    page.get_by_role("button", name="Reopen").click()
    page.get_by_text("It waits again.").wait_for()
    page.wait_for_timeout(A_MOMENT)
    page.keyboard.press("a")
    page.get_by_role("heading", name="Nothing waits.").wait_for()
    page.goto(review.replace(proposal.public_id, Proposal.objects.latest("id").public_id))
    page.keyboard.press("u")
    page.get_by_text("Taken back.").wait_for()
    assert memory.read_bytes() == before


def test_a_rejection_is_reopened_by_key(page, live_server, bakery, reviewer):
    first_review(page, live_server)
    page.keyboard.press("r")
    page.keyboard.press("1")
    page.keyboard.press("Enter")
    page.get_by_text("Rejected for").wait_for()
    page.wait_for_timeout(A_MOMENT)
    page.keyboard.press("u")
    page.get_by_text("It waits again.").wait_for()
    assert states() == ["pending", "pending", "rejected"]


def test_the_source_key_opens_the_first_source_in_sight_above_the_bar(page, live_server, bakery, reviewer):
    page.set_viewport_size({"width": 1440, "height": 560})
    first_review(page, live_server)
    page.keyboard.press("s")
    opened = page.locator(".quote.open")
    opened.wait_for()
    for _ in range(3):
        page.keyboard.press("j")
    page.keyboard.press("s")
    page.wait_for_timeout(200)
    quote, bar = opened.last.bounding_box(), page.locator("#bar").bounding_box()
    assert quote["y"] + quote["height"] <= bar["y"]


def test_the_bar_of_the_list_comes_with_the_first_tick(page, live_server, bakery, reviewer):
    sign_in(page, live_server)
    page.goto(f"{live_server.url}/admin/proposals/proposal/")
    reject = page.get_by_role("button", name="Reject selected")
    assert not reject.is_visible()
    page.locator(".action-select").first.check()
    assert reject.is_visible()


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", SIZES)
def test_the_pages_at_every_width_and_theme(page, live_server, bakery, reviewer, width, theme):
    """Nothing scrolls sideways, nothing is drawn by an inline style, and the pictures can be looked at."""
    page.emulate_media(color_scheme=theme)
    page.set_viewport_size({"width": width, "height": SIZES[width]})
    sign_in(page, live_server)
    proposal = Proposal.objects.get(agent_id="default")
    review = f"/admin/proposals/proposal/{proposal.public_id}/review/"
    addresses = {
        "home": "/",
        "queue": "/admin/proposals/proposal/",
        "review": review,
        "review-side": f"{review}?view=side",
        "review-whole": f"{review}?view=whole",
        "memory": "/memory/default/MEMORY.md",
        "index": "/admin/",
    }
    for name, address in addresses.items():
        served = page.goto(live_server.url + address).text()
        assert " style=" not in served and "<style" not in served, f"{name} has an inline style"
        picture(page, f"{name}-{width}-{theme}")
        wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert wide <= 0, f"{name} scrolls sideways by {wide} px"


def test_scripts_in_every_text_are_only_text(page, live_server, bakery, reviewer):
    """Case C28 for these pages: notes, memory, reasons and a decision's reason that carry HTML."""
    attack = '<img src=x onerror="document.title=\'owned\'"></textarea><script>document.title="owned"</script>'
    note = bakery / "memory" / "2026-09-21.md"
    note.write_text(f"# x\n\n## Retain\n\n- W: {attack} always comes from the north\n")
    (bakery / "MEMORY.md").write_text(f"# Memory\n\n## {attack}\n\n- {attack}\n")
    from tests.jobs.running import consolidate

    consolidate("default", force=True)
    proposal = Proposal.objects.get(agent_id="default", state="pending")
    proposal.reasons = attack
    proposal.save()
    sign_in(page, live_server)
    review = f"/admin/proposals/proposal/{proposal.public_id}/review/"
    for address in ("/", "/admin/proposals/proposal/", review, review + "?view=side", review + "?view=whole",
                    "/memory/default/MEMORY.md", "/memory/default/memory/2026-09-21.md"):  # fmt: skip
        page.goto(live_server.url + address)
        assert page.title() != "owned"
        assert page.locator("img[src=x]").count() == 0
    page.goto(live_server.url + review)
    assert attack in page.inner_text("main")
