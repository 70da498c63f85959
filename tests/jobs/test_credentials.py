"""C33: keys and passwords are masked on the way to a model, come back unharmed, and are told by file and line."""

import json
import logging

import pytest

from apps.jobs import doctor
from apps.proposals import queries
from apps.proposals.models import Proposal
from apps.runs.models import Call, Run
from tests.jobs.running import consolidate

pytestmark = pytest.mark.django_db(transaction=True)

TOKEN = "sk-test-0000000000000000000000000000"
KEY = (
    "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQ\n-----END OPENSSH PRIVATE KEY-----"
)
COMMIT, UUID = "9fceb02d0ae598e95dc970b74767f19372d61af8", "123e4567-e89b-42d3-a456-426614174000"
NOTE = f"""# 2026-09-19

- 08:00 deploy with export SERVICE_TOKEN={TOKEN}
- 08:10 the backup is at https://mai:pa55w0rd@backup.example.org/x
- 08:20 the key:

{KEY}

- 08:30 built {COMMIT} as {UUID}
"""
MEMORY = "# Memory\n\n- the till: password = tr0ub4dor\n- two\n"


@pytest.fixture
def secrets(notes, memory):
    notes({"2026-09-19": NOTE})
    memory.write_text(MEMORY)
    import os

    os.utime(memory, (1, 1))
    return memory


def test_nothing_of_it_reaches_the_model_and_the_look_alikes_do(model, secrets):
    model.will_say("# Memory\n\n- the till: password = {{SECRET-1}}\n- two\n- builds are named by commit\n")
    consolidate("coach")
    sent = model.asked[0].prompt + json.dumps(model.asked[0].data)
    for secret in (TOKEN, "pa55w0rd", "b3BlbnNzaC1rZXk", "tr0ub4dor"):
        assert secret not in sent
    assert COMMIT in sent
    assert UUID in sent
    assert "SERVICE_TOKEN" in sent


def test_what_the_answer_keeps_comes_back_to_the_letter(model, secrets):
    model.will_say("# Memory\n\n- the till: password = {{SECRET-1}}\n- two\n- tea is at four (2026-09-19)\n")
    assert consolidate("coach").outcome == "proposed"
    proposed = queries.proposed_text(Proposal.objects.get()).decode()
    assert proposed == MEMORY + "- tea is at four (2026-09-19)\n"
    codes = {warning["code"] for warning in Proposal.objects.get().analysis["warnings"]}
    assert not codes & {"secret", "placeholder"}


def test_an_answer_that_only_repeats_the_masked_memory_changes_nothing(model, secrets):
    model.will_say("# Memory\n\n- the till: password = {{SECRET-1}}\n- two\n")
    assert consolidate("coach").outcome == "unchanged"


@pytest.mark.parametrize(
    "answer",
    [
        "# Memory\n\n- two\n",
        "# Memory\n\n- the till: password = {{SECRET-1}}\n- two\n- and {{SECRET-99}}\n",
    ],
)
def test_a_placeholder_that_is_missing_or_made_up_stops_the_reviewer(model, secrets, answer):
    model.will_say(answer)
    consolidate("coach")
    stops = [one for one in Proposal.objects.get().analysis["warnings"] if one["code"] == "placeholder"]
    assert [one["severity"] for one in stops] == ["stop"]


def test_a_secret_that_moves_from_a_note_into_the_memory_stops_the_reviewer(model, secrets):
    model.will_say("# Memory\n\n- the till: password = {{SECRET-1}}\n- two\n- SERVICE_TOKEN={{SECRET-2}}\n")
    consolidate("coach")
    proposal = Proposal.objects.get()
    assert TOKEN in queries.proposed_text(proposal).decode()
    assert [one["severity"] for one in proposal.analysis["warnings"] if one["code"] == "secret"] == ["stop"]


def test_the_run_says_where_they_are_and_no_row_holds_one(model, secrets):
    model.will_say("# Memory\n\n- the till: password = {{SECRET-1}}\n- two\n- SERVICE_TOKEN={{SECRET-2}}\n")
    run = consolidate("coach")
    places = {(path, line) for path, line, _ in run.credentials}
    assert places == {
        ("MEMORY.md", 3),
        ("memory/2026-09-19.md", 3),
        ("memory/2026-09-19.md", 4),
        ("memory/2026-09-19.md", 7),
    }
    rows = str([*Run.objects.values(), *Call.objects.values(), *Proposal.objects.values()])
    for secret in (TOKEN, "pa55w0rd", "b3BlbnNzaC1rZXk", "tr0ub4dor"):
        assert secret not in rows


def test_files_on_disk_keep_every_byte(model, secrets):
    note = secrets.parent / "memory" / "2026-09-19.md"
    before = note.read_bytes(), secrets.read_bytes()
    model.will_say(MEMORY)
    consolidate("coach")
    assert (note.read_bytes(), secrets.read_bytes()) == before


def test_doctor_names_file_and_line_and_never_the_secret(secrets):
    found = [one for one in doctor.examine() if one.check == "secrets"]
    assert ("coach", "memory/2026-09-19.md", 3) in {(one.scope, one.path, one.line) for one in found}
    assert TOKEN not in str(found)


def test_a_failing_run_prints_none(model, secrets, caplog):
    from apps.errors import ModelFailed

    model.answers.append(ModelFailed(f"The provider quoted SERVICE_TOKEN={TOKEN}.", code="provider_error"))
    with caplog.at_level(logging.DEBUG), pytest.raises(ModelFailed):
        consolidate("coach")
    assert TOKEN not in caplog.text
    assert TOKEN not in str([*Run.objects.values(), *Call.objects.values()])


def test_the_rules_model_works_with_masks_too(secrets):
    (secrets.parent / "memory" / "2026-09-19.md").write_text(NOTE + "\n## Retain\n- W the oven is from 1998\n")
    run = consolidate("coach")
    assert run.outcome == "proposed"
    proposed = queries.proposed_text(Proposal.objects.get()).decode()
    assert "password = tr0ub4dor" in proposed
    assert "1998" in proposed
    assert "SECRET-" not in proposed
