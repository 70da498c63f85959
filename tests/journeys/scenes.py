"""A scene for an approval: an agent with files, a proposal, and the files as they must be before and after."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from apps.agents import queries, registry
from apps.ledger import services as ledger
from apps.ledger.locks import lock_path
from apps.ledger.models import Batch
from apps.llm import client
from apps.proposals import kinds, services
from apps.proposals.models import Proposal
from apps.vault import files, layout, lock
from apps.vault.changes import Change, appended

MEMORY = layout.MEMORY
PAGE = "memory/wiki/entities/redis.md"
DRAFT = "memory/draft.md"
NOTE = "memory/2026-09-19.md"

OLD_MEMORY = "# Memory\n\n- Thích trà (2026-01-02)\n- 会议在周一\n".encode()
NEW_MEMORY = "# Memory\n\n- Thích cà phê (2026-09-19)\n- 会议在周二\n".encode()
ADDED = b"- 10:00 moved to the wiki\n"

BEFORE: Mapping[str, bytes] = {MEMORY: OLD_MEMORY, DRAFT: b"a draft\n", NOTE: b"# 2026-09-19\n\n- 09:00 one\n"}
ONE_AFTER = {**BEFORE, MEMORY: NEW_MEMORY}
FOUR_AFTER = {MEMORY: NEW_MEMORY, PAGE: b"# Redis\n", NOTE: BEFORE[NOTE] + ADDED}


def four_changes(kind: str, intent: Mapping[str, Any], read: kinds.Read, fetch: kinds.Fetch) -> list[Change]:
    """A rewrite, a new page in new folders, a deletion and an append: every sort of change at once."""
    note = read(NOTE) or b""
    return [
        Change(MEMORY, read(MEMORY), fetch(intent["text"])),
        Change(PAGE, read(PAGE), FOUR_AFTER[PAGE]),
        Change(DRAFT, read(DRAFT), None),
        appended(NOTE, note, note + ADDED),
    ]


@dataclass(frozen=True)
class Scene:
    scope: layout.Scope
    proposal_id: str

    @property
    def proposal(self) -> Proposal:
        return Proposal.objects.get(public_id=self.proposal_id)

    @property
    def batches(self) -> list[Batch]:
        return list(Batch.objects.filter(scope=self.scope.id).order_by("id"))

    @property
    def disk(self) -> dict[str, bytes]:
        return contents(self.scope.root)

    def edit(self, path: str, text: bytes) -> None:
        """A person saves the file in an editor, behind memoryhub's back."""
        (self.scope.root / path).write_bytes(text)

    def next_writer(self) -> None:
        """Another writer comes to the desk, which finishes what a dead one left."""
        assert lock.free(lock_path(self.scope.id)), "A dead writer still holds the lock."
        with ledger.writing(self.scope):
            pass

    def assert_every_file_is_whole(self, after: Mapping[str, bytes]) -> None:
        for path, now in self.disk.items():
            assert now in {BEFORE.get(path), after.get(path)}, path

    def assert_nothing_was_written(self, batches: tuple[str, ...] = ()) -> None:
        self._assert_settled(BEFORE, "pending", batches)

    def assert_all_was_written(self, after: Mapping[str, bytes]) -> None:
        self._assert_settled(after, "approved", ("done",))

    def _assert_settled(self, disk: Mapping[str, bytes], state: str, batches: tuple[str, ...]) -> None:
        assert self.disk == disk
        assert leftovers(self.scope.root) == []
        proposal = self.proposal
        assert proposal.state == state
        assert tuple(batch.state for batch in self.batches) == batches
        assert proposal.batch == (self.batches[-1].public_id if state == "approved" else "")
        assert lock.free(lock_path(self.scope.id))


def contents(root: Path) -> dict[str, bytes]:
    """Every Markdown file below the root, by path."""
    return {file.path: files.read(root, file.path) or b"" for file in files.listing(root, deep=True)}


def leftovers(root: Path) -> list[str]:
    """Temporary files that a writer left behind."""
    return [str(path) for path in root.rglob(layout.TEMPORARY + "*")]


def scene(agent_id: str, *, directory: str = "", new_memory: bytes = NEW_MEMORY) -> Scene:
    """A new agent with the files of `BEFORE` and a pending rewrite of its MEMORY.md."""
    scope = queries.scope_of(registry.add(agent_id, directory=directory))
    for path, text in BEFORE.items():
        (scope.root / path).write_bytes(text)
    proposal = services.propose_rewrite(
        agent_id,
        path=MEMORY,
        text=new_memory,
        previous=OLD_MEMORY,
        reasons="- Tea became coffee.\n",
        analysis={},
        source="job:test",
    )
    return Scene(scope, proposal.public_id)


def paid_model(log: Path) -> Callable[..., client.Answer]:
    """The model's seam: keeps the memory, adds one line, and notes in `log` that it was asked and must be paid."""

    def ask(task: client.Task, *, route: object) -> client.Answer:
        with log.open("a") as file:
            file.write("asked\n")
            file.flush()
            os.fsync(file.fileno())
        text = f"{task.data['memory']}\n- tea is at four (2026-09-19)\n\n---REASONS---\n- said on the 19th\n"
        return client.Answer(text, "paid", "paid-1", "stop", 900, 100, Decimal("0.01"), 0.1)

    return ask
