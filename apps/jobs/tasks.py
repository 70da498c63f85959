"""What django-q2 calls."""

from apps.jobs import bell, execution, nightly


def tick() -> None:
    """The minute's round."""
    nightly.tick()


def advance() -> None:
    """Carry out one queued run, and ring again if there may be another."""
    if execution.advance() is not None:
        bell.ring()
