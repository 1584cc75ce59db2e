"""Processes that do not outlive the one that started them."""
from __future__ import annotations

import ctypes
import signal

PR_SET_PDEATHSIG = 1

# Looked up here: between fork and exec nothing but the call itself should happen.
_prctl = getattr(ctypes.CDLL(None), "prctl", None)


def end_with_parent() -> None:
    """Has Linux kill this process when its parent ends: one that waits for a hanging kernel would stay otherwise."""
    if _prctl is not None:
        _prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
