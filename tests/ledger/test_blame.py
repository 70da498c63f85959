"""Blame: which batch brought each line of a file, and which lines nobody in here wrote."""

import json
import random
from collections import Counter

import pytest
from django.core.management import CommandError, call_command

from apps import access
from apps.agents import services as agents
from apps.errors import NotFound, TooLarge
from apps.ledger import blame, services
from apps.ledger.models import Batch, Text
from apps.vault import files
from apps.vault.changes import Change, Precondition, appended
from apps.vault.layout import Scope

pytestmark = pytest.mark.django_db(transaction=True)

ME = access.operator(via="test")
PATH = "MEMORY.md"


def put(scope: Scope, text: str | bytes | None, path: str = PATH) -> str:
    """Replace the file through the desk; the id of the batch."""
    after = text.encode() if isinstance(text, str) else text
    with services.writing(scope) as desk:
        batch = desk.write([Change(path, desk.read(path), after)], actor=ME)
    assert batch
    return batch.public_id


def append(scope: Scope, text: str, path: str = PATH) -> str:
    with services.writing(scope) as desk:
        before = desk.read(path) or b""
        batch = desk.write([appended(path, before, before + text.encode())], actor=ME)
    assert batch
    assert batch.changes.get().is_append
    return batch.public_id


def outside(scope: Scope, text: str, path: str = PATH) -> None:
    (scope.root / path).write_text(text)


def origins(scope: Scope, path: str = PATH) -> list[blame.Origin]:
    return blame.blame(scope.id, path, (scope.root / path).read_bytes())


def told(scope: Scope, path: str = PATH) -> list[str]:
    """A word a line: the batch, `outside`, or nothing for a blank line."""
    return [one.batch.public_id if one.batch else "outside" if one.outside else "" for one in origins(scope, path)]


def test_each_line_has_the_batch_that_brought_it(scope: Scope) -> None:
    first = put(scope, "# Memory\n\n- tea\n- milk\n")
    second = put(scope, "# Memory\n\n- tea\n- oat milk\n- bread\n")
    assert told(scope) == [first, "", first, second, second]
    assert [(one.line, one.text) for one in origins(scope)][2:4] == [(3, "- tea"), (4, "- oat milk")]


def test_a_blank_line_belongs_to_nobody_and_is_not_edited_outside(scope: Scope) -> None:
    put(scope, "a\n\n \t\nb\n")
    blank = origins(scope)[1:3]
    assert [(one.batch, one.outside) for one in blank] == [(None, False), (None, False)]


def test_lines_edited_outside_are_nobodys_also_when_a_later_write_carried_them_along(scope: Scope) -> None:
    outside(scope, "by hand\n")
    first = put(scope, "by hand\nfirst\n")
    outside(scope, "by hand\nfirst\nby hand too\n")
    second = append(scope, "second\n")
    assert told(scope) == ["outside", first, "outside", second]
    outside(scope, "by hand\nfirst!\nby hand too\nsecond\n")
    assert told(scope) == ["outside", "outside", "outside", second]


def test_a_file_nothing_is_known_of_is_all_outside(scope: Scope) -> None:
    outside(scope, "one\n\ntwo")
    assert told(scope) == ["outside", "", "outside"]
    assert blame.blame(scope.id, PATH, b"") == []


def test_an_append_that_finished_the_last_line_brought_only_its_own(scope: Scope) -> None:
    first = put(scope, "- one")
    second = append(scope, "\n- two\n")
    assert told(scope) == [first, second]


def test_a_line_taken_out_and_written_again_is_the_later_writes(scope: Scope) -> None:
    put(scope, "a\nb\n")
    put(scope, "a\n")
    again = put(scope, "a\nb\n")
    assert told(scope)[1] == again


def test_a_file_deleted_and_made_again_begins_anew(scope: Scope) -> None:
    put(scope, "a\n")
    put(scope, None)
    again = put(scope, "a\n")
    assert told(scope) == [again]


def test_a_line_that_was_only_moved_keeps_its_origin(scope: Scope) -> None:
    first = put(scope, "a\nb\nc\n")
    put(scope, "c\nb\na\nd\n")
    assert told(scope)[:3] == [first] * 3


