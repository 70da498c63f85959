"""Calling an agent's tools."""

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.api.auth import actor, idempotency_key
from apps.api.fields import Body, TextField
from apps.tools import table


class CallBody(Body):
    arguments = serializers.DictField(default=dict)
    source = TextField(default="api")  # type: ignore[assignment] # a field of the body, not of the serializer
    conversation = TextField(required=False, allow_null=True)


class ToolView(APIView):
    """`POST /api/agents/{id}/tools/{name}`: 200 with `{text, data, is_error}`; a refusal is an answer, not a status."""

    def post(self, request: Request, agent_id: str, name: str) -> Response:
        fields = CallBody.read(request.data)
        caller = actor(request, source=fields["source"])
        answer = table.call(name, agent_id, fields["arguments"], actor=caller, key=idempotency_key(request.headers))
        return Response({"text": answer.text, "data": answer.data, "is_error": answer.is_error})
