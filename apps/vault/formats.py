"""Files as documents and back: what the bytes say, what is wrong with them, and how to add to them.

Files are bytes. Decoding with replacement is for display and search only; whatever is written back is
made from the bytes, so that a byte nobody understands stays where it is.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from apps.errors import Invalid
from apps.vault import entries, frontmatter
from apps.vault.entries import Entry
from apps.vault.frontmatter import BOM, Problem
from apps.vault.yaml_text import UNSTORABLE, Value

# Kinds whose file means little without its fields, so that a missing block is worth a warning.
_NEEDS_FIELDS = {"fact", "page"}

_LINE_END = re.compile(r"\r\n|\r|\n")
_LINE_END_BYTES = re.compile(rb"\r\n|\r|\n")


@dataclass(frozen=True)
class Document:
    """One memory file as it can be shown and searched.

    `text` is the whole file and `body` what stands below the fields, both without the byte order mark
    and decoded with replacement; `entries` are those of the body, with line numbers of the file.
    `newline` is the commoner line end; `undecodable` the line (from 1) and the offset of the first byte
    that is not UTF-8.
    """

    kind: str
    text: str
    body: str
    fields: Mapping[str, Value]
    entries: tuple[Entry, ...]
    problems: tuple[Problem, ...]
    bom: bool
    newline: str
    final_newline: bool
    undecodable: tuple[int, int] | None


def read(data: bytes, kind: str) -> Document:
    """The document in a file of the given kind (`layout.kind`); never raises, whatever the bytes are.

    What cannot be understood stays in the text and is named in `problems`, in the order of lines.
    """
    bom = data.startswith(BOM)
    block = frontmatter.read(data)
    undecodable = _undecodable(data)
    problems = [*block.problems, *_problems_of_bytes(data, undecodable)]
    if kind in _NEEDS_FIELDS and not block.present:
        problems.append(Problem(1, "no fields between `---` lines at the top"))
    return Document(
        kind=kind,
        text=data[len(BOM) if bom else 0 :].decode("utf-8", "replace"),
        body=block.body,
        fields=block.fields,
        # Empty lines in place of the fields keep the numbers those of the file.
        entries=tuple(entries.parse("\n" * (block.body_start - 1) + block.body)),
        problems=tuple(sorted(problems, key=lambda problem: problem.line)),
        bom=bom,
        newline=frontmatter.line_end(data),
        final_newline=data.endswith((b"\n", b"\r")),
        undecodable=undecodable,
    )


def write(fields: Mapping[str, Value], body: str) -> bytes:
    """A fact or page of our own: fields, an empty line, the trimmed body, one newline.

    Raises Invalid for what cannot be stored.
    """
    refuse_unstorable(body, "body")
    return f"---\n{frontmatter.dump(fields)}---\n\n{body.strip()}\n".encode()


def append_line(data: bytes, line: str) -> bytes:
    """The file with one more line at its end; all bytes it had come first, unchanged.

    A missing final newline is added first. Line ends are the file's commoner one, those inside `line`
    too. Raises Invalid for what cannot be stored.
    """
    refuse_unstorable(line, "text")
    end = frontmatter.line_end(data)
    unfinished = data.removeprefix(BOM) and not data.endswith((b"\n", b"\r"))
    added = (end if unfinished else "") + _LINE_END.sub(end, line) + end
    return data + added.encode()


def like(data: bytes, text: str) -> bytes:
    """A whole new text as bytes, with the byte order mark and the commoner line end of `data`.

    Ends in exactly one newline, unless it is empty. Giving the result's own text again changes nothing.
    Raises Invalid for what cannot be stored.
    """
    refuse_unstorable(text, "text")
    bare = text.lstrip("\ufeff").rstrip("\r\n")
    new = _LINE_END.sub(frontmatter.line_end(data), f"{bare}\n") if bare else ""
    return (BOM if data.startswith(BOM) else b"") + new.encode()


def refuse_unstorable(text: str, field: str) -> None:
    """Raise Invalid `bad_text`, naming the field, for a NUL or half of a surrogate pair."""
    found = UNSTORABLE.search(text)
    if found:
        what = "a NUL character" if found[0] == "\x00" else "half of a surrogate pair"
        raise Invalid(f"“{field}” holds {what}.", code="bad_text", field=field, position=found.start())


def _problems_of_bytes(data: bytes, undecodable: tuple[int, int] | None) -> list[Problem]:
    problems = []
    if undecodable:
        line, offset = undecodable
        problems.append(Problem(line, f"byte {offset} (0x{data[offset]:02x}) is not UTF-8"))
    nul = data.find(b"\x00")
    if nul >= 0:
        problems.append(Problem(_line_of(data, nul), f"byte {nul} is NUL"))
    return problems


def _undecodable(data: bytes) -> tuple[int, int] | None:
    try:
        data.decode()
    except UnicodeDecodeError as error:
        return _line_of(data, error.start), error.start
    return None


def _line_of(data: bytes, offset: int) -> int:
    return len(_LINE_END_BYTES.findall(data[:offset])) + 1
