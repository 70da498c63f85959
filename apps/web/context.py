"""What every page shows: how many proposals wait, for people who may see them."""

from typing import Any

from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from apps.proposals import queries


def waiting(request: HttpRequest) -> dict[str, Any]:
    user = getattr(request, "user", None)
    if user is None or not user.is_authenticated or not user.has_perm("proposals.view_proposal"):
        return {}
    return {"waiting_count": SimpleLazyObject(queries.waiting)}
