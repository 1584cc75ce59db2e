"""Processes that do not outlive the one that started them."""
from __future__ import annotations

import ctypes
import signal

PR_SET_PDEATHSIG = 1


def end_with_parent() -> None:
    """Has Linux kill this process when its parent ends: one that waits for a hanging kernel would stay otherwise.

    Each process asks for itself: a call between fork and exec would make Python fork for real, and that deadlocks with another thread
    in a product of NumPy, whose library takes its threads down before a fork.
    """
    prctl = getattr(ctypes.CDLL(None), "prctl", None)
    if prctl is not None:
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
