"""Credentials in a text: passwords, tokens and keys that people and agents write down.

A credential is known by one of six things:

- its form: a private key block, a link with a password, a key with its maker's prefix (`ghp_…`, a JWT), the number of
  a payment card beside its CVV or after a word for it;
- the header, option or parameter it stands in: `Authorization: Bearer …`, `X-Api-Key: …`, `-u user:…`,
  `--password …`, `?sig=…`, a bare `Basic …` that encodes a user and a password;
- an assignment: after `NAME=` any value counts, after a name written as in configuration (`db_password:`,
  `"password":`) the one value on the rest of the line;
- prose: after "password: …", "mật khẩu … là …", "the token for x is …", or alone on an indented line below the name,
  a value counts when it is quoted, or looks like no word: letters with digits or signs within. After a password mere
  digits count too, from four on; a PIN and the code of a door are nothing else. Several quoted words are a
  passphrase, unless words of a sentence are among them ("ask Tom");
- a table with a column headed so: of passwords every cell that holds one word, of keys and tokens what looks made;
- a list: recovery codes, the 12 to 24 words of a wallet, "login: name / value", the secret of one-time passwords.

The more words stand between a name and its sign, the more a value has to look like a secret. Words after a colon are
prose ("password: ask Tom"). Nothing is judged by entropy, so hashes, UUIDs and encoded images are credentials only
where a name says so. Never counted: what stands in for a value (`${VAR}`, `<your key>`, `****`, `None`), code that
fetches one, links, paths, days and quantities ("12-character").
"""

import re
from dataclasses import dataclass
from typing import Literal

from apps.vault import credential_forms as forms
from apps.vault import credential_lists as lists
from apps.vault import credential_names as names
from apps.vault import credential_tables as tables

Kind = Literal["private_key", "url_password", "key", "authorization", "assigned"]

MASK = "•••"

# Of credentials that overlap, the first of these names the kind.
_FINDERS: tuple[tuple[Kind, forms.Finder], ...] = (
    ("private_key", forms.private_keys),
    ("url_password", forms.url_passwords),
    ("key", forms.keys),
    ("authorization", forms.authorizations),
    ("assigned", names.assigned),
    ("assigned", forms.parameters),
    ("assigned", forms.cards),
    ("assigned", lists.logins),
    ("assigned", lists.recovery_codes),
    ("assigned", lists.one_time_secrets),
    ("assigned", lists.wallet_words),
    ("assigned", tables.cells),
)
_BREAK = re.compile(r"\r\n?|\n")


@dataclass(frozen=True)
class Credential:
    """The secret alone is text[start:end], without its name and quotes; `line` counts from 1."""

    kind: Kind
    start: int
    end: int
    line: int


def find(text: str) -> list[Credential]:
    """Credentials in order of appearance, never overlapping; work grows with the length of the text."""
    joined: list[tuple[int, int, int]] = []
    spans = ((*span, rank) for rank, (_, finder) in enumerate(_FINDERS) for span in finder(text))
    for start, end, rank in sorted(spans):
        if joined and start < joined[-1][1]:
            first, last, known = joined.pop()
            joined.append((first, max(last, end), min(known, rank)))
        else:
            joined.append((start, end, rank))
    credentials, line, at = [], 1, 0
    for start, end, rank in joined:
        line, at = line + len(_BREAK.findall(text, at, start)), start
        credentials.append(Credential(_FINDERS[rank][0], start, end, line))
    return credentials


def masked(text: str) -> str:
    """The text with `MASK` for every credential, for logs and error messages."""
    parts, at = [], 0
    for found in find(text):
        parts += [text[at : found.start], MASK]
        at = found.end
    return "".join([*parts, text[at:]])
