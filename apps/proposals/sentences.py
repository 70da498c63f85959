"""The sentences of the review page that are made from numbers: counts, verdicts, labels."""

from collections.abc import Mapping, Sequence
from datetime import date
from decimal import Decimal
from typing import Any

from django.utils.formats import date_format, number_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.proposals.review import Evidence


def kind_word(kind: str) -> str:
    return {
        "added": _("Added"),
        "removed": _("Removed"),
        "reworded": _("Reworded"),
        "merged": _("Merged"),
        "moved": _("Moved"),
        "redated": _("Re-dated"),
        "heading_renamed": _("Heading"),
    }[kind]


# Gravest first.
SEVERITIES = ("stop", "check", "note")


def wants_time(analysis: Mapping[str, Any]) -> bool:
    """Whether a proposal can lose or smuggle something: a stop, or anything removed (design.md, Queue)."""
    return analysis.get("worst") == "stop" or bool(analysis.get("counts", {}).get("removed"))


def waiting(analyses: Sequence[Mapping[str, Any]]) -> str:
    """“40 wait. 4 want time, 36 are quick.” for what was found about everything that waits."""
    slow = sum(map(wants_time, analyses))
    quick = len(analyses) - slow
    if not analyses:
        return _("Nothing waits.")
    told = ngettext("%(n)d waits.", "%(n)d wait.", len(analyses)) % {"n": len(analyses)}
    if slow and quick:
        parts = {
            "slow": ngettext("%(n)d wants time", "%(n)d want time", slow) % {"n": slow},
            "quick": ngettext("%(n)d is quick", "%(n)d are quick", quick) % {"n": quick},
        }
        return told + " " + _("%(slow)s, %(quick)s.") % parts
    return told


def checks(analysis: Mapping[str, Any]) -> list[Evidence]:
    """The checks of a proposal for a row of a list: the gravest in its words, the rest counted, notes left out."""
    found = sorted(analysis.get("warnings", []), key=lambda one: SEVERITIES.index(one["severity"]))
    grave = [one for one in found if one["severity"] != "note"]
    if not grave:
        return []
    first, rest = grave[0], grave[1:]
    told = [Evidence(first["severity"], severity_word(first["severity"]), first["sentence"])]
    stops = sum(one["severity"] == "stop" for one in rest)
    numbers = {
        "stops": _number(stops),
        "checks": _number(len(rest) - stops),
    }
    if stops and len(rest) > stops:
        told.append(Evidence("stop", severity_word("stop"), _("%(stops)s more, and %(checks)s to check.") % numbers))
    elif stops:
        told.append(Evidence("stop", severity_word("stop"), _("%(stops)s more.") % numbers))
    elif rest:
        told.append(Evidence("check", severity_word("check"), _("%(checks)s more.") % numbers))
    return told


def severity_word(severity: str) -> str:
    return {"stop": _("Stop"), "check": _("Check"), "note": _("Note")}[severity]


def standing(state: str, written: str) -> str:
    """How a proposal stands now, in a word or two; `written` is its batch's state, `undone`, or empty."""
    told = {"undone": _("Taken back"), "stuck": _("Half written"), "writing": _("Half written")}
    states = {
        "pending": _("Waits"),
        "approved": _("Approved"),
        "rejected": _("Rejected"),
        "superseded": _("Superseded"),
    }
    return told.get(written, states[state]) if state == "approved" else states[state]


def counts(numbers: Mapping[str, int]) -> str:
    """“Adds 4, removes 1, rewords 2”: the change in memory's terms. Dates are named only when nothing else changes."""
    told = changes(numbers)
    return told[0].upper() + told[1:]


def changes(numbers: Mapping[str, int]) -> str:
    """The same in lower case, to stand after the agent's name."""

    def phrase(kind: str, n: int) -> str:
        return {
            "added": ngettext("adds %(n)s", "adds %(n)s", n),
            "removed": ngettext("removes %(n)s", "removes %(n)s", n),
            "reworded": ngettext("rewords %(n)s", "rewords %(n)s", n),
            "merged": ngettext("merges %(n)s", "merges %(n)s", n),
            "moved": ngettext("moves %(n)s", "moves %(n)s", n),
            "heading_renamed": ngettext("renames %(n)s heading", "renames %(n)s headings", n),
            "redated": ngettext("re-dates %(n)s", "re-dates %(n)s", n),
        }[kind] % {"n": _number(n)}

    order = ("added", "removed", "reworded", "merged", "moved", "heading_renamed")
    told = [phrase(kind, numbers[kind]) for kind in order if numbers.get(kind)]
    if not told and numbers.get("redated"):
        told = [phrase("redated", numbers["redated"])]
    if not told:
        return _("changes only blank lines or spaces")
    return ", ".join(told)


def how_much(entries: int, dates: int) -> str:
    """“3 entries change, 1 date”: what is decided here; empty when no entry changes."""
    told = []
    if entries:
        told.append(ngettext("%(n)s entry changes", "%(n)s entries change", entries) % {"n": _number(entries)})
    if dates:
        told.append(_dates(dates))
    return ", ".join(told)


