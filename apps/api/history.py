"""What was written, and taking it back."""

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps import access
from apps.agents import reading
from apps.agents import services as agents
from apps.api.auth import actor
from apps.api.fields import Body, Query, TextField
from apps.ledger import blame, present, queries

MOST = 200


class Filters(Query):
    scope = TextField(default="")
    path = TextField(default="")
    actor = TextField(default="")
    run = TextField(default="")
    before = TextField(default="")
    limit = serializers.IntegerField(default=50, min_value=1, max_value=MOST)


class HistoryView(APIView):
    """`GET /api/history`: batches, newest first."""

    def get(self, request: Request) -> Response:
        caller = actor(request)
        access.require(caller, "read")
        fields = Filters.read(request)
        rows = queries.history(
            caller,
            scope=fields["scope"],
            path=fields["path"],
            by=fields["actor"],
            run=fields["run"],
            before=fields["before"],
            limit=fields["limit"],
        )
        undone = queries.undone(row.public_id for row in rows)
        return Response({"batches": [present.record(row, undone.get(row.public_id)) for row in rows]})


class BlameQuery(Query):
    scope = TextField(allow_blank=False)
    path = TextField(allow_blank=False)


class BlameView(APIView):
    """`GET /api/history/blame`: a file line by line, and which batch brought each line."""

    def get(self, request: Request) -> Response:
        caller = actor(request)
        access.require(caller, "read")
        fields = BlameQuery.read(request)
        found = reading.blame(fields["scope"], fields["path"], actor=caller)
        return Response(
            {
                "scope": found.file.scope,
                "path": found.file.path,
                "sha256": found.file.sha256,
                "lines": [blame.record(origin) for origin in found.origins],
            }
        )


class UndoView(APIView):
    """`POST /api/history/{id}/undo`: the batch that took it back."""

    def post(self, request: Request, batch_id: str) -> Response:
        Body.read(request.data)
        return Response(present.record(agents.undo(batch_id, actor=actor(request))))
