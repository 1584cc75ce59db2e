"""A micro-kernel: a question, PTX, launches of several lengths, a check of the result, and predicted figures.

A chain of n operations takes `overhead + n * step` clocks. So each variant runs at several lengths, and a line is
fitted. Its slope and intercept are the figures; work that runs once per launch is part of the intercept. Predictions
are made here, before any run: a figure outside its range is a finding, not a reason to change the range.
"""
from __future__ import annotations

import dataclasses
from typing import Callable, Sequence

import numpy as np

from ..launches import Launch
from ..stats import Line, line
from .ptx import Entry

# Number of 64-bit words that each CTA writes: start and stop of up to four agents, or as the kernel defines.
WORDS = 8

Arrays = list[list[np.ndarray]]


@dataclasses.dataclass(frozen=True)
class Setup:
    """The environment of a variant. `full`: hardware with real sizes; otherwise the simulator with few steps."""
    sms: int
    full: bool

    def pick(self, full, small):
        return full if self.full else small


@dataclasses.dataclass(frozen=True)
class Figure:
    """A constant of the machine, with its expected value and the reason. A value from `low` to `high` would not be a
    surprise."""
    name: str
    unit: str
    predicted: float
    low: float
    high: float
    why: str


@dataclasses.dataclass(frozen=True)
class Reading:
    """One launch: its length and the words of each CTA."""
    length: int
    words: np.ndarray

    def clocks(self, agents: Sequence[int] = (0,)) -> float:
        """Clocks from the first start to the last stop of the given agents; the median over CTAs."""
        starts = np.stack([self.words[:, 2 * a] for a in agents], 1).min(1)
        stops = np.stack([self.words[:, 2 * a + 1] for a in agents], 1).max(1)
        return float(np.median((stops - starts).astype(np.int64)))


# Computes the values of the figures from the readings of one repetition, one for each length.
Derive = Callable[[list[Reading]], dict[str, float]]


@dataclasses.dataclass(frozen=True)
class Variant:
    name: str
    entry: str
    # Lengths on hardware and on the simulator.
    lengths: tuple[int, ...]
    short: tuple[int, ...]
    launch: Callable[[Setup, int], Launch]
    # A complaint about the results of the launch, or None.
    check: Callable[[Setup, int, Launch, Arrays], str | None]
    figures: tuple[Figure, ...]
    derive: Derive
    # Index of the argument that holds the words.
    out: int = 0
    repeats: int = 5


@dataclasses.dataclass(frozen=True)
class Contender:
    """One of several kernels that are timed from outside, interleaved, without clocks in the kernel."""
    name: str
    entry: str
    launches: Callable[[Setup], list[Launch]]
    check: Callable[[Setup, Launch, Arrays], str | None]
    # Computes the figure from microseconds per launch.
    figure: Figure
    value: Callable[[Setup, float], float]


@dataclasses.dataclass(frozen=True)
class Micro:
    """A micro-kernel with its variants. `contenders` are groups that are timed together."""
    id: str
    title: str
    question: str
    entries: Callable[[], list[Entry]]
    variants: Callable[[], list[Variant]] = list
    contenders: Callable[[], list[list[Contender]]] = list
    # Opcodes that the machine code of an entry must contain, with their minimum number; entries by prefix.
    opcodes: dict[str, dict[str, int]] = dataclasses.field(default_factory=dict)
    priority: int = 45


def per_step(name: str, scale: float = 1.0, agents: Sequence[int] = (0,), overhead: str = "") -> Derive:
    """The slope times `scale` as one figure, and the intercept as another."""
    def derive(readings: list[Reading]) -> dict[str, float]:
        fitted: Line = line([(r.length, r.clocks(agents)) for r in readings])
        found = {name: fitted.slope * scale}
        return {**found, overhead: fitted.intercept} if overhead else found
    return derive


def rate(name: str, amount: float, agents: Sequence[int] = (0,)) -> Derive:
    """`amount` per step divided by the slope, such as bytes per clock."""
    def derive(readings: list[Reading]) -> dict[str, float]:
        return {name: amount / line([(r.length, r.clocks(agents)) for r in readings]).slope}
    return derive


def words(cta_count: int) -> np.ndarray:
    """An output array for the words of `cta_count` CTAs."""
    return np.zeros((cta_count, WORDS), np.uint64)


def agent_clocks(e: Entry, out: str, agent: int | str, start: str, stop: str) -> None:
    """Writes start and stop of an agent, in the only thread that executes this. `agent` is a number or a register."""
    at = e.calc("mad.lo.u32", e.special("%ctaid.x"), f"{WORDS}, 0")
    if isinstance(agent, int):
        at = e.calc("add.u32", at, 2 * agent)
    else:
        at = e.calc("mad.lo.u32", agent, f"2, {at}")
    e.store(out, at, start)
    e.store(out, e.calc("add.u32", at, 1), stop)


def store_word(e: Entry, out: str, word: int, value: str) -> None:
    """Writes one of the CTA's words."""
    at = e.calc("mad.lo.u32", e.special("%ctaid.x"), f"{WORDS}, {word}")
    e.store(out, at, value)


def equal(name: str, got: np.ndarray, want: np.ndarray) -> str | None:
    """A complaint unless two arrays are equal."""
    if got.shape != want.shape:
        return f"{name}: shape {got.shape}, expected {want.shape}"
    wrong = got != want
    if not wrong.any():
        return None
    at = tuple(int(i) for i in np.argwhere(wrong)[0])
    return f"{name}{list(at)}: {got[at]!r}, expected {want[at]!r}; {int(wrong.sum())} of {wrong.size} are wrong"
