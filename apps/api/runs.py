"""Ask for a run, follow it, and what all of them cost."""

from django.utils import timezone
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps import access
from apps.agents import queries as agents
from apps.api.auth import actor
from apps.api.fields import Body, Query, TextField
from apps.jobs import nightly, requests
from apps.proposals import queries as proposals
from apps.proposals.models import Proposal
from apps.runs import present, queries
from apps.runs.models import Run

MOST = 200


class ConsolidateBody(Body):
    force = serializers.BooleanField(default=False)


class Filters(Query):
    agent = TextField(default="")
    kind = TextField(default="")
    state = TextField(default="")
    before = TextField(default="")
    limit = serializers.IntegerField(default=50, min_value=1, max_value=MOST)


class ConsolidateView(APIView):
    """`POST /api/agents/{id}/memory/consolidate`: 202 with the run's id; 409 while one is queued or under way."""

    def post(self, request: Request, agent_id: str) -> Response:
        body = ConsolidateBody.read(request.data)
        run = requests.consolidate(agent_id, actor=actor(request), force=body["force"])
        return Response({"agent_id": agent_id, "run_source": run.source, "run_id": run.public_id}, status=202)


class RunsView(APIView):
    """`GET /api/runs`: runs, newest first."""

    def get(self, request: Request) -> Response:
        caller = actor(request)
        access.require(caller, "read")
        fields = Filters.read(request)
        rows = queries.listed(
            caller,
            agent_id=fields["agent"],
            kind=fields["kind"],
            state=fields["state"],
            before=fields["before"],
            limit=fields["limit"],
        )
        return Response({"runs": [present.record(run) for run in rows]})


class RunView(APIView):
    """`GET /api/runs/{id}`: one run with its calls to models and the batches it led to."""

    def get(self, request: Request, run_id: str) -> Response:
        caller = actor(request)
        access.require(caller, "read")
        return Response(present.whole(queries.seen(run_id, caller), caller))


class StatsView(APIView):
    """`GET /api/stats`: what waits, what runs, what was spent, which nights come; of the agents the caller may see."""

    def get(self, request: Request) -> Response:
        caller = actor(request)
        access.require(caller, "read")
        runs = queries.visible(caller)
        crew = agents.agents(caller)
        return Response(
            {
                "pending_proposals": proposals.visible(caller).filter(state=Proposal.State.PENDING).count(),
                "agents": len(crew),
                "queued_runs": runs.filter(state=Run.State.QUEUED).count(),
                "running_runs": runs.filter(state=Run.State.RUNNING).count(),
                "spending": present.spending(caller.scopes),
                "nights": [
                    {"agent": night.agent_id, "at": night.at} for night in nightly.upcoming(crew, timezone.now())
                ],
                "worker_seen_at": queries.last_pulse(),
            }
        )
