"""The crew: which agents there are, where their folders lie, which tokens they hold."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from apps import access
from apps.access import RIGHTS, Actor
from apps.agents import queries
from apps.agents.models import Agent, Token
from apps.errors import Conflict, Invalid, NotFound, StorageFailed
from apps.ledger import locks
from apps.ledger import queries as ledger_queries
from apps.ledger import services as ledger
from apps.vault import files, layout, lock

# A token's longest life: a date near the end of the calendar fails in one time zone or another.
MOST_DAYS = 36_500


@dataclass
class Synced:
    """What `sync` did: ids made, ids that were there or archived, folder names that cannot be an agent's, with why."""

    added: list[str] = field(default_factory=list)
    present: list[str] = field(default_factory=list)
    archived: list[str] = field(default_factory=list)
    refused: list[tuple[str, str]] = field(default_factory=list)


# What is set on an agent's row as it is given; its folder has its own rules (`move`).
FIELDS = ("name", "zone", "model", "autonomous", "cron", "budget_day", "budget_month")


def add(agent_id: str, *, directory: str = "", **facts: object) -> Agent:
    """Make an agent and its `memory/` folder, with any of FIELDS. An archived agent of this id comes back.

    Raises Invalid naming the field, Conflict `exists`, StorageFailed.
    """
    made = Agent(id=agent_id)
    _set(made, facts)
    old = Agent.objects.filter(pk=agent_id).first()
    if old and old.archived_at is None:
        raise Conflict(f"There is an agent “{agent_id}” already.", code="exists", field="id")
    if old:
        made.created_at = old.created_at
    with _folders_locked():
        if directory:
            made.directory = str(checked_directory(agent_id, directory))
        _make_folders(made)
        try:
            made.save(force_insert=old is None)
        except IntegrityError as error:
            raise Conflict(f"There is an agent “{agent_id}” already.", code="exists", field="id") from error
    return made


@contextmanager
def _folders_locked() -> Iterator[None]:
    """No two agents get a folder at once: the second would not yet see the first one's."""
    if connection.in_atomic_block:
        raise RuntimeError("A transaction is open; the lock of the folders must come first.")
    with lock.held(locks.crew_lock_path(), seconds=settings.MEMORYHUB_LOCK_SECONDS):
        yield


def change(agent_id: str, **facts: object) -> Agent:
    """Change what is given, of FIELDS; a budget of None is none. A change of zone renames no old note."""
    one = queries.agent(agent_id)
    _set(one, facts)
    one.save(update_fields=[*FIELDS, "cron_since"])
    return one


def _set(one: Agent, facts: Mapping[str, object]) -> None:
    """Set and validate. A night before its cron was set was nobody's wish, so that moment is kept."""
    if unknown := set(facts) - set(FIELDS):
        raise TypeError(f"An agent has no {', '.join(sorted(unknown))}.")
    before = one.cron
    for name, value in facts.items():
        setattr(one, name, value)
    if isinstance(one.cron, str):
        one.cron = " ".join(one.cron.split())
    _validate(one)
    if one.cron != before:
        one.cron_since = timezone.now() if one.cron else None


def move(agent_id: str, directory: str) -> Agent:
    """Point an agent at another folder (empty: its usual place), under its lock; no file is moved.

    Conflict `batch_open` while a write to the present folder is not finished.
    """
    one = queries.agent(agent_id)
    with _folders_locked(), ledger.writing(queries.scope_of(one)):
        target = checked_directory(agent_id, directory) if directory else None
        if any(batch.scope == agent_id for batch in ledger_queries.open_batches()):
            raise Conflict("A write to this agent's folder waits to be resolved first.", code="batch_open")
        one.directory = str(target) if target else ""
        _make_folders(one)
        one.save(update_fields=["directory"])
    return one


def archive(agent_id: str) -> None:
    """Take an agent out of the crew. Its files and its history stay; its tokens are revoked.

    Invalid `master` for the one agent there always is.
    """
    if agent_id == layout.MASTER:
        raise Invalid("The master stays: there is always exactly one.", code="master", field="id")
    with transaction.atomic():
        one = queries.agent(agent_id)
        Token.objects.filter(agent=one).delete()
        one.archived_at = timezone.now()
        one.save(update_fields=["archived_at"])


