"""A retry with the same key changes nothing; the same key for something else is refused."""

from datetime import timedelta
from typing import Any

import pytest
from django.db.models import F

from apps import access
from apps.access import Actor
from apps.agents import services as agents
from apps.errors import Conflict, Invalid
from apps.ledger.models import Batch
from apps.vault.changes import Precondition
from apps.vault.layout import Scope

pytestmark = pytest.mark.django_db(transaction=True)

ME = access.operator()


def save(text: str, key: str = "k", *, agent: str = "coach", actor: Actor = ME) -> agents.Saved:
    return agents.append_note(agent, text, actor=actor, key=key)


def times(scope: Scope, text: str) -> int:
    return sum(path.read_text().count(text) for path in (scope.root / "memory").glob("*.md"))


def test_a_repeat_answers_from_the_first_call_and_writes_nothing(scope: Scope) -> None:
    first = save("xin chào")
    save("in between", key="other")
    again = save("xin chào")
    assert (first.repeated, again.repeated) == (False, True)
    assert (again.batch, again.path, again.line) == (first.batch, first.path, first.line)
    assert times(scope, "xin chào") == 1
    assert Batch.objects.count() == 2


def test_the_same_key_with_another_body_is_a_conflict(scope: Scope) -> None:
    save("one")
    with pytest.raises(Conflict) as caught:
        save("two")
    assert caught.value.code == "idempotency_key_reused"
    with pytest.raises(Conflict):
        agents.write_memory("coach", "one", actor=ME, when=Precondition(), key="k")
    assert times(scope, "two") == 0


def test_without_a_key_the_same_line_is_saved_twice(scope: Scope) -> None:
    save("twice", key=None)
    save("twice", key=None)
    assert times(scope, "twice") == 2


def test_a_key_belongs_to_one_actor_and_one_scope(crew: tuple[Scope, Scope]) -> None:
    master, coach = crew
    token = Actor("token", "abc", frozenset({"write_notes"}))
    namesake = Actor("staff", "abc", frozenset({"write_notes"}))
    for text, agent, actor in [
        ("a", "coach", ME),
        ("b", "default", ME),
        ("c", "coach", token),
        ("d", "coach", namesake),
    ]:
        assert not save(text, agent=agent, actor=actor).repeated
    assert [times(coach, f" {text}\n") for text in "acd"] == [1, 1, 1]
    assert times(master, " b\n") == 1


def test_a_key_is_forgotten_after_the_days_of_the_setting(scope: Scope, settings: Any) -> None:
    save("old")
    days = timedelta(days=settings.MEMORYHUB_IDEMPOTENCY_DAYS)
    Batch.objects.update(created_at=F("created_at") - days + timedelta(minutes=5))
    assert save("old").repeated
    Batch.objects.update(created_at=F("created_at") - timedelta(minutes=10))
    assert not save("new body").repeated
    assert (times(scope, "old"), times(scope, "new body")) == (1, 1)


def test_a_repeated_put_answers_what_the_first_one_wrote(scope: Scope) -> None:
    absent = Precondition(absent=True)
    first = agents.write_memory("coach", "one\n", actor=ME, when=absent, key="k")
    agents.write_memory("coach", "two\n", actor=ME, when=Precondition())
    # The precondition no longer holds; it held when the request was carried out.
    assert agents.write_memory("coach", "one\n", actor=ME, when=absent, key="k") == first
    assert (scope.root / "MEMORY.md").read_bytes() == b"two\n"


@pytest.mark.parametrize("key", ["x" * 201, "a\x00b", "a\nb"])
def test_a_key_that_cannot_be_kept_is_refused(scope: Scope, key: str) -> None:
    with pytest.raises(Invalid):
        save("x", key=key)
    assert not Batch.objects.exists()
