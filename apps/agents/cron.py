"""When a cron expression comes due, on the wall clock of one zone.

All times here are naive local wall time. So a night that the clock skips in
spring (02:30 where 02:00 becomes 03:00) is due right after the gap, and one that
comes twice in autumn has one date and is run once.
"""

import re
from datetime import datetime, timedelta

from croniter import croniter
from croniter.croniter import CroniterError

# The five classic fields; seconds and years would promise a precision that a bell each minute does not have.
FIELDS = 5
_MINUTE = timedelta(minutes=1)
# Hashed and random times (H, R) are another each time somebody looks.
_UNSTEADY = re.compile(r"(?:^|[\s,])[HhRr](?=[\s,/(]|$)")
# Any time will do to find out whether an expression ever comes due; leap years are within croniter's own reach.
_SOME_TIME = datetime(2024, 1, 1)


def fault(expression: str) -> str:
    """Why this is no cron expression that ever comes due, as a sentence; empty when it is one."""
    if len(expression.split()) != FIELDS or not expression.isascii() or not expression.isprintable():
        return f"“{expression}” is no cron expression of five fields, such as 10 3 * * * for 03:10 each night."
    try:
        if _UNSTEADY.search(expression):
            raise ValueError(expression)
        croniter(expression, _SOME_TIME).get_next(datetime)
    except (CroniterError, ValueError, KeyError, TypeError, AttributeError, OverflowError):
        return f"“{expression}” is no cron expression that ever comes due."
    return ""


def latest(expression: str, now: datetime) -> datetime | None:
    """The last time it was due, this minute included; None when it never was."""
    try:
        due: datetime = croniter(expression, now.replace(second=0, microsecond=0) + _MINUTE).get_prev(datetime)
    except CroniterError:
        return None
    return due


def following(expression: str, now: datetime) -> datetime | None:
    """The next time it is due after this minute; None when it never is."""
    try:
        due: datetime = croniter(expression, now.replace(second=0, microsecond=0)).get_next(datetime)
    except CroniterError:
        return None
    return due
