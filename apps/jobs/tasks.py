"""What django-q2 calls."""

from apps.jobs import bell, execution, nightly
from apps.runs import queries


def tick() -> None:
    """The minute's round."""
    nightly.tick()


def advance() -> None:
    """Carry out one queued run, and ring again if there may be another.

    Not after one that found the home busy and is to be tried again: the next tick is soon enough for that.
    """
    run = execution.advance()
    if run is not None and not queries.tried_again(run):
        bell.ring()
