"""`/api/agents/{id}/memory` and its notes."""

import pytest

pytestmark = pytest.mark.django_db(transaction=True)

TEXT = "    code first\n\n# Memory\r\n- đường phố, 预算计划\n\n"


def code(response):
    return response.status_code, response.json()["error"]["code"]


def test_a_text_comes_back_exactly_as_it_was_sent(api, scope):
    answer = api.put("agents/coach/memory", {"memory_md": TEXT})
    assert answer.status_code == 200
    assert answer.json()["memory_md"] == TEXT
    assert (scope.root / "MEMORY.md").read_bytes() == TEXT.encode()
    assert api.get("agents/coach/memory").json()["memory_md"] == TEXT


def test_no_memory_yet_reads_as_empty_without_a_tag(api):
    answer = api.get("agents/coach/memory")
    assert (answer.status_code, answer.json()["memory_md"], answer.json()["note_count"]) == (200, "", 0)
    assert "ETag" not in answer


def test_an_empty_body_leaves_an_empty_file_and_never_none(api, scope):
    api.put("agents/coach/memory", {"memory_md": "x"})
    assert api.put("agents/coach/memory", {"memory_md": ""}).status_code == 200
    assert (scope.root / "MEMORY.md").read_bytes() == b""


def test_a_write_with_the_tag_it_saw_succeeds_and_with_an_old_one_is_412(api, scope):
    seen = api.put("agents/coach/memory", {"memory_md": "one\n"})["ETag"]
    (scope.root / "MEMORY.md").write_text("edited by hand\n")
    refused = api.put("agents/coach/memory", {"memory_md": "two\n"}, If_Match=seen)
    assert code(refused) == (412, "changed_since_seen")
    assert (scope.root / "MEMORY.md").read_text() == "edited by hand\n"
    fresh = api.get("agents/coach/memory")["ETag"]
    assert api.put("agents/coach/memory", {"memory_md": "two\n"}, If_Match=fresh).status_code == 200


@pytest.mark.parametrize("tag", ['W/"' + "0" * 64 + '"', '"short"', "", "nonsense"])
def test_a_tag_we_never_gave_out_can_never_match(api, tag):
    api.put("agents/coach/memory", {"memory_md": "x"})
    assert api.put("agents/coach/memory", {"memory_md": "y"}, If_Match=tag).status_code == 412


def test_if_none_match_star_makes_a_file_only_when_there_is_none(api):
    path = "agents/coach/memory/notes/2026-09-19"
    assert api.put(path, {"body": "a"}, If_None_Match="*").status_code == 200
    assert code(api.put(path, {"body": "b"}, If_None_Match="*")) == (412, "already_there")


def test_notes_are_listed_newest_first_a_suffix_before_its_plain_day(api, scope):
    for name in ("2026-09-19", "2026-09-19-standup", "2026-13-45", "plans", "2026-9-1", "2026-09-19-Caps"):
        (scope.root / "memory" / f"{name}.md").write_text("xé")
    notes = api.get("agents/coach/memory").json()["notes"]
    assert [note["day"] for note in notes] == ["2026-13-45", "2026-09-19-standup", "2026-09-19"]
    assert notes[1] == {"day": "2026-09-19-standup", "chars": 2, "date": "2026-09-19"}


def test_a_note_is_written_read_deleted_and_brought_back(api, scope):
    path = "agents/coach/memory/notes/2026-02-30"
    assert api.put(path, {"body": "no such day\n"}).json()["body"] == "no such day\n"
    assert api.call("DELETE", path).status_code == 204
    assert not (scope.root / "memory/2026-02-30.md").exists()
    assert api.get(path).json()["body"] == ""
    assert code(api.call("DELETE", path)) == (404, "not_found")
    deletion = api.get("history").json()["batches"][0]["id"]
    assert api.post(f"history/{deletion}/undo").status_code == 200
    assert (scope.root / "memory/2026-02-30.md").read_text() == "no such day\n"


@pytest.mark.parametrize(
    "day",
    [
        "today",
        "2026-9-19",
        "2026-09-19.md",
        "2026-09-19-",
        "2026-09-19-Up",
        "2026-09-19%0A",
        "٢٠٢٦-09-19",
        "2026-09-19-a_b",
    ],
)
def test_a_name_that_is_no_note_is_422(api, day):
    for answer in (
        api.get(f"agents/coach/memory/notes/{day}"),
        api.put(f"agents/coach/memory/notes/{day}", {"body": ""}),
    ):
        assert code(answer) == (422, "bad_name")


@pytest.mark.parametrize("agent", ["nobody", "..", "../coach", "%2e%2e%2fcoach", "COACH", "owner", "*", "coach%00"])
def test_an_agent_that_is_not_there_is_404(api, agent):
    assert api.get(f"agents/{agent}/memory").status_code in {404, 422}


