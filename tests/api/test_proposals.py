"""`/api/memory/proposals`: list, one, decide."""

import pytest

from apps.proposals import analysis, services

pytestmark = pytest.mark.django_db(transaction=True)


def code(response):
    return response.status_code, response.json()["error"]["code"]


@pytest.fixture
def memory(scope):
    file = scope.root / "MEMORY.md"
    file.write_text("- one\n- two\n")
    return file


@pytest.fixture
def propose(memory):
    def make(text: str, agent: str = "coach"):
        old = memory.read_text() if agent == "coach" else ""
        found = analysis.analyse(old, text, notes=[], dates=frozenset(), limit=24_000, findings={}).stored()
        return services.propose_rewrite(
            agent,
            path="MEMORY.md",
            text=text.encode(),
            previous=memory.read_bytes() if agent == "coach" else None,
            reasons="- because",
            analysis=found,
            source="memory:consolidate",
        ).public_id

    return make


def test_the_list_shows_what_waits_and_other_states_by_name(api, propose):
    first = propose("- one\n- three\n")
    second = propose("- one\n- four\n")
    listed = api.get("memory/proposals").json()["proposals"]
    assert [row["id"] for row in listed] == [second]
    everything = api.get("memory/proposals?status=all").json()["proposals"]
    assert [row["id"] for row in everything] == [second, first]
    assert (everything[1]["status"], everything[1]["superseded_by"]) == ("superseded", second)
    assert api.get("memory/proposals?status=approved").json()["proposals"] == []
    assert code(api.get("memory/proposals?status=maybe")) == (422, "unknown_status")


def test_one_proposal_carries_both_texts_the_difference_and_the_digest(api, propose):
    proposal = propose("- one\n- three\n")
    one = api.get(f"memory/proposals/{proposal}").json()
    assert (one["previous_body"], one["body"], one["reasons"]) == ("- one\n- two\n", "- one\n- three\n", "- because")
    assert {(row["kind"], row["new"]) for row in one["diff"]} == {("removed", None), ("added", "- three")}
    assert len(one["digest"]) == 64
    assert one["moved_on"] is False
    assert {"lines_removed", "no_support"} <= {warning["code"] for warning in one["warnings"]}


def test_approving_with_the_digest_writes_and_a_second_time_is_409(api, propose, memory):
    proposal = propose("- one\n- three\n")
    digest = api.get(f"memory/proposals/{proposal}").json()["digest"]
    decided = api.post(f"memory/proposals/{proposal}", {"approve": True, "seen": digest, "reason": "ok"})
    assert (decided.status_code, decided.json()["status"], decided.json()["written"]) == (200, "approved", "done")
    assert memory.read_text() == "- one\n- three\n"
    assert code(api.post(f"memory/proposals/{proposal}", {"approve": True})) == (409, "already_decided")
    assert code(api.post(f"memory/proposals/{proposal}", {"approve": False})) == (409, "already_decided")


def test_a_stale_one_is_409_says_so_and_is_superseded(api, propose, memory):
    proposal = propose("- one\n- three\n")
    memory.write_text("edited\n")
    assert api.get(f"memory/proposals/{proposal}").json()["moved_on"] is True
    refused = api.post(f"memory/proposals/{proposal}", {"approve": True})
    assert code(refused) == (409, "changed_since_proposed")
    assert "stale" in refused.json()["error"]["message"]
    again = api.post(f"memory/proposals/{proposal}", {"approve": True})
    assert code(again) == (409, "superseded")
    assert "stale" in again.json()["error"]["message"]
    assert memory.read_text() == "edited\n"


def test_another_digest_than_the_one_seen_decides_nothing(api, propose, memory):
    proposal = propose("- one\n- three\n")
    refused = api.post(f"memory/proposals/{proposal}", {"approve": True, "seen": "f" * 64})
    assert code(refused) == (409, "changed_since_seen")
    assert memory.read_text() == "- one\n- two\n"


def test_rejecting_keeps_the_reason(api, propose, memory):
    proposal = propose("- one\n- three\n")
    decided = api.post(f"memory/proposals/{proposal}", {"approve": False, "reason": "sai số"}).json()
    assert (decided["status"], decided["decision_reason"], decided["batch"]) == ("rejected", "sai số", None)


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"approve": None},
        {"approve": "perhaps"},
        {"approve": True, "hunks": ["x"]},
        {"approve": True, "text": "mine"},
    ],
)
def test_a_decision_that_says_less_or_more_than_we_do_is_refused_whole(api, propose, memory, body):
    proposal = propose("- x\n")
    assert api.post(f"memory/proposals/{proposal}", body).status_code == 422
    assert memory.read_text() == "- one\n- two\n"


def test_nobody_decides_without_the_right_or_in_an_unattended_turn(api_with, propose, memory):
    proposal = propose("- x\n")
    path, body = f"memory/proposals/{proposal}", {"approve": True}
    assert code(api_with("read", "write", "present").post(path, body)) == (403, "missing_right")
    assert code(api_with("read", "decide").post(path, body)) == (403, "not_present")
    unattended = api_with("read", "decide", "present")
    assert code(unattended.post(path, body, MemoryHub_Source="job:night")) == (403, "not_present")
    assert memory.read_text() == "- one\n- two\n"


def test_c24_anothers_proposals_runs_and_history_are_not_there(api_with, propose, api):
    theirs = propose("- marker-ada-71\n", agent="default")
    api.put("agents/default/memory/notes/2026-03-05", {"body": "marker-ada-71"})
    batch = api.get("history").json()["batches"][0]["id"]
    bo = api_with("read", "write", "write_notes", "decide", "present", "manage", agent="coach")
    for path in ("memory/proposals?status=all", "history", "history?scope=default", "history?scope=*", "history?run="):
        answer = bo.get(path)
        assert answer.status_code == 200
        assert "default" not in answer.content.decode()
    for method, path in (
        ("GET", f"memory/proposals/{theirs}"),
        ("POST", f"memory/proposals/{theirs}"),
        ("POST", f"history/{batch}/undo"),
    ):
        body = {"approve": True} if method == "POST" and "proposals" in path else None
        mine = bo.call(method, path, body)
        nobodys = bo.call(method, path.replace(theirs, "0" * 12).replace(batch, "0" * 12), body)
        assert mine.status_code == nobodys.status_code == 404
        assert code(mine)[1] == code(nobodys)[1]


def test_trap_9_an_agent_that_left_is_404_for_approving_and_can_be_rejected(api, propose):
    from apps.agents import registry

    proposal = propose("- x\n")
    registry.archive("coach")
    assert api.get(f"memory/proposals/{proposal}").status_code == 200
    refused = api.post(f"memory/proposals/{proposal}", {"approve": True})
    assert (refused.status_code, "agent" in refused.json()["error"]["message"]) == (404, True)
    assert api.post(f"memory/proposals/{proposal}", {"approve": False}).status_code == 200


def test_one_whose_folder_is_out_of_reach_is_shown_without_a_digest_and_approving_is_507(api, propose, scope):
    proposal = propose("- x\n")
    scope.root.rename(scope.root.with_name("away"))
    one = api.get(f"memory/proposals/{proposal}")
    assert (one.status_code, one.json()["digest"]) == (200, None)
    assert code(api.post(f"memory/proposals/{proposal}", {"approve": True})) == (507, "root_missing")
    scope.root.with_name("away").rename(scope.root)
    assert api.post(f"memory/proposals/{proposal}", {"approve": True}).status_code == 200