def test_what_an_undo_put_back_is_the_undos_and_says_what_it_undid(scope: Scope) -> None:
    first = put(scope, "a\nb\n")
    second = put(scope, "a\n")
    undo = agents.undo(second, actor=ME)
    assert told(scope) == [first, undo.public_id]
    brought = origins(scope)[1].batch
    assert brought
    assert brought.undoes == second
    agents.undo(undo.public_id, actor=ME)
    assert told(scope) == [first]


def test_equal_lines_are_counted_and_stay_where_each_write_put_them(scope: Scope) -> None:
    first = put(scope, "# Mon\n- none\n# Tue\n- x\n# Wed\n- none\n")
    second = put(scope, "# Mon\n- none\n# Tue\n- none\n# Wed\n- none\n")
    assert told(scope) == [first, first, first, second, first, first]
    third = put(scope, "- none\n# Mon\n- none\n# Tue\n- none\n# Wed\n- none\n")
    assert told(scope) == [third, first, first, first, second, first, first]


def test_of_equal_appended_lines_the_later_one_is_the_later_writes(scope: Scope) -> None:
    batches = [put(scope, "- tea\n"), append(scope, "- tea\n"), append(scope, "- tea\n- tea\n")]
    assert told(scope) == [batches[0], batches[1], batches[2], batches[2]]


def test_when_somebody_changed_how_many_equal_lines_there_are_the_last_are_the_newest_writes(scope: Scope) -> None:
    first = put(scope, "tea\n")
    second = put(scope, "tea\ntea\n")
    outside(scope, "tea\ntea\ntea\n")
    assert told(scope) == ["outside", first, second]
    outside(scope, "tea\n")
    assert told(scope) == [second]


def test_line_ends_and_the_byte_order_mark_are_no_part_of_a_line(scope: Scope) -> None:
    first = put(scope, "a\nb\n")
    put(scope, b"\xef\xbb\xbfa\r\nb\rc")
    assert told(scope)[:2] == [first, first]
    assert [one.text for one in origins(scope)] == ["a", "b", "c"]


def test_bytes_that_are_not_utf_8_and_odd_line_separators_do_not_shift_lines(scope: Scope) -> None:
    first = put(scope, b"\xff one\ntwo \xe2\x80\xa8 still two\nnul \x00\n")
    assert told(scope) == [first] * 3


def test_only_writes_that_are_done_count(scope: Scope) -> None:
    first = put(scope, "a\n")
    for state in (Batch.State.FAILED, Batch.State.STUCK, Batch.State.WRITING):
        Batch.objects.filter(public_id=first).update(state=state)
        assert told(scope) == ["outside"]
    Batch.objects.filter(public_id=first).update(state=Batch.State.DONE)
    assert told(scope) == [first]


def test_another_agents_or_another_files_write_is_never_named(crew: tuple[Scope, Scope]) -> None:
    master, coach = crew
    put(master, "same\n")
    put(coach, "same\n", path="memory/2026-09-19.md")
    outside(coach, "same\n")
    assert told(coach) == ["outside"]


def test_a_write_whose_text_is_no_longer_kept_is_passed_over(scope: Scope) -> None:
    first = put(scope, "a\n")
    put(scope, "a\nsecret\n")
    third = put(scope, "a\nsecret\nc\n")
    gone = files.sha256(b"a\nsecret\n")
    for name in ("before", "after"):
        Batch.changes.rel.related_model.objects.filter(**{f"{name}_id": gone}).update(**{name: None})
    Text.objects.filter(pk=gone).delete()
    assert told(scope) == [first, "outside", "outside"]
    fourth = append(scope, "d\n")
    assert told(scope) == [first, "outside", "outside", fourth]
    assert third != fourth


def test_it_reads_no_further_than_lines_are_left(scope: Scope, django_assert_num_queries) -> None:
    for number in range(5):
        put(scope, f"draft {number}\n")
    last = put(scope, "all new\nfrom here\n")
    with django_assert_num_queries(2):
        assert told(scope) == [last, last]


