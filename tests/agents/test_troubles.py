"""Files that cannot be read as what they are: kept, named with line and reason, never an error."""

import pytest

from apps.agents import store
from apps.vault import layout


@pytest.fixture
def root(tmp_path):
    (tmp_path / "memory").mkdir()
    return tmp_path.resolve()


def told(root):
    return [(one.path, one.line) for one in store.troubles(root, "coach", layout.PERSONA)]


def test_a_sound_folder_has_none(root):
    (root / "MEMORY.md").write_text("# M\n\n---\n\nno frontmatter here: really\n")
    (root / "memory" / "2026-09-19.md").write_text("\n---\n\n## 09:10 stand-up: three items\n\n---\n")
    (root / "notes.txt").write_text("not ours")
    assert told(root) == []


def test_each_kind_of_trouble_is_named_with_its_line(root):
    (root / "MEMORY.md").write_bytes(b"# M\n- caf\xe9\n")
    (root / "memory.md").write_text("stray")
    (root / "memory" / "2026-09-19.md").write_bytes(b"a\nb\x00c\n")
    (root / "memory" / "plan.md").write_text("---\ntitle: Re: room\ntags: [a]\n---\nbody\n")
    (root / "memory" / "due.md").write_text("---\ndue: 2026-02-30\n---\nalpha\n")
    (root / "memory" / "gone.md").symlink_to(root / "nowhere")
    (root / "memory" / "folder.md").mkdir()
    assert told(root) == [
        ("MEMORY.md", 2),
        ("memory.md", 0),
        ("memory/2026-09-19.md", 2),
        ("memory/due.md", 2),
        ("memory/folder.md", 0),
        ("memory/gone.md", 0),
        ("memory/plan.md", 2),
    ]


def test_a_link_loop_ends(root):
    (root / "memory" / "loop").symlink_to(root / "memory")
    (root / "memory" / "2026-09-19.md").write_text("x")
    assert [note.day for note in store.notes(root)] == ["2026-09-19"]
    assert told(root) == [("memory/loop", 0)]


def test_names_and_folders_that_cannot_be_used_are_named_and_stand_in_nobodys_way(root):
    import os

    (root / "memory" / "2026-09-19.md").write_text("- one\n- two\n")
    (root / "memory" / "a\\b.md").write_text("- three\n")
    (root / "memory" / "linked").symlink_to("/etc")
    with open(os.fsencode(root / "memory") + b"/caf\xe9.md", "w") as file:
        file.write("- four\n")
    os.mkdir(os.fsencode(root / "memory") + b"/d\xff")
    assert {path for path, _ in told(root)} == {"memory/a\\b.md", "memory/linked", "memory/caf?.md", "memory/d?"}
    assert store.count_entries(root) == 2
    assert [note.day for note in store.notes(root)] == ["2026-09-19"]


def test_a_file_where_the_notes_should_be_is_named(tmp_path):
    (tmp_path / "memory").write_text("a file")
    assert told(tmp_path.resolve()) == [("memory", 0)]
