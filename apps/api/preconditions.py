"""ETag, If-Match and If-None-Match of a file: strong tags made of the sha256 of its bytes."""

import re

from rest_framework.request import Request
from rest_framework.response import Response

from apps.errors import Invalid
from apps.vault.changes import Precondition

_TAG = re.compile(r'"([0-9a-f]{64})"\Z')


def read(request: Request) -> Precondition:
    """What the caller believes about the file it writes. Invalid for a tag we never gave out."""
    absent = False
    none_match = request.headers.get("If-None-Match")
    if none_match is not None:
        if none_match.strip() != "*":
            raise Invalid("If-None-Match takes only * here.", code="bad_precondition", field="If-None-Match")
        absent = True
    match = request.headers.get("If-Match")
    if match is None:
        return Precondition(absent=absent)
    offered = [tag.strip() for tag in match.split(",")]
    tags = {"*"} if offered == ["*"] else {found[1] for tag in offered if (found := _TAG.match(tag))}
    # A weak or foreign tag can never match; an empty set makes the check fail, as RFC 9110 has it.
    return Precondition(match=frozenset(tags), absent=absent)


def tagged(response: Response, sha256: str | None) -> Response:
    if sha256:
        response["ETag"] = f'"{sha256}"'
    return response
