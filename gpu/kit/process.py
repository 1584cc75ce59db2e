"""Processes that end with their parent."""
from __future__ import annotations

import ctypes
import signal

PR_SET_PDEATHSIG = 1


def end_with_parent() -> None:
    """Makes Linux kill this process when its parent ends. Otherwise a process that waits for a hanging kernel would
    remain.

    Each process requests this itself. A call between fork and exec would make Python really fork, which deadlocks if
    another thread is in a NumPy matmul, because the BLAS library stops its threads before a fork.
    """
    prctl = getattr(ctypes.CDLL(None), "prctl", None)
    if prctl is not None:
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
