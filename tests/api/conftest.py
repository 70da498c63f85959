"""A client for programs: JSON in, JSON out, with the token of the test."""

import json
from dataclasses import dataclass
from typing import Any

import pytest
from django.test import Client


@dataclass
class Api:
    """Calls the API as one caller; `headers` go with every call, and a call may add its own."""

    client: Client
    headers: dict[str, str]

    def call(self, method: str, path: str, body: Any = None, *, raw: bytes | None = None, **headers: str) -> Any:
        data = raw if raw is not None else b"" if body is None else json.dumps(body).encode()
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.client.generic(
            method, f"/api/{path}", data, content_type="application/json", headers={**self.headers, **named}
        )

    def get(self, path: str, **headers: str) -> Any:
        return self.call("GET", path, **headers)

    def put(self, path: str, body: Any, **headers: str) -> Any:
        return self.call("PUT", path, body, **headers)

    def post(self, path: str, body: Any = None, **headers: str) -> Any:
        return self.call("POST", path, body, **headers)

    def save(self, agent: str, text: str, **headers: str) -> Any:
        return self.post(f"agents/{agent}/tools/memory_save", {"arguments": {"text": text}}, **headers)


@pytest.fixture
def api(client: Client, token: str) -> Api:
    """A caller with a token that may do everything to every agent."""
    return Api(client, {"Authorization": f"Bearer {token}"})


@pytest.fixture
def api_with(crew, client: Client):
    """Make a caller from rights and, if it is bound to one, an agent: `api_with("read", agent="coach")`."""
    from apps import access
    from apps.agents import registry

    def make(*rights: str, agent: str = "") -> Api:
        _, secret = registry.issue_token("narrow", rights=rights, agent_id=agent, actor=access.operator())
        return Api(Client(), {"Authorization": f"Bearer {secret}"})

    return make