def approve(entries: int, dates: int) -> str:
    """What the button writes: “Approve all 3 and 1 date”; nothing is written that it does not name."""
    numbers = {"n": _number(entries), "dates": _dates(dates)}
    if entries and dates:
        return ngettext("Approve %(n)s and %(dates)s", "Approve all %(n)s and %(dates)s", entries) % numbers
    if dates:
        return ngettext("Approve %(dates)s", "Approve all %(dates)s", dates) % numbers
    return _("Approve all %(n)s") % numbers if entries > 1 else _("Approve")


def _dates(n: int) -> str:
    return ngettext("%(n)s date", "%(n)s dates", n) % {"n": _number(n)}


def _number(n: int) -> str:
    return number_format(n, force_grouping=True)


def verdict(look: int, backed: int) -> str:
    """What the reviewer has to do, in one sentence; `look` and `backed` count entries."""
    numbers = {
        "look": _number(look),
        "backed": _number(backed),
    }
    if look and backed:
        told = ngettext(
            "Look at %(look)s. The other one is backed by notes and loses nothing.",
            "Look at %(look)s. The other %(backed)s are backed by notes and lose nothing.",
            backed,
        )
    elif look:
        told = ngettext("Look at it.", "Look at all %(look)s.", look)
    elif backed:
        told = ngettext(
            "It is backed by notes and loses nothing.",
            "All %(backed)s are backed by notes and lose nothing.",
            backed,
        )
    else:
        told = _("No words change.")
    return told % numbers


def duration(seconds: float) -> str:
    """“0.4 s”, “14 s”: tenths only where they tell something."""
    if seconds < 0.1:
        return _("under 0.1\u00a0s")
    shown = f"{seconds:.1f}" if seconds < 10 else f"{seconds:.0f}"
    return _("%(seconds)s\u00a0s") % {"seconds": shown}


def dollars(amount: Decimal) -> str:
    """“$0.011”, “$1.20”: tenths of a cent only below a dollar and where they tell something."""
    if 0 < amount < Decimal("0.001"):
        return _("under $0.001")
    fine = amount < 1 and round(amount, 3) != round(amount, 2)
    return f"${number_format(round(amount, 3 if fine else 2), 3 if fine else 2, force_grouping=True)}"


def price(cost: Decimal | None) -> str:
    """What a call or run cost, in a word: nobody's knowing it is said, and is not nothing."""
    if cost is None:
        return _("unknown")
    return dollars(cost) if cost else _("free")


def day(text: str) -> str:
    """A note's date as people write it (“18 Sep”), or the text itself when it is no real day."""
    try:
        return date_format(date.fromisoformat(text), "j M").replace(" ", "\u00a0")
    except ValueError:
        return text


def source_label(path: str, note_date: str, line: int) -> str:
    if note_date:
        return _("Note %(day)s, line %(line)d") % {"day": day(note_date), "line": line}
    return _("%(path)s, line %(line)d") % {"path": path, "line": line}


def notes(paths: Sequence[str]) -> str:
    """“from 6 notes (12 Sep to 20 Sep)”, by the dates in the notes' names; empty without notes."""
    days = sorted({path.rpartition("/")[2][:10] for path in paths})
    if not days:
        return ""
    first, last = day(days[0]), day(days[-1])
    span = first if first == last else _("%(first)s to %(last)s") % {"first": first, "last": last}
    told = ngettext("from %(n)d note (%(span)s)", "from %(n)d notes (%(span)s)", len(paths))
    return told % {"n": len(paths), "span": span}


def held(verdict: Mapping[str, Any]) -> str:
    """“2 lines dropped or reworded, a new address”: what kept a rewrite from being written by itself."""
    removed, dates = verdict.get("removed", 0), verdict.get("dates", 0)
    told = []
    if removed:
        told.append(ngettext("%(n)s line dropped or reworded", "%(n)s lines dropped or reworded", removed))
        told[-1] %= {"n": _number(removed)}
    if dates:
        told.append(ngettext("%(n)s date from nowhere", "%(n)s dates from nowhere", dates) % {"n": _number(dates)})
    words = {
        "lines_removed": _("at least half of the entries gone"),
        "address_new": _("a new address"),
        "secret": _("a credential"),
        "instruction": _("words that read like an order"),
        "placeholder": _("words that only stand for others"),
        "over_limit": _("a text over the limit"),
        "untrusted_source": _("words of an untrusted writer"),
        "no_support": _("a line without a source"),
        "line_moved": _("a line gone from its place"),
        "date_moved": _("a date that its line may not carry"),
        "heading_new": _("a new heading"),
        "hiding_mark": _("a new mark that can hide lines"),
        "odd_character": _("a character nobody can see or tell apart"),
        "declined": _("a line that was turned down or taken back before"),
    }
    return ", ".join([*told, *(words.get(code, code) for code in verdict.get("held_by", []))])
