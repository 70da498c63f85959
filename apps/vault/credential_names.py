"""Credentials known by a name before them, in configuration and in prose (the rule: credentials.py)."""

import re
from collections.abc import Iterator
from itertools import pairwise

from apps.vault import credential_values as values
from apps.vault.credential_forms import Spans
from apps.vault.credential_values import Value, value_at

_LONGEST_NAME = 64
_LONGEST_LINE = 500  # characters before a name that are searched for the start of its line

_ACCENTED = r"\w[\u0300-\u036f]{0,3}"  # a letter with or without its accents, composed or not
_ALONE = r"(?:(?<![^\W_])|(?-i:(?<=[a-z])(?=[A-Z])))"  # "pin", "wifi_pin" and "wifiPin", and not "shopping"
_OF_A_DOOR = r"(?:alarm|door|gate|garage|entry|entrance|keypad|lock(?:er|box)?|safe|vault|t(?:ü|ue)r|tresor|tor)"
# `local` are names whose qualifiers follow ("mật khẩu két sắt") or whose languages have verbs of their own.
NAME = re.compile(
    rf"""(?=p(?:ass|arol|w|in|uk|riv)|to[krt]|sec|sen|ser|sig|saf|sal|[sş]\u0327?[iı]f|a[cpud]|ala|enc|ent|m\w[\u0300-\u036fts]|mk
        |bea|c(?:on|l|red|od|v|sc)|k(?:h|enn|ey|od|ata)|wac|web|dep|doo|gat|gar|has|hes|l\w[\u0300-\u036fsc]|t[uü]
        |tre|vau|[пκσ密パ비ร])(?:
      (?P<local>m{_ACCENTED}t[ _-]?kh{_ACCENTED}u|mot[ ]de[ ]passe|contrase{_ACCENTED}a|senha
        |(?:kh{_ACCENTED}{_ACCENTED}?|cl{_ACCENTED})[ ]api
        |has[łl](?:o|a|em)|hes(?:lo|la|lem)|l{_ACCENTED}senord\w{{0,3}}|passord\w{{0,3}}|adgangskode\w{{0,3}}
        |kodeord\w{{0,3}}|salasana\w{{0,3}}|[sş]\u0327?[iı]fre\w{{0,4}}|parola\w{{0,3}}|парол\w{{1,3}}
        |(?<!ταχυδρομικός[ ])κωδικ{_ACCENTED}ς?(?:[ ]πρ{_ACCENTED}σβασης)?|συνθηματικ{_ACCENTED}
        |kata[ ]sandi(?:nya)?)
    | (?P<human>pass[ _-]?(?:words?|phrases?|codes?|wd)|passw(?:ort(?:e?s)?|(?:ö|o\u0308|oe)rter)|kennwort|wachtwoord
        |{_ALONE}(?:pwd|pw)|密[码碼]|パスワード|비밀번호|รหัสผ่าน)
    | (?P<made>token|secret|api[ _-]?(?:key|schl(?:ü|ue)ssel)
        |(?:access|private|secret|signing|encryption|master|auth|service|account|deploy|webhook)[ _-]?key)
    | (?P<pin>{_ALONE}pin(?:[ _-]?code)?|{_ALONE}puk)
    | (?P<door>{_ALONE}{_OF_A_DOOR}[ _-]?code
        |{_ALONE}code[ ](?:for|to|of|on)[ ](?:(?:the|our|my|his|her|their)[ ])?(?:[^\W\d_]{{1,15}}[ ])?{_OF_A_DOOR})
    | (?P<cvv>{_ALONE}(?:cvv2?|cvc2?|cvn|csc))
    | (?P<vague>{_ALONE}(?:pass|mk|auth|bearer|credentials?))
    ) (?:[_-]?\d{{1,4}})? (?:(?<=[密码碼ド호น])|(?![\w-]))""",
    re.VERBOSE | re.IGNORECASE,
)
_STOP = r"(?:and|but|or|so|when|while|if|because|which|who|und|oder|aber|et|ou|mais|y|pero|và|nhưng|nên)"
# Between a name and its value: "password *for the guest room* is …", never past the end of a clause.
_WORD = rf"[ \t]{{0,3}}(?!{_STOP}\b)(?:[^\s,;!?:：=|→.]|\.(?=\S)){{1,40}}+"
_IS = (
    r"\b(?:(?:is[ ]going[ ]to[ ]be|(?:will|shall|would|should|used[ ]to)[ ](?:now[ ])?be|(?:has|have|had)[ ]been"
    r"|is|was|are|were|remains|stays|(?:it|that)['’]s|c['’]est"
    r"|ist|war|wird|bleibt|lautet|est|sera|es|será|là|la|é|это)"
    r"(?:[ ](?:now|still|again|currently|just|jetzt|maintenant|ahora))?"
    r"|(?:(?:set|changed|reset)[ ]|(?<=[`\"'][ ]))to)\b|(?<=['’])s\b|是|は|คือ"
)
_IS_ABROAD = rf"\b(?:jest|to|je|är|er|on|είναι|adalah|це)\b|{_IS}"
# Also joins other things than a name and its value.
_LOOSELY = r"(?<=[ \t])(?:to\b|auf\b|[-–—](?=[ \t]))"
_QUALIFIER = (
    r"(?=\(|(?:for|of|to|on|at|in|from|f(?:ü|ue)rs?|von|vom|zum|zur|am|im|bei|beim|des|der|pour|du|para|del"
    r"|wi-?fi|wlan)\b)"
)
# What a password can have, and what happens to it: the value after these is another thing's.
_OF_ANOTHER_THING = re.compile(
    r"\b(?:(?:expir|chang|generat|fail|reject|requir|rotat|protect|encrypt|stor)\w*"
    r"|(?:reset|manager|length|policy|policie|hash|hint|strength|rule|limit|min|max|minimum|maximum|file|field|form|page"
    r"|link|issue|ticket|bug|error|version|id|prompt|screen|commit|sha\d*|digest|fingerprint|checksum|prefix|branch"
    r"|budget|price|count|type|algorithm)s?"
    r"|wrong|forgot|forgotten|lost|did|does|do|must|can|could|may|needs?|kept|written)\b",
    re.IGNORECASE,
)


