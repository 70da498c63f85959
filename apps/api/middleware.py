"""What DRF never sees: Django's own error pages under /api, and addresses nobody can store."""

from collections.abc import Callable
from urllib.parse import unquote_to_bytes

from django.http import HttpRequest, HttpResponse, HttpResponseBadRequest, JsonResponse

from apps.api import errors

Handler = Callable[[HttpRequest], HttpResponse]


class ErrorsAsJson:
    """Answer under /api in one shape, whoever refused; refuse NUL in any path or query."""

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        is_api = f"{request.path_info}/".startswith("/api/")
        if "\x00" in request.path_info or b"\x00" in unquote_to_bytes(request.META.get("QUERY_STRING", "")):
            if is_api:
                refusal = errors.body("bad_name", "An address cannot hold a NUL character.", {"field": "path"})
                return JsonResponse(refusal, status=422)
            return HttpResponseBadRequest("An address cannot hold a NUL character.", content_type="text/plain")
        if request.headers.get("Transfer-Encoding", "").lower() == "chunked" and "CONTENT_LENGTH" not in request.META:
            # DRF takes "no length announced" for "no body"; any length but 0 makes it read until the end.
            request.META["CONTENT_LENGTH"] = "1"
        response = self.get_response(request)
        if is_api and response.status_code >= 400 and response.get("Content-Type") != "application/json":
            code, message = errors.CODES.get(response.status_code, ("error", response.reason_phrase))
            return JsonResponse(errors.body(code, message), status=response.status_code)
        return response
