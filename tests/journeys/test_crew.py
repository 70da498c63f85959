"""A real-sized crew with the rules model: every agent in turn, again while proposals wait, and until nothing is left."""

import random

import pytest

from apps import access
from apps.agents import registry
from apps.proposals import services
from apps.proposals.models import Proposal
from apps.runs.models import Run
from tests.jobs.running import consolidate

pytestmark = pytest.mark.django_db(transaction=True)

AGENTS, NOTES = 10, 25
SMALL_TALK = [
    "The weather turned.",
    "Had lunch with Lan.",
    "Where did the keys go?",
    "Trời mưa cả ngày.",
    "Nothing new.",
]
LASTING = [
    "{who} always {what} before {when}.", "{who} prefers {what} to anything else.", "Remember: {who} is allergic to {what}.",
    "{who} never {what} after {when}.", "{who} thích {what}.", "From now on {who} {what} every {when}.",
]  # fmt: skip
WHO, WHAT, WHEN = (
    ["Lan", "Minh", "Tú", "Hạnh", "Bảo"],
    ["walnuts", "runs", "tea", "sails", "phở", "paints"],
    ["Monday", "noon", "Tết"],
)


@pytest.fixture
def crew_of_ten(home):
    """Ten agents with 25 notes each, about 2,500 characters a note; the same every time."""
    chance = random.Random(20260921)
    for number in range(AGENTS):
        folder = home / "agents" / f"agent-{number}" / "memory"
        folder.mkdir(parents=True)
        for day in range(NOTES):
            name = f"2026-{5 + day // 9:02d}-{1 + day % 9 * 3:02d}"
            lines = [chance.choice(SMALL_TALK) for _ in range(60)]
            for _ in range(3):
                words = {"who": chance.choice(WHO), "what": chance.choice(WHAT), "when": chance.choice(WHEN)}
                lines.insert(chance.randrange(len(lines)), chance.choice(LASTING).format(**words))
            text = "\n".join(f"- {8 + at // 6:02d}:{at % 6}0 {line}" for at, line in enumerate(lines))
            (folder / f"{name}.md").write_text(f"# {name}\n\n{text}\n")
    registry.sync()
    return [f"agent-{number}" for number in range(AGENTS)]


def test_all_agents_propose_none_asks_again_and_in_the_end_nothing_is_newer(crew_of_ten, home):
    notes = {path: path.read_bytes() for path in home.glob("agents/*/memory/*.md")}
    assert {consolidate(agent).outcome for agent in crew_of_ten} == {"proposed"}
    assert {consolidate(agent).outcome for agent in crew_of_ten} == {"nothing_newer"}
    assert Run.objects.filter(answered=True).count() == AGENTS

    rounds = 0
    while Proposal.objects.filter(state="pending").exists():
        rounds += 1
        assert rounds < 20, "every round must leave less to read"
        for proposal in Proposal.objects.filter(state="pending"):
            services.approve(proposal.public_id, seen=services.preview(proposal).digest, actor=access.operator())
        for agent in crew_of_ten:
            consolidate(agent)
    assert {consolidate(agent).outcome for agent in crew_of_ten} == {"nothing_newer"}

    read = {key for run in Run.objects.filter(answered=True) for key in run.read}
    assert len(read) >= NOTES, "every note was read by some run"
    for agent in crew_of_ten:
        memory = (home / "agents" / agent / "MEMORY.md").read_text()
        bullets = [line for line in memory.splitlines() if line.startswith("- ")]
        assert bullets
        assert len(bullets) == len(set(bullets))
        assert not any(talk in memory for talk in SMALL_TALK)
        mine = {key for run in Run.objects.filter(answered=True, agent_id=agent) for key in run.read}
        assert len(mine) == NOTES
    assert {path: path.read_bytes() for path in notes} == notes
