"""Who brought each line of a file: the newest batch whose text holds it and whose text before did not."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from apps.ledger import texts
from apps.ledger.models import Batch
from apps.ledger.models import Change as ChangeRow
from apps.vault import alignment, lines

BYTE_ORDER_MARK = "\ufeff"
# Changes fetched at once, and those whose texts are read together: a note may have thousands of appends, a memory
# hundreds of rewrites, and most lines are found in the newest ones.
CHUNK, TEXTS = 200, 8


@dataclass(frozen=True)
class Origin:
    """Where a line of a file comes from. `line` counts from 1, `text` is without line end and byte order mark.

    `batch` is None for a line that was edited outside, and for a blank one: that belongs to nobody.
    """

    line: int
    text: str
    batch: Batch | None = None

    @property
    def outside(self) -> bool:
        """Whether no batch that is still known brought this line as it stands. Never so for a blank line."""
        return self.batch is None and bool(self.text.strip())


def blame(scope_id: str, path: str, data: bytes) -> list[Origin]:
    """One origin a line, in the order of the file as it is now.

    Lines are compared whole, without line end and byte order mark. A batch brought a line as many times as its
    text holds it more often than the text before; an undo brought what it put back. Only batches that are done
    count; one whose texts are no longer kept is passed over. Of equal lines in the file a batch has
    those at the places where it put them, as long as nobody changed how many there are; else the last
    ones that no newer batch has.

    Reads the history of the path from its end, a few texts at a time, only as far as lines are left.
    """
    now = _split(data)
    unowned: dict[str, list[int]] = {}
    for place, text in enumerate(now):
        if text.strip():
            unowned.setdefault(text, []).append(place)
    owners: dict[int, Batch] = {}
    changes = _changes(scope_id, path)
    while unowned and (change := next(changes, None)):
        for text, places in _brought(change, unowned):
            owners |= dict.fromkeys(places, change.batch)
            left = [place for place in unowned[text] if place not in owners]
            if left:
                unowned[text] = left
            else:
                del unowned[text]
    return [Origin(place + 1, text, owners.get(place)) for place, text in enumerate(now)]


def record(origin: Origin) -> dict[str, Any]:
    """A line and its origin as programs get it; who and when only where a batch brought it."""
    told = {"line": origin.line, "text": origin.text, "batch": None, "outside": origin.outside}
    batch = origin.batch
    if batch is None:
        return told
    return told | {
        "batch": batch.public_id,
        "at": batch.created_at,
        "by": {"kind": batch.actor_kind, "id": batch.actor},
        "via": batch.via,
        "source": batch.source,
        "run": batch.run or None,
        "proposal": batch.proposal or None,
        "undoes": batch.undoes or None,
    }


@dataclass(frozen=True)
class _Change:
    """The lines of one change before and after; of an append (`whole` is false) only those that were added."""

    batch: Batch
    before: Sequence[str]
    after: Sequence[str]
    whole: bool


def _split(data: bytes) -> list[str]:
    text = data.decode("utf-8", errors="replace").removeprefix(BYTE_ORDER_MARK)
    return [line.text for line in lines.split(text)]


def _changes(scope_id: str, path: str) -> Iterator[_Change]:
    """What was done to the file, newest first, without the changes whose texts are gone."""
    rows = ChangeRow.objects.filter(path=path, batch__scope=scope_id, batch__state=Batch.State.DONE)
    waiting = rows.select_related("batch").order_by("-pk").iterator(chunk_size=CHUNK)
    known: dict[str | None, list[str]] = {}
    while group := list(islice(waiting, TEXTS)):
        contents = texts.fetch_many(
            sha for row in group if not row.is_append for sha in (row.sha_before, row.sha_after)
        )
        for row in group:
            if row.is_append:
                yield _Change(row.batch, (), _split(bytes(row.added or b"")), whole=False)
            elif {row.sha_before, row.sha_after} <= contents.keys() | {None}:
                # The text before a change is mostly the text after the one that came earlier: split it once.
                known = {
                    sha: known.get(sha) or _split(contents[sha]) if sha else []
                    for sha in (row.sha_before, row.sha_after)
                }
                yield _Change(row.batch, known[row.sha_before], known[row.sha_after], whole=True)


def _brought(change: _Change, unowned: dict[str, list[int]]) -> list[tuple[str, list[int]]]:
    """Of the lines nobody has yet those this change brought, each text with its places in the file."""
    holds = Counter(text for text in change.after if text in unowned)
    gained = holds - Counter(text for text in change.before if text in holds)
    unsure = {
        text: times for text, times in gained.items() if change.whole and times < holds[text] == len(unowned[text])
    }
    new = _new_ones(change, unsure) if unsure else {}
    return [
        (text, [unowned[text][nth] for nth in new[text]] if text in new else unowned[text][-times:])
        for text, times in gained.items()
    ]


def _new_ones(change: _Change, gained: dict[str, int]) -> dict[str, list[int]]:
    """Of each text held more often than before which of its occurrences are the new ones, counted from 0."""
    kept = {after for _, after in alignment.common(change.before, change.after)}
    seen: Counter[str] = Counter()
    new: dict[str, list[int]] = {text: [] for text in gained}
    for place, text in enumerate(change.after):
        if text in gained:
            if place not in kept:
                new[text].append(seen[text])
            seen[text] += 1
    # One that was only moved stands at a new place too; it counts no more often than there are more of them.
    return {text: places[-gained[text] :] for text, places in new.items()}
