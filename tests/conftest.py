"""What tests share: a home of their own, a crew in it, a person and a token.

Nothing here imports Django at the top, so that tests of the libraries run without it.
Tests that need files *and* rows are marked `django_db(transaction=True)`: a
surrounding test transaction would hide commits and lock other processes out.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from apps.access import Actor
    from apps.vault.layout import Scope


@pytest.fixture(scope="session")
def django_db_modify_db_settings(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Give every test run a SQLite file of its own, so that two runs at a time do not meet."""
    from django.db import connection

    if connection.vendor == "sqlite":
        connection.settings_dict["TEST"]["NAME"] = str(tmp_path_factory.mktemp("database") / "test.sqlite3")


@pytest.fixture
def home(tmp_path: Path, settings: Any) -> Path:
    """An empty home on a real disk; settings name it for this test."""
    folder = tmp_path.resolve() / "home"
    folder.mkdir()
    settings.MEMORYHUB_HOME = folder
    return folder


@pytest.fixture
def crew(db: None, home: Path) -> tuple[Scope, Scope]:
    """Two agents with empty folders: the master, whose folder is the home itself, and `coach`."""
    from apps.agents import queries, registry

    return queries.scope_of(registry.add("default")), queries.scope_of(registry.add("coach", name="Coach"))


@pytest.fixture
def scope(crew: tuple[Scope, Scope]) -> Scope:
    """The scope of the agent `coach`."""
    return crew[1]


@pytest.fixture
def staff(db: None) -> User:
    """Mai, signed-in staff with every permission memoryhub asks for; her password is `mai`."""
    from django.contrib.auth.models import Permission, User

    from apps.access import STAFF_RIGHTS

    person = User.objects.create_user("mai", password="mai", is_staff=True)
    for permission in STAFF_RIGHTS:
        label, codename = permission.split(".")
        person.user_permissions.add(Permission.objects.get(content_type__app_label=label, codename=codename))
    return person


@pytest.fixture
def person(staff: User) -> Actor:
    """Mai as an actor: present, with every right."""
    from apps import access

    return access.staff(staff, via="web")


@pytest.fixture
def token(crew: tuple[Scope, Scope]) -> str:
    """The secret of a token that reaches every agent with every right."""
    from apps import access
    from apps.access import RIGHTS
    from apps.agents import registry

    return registry.issue_token("test", rights=RIGHTS, actor=access.operator())[1]
