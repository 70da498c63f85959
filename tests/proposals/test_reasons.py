"""The model's reasons: each beside its entry, without saying the entry again."""

from apps.proposals import reasons
from apps.vault import pairing

LONG = "- From October Linh works Thursday to Sunday and Minh takes over the market stall on Saturdays. (2026-09-20)"
OLD = "# Memory\n\n- No croissants on Mondays: the oven is cleaned. (2026-03-02)\n- Tea is bought at Vân's. (2026-01-01)\n"
NEW = f"# Memory\n\n- Tea is bought at Vân's. (2026-01-01)\n{LONG}\n"


def told(text):
    differences = pairing.differences(OLD, NEW)
    kinds = {one.id: one.kind for one in differences}
    fitting, own = reasons.by_entry(text, differences)
    return {kinds[entry]: reason for entry, reason in fitting.items()}, own


def test_a_quotation_cut_short_names_its_entry_and_is_not_said_again():
    reason = "- Stands under Retain, in 2026-09-20: “From October Linh works Thursday to Sunday and Minh takes…”."
    assert told(reason) == ({"added": "Stands under Retain, in 2026-09-20."}, [])


def test_a_reason_that_begins_with_the_entry_keeps_what_comes_after_it():
    assert told("- Added “From October Linh works…”: the notes say so twice.")[0] == {
        "added": "The notes say so twice."
    }
    assert told("- No croissants on Mondays, the oven is cleaned: older than 90 days.")[0] == {
        "removed": "Older than 90 days."
    }


def test_a_reason_that_is_nothing_but_the_entry_stays_as_it_is():
    assert told("- “No croissants on Mondays”")[0] == {"removed": "‘No croissants on Mondays’"}


def test_a_quotation_of_something_else_stays_in_single_marks():
    assert told("- No croissants on Mondays, the oven is cleaned, “as Hạnh said”.")[0] == {
        "removed": "No croissants on Mondays, the oven is cleaned, ‘as Hạnh said’."
    }


def test_a_short_quotation_names_no_entry_and_a_general_reason_is_its_own():
    assert told("- Said “No” to many things.\n- I kept the rest.") == (
        {},
        ["Said ‘No’ to many things.", "I kept the rest."],
    )


def test_two_reasons_for_one_entry_stand_together():
    text = "- Older than 90 days: “No croissants on Mondays”.\n- Nobody asked: “No croissants on Mondays”."
    assert told(text)[0] == {"removed": "Older than 90 days. Nobody asked."}
