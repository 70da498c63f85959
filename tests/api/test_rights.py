"""The table of rights in docs/api.md, walked: every route with too little, with just enough, and with another agent's token."""

import pytest

from apps.access import RIGHTS
from apps.api import urls
from apps.proposals import services
from apps.runs.models import Run

pytestmark = pytest.mark.django_db(transaction=True)

# Method, route as in apps/api/urls.py, the rights it takes, whether somebody must be there, the body.
ROUTES = [
    ("GET", "agents/<str:agent_id>/memory", {"read"}, False, None),
    ("PUT", "agents/<str:agent_id>/memory", {"read", "write"}, True, {"memory_md": "x"}),
    ("GET", "agents/<str:agent_id>/memory/notes/<str:day>", {"read"}, False, None),
    ("PUT", "agents/<str:agent_id>/memory/notes/<str:day>", {"read", "write"}, True, {"body": "x"}),
    ("DELETE", "agents/<str:agent_id>/memory/notes/<str:day>", {"read", "write"}, True, None),
    ("POST", "agents/<str:agent_id>/memory/consolidate", {"propose"}, False, {}),
    ("GET", "runs", {"read"}, False, None),
    ("GET", "runs/<str:run_id>", {"read"}, False, None),
    ("GET", "stats", {"read"}, False, None),
    ("POST", "agents/<str:agent_id>/tools/<str:name>", {"write_notes"}, False, {"arguments": {"text": "x"}}),
    ("GET", "memory/proposals", {"read"}, False, None),
    ("GET", "memory/proposals/<str:proposal_id>", {"read"}, False, None),
    ("POST", "memory/proposals/<str:proposal_id>", {"decide"}, True, {"approve": True}),
    ("GET", "history", {"read"}, False, None),
    ("GET", "history/blame", {"read"}, False, None),
    ("POST", "history/<str:batch_id>/undo", {"write"}, True, None),
]


@pytest.fixture
def place(api, scope):
    """A note, a proposal and a batch of `coach`, and the addresses that name them."""
    api.put("agents/coach/memory/notes/2026-09-19", {"body": "marker-coach"})
    batch = api.get("history").json()["batches"][0]["id"]
    proposal = services.propose_rewrite(
        "coach",
        path="MEMORY.md",
        text=b"marker-coach",
        previous=None,
        reasons="",
        analysis={},
        source="memory:consolidate",
    )
    run = Run.objects.create(agent_id="coach", kind="consolidate", state="done", summary="marker-coach")
    names = {
        "agent_id": "coach", "day": "2026-09-19", "name": "memory_save", "proposal_id": proposal.public_id, "batch_id": batch,
        "run_id": run.public_id,
    }  # fmt: skip

    def address(route: str) -> str:
        for name, value in names.items():
            route = route.replace(f"<str:{name}>", value)
        return f"{route}?scope=coach&path=memory/2026-09-19.md" if route == "history/blame" else route

    return address


def test_every_route_is_in_this_table():
    assert {str(pattern.pattern) for pattern in urls.urlpatterns} == {route for _, route, *_ in ROUTES}


@pytest.mark.parametrize(("method", "route", "needed", "present", "body"), ROUTES, ids=lambda value: str(value)[:40])
def test_each_right_it_takes_is_asked_for_and_no_other(api_with, place, method, route, needed, present, body):
    everything = set(RIGHTS)
    for right in needed:
        refused = api_with(*(everything - {right})).call(method, place(route), body)
        assert (refused.status_code, refused.json()["error"]["details"].get("right")) == (403, right)
    if present:
        refused = api_with(*(everything - {"present"})).call(method, place(route), body)
        assert (refused.status_code, refused.json()["error"]["code"]) == (403, "not_present")
    enough = api_with(*needed, *(["present"] if present else [])).call(method, place(route), body)
    assert enough.status_code in {200, 202, 204}, enough.content


@pytest.mark.parametrize(("method", "route", "needed", "present", "body"), ROUTES, ids=lambda value: str(value)[:40])
def test_c24_anothers_token_learns_nothing_not_even_that_it_is_there(
    api_with, place, method, route, needed, present, body
):
    stranger = api_with(*RIGHTS, agent="default")
    answer = stranger.call(method, place(route), body)
    assert b"marker-coach" not in answer.content
    if place(route) != route:
        assert (answer.status_code, answer.json()["error"]["code"]) == (404, "not_found")
    else:
        assert answer.status_code == 200
        assert b"coach" not in answer.content
