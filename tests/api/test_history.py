"""`/api/history` and undo."""

import pytest

pytestmark = pytest.mark.django_db(transaction=True)


def code(response):
    return response.status_code, response.json()["error"]["code"]


@pytest.fixture
def writes(api):
    """Four writes: coach's memory twice, a note, the master's memory."""
    for agent, path, field, text in (
        ("coach", "memory", "memory_md", "one\n"),
        ("coach", "memory", "memory_md", "two\n"),
        ("coach", "memory/notes/2026-09-19", "body", "note\n"),
        ("default", "memory", "memory_md", "master\n"),
    ):
        api.put(f"agents/{agent}/{path}", {field: text})


def test_it_lists_newest_first_with_filters_and_pages(api, writes):
    rows = api.get("history").json()["batches"]
    assert [(row["scope"], row["changes"][0]["path"]) for row in rows] == [
        ("default", "MEMORY.md"),
        ("coach", "memory/2026-09-19.md"),
        ("coach", "MEMORY.md"),
        ("coach", "MEMORY.md"),
    ]
    assert [row["id"] for row in api.get("history?limit=2").json()["batches"]] == [row["id"] for row in rows[:2]]
    after = api.get(f"history?limit=2&before={rows[1]['id']}").json()["batches"]
    assert [row["id"] for row in after] == [row["id"] for row in rows[2:]]
    assert len(api.get("history?path=MEMORY.md&scope=coach").json()["batches"]) == 2
    assert api.get("history?actor=nobody").json()["batches"] == []
    assert code(api.get("history?before=000000000000")) == (404, "not_found")


def test_a_batch_says_who_how_and_what(api, writes):
    row = api.get("history?path=memory/2026-09-19.md").json()["batches"][0]
    assert row["actor"]["kind"] == "token"
    assert (row["via"], row["source"], row["state"], row["undone_by"]) == ("api", "api", "done", None)
    assert row["changes"][0]["sha256_before"] is None
    assert len(row["changes"][0]["sha256_after"]) == 64


def test_undo_restores_exactly_is_listed_and_can_itself_be_undone(api, writes, scope):
    first, second = (row["id"] for row in reversed(api.get("history?scope=coach&path=MEMORY.md").json()["batches"]))
    undone = api.post(f"history/{second}/undo").json()
    assert (undone["undoes"], (scope.root / "MEMORY.md").read_text()) == (second, "one\n")
    assert code(api.post(f"history/{second}/undo")) == (409, "already_undone")
    assert api.get("history?scope=coach&path=MEMORY.md").json()["batches"][1]["undone_by"] == undone["id"]
    assert api.post(f"history/{undone['id']}/undo").status_code == 200
    assert (scope.root / "MEMORY.md").read_text() == "two\n"
    assert api.post(f"history/{first}/undo").status_code == 409


def test_an_undo_that_would_lose_a_later_edit_is_409_with_the_place(api, writes, scope):
    api.put("agents/coach/memory", {"memory_md": "# M\n\n- price is 10\n"})
    api.put("agents/coach/memory", {"memory_md": "# M\n\n- price is 20\n"})
    raised = api.get("history?scope=coach").json()["batches"][0]["id"]
    (scope.root / "MEMORY.md").write_text("# M\n\n- price is 30\n")
    refused = api.post(f"history/{raised}/undo")
    assert code(refused) == (409, "undo_conflict")
    conflict = refused.json()["error"]["details"]["conflicts"][0]
    assert conflict["path"] == "MEMORY.md"
    assert conflict["places"][0]["line"] == 3
    assert (scope.root / "MEMORY.md").read_text() == "# M\n\n- price is 30\n"


def test_undo_needs_the_right_to_write_and_somebody_there(api_with, api, writes):
    batch = api.get("history?scope=coach").json()["batches"][0]["id"]
    assert code(api_with("read", "present").post(f"history/{batch}/undo")) == (403, "missing_right")
    assert code(api_with("read", "write").post(f"history/{batch}/undo")) == (403, "not_present")
    assert code(api.post("history/000000000000/undo")) == (404, "not_found")
    assert code(api.post("history/../undo")) == (404, "not_found")


def blamed(api, query):
    return api.get(f"history/blame?{query}")


def test_blame_says_of_each_line_who_brought_it_when_and_how(api, writes, scope):
    path = scope.root / "MEMORY.md"
    path.write_text(path.read_text() + "\nby hand\n")
    answer = blamed(api, "scope=coach&path=MEMORY.md").json()
    assert (answer["scope"], answer["path"], len(answer["sha256"])) == ("coach", "MEMORY.md", 64)
    row = api.get("history?scope=coach&path=MEMORY.md").json()["batches"][0]
    assert answer["lines"] == [
        {
            "line": 1, "text": "two", "batch": row["id"], "outside": False, "at": row["created_at"], "by": row["actor"],
            "via": "api", "source": "api", "run": None, "proposal": None, "undoes": None,
        },
        {"line": 2, "text": "", "batch": None, "outside": False},
        {"line": 3, "text": "by hand", "batch": None, "outside": True},
    ]  # fmt: skip


def test_blame_names_the_write_that_an_undo_took_back(api, writes):
    second = api.get("history?scope=coach&path=MEMORY.md").json()["batches"][0]["id"]
    undo = api.post(f"history/{second}/undo").json()["id"]
    [line] = blamed(api, "scope=coach&path=MEMORY.md").json()["lines"]
    assert (line["text"], line["batch"], line["undoes"]) == ("one", undo, second)


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("scope=coach&path=memory/2026-01-01.md", (404, "not_found")),
        ("scope=nobody&path=MEMORY.md", (404, "not_found")),
        ("scope=owner&path=USER.md", (404, "not_found")),
        ("scope=default&path=agents/coach/MEMORY.md", (404, "not_found")),
        ("scope=coach&path=.memoryhub/secret_key", (422, "bad_name")),
        ("scope=coach&path=../MEMORY.md", (422, "bad_name")),
        ("scope=coach&path=MEMORY.md%00", (422, "bad_name")),
        ("scope=coach&path=a%0Ab.md", (422, "bad_name")),
        ("scope=coach&path=%ED%A0%80.md", (404, "not_found")),
        ("scope=coach", (422, "invalid")),
        ("path=MEMORY.md", (422, "invalid")),
        ("scope=coach&path=", (422, "invalid")),
    ],
)
def test_blame_of_what_is_not_there_or_cannot_be_meant_is_refused(api, writes, query, wanted):
    assert code(blamed(api, query)) == wanted


def test_blame_of_a_memory_that_is_not_there_yet_is_404_and_of_a_very_long_file_413(api, scope):
    assert code(blamed(api, "scope=coach&path=MEMORY.md")) == (404, "not_found")
    (scope.root / "MEMORY.md").write_text("x\n" * 5_001)
    refused = blamed(api, "scope=coach&path=MEMORY.md")
    assert (code(refused), refused.json()["error"]["details"]["limit"]) == ((413, "too_large"), 5_000)
    (scope.root / "MEMORY.md").write_text("")
    assert blamed(api, "scope=coach&path=MEMORY.md").json()["lines"] == []
