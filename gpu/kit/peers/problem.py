"""A case: its arrays, expected results, and launches. Each kind of case is a class.

This module does not depend on PyTorch or a device. A reference is written once for both NumPy and PyTorch: `Numbers`
reads arrays of either.
"""
from __future__ import annotations

import dataclasses
from typing import Any, Callable, ClassVar, Sequence, Union

import numpy as np

Entry = dict[str, Any]
Grid = tuple[int, int, int]

# The names of input types in cases, and of their storage.
STORAGE = {"f32": "f32", "bf16": "bf16", "fp16": "f16", "tf32": "f32", "fp8": "e4m3", "int8": "i8", "u8": "u8"}

BYTES = {"f32": 4, "bf16": 2, "f16": 2, "e4m3": 1, "i8": 1, "u8": 1, "i32": 4}


@dataclasses.dataclass(frozen=True, eq=False)
class Array:
    """An array parameter. `fill` is its initial contents: `random` by its type; `scale`, numbers from 1/2 to 2;
    `poison` for outputs; or the values themselves, which determine the amount of work."""
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
    """A launch of a case: the name of its entry, candidates for its grid, and the names of its parameters."""
    entry: str
    grids: list[Grid]
    parameters: tuple[str, ...]


class Numbers:
    """Converts arrays to numbers in float64. `xp` is the module with functions on them: NumPy or PyTorch."""

    def __init__(self, xp: Any, read: Callable[[Any, Any], Any], arange: Callable[[int], Any]):
        self.xp = xp
        self._read = read
        self.arange = arange

    def __call__(self, array: Any, at: Any = ...) -> Any:
        """The numbers of an array, or of a part of it."""
        return self._read(array, at)

    def softmax(self, s: Any) -> Any:
        """The softmax of each row."""
        e = self.xp.exp(s - self.xp.amax(s, -1, keepdims=True))
        return e / self.xp.sum(e, -1, keepdims=True)

    def sigmoid(self, x: Any) -> Any:
        return 1 / (1 + self.xp.exp(-x))


@dataclasses.dataclass(frozen=True)
class Problem:
    """One case. Its output consists of units (heads, matrices of a batch, all rows) that are computed
    independently."""
    dtype: str
    # 1 is measured before the micro-kernels, 2 after the most important ones, 3 and 4 if time is left.
    tier: int

    # The first word of the name, which also identifies the images for the case.
    kind: ClassVar[str]
    # The parameter that holds the result.
    result: ClassVar[str] = "out"
    # Whether the result must be zero before each launch, because kernels add to it.
    clears: ClassVar[bool] = False
    # Relative error, by Frobenius norms over sampled rows, above which a result is wrong. Rounding a result or an
    # operand has an error of 2e-3 for bf16 and 2e-4 for fp16. Omitting a block of keys or a step of a sum has an
    # error of at least 6e-2 in every case.
    TOLERANCE: ClassVar[dict[str, float]] = {"f32": 1e-6, "bf16": 1e-2, "fp16": 2e-3, "tf32": 2e-3, "fp8": 2e-2,
                                             "int8": 0.0, "u8": 0.0}
    # Duration of the measurement, with all variants of competitors.
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
        """The part of the name after kind and type."""
        raise NotImplementedError

    @property
    def flop(self) -> float:
        return 0.0

    @property
    def bytes(self) -> float:
        """Bytes of inputs read once and outputs written once, if that is the metric."""
        return 0.0

    @property
    def unit(self) -> str:
        return "TFLOP/s" if self.flop else "GB/s"

    def rate(self, microseconds: float) -> float:
        return self.flop / microseconds * 1e-6 if self.flop else self.bytes / microseconds * 1e-3

    def parameters(self) -> list[Parameter]:
        """The parameters of all launches; inputs first, in the order of the libraries' functions."""
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
        """Number of rows in a unit of the output."""
        raise NotImplementedError

    def place(self, unit: int, rows: Any) -> Any:
        """The index of a unit's rows in the output."""
        return rows

    def want(self, real: Numbers, inputs: dict[str, Any], unit: int, rows: Any) -> Any:
        """The expected values of these rows of a unit."""
        raise NotImplementedError

    # ------------------------------------------------------------ images

    def constants(self) -> dict[str, Any]:
        """The constants of an image for this case, other than its tile."""
        return {}

    def divides(self, e: Entry) -> bool:
        """Whether the extents are compatible with the image's tile and its promises."""
        return True

    def fits(self, e: Entry) -> bool:
        """Whether an image can be launched on the case."""
        return (e["kind"], e["dtype"], e["constants"]) == (self.kind, self.dtype, self.constants()) and self.divides(e)

    def grids(self, e: Entry, sms: int) -> list[Grid]:
        """The grid of a launch. If clusters multiply it there are two candidates; the one with the correct result is
        right."""
        raise NotImplementedError

    def steps(self, e: Entry, sms: int) -> list[Step]:
        """The launches that compute the result, one after another."""
        return [Step(e["name"], self.grids(e, sms), tuple(p.name for p in self.parameters()))]

    @classmethod
    def small(cls, e: Entry) -> Problem:
        """A case of one to a few tiles for an image."""
        raise NotImplementedError


def tiles(extents: Sequence[int], tile: Sequence[int]) -> int:
    """Number of tiles that cover a space."""
    found = 1
    for n, t in zip(extents, tile):
        found *= -(-n // t)
    return found


def persistent(e: Entry, count: int, sms: int) -> list[Grid]:
    """A grid with a block for each of `count` tiles, or with as many blocks as can run concurrently."""
    ctas = e["ctas"]
    blocks = min(count, sms // ctas) if e["persistent"] else count
    return [(blocks, 1, 1)] if ctas == 1 else [(blocks, 1, 1), (blocks * ctas, 1, 1)]
