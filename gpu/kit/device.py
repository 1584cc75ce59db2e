"""The small interface behind which a GPU and the simulated device look alike.

A device runs one launch at a time on memory of its own and hands back what the arguments hold afterwards. Timing is a
second, optional ability: a device that cannot measure says so (`measures`), and nothing it says about time is a result.
"""
from __future__ import annotations

import abc
import dataclasses
import pathlib
from typing import Any, Sequence

import numpy as np

from .launches import Launch


@dataclasses.dataclass(frozen=True)
class Image:
    """A kernel in the forms that devices take; a device uses the one it knows."""
    cubin: pathlib.Path | None = None
    ptx: pathlib.Path | None = None


@dataclasses.dataclass
class Outcome:
    """What a launch left behind: for each argument the arrays it holds, and what the kernel printed."""
    arrays: list[list[np.ndarray]]
    printed: str = ""


class DeviceError(Exception):
    """A step of a launch that failed.

    `what` names the step: image, load, symbol, arguments, memory, launch, run, tool. `fatal` says that the device
    context is lost: everything after it would fail too, until a new process makes a new one.
    """

    def __init__(self, what: str, detail: str, *, where: str = "", code: int | None = None, code_name: str = "", fatal: bool = False):
        super().__init__(f"{what}: {code_name + ': ' if code_name else ''}{detail}")
        self.what, self.detail, self.where, self.code, self.code_name, self.fatal = what, detail, where, code, code_name, fatal

    def fields(self) -> dict[str, Any]:
        """As a failed record has them."""
        return {"what": self.what, "where": self.where, "code": self.code, "code_name": self.code_name, "detail": self.detail}


@dataclasses.dataclass
class Timed:
    """Microseconds per launch, of each replay; and for each of the launches that took turns what its arguments held last."""
    microseconds: list[float]
    arrays: list[list[list[np.ndarray]]]


@dataclasses.dataclass(frozen=True)
class Schedule:
    """How often to time: `replays` graphs of `per_graph` launches each; `warm` replays before."""
    per_graph: int = 10
    replays: int = 12
    warm: int = 3


class Device(abc.ABC):
    """A place where kernels run."""

    name: str
    # Whether times and clocks of this device are measurements of hardware.
    measures: bool

    @abc.abstractmethod
    def facts(self) -> dict[str, Any]:
        """What a reader of results has to know about it: model, driver, limits."""

    @abc.abstractmethod
    def run(self, image: Image, launch: Launch) -> Outcome:
        """Runs a launch to its end. Raises DeviceError."""

    @abc.abstractmethod
    def run_small(self, image: bytes, launch: Launch, prints: bool) -> Outcome:
        """Runs one of thousands of small launches, whose arguments are buffers and values. `image` is in the form that the device takes;
        without `prints` nobody listens to what the kernel says. Raises DeviceError."""

    @abc.abstractmethod
    def run_together(self, image: Image, launches: Sequence[Launch], streams: int, graph: bool) -> list[Outcome]:
        """Runs launches of one kernel at the same time, as far as the device can: in so many streams, or as the nodes of a graph that
        do not wait for each other. Buffers that are one array here share their memory there. Raises DeviceError."""

    @abc.abstractmethod
    def run_chain(self, image: Image, launches: Sequence[Launch], graph: bool) -> list[Outcome]:
        """Runs launches of one kernel one behind the other in a stream, or in the graph that a capture of it makes. Buffers that are one
        array here share their memory there. Outcomes are what arguments hold at the end of all. Raises DeviceError."""

    @abc.abstractmethod
    def time(self, contenders: Sequence[tuple[Image, list[Launch]]], schedule: Schedule) -> list[Timed]:
        """Times kernels against each other: their replays are interleaved, and each takes its launches in turn. Buffers that are
        one array here share their memory there. Raises DeviceError."""

    def close(self) -> None:
        """Gives back what the device holds."""
