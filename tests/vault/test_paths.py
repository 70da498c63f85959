"""A path either names a place inside the root, or is refused; links lead nowhere."""

import os
import socket
import threading
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings as limits
from hypothesis import strategies as st

from apps.errors import Conflict, Invalid, NotFound, StorageFailed
from apps.vault import files, paths

OUTSIDE = {"x.md": b"secret\n", "y.md": b"also secret\n"}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path.resolve() / "root"
    folder.mkdir()
    return folder


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    folder = tmp_path.resolve() / "elsewhere"
    folder.mkdir()
    for name, content in OUTSIDE.items():
        (folder / name).write_bytes(content)
    return folder


REFUSED = [
    "",
    "/",
    "/etc/passwd",
    "//etc/passwd",
    ".",
    "..",
    "../../etc/passwd",
    "a/../../b",
    "a/..",
    "a/./b.md",
    "..%2f..%2fb",
    "..\\b",
    "a\\b.md",
    "C:\\x.md",
    "a//b.md",
    "a/",
    "notes\x00.md",
    "a\nb.md",
    "a\tb.md",
    "a\x7fb.md",
    "a\x85b.md",
    "\ud800.md",
    "a\udfff.md",
    ".hidden.md",
    ".memoryhub/secret_key",
    "memory/.obsidian/x.md",
    ".mh-0011223344556677",
    "a" * 256,
    "a/" + "b" * 253 + ".md",
    # 263 bytes: one more than a disk holds. Composed is what counts, since that is how names are written here.
    "é" * 130 + ".md",
    "/".join("a" * 17),
]


@pytest.mark.parametrize("path", REFUSED)
def test_a_path_that_leaves_the_root_or_hides_is_refused_with_its_field(path: str) -> None:
    with pytest.raises(Invalid) as caught:
        paths.clean(path, field="name")
    assert (caught.value.code, caught.value.details) == ("bad_name", {"field": "name"})


@pytest.mark.parametrize("path", REFUSED)
def test_reading_staging_and_publishing_refuse_what_clean_refuses(root: Path, path: str) -> None:
    with pytest.raises(Invalid):
        files.read(root, path)
    with pytest.raises(Invalid):
        files.stage(root, path, b"x")
    with pytest.raises(Invalid):
        files.publish(root, files.Staged(path, ""))
    assert list(root.iterdir()) == []


@pytest.mark.parametrize(
    "path",
    [
        "MEMORY.md",
        "memory/2026-09-19-plan.md",
        "memory/wiki/entities/预算计划.md",
        "memory/Đường sắt.md",
        "memory/ราคา.md",
        "%2e%2e.md",
        "a..b/c...md",
        "a" * 252 + ".md",
        "/".join("a" * 16),
    ],
)
def test_a_name_in_any_script_is_accepted_and_stays_as_it_is(root: Path, path: str) -> None:
    assert paths.clean(path) == path
    files.replace(root, path, b"text\n")
    assert files.read(root, path) == b"text\n"
    assert (root / path).read_bytes() == b"text\n"


@given(st.text(max_size=40) | st.text("./\\a%2f\x00é\u0301~", max_size=20))
@limits(max_examples=100, deadline=None)
def test_whatever_clean_lets_through_stays_below_the_root(path: str) -> None:
    try:
        cleaned = paths.clean(path)
    except Invalid:
        return
    assert unicodedata.is_normalized("NFC", cleaned)
    assert os.path.normpath(os.path.join("/root", cleaned)) == "/root/" + cleaned
    assert not any(part.startswith(".") for part in cleaned.split("/"))


def _link(root: Path, shape: str, outside: Path) -> str:
    """Put a link of this shape into the root; returns a path that leads through it."""
    if shape == "folder outside":
        (root / "shared").symlink_to(outside)
        return "shared/x.md"
    if shape == "folder inside":
        (root / "real").mkdir()
        (root / "real" / "x.md").write_bytes(b"inside\n")
        (root / "shared").symlink_to("real")
        return "shared/x.md"
    if shape == "file outside":
        (root / "today.md").symlink_to(outside / "x.md")
        return "today.md"
    if shape == "file that is not there":
        (root / "today.md").symlink_to(outside / "new.md")
        return "today.md"
    if shape == "deep":
        (root / "a" / "b").mkdir(parents=True)
        (root / "a" / "b" / "c").symlink_to(outside)
        return "a/b/c/x.md"
    if shape == "loop of folders":
        (root / "one").symlink_to("two")
        (root / "two").symlink_to("one")
        return "one/two/one/x.md"
    if shape == "folder that holds itself":
        (root / "self").symlink_to(".")
        return "self/self/x.md"
    (root / "me.md").symlink_to("me.md")
    return "me.md"


