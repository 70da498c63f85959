"""Serializer fields that take a text as it is, and serializers that refuse what they do not know."""

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request


class TextField(serializers.CharField):
    """A text, never trimmed, never made from a number."""

    def __init__(self, **options: Any) -> None:
        options.setdefault("allow_blank", True)
        super().__init__(trim_whitespace=False, **options)

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("invalid")
        return super().to_internal_value(data)


class Body(serializers.Serializer):
    """A request's body. A field it does not know is refused: ignoring it could do what was not meant."""

    def to_internal_value(self, data: Any) -> Any:
        unknown = sorted(set(data) - set(self.fields))
        if unknown:
            raise serializers.ValidationError({name: ["This field is not known here."] for name in unknown})
        return super().to_internal_value(data)

    @classmethod
    def read(cls, data: Any) -> dict[str, Any]:
        """The validated fields, or ValidationError (422)."""
        body = cls(data=data)
        body.is_valid(raise_exception=True)
        return dict(body.validated_data)


class Query(serializers.Serializer):
    """What may stand behind the question mark of an address; what it does not know is left alone."""

    @classmethod
    def read(cls, request: Request) -> dict[str, Any]:
        """The validated values, or ValidationError (422)."""
        query = cls(data=request.query_params.dict())
        query.is_valid(raise_exception=True)
        return dict(query.validated_data)
