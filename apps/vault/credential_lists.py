"""Credentials of several parts: a login, recovery codes, secrets of one-time passwords, words of a wallet.

The rule is in credentials.py.
"""

import re

from apps.vault import credential_values as values
from apps.vault.credential_forms import Spans

# From a name to what it names: "(the shop): ", " for the shop are ", ":\n\n", or a space.
_SIGN = r"(?:[:=：](?!//)|\b(?:is|are|ist|sind|là)\b|[ \t][-–—][ \t])"
_THEN = rf"""(?![\w-])["'`*_)\]]{{0,4}}(?:[^\r\n:=/\[\]<>]{{0,60}}?{_SIGN})?["'`*_]{{0,4}}"""
_FENCE = r"(?:```|~~~)\w{0,20}[ \t]*(?:\r\n?|\n)[ \t>]{0,20}"
_ITEM = rf"(?:[-*+•][ \t]{{1,4}}|\d{{1,2}}[.):][ \t]{{0,4}}|\[[ xX]\][ \t]{{1,4}}|{_FENCE})"
_NEW_LINE = (
    rf"(?:[ \t]{{0,20}}(?:\([^()\r\n]{{0,40}}\)[ \t]{{0,4}})?(?:(?:\r\n?|\n)[ \t>]{{0,20}}){{1,3}}{_ITEM}{{0,2}})"
)

_LOGIN = re.compile(
    r"""(?=[labcdđistuz])(?<![^\W_])(?<!//)(?:log-?ins?|sign-?in
        |user(?:[ _-]?name)?|benutzer(?:name)?|anmeldung|zugang(?:sdaten)?
        |credentials|creds|identifiants?|usuario|đăng[ ]nhập|tài[ ]khoản)["'`*_]{0,4}
        (?:[ \t][^\r\n:=/,|]{1,40})?[ \t]*[:=][ \t]*["'`*_]{0,4}
        [^\s:/|,"'`*<>]{1,64}["'`*]{0,3}
        (?:[ \t]{1,3}[/|–—-][ \t]{1,3}|[:/](?![/\s])|(?P<comma>,[ \t]{1,3}))""",
    re.VERBOSE | re.IGNORECASE,
)


def logins(text: str) -> Spans:
    """The password of "login: mai / …"."""
    for match in _LOGIN.finditer(text):
        value = values.value_at(text, match.end())
        if not value or values.stands_in(value.text) or not values.is_surely_made(value.text, 6):
            continue
        if not match["comma"] or not value.text.isalnum():  # "user: mai, room2B"
            yield value.start, value.end


_RECOVERY = re.compile(
    rf"""(?=[2bcemnorsw])(?<![^\W_])(?:(?:recovery|backup|rescue|emergency|scratch|one[ -]time|2fa|mfa
        |wiederherstellungs|ersatz|notfall
        |sicherungs)[ _-]?codes?|codes?[ ]de[ ](?:secours|récupération|recuperación)|mã[ ](?:khôi[ ]phục|dự[ ]phòng))
        {_THEN}""",
    re.VERBOSE | re.IGNORECASE,
)
_NEXT_CODE = re.compile(
    rf"""(?:{_NEW_LINE}|[ \t]{{0,4}}(?:[,;/|]|\b(?:and|und|et|y|và)\b)?[ \t]{{0,4}})["'`*~]{{0,3}}
        (?P<code>[A-Za-z0-9][A-Za-z0-9-]{{3,40}})(?![\w-])["'`*~]{{0,3}}""",
    re.VERBOSE,
)
_GROUPS = re.compile(r"[a-z0-9]{4,6}(?:-[a-z0-9]{4,6}){1,4}")


def recovery_codes(text: str) -> Spans:
    """Every code that follows the name, in the same line or as a list below."""
    at = 0
    while name := _RECOVERY.search(text, at):
        at = name.end()
        while (code := _NEXT_CODE.match(text, at)) and _is_code(code["code"]):
            yield code.span("code")
            at = code.end()


def _is_code(value: str) -> bool:
    if values.stands_in(value):
        return False
    return values.looks(value, "human") or _is_grouped(value)


def _is_grouped(value: str) -> bool:
    """Whether it has groups of one length, as in "abcd-efgh"."""
    return _GROUPS.fullmatch(value) is not None and len({len(group) for group in value.split("-")}) == 1


_ONE_TIME = re.compile(
    rf"""(?=[2amot])(?<![^\W_])(?:t?otp|[2m]fa|authenticator)(?:[ _-]?(?:secret|seed|key|code))?{_THEN}
        [ \t]{{0,4}}["'`]?
        (?P<secret>(?-i:(?:[A-Z2-7]{{4}}[ -]){{3,15}}[A-Z2-7]{{2,4}}|(?:[a-z2-7]{{4}}[ -]){{3,15}}[a-z2-7]{{2,4}})
          (?![\w-])
          |[^\s"'`<>|,;]{{6,256}})""",
    re.VERBOSE | re.IGNORECASE,
)
_BASE32 = re.compile(r"[A-Z2-7]{16,}=*")  # RFC 4648, as apps for one-time passwords show it


def one_time_secrets(text: str) -> Spans:
    """The secret that one-time passwords are made from, or such a password."""
    for match in _ONE_TIME.finditer(text):
        secret = values.trimmed(match["secret"])
        squeezed = secret.replace(" ", "").replace("-", "")
        if values.stands_in(secret) or values.is_ticket(secret):
            continue
        is_made = _BASE32.fullmatch(squeezed) or (values.has_digit(secret) and values.looks_made(squeezed))
        if is_made or (secret.isdecimal() and len(secret) in range(6, 9)):
            yield match.start("secret"), match.start("secret") + len(secret)


# Between two words: signs, at most one line, the number or bullet of an item.
_APART = r"[ \t]{0,3}(?:,[ \t]{0,3}|[ \t]|(?:\r\n?|\n)[ \t>]{0,20})(?:\d{1,2}[.):]?[ \t]{1,4}|[-*+][ \t]{1,4})?"
# Words of BIP 39: 3 to 8 letters; none of its list is among those left out.
_WALLET_WORD = r"(?!(?:and|the|for|are|was|not|from|our|your|his|her|its|has|but)\b)[a-z]{3,8}+(?![\w'’-])"
_WALLET_NAME = re.compile(
    r"""(?=[bcmrsw])(?<![^\W_])(?:(?:seed|recovery|secret|mnemonic|backup|wallet)(?:[ ]recovery)?[ _-]?(?:phrase|words)
        |mnemonic|seed
        |wiederherstellungs(?:phrase|wörter)|cụm[ ]từ[ ]khôi[ ]phục)(?![\w-])""",
    re.VERBOSE | re.IGNORECASE,
)
_WALLET_WORDS = re.compile(
    rf"""{_THEN}\s{{0,4}}(?:{_ITEM})?["'`*_]{{0,4}}(?P<words>{_WALLET_WORD}(?:{_APART}{_WALLET_WORD}){{11,23}})""",
    re.VERBOSE,
)
_LETTERS = re.compile(r"[a-z]+")
_COUNTS = (24, 21, 18, 15, 12)  # of words, as BIP 39 has it


def wallet_words(text: str) -> Spans:
    for name in _WALLET_NAME.finditer(text):
        if match := _WALLET_WORDS.match(text, name.end()):
            words = list(_LETTERS.finditer(match["words"]))
            count = next(count for count in _COUNTS if count <= len(words))
            yield match.start("words"), match.start("words") + words[count - 1].end()