def _joined(gap: str, verb: str = _IS) -> re.Pattern[str]:
    """What joins a name with its value, after `gap`; `down` when the value stands on a line of its own."""
    return re.compile(
        rf"""[\\"'’`*_\])]{{0,4}} [ \t]{{0,3}}
            (?:(?P<gap>{gap}(?:{_WORD}){{1,7}}?)?? [ \t]{{0,4}}
                (?:(?P<sign>:=|={{1,3}}>?|[:：]|->|→|(?<=[ \t])[|]|{verb})|(?P<loose>{_LOOSELY}))
              | ["']?,?\s{{1,40}}["']?value["']?[ ]?(?P<entry>:))
            (?:[*_]{{1,3}}(?=[ \t\r\n]))? [ \t]{{0,4}}
            (?P<down>(?:\r\n?|\n)[ \t>]{{0,40}}(?:[-*+][ \t]{{1,4}})?
              (?:(?:```|~~~)\w{{0,20}}(?:\r\n?|\n)[ \t>]{{0,40}})?)?""",
        re.VERBOSE | re.IGNORECASE,
    )


_JOINED, _JOINED_FREELY, _JOINED_ABROAD = _joined(_QUALIFIER), _joined(""), _joined("", _IS_ABROAD)
_BELOW = re.compile(
    r"""["'`*_:]{0,4}[ \t]{0,4}(?:\r\n?|\n)(?P<indent>[ \t>]{1,40})(?:[-*+][ \t]{1,4})?"""
    r"""(?:(?:```|~~~)\w{0,20}(?:\r\n?|\n)[ \t>]{0,40})?"""
)
_INDENT = re.compile(r"[ \t>]*")
_LINE_ENDS = re.compile(r"""["'`*_ \t,}]*(?:\(\d{4}-\d\d-\d\d\)|#.*)?[ \t]*(?:[\r\n]|\Z)""")
_FURTHER = re.compile(r"[ \t]?(?:[,/;]|\b(?:and|or|und|và|hoặc)\b)[ \t]", re.IGNORECASE)
_SPACE = re.compile(r"""["'`*_]{0,3}[ \t]{1,3}(?!-)""")
_INDENTED = re.compile(r"(?:[\r\n]|\A)[ \t]+\Z")
_AFTER_OPTION = frozenset(
    "and for flag from in is on option or parameter the to value was with argument switch".split()
)
_IN_NAMES = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-")


def assigned(text: str) -> Spans:
    at = 0
    while name := NAME.search(text, at):
        at = name.end()
        for value in _values_of(text, name):
            yield value.start, value.end
            at = value.end


def _values_of(text: str, name: re.Match[str]) -> Iterator[Value]:
    """The values a name stands for: mostly none or one, several after "passwords: … and …"."""
    kind, first = str(name.lastgroup), name.start()
    while name.start() - first < _LONGEST_NAME and first and text[first - 1] in _IN_NAMES:
        first -= 1
    space = _SPACE.match(text, name.end())
    if text[first] == "-" and space and (value := value_at(text, space.end())):  # an option of a command
        if value.text.lower() not in _AFTER_OPTION and not values.stands_in(value.text):
            yield value
        return
    value = _joined_value(text, first, name) or _value_beside(text, name, space) or _value_below(text, first, name)
    if value:
        yield value
        if kind in {"local", "human"}:
            yield from _further(text, value.end)


