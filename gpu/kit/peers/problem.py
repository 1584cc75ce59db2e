"""What a case is: its arrays, what has to come out, and how it is launched. Each kind of case is a class that says so
of itself.

Knows neither PyTorch nor a device. A reference is written once, for NumPy and PyTorch alike: `Numbers` reads arrays of
either.
"""
from __future__ import annotations

import dataclasses
from typing import Any, Callable, ClassVar, Sequence, Union

import numpy as np

Entry = dict[str, Any]
Grid = tuple[int, int, int]

# How the cases name the types of their inputs, and how storage is called.
STORAGE = {"f32": "f32", "bf16": "bf16", "fp16": "f16", "tf32": "f32", "fp8": "e4m3", "int8": "i8", "u8": "u8"}

BYTES = {"f32": 4, "bf16": 2, "f16": 2, "e4m3": 1, "i8": 1, "u8": 1, "i32": 4}


@dataclasses.dataclass(frozen=True, eq=False)
class Array:
    """An array that an entry takes. `fill` is what it holds before: `random`, by its type; `scale`, numbers from 1/2 to
    2; `poison` for what kernels write; or the values themselves, which count for the work that there is."""
    name: str
    dtype: str
    shape: tuple[int, ...]
    fill: Union[str, np.ndarray] = "random"

    @property
    def bytes(self) -> int:
        return int(np.prod(self.shape, dtype=np.int64)) * BYTES[self.dtype]


@dataclasses.dataclass(frozen=True)
class Arrays:
    """A list of arrays of one type and rank."""
    name: str
    items: tuple[Array, ...]


@dataclasses.dataclass(frozen=True)
class Number:
    """A scalar."""
    name: str
    value: float
    dtype: str = "f32"


Parameter = Union[Array, Arrays, Number]


@dataclasses.dataclass(frozen=True)
class Step:
    """A launch of a case: the name of its entry, its grids as candidates, and the names of its parameters."""
    entry: str
    grids: list[Grid]
    parameters: tuple[str, ...]


class Numbers:
    """Arrays as numbers in float64. `xp` is the module whose functions work on them: NumPy or PyTorch."""

    def __init__(self, xp: Any, read: Callable[[Any, Any], Any], arange: Callable[[int], Any]):
        self.xp = xp
        self._read = read
        self.arange = arange

    def __call__(self, array: Any, at: Any = ...) -> Any:
        """The numbers of an array, or of a part of it."""
        return self._read(array, at)

    def softmax(self, s: Any) -> Any:
        """Of each row."""
        e = self.xp.exp(s - self.xp.amax(s, -1, keepdims=True))
        return e / self.xp.sum(e, -1, keepdims=True)

    def sigmoid(self, x: Any) -> Any:
        return 1 / (1 + self.xp.exp(-x))


@dataclasses.dataclass(frozen=True)
class Problem:
    """One case. Its output consists of units (heads, matrices of a batch, all rows) that are computed independently."""
    dtype: str
    # 1 is measured before the micro-kernels, 2 after those that matter most, 3 and 4 if time is left.
    tier: int

    # The first word of the name, and of what images say they are for.
    kind: ClassVar[str]
    # The parameter that holds the result.
    result: ClassVar[str] = "out"
    # Whether the result has to be zero before each launch: kernels add to it.
    clears: ClassVar[bool] = False
    # Relative error, by Frobenius norms over sampled rows, above which a result is wrong. A rounding of a result or an
    # operand to bf16 is off by 2e-3, to fp16 by 2e-4; a block of keys or a step of a sum that is left out, by 6e-2 and
    # more in every case.
    TOLERANCE: ClassVar[dict[str, float]] = {"f32": 1e-6, "bf16": 1e-2, "fp16": 2e-3, "tf32": 2e-3, "fp8": 2e-2,
                                             "int8": 0.0, "u8": 0.0}
    # What measuring it takes, with all competitors' variants.
    seconds: ClassVar[float] = 8.0

    @property
    def tolerance(self) -> float:
        return self.TOLERANCE[self.dtype]

    @property
    def storage(self) -> str:
        return STORAGE[self.dtype]

    @property
    def name(self) -> str:
        return f"{self.kind} {self.dtype} {self.size}"

    @property
    def size(self) -> str:
        """What the name says after kind and type."""
        raise NotImplementedError

    @property
    def flop(self) -> float:
        return 0.0

    @property
    def bytes(self) -> float:
        """Of inputs read once and outputs written once, where that is the measure."""
        return 0.0

    @property
    def unit(self) -> str:
        return "TFLOP/s" if self.flop else "GB/s"

    def rate(self, microseconds: float) -> float:
        return self.flop / microseconds * 1e-6 if self.flop else self.bytes / microseconds * 1e-3

    def parameters(self) -> list[Parameter]:
        """Of all its launches; inputs first, in the order in which libraries take them."""
        raise NotImplementedError

    def array(self, name: str) -> Array:
        found = next(p for p in self.parameters() if p.name == name)
        assert isinstance(found, Array)
        return found

    # ------------------------------------------------------------ reference

    @property
    def units(self) -> int:
        return 1

    def rows(self, unit: int) -> int:
        """How many rows a unit of the output has."""
        raise NotImplementedError

    def place(self, unit: int, rows: Any) -> Any:
        """The index of rows of a unit in the output."""
        return rows

    def want(self, real: Numbers, inputs: dict[str, Any], unit: int, rows: Any) -> Any:
        """What these rows of a unit should be."""
        raise NotImplementedError

    # ------------------------------------------------------------ images

    def constants(self) -> dict[str, Any]:
        """What is built into an image for this case, other than its tile."""
        return {}

    def divides(self, e: Entry) -> bool:
        """Whether the extents are such that the image's tile fits, and keep what it was promised."""
        return True

    def fits(self, e: Entry) -> bool:
        """Whether an image can be launched on it."""
        return (e["kind"], e["dtype"], e["constants"]) == (self.kind, self.dtype, self.constants()) and self.divides(e)

    def grids(self, e: Entry, sms: int) -> list[Grid]:
        """The grid of a launch. Where clusters multiply it there are two candidates, and the right result tells which
        one it is."""
        raise NotImplementedError

    def steps(self, e: Entry, sms: int) -> list[Step]:
        """The launches that compute the result, one after the other."""
        return [Step(e["name"], self.grids(e, sms), tuple(p.name for p in self.parameters()))]

    @classmethod
    def small(cls, e: Entry) -> Problem:
        """A case of one to a few tiles for an image."""
        raise NotImplementedError


def tiles(extents: Sequence[int], tile: Sequence[int]) -> int:
    """How many tiles cover a space."""
    found = 1
    for n, t in zip(extents, tile):
        found *= -(-n // t)
    return found


def persistent(e: Entry, count: int, sms: int) -> list[Grid]:
    """A grid of a block for each of `count` tiles, or of as many blocks as run at the same time."""
    ctas = e["ctas"]
    blocks = min(count, sms // ctas) if e["persistent"] else count
    return [(blocks, 1, 1)] if ctas == 1 else [(blocks, 1, 1), (blocks * ctas, 1, 1)]