SHAPES = [
    "folder outside",
    "folder inside",
    "file outside",
    "file that is not there",
    "deep",
    "loop of folders",
    "folder that holds itself",
    "file that is itself",
]


@pytest.mark.parametrize("shape", SHAPES)
def test_no_link_is_followed_for_reading_writing_deleting(root: Path, outside: Path, shape: str) -> None:
    path = _link(root, shape, outside)
    actions = [
        lambda: files.read(root, path),
        lambda: files.stage(root, path, b"x"),
        lambda: files.publish(root, files.Staged(path, "")),
        lambda: files.replace(root, path, None),
    ]
    for action in actions:
        with pytest.raises(NotFound) as caught:
            action()
        assert caught.value.code == "link_refused"
    assert {entry.name: entry.read_bytes() for entry in outside.iterdir()} == OUTSIDE
    assert not [entry for entry in root.rglob("*") if entry.name.startswith(".mh-")]


@pytest.mark.parametrize("shape", SHAPES)
def test_a_listing_ends_and_never_shows_what_lies_behind_a_link(root: Path, outside: Path, shape: str) -> None:
    path = _link(root, shape, outside)
    found = files.listing(root, deep=True)
    assert all(file.problem for file in found if (root / file.path).is_symlink())
    assert [file.path for file in found if not file.problem] == (["real/x.md"] if shape == "folder inside" else [])
    assert [file.path for file in found if file.problem] == ([path] if "/" not in path else [])


