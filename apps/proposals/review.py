"""What the review page draws, as plain values.

Whoever builds these has decided everything: order, pairing, marks, warnings
and translated words. The templates under `admin/proposals/proposal/` only
draw, so a page, a test and a later page in another frame show the same thing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from apps.proposals.models import Proposal

Change = Literal["", "del", "ins"]
Severity = Literal["note", "check", "stop"]
Kind = Literal["added", "removed", "reworded", "merged", "moved", "redated", "heading_renamed"]


@dataclass(frozen=True)
class Segment:
    """A stretch of an entry that is drawn alike.

    `warn` is the severity of the check these very words are about; "letter"
    boxes one invisible or look-alike letter instead of underlining it.
    """

    text: str
    change: Change = ""
    warn: Literal["", "note", "check", "stop", "letter"] = ""


@dataclass(frozen=True)
class Text:
    """An entry's words without bullet sign and date suffix; newlines in it are kept on the page.

    `date` is "2026-09-18", or "" for an entry that carries none.
    """

    segments: tuple[Segment, ...]
    date: str = ""
    heading: bool = False


@dataclass(frozen=True)
class Evidence:
    """One check in one sentence; `label` is the severity's word ("Stop", "Check", "Note")."""

    severity: Severity
    label: str
    sentence: str


@dataclass(frozen=True)
class QuotedLine:
    """A line of a file, numbered from 1; `hit` marks the one that is pointed at."""

    number: int
    text: str
    hit: bool = False
    heading: bool = False


@dataclass(frozen=True)
class Source:
    """The note line that backs an entry, with the lines around it.

    `found` of the entry's `total` content words stand in that line. `missing`
    says the note no longer holds it; `lines` is empty then. `label` is a whole
    phrase ("Note 18 Sep, line 4"), `url` opens the note at the line.
    """

    label: str
    path: str
    line: int
    found: int
    total: int
    lines: tuple[QuotedLine, ...]
    url: str
    missing: bool = False


@dataclass(frozen=True)
class Row:
    """One change of one entry.

    `marked` holds old and new woven together for a reworded entry or heading;
    `unmarked` says over half the words differ, so old is drawn above new.
    `count` is the number of old entries of a merged one. `evidence` comes
    ordered by severity. `remark` is what code found and no check ("Same words,
    other heading."); `reason` is the model's own, without quotation marks.
    """

    id: str
    kind: Kind
    word: str
    count: int
    place: str
    old: tuple[Text, ...]
    new: Text | None
    marked: tuple[Segment, ...] = ()
    unmarked: bool = False
    evidence: tuple[Evidence, ...] = ()
    source: Source | None = None
    remark: str = ""
    reason: str = ""

    @property
    def marked_old(self) -> tuple[Segment, ...]:
        """Of the woven row what stands in the old text."""
        return tuple(one for one in self.marked if one.change != "ins")

    @property
    def marked_new(self) -> tuple[Segment, ...]:
        """Of the woven row what stands in the new text."""
        return tuple(one for one in self.marked if one.change != "del")


@dataclass(frozen=True)
class Group:
    """Rows that deserve the same attention; `hidden` more lie beyond the cap and are shown by `?all=1`."""

    key: Literal["look", "backed"]
    title: str
    hint: str
    rows: tuple[Row, ...]
    hidden: int = 0

    @property
    def total(self) -> int:
        return len(self.rows) + self.hidden


@dataclass(frozen=True)
class Link:
    label: str
    url: str


@dataclass(frozen=True)
class RedatedRow:
    text: str
    old_date: str
    new_date: str
    source: Link | None = None


@dataclass(frozen=True)
class Redated:
    """Entries of which only the date changes; `unknown` says some new date stands in no note."""

    count: int
    rows: tuple[RedatedRow, ...]
    unknown: bool = False


@dataclass(frozen=True)
class Consequence:
    """The file's size in characters with this approved (`after`) and as it is now (`before`)."""

    after: int
    before: int
    limit: int

    @property
    def more(self) -> int:
        return max(0, self.after - self.before)

    @property
    def fewer(self) -> int:
        return max(0, self.before - self.after)

    @property
    def over(self) -> int:
        """By how much the limit is passed, 0 within it."""
        return max(0, self.after - self.limit)

    @property
    def limit_at(self) -> str:
        """Where the limit stands in the bar, as an SVG length."""
        return self._share(self.limit)

    @property
    def kept_width(self) -> str:
        """The stretch of the bar that stays, as an SVG length; text, so that no locale writes "96,3%"."""
        return self._share(min(self.before, self.after))

    @property
    def grown_width(self) -> str:
        return self._share(self.more)

    def _share(self, characters: int) -> str:
        scale = max(self.limit, self.before, self.after, 1)
        return f"{100 * characters / scale:.1f}%"


@dataclass(frozen=True)
class FileLine:
    """A line of a file; `number` counts in that file alone.

    In a shortened file "gap" stands for lines left out, `text` says how many and `number` is 0.
    """

    number: int
    text: str
    change: Literal["", "del", "ins", "gap"] = ""


@dataclass(frozen=True)
class Piece:
    """A part of a line of facts, spaces included; a link when `url` is set."""

    text: str
    url: str = ""


@dataclass(frozen=True)
class Notice:
    """Why nothing was decided: what did not happen, why, what to do. The link is optional."""

    title: str
    why: str
    what_to_do: str
    link_text: str = ""
    link_url: str = ""


@dataclass(frozen=True)
class Strip:
    """What the last decision did; `undo_url` takes a POST and is "" when it cannot be taken back.

    `word` is what the button says, "Undo" when empty.
    """

    text: str
    undo_url: str = ""
    word: str = ""


@dataclass(frozen=True)
class Review:
    """The whole page. Sentences are translated and final; counts are formatted by the templates.

    `url` is the page's own address without a query: a refused decision is
    answered at another one, and the links to the views must not follow it.

    `now_url` and `after_url` give the two texts whole and plain; the lines drawn may be cut.

    `position` is (7, 40) or None outside a walk; `digest` is what the forms
    send back as `seen`; `capped` leaves only counts and the whole file.
    `typed_why` and `typed_reason` are what a refused rejection had chosen and
    typed. All four action addresses take a POST.
    """

    proposal: Proposal
    url: str
    path: str
    title: str
    verdict: str
    facts_line: tuple[Piece, ...]
    groups: tuple[Group, ...]
    redated: Redated | None
    own_words: tuple[str, ...]
    whole_warnings: tuple[Evidence, ...]
    consequence: Consequence | None
    old_lines: tuple[FileLine, ...]
    new_lines: tuple[FileLine, ...]
    digest: str
    capped: bool
    may_decide: bool
    pending: bool
    outcome: str = ""
    outcome_links: tuple[Piece, ...] = ()
    undo_url: str = ""
    reopen_url: str = ""
    position: tuple[int, int] | None = None
    previous_url: str = ""
    next_url: str = ""
    approve_url: str = ""
    reject_url: str = ""
    notice: Notice | None = None
    now_url: str = ""
    after_url: str = ""
    typed_why: str = ""
    typed_reason: str = ""
    strip: Strip | None = None

    @property
    def may_approve(self) -> bool:
        """False for a proposal whose agent left: nothing can be written for it, it can only be rejected."""
        return bool(self.digest)

    @property
    def entry_count(self) -> int:
        """Entries the approve button speaks of; entries that are only re-dated are counted apart."""
        return sum(group.total for group in self.groups)
