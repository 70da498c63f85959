"""Access to files is by kind: every path has exactly one kind, or none."""

from pathlib import Path

import pytest

from apps.vault import layout


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("MEMORY.md", "memory"),
        ("memory.md", "memory"),
        ("AGENTS.md", "persona"),
        ("USER.md", "persona"),
        ("agents.md", None),
        ("DREAMS.md", "dreams"),
        ("README.md", None),
        ("memory/2026-09-19.md", "note"),
        ("memory/2026-02-31.md", "note"),
        ("memory/2026-09-19-standup-2.md", "note"),
        ("memory/2026-09-19-Standup.md", "free"),
        ("memory/٢٠٢٦-٠٩-١٩.md", "free"),
        ("memory/2026-09-19.txt", None),
        ("memory/projects.md", "free"),
        ("memory/projects/2026-09-19.md", "free"),
        ("memory/wiki/entities/redis.md", "page"),
        ("memory/wiki/concepts/预算.md", "page"),
        ("memory/wiki/syntheses/x.md", "page"),
        ("memory/wiki/reports/lint.md", "report"),
        ("memory/wiki/index.md", "free"),
        ("memory/wiki/entities/a/b.md", "free"),
        ("bank/x.md", "bank"),
        ("users/owner/USER.md", None),
        ("users/owner/facts/x.md", None),
        ("agents/coach/MEMORY.md", None),
        ("memoryhub.sqlite3", None),
        ("memory", None),
        ("Memory/2026-09-19.md", None),
    ],
)
def test_a_path_of_an_agent_has_its_kind(path: str, kind: str | None) -> None:
    assert layout.kind("default", path) == kind


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("USER.md", "user"),
        ("user.md", None),
        ("facts/INDEX.md", "index"),
        ("facts/likes-tea.md", "fact"),
        ("facts/a/b.md", None),
        ("MEMORY.md", None),
        ("memory/2026-09-19.md", None),
        ("facts/x.txt", None),
    ],
)
def test_a_path_of_the_owner_has_its_kind(path: str, kind: str | None) -> None:
    assert layout.kind(layout.OWNER, path) == kind


def test_persona_files_are_those_the_setting_names() -> None:
    assert layout.kind("coach", "HEARTBEAT.md", ["HEARTBEAT.md"]) == "persona"
    assert layout.kind("coach", "SOUL.md", ["HEARTBEAT.md"]) is None


def test_the_master_lives_in_the_home_itself_and_others_below_it() -> None:
    home = Path("/home")
    assert layout.home_directory(home, "default") == home
    assert layout.home_directory(home, "coach") == home / "agents" / "coach"


def test_every_kind_of_file_lies_in_a_folder_that_is_looked_through() -> None:
    for scope, paths in {
        "coach": ["MEMORY.md", "memory/2026-09-19.md", "memory/wiki/entities/x.md", "bank/a/x.md", "DREAMS.md"],
        layout.OWNER: ["USER.md", "facts/x.md", "facts/INDEX.md"],
    }.items():
        for path in paths:
            folder = path.rpartition("/")[0]
            assert layout.kind(scope, path)
            assert any(folder == top or (deep and folder.startswith(top + "/")) for top, deep in layout.folders(scope))


def test_hidden_folders_of_memoryhub_are_no_memory() -> None:
    assert layout.kind("default", f"{layout.STATE}/index.md") is None


@pytest.mark.parametrize("stem", ["2026-09-19", "2026-09-19-travel-2", "2026-02-30", "0000-00-00-x", "2026-09-19--"])
def test_a_notes_name_is_a_day_with_or_without_a_suffix(stem):
    assert layout.kind("coach", f"memory/{stem}.md") == "note"


@pytest.mark.parametrize(
    "stem",
    ["today", "2026-9-19", "2026-09-19-", "2026-09-19-Travel", "2026-09-19-du-lịch", "x2026-09-19", "２０２６-09-19"],
)
def test_other_names_under_memory_are_free_files(stem):
    assert layout.kind("coach", f"memory/{stem}.md") == "free"
