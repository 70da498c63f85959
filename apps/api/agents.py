"""An agent's memory and day notes."""

from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.access import Actor
from apps.agents import reading, services
from apps.api import preconditions
from apps.api.auth import actor, idempotency_key
from apps.api.fields import Body, TextField


class MemoryBody(Body):
    memory_md = TextField()


class NoteBody(Body):
    body = TextField()


class MemoryView(APIView):
    """`/api/agents/{id}/memory`: MEMORY.md as stored, and the list of notes."""

    def get(self, request: Request, agent_id: str) -> Response:
        return _memory(agent_id, actor(request))

    def put(self, request: Request, agent_id: str) -> Response:
        text, caller = MemoryBody.read(request.data)["memory_md"], actor(request)
        services.write_memory(
            agent_id,
            text,
            actor=caller,
            when=preconditions.read(request),
            key=idempotency_key(request.headers),
        )
        return _memory(agent_id, caller)


def _memory(agent_id: str, caller: Actor) -> Response:
    memory = reading.memory(agent_id, actor=caller)
    answer = {
        "scope": memory.file.scope,
        "path": memory.file.path,
        "memory_md": memory.file.text,
        "notes": [{"day": note.day, "chars": note.chars, "date": note.date} for note in memory.notes],
        "note_count": len(memory.notes),
    }
    return preconditions.tagged(Response(answer), memory.file.sha256)


class NoteView(APIView):
    """`/api/agents/{id}/memory/notes/{day}`: one note; empty text when there is none."""

    def get(self, request: Request, agent_id: str, day: str) -> Response:
        return _note(agent_id, day, actor(request))

    def put(self, request: Request, agent_id: str, day: str) -> Response:
        text, caller = NoteBody.read(request.data)["body"], actor(request)
        services.write_note(
            agent_id,
            day,
            text,
            actor=caller,
            when=preconditions.read(request),
            key=idempotency_key(request.headers),
        )
        return _note(agent_id, day, caller)

    def delete(self, request: Request, agent_id: str, day: str) -> Response:
        services.delete_note(agent_id, day, actor=actor(request), when=preconditions.read(request))
        return Response(status=204)


def _note(agent_id: str, day: str, caller: Actor) -> Response:
    note = reading.note(agent_id, day, actor=caller)
    answer = {"scope": note.scope, "path": note.path, "day": day, "body": note.text}
    return preconditions.tagged(Response(answer), note.sha256)