def _joined_value(text: str, first: int, name: re.Match[str]) -> Value | None:
    """The value after a sign; after words that lead on to another, as in "password: the new one is …", too."""
    kind = str(name.lastgroup)
    freely = _JOINED_ABROAD if kind == "local" else _JOINED_FREELY
    beginning = joined = (freely if kind in {"local", "pin"} else _JOINED).match(text, name.end())
    if not joined:
        return _value_far_away(text, name) if kind in {"human", "made"} else None
    loosely = False
    for _ in range(3):
        is_parameter = joined["sign"] == "=" and text[first - 1 : first] in {"?", "&"}
        value = value_at(text, joined.end(), values.PARAMETER if is_parameter else values.BARE)
        loosely = loosely or joined["loose"] is not None
        if (
            value
            and _is_secret(text, first, name, joined, value)
            and (not loosely or _is_sure_of_a_password(value, kind))
        ):
            return value
        following = freely.match(text, joined.end())
        if not following or (joined is not beginning and not loosely):
            break
        joined = following
    return None


def _is_sure_of_a_password(value: Value, kind: str) -> bool:
    return values.is_sure(value, kind) and (kind in {"human", "local"} or not value.quoted)


def _value_far_away(text: str, name: re.Match[str]) -> Value | None:
    """After words that say what the name is for without a preposition: "password guest room: …"."""
    joined = _JOINED_FREELY.match(text, name.end())
    if not joined or joined["loose"] or _OF_ANOTHER_THING.search(joined["gap"] or ""):
        return None
    value = value_at(text, joined.end())
    shortest = 6 if name.lastgroup == "human" else 16
    if not value or values.stands_in(value.text) or "/" in value.text:
        return None
    return value if values.is_surely_made(value.text, shortest) else None


def _value_beside(text: str, name: re.Match[str], space: re.Match[str] | None) -> Value | None:
    """Without a sign between: "password hunter2", "PIN 4711"."""
    value = value_at(text, space.end()) if space else None
    return value if value and not values.stands_in(value.text) and values.is_sure(value, str(name.lastgroup)) else None


def _value_below(text: str, first: int, name: re.Match[str]) -> Value | None:
    """Alone on the next line, which is indented deeper."""
    below = _BELOW.match(text, name.end())
    if not below or len(below["indent"]) <= _indent(text, first):
        return None
    value, kind = value_at(text, below.end()), str(name.lastgroup)
    if not value or values.stands_in(value.text) or not _LINE_ENDS.match(text, value.end):
        return None
    if kind in {"human", "local", "pin", "door"}:
        counts = values.is_quoted(value, kind) or values.looks(value.text, kind)
    else:
        counts = not value.quoted and values.is_sure(value, kind)
    return value if counts else None


def _indent(text: str, at: int) -> int:
    """Of the line in which `at` stands, as far as it can matter."""
    lowest = max(0, at - _LONGEST_LINE)
    start = max(text.rfind("\n", lowest, at), text.rfind("\r", lowest, at), lowest - 1) + 1
    indent = _INDENT.match(text, start, at)
    return indent.end() - start if indent else 0


def _further(text: str, at: int) -> Iterator[Value]:
    while (
        (also := _FURTHER.match(text, at)) and (value := value_at(text, also.end())) and values.is_sure(value, "human")
    ):
        yield value
        at = value.end


def _is_secret(text: str, first: int, name: re.Match[str], joined: re.Match[str], value: Value) -> bool:
    """Judge by how name and value are joined: an assignment, a line of configuration, a quotation, or prose."""
    kind, sign, written = str(name.lastgroup), joined["sign"], text[first : name.end()]
    ends = _LINE_ENDS.match(text, value.end) is not None
    if values.stands_in(value.text) or (joined["down"] and not ends):
        return False
    is_configured = (
        "_" in written
        or any(one.islower() and next_one.isupper() for one, next_one in pairwise(written))
        or (text[first - 1 : first] in {'"', "'"} and text[name.end() : name.end() + 1] in {'"', "'", "\\"})
        or (kind == "human" and written.islower() and _INDENTED.search(text, max(0, first - 20), first) is not None)
    )
    if joined["entry"] or sign in {"=", ":="} or (sign == ":" and is_configured and (value.quoted or ends)):
        return values.is_assigned(value, kind)
    return values.is_quoted(value, kind) or values.looks(value.text, kind)
