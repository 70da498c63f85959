"""Who is calling: a token, or a person signed in to the site; either becomes an Actor."""

from collections.abc import Mapping
from hmac import compare_digest
from typing import Any

from knox.auth import TokenAuthentication as KnoxAuthentication
from knox.crypto import hash_token
from knox.settings import CONSTANTS
from rest_framework import authentication, exceptions
from rest_framework.request import Request

from apps import access
from apps.access import Actor
from apps.agents import queries as agents
from apps.agents import services
from apps.agents.models import Token

SOURCE_HEADER = "MemoryHub-Source"


class Program:
    """What `request.user` is for a token: a caller that is signed in and is no person."""

    is_authenticated = True
    is_active = True

    def __init__(self, token: Token) -> None:
        self.token = token


class TokenAuthentication(KnoxAuthentication):
    """`Authorization: Bearer mh_…`, checked against the stored hash in constant time."""

    def authenticate_credentials(self, token: bytes) -> tuple[Program, Token]:
        refused = exceptions.AuthenticationFailed("This token is not valid.")
        try:
            text = token.decode("ascii")
        except UnicodeDecodeError as error:
            raise refused from error
        if "\x00" in text:
            raise refused
        digest = hash_token(text)
        for one in Token.objects.filter(token_key=text[: CONSTANTS.TOKEN_KEY_LENGTH]).select_related("agent"):
            if compare_digest(digest, one.digest):
                if one.expired or (one.agent and one.agent.archived_at):
                    raise exceptions.AuthenticationFailed("This token has ended.")
                return Program(one), one
        raise refused


class SessionAuthentication(authentication.SessionAuthentication):
    """People signed in to the site, with Django's CSRF check on every write."""


def actor(request: Request, *, source: str | None = None) -> Actor:
    """The Actor of this call. `source` overrides the header (tools carry it in the body); absent means `api`."""
    if isinstance(request.auth, Token):
        named = source if source is not None else request.headers.get(SOURCE_HEADER, "api")
        return agents.token_actor(request.auth, named or "api", via="api")
    named = source if source is not None else request.headers.get(SOURCE_HEADER, "")
    agents.refuse_forged(named)
    return access.staff(request.user, via="api")


def idempotency_key(headers: Mapping[str, Any]) -> str | None:
    """The caller's key, None for none. Invalid `bad_key` for one that cannot be one, whatever is called."""
    name = headers.get("Idempotency-Key")
    services.body_key(name, None)
    return name
