"""The desk: what a write leaves on disk and in the history, and what it refuses."""

import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from django.db import DatabaseError, connection, transaction
from django.db.models.query import QuerySet

from apps import access
from apps.errors import Busy, Conflict, NotFound
from apps.ledger import locks, queries, services
from apps.ledger.models import Batch, Text
from apps.vault import files, layout, lock
from apps.vault.changes import Change, appended
from apps.vault.layout import Scope

pytestmark = pytest.mark.django_db(transaction=True)

ME = access.operator(via="test")


def write(scope: Scope, *changes: Change, reason: str = "") -> Batch | None:
    with services.writing(scope) as desk:
        return desk.write(changes, actor=ME, reason=reason)


def hidden(root: Path) -> list[Path]:
    return list(root.rglob(layout.TEMPORARY + "*"))


def test_a_batch_tells_who_wrote_what_why_and_where(scope: Scope) -> None:
    (scope.root / "MEMORY.md").write_bytes(b"old\n")
    batch = write(scope, Change("MEMORY.md", b"old\n", b"new\n"), Change("memory/x.md", None, b"x\n"), reason="because")
    assert batch
    assert (scope.root / "MEMORY.md").read_bytes() == b"new\n"
    [row] = queries.history(access.operator(), scope="coach")
    assert (row.public_id, row.state, row.scope, row.root) == (
        batch.public_id,
        "done",
        "coach",
        str(scope.root),
    )
    assert (row.actor_kind, row.actor, row.via, row.reason) == ("staff", "operator", "test", "because")
    assert row.finished_at
    assert [(one.path, one.sha_before, one.sha_after) for one in row.changes.all()] == [
        ("MEMORY.md", files.sha256(b"old\n"), files.sha256(b"new\n")),
        ("memory/x.md", None, files.sha256(b"x\n")),
    ]
    shown = [(one.path, one.before, one.after) for one in map(queries.version, row.changes.all())]
    assert shown == [("MEMORY.md", b"old\n", b"new\n"), ("memory/x.md", None, b"x\n")]


def test_a_write_that_changes_nothing_leaves_no_row(scope: Scope) -> None:
    assert write(scope, Change("MEMORY.md", None, None)) is None
    (scope.root / "MEMORY.md").write_bytes(b"same\n")
    assert write(scope, Change("MEMORY.md", b"same\n", b"same\n")) is None
    assert not Batch.objects.exists()


def test_an_append_keeps_its_offset_and_bytes_and_no_text(scope: Scope) -> None:
    note = b"# 2026-09-19\n" + b"- a long note\n" * 5_000
    (scope.root / "memory" / "2026-09-19.md").write_bytes(note)
    path = "memory/2026-09-19.md"
    batch = write(scope, appended(path, note, note + b"- more\n"))
    assert batch
    row = batch.changes.get()
    assert (row.is_append, row.offset, bytes(row.added or b"")) == (True, len(note), b"- more\n")
    assert not Text.objects.exists()
    assert [queries.version(row)] == [queries.Version(path, b"", b"- more\n", True)]


def test_a_text_is_kept_once_however_many_batches_name_it(scope: Scope) -> None:
    texts = [b"one\n" * 100, b"two\n" * 100]
    now: bytes | None = None
    for number in range(6):
        then = texts[number % 2]
        write(scope, Change("MEMORY.md", now, then))
        now = then
    assert Text.objects.count() == 2
    assert Batch.objects.count() == 6


@pytest.mark.parametrize("text", [b"", b"\xff\x00\xfe", "ศาลา 预算 đường\r\n".encode(), b"x" * 3_000_000])
def test_any_bytes_come_back_from_the_history(scope: Scope, text: bytes) -> None:
    batch = write(scope, Change("memory/x.md", None, text))
    assert batch
    assert queries.version(batch.changes.get()).after == text


def test_a_file_changed_since_it_was_read_is_left_alone_and_the_batch_fails(scope: Scope) -> None:
    (scope.root / "MEMORY.md").write_bytes(b"old\n")
    (scope.root / "memory" / "x.md").write_bytes(b"edited meanwhile\n")
    changes = [Change("MEMORY.md", b"old\n", b"new\n"), Change("memory/x.md", b"x\n", b"y\n")]
    with pytest.raises(Conflict) as caught:
        write(scope, *changes)
    assert caught.value.details["path"] == "memory/x.md"
    assert (scope.root / "MEMORY.md").read_bytes() == b"old\n"
    assert (scope.root / "memory" / "x.md").read_bytes() == b"edited meanwhile\n"
    assert [batch.state for batch in Batch.objects.all()] == ["failed"]
    assert hidden(scope.root) == []


def test_what_is_staged_and_not_published_leaves_no_file(scope: Scope) -> None:
    with services.writing(scope) as desk:
        desk.stage([Change("MEMORY.md", None, b"x"), Change("memory/y.md", None, b"y")])
        assert len(hidden(scope.root)) == 2
    assert hidden(scope.root) == []


