"""Texts by their sha256: keep them once, fetch them whole."""

import zlib
from collections.abc import Iterable

from apps.errors import NotFound
from apps.ledger.models import Text
from apps.vault import files

# Level 6 is zlib's own default: memory text shrinks to about 40 %, slower levels gain little.
_LEVEL = 6


def keep(contents: Iterable[bytes | None]) -> None:
    """Store each content unless it is there already. Call it inside the transaction that names them."""
    wanted = {sha: content for content in contents if content is not None and (sha := files.sha256(content))}
    known = set(Text.objects.filter(pk__in=wanted).values_list("pk", flat=True))
    Text.objects.bulk_create(
        [
            Text(sha256=sha, data=zlib.compress(content, _LEVEL), size=len(content))
            for sha, content in wanted.items()
            if sha not in known
        ],
        ignore_conflicts=True,
    )


def fetch_many(shas: Iterable[str | None]) -> dict[str, bytes]:
    """The contents with these digests in one query; one that was removed is missing."""
    rows = Text.objects.filter(pk__in={sha for sha in shas if sha is not None})
    return {text.pk: text.content for text in rows}


def fetch(sha: str | None) -> bytes | None:
    """The content with this digest; None for "no file". NotFound when it was removed (redaction)."""
    if sha is None:
        return None
    text = Text.objects.filter(pk=sha).first()
    if text is None:
        raise NotFound("This text is no longer kept.", code="text_removed", sha256=sha)
    return text.content
