"""Processes that do not outlive the one that started them."""
from __future__ import annotations

import ctypes
import signal

PR_SET_PDEATHSIG = 1


def end_with_parent() -> None:
    """Has Linux kill this process when its parent ends: one that waits for a hanging kernel would stay otherwise."""
    libc = ctypes.CDLL(None)
    if hasattr(libc, "prctl"):
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