def test_staging_of_several_files_that_fails_at_one_leaves_none(scope: Scope) -> None:
    (scope.root / "memory" / "x.md").symlink_to("elsewhere.md")
    with services.writing(scope) as desk:
        with pytest.raises(NotFound):
            desk.stage([Change("MEMORY.md", None, b"x"), Change("memory/x.md", None, b"y")])
        assert hidden(scope.root) == []


def test_an_error_of_the_caller_writes_nothing_and_frees_the_lock(scope: Scope) -> None:
    def fail_before_the_commit() -> None:
        with services.writing(scope) as desk:
            prepared = desk.stage([Change("MEMORY.md", None, b"x")])
            with transaction.atomic(durable=True):
                desk.record(prepared, actor=ME)
                raise KeyError

    with pytest.raises(KeyError):
        fail_before_the_commit()
    assert not Batch.objects.exists()
    assert not (scope.root / "MEMORY.md").exists()
    assert hidden(scope.root) == []
    assert lock.free(locks.lock_path("coach"))


def test_writing_is_not_reentrant_and_says_so_at_once(scope: Scope) -> None:
    with services.writing(scope), pytest.raises(RuntimeError, match="coach"), services.writing(scope):
        pass


def test_the_desk_is_not_opened_inside_a_transaction(scope: Scope) -> None:
    with transaction.atomic(), pytest.raises(RuntimeError), services.writing(scope) as desk:
        desk.write([Change("MEMORY.md", None, b"x")], actor=ME)
    assert not Batch.objects.exists()
    assert not (scope.root / "MEMORY.md").exists()


def in_thread(work: Callable[[], object]) -> list[BaseException]:
    """Run in a thread of its own, with a connection of its own; what it raised."""
    raised: list[BaseException] = []

    def guarded() -> None:
        try:
            work()
        except BaseException as error:
            raised.append(error)
        finally:
            connection.close()

    thread = threading.Thread(target=guarded)
    thread.start()
    thread.join()
    return raised


def test_a_second_writer_is_busy_after_the_wait_and_another_scope_is_not(
    crew: tuple[Scope, Scope], settings: object
) -> None:
    master, coach = crew
    settings.MEMORYHUB_LOCK_SECONDS = 0.2  # type: ignore[attr-defined]
    with services.writing(coach):
        [error] = in_thread(lambda: write(coach, Change("MEMORY.md", None, b"x")))
        assert isinstance(error, Busy)
        assert in_thread(lambda: write(master, Change("MEMORY.md", None, b"x"))) == []
    assert in_thread(lambda: write(coach, Change("MEMORY.md", None, b"x"))) == []


def test_a_second_batch_of_one_scope_is_busy_even_if_the_lock_vanished(scope: Scope) -> None:
    with services.writing(scope) as desk:
        one = desk.stage([Change("MEMORY.md", None, b"x")])
        with transaction.atomic(durable=True):
            desk.record(one, actor=ME)
        two = desk.stage([Change("memory/y.md", None, b"y")])
        with pytest.raises(Busy), transaction.atomic(durable=True):
            desk.record(two, actor=ME)
    assert [batch.state for batch in Batch.objects.all()] == ["writing"]


def test_a_database_that_refuses_done_does_not_spoil_a_finished_write(
    scope: Scope, monkeypatch: pytest.MonkeyPatch
) -> None:
    update = QuerySet.update

    def refusing(rows: QuerySet[Batch], **values: object) -> int:
        if values.get("state") == Batch.State.DONE:
            raise DatabaseError("the connection is gone")
        return update(rows, **values)

    with monkeypatch.context() as patched:
        patched.setattr(QuerySet, "update", refusing)
        assert write(scope, Change("MEMORY.md", None, b"x\n"))
    assert (scope.root / "MEMORY.md").read_bytes() == b"x\n"
    assert Batch.objects.get().state == "writing"
    write(scope, Change("memory/y.md", None, b"y\n"))
    assert {batch.state for batch in Batch.objects.all()} == {"done"}


def test_history_is_filtered_and_continued_newest_first(crew: tuple[Scope, Scope]) -> None:
    master, coach = crew
    for number in range(3):
        write(coach, Change(f"memory/{number}.md", None, b"x"))
        write(master, Change(f"memory/{number}.md", None, b"x"))
    everyone, limited = access.operator(), access.Actor("token", "t", frozenset({"read"}), frozenset({"coach"}))
    paths = lambda rows: [change.path for row in rows for change in row.changes.all()]  # noqa: E731
    assert paths(queries.history(everyone, scope="coach")) == ["memory/2.md", "memory/1.md", "memory/0.md"]
    assert {row.scope for row in queries.history(limited)} == {"coach"}
    assert queries.history(limited, scope="default") == []
    assert [row.scope for row in queries.history(everyone, path="memory/1.md")] == ["default", "coach"]
    first, *rest = queries.history(everyone, limit=6)
    assert queries.history(everyone, before=first.public_id) == rest
    assert queries.history(everyone, by="nobody") == []
