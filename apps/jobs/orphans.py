"""Lets no part of a worker outlive the one that started it: it would go on asking under settings nobody reads any more.

Only Linux can promise that. Elsewhere, and where a service manager ends a whole
group of processes, nothing is lost without it.
"""

import ctypes
import os
import signal
import sys

# prctl(2): the signal that the kernel sends when the parent dies.
_PR_SET_PDEATHSIG = 1


def die_with_parent(number: signal.Signals) -> None:
    """Have the kernel send this process the signal when its parent dies."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(number))


def leave_no_orphans() -> None:
    """Have every process that is forked from now on, and theirs in turn, killed when its parent dies."""
    os.register_at_fork(after_in_child=lambda: die_with_parent(signal.SIGKILL))
