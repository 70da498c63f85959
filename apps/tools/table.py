"""The tools an agent can call: name, description, JSON schema, function. Used by the API and, later, MCP."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import jsonschema  # type: ignore[import-untyped]

from apps.access import Actor
from apps.agents import services as agents
from apps.errors import Invalid, NotFound, TooLarge
from apps.vault import credentials


@dataclass(frozen=True)
class Answer:
    """What a tool says: a sentence for the model, values for the program. `is_error` marks a refusal."""

    text: str
    data: dict[str, Any] = field(default_factory=dict)
    is_error: bool = False


Function = Callable[[str, Mapping[str, Any], Actor, str | None], Answer]


@dataclass(frozen=True)
class Tool:
    name: str
    description: str
    schema: dict[str, Any]
    run: Function


def _memory_save(agent_id: str, arguments: Mapping[str, Any], actor: Actor, key: str | None) -> Answer:
    saved = agents.append_note(agent_id, arguments["text"], actor=actor, key=key)
    told = f"Saved in {saved.path}, line {saved.line}. The notes hold {saved.entries} entries now."
    warnings = [f"It looks like it holds a {one.kind.replace('_', ' ')}" for one in credentials.find(arguments["text"])]
    if warnings:
        told += (
            f" {warnings[0]}: it stays in the file as it is, and is masked before a model reads it. "
            "Credentials do not belong in notes."
        )
    return Answer(
        told,
        {
            "scope": agent_id,
            "path": saved.path,
            "line": saved.line,
            "entries": saved.entries,
            "batch": saved.batch,
            "repeated": saved.repeated,
            "warnings": warnings,
        },
    )


# Characters of a schema's complaint that are told: it quotes what was sent, however long that is.
MOST_TOLD = 200

TOOLS = {
    tool.name: tool
    for tool in (
        Tool(
            "memory_save",
            "Write one line into today's note, your own notebook of this day: what happened, what was decided, "
            "what you want to find again. It needs no approval. Long-term memory (MEMORY.md) is not written here: "
            "the nightly consolidation proposes what should last. Do not save what the conversation already "
            "keeps, nor secrets.",
            {
                "type": "object",
                "properties": {
                    "text": {
                        "type": "string",
                        "description": "One thought, understandable by itself a month later.",
                    }
                },
                "required": ["text"],
                "additionalProperties": False,
            },
            _memory_save,
        ),
    )
}


def call(name: str, agent_id: str, arguments: Mapping[str, Any], *, actor: Actor, key: str | None = None) -> Answer:
    """Run a tool. What the tool refuses is an Answer with `is_error`.

    NotFound for an unknown tool, Invalid `bad_arguments` naming the field when the
    arguments do not fit the schema; rights, unknown agents, busy scopes and a
    refusing disk raise as everywhere.
    """
    tool = TOOLS.get(name)
    if tool is None:
        raise NotFound(f"There is no tool “{name}”.", tool=name)
    fault = jsonschema.Draft202012Validator(tool.schema).iter_errors(dict(arguments))
    for error in fault:
        place = ".".join(["arguments", *map(str, error.absolute_path)])
        raise Invalid(f"{place}: {error.message[:MOST_TOLD]}", code="bad_arguments", field=place)
    try:
        return tool.run(agent_id, arguments, actor, key)
    except (Invalid, TooLarge) as error:
        return Answer(error.message, {"code": error.code, **error.details}, is_error=True)
