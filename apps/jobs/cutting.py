"""Cuts a text between entries, never inside one."""

from itertools import accumulate

from apps.vault import entries, lines


def fitting(text: str, parsed: list[entries.Entry], room: int) -> int:
    """How many of the entries of `text`, from the first, end within `room` characters.

    A heading is not counted when the entry after it does not fit.
    """
    source = lines.split(text)
    after = list(accumulate(len(line.text) + len(line.end) for line in source))
    count = 0
    for entry in parsed:
        line = source[entry.end - 1]
        if after[line.number - 1] - len(line.end) > room:
            break
        count += 1
    while count and count < len(parsed) and parsed[count - 1].kind == "heading":
        count -= 1
    return count


def up_to(text: str, entry: entries.Entry) -> str:
    """The text from its beginning to the end of the entry, without the last line end."""
    kept = lines.split(text)[: entry.end]
    return "".join(line.text + line.end for line in kept[:-1]) + kept[-1].text
