"""The sentences of the review page that are made from numbers: counts, verdicts, labels."""

from collections.abc import Mapping, Sequence
from datetime import date

from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext


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


def severity_word(severity: str) -> str:
    return {"stop": _("Stop"), "check": _("Check"), "note": _("Note")}[severity]


def counts(numbers: Mapping[str, int]) -> str:
    """“Adds 4, removes 1, rewords 2”: the change in memory's terms. Dates are named only when nothing else changes."""

    def phrase(kind: str, n: int) -> str:
        return {
            "added": ngettext("adds %(n)d", "adds %(n)d", n),
            "removed": ngettext("removes %(n)d", "removes %(n)d", n),
            "reworded": ngettext("rewords %(n)d", "rewords %(n)d", n),
            "merged": ngettext("merges %(n)d", "merges %(n)d", n),
            "moved": ngettext("moves %(n)d", "moves %(n)d", n),
            "heading_renamed": ngettext("renames %(n)d heading", "renames %(n)d headings", n),
            "redated": ngettext("re-dates %(n)d", "re-dates %(n)d", n),
        }[kind] % {"n": n}

    order = ("added", "removed", "reworded", "merged", "moved", "heading_renamed")
    told = [phrase(kind, numbers[kind]) for kind in order if numbers.get(kind)]
    if not told and numbers.get("redated"):
        told = [phrase("redated", numbers["redated"])]
    if not told:
        return _("Changes only blank lines or spaces")
    sentence = ", ".join(told)
    return sentence[0].upper() + sentence[1:]


def verdict(look: int, backed: int) -> str:
    """What the reviewer has to do, in one sentence; `look` and `backed` count entries."""
    numbers = {"look": look, "backed": backed}
    if look and backed:
        told = ngettext(
            "Look at %(look)d. The other one is backed by notes and loses nothing.",
            "Look at %(look)d. The other %(backed)d are backed by notes and lose nothing.",
            backed,
        )
    elif look:
        told = ngettext("Look at it.", "Look at all %(look)d.", look)
    elif backed:
        told = ngettext(
            "It is backed by notes and loses nothing.",
            "All %(backed)d are backed by notes and lose nothing.",
            backed,
        )
    else:
        told = _("No words change.")
    return told % numbers


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
