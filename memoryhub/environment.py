"""Readers for settings that come from the environment.

A wrong value stops the start with the name of the variable, instead of
surfacing later as something else.
"""

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import TypeVar
from zoneinfo import ZoneInfo

from django.core.exceptions import ImproperlyConfigured

T = TypeVar("T")
PREFIX = "MEMORYHUB_"


def read(name: str, default: str, environ: Mapping[str, str] = os.environ) -> str:
    return environ.get(PREFIX + name, default)


def parsed(name: str, text: str, parse: Callable[[str], T], wanted: str, *, told: bool = True) -> T:
    """What `parse` makes of the text; ImproperlyConfigured naming the variable and what was wanted.

    `told` is False for a value that must not be printed.
    """
    try:
        return parse(text)
    except (ValueError, KeyError, OSError, RuntimeError) as error:
        got = f", not “{text}”" if told else ""
        raise ImproperlyConfigured(f"{PREFIX}{name} must be {wanted}{got}.") from error


def boolean(name: str, default: bool, environ: Mapping[str, str] = os.environ) -> bool:
    words = {
        "1": True,
        "true": True,
        "yes": True,
        "on": True,
        "0": False,
        "false": False,
        "no": False,
        "off": False,
    }
    text = read(name, str(default), environ)
    return parsed(name, text, lambda value: words[value.strip().lower()], "yes or no")


def integer(
    name: str, default: int, *, least: int = 1, most: int | None = None, environ: Mapping[str, str] = os.environ
) -> int:
    text = read(name, str(default), environ)
    value = parsed(name, text, int, "a whole number")
    if value < least:
        raise ImproperlyConfigured(f"{PREFIX}{name} must be at least {least}, not {value}.")
    if most is not None and value > most:
        raise ImproperlyConfigured(f"{PREFIX}{name} must be at most {most}, not {value}.")
    return value


def dollars(name: str, environ: Mapping[str, str] = os.environ) -> Decimal | None:
    """An amount of money, None when it is not set."""

    def amount(text: str) -> Decimal:
        try:
            value = Decimal(text)
        except InvalidOperation as error:
            raise ValueError(text) from error
        if not value.is_finite() or value < 0:
            raise ValueError(text)
        return value

    text = read(name, "", environ).strip()
    return parsed(name, text, amount, "an amount in dollars such as 0.50") if text else None


def key(name: str, environ: Mapping[str, str] = os.environ) -> str:
    """A key that is sent in a header: printable, on one line; empty when it is not set."""
    text = read(name, "", environ).strip()
    if not (text.isascii() and text.isprintable()):
        raise ImproperlyConfigured(f"{PREFIX}{name} must be printable ASCII on one line.")
    return text


def words(name: str, default: str = "", environ: Mapping[str, str] = os.environ) -> list[str]:
    return [word.strip() for word in read(name, default, environ).split(",") if word.strip()]


def home(environ: Mapping[str, str] = os.environ) -> Path:
    """The real path of the folder where memory lives, whether it is there or not."""
    return _real("HOME", read("HOME", "~/.memoryhub", environ))


def make_home(environ: Mapping[str, str] = os.environ) -> None:
    """Make the home, its owner's alone: it holds memory, and the database. One that is there stays as it is."""
    folder = home(environ)
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        (folder / ".memoryhub").mkdir(exist_ok=True)
    except OSError as error:
        raise ImproperlyConfigured(f"{PREFIX}HOME: {folder} cannot be made ({error.strerror}).") from error


def folders(name: str, environ: Mapping[str, str] = os.environ) -> list[Path]:
    return [_real(name, word) for word in words(name, "", environ)]


def _real(name: str, text: str) -> Path:
    def real(text: str) -> Path:
        path = Path(text).expanduser()
        if not path.is_absolute():
            raise ValueError(text)
        return path.resolve()

    return parsed(name, text, real, "an absolute path")


def time_zone(name: str, environ: Mapping[str, str] = os.environ) -> str:
    """The zone named by the setting, else the system's, else UTC."""
    text = read(name, "", environ) or system_zone()
    parsed(name, text, ZoneInfo, "a time zone such as Asia/Ho_Chi_Minh")
    return text


def system_zone() -> str:
    """The IANA name /etc/localtime points at, or UTC where it is not such a link."""
    target = os.path.realpath("/etc/localtime")
    _, found, name = target.partition("/zoneinfo/")
    try:
        ZoneInfo(name)
    except (ValueError, KeyError, OSError):
        return "UTC"
    return name if found else "UTC"


def secret(name: str, home: Path, environ: Mapping[str, str] = os.environ) -> str:
    """The secret from the setting, from the file `<name>_FILE` names, or one kept in the home.

    A key made here is written once, readable by its owner only, so that
    sessions survive a restart without anybody having to configure anything.
    """
    text = read(name, "", environ)
    if text:
        return text
    named = read(name + "_FILE", "", environ)
    if named:
        return parsed(name + "_FILE", named, _text_of, "a file with a key in it")
    return _kept_secret(home / ".memoryhub" / "secret_key")


def _kept_secret(kept: Path) -> str:
    """The secret in this file; made whole before it gets its name, so that two processes read one and the same."""
    made = os.urandom(32).hex()
    draft = kept.with_name(f"{kept.name}.{os.getpid()}")
    try:
        if not kept.exists():
            if not kept.parent.parent.is_dir():
                # Only `manage.py migrate` and `demo` make a home: it may be a disk that is not mounted yet.
                return made
            kept.parent.mkdir(exist_ok=True)
            with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
                file.write(made)
                file.flush()
                os.fsync(file.fileno())
            with suppress(FileExistsError):
                os.link(draft, kept)
            draft.unlink()
        return parsed("SECRET_KEY", str(kept), _text_of, "set: the key kept in a file is empty or unreadable")
    except OSError:
        # A home that cannot be written is reported by `doctor`; starting up must not need it.
        return made


def _text_of(path: str) -> str:
    text = Path(path).read_text().strip()
    if not text:
        raise ValueError(path)
    return text
