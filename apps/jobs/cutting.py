"""Cuts a text between entries, never inside one."""

from itertools import accumulate

from apps.vault import entries, lines


def split(text: str, room: int) -> tuple[str, tuple[entries.Entry, ...]]:
    """The text up to the last entry that ends within `room` characters, and the entries that fell off.

    Headings left without an entry fall off too. Only where not one entry fits
    is it cut inside, as nothing would be left otherwise.
    """
    parsed = entries.parse(text)
    source = lines.split(text)
    ends = list(accumulate(len(line.text) + len(line.end) for line in source))
    whole = 0
    while whole < len(parsed) and _end(source, ends, parsed[whole]) <= room:
        whole += 1
    filled = whole
    while filled and filled < len(parsed) and parsed[filled - 1].kind == "heading":
        filled -= 1
    if not filled:
        return text[: max(room, 0)].rstrip(), tuple(parsed[whole:])
    return text[: _end(source, ends, parsed[filled - 1])], tuple(parsed[filled:])


def _end(source: list[lines.Line], ends: list[int], entry: entries.Entry) -> int:
    """Where the entry ends in the text, in front of its line end."""
    return ends[entry.end - 1] - len(source[entry.end - 1].end)