def test_a_linked_root_is_refused(root: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(root)
    with pytest.raises(StorageFailed) as caught:
        files.read(link, "MEMORY.md")
    assert caught.value.code == "root_missing"


def test_a_missing_root_is_named_and_never_made(tmp_path: Path) -> None:
    with pytest.raises(StorageFailed) as caught:
        files.stage(tmp_path / "gone", "MEMORY.md", b"x")
    assert caught.value.code == "root_missing"
    assert not (tmp_path / "gone").exists()


def test_a_link_swapped_in_while_reading_and_deleting_never_leads_outside(root: Path, outside: Path) -> None:
    (root / "shared").mkdir()
    (root / "shared" / "x.md").write_bytes(b"inside\n")
    stop = threading.Event()

    def swap() -> None:
        while not stop.is_set():
            os.rename(root / "shared", root / "aside")
            os.symlink(outside, root / "shared")
            os.unlink(root / "shared")
            os.rename(root / "aside", root / "shared")

    swapper = threading.Thread(target=swap)
    swapper.start()
    seen: set[bytes | str | None] = set()
    try:
        # At least 3,000 rounds, and on until a busy machine has let both be met.
        for number in range(300_000):
            if number >= 3_000 and {b"inside\n", "link_refused"} <= seen:
                break
            try:
                seen.add(files.read(root, "shared/x.md"))
                files.publish(root, files.Staged("shared/y.md", ""))
            except NotFound as error:
                seen.add(error.code)
    finally:
        stop.set()
        swapper.join()
    assert {entry.name: entry.read_bytes() for entry in outside.iterdir()} == OUTSIDE
    # The folder and the link were both really met.
    assert {b"inside\n", "link_refused"} <= seen <= {b"inside\n", "link_refused", None, "not_found"}


def test_a_link_swapped_in_between_check_and_open_is_refused(
    root: Path, outside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "shared").mkdir()
    looked_up = paths.on_disk

    def swapped(descriptor: int, name: str) -> str:
        found = looked_up(descriptor, name)
        if name == "shared":
            os.rename(root / "shared", root / "aside")
            os.symlink(outside, root / "shared")
        return found

    monkeypatch.setattr(paths, "on_disk", swapped)
    with pytest.raises(NotFound) as caught:
        files.stage(root, "shared/x.md", b"x")
    assert caught.value.code == "link_refused"
    assert {entry.name: entry.read_bytes() for entry in outside.iterdir()} == OUTSIDE


@pytest.mark.parametrize("sort", ["pipe", "socket", "folder"])
def test_what_is_no_plain_file_is_refused_at_once(root: Path, sort: str) -> None:
    path = root / "odd.md"
    if sort == "pipe":
        os.mkfifo(path)
    elif sort == "socket":
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(str(path))
    else:
        path.mkdir()
    for action in (lambda: files.read(root, "odd.md"), lambda: files.stage(root, "odd.md", b"x")):
        with pytest.raises(NotFound) as caught:
            action()
        assert caught.value.code == "link_refused"
    assert [file.problem for file in files.listing(root)] == ["It is no plain file."]


def test_a_file_used_as_a_folder_is_refused(root: Path) -> None:
    (root / "a.md").write_bytes(b"")
    with pytest.raises(NotFound) as caught:
        files.stage(root, "a.md/b.md", b"x")
    assert caught.value.code == "link_refused"


COMPOSED = "Café Việt.md"
FORMS = {
    "composed": COMPOSED,
    "decomposed": unicodedata.normalize("NFD", COMPOSED),
    # What Vietnamese keyboards of old type: ê with its own accent, then the tone as a mark.
    "half composed": "Caf\u00e9 Vi\u00ea\u0323t.md",
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("asked", FORMS)
def test_one_name_in_any_unicode_form_is_one_file(root: Path, form: str, asked: str) -> None:
    (root / FORMS[form]).write_bytes(b"old\n")
    path = paths.clean(FORMS[asked])
    assert files.read(root, path) == b"old\n"
    files.replace(root, path, b"new\n")
    assert os.listdir(root) == [FORMS[form]]
    assert (root / FORMS[form]).read_bytes() == b"new\n"
    assert [(file.path, file.problem) for file in files.listing(root)] == [(COMPOSED, "")]


@pytest.mark.parametrize("form", FORMS)
def test_a_folder_is_found_in_any_unicode_form(root: Path, form: str) -> None:
    folder = FORMS[form].removesuffix(".md")
    (root / folder).mkdir()
    files.replace(root, "Café Việt/x.md", b"x\n")
    assert os.listdir(root) == [folder]


def test_a_compatibility_character_of_japanese_names_is_found_on_disk(root: Path) -> None:
    (root / "\ufa19田.md").write_bytes(b"old\n")
    listed = files.listing(root)[0].path
    assert files.read(root, listed) == b"old\n"


def test_two_files_of_one_name_are_both_listed_and_only_one_is_without_a_problem(root: Path) -> None:
    (root / FORMS["composed"]).write_bytes(b"composed\n")
    (root / FORMS["decomposed"]).write_bytes(b"decomposed text\n")
    found = files.listing(root)
    assert [file.path for file in found] == [COMPOSED, COMPOSED]
    assert sorted(bool(file.problem) for file in found) == [False, True]
    [read] = [file for file in found if not file.problem]
    assert read.size == len(files.read(root, COMPOSED) or b"") == len(b"composed\n")


@pytest.mark.parametrize(
    ("there", "new"),
    [
        ("notes.md", "Notes.md"),
        ("MEMORY.md", "memory.md"),
        ("memory/x.md", "Memory/y.md"),
        (FORMS["decomposed"], "CAFÉ VIỆT.md"),
        ("straße.md", "STRASSE.md"),
    ],
)
def test_a_new_name_that_differs_only_in_letter_case_is_a_clash(root: Path, there: str, new: str) -> None:
    (root / there).parent.mkdir(exist_ok=True)
    (root / there).write_bytes(b"old\n")
    with pytest.raises(Conflict) as caught:
        files.stage(root, new, b"new\n")
    assert caught.value.code == "case_twin"
    assert [entry.read_bytes() for entry in root.rglob("*") if entry.is_file()] == [b"old\n"]


def test_both_spellings_that_are_there_already_can_be_written(root: Path) -> None:
    for name in ("MEMORY.md", "memory.md"):
        (root / name).write_bytes(b"old\n")
    files.replace(root, "MEMORY.md", b"upper\n")
    files.replace(root, "memory.md", b"lower\n")
    assert files.read(root, "MEMORY.md") == b"upper\n"
    assert files.read(root, "memory.md") == b"lower\n"
