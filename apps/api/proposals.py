"""What waits for a decision, one proposal with its difference, and deciding."""

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps import access
from apps.agents import store
from apps.api.auth import actor
from apps.api.fields import Body, TextField
from apps.errors import NotFound, StorageFailed
from apps.proposals import queries, services
from apps.proposals.models import Proposal
from apps.vault import pairing


class DecisionBody(Body):
    approve = serializers.BooleanField()
    seen = TextField(required=False, allow_null=True, default=None)
    reason = TextField(default="")


class ListView(APIView):
    """`GET /api/memory/proposals`: pending ones, or those of `status`, newest first."""

    def get(self, request: Request) -> Response:
        caller = actor(request)
        access.require(caller, "read")
        rows = queries.listed(caller, request.query_params.get("status", "pending"))
        contents = queries.contents(rows)
        return Response({"proposals": [record(row, contents[row.public_id]) for row in rows]})


class OneView(APIView):
    """`/api/memory/proposals/{id}`: the record with difference, digest and warnings; POST decides."""

    def get(self, request: Request, proposal_id: str) -> Response:
        caller = actor(request)
        access.require(caller, "read")
        return Response(detailed(queries.proposal(proposal_id, caller)))

    def post(self, request: Request, proposal_id: str) -> Response:
        fields = DecisionBody.read(request.data)
        caller = actor(request)
        if fields["approve"]:
            decided = services.approve(proposal_id, seen=fields["seen"], actor=caller, reason=fields["reason"])
        else:
            decided = services.reject(proposal_id, actor=caller, reason=fields["reason"])
        return Response(record(decided, queries.contents([decided])[proposal_id]))


def record(one: Proposal, contents: queries.Contents) -> dict[str, Any]:
    """A proposal's record (memory.md 5.1) and where it stands."""
    return {
        "id": one.public_id,
        "scope": one.scope,
        "agent_id": one.agent_id,
        "kind": one.kind,
        "name": one.name,
        "description": one.get_kind_display(),
        "type": "reference",
        "body": store.decode(contents.proposed),
        "previous_body": store.decode(contents.previous),
        "status": one.state,
        "source": one.source,
        "origins": one.origins,
        "reasons": one.reasons,
        "run": one.run or None,
        "created_at": one.created_at,
        "resolved_at": one.resolved_at,
        "decided_by": one.decided_by or None,
        "decision_reason": one.decision_reason,
        "superseded_by": one.superseded_by or None,
        "reopens": one.reopens or None,
        "batch": one.batch or None,
        "written": contents.written.state if contents.written else None,
        "warnings": one.analysis.get("warnings", []),
    }


def detailed(one: Proposal) -> dict[str, Any]:
    """The record with what a reviewer needs: the difference by entries, sources, digest, consequence."""
    contents = queries.contents([one])[one.public_id]
    old, new = store.decode(contents.previous), store.decode(contents.proposed)
    answer = record(one, contents) | {
        "digest": None,
        "moved_on": None,
        "characters": one.analysis.get("characters"),
        "support": one.analysis.get("supports", {}),
        "diff": [
            {
                "id": difference.id,
                "kind": difference.kind,
                "flags": sorted(difference.flags),
                "old": [entry.text for entry in difference.old],
                "new": difference.new.text if difference.new else None,
                "headings": list((difference.new or difference.old[0]).headings),
            }
            for difference in pairing.differences(old, new)
        ],
    }
    if one.state == Proposal.State.PENDING:
        try:
            preview = services.preview(one)
        except (NotFound, StorageFailed):  # the agent left, or its folder is out of reach: no digest, no decision
            return answer
        answer |= {"digest": preview.digest, "moved_on": preview.moved_on}
    return answer
