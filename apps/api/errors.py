"""The one table that turns an error into an HTTP answer: `{"error": {"code", "message", "details"}}`."""

from collections.abc import Mapping
from typing import Any

from django.core.exceptions import PermissionDenied, RequestDataTooBig
from django.db import OperationalError
from django.http import Http404
from rest_framework import exceptions
from rest_framework.response import Response

from apps import errors
from apps.ledger import database

STATUS: dict[type[errors.MemoryHubError], int] = {
    errors.Forbidden: 403,
    errors.NotFound: 404,
    errors.Conflict: 409,
    errors.Stale: 412,
    errors.TooLarge: 413,
    errors.Invalid: 422,
    errors.ModelFailed: 502,
    errors.Busy: 503,
    errors.StorageFailed: 507,
}

# What a plain HTTP status is called when no error of ours stands behind it.
CODES = {
    400: ("bad_request", "The request could not be read."),
    401: ("not_authenticated", "Sign in or send a token: “Authorization: Bearer …”."),
    403: ("forbidden", "This is not allowed."),
    404: ("not_found", "There is nothing at this address."),
    405: ("method_not_allowed", "This address does not take that method."),
    413: ("too_large", "The request is too large."),
    429: ("throttled", "Too many requests; try again later."),
    500: ("server_error", "Something went wrong here; it was logged."),
}

# Seconds a client should wait before it tries a busy scope again; the lock itself waits ten.
RETRY_SECONDS = 2


def body(code: str, message: str, details: Mapping[str, Any] | None = None) -> dict[str, Any]:
    return {"error": {"code": code, "message": message, "details": dict(details or {})}}


def handle(error: Exception, context: Mapping[str, Any]) -> Response | None:
    """DRF's exception handler; None (a bug) becomes a logged 500."""
    if isinstance(error, OperationalError):
        error = database.told(error)
    if isinstance(error, errors.MemoryHubError):
        return _ours(error)
    if isinstance(error, exceptions.ValidationError):
        return Response(body("invalid", _sentence(error.detail), {"fields": error.detail}), status=422)
    if isinstance(error, exceptions.ParseError):
        return Response(body("not_json", str(error.detail)), status=400)
    if isinstance(error, RequestDataTooBig):
        return Response(body(*CODES[413]), status=413)
    if isinstance(error, Http404):
        return Response(body(*CODES[404]), status=404)
    if isinstance(error, PermissionDenied):
        return Response(body(*CODES[403]), status=403)
    if isinstance(error, exceptions.APIException):
        return _drf(error)
    return None


def _ours(error: errors.MemoryHubError) -> Response:
    status = next(status for kind, status in STATUS.items() if isinstance(error, kind))
    headers = {"Retry-After": str(RETRY_SECONDS)} if status == 503 else {}
    return Response(body(error.code, error.message, error.details), status=status, headers=headers)


def _drf(error: exceptions.APIException) -> Response:
    code, fallback = CODES.get(error.status_code, ("error", ""))
    headers = {}
    if header := getattr(error, "auth_header", None):
        headers["WWW-Authenticate"] = header
    if wait := getattr(error, "wait", None):
        headers["Retry-After"] = str(int(wait) + 1)
    detail = error.detail if isinstance(error.detail, str) else fallback
    return Response(body(code, str(detail)), status=error.status_code, headers=headers)


def _sentence(detail: Any) -> str:
    """The first complaint, with the field it is about."""
    if isinstance(detail, dict) and detail:
        name, inner = next(iter(detail.items()))
        return f"{name}: {_sentence(inner)}"
    if isinstance(detail, list) and detail:
        return _sentence(detail[0])
    return str(detail)
