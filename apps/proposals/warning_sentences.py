"""Warnings in plain English; pages translate by code and parameters instead."""

from collections.abc import Callable, Mapping, Sequence

Params = Mapping[str, str | int]

# Things a sentence names one by one; the parameters hold all of them.
_NAMED = 3


def english(code: str, params: Params) -> str:
    """The sentence of a warning: what was found, short, without advice."""
    return _SENTENCES[code](params)


def _split(listed: str | int) -> list[str]:
    return str(listed).split(", ")


def _join(things: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(things[:-1]), things[-1])))


def _a(thing: str) -> str:
    return f"{'an' if thing[0] in 'AEIOUaeiou' else 'a'} {thing}"


def _sentence(words: str) -> str:
    return f"{words[0].upper()}{words[1:]}."


def _verb(params: Params, count: int) -> str:
    return str(params["change"]) + ("s" if count == 1 else "")


def _lines_removed(params: Params) -> str:
    return f"{params['removed']} of {params['total']} lines removed."


def _number_changed(params: Params) -> str:
    kinds, count = _split(params["kinds"]), int(params["count"])
    if len(kinds) == 1 and count > 1:
        return f"{count} {kinds[0]}s {_verb(params, count)}."
    return _sentence(f"{_join([_a(kind) for kind in kinds])} {_verb(params, len(kinds))}")


def _name_changed(params: Params) -> str:
    if params["change"] == "change":
        return "A name changes." if params["count"] == 1 else f"{params['count']} names change."
    names = _split(params["new"] or params["old"])
    quoted = _join([f"“{name}”" for name in names])
    return f"The name{'s' * (len(names) > 1)} {quoted} {_verb(params, len(names))}."


def _negation_changed(params: Params) -> str:
    words = list(dict.fromkeys(_split(str(params["new"] or params["old"]).lower())))
    return _sentence(f"{_join([f'a “{word}”' for word in words])} {_verb(params, len(words))}")


def _date_unknown(params: Params) -> str:
    return f"Neither memory nor the notes read have the date {_join(_split(params['dates']))}."


def _no_support(_params: Params) -> str:
    return "No source found in the notes read."


def _untrusted_source(params: Params) -> str:
    return f"The note line comes from {params['source']}, not from a person or this agent."


def _secret(params: Params) -> str:
    words = {
        "private_key": "private key",
        "url_password": "password in a link",
        "key": "key of a service",
        "authorization": "login for a service",
        "assigned": "password or key",
    }
    return f"It holds {_join([_a(words[kind]) for kind in _split(params['kinds'])])}."


def _instruction(_params: Params) -> str:
    return "It reads like an order to the agent or the model."


def _odd_character(params: Params) -> str:
    names = _split(params["names"])
    named = [_a(name) for name in names[:_NAMED]]
    return _sentence(_join([*named, f"{len(names) - _NAMED} more"] if len(names) > _NAMED else named))


def _date_changed(params: Params) -> str:
    if params["change"] == "change":
        return f"Only the date changes, from {params['old']} to {params['new']}."
    return f"Only the date {params['new'] or params['old']} {params['change']}s."


def _link_changed(params: Params) -> str:
    return f"A link {params['change']}s."


def _address_new(params: Params) -> str:
    words = {
        "link": "link",
        "email": "e-mail address",
        "account": "account number",
        "phone": "phone or account number",
    }
    kinds = _join([words[kind] for kind in _split(params["kinds"])])
    return f"New {kinds}, and no source found in the notes read."


def _placeholder(params: Params) -> str:
    if params["state"] == "missing":
        return f"What “{params['text']}” stands for is missing from the new text."
    return f"“{params['text']}” only stands for other text."


def _over_limit(params: Params) -> str:
    if not params["count"]:
        return f"{params['length']:,} of {params['limit']:,} characters."
    count, fallen = int(params["count"]), str(params["fell_off"]).split("\n")
    quoted = [f"“{line}”" for line in fallen[:_NAMED]]
    if len(fallen) > _NAMED:
        quoted.append(f"{len(fallen) - _NAMED} more lines")
    return f"{count} {'entry' if count == 1 else 'entries'} fell off the end: {_join(quoted)}."


_SENTENCES: dict[str, Callable[[Params], str]] = {
    "lines_removed": _lines_removed,
    "number_changed": _number_changed,
    "name_changed": _name_changed,
    "negation_changed": _negation_changed,
    "date_unknown": _date_unknown,
    "no_support": _no_support,
    "untrusted_source": _untrusted_source,
    "secret": _secret,
    "instruction": _instruction,
    "odd_character": _odd_character,
    "date_changed": _date_changed,
    "link_changed": _link_changed,
    "address_new": _address_new,
    "placeholder": _placeholder,
    "over_limit": _over_limit,
}
