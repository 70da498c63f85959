"""Reading a request's body: one JSON object of storable text, or a clear refusal."""

import json
from collections.abc import Iterator, Mapping
from typing import IO, Any

from django.conf import settings
from rest_framework.exceptions import ParseError
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.parsers import BaseParser

from apps.errors import Invalid, TooLarge
from apps.vault import formats


class StrictJSONParser(BaseParser):
    """Parse a JSON object, whatever Content-Type says (a missing one included).

    ParseError (400) when it is no JSON; Invalid (422) when it is JSON but no
    object, or holds NUL or half a surrogate pair anywhere, named by its field;
    TooLarge (413) over `MEMORYHUB_REQUEST_LIMIT` bytes.
    """

    media_type = "*/*"

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        limit = settings.MEMORYHUB_REQUEST_LIMIT
        # A chunked request announces no length, so the bytes themselves are counted.
        data = stream.read(limit + 1)
        if len(data) > limit:
            raise TooLarge(f"A request may have {limit:,} bytes.", limit=limit)
        if not data.strip():
            return {}
        try:
            value = json.loads(data.decode("utf-8-sig"), parse_constant=_refuse_constant)
        except (ValueError, RecursionError) as error:
            raise ParseError(f"The body is not JSON: {error}.") from error
        if not isinstance(value, dict):
            raise Invalid("The body must be a JSON object.", code="not_an_object")
        for name, text in _texts(value, ""):
            formats.refuse_unstorable(text, name)
        return value


def _refuse_constant(word: str) -> None:
    raise ValueError(f"{word} is not JSON")


def _texts(value: Any, name: str) -> Iterator[tuple[str, str]]:
    """Every text in the value with the dotted name of its place; keys are texts too.

    Names are made for texts and containers only: a list of millions of numbers costs nothing.
    """
    waiting = [(name, value)]
    while waiting:
        name, value = waiting.pop()
        if isinstance(value, str):
            yield name, value
        elif isinstance(value, list):
            waiting += [
                (f"{name}[{index}]", one) for index, one in enumerate(value) if isinstance(one, str | list | dict)
            ]
        elif isinstance(value, dict):
            for key, one in value.items():
                yield f"{name}.(key)".lstrip("."), key
                if isinstance(one, str | list | dict):
                    waiting.append((f"{name}.{key}".lstrip("."), one))


class AlwaysJSON(BaseContentNegotiation):
    """One shape in, one shape out, whatever a caller says it accepts."""

    def select_parser(self, request: Any, parsers: Any) -> Any:
        return parsers[0]

    def select_renderer(self, request: Any, renderers: Any, format_suffix: Any = None) -> Any:
        return renderers[0], renderers[0].media_type