def test_undecodable_bytes_are_replaced_for_reading_and_kept_on_disk(api, scope):
    (scope.root / "MEMORY.md").write_bytes(b"caf\xe9\n")
    assert api.get("agents/coach/memory").json()["memory_md"] == "caf\ufffd\n"
    assert (scope.root / "MEMORY.md").read_bytes() == b"caf\xe9\n"


def test_another_spelling_is_the_memory_when_it_is_the_only_one(api, scope):
    (scope.root / "memory.md").write_text("small\n")
    assert api.get("agents/coach/memory").json() | {"notes": []} == {
        "scope": "coach", "path": "memory.md", "memory_md": "small\n", "notes": [], "note_count": 0,
    }  # fmt: skip
    api.put("agents/coach/memory", {"memory_md": "new\n"})
    assert sorted(p.name for p in scope.root.iterdir() if p.is_file()) == ["memory.md"]


def test_with_both_spellings_the_capital_one_counts_and_the_other_is_kept(api, scope):
    (scope.root / "memory.md").write_text("small\n")
    (scope.root / "MEMORY.md").write_text("BIG\n")
    assert api.get("agents/coach/memory").json()["memory_md"] == "BIG\n"
    assert (scope.root / "memory.md").read_text() == "small\n"


def test_a_link_is_never_followed_neither_for_reading_nor_for_writing(api, scope, tmp_path):
    outside = tmp_path / "outside.md"
    outside.write_text("private")
    (scope.root / "memory" / "2026-09-19.md").symlink_to(outside)
    path = "agents/coach/memory/notes/2026-09-19"
    assert code(api.get(path)) == (404, "link_refused")
    assert code(api.put(path, {"body": "x"})) == (404, "link_refused")
    assert code(api.call("DELETE", path)) == (404, "link_refused")
    assert outside.read_text() == "private"
    assert api.get("agents/coach/memory").json()["notes"] == []


def test_an_unattended_turn_may_not_rewrite_but_may_read(api_with, scope):
    api = api_with("read", "write", "write_notes", "present")
    for source in ("job:nightly", "delegate:mcp", "cron", "chatty"):
        headers = {"MemoryHub_Source": source}
        assert code(api.put("agents/coach/memory", {"memory_md": "x"}, **headers)) == (403, "not_present")
        assert code(api.put("agents/coach/memory/notes/2026-09-19", {"body": "x"}, **headers)) == (403, "not_present")
        assert api.get("agents/coach/memory", **headers).status_code == 200
    assert api.put("agents/coach/memory", {"memory_md": "x"}, MemoryHub_Source="telegram").status_code == 200


def test_without_the_right_present_no_source_makes_a_turn_present(api_with):
    api = api_with("read", "write")
    assert code(api.put("agents/coach/memory", {"memory_md": "x"}, MemoryHub_Source="chat")) == (403, "not_present")


def test_a_source_that_names_our_own_jobs_is_refused(api):
    for source in ("memory:consolidate", "Memory:x", " memory:y"):
        assert code(api.put("agents/coach/memory", {"memory_md": "x"}, MemoryHub_Source=source)) == (
            422,
            "forged_source",
        )


def test_a_token_of_one_agent_does_not_see_another(api_with):
    api = api_with("read", "write", "write_notes", "present", "decide", agent="coach")
    assert api.get("agents/coach/memory").status_code == 200
    for answer in (
        api.get("agents/default/memory"),
        api.put("agents/default/memory", {"memory_md": "x"}),
        api.get("agents/default/memory/notes/2026-09-19"),
        api.save("default", "x"),
    ):
        theirs = answer.json()["error"]
        nobodys = api.get("agents/nobody/memory").json()["error"]
        assert answer.status_code == 404
        assert theirs["message"].replace("default", "nobody") == nobodys["message"]


def test_a_repeated_write_with_the_same_key_is_one_batch_and_another_body_is_409(api):
    for _ in range(2):
        assert api.put("agents/coach/memory", {"memory_md": "x"}, Idempotency_Key="k1").status_code == 200
    assert len(api.get("history?scope=coach").json()["batches"]) == 1
    refused = api.put("agents/coach/memory", {"memory_md": "y"}, Idempotency_Key="k1")
    assert code(refused) == (409, "idempotency_key_reused")


def test_a_text_over_the_limit_is_413_and_names_the_limit(api, settings):
    settings.MEMORYHUB_TEXT_LIMIT = 10
    refused = api.put("agents/coach/memory", {"memory_md": "ườườx"})
    assert code(refused) == (413, "too_large")
    assert refused.json()["error"]["details"] == {"limit": 10, "field": "memory_md"}
