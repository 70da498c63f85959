"""A real Chromium against the real server; pictures go to `test-results/` to be looked at."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings as django_settings

from apps.agents import registry
from tests.jobs.running import consolidate

PICTURES = Path(django_settings.BASE_DIR) / "test-results"


@pytest.fixture(scope="session")
def chromium():
    """Debian's browser, driven by playwright. Its own loop runs in this thread, so Django must be told that is fine."""
    from playwright.sync_api import sync_playwright

    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
    flags = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=flags)
        yield browser
        browser.close()


@pytest.fixture
def page(chromium) -> Iterator:
    """A page whose own errors fail the test."""
    context = chromium.new_context(viewport={"width": 1440, "height": 1000})
    page = context.new_page()
    page.set_default_timeout(10_000)
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    yield page
    context.close()
    assert faults == []


@pytest.fixture
def bakery(home, db) -> Path:
    """The example home with its two proposals waiting."""
    shutil.copytree(Path(django_settings.BASE_DIR) / "fixtures" / "homes" / "bakery", home, dirs_exist_ok=True)
    for memory in home.glob("**/MEMORY.md"):
        os.utime(memory, (0, 0))
    registry.sync()
    for agent in ("default", "coach"):
        assert consolidate(agent).outcome == "proposed"
    return home


@pytest.fixture
def reviewer(db):
    from django.contrib.auth.models import User

    return User.objects.create_superuser("hanh", password="bánh mì")
