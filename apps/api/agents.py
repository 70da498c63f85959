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
        written = services.write_memory(
            agent_id,
            text,
            actor=caller,
            when=preconditions.read(request),
            key=idempotency_key(request.headers),
        )
        # What was written, not what is there by now: the next If-Match must mean the text this caller has seen.
        return _memory(agent_id, caller, reading.File(agent_id, written.path, text, written.sha256))


def _memory(agent_id: str, caller: Actor, file: reading.File | None = None) -> Response:
    memory = reading.memory(agent_id, actor=caller)
    file = file or memory.file
    answer = {
        "scope": file.scope,
        "path": file.path,
        "memory_md": file.text,
        "notes": [{"day": note.day, "chars": note.chars, "date": note.date} for note in memory.notes],
        "note_count": len(memory.notes),
    }
    return preconditions.tagged(Response(answer), file.sha256)


class NoteView(APIView):
    """`/api/agents/{id}/memory/notes/{day}`: one note; empty text when there is none."""

    def get(self, request: Request, agent_id: str, day: str) -> Response:
        return _note(day, reading.note(agent_id, day, actor=actor(request)))

    def put(self, request: Request, agent_id: str, day: str) -> Response:
        text, caller = NoteBody.read(request.data)["body"], actor(request)
        written = services.write_note(
            agent_id,
            day,
            text,
            actor=caller,
            when=preconditions.read(request),
            key=idempotency_key(request.headers),
        )
        return _note(day, reading.File(agent_id, written.path, text, written.sha256))

    def delete(self, request: Request, agent_id: str, day: str) -> Response:
        services.delete_note(agent_id, day, actor=actor(request), when=preconditions.read(request))
        return Response(status=204)


def _note(day: str, note: reading.File) -> Response:
    answer = {"scope": note.scope, "path": note.path, "day": day, "body": note.text}
    return preconditions.tagged(Response(answer), note.sha256)
