"""What stands where a secret may stand, and whether it looks like one (the rule: credentials.py)."""

import re
from dataclasses import dataclass

_LONGEST_WORD = 256  # characters; nothing longer without a space is a word, a stand-in or code
_LONGEST_PHRASE = 200  # characters

_QUOTED = re.compile(
    r"""\\"(?P<escaped>[^"\\\r\n]{1,1000})\\"|"(?P<double>[^"\r\n]{1,1000})"|'(?P<single>[^'\r\n]{1,1000})'"""
    r"""|``?(?P<code>[^`\r\n]{1,1000})``?|[“„](?P<curly>[^“”„\r\n]{1,1000})[”“]|«\s?(?P<angled>[^«»\r\n]{1,1000})»"""
)
BARE = re.compile(r"""(?P<mark>[*_~"'“]{0,3})(?P<bare>[^\s`|，。；、！？：）」]+)""")
PARAMETER = re.compile(r"""(?P<bare>[^\s&#"'`<>|)\]]+)""")  # of a link, up to the next one

_FEWEST_DIGITS = {"local": 4, "human": 4, "vague": 6, "made": 16}
_NUMERIC = frozenset({"pin", "door", "cvv"})
_AROUND = ".,;:…\"'”’*_~\\"
_ELIDED = re.compile(r"[\w-]{0,12}(?:…|\.{3})\W*")
_OPENING = {")": "(", "]": "[", "}": "{", ">": "<"}
# A link, a variable, a template, a page: told by their first signs.
_NO_VALUE = re.compile(
    r"[a-z][a-z0-9+.-]{1,20}://|\$\{|\$\(|\$[A-Z_]{2,}\b|\$[a-z_]+(?!\w)|%\w+%|\{\{|\{\w*\}|<[a-z/]|\[\[|\[[a-z ]+\]",
    re.IGNORECASE,
)
_STAND_IN = re.compile(
    r"""[\W_]{2,}(?<![!@\#$%^&+=])|x+|\.\.\.|…|(?:your|dein|votre)[-_ ]?.*
      | none|null|nil|true|false|yes|no|str(?:ing)?|text|bytes|int|bool|any|optional|required|redacted|hidden|masked
        |empty|placeholder|example|changeme|todo|tbd|n/a|unknown|unset|bearer|basic
      | (?:[a-z]+[_.-])*(?:password|passwd|pwd|token|secret|(?:api_?)?key|pin)
      | \d{4}-\d\d-\d\d(?:T.*)?
      | (?:~|\.{1,2}|[a-z]:)?[/\\](?:[\w.-]{1,24}[/\\])*[\w-]{0,24}(?:\.\w{1,5})?
      | [\w./-]*\.(?:md|txt|py|json|ya?ml|toml|env|pem|key|sh|cfg|ini|gpg|kdbx|html?|csv|log|[jt]s)""",
    re.VERBOSE | re.IGNORECASE,
)
_CODE = re.compile(r"[A-Za-z_.]+[(\[]|[A-Za-z_]+(?:\.[A-Za-z_]+)+\Z")
_NAMED = re.compile(r"[A-Z]+(?:_[A-Z0-9]+)+|[\w.]+\(.*|\w*_")  # OPENAI_API_KEY, get_token(), mh_
_WORDLIKE = re.compile(
    r"""[\d:./,-]+(?:am|pm|h\d*)?
      | [~≈<>±+-]?[$€£¥₫]?\d[\d.,]*-?
        (?:st|nd|rd|th|hrs?|days?|min|sec|ms|[dhskmgtx%]|[kmgt]i?b|bits?|bytes?|chars?|vnd|đ|usd|eur)
      | \d{1,3}(?:-[^\W\d_]+)+ | v\d+(?:\.\w+)*
      | (?:base(?:32|58|64)|md5|[hre]s\d{3}|(?:sha|aes|rsa|utf)-?\d+|oauth-?\d(?:\.\d)?|2fa|x509|ed25519|argon2id?
         |pbkdf2|ipv[46]|http/?\d|1password|web3|u2f|fido2)(?:[-_]\w+)*
      | [\w.+-]+@[\w-]+(?:\.[\w-]+)*\.[a-z]{2,} | .*[\u3000-\u9fff\uac00-\ud7af\u0e00-\u0eff].*""",
    re.VERBOSE | re.IGNORECASE,
)
_TICKET = re.compile(r"[A-Z][A-Z0-9]{0,9}-\d{1,6}")  # PROJ-1234, where a sentence may name one
_SIGN_WITHIN = re.compile(r"\w[!@#$%^&*+=~?]+\w")
_MIXED = re.compile(r"(?=.+[a-z][A-Z])(?=.*[A-Z].*[A-Z].*[A-Z])[A-Za-z]+")
# Words that sentences about a password have and passphrases rarely do.
SENTENCE_WORDS = frozenset(
    "a an the this that it its is are was were be been am has have had do does did will would can cannot could must"
    " should may not no never yet still now only too very as at by for from in into of on or to up with without and"
    " but if so than then when where who what which why how my your our his her their me you we us they them see ask"
    " use try set get same here there please least characters letters digits word words password passwords passphrase"
    " incorrect wrong invalid der die das ist sind nicht und oder im in den dem ein eine kein mit für von zu bei siehe"
    " frag le la les un une est pas et ou dans de du des pour voir el los las en es y con"
    " là của và ở trong không được hỏi xem".split()
)


