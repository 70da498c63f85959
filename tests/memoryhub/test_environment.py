"""Settings from the environment: a wrong value stops the start and names its variable."""

import pytest
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
        lambda e: env.folder("X", "/", e),
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