def sync() -> Synced:
    """Make rows for the master and for every folder below `agents/` that can be one; nothing is removed."""
    result = Synced()
    names = [layout.MASTER]
    folder = queries.home() / "agents"
    if folder.is_dir():
        names += sorted(entry.name for entry in folder.iterdir() if entry.is_dir() and not entry.name.startswith("."))
    for name in names:
        known = Agent.objects.filter(pk=name).first() if layout.AGENT_ID.fullmatch(name) else None
        if known:
            (result.archived if known.archived_at else result.present).append(name)
            continue
        if (folder / name).is_symlink():
            result.refused.append((name, "It is a link; links are not followed."))
            continue
        try:
            add(name)
        except (Invalid, Conflict, StorageFailed) as error:
            result.refused.append((name, error.message))
        else:
            result.added.append(name)
    return result


def checked_directory(agent_id: str, directory: str) -> Path:
    """The real path of a workspace an agent may have. Invalid `bad_directory` otherwise.

    It must exist, lie under a root of MEMORYHUB_WORKSPACE_ROOTS, and overlap
    neither the home nor another agent's folder (all by real path).
    """
    wanted = Path(directory)
    try:
        if not wanted.is_absolute() or not wanted.is_dir():
            raise _bad_directory(f"{directory} is no absolute path of a folder.")
        real = wanted.resolve()
    except OSError as error:
        raise _bad_directory(f"{directory[:200]} cannot be looked at: {error.strerror}.") from error
    if not any(real.is_relative_to(root) and real != root for root in settings.MEMORYHUB_WORKSPACE_ROOTS):
        raise _bad_directory(f"{real} lies under no folder listed in MEMORYHUB_WORKSPACE_ROOTS.")
    taken = {"the home": queries.home()}
    taken |= {f"agent {one.id}": Path(one.directory) for one in Agent.objects.exclude(pk=agent_id) if one.directory}
    for owner, path in taken.items():
        if real.is_relative_to(path) or path.is_relative_to(real):
            raise _bad_directory(f"{real} overlaps the folder of {owner}.")
    return real


def _bad_directory(message: str) -> Invalid:
    return Invalid(message, code="bad_directory", field="directory")


def _validate(one: Agent) -> None:
    try:
        one.full_clean(exclude=["directory"], validate_unique=False)
    except ValidationError as error:
        name, messages = next(iter(error.message_dict.items()))
        raise Invalid(" ".join(messages), code="bad_name" if name == "id" else "bad_value", field=name) from error


def _make_folders(one: Agent) -> None:
    """Make the agent's folder and its `memory/`, below a home whose links are never followed."""
    folder = queries.directory(one) / layout.NOTES
    with files.translated(str(folder)):
        if folder.resolve() != folder:
            raise Invalid(f"{folder} leads through a link.", code="bad_directory", field="directory")
        # A workspace must exist; only folders of the home are made from nothing.
        folder.mkdir(parents=not one.directory, exist_ok=True)


def issue_token(
    name: str, *, rights: Sequence[str], actor: Actor, agent_id: str = "", expiry: datetime | None = None
) -> tuple[Token, str]:
    """Make a token, for one agent or (empty) for all; the secret is returned once and only its hash is kept.

    `expiry` is its end, None for none. Nobody gives away more than they have:
    Forbidden `missing_right` for a right the actor lacks. Raises Invalid naming
    the field, NotFound for the agent.
    """
    agent = queries.agent(agent_id) if agent_id else None
    if expiry is not None and not timezone.now() < expiry < timezone.now() + timedelta(days=MOST_DAYS):
        raise Invalid("The end must lie ahead, and within a hundred years.", code="bad_value", field="expiry")
    # Presence is no right a person holds but what they are: they may say of a token that it stands for them.
    for right in set(rights) & set(RIGHTS) - {"present"}:
        access.require(actor, right)
    draft = Token(name=name, agent=agent, rights=list(dict.fromkeys(rights)), expiry=expiry)
    try:
        draft.full_clean(exclude=["digest", "token_key", "agent"])
    except ValidationError as error:
        name_, messages = next(iter(error.message_dict.items()))
        raise Invalid(" ".join(messages), code="bad_value", field=name_) from error
    return Token.objects.issue(name=draft.name, agent=agent, rights=draft.rights, expiry=expiry)


def revoke_token(token_id: str) -> Token:
    """Delete a token by its public id; whoever holds it is refused from the next call on."""
    token = Token.objects.filter(public_id=token_id).first()
    if token is None:
        raise NotFound(f"There is no token {token_id}.")
    token.delete()
    return token


def tokens() -> list[Token]:
    return list(Token.objects.select_related("agent"))
