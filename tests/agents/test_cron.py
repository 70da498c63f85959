"""When a cron expression comes due on a wall clock, and which expressions never do."""

from datetime import datetime

import pytest

from apps.agents import cron


@pytest.mark.parametrize(
    "expression",
    ["10 3 * * *", "*/5 * * * *", "0 3 29 2 *", "30 2 * * sun", "0 22 L * *", "0 3 * * sun#1", "5,35 1-3 * jan-mar *"],
)
def test_an_expression_that_comes_due_has_no_fault(expression):
    assert cron.fault(expression) == ""


@pytest.mark.parametrize(
    "expression",
    [
        "", " ", "3", "* * * *", "10 3 * * * *", "@daily", "99 3 * * *", "*/0 * * * *", "0 3 30 2 *", "0 3 31 4,6 *",
        "H 3 * * *", "R 3 * * *", "r(1-9) 3 * * *", "a b c d e", "0 3 * * \x00", "1,,2 * * * *", "١ ٣ * * *", "-1 3 * * *",
    ],
)  # fmt: skip
def test_an_expression_that_never_comes_due_or_is_none_says_so(expression):
    assert cron.fault(expression).startswith("“")


def test_a_month_whose_name_has_an_r_is_not_taken_for_a_random_time():
    assert cron.fault("0 3 1 mar,apr fri") == ""


def test_the_minute_it_is_due_in_counts_as_the_latest():
    assert cron.latest("10 3 * * *", datetime(2026, 9, 20, 3, 10, 59)) == datetime(2026, 9, 20, 3, 10)
    assert cron.latest("10 3 * * *", datetime(2026, 9, 20, 3, 9, 59)) == datetime(2026, 9, 19, 3, 10)


def test_the_following_time_is_after_this_minute():
    assert cron.following("10 3 * * *", datetime(2026, 9, 20, 3, 10, 59)) == datetime(2026, 9, 21, 3, 10)
    assert cron.following("10 3 * * *", datetime(2026, 9, 20, 3, 9, 59)) == datetime(2026, 9, 20, 3, 10)
