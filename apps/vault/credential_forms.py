"""Credentials known by their form, or by the header, option or parameter they stand in (the rule: credentials.py)."""

import base64
import re
from collections.abc import Callable, Iterator
from itertools import zip_longest

from apps.vault import credential_values as values

Spans = Iterator[tuple[int, int]]
Finder = Callable[[str], Spans]

_LONGEST_BLOCK = 20_000  # characters; an RSA key of 16,384 bits takes 12,700

_BORDER = re.compile(r"-{4,5} ?(?P<which>BEGIN|END) [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}")
# Headers of a key end with a blank line, so one before more of the key does not end it.
_BLANK = re.compile(r"(?:\r\n?|\n)(?=[ \t>]*(?:\r|\n|\Z)(?!\s{0,20}[ \t>]{0,20}[A-Za-z0-9+/=]{40}))")


def private_keys(text: str) -> Spans:
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


def url_passwords(text: str) -> Spans:
    for match in _USERINFO.finditer(text):
        name = "plain" if match["plain"] is not None else "odd"
        if match[name] is not None and not values.stands_in(match[name]):
            yield match.span(name)
        if len(match["user"]) >= 20 and values.has_digit(match["user"]):  # a token in the place of the user
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


def keys(text: str) -> Spans:
    for match in _KEY.finditer(text):
        name = match.lastgroup or 0
        written = match[name].rstrip(".-")
        if (name == "jwt" or values.has_digit(written)) and not _MADE_OF_X.fullmatch(written):
            yield match.start(name), match.start(name) + len(written)


_HEADER = re.compile(
    r"""(?=[abx-])(?:(?<![^\W_])authorization["'`*]{0,3}[ \t]{0,3}[:=][ \t]{0,3}["'`*]{0,3}
        (?:(?P<scheme>bearer|basic|token|api-?key|digest|bot|negotiate)[ \t]{1,3})? (?P<header>[^\s"'`<>|]+)
      | (?<![^\W_])bearer[ \t]{1,3}(?P<bearer>[A-Za-z0-9._~+/-]{8,}={0,2})
      | (?<![^\W_])basic[ \t]{1,3}(?P<basic>[A-Za-z0-9+/]{8,}={0,2})
      | (?<![\w-])x-(?:[a-z]{1,20}-){0,3}(?:token|key|secret|auth|password|signature)
        ["'`*]{0,3}[ \t]{0,3}[:=][ \t]{0,3}["'`*]{0,3}(?P<own>[^\s"'`<>|]+)(?P<ends>["'`*]|[ \t]*(?:[\r\n]|\Z))?
      | (?<![^\s`$(])(?:-u|--user|--proxy-user)[ =]{0,3}["']?(?P<user>[^\s:"'`/]{1,100}):(?P<password>[^\s"'`]+))""",
    re.VERBOSE | re.IGNORECASE,
)


def authorizations(text: str) -> Spans:
    for match in _HEADER.finditer(text):
        name = next(name for name in ("header", "bearer", "basic", "own", "password") if match[name] is not None)
        start, end = match.start(name), match.start(name) + len(values.trimmed(match[name]))
        value = text[start:end]
        if not value or values.stands_in(value):
            continue
        if name == "password":
            counts = not f"{match['user']}{value}".isdigit()  # "-u 1000:1000"
        elif name == "basic":
            counts = _encodes_a_password(value)
        else:
            counts = bool(match["scheme"] or match["ends"] is not None) or values.looks_made(value)
        if counts:
            yield start, end


def _encodes_a_password(value: str) -> bool:
    """Whether it is base64 of `user:password`, as RFC 7617 has it; words ("basic authentication") are not."""
    try:
        user, colon, password = base64.b64decode(value + "=" * (-len(value) % 4), validate=True).decode().partition(":")
    except ValueError:
        return False
    return bool(colon and password) and f"{user}{password}".isprintable()


# Parameters that sign or open what a link leads to.
_QUERY = re.compile(
    r"""[?&](?:amp;)?(?:
        (?P<telling>(?:x-(?:amz|goog|ms)-)?(?:sig(?:nature)?|security-token)|(?:[a-z]{1,12}[_-])?(?:token|secret)
          |pwd|passw(?:or)?d|api[_-]?key|jwt)
      | (?:[a-z]{1,12}[_-])?key|auth|code|pass|sid|session(?:_?id)?)
    = (?P<value>[^\s&#"'`<>|)\]]+)""",
    re.VERBOSE | re.IGNORECASE,
)


def parameters(text: str) -> Spans:
    for match in _QUERY.finditer(text):
        value = values.trimmed(match["value"])
        if not value or values.stands_in(value):
            continue
        if match["telling"] or values.is_surely_made(value, 6):
            yield match.start("value"), match.start("value") + len(value)


# 13 to 19 digits, the first of them as banks have it (ISO/IEC 7812); a number of a SIM card begins with 8.
_CARD = re.compile(r"(?<![\w.,+-])(?<!\d )(?=[2-6])(?:\d[ -]?){12,18}\d(?![\w-])")
_CARD_WORD = re.compile(
    r"\b(?:card|visa|master[ ]?card|amex|maestro|kreditkarte|carte|tarjeta|th\w{1,3})\b", re.IGNORECASE
)
_CVV = re.compile(r"\b(?:cvv2?|cvc2?|cvn|csc)\b", re.IGNORECASE)
_NEAR, _BEFORE = 120, 40  # characters within which they speak of the number


def cards(text: str) -> Spans:
    for match in _CARD.finditer(text):
        start, end = match.span()
        if _passes_luhn(match[0]) and (
            _CVV.search(text, max(0, start - _NEAR), end + _NEAR)
            or _CARD_WORD.search(text, max(0, start - _BEFORE), start)
        ):
            yield start, end


def _passes_luhn(number: str) -> bool:
    """The check digit of ISO/IEC 7812."""
    digits = [int(sign) for sign in reversed(number) if sign.isdecimal()]
    return sum(digits[::2]) % 10 == -sum(sum(divmod(2 * digit, 10)) for digit in digits[1::2]) % 10
