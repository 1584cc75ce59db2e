"""Pieces of work, and the protocol between the process that schedules them and the one that does them.

The parent process never uses the device. A *worker* process does the pieces one after another, so the costs of
importing, context creation and module loading are paid once. If a piece destroys the context, hangs or crashes, only
that process is lost, and the next piece gets a new one. The two exchange lines of JSON over pipes:

    parent to worker    {"config": ...} once, then {"item": {...}, "skip": [...]} for each piece
    worker to parent    {"ready": facts} or {"failed": fields} once; then for each piece any number of
                        {"stage": text, "subject": name} and {"record": {...}}, and {"done": bool} at the end;
                        `done` is false if the device context is lost
"""
from __future__ import annotations

import dataclasses
import time
from typing import Any, Callable


@dataclasses.dataclass
class Item:
    """One piece of work.

    `subjects` means that it consists of several subjects (such as the competitors of a benchmark) and can be
    restarted without the ones that failed.
    """
    part: str
    name: str
    payload: dict[str, Any]
    # Lower values run first.
    priority: int
    # Expected duration: the piece is not started if less time is left.
    seconds: float = 0.2
    # Duration after which the watchdog ends the piece.
    limit: float = 20.0
    # The kind of worker: `driver` (NumPy and the driver's API), `torch`, or `fresh`.
    worker: str = "driver"
    # Whether the piece needs a new worker, which no other piece may use afterwards.
    fresh: bool = False
    subjects: bool = False


class ContextLost(Exception):
    """The device context is lost, and the error has been recorded."""


class Context:
    """The environment of a piece of work in the worker."""

    def __init__(self, config: dict[str, Any], device: Any, send: Callable[[dict[str, Any]], None]):
        self.config = config
        self.device = device
        self._send = send
        self.item: dict[str, Any] = {}
        self.skip: frozenset[str] = frozenset()
        self.began = time.monotonic()
        # Set when a piece has lost the device context but completed normally.
        self.lost = False

    def record(self, record: dict[str, Any]) -> None:
        if record["record"] == "measurement":
            # The clocks since then belong to it.
            record = {"began": self.began, **record}
        self._send({"record": record})

    def stage(self, text: str, subject: str = "") -> None:
        """Announces the next step, which is blamed for a hang or a crash."""
        self._send({"stage": text, "subject": subject})

    def case(self, status: str, name: str | None = None, **fields: Any) -> None:
        """Records the result of a piece of work, or of a named part of it."""
        self.record({"record": "case", "part": self.item["part"], "name": name or self.item["name"], "status": status, **fields})


# Maximum number of times that a piece with subjects is restarted without the ones that failed.
RESTARTS = 6
