"""Credentials in a text: passwords, tokens and keys that people and agents write down.

A credential is known by one of four things:

- its form: a private key block, a link with a password, or a key with its maker's prefix (`ghp_…`, a JWT);
- the header or option it stands in: `Authorization: Bearer …`, `-u user:…`, `--password …`;
- an assignment: after `NAME=` any value counts, after a name written as in configuration (`db_password:`,
  `"password":`) the one value on the rest of the line;
- prose: after "password: …", "mật khẩu … là …", "the token for x is …" a value counts when it is quoted, or looks
  like no word: letters with digits or signs within. After a password mere digits count too, from four on; a PIN is
  nothing else.

Words after a colon are prose ("password: ask Tom"). Nothing is judged by entropy, so hashes, UUIDs and encoded
images are credentials only where a name says so. Never counted: what stands in for a value (`${VAR}`, `<your key>`,
`****`, `None`), code that fetches one, links, paths, days and quantities ("12-character").
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise, zip_longest
from typing import Literal

Kind = Literal["private_key", "url_password", "key", "authorization", "assigned"]

MASK = "•••"

# Of credentials that overlap, the first of these names the kind.
_TELLING: tuple[Kind, ...] = ("private_key", "url_password", "key", "authorization", "assigned")
_LONGEST_NAME = 64
_LONGEST_WORD = 256  # characters; nothing longer without a space is a word, a stand-in or code
_LONGEST_BLOCK = 20_000  # characters; an RSA key of 16,384 bits takes 12,700
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
    for start, end, rank in sorted((*span, rank) for rank, finder in enumerate(_FINDERS) for span in finder(text)):
        if joined and start < joined[-1][1]:
            first, last, known = joined.pop()
            joined.append((first, max(last, end), min(known, rank)))
        else:
            joined.append((start, end, rank))
    credentials, line, at = [], 1, 0
    for start, end, rank in joined:
        line, at = line + len(_BREAK.findall(text, at, start)), start
        credentials.append(Credential(_TELLING[rank], start, end, line))
    return credentials


def masked(text: str) -> str:
    """The text with `MASK` for every credential, for logs and error messages."""
    parts, at = [], 0
    for found in find(text):
        parts += [text[at : found.start], MASK]
        at = found.end
    return "".join([*parts, text[at:]])


Spans = Iterator[tuple[int, int]]

_BORDER = re.compile(r"-{4,5} ?(?P<which>BEGIN|END) [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}")
# Headers of a key end with a blank line, so one before more of the key does not end it.
_BLANK = re.compile(r"(?:\r\n?|\n)(?=[ \t>]*(?:\r|\n|\Z)(?!\s{0,20}[ \t>]{0,20}[A-Za-z0-9+/=]{40}))")


def _private_keys(text: str) -> Spans:
    """Each block from its BEGIN to its END; without an END, to the next blank line, block or the end of the text."""
    borders = list(_BORDER.finditer(text))
    for border, following in zip_longest(borders, borders[1:]):
        if border["which"] != "BEGIN":
            continue
        if following and following["which"] == "END" and following.end() - border.start() <= _LONGEST_BLOCK:
            yield border.start(), following.end()
        else:
            limit = following.start() if following else len(text)
            blank = _BLANK.search(text, border.end(), limit)
            end = blank.start() if blank else limit
            yield border.start(), border.start() + len(text[border.start() : end].rstrip())


# A password with "/", "?" or "#" breaks the rules of links and is written all the same; a port is none.
_USERINFO = re.compile(
    r"""://(?P<user>[^\s/:@?\#"'`<>]{0,200})
    (?::(?:(?P<plain>[^\s/?\#"'`<>]+)@
         | (?!\d{0,5}[/?\#])(?P<odd>(?:(?!://)[^\s@"'`<>]){1,200})@)
      | (?P<alone>:?@))""",
    re.VERBOSE,
)


def _url_passwords(text: str) -> Spans:
    for match in _USERINFO.finditer(text):
        name = "plain" if match["plain"] is not None else "odd"
        if match[name] is not None and not _stands_in(match[name]):
            yield match.span(name)
        if len(match["user"]) >= 20 and _has_digit(match["user"]):  # a token in the place of the user
            yield match.span("user")


# Prefixes as their makers document them. What follows holds a digit, or it is a word ("sk-learn-extension…").
_KEY = re.compile(
    r"""(?<![A-Za-z0-9_-])(?:
        (?P<jwt>eyJ[\w-]{5,}(?:\.[\w-]*){2,4})
      | (?:sk-|xox[a-z]-|xapp-|glpat-|gl[a-z]{2,4}-|pypi-|github_pat_|[sr]k_(?:live|test)_|whsec_|hvs\.
          |nvapi-|GOCSPX-|xai-|tvly-|pplx-|gsk_|glsa_|ya29\.|dckr_pat_|lin_api_)[\w.-]{16,}
      | (?:gh[pousr]_|hf_|npm_|shp(?:at|ca|pa|ss)_|do[opr]_v1_|mh_|key-|r8_|ntn_|sbp_|AGE-SECRET-KEY-1)[A-Za-z0-9]{16,}
      | (?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])
      | AIza[\w-]{30,}
      | SG\.[\w-]{16,}\.[\w-]{16,}
    )
    | hooks\.slack\.com/(?:services|workflows|triggers)/(?P<slack>[A-Za-z0-9/_-]{8,})
    | discord(?:app)?\.com/api/webhooks/\d{1,30}/(?P<discord>[\w-]{16,})
    | (?:(?<!\w)|(?<=/bot))(?P<telegram>\d{6,12}:[A-Za-z0-9_-]{30,})""",
    re.VERBOSE | re.ASCII,
)
_MADE_OF_X = re.compile(r"[a-z_.-]*?[xX*._-]{8,}", re.IGNORECASE)


def _keys(text: str) -> Spans:
    for match in _KEY.finditer(text):
        name = match.lastgroup or 0
        written = match[name].rstrip(".-")
        if (name == "jwt" or _has_digit(written)) and not _MADE_OF_X.fullmatch(written):
            yield match.start(name), match.start(name) + len(written)


_HEADER = re.compile(
    r"""(?<![^\W_])authorization["'`*]{0,3}[ \t]{0,3}[:=][ \t]{0,3}["'`*]{0,3}
        (?:(?P<scheme>bearer|basic|token|api-?key|digest|bot|negotiate)[ \t]{1,3})? (?P<header>[^\s"'`<>|]+)
      | (?<![^\W_])bearer[ \t]{1,3}(?P<bearer>[A-Za-z0-9._~+/-]{8,}={0,2})
      | (?<![^\s`$(])(?:-u|--user|--proxy-user)[ =]{0,3}["']?(?P<user>[^\s:"'`/]{1,100}):(?P<password>[^\s"'`]+)""",
    re.VERBOSE | re.IGNORECASE,
)


def _authorizations(text: str) -> Spans:
    for match in _HEADER.finditer(text):
        name = next(name for name in ("header", "bearer", "password") if match[name] is not None)
        start, end = match.start(name), match.start(name) + len(_trimmed(match[name]))
        value = text[start:end]
        if (
            not value or _stands_in(value) or (name == "password" and f"{match['user']}{value}".isdigit())
        ):  # "-u 1000:1000"
            continue
        if name == "password" or match["scheme"] or _looks_made(value):
            yield start, end


_VOWEL = r"\w[\u0300-\u036f]{0,3}"  # with or without its accents, composed or not
_ALONE = r"(?:(?<![^\W_])|(?-i:(?<=[a-z])(?=[A-Z])))"  # "pin", "wifi_pin" and "wifiPin", and not "shopping"
# `local` are names whose qualifiers follow: "mật khẩu két sắt".
_NAME = re.compile(
    rf"""(?=p[awiа]|to|se|a[pcu]|pr|si|en|m\w|be|c[rlo]|k[eh]|wa|de|we|[п密パ비ร])(?:
      (?P<local>m{_VOWEL}t[ _-]?kh{_VOWEL}u|mot[ ]de[ ]passe|contrase{_VOWEL}a|senha
        |(?:kh{_VOWEL}{_VOWEL}?|cl{_VOWEL})[ ]api)
    | (?P<human>pass[ _-]?(?:words?|phrases?|codes?|wd)|passwort|kennwort|wachtwoord|{_ALONE}pwd|пароль
        |密[码碼]|パスワード|비밀번호|รหัสผ่าน)
    | (?P<made>token|secret|api[ _-]?(?:key|schl(?:ü|ue)ssel)
        |(?:access|private|secret|signing|encryption|master|auth|service|account|deploy|webhook)[ _-]?key)
    | (?P<pin>{_ALONE}pin(?:[ _-]?code)?)
    | (?P<vague>{_ALONE}(?:pass|pw|mk|auth|bearer|credentials?))
    ) (?:[_-]?\d{{1,4}})? (?:(?<=[密码碼ド호น])|(?![\w-]))""",
    re.VERBOSE | re.IGNORECASE,
)
_STOP = r"(?:and|but|or|so|when|while|if|because|which|who|und|oder|aber|et|ou|mais|y|pero|và|nhưng|nên)"
# Between a name and its value: "password *for the guest room* is …", never past the end of a clause.
_WORD = rf"[ \t]{{0,3}}(?!{_STOP}\b)(?:[^\s,;!?:：=|→.]|\.(?=\S)){{1,40}}+"
_IS = (
    r"\b(?:(?:is|was|are|ist|war|lautet|est|es|là|la|é|это)(?:[ ](?:now|still|currently|just|jetzt|maintenant|ahora))?"
    r"|(?:(?:set|changed|reset)[ ]|(?<=[`\"'][ ]))to)\b|是|は|คือ"
)
_QUALIFIER = r"(?=\(|(?:for|of|to|on|at|in|from|für|von|vom|zum|zur|des|der|wi-?fi|wlan)\b)"


def _joined(gap: str) -> re.Pattern[str]:
    """What joins a name with its value, after `gap`; `down` when the value stands on a line of its own."""
    return re.compile(
        rf"""[\\"'`*_\])]{{0,4}} [ \t]{{0,3}}
            (?:(?:{gap}(?:{_WORD}){{1,7}}?)?? [ \t]{{0,4}} (?P<sign>:=|={{1,3}}>?|[:：]|->|→|(?<=[ \t])[|]|{_IS})
              | ["']?,?\s{{1,40}}["']?value["']?[ ]?(?P<entry>:))
            (?:[*_]{{1,3}}(?=[ \t\r\n]))? [ \t]{{0,4}}
            (?P<down>(?:\r\n?|\n)[ \t>]{{0,40}}(?:[-*+][ \t]{{1,4}})?
              (?:(?:```|~~~)\w{{0,20}}(?:\r\n?|\n)[ \t>]{{0,40}})?)?""",
        re.VERBOSE | re.IGNORECASE,
    )


_JOINED, _JOINED_FREELY = _joined(_QUALIFIER), _joined("")
_QUOTED = re.compile(
    r"""\\"(?P<escaped>[^"\\\r\n]{1,1000})\\"|"(?P<double>[^"\r\n]{1,1000})"|'(?P<single>[^'\r\n]{1,1000})'"""
    r"""|``?(?P<code>[^`\r\n]{1,1000})``?|[“„](?P<curly>[^“”„\r\n]{1,1000})[”“]|«\s?(?P<angled>[^«»\r\n]{1,1000})»"""
)
_BARE = re.compile(r"""(?P<mark>[*_~"'“]{0,3})(?P<bare>[^\s`|，。；、！？：）」]+)""")
_PARAMETER = re.compile(r"""(?P<bare>[^\s&#"'`<>|)\]]+)""")  # of a link, up to the next one
_LINE_ENDS = re.compile(r"""["'`*_ \t,}]*(?:\(\d{4}-\d\d-\d\d\)|#.*)?[ \t]*(?:[\r\n]|\Z)""")
_FURTHER = re.compile(r"[ \t]?(?:[,/;]|\b(?:and|or|und|và|hoặc)\b)[ \t]", re.IGNORECASE)
_SPACE = re.compile(r"""["'`*_]{0,3}[ \t]{1,3}(?!-)""")
_AFTER_OPTION = frozenset(
    "and for flag from in is on option or parameter the to value was with argument switch".split()
)
_IN_NAMES = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-")

_FEWEST_DIGITS = {"local": 4, "human": 4, "vague": 6, "made": 16}
_AROUND = ".,;:…\"'”’*_~\\"
_ELIDED = re.compile(r"[\w-]{0,12}(?:…|\.{3})\W*")
_OPENING = {")": "(", "]": "[", "}": "{", ">": "<"}
_INDENTED = re.compile(r"(?:[\r\n]|\A)[ \t]+\Z")
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
_NAMED = re.compile(r"[A-Z]+(?:_[A-Z0-9]+)+|[\w.]+\(.*|\w*_|.*\s.*")  # OPENAI_API_KEY, get_token(), mh_, several words
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
_SIGN_WITHIN = re.compile(r"\w[!@#$%^&*+=~?]+\w")
_MIXED = re.compile(r"(?=.+[a-z][A-Z])(?=.*[A-Z].*[A-Z].*[A-Z])[A-Za-z]+")


@dataclass(frozen=True)
class _Value:
    """What stands where a secret may stand."""

    start: int
    end: int
    text: str
    quoted: bool


def _assigned(text: str) -> Spans:
    at = 0
    while name := _NAME.search(text, at):
        at = name.end()
        for value in _values_of(text, name):
            yield value.start, value.end
            at = value.end


def _values_of(text: str, name: re.Match[str]) -> Iterator[_Value]:
    """The values a name stands for: mostly none or one, several after "passwords: … and …"."""
    kind, first = str(name.lastgroup), name.start()
    while name.start() - first < _LONGEST_NAME and first and text[first - 1] in _IN_NAMES:
        first -= 1
    space = _SPACE.match(text, name.end())
    if text[first] == "-" and space and (value := _value(text, space.end())):  # an option of a command
        if value.text.lower() not in _AFTER_OPTION and not _stands_in(value.text):
            yield value
        return
    joined = (_JOINED_FREELY if kind in {"local", "pin"} else _JOINED).match(text, name.end())
    for following in (joined, joined and _JOINED_FREELY.match(text, joined.end())):  # "password: the new one is …"
        if not following:
            break
        is_parameter = following["sign"] == "=" and text[first - 1 : first] in {"?", "&"}
        value = _value(text, following.end(), _PARAMETER if is_parameter else _BARE)
        if value and _is_secret(text, first, name, following, value):
            yield value
            if kind in {"local", "human"}:
                yield from _further(text, value.end)
            return
    beside = _value(text, space.end()) if space and not joined else None
    if beside and not _stands_in(beside.text) and _is_sure(beside, kind):
        yield beside


def _further(text: str, at: int) -> Iterator[_Value]:
    while (also := _FURTHER.match(text, at)) and (value := _value(text, also.end())) and _is_sure(value, "human"):
        yield value
        at = value.end


def _value(text: str, at: int, bare: re.Pattern[str] = _BARE) -> _Value | None:
    if _NO_VALUE.match(text, at):
        return None
    if quoted := _QUOTED.match(text, at):
        start, end = quoted.span(str(quoted.lastgroup))
        return _Value(start, end, text[start:end], quoted=True)
    found = bare.match(text, at)
    if not found:
        return None
    start, written = found.start("bare"), _trimmed(found["bare"])
    return _Value(start, start + len(written), written, quoted=False) if written else None


def _trimmed(value: str) -> str:
    """Without the punctuation, quotes, emphasis and brackets around it; nothing when it is elided ("mh_…")."""
    if _ELIDED.fullmatch(value[:_LONGEST_WORD]):
        return ""
    value = value.rstrip(_AROUND)
    for _ in range(4):  # brackets; each one costs a look at the whole
        if value[-1:] not in _OPENING or value.count(value[-1]) <= value.count(_OPENING[value[-1]]):
            break
        value = value[:-1].rstrip(_AROUND)
    return value


def _is_secret(text: str, first: int, name: re.Match[str], joined: re.Match[str], value: _Value) -> bool:
    """Judge by how name and value are joined: an assignment, a line of configuration, a quotation, or prose."""
    kind, sign, written = str(name.lastgroup), joined["sign"], text[first : name.end()]
    ends = _LINE_ENDS.match(text, value.end) is not None
    if _stands_in(value.text) or (joined["down"] and not ends):
        return False
    is_configured = (
        "_" in written
        or any(one.islower() and next_one.isupper() for one, next_one in pairwise(written))
        or (text[first - 1 : first] in {'"', "'"} and text[name.end() : name.end() + 1] in {'"', "'", "\\"})
        or (kind == "human" and written.islower() and _INDENTED.search(text, max(0, first - 20), first) is not None)
    )
    if joined["entry"] or sign in {"=", ":="} or (sign == ":" and is_configured and (value.quoted or ends)):
        return _is_assigned(value, kind)
    return _is_quoted(value, kind) or _looks(value.text, kind)


def _is_quoted(value: _Value, kind: str) -> bool:
    """Whether it counts in a sentence because it is quoted: one word, and no name or number of something."""
    word = value.quoted and len(value.text) > 2 and not value.text.isdigit() and not _NAMED.fullmatch(value.text)
    return word and kind not in {"pin", "vague"}


def _is_assigned(value: _Value, kind: str) -> bool:
    """Whether it counts after `=`: anything but code, and numbers, for which tokens are counted."""
    if kind in {"pin", "vague"} or (kind == "made" and value.text.isdigit()):
        return _looks(value.text, kind)
    return value.quoted or not _CODE.match(value.text)


def _looks(value: str, kind: str) -> bool:
    """Whether it looks like a secret in the middle of a sentence."""
    if kind == "pin":
        return value.isdecimal() and 4 <= len(value) <= 12
    if re.fullmatch(r"[\d-]+", value):
        return sum(sign.isdigit() for sign in value) >= _FEWEST_DIGITS[kind]
    return _looks_made(value)


def _looks_made(value: str) -> bool:
    """Letters with digits or signs among them, or long with capitals anywhere; no word, quantity or address."""
    if len(value) > _LONGEST_WORD:
        return True
    if len(value) < 4 or _WORDLIKE.fullmatch(value) or not any(sign.isalpha() for sign in value):
        return False
    return _has_digit(value) or bool(_SIGN_WITHIN.search(value) or (len(value) >= 16 and _MIXED.fullmatch(value)))


def _is_sure(value: _Value, kind: str) -> bool:
    """Whether it counts without a sign between, "password hunter2": it can hardly be a word of the sentence."""
    if kind == "pin" or value.quoted:
        return _is_quoted(value, kind) or (kind == "pin" and _looks(value.text, kind))
    long = len(value.text) >= (16 if kind in {"made", "vague"} else 6)
    return long and _has_digit(value.text) and _looks_made(value.text)


def _stands_in(value: str) -> bool:
    return len(value) <= _LONGEST_WORD and (
        _NO_VALUE.match(value) is not None or _STAND_IN.fullmatch(value) is not None
    )


def _has_digit(value: str) -> bool:
    return any(sign.isdigit() for sign in value)


_FINDERS = (_private_keys, _url_passwords, _keys, _authorizations, _assigned)  # as in _TELLING
