"""Draw one difference as a row of the review page: marked words, checks, the note line that backs it.

A row costs reading a note and marking words, so the page asks only for the rows
it shows; which group a difference belongs to is told from stored facts alone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.urls import reverse
from django.utils.translation import gettext as _

from apps.agents import queries as agents
from apps.agents import store
from apps.errors import NotFound, StorageFailed
from apps.proposals import marking, sentences, support, warnings
from apps.proposals.models import Proposal
from apps.proposals.review import Evidence, Link, QuotedLine, Row, Segment, Source
from apps.vault import files, folding, lines
from apps.vault.pairing import Difference


@dataclass
class Drawing:
    """Rows of one proposal. `reasons` are the model's, by difference; a note is read once however many rows name it."""

    proposal: Proposal
    reasons: Mapping[str, str]
    linked: bool  # whether whoever looks may open the notes themselves
    checks: dict[str, list[warnings.Warning]] = field(init=False)
    supports: Mapping[str, Mapping[str, Any]] = field(init=False)
    _root: Path | None = field(init=False)
    _notes: dict[str, list[lines.Line]] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self.checks = {}
        for stored in self.proposal.analysis.get("warnings", []):
            one = warnings.Warning(
                stored["code"],
                stored["severity"],
                stored["entry"],
                stored["side"],
                tuple(stored["words"]),
                stored["params"],
            )
            self.checks.setdefault(one.entry, []).append(one)
        self.supports = self.proposal.analysis.get("supports", {})
        try:
            self._root = agents.scope(self.proposal.scope).root
        except NotFound:
            self._root = None

    def only_date(self, one: Difference) -> bool:
        """Whether it goes into the one folded line of dates: nothing else changes and no check speaks."""
        return one.kind == "redated" and not self._checked(one)

    def wants_a_look(self, one: Difference) -> bool:
        """Anything that can lose or smuggle something: removed, checked, or without a source."""
        if one.kind == "removed" or self._checked(one):
            return True
        if one.id in self.supports:
            return False
        if one.kind == "merged":
            return not _says_the_same(one)
        return one.kind in {"added", "reworded"} and not (_remark(one) and not _holds_code(one))

    def _checked(self, one: Difference) -> bool:
        return any(warning.severity != "note" for warning in self.checks.get(one.id, ()))

    def whole(self) -> tuple[Evidence, ...]:
        """The checks about the proposal as a whole."""
        return tuple(map(_evidence, self.checks.get("", ())))

    def row(self, one: Difference) -> Row:
        found = self.checks.get(one.id, [])
        old_warned, new_warned = _warned(found, "old"), _warned(found, "new")
        marked: tuple[Segment, ...] = ()
        unmarked = False
        if one.new and len(one.old) == 1 and one.kind in {"reworded", "heading_renamed"}:
            marked, unmarked = marking.woven(one.old[0], one.new, old_warned, new_warned)
        return Row(
            id=one.id,
            kind=one.kind,
            word=sentences.kind_word(one.kind),
            count=len(one.old),
            place=_place(one),
            old=tuple(marking.text(entry, old_warned) for entry in one.old),
            new=marking.text(one.new, new_warned) if one.new else None,
            marked=marked,
            unmarked=unmarked,
            evidence=tuple(map(_evidence, _said_once(found))),
            source=self._source(one),
            remark=_remark(one),
            reason=self.reasons.get(one.id, ""),
        )

    def _source(self, one: Difference) -> Source | None:
        stored = self.supports.get(one.id)
        if stored is None:
            return None
        path, start = stored["path"], stored["line_start"]
        backing = support.Support(path, start, stored["line_end"], stored["found"], stored["total"])
        quoted = support.quoted(self._note(path), backing)
        held = set(folding.content_words(" ".join(line.text for line in quoted if line.supporting)))
        words = support.words_of(one.new) if one.new else frozenset()
        missing = len(held & words) * 100 < support.SHARE * len(words) or not words
        return Source(
            label=sentences.source_label(path, support.note_date(path), start),
            path=path,
            line=start,
            found=stored["found"],
            total=stored["total"],
            lines=() if missing else tuple(QuotedLine(line.number, line.text, line.supporting) for line in quoted),
            url=f"{self._url(path)}?line={start}#L{start}" if self.linked else "",
            missing=missing,
        )

    def _note(self, path: str) -> list[lines.Line]:
        """The note as it is now; one that is gone or cannot be read has no lines and shows as changed since."""
        if path not in self._notes:
            try:
                data = files.read(self._root, path) if self._root else None
            except (NotFound, StorageFailed):
                data = None
            self._notes[path] = lines.split(store.decode(data))
        return self._notes[path]

    def _url(self, path: str) -> str:
        return reverse("web:file", args=[self.proposal.scope, path])

    def note_of(self, day: str) -> Link | None:
        """The first note of that day among those the run read."""
        paths = [path for path in self.proposal.analysis.get("notes", []) if support.note_date(path) == day]
        if not paths or not self.linked:
            return None
        return Link(
            _("Note %(day)s") % {"day": sentences.day(day)}, reverse("web:file", args=[self.proposal.scope, paths[0]])
        )


def _says_the_same(one: Difference) -> bool:
    """Whether merged entries say the same word for word, so that nothing is lost by keeping one."""
    return len({folding.statement(entry.text) for entry in [*one.old, *([one.new] if one.new else [])]}) == 1


def _holds_code(one: Difference) -> bool:
    """Whether white space means something in it."""
    texts = [entry.text for entry in [*one.old, *([one.new] if one.new else [])]]
    return any("```" in text or "~~~" in text or text.startswith(("    ", "\t")) for text in texts)


def _warned(found: Sequence[warnings.Warning], side: str) -> list[marking.Warned]:
    return [
        marking.Warned(word, "letter" if warning.code == "odd_character" else warning.severity)
        for warning in found
        if warning.side == side
        for word in warning.words
    ]


def _said_once(found: Sequence[warnings.Warning]) -> list[warnings.Warning]:
    """A new address already says that no source was found; the graver check speaks for both. Order is severity."""
    codes = {one.code for one in found}
    told = [one for one in found if one.code != "no_support" or "address_new" not in codes]
    return sorted(told, key=lambda one: sentences.SEVERITIES.index(one.severity))


def _place(one: Difference) -> str:
    after = _last(one.new.headings) if one.new else ""
    before = _last(one.old[0].headings) if one.old else after
    if one.kind == "moved" and before != after:
        return f"{before or _('Top')} → {after or _('Top')}"
    return after if one.new else before


def _last(headings: Sequence[str]) -> str:
    return headings[-1].lstrip("# ").strip() if headings else ""


def _remark(one: Difference) -> str:
    if one.kind == "moved":
        return _("Same words, other order.") if "reordered" in one.flags else _("Same words, other place.")
    if one.kind == "heading_renamed":
        return _("Everything under it stays.")
    if one.kind == "reworded" and "format" in one.flags:
        return _("Only signs or spaces change.")
    return ""


def _evidence(warning: warnings.Warning) -> Evidence:
    return Evidence(warning.severity, sentences.severity_word(warning.severity), warning.sentence)
