"""Settings from the environment: a wrong value stops the start and names its variable."""

import json
import os
import subprocess
import sys

import pytest
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from memoryhub import environment as env


@pytest.mark.parametrize(
    ("text", "value"), [("yes", True), ("1", True), ("ON", True), ("no", False), ("0", False), ("False", False)]
)
def test_a_switch_is_on_or_off(text, value):
    assert env.boolean("X", not value, {"MEMORYHUB_X": text}) is value


@pytest.mark.parametrize(
    "read",
    [
        lambda e: env.boolean("X", False, e),
        lambda e: env.integer("X", 1, environ=e),
        lambda e: env.folders("X", e),
        lambda e: env.time_zone("X", e),
    ],
)
def test_a_wrong_value_is_named(read):
    with pytest.raises(ImproperlyConfigured, match="MEMORYHUB_X"):
        read({"MEMORYHUB_X": "perhaps"})


def test_a_number_below_the_least_is_refused():
    with pytest.raises(ImproperlyConfigured, match="at least 1"):
        env.integer("X", 5, environ={"MEMORYHUB_X": "0"})


def test_a_list_is_split_at_commas_and_trimmed():
    assert env.words("X", "", {"MEMORYHUB_X": " a, ,b "}) == ["a", "b"]


def test_the_secret_is_made_once_and_readable_by_its_owner_only(tmp_path):
    first = env.secret("SECRET_KEY", tmp_path, {})
    assert env.secret("SECRET_KEY", tmp_path, {}) == first
    assert len(first) >= 50
    assert (tmp_path / ".memoryhub" / "secret_key").stat().st_mode & 0o777 == 0o600


def test_a_secret_given_or_in_a_file_wins_over_the_kept_one(tmp_path):
    file = tmp_path / "key"
    file.write_text("from a file\n")
    assert env.secret("SECRET_KEY", tmp_path, {"MEMORYHUB_SECRET_KEY": "given"}) == "given"
    assert env.secret("SECRET_KEY", tmp_path, {"MEMORYHUB_SECRET_KEY_FILE": str(file)}) == "from a file"
    with pytest.raises(ImproperlyConfigured, match="SECRET_KEY_FILE"):
        env.secret("SECRET_KEY", tmp_path, {"MEMORYHUB_SECRET_KEY_FILE": str(tmp_path / "none")})


def test_the_systems_zone_is_one_that_exists():
    from zoneinfo import ZoneInfo

    assert ZoneInfo(env.system_zone())


def test_a_home_that_is_not_there_is_not_made_for_a_secret(tmp_path):
    assert env.secret("SECRET_KEY", tmp_path / "away", {}) != env.secret("SECRET_KEY", tmp_path / "away", {})
    assert not (tmp_path / "away").exists()


@pytest.mark.parametrize("name", ["TIME_ZONE", "DATABASE_URL", "LOCK_SECONDS", "HOME", "DEBUG", "WORKSPACE_ROOTS"])
def test_a_wrong_setting_ends_a_command_with_one_line_that_names_it(name):
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("MEMORYHUB_", "DJANGO_"))}
    ran = subprocess.run(
        [sys.executable, "manage.py", "check"],
        cwd=settings.BASE_DIR,
        env=clean | {f"MEMORYHUB_{name}": "per haps"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 1
    assert f"MEMORYHUB_{name}" in ran.stderr
    assert len(ran.stderr.splitlines()) == 1


def manage(*words, **environ):
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("MEMORYHUB_", "DJANGO_"))}
    return subprocess.run(
        [sys.executable, "manage.py", *words],
        cwd=settings.BASE_DIR,
        env=clean | environ,
        capture_output=True,
        text=True,
        check=False,
    )


def test_migrate_makes_a_home_that_is_its_owners_alone(tmp_path):
    home = tmp_path / "deep" / "home"
    ran = manage("migrate", "--verbosity", "0", MEMORYHUB_HOME=str(home))
    assert (ran.returncode, ran.stderr) == (0, "")
    assert home.stat().st_mode & 0o777 == 0o700


def test_asking_for_help_or_a_demo_without_a_named_home_makes_none(tmp_path):
    assert manage("migrate", "--help", MEMORYHUB_HOME=str(tmp_path / "home")).returncode == 0
    assert manage("demo", "--no-serve", HOME=str(tmp_path)).returncode == 2
    assert list(tmp_path.iterdir()) == []


def test_a_home_that_cannot_be_made_is_one_line(tmp_path):
    (tmp_path / "file").write_text("x")
    ran = manage("migrate", MEMORYHUB_HOME=str(tmp_path / "file" / "home"))
    assert (ran.returncode, len(ran.stderr.splitlines()), "MEMORYHUB_HOME" in ran.stderr) == (1, 1, True)


def test_a_database_address_is_never_printed(tmp_path):
    ran = manage("check", MEMORYHUB_DATABASE_URL="postgre://u:geheim@h/x", MEMORYHUB_HOME=str(tmp_path))
    assert (ran.returncode, "geheim" in ran.stderr, "MEMORYHUB_DATABASE_URL" in ran.stderr) == (1, False, True)


def test_the_demo_on_a_fresh_machine_and_once_more(tmp_path):
    home = tmp_path / "demo"
    first, second = (
        json.loads(manage("demo", "--no-serve", "--json", MEMORYHUB_HOME=str(home)).stdout) for _ in range(2)
    )
    assert first == second
    assert first["waiting"] == 2
    assert (home / "agents" / "coach" / "MEMORY.md").exists()
    (home / "MEMORY.md").write_bytes(b"\xff")
    assert manage("demo", "--no-serve", MEMORYHUB_HOME=str(home)).returncode == 0


def test_the_demo_leaves_a_home_of_somebodys_own_alone(tmp_path):
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "MEMORY.md").write_text("mine")
    ran = manage("demo", "--no-serve", MEMORYHUB_HOME=str(tmp_path / "home"))
    assert ran.returncode == 2
    assert (tmp_path / "home" / "MEMORY.md").read_text() == "mine"
