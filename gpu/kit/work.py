"""Pieces of work, and what the process that plans them and the one that does them say to each other.

The parent process never touches the device. A *worker* process does the pieces one after the other, so that importing,
context creation and module loading are paid once; when a piece kills the context, hangs or crashes, only that process is
lost, and the next piece gets a new one. The two talk in lines of JSON over pipes:

    parent to worker    {"config": ...} once, then {"item": {...}, "skip": [...]} for each piece
    worker to parent    {"ready": facts} or {"failed": fields} once; then for each piece any number of
                        {"stage": text, "subject": name} and {"record": {...}}, and {"done": bool} at the end;
                        `done` is false where the device context is lost
"""
from __future__ import annotations

import dataclasses
import time
from typing import Any, Callable


@dataclasses.dataclass
class Item:
    """One piece of work.

    `subjects` says that it goes through several subjects (the competitors of a benchmark, for instance) and can be
    started again without those that broke it.
    """
    part: str
    name: str
    payload: dict[str, Any]
    # Lower comes first.
    priority: int
    # What it is expected to take: it is not begun when less time is left.
    seconds: float = 0.2
    # When the watchdog ends it.
    limit: float = 20.0
    # Which kind of worker does it: `driver` (NumPy and the driver's API), `torch`, or `fresh`.
    worker: str = "driver"
    # Whether it needs a worker that has done nothing before, and leaves one that nobody else should have.
    fresh: bool = False
    subjects: bool = False


class ContextLost(Exception):
    """The device context is gone, and what was to be said of it has been recorded."""


class Context:
    """What a piece of work gets in the worker."""

    def __init__(self, config: dict[str, Any], device: Any, send: Callable[[dict[str, Any]], None]):
        self.config = config
        self.device = device
        self._send = send
        self.item: dict[str, Any] = {}
        self.skip: frozenset[str] = frozenset()
        self.began = time.monotonic()
        # Set when a piece found the device context lost but could end in order.
        self.lost = False

    def record(self, record: dict[str, Any]) -> None:
        if record["record"] == "measurement":
            # The clocks of the time since then belong to it.
            record = {"began": self.began, **record}
        self._send({"record": record})

    def stage(self, text: str, subject: str = "") -> None:
        """Says what comes next: what a hang or a crash is blamed on."""
        self._send({"stage": text, "subject": subject})

    def case(self, status: str, name: str | None = None, **fields: Any) -> None:
        """The result of a piece of work, or of a named part of it."""
        self.record({"record": "case", "part": self.item["part"], "name": name or self.item["name"], "status": status, **fields})


# How often a piece with subjects is started again without those that broke it.
RESTARTS = 6
