"""What building the review page costs and survives: counted, and with everything gone that can be gone."""

import shutil

import pytest

from apps import access
from apps.agents import registry, store
from apps.proposals import analysis, drawing, present, services, support
from apps.vault import files

pytestmark = pytest.mark.django_db(transaction=True)


def anything(permission):
    return True


@pytest.fixture
def backed(scope):
    """A proposal that adds as many lines as asked for, each backed by one of seven notes."""

    def make(count: int):
        texts = {}
        for day in range(1, 8):
            lines = [f"- 08:00 fact{n} about thing{n} in room{n}" for n in range(count) if n % 7 == day - 1]
            texts[f"memory/2026-09-{day:02d}.md"] = "\n".join(lines) + "\n"
            (scope.root / f"memory/2026-09-{day:02d}.md").write_text(texts[f"memory/2026-09-{day:02d}.md"])
        new = "".join(f"- fact{n} about thing{n} in room{n}\n" for n in range(count))
        found = analysis.analyse(
            "",
            new,
            notes=[support.NoteText(path, text) for path, text in texts.items()],
            dates=frozenset(),
            limit=10**6,
            findings={},
        )
        assert len(found.supports) == count
        return services.propose_rewrite(
            "coach",
            path="MEMORY.md",
            text=new.encode(),
            previous=None,
            reasons="",
            analysis=found.stored(),
            source="memory:consolidate",
        )

    return make


def test_c29_a_page_draws_only_the_rows_it_shows_and_reads_each_note_once(backed, monkeypatch):
    proposal = backed(2_000)
    reads, rows = [], []
    read, row = files.read, drawing.Drawing.row
    monkeypatch.setattr(files, "read", lambda root, path: reads.append(path) or read(root, path))
    monkeypatch.setattr(drawing.Drawing, "row", lambda self, one: rows.append(one) or row(self, one))
    page = present.review(proposal, actor=access.operator(), may=anything)
    assert [(group.key, len(group.rows), group.hidden) for group in page.groups] == [("backed", 40, 1_960)]
    assert len(rows) == 40
    assert len([path for path in reads if path.startswith("memory/")]) <= 7


@pytest.mark.parametrize("gone", ["note", "folder", "agent", "line"])
def test_the_page_opens_whatever_is_gone(backed, scope, gone):
    proposal = backed(7)
    if gone == "note":
        (scope.root / "memory/2026-09-01.md").unlink()
    elif gone == "folder":
        shutil.rmtree(scope.root)
    elif gone == "agent":
        registry.archive("coach")
    else:
        (scope.root / "memory/2026-09-01.md").write_text("- something else altogether\n")
    page = present.review(proposal, actor=access.operator(), may=anything)
    missing = [row.source.missing for group in page.groups for row in group.rows]
    assert len(missing) == 7
    assert any(missing)
    assert (page.digest == "") == (gone in {"folder", "agent"})


def test_a_reader_is_offered_nothing_to_press(backed, scope, person):
    import dataclasses

    proposal = backed(7)
    services.reject(proposal.public_id, actor=person)
    proposal.refresh_from_db()
    reader = dataclasses.replace(person, rights=frozenset({"read"}))
    assert present.review(proposal, actor=reader, may=anything).reopen_url == ""
    assert present.review(proposal, actor=person, may=anything).reopen_url != ""
    assert present.review(proposal, actor=person, may=anything).consequence is None


def test_c29_a_note_of_one_long_line_and_one_of_five_megabytes_open(client, scope, staff):
    client.force_login(staff)
    (scope.root / "memory/2026-09-19.md").write_text("word " * 400_000)
    (scope.root / "memory/2026-09-20.md").write_text("- a line of a note\n" * 270_000)
    for day in ("2026-09-19", "2026-09-20"):
        page = client.get(f"/memory/coach/memory/{day}.md")
        assert page.status_code == 200
        assert len(page.content) < 2_000_000
        assert client.get(f"/memory/coach/memory/{day}.md?raw=1").status_code == 200
    assert store.notes(scope.root)[0].chars == 270_000 * 19


def test_nobody_is_sent_to_a_page_that_refuses_them(backed):
    proposal = backed(7)
    page = present.review(proposal, actor=access.operator(), may=lambda permission: False)
    assert [piece.url for piece in page.facts_line if piece.url] == []
    assert {row.source.url for group in page.groups for row in group.rows} == {""}
    assert page.groups[0].rows[0].source.lines
