"""Rolling forward: every file is compared before one is touched, and repeating is harmless."""

from collections.abc import Sequence

import pytest
from django.db import transaction

from apps import access
from apps.errors import Busy
from apps.ledger import recovery, services
from apps.ledger.models import Batch
from apps.vault import layout
from apps.vault.changes import Change, appended
from apps.vault.layout import Scope

pytestmark = pytest.mark.django_db(transaction=True)

ME = access.operator()
OLD = {"MEMORY.md": b"old\n", "memory/gone.md": b"gone\n", "memory/2026-09-19.md": b"- one"}
NEW = {"MEMORY.md": b"new\n", "memory/made.md": b"made\n", "memory/2026-09-19.md": b"- one\n- two\n"}


def interrupted(scope: Scope, placed: Sequence[str] = ()) -> Batch:
    """A batch that was committed; its writer died when the files of `placed` were in place."""
    for path, text in OLD.items():
        (scope.root / path).write_bytes(text)
    note = "memory/2026-09-19.md"
    changes = [
        Change("MEMORY.md", OLD["MEMORY.md"], NEW["MEMORY.md"]),
        Change("memory/made.md", None, NEW["memory/made.md"]),
        Change("memory/gone.md", OLD["memory/gone.md"], None),
        appended(note, OLD[note], NEW[note]),
    ]
    with services.writing(scope) as desk:
        prepared = desk.stage(changes)
        with transaction.atomic(durable=True):
            batch = desk.record(prepared, actor=ME)
    for path in placed:
        place(scope, path, NEW.get(path))
    return batch


def place(scope: Scope, path: str, text: bytes | None) -> None:
    if text is None:
        (scope.root / path).unlink(missing_ok=True)
    else:
        (scope.root / path).write_bytes(text)


def disk(scope: Scope) -> dict[str, bytes]:
    found = [path for path in scope.root.rglob("*.md") if not path.name.startswith(layout.TEMPORARY)]
    return {str(path.relative_to(scope.root)): path.read_bytes() for path in found}


def state(batch: Batch) -> str:
    batch.refresh_from_db()
    return batch.state


PATHS = ["MEMORY.md", "memory/made.md", "memory/gone.md", "memory/2026-09-19.md"]


@pytest.mark.parametrize("count", range(5))
def test_whatever_was_in_place_the_next_writer_does_the_rest(scope: Scope, count: int) -> None:
    batch = interrupted(scope, PATHS[:count])
    with services.writing(scope) as desk:
        # The new writer already sees the finished files.
        assert desk.read("MEMORY.md") == NEW["MEMORY.md"]
    assert (state(batch), disk(scope)) == ("done", NEW)
    with services.writing(scope):
        pass
    assert (state(batch), disk(scope)) == ("done", NEW)


def test_files_put_in_place_in_another_order_are_finished_too(scope: Scope) -> None:
    batch = interrupted(scope, [PATHS[3], PATHS[1]])
    assert services.recover() == ([batch.public_id], [])
    assert (state(batch), disk(scope)) == ("done", NEW)


@pytest.mark.parametrize("path", PATHS)
def test_one_file_that_somebody_changed_stops_it_before_anything_is_touched(scope: Scope, path: str) -> None:
    batch = interrupted(scope)
    place(scope, path, b"somebody else\n")
    with services.writing(scope):
        pass
    assert (state(batch), disk(scope)) == ("stuck", {**OLD, path: b"somebody else\n"})


def test_a_link_in_the_place_of_a_file_makes_it_stuck(scope: Scope) -> None:
    batch = interrupted(scope)
    (scope.root / "MEMORY.md").unlink()
    (scope.root / "MEMORY.md").symlink_to("memory/gone.md")
    with services.writing(scope):
        pass
    assert state(batch) == "stuck"
    assert (scope.root / "memory" / "gone.md").read_bytes() == b"gone\n"


def test_recovery_that_is_refused_names_the_file_and_waits(scope: Scope) -> None:
    batch = interrupted(scope)
    # A folder of the batch's path cannot be made, because a file has its name in another letter case.
    (scope.root / "memory" / "MADE.md").write_bytes(b"twin\n")
    with pytest.raises(Busy) as caught, services.writing(scope):
        pass
    assert caught.value.code == "recovery_failed"
    assert (caught.value.details["path"], caught.value.details["batch"]) == ("memory/made.md", batch.public_id)
    assert state(batch) == "writing"
    assert disk(scope)["memory/MADE.md"] == b"twin\n"
    (scope.root / "memory" / "MADE.md").unlink()
    assert services.recover() == ([batch.public_id], [])
    assert disk(scope) == NEW


def test_recovery_goes_to_the_root_the_batch_was_made_for(crew: tuple[Scope, Scope]) -> None:
    master, coach = crew
    batch = interrupted(coach)
    moved = Scope(coach.id, master.root, "UTC")
    with services.writing(moved):
        pass
    assert (state(batch), disk(coach)) == ("done", NEW)
    assert not (master.root / "MEMORY.md").exists()


def test_one_scope_that_cannot_be_finished_does_not_hold_up_another(crew: tuple[Scope, Scope]) -> None:
    master, coach = crew
    stopped, fine = interrupted(coach), interrupted(master)
    aside = coach.root.with_name("aside")
    coach.root.rename(aside)
    handled, [error] = services.recover()
    assert (handled, error.details["batch"]) == ([fine.public_id], stopped.public_id)
    assert (state(stopped), state(fine)) == ("writing", "done")


@pytest.mark.parametrize("count", range(5))
def test_standings_tell_how_each_file_stands(scope: Scope, count: int) -> None:
    batch = interrupted(scope, PATHS[:count])
    found = [(one.path, one.standing) for one in recovery.standings(batch)]
    assert found == [(path, "after" if place < count else "before") for place, path in enumerate(PATHS)]
