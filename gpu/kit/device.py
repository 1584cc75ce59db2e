"""The small interface of GPUs and the simulated device.

A device runs one launch at a time on separate memory and returns the contents of the arguments afterwards. Timing is
optional: a device that cannot measure says so (`measures`), and its times are not results.
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
    """A kernel in the forms that devices accept; a device uses the form that it supports."""
    cubin: pathlib.Path | None = None
    ptx: pathlib.Path | None = None


@dataclasses.dataclass
class Outcome:
    """The results of a launch: for each argument its arrays, and the output of the kernel."""
    arrays: list[list[np.ndarray]]
    printed: str = ""


class DeviceError(Exception):
    """A failed step of a launch.

    `what` names the step: image, load, symbol, arguments, memory, launch, run, tool. `fatal` means that the device
    context is lost: everything would fail until a new process creates a new one.
    """

    def __init__(self, what: str, detail: str, *, where: str = "", code: int | None = None, code_name: str = "", fatal: bool = False):
        super().__init__(f"{what}: {code_name + ': ' if code_name else ''}{detail}")
        self.what, self.detail, self.where, self.code, self.code_name, self.fatal = what, detail, where, code, code_name, fatal

    def fields(self) -> dict[str, Any]:
        """The fields of a record about the failure."""
        return {"what": self.what, "where": self.where, "code": self.code, "code_name": self.code_name, "detail": self.detail}


@dataclasses.dataclass
class Timed:
    """Microseconds per launch for each replay, and the final contents of the arguments of each launch in the
    cycle."""
    microseconds: list[float]
    arrays: list[list[list[np.ndarray]]]


@dataclasses.dataclass(frozen=True)
class Schedule:
    """The amount of timing: `replays` graphs of `per_graph` launches each, after `warm` replays."""
    per_graph: int = 10
    replays: int = 12
    warm: int = 3


class Device(abc.ABC):
    """A device on which kernels run."""

    name: str
    # Whether times and clocks of this device are measured on hardware.
    measures: bool

    @abc.abstractmethod
    def facts(self) -> dict[str, Any]:
        """Facts that a reader of the results needs: model, driver, limits."""

    @abc.abstractmethod
    def run(self, image: Image, launch: Launch) -> Outcome:
        """Runs a launch to completion. Raises DeviceError."""

    @abc.abstractmethod
    def run_small(self, image: bytes, launch: Launch, prints: bool) -> Outcome:
        """Runs one of thousands of small launches, whose arguments are buffers and values. `image` is in the form
        that the device accepts. Without `prints`, output of the kernel is not captured. Raises DeviceError."""

    @abc.abstractmethod
    def run_together(self, image: Image, launches: Sequence[Launch], streams: int, graph: bool) -> list[Outcome]:
        """Runs launches of one kernel concurrently, as far as the device can: in `streams` streams, or as independent
        nodes of a graph. Buffers that share an array on the host share memory on the device. Raises DeviceError."""

    @abc.abstractmethod
    def run_chain(self, image: Image, launches: Sequence[Launch], graph: bool) -> list[Outcome]:
        """Runs launches of one kernel back to back in a stream, or in a graph captured from it. Buffers that share an
        array on the host share memory on the device. The outcomes are the contents of the arguments after all
        launches. Raises DeviceError."""

    @abc.abstractmethod
    def time(self, contenders: Sequence[tuple[Image, list[Launch]]], schedule: Schedule) -> list[Timed]:
        """Times kernels against each other: their replays are interleaved, and each kernel cycles through its
        launches. Buffers that share an array on the host share memory on the device. Raises DeviceError."""

    def close(self) -> None:
        """Releases the resources of the device."""
