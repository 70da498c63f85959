"""Writes the request for a rewrite of one agent's memory."""

from collections.abc import Sequence
from datetime import date
from pathlib import Path
from string import Template

from apps.jobs import inputs, review_lists
from apps.jobs.answers import LIMIT
from apps.llm.offline import SEPARATOR

_TEXT = (Path(__file__).parent / "prompts" / "rewrite.md").read_text(encoding="utf-8")
_REWRITE = Template(_TEXT)
_REWRITE_WITHOUT_MARKS = Template("".join(line for line in _TEXT.splitlines(keepends=True) if "$mark " not in line))


def rewrite(
    memory: str,
    notes: Sequence[inputs.Note],
    *,
    today: date,
    mark: str = "",
    limit: int = LIMIT,
    days: int = review_lists.OLD_DAYS,
) -> str:
    """The one message a model gets: rules, the lines to decide about, memory and notes as quoted data.

    `mark` is an example of what stands for masked credentials; without one marks
    are not spoken of. `days` is the age after which a dated line has to be decided
    about. The review lists repeat lines of the memory and are quoted like it.
    """
    lists = review_lists.review(memory, today=today, days=days)
    return (_REWRITE if mark else _REWRITE_WITHOUT_MARKS).substitute(
        today=today.isoformat(),
        limit=f"{limit:,}",
        days=days,
        mark=mark,
        undated=inputs.quote(review_lists.as_text(lists.undated), label="undated"),
        old=inputs.quote(review_lists.as_text(lists.old), label="old"),
        separator=SEPARATOR,
        memory=inputs.quote(memory.strip(), label="memory"),
        notes=inputs.quoted(notes),
    )
