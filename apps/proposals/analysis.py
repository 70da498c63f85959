"""What is found about a rewrite when it is made, in a form that can be stored and shown without computing again."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from apps.proposals import support, warnings
from apps.vault import credentials, pairing
from apps.vault.pairing import Difference

# What is kept of lines the parser took out: enough to see what it was.
_KEPT_LINES = 40
_KEPT_CHARACTERS = 200
# Characters of a credential from which on it is masked wherever it stands; shorter ones are part of other words.
_SHORTEST_VALUE = 4

SEVERITIES = ("stop", "check", "note")


@dataclass(frozen=True)
class Analysis:
    """Differences of the two texts with their sources and warnings; `dropped` is what the answer's parser took out.

    Neither warnings nor dropped lines hold the value of a credential: they are
    stored and sent on, the texts themselves are not.
    """

    differences: tuple[Difference, ...]
    supports: Mapping[str, support.Support]
    warnings: tuple[warnings.Warning, ...]
    dropped: Mapping[str, Sequence[str]]
    notes: tuple[str, ...]
    left_out: int
    before: int
    after: int

    @property
    def counts(self) -> dict[str, int]:
        """How many differences of each kind; a merged one counts once."""
        return dict(Counter(difference.kind for difference in self.differences))

    @property
    def worst(self) -> str:
        """The gravest severity found, empty when there is none."""
        found = {warning.severity for warning in self.warnings}
        return next((severity for severity in SEVERITIES if severity in found), "")

    @property
    def remarks(self) -> list[str]:
        """Lines for the reasons that code adds itself: dates that stand in no note."""
        dates = [word for warning in self.warnings if warning.code == "date_unknown" for word in warning.words]
        return [f"Dates found in no note: {', '.join(dict.fromkeys(dates))}."] if dates else []

    def stored(self) -> dict[str, Any]:
        """Plain JSON values for the proposal's row."""
        return {
            "counts": self.counts,
            "worst": self.worst,
            "characters": {"before": self.before, "after": self.after},
            "notes": list(self.notes),
            "left_out": self.left_out,
            "dropped": {
                code: [line[:_KEPT_CHARACTERS] for line in lines[:_KEPT_LINES]] for code, lines in self.dropped.items()
            },
            "warnings": [
                {
                    "code": warning.code,
                    "severity": warning.severity,
                    "entry": warning.entry,
                    "side": warning.side,
                    "words": list(warning.words),
                    "params": dict(warning.params),
                    "sentence": warning.sentence,
                }
                for warning in self.warnings
            ],
            "supports": {
                entry: {
                    "path": one.path,
                    "line_start": one.line_start,
                    "line_end": one.line_end,
                    "found": one.found,
                    "total": one.total,
                }
                for entry, one in self.supports.items()
            },
        }


def analyse(
    old: str,
    new: str,
    *,
    notes: Sequence[support.NoteText],
    dates: frozenset[str],
    limit: int,
    findings: Mapping[str, Sequence[str]],
    left_out: int = 0,
) -> Analysis:
    """Compare, find sources, warn. `dates` are days a line may carry; `findings` come from the answer's parser."""
    differences = pairing.differences(old, new)
    supports = support.support(differences, notes)
    discretion = _Discretion(old, new)
    found = warnings.check(
        differences,
        old=old,
        new=new,
        notes=notes,
        supports=supports,
        known_dates=dates,
        limit=limit,
        fell_off=findings.get("over_limit", ()),
        placeholders=findings.get("placeholder", ()),
    )
    return Analysis(
        tuple(differences),
        supports,
        tuple(map(discretion.warning, found)),
        {
            code: discretion.lines(lines)
            for code, lines in findings.items()
            if code not in {"over_limit", "placeholder"}
        },
        tuple(note.path for note in notes),
        left_out,
        len(old),
        len(new),
    )


@dataclass(frozen=True)
class _Discretion:
    """Keeps the values of credentials in the two texts, whole and in part, out of what is told about them."""

    old: str
    new: str

    def warning(self, warning: warnings.Warning) -> warnings.Warning:
        """Without words that stand in a credential only: they could not be underlined without telling them."""
        side, masked = (self.old, self.masked_old) if warning.side == "old" else (self.new, self.masked_new)
        words = tuple(word for word in warning.words if self.text(word) == word and (side == masked or word in masked))
        params = {key: self.parts(value) if isinstance(value, str) else value for key, value in warning.params.items()}
        return replace(warning, words=words, params=params)

    def parts(self, listed: str) -> str:
        """Things joined by ", ", each masked when a text has it in a credential only."""
        plain = self.text(listed)
        if not self.values:
            return plain
        return ", ".join(credentials.MASK if self.is_part(part) else part for part in plain.split(", "))

    def lines(self, lines: Sequence[str]) -> list[str]:
        """Masked as one text, because a private key takes many lines."""
        return self.text("\n".join(lines)).split("\n") if lines else []

    def text(self, text: str) -> str:
        masked = credentials.masked(text)
        for value in self.values:
            if len(value) >= _SHORTEST_VALUE:
                masked = masked.replace(value, credentials.MASK)
        return masked

    def is_part(self, part: str) -> bool:
        elsewhere = part in self.masked_old or part in self.masked_new
        return bool(part) and not elsewhere and any(part in value for value in self.values)

    @cached_property
    def values(self) -> tuple[str, ...]:
        """The credentials themselves, the longest first."""
        found = {text[one.start : one.end] for text in (self.old, self.new) for one in credentials.find(text)}
        return tuple(sorted(found, key=lambda value: (-len(value), value)))

    @cached_property
    def masked_old(self) -> str:
        return credentials.masked(self.old)

    @cached_property
    def masked_new(self) -> str:
        return credentials.masked(self.new)
