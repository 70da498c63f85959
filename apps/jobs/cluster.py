"""What django-q2 must be told so that no run is cut off and none is handed out twice."""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from apps.llm import routes

# The most questions one run puts to a model, one after the other.
CALLS = 2
# Seconds beside the questions: reading, comparing, waiting for a lock, pauses between two tries.
SLACK = 300


def name(home: Path) -> str:
    """The queue of this home, for brokers that several homes share."""
    return f"memoryhub-{hashlib.sha256(str(home).encode()).hexdigest()[:8]}"


def longest_run(seconds: int, retries: int) -> int:
    """Seconds that a run can take at most, when every model of the longest route stays silent each time."""
    return CALLS * routes.MOST_NAMES * (1 + retries) * seconds + SLACK


def faults(told: Mapping[str, Any], needed: int) -> list[str]:
    """What is wrong with these settings of django-q2, as sentences; `needed` is what `longest_run` says."""
    timeout, retry = told.get("timeout"), told.get("retry", 60)
    found = []
    if not timeout or timeout < needed:
        found.append(f"timeout is {timeout}; a run may take {needed} seconds, and would be killed before it ends.")
    if not timeout or retry <= timeout:
        found.append(f"retry is {retry}, not above timeout ({timeout}); a task that still runs would be started again.")
    if told.get("max_attempts", 0) != 1:
        found.append("max_attempts must be 1; what is tried again is decided by the Run table.")
    if not told.get("ack_failures", False):
        found.append("ack_failures must be on, or a failed task comes back for ever.")
    if told.get("catch_up", True):
        found.append("catch_up must be off, or every minute that was missed is rung for.")
    return found
