"""What was written, and taking it back."""

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps import access
from apps.agents import services as agents
from apps.api.auth import actor
from apps.api.fields import Body, TextField
from apps.ledger import present, queries

MOST = 200


class Filters(serializers.Serializer):
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
        filters = Filters(data=request.query_params.dict())
        filters.is_valid(raise_exception=True)
        fields = filters.validated_data
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


class UndoView(APIView):
    """`POST /api/history/{id}/undo`: the batch that took it back."""

    def post(self, request: Request, batch_id: str) -> Response:
        Body.read(request.data)
        return Response(present.record(agents.undo(batch_id, actor=actor(request))))
