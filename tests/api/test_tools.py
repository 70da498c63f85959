"""`POST /api/agents/{id}/tools/{name}`."""

from datetime import UTC, datetime

import pytest

from apps.agents import queries, registry

pytestmark = pytest.mark.django_db(transaction=True)


def code(response):
    return response.status_code, response.json()["error"]["code"]


@pytest.fixture
def clock(monkeypatch):
    """Set the clock: `clock("2026-03-05T17:30:00Z")`."""

    def set_to(moment: str) -> None:
        at = datetime.fromisoformat(moment).astimezone(UTC)
        monkeypatch.setattr(queries.timezone, "now", lambda: at)

    return set_to


@pytest.mark.parametrize(
    ("zone", "moment", "day", "time"),
    [
        ("Asia/Ho_Chi_Minh", "2026-03-05T17:30:00Z", "2026-03-06", "00:30"),
        ("America/Los_Angeles", "2026-04-21T02:40:00Z", "2026-04-20", "19:40"),
        ("Pacific/Kiritimati", "2026-12-31T10:00:00Z", "2027-01-01", "00:00"),
    ],
)
def test_a_line_goes_to_the_day_it_is_where_the_agent_lives(api, scope, clock, zone, moment, day, time):
    registry.change("coach", zone=zone)
    clock(moment)
    answer = api.save("coach", "evening thought").json()
    assert answer["data"]["path"] == f"memory/{day}.md"
    assert (scope.root / "memory" / f"{day}.md").read_text() == f"# {day}\n\n- {time} evening thought\n"


def test_the_answer_names_the_line_and_counts_the_entries(api, scope, clock):
    clock("2026-09-19T08:00:00Z")
    (scope.root / "memory" / "plans.md").write_text("- one\n* two\n- three\n")
    first, second = api.save("coach", "a").json(), api.save("coach", "b").json()
    assert (first["data"]["line"], first["data"]["entries"]) == (3, 3)
    assert (second["data"]["line"], second["data"]["entries"]) == (4, 4)
    assert first["is_error"] is False
    assert "line 3" in first["text"]


def test_a_note_edited_by_hand_gets_its_missing_newline_and_keeps_its_line_ends(api, scope, clock):
    clock("2026-09-19T08:05:00Z")
    note = scope.root / "memory" / "2026-09-19.md"
    note.write_bytes(b"\xef\xbb\xbf# day\r\n\r\n- by hand")
    answer = api.save("coach", "later").json()
    assert note.read_bytes() == b"\xef\xbb\xbf# day\r\n\r\n- by hand\r\n- 08:05 later\r\n"
    assert answer["data"]["line"] == 4


def test_the_text_is_trimmed_and_its_inner_line_breaks_stay(api, scope, clock):
    clock("2026-09-19T08:05:00Z")
    api.save("coach", "  first\n  second  ")
    assert (scope.root / "memory" / "2026-09-19.md").read_text().endswith("- 08:05 first\n  second\n")


@pytest.mark.parametrize("text", ["", "   ", "\n\t\n"])
def test_an_empty_text_is_a_refusal_the_model_can_read(api, scope, text):
    answer = api.save("coach", text)
    assert answer.status_code == 200
    assert answer.json()["is_error"] is True
    assert "empty" in answer.json()["text"]
    assert list((scope.root / "memory").iterdir()) == []


def test_a_text_that_is_too_long_is_a_refusal_with_the_limit(api):
    answer = api.save("coach", "x" * 8_001).json()
    assert answer["is_error"] is True
    assert answer["data"]["limit"] == 8_000


@pytest.mark.parametrize(
    "body",
    [
        {"arguments": {}},
        {"arguments": {"text": 5}},
        {"arguments": {"text": None}},
        {"arguments": {"text": "x", "day": "2026-01-01"}},
        {"arguments": "text"},
        {"arguments": {"text": "x"}, "sauce": "api"},
    ],
)
def test_arguments_that_do_not_fit_are_422_and_name_the_field(api, body):
    answer = api.post("agents/coach/tools/memory_save", body)
    assert answer.status_code == 422
    assert answer.json()["error"]["details"]


def test_a_repeated_call_with_its_key_saves_once_and_says_so(api, scope, clock):
    clock("2026-09-19T08:05:00Z")
    first = api.save("coach", "once", Idempotency_Key="abc").json()["data"]
    clock("2026-09-20T09:00:00Z")
    again = api.save("coach", "once", Idempotency_Key="abc").json()["data"]
    assert (again["repeated"], again["batch"], again["path"]) == (True, first["batch"], first["path"])
    assert (scope.root / "memory" / "2026-09-19.md").read_text().count("once") == 1
    assert code(api.save("coach", "twice", Idempotency_Key="abc")) == (409, "idempotency_key_reused")


def test_one_key_of_two_callers_or_two_agents_is_two_keys(api, api_with, scope, clock):
    clock("2026-09-19T08:05:00Z")
    other = api_with("write_notes")
    for caller, agent in ((api, "coach"), (other, "coach"), (api, "default")):
        assert caller.save(agent, f"{agent}", Idempotency_Key="abc").json()["data"]["repeated"] is False


def test_an_unattended_turn_may_save(api_with, scope):
    api = api_with("write_notes", agent="coach")
    body = {"arguments": {"text": "from the night"}, "source": "job:coach/nightly"}
    assert api.post("agents/coach/tools/memory_save", body).status_code == 200


def test_rights_and_names_keep_their_codes(api, api_with):
    assert code(api.post("agents/coach/tools/rm_rf", {"arguments": {}})) == (404, "not_found")
    assert code(api_with("read").save("coach", "x")) == (403, "missing_right")
    forged = {"arguments": {"text": "x"}, "source": "memory:consolidate"}
    assert code(api.post("agents/coach/tools/memory_save", forged)) == (422, "forged_source")


def test_an_appended_line_can_be_taken_back_after_another_came(api, scope, clock):
    clock("2026-09-19T08:05:00Z")
    api.save("coach", "one")
    second = api.save("coach", "two").json()["data"]["batch"]
    api.save("coach", "three")
    assert api.post(f"history/{second}/undo").status_code == 200
    assert (scope.root / "memory" / "2026-09-19.md").read_text() == "# 2026-09-19\n\n- 08:05 one\n- 08:05 three\n"
    assert code(api.post(f"history/{second}/undo")) == (409, "already_undone")


def test_lines_are_counted_as_an_editor_counts_them(api, scope, clock):
    clock("2026-09-19T08:05:00Z")
    (scope.root / "memory" / "2026-09-19.md").write_bytes(b"# day\r\r- one\r- two\r")
    assert api.save("coach", "three").json()["data"]["line"] == 5
    (scope.root / "memory" / "2026-09-19.md").write_bytes(b"# day\n\n- unfinished")
    assert api.save("coach", "four").json()["data"]["line"] == 4


def test_a_file_with_an_odd_name_stands_in_nobodys_way(api, scope, clock):
    clock("2026-09-19T08:05:00Z")
    (scope.root / "memory" / "a\\b.md").write_text("- x\n")
    assert api.save("coach", "one").json()["is_error"] is False
    assert (scope.root / "memory" / "2026-09-19.md").read_text().count("one") == 1