@dataclass(frozen=True)
class Value:
    """What stands where a secret may stand: text[start:end], and whether in quotes."""

    start: int
    end: int
    text: str
    quoted: bool


def value_at(text: str, at: int, bare: re.Pattern[str] = BARE) -> Value | None:
    """The quotation or the word that begins at `at`; None for a link, a variable, or nothing."""
    if _NO_VALUE.match(text, at):
        return None
    if quoted := _QUOTED.match(text, at):
        start, end = quoted.span(str(quoted.lastgroup))
        return Value(start, end, text[start:end], quoted=True)
    found = bare.match(text, at)
    if not found:
        return None
    start, written = found.start("bare"), trimmed(found["bare"])
    return Value(start, start + len(written), written, quoted=False) if written else None


def trimmed(value: str) -> str:
    """Without the punctuation, quotes, emphasis and brackets around it; nothing when it is elided ("mh_…")."""
    if _ELIDED.fullmatch(value[:_LONGEST_WORD]):
        return ""
    value = value.rstrip(_AROUND)
    for _ in range(4):  # brackets; each one costs a look at the whole
        if value[-1:] not in _OPENING or value.count(value[-1]) <= value.count(_OPENING[value[-1]]):
            break
        value = value[:-1].rstrip(_AROUND)
    return value


def stands_in(value: str) -> bool:
    return len(value) <= _LONGEST_WORD and (
        _NO_VALUE.match(value) is not None or _STAND_IN.fullmatch(value) is not None
    )


def is_quoted(value: Value, kind: str) -> bool:
    """Whether it counts in a sentence because it is quoted: one word, and no name or number of something."""
    if not value.quoted or kind in _NUMERIC or kind == "vague":
        return False
    if any(sign.isspace() for sign in value.text):
        return kind in {"human", "local"} and is_phrase(value.text, fewest=2)
    return len(value.text) > 2 and not value.text.isdigit() and not _NAMED.fullmatch(value.text)


def is_phrase(value: str, *, fewest: int) -> bool:
    """Whether it is that many words or more, and none of them one of a sentence."""
    if len(value) > _LONGEST_PHRASE:
        return False
    words = value.split()
    return len(words) >= fewest and all(
        any(sign.isalnum() for sign in word) and word.lower().strip(_AROUND) not in SENTENCE_WORDS for word in words
    )


def is_assigned(value: Value, kind: str) -> bool:
    """Whether it counts after `=`: anything but code, and numbers, for which tokens are counted."""
    if kind in _NUMERIC or kind == "vague" or (kind == "made" and value.text.isdigit()):
        return looks(value.text, kind)
    return value.quoted or not _CODE.match(value.text)


def looks(value: str, kind: str) -> bool:
    """Whether it looks like a secret in the middle of a sentence."""
    if kind in _NUMERIC:
        digits = value.strip("#*")  # keys that a keypad wants pressed as well
        fewest, most = (3, 4) if kind == "cvv" else (4, 12)
        return (digits.isdecimal() and fewest <= len(digits) <= most) or (kind == "door" and looks_made(value))
    if re.fullmatch(r"[\d-]+", value):
        return sum(sign.isdigit() for sign in value) >= _FEWEST_DIGITS[kind]
    return looks_made(value)


def looks_made(value: str) -> bool:
    """Letters with digits or signs among them, or long with capitals anywhere; no word, quantity or address."""
    if len(value) > _LONGEST_WORD:
        return True
    if len(value) < 4 or _WORDLIKE.fullmatch(value) or not any(sign.isalpha() for sign in value):
        return False
    return has_digit(value) or bool(_SIGN_WITHIN.search(value) or (len(value) >= 16 and _MIXED.fullmatch(value)))


def is_sure(value: Value, kind: str) -> bool:
    """Whether it counts without a sign between, "password hunter2": it can hardly be a word of the sentence."""
    if kind in _NUMERIC:
        return looks(value.text, kind) and value.text.strip("#*").isdecimal()
    if value.quoted:
        return is_quoted(value, kind) and (" " not in value.text or is_phrase(value.text, fewest=3))
    return is_surely_made(value.text, 16 if kind in {"made", "vague"} else 6)


def is_surely_made(value: str, shortest: int) -> bool:
    """Whether it looks made and has a digit and that many characters, and is no number of a ticket."""
    return len(value) >= shortest and has_digit(value) and looks_made(value) and not is_ticket(value)


def is_ticket(value: str) -> bool:
    return _TICKET.fullmatch(value) is not None


def has_digit(value: str) -> bool:
    return any(sign.isdigit() for sign in value)