def test_a_thousand_appends_are_read_with_one_query_and_each_line_has_its_own(
    scope: Scope, django_assert_num_queries
) -> None:
    path = "memory/2026-09-19.md"
    lines = [f"- 10:{number % 60:02} entry {number}" for number in range(1_000)]
    batch = Batch.objects.get(public_id=put(scope, "# day\n", path=path))
    change = batch.changes.get()
    made = Batch.objects.bulk_create(
        [Batch(scope="coach", root=batch.root, state="done", actor_kind="token", actor="t", via="api") for _ in lines]
    )
    type(change).objects.bulk_create(
        [
            type(change)(batch=one, position=0, path=path, offset=0, added=f"{line}\n".encode())
            for one, line in zip(made, lines, strict=True)
        ]
    )
    outside(scope, "\n".join(["# day", *lines, ""]), path=path)
    with django_assert_num_queries(2):
        assert told(scope, path) == [batch.public_id, *(one.public_id for one in made)]


def test_no_batch_is_named_more_often_than_it_brought_a_line_whatever_was_written(scope: Scope) -> None:
    """Random histories against the rule itself, computed the slow way over every change."""
    rng = random.Random(7)
    words = ["a", "b", "c", "", "d"]
    for _ in range(25):
        rows = [rng.choice(words) for _ in range(rng.randrange(8))]
        text = "".join(f"{row}\n" for row in rows)
        if rng.random() < 0.3:
            outside(scope, text)
        elif (scope.root / PATH).exists() and rng.random() < 0.5:
            append(scope, f"{rng.choice(words)}\n{rng.choice(words)}\n")
        elif not (scope.root / PATH).exists() or (scope.root / PATH).read_text() != text:
            put(scope, text)
        if not (scope.root / PATH).exists():
            continue
        left = Counter(row for row in (scope.root / PATH).read_text().split("\n") if row)
        expected: Counter[tuple[str, str]] = Counter()
        for batch in Batch.objects.order_by("-pk"):
            change = batch.changes.get()
            before, after = (
                ("", bytes(change.added).decode())
                if change.is_append
                else tuple(side.content.decode() if side else "" for side in (change.before, change.after))
            )
            for row, times in (Counter(after.split("\n")) - Counter(before.split("\n"))).items():
                taken = min(times, left[row])
                if row and taken:
                    expected[row, batch.public_id] += taken
                    left[row] -= taken
        found = Counter((one.text, one.batch.public_id) for one in origins(scope) if one.batch)
        assert found == expected
        assert sum(one.outside for one in origins(scope)) == left.total()


def test_a_memory_that_has_another_letter_case_on_disk_is_blamed_under_that_name(scope: Scope) -> None:
    from apps.agents import reading

    (scope.root / "memory.md").write_text("old\n")
    agents.write_memory("coach", "old\nnew\n", actor=ME, when=Precondition())
    blamed = reading.blame("coach", "MEMORY.md", actor=ME)
    assert blamed.file.path == "memory.md"
    assert [one.batch is not None for one in blamed.origins] == [False, True]


def test_what_cannot_be_read_cannot_be_blamed(scope: Scope) -> None:
    from apps.agents import reading

    for agent, path in (("nobody", PATH), ("coach", PATH), ("coach", "memory/none.md"), ("coach", "secrets.txt")):
        with pytest.raises(NotFound):
            reading.blame(agent, path, actor=ME)
    outside(scope, "x\n" * (reading.MOST_LINES + 1))
    with pytest.raises(TooLarge, match=r"this has 5,001"):
        reading.blame("coach", PATH, actor=ME)


def test_the_command_prints_a_line_a_line_and_says_what_came_from_outside(scope: Scope, capsys) -> None:
    batch = put(scope, "- tea\n")
    outside(scope, "- tea\n\n- \x1b[31mred\n")
    call_command("history", "blame", "--agent", "coach")
    first, blank, last = capsys.readouterr().out.split("\n")[:3]
    assert first.split() == [*first.split()[:2], "operator", batch, "1", "-", "tea"]
    assert blank.split() == ["2"]
    assert last.split() == ["outside", "3", "-", "\ufffd[31mred"]
    call_command("history", "blame", "--agent", "coach", "--path", "MEMORY.md", "--json")
    told = json.loads(capsys.readouterr().out)
    assert [(line["batch"], line["outside"]) for line in told["lines"]] == [(batch, False), (None, False), (None, True)]
    assert told["lines"][2]["text"] == "- \x1b[31mred"


def test_the_command_ends_with_1_for_what_is_not_there(scope: Scope) -> None:
    for agent, path in (("nobody", PATH), ("coach", "memory/none.md")):
        with pytest.raises(CommandError, match="There is no") as refused:
            call_command("history", "blame", "--agent", agent, "--path", path)
        assert refused.value.returncode == 1
