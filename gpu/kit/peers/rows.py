"""Memory-bound cases: copies, vector addition, rows."""
from __future__ import annotations

import dataclasses
from typing import Any

from .problem import Array, Entry, Grid, Numbers, Parameter, Problem


@dataclasses.dataclass(frozen=True)
class Elements(Problem):
    """An operation on each element of vectors."""
    n: int
    seconds = 7.0

    @property
    def size(self) -> str:
        return str(self.n)

    def rows(self, unit: int) -> int:
        return self.n


@dataclasses.dataclass(frozen=True)
class Copy(Elements):
    kind = "copy"
    seconds = 1.0

    @property
    def bytes(self) -> float:
        return 2.0 * self.n

    def parameters(self) -> list[Parameter]:
        return [Array("x", self.storage, (self.n,)), Array("out", self.storage, (self.n,), "poison")]

    def want(self, real: Numbers, inputs: dict[str, Any], unit: int, rows: Any) -> Any:
        return real(inputs["x"], rows)

    def fits(self, e: Entry) -> bool:
        # A reference without competitors.
        return False


@dataclasses.dataclass(frozen=True)
class VectorAdd(Elements):
    kind = "vadd"

    @property
    def bytes(self) -> float:
        return 12.0 * self.n

    def parameters(self) -> list[Parameter]:
        return [Array("a", "f32", (self.n,)), Array("b", "f32", (self.n,)), Array("out", "f32", (self.n,), "poison")]

    def want(self, real: Numbers, inputs: dict[str, Any], unit: int, rows: Any) -> Any:
        return real(inputs["a"], rows) + real(inputs["b"], rows)

    def divides(self, e: Entry) -> bool:
        return self.n % e["tile"][0] == 0

    def grids(self, e: Entry, sms: int) -> list[Grid]:
        return [(self.n // e["tile"][0], 1, 1)]

    @classmethod
    def small(cls, e: Entry) -> Problem:
        return cls(e["dtype"], 1, 2 * e["tile"][0])


@dataclasses.dataclass(frozen=True)
class Rows(Problem):
    """An operation on each row of a matrix."""
    height: int
    n: int
    seconds = 7.0

    @property
    def size(self) -> str:
        return f"{self.height}x{self.n}"

    @property
    def bytes(self) -> float:
        return 4.0 * self.height * self.n

    def rows(self, unit: int) -> int:
        return self.height

    def constants(self) -> dict[str, Any]:
        return {"n": self.n}

    def grids(self, e: Entry, sms: int) -> list[Grid]:
        return [(self.height, 1, 1)]

    @classmethod
    def small(cls, e: Entry) -> Problem:
        return cls(e["dtype"], 1, 3, e["tile"][1])


@dataclasses.dataclass(frozen=True)
class Softmax(Rows):
    kind = "softmax"

    def parameters(self) -> list[Parameter]:
        shape = (self.height, self.n)
        return [Array("x", self.storage, shape), Array("out", self.storage, shape, "poison")]

    def want(self, real: Numbers, inputs: dict[str, Any], unit: int, rows: Any) -> Any:
        return real.softmax(real(inputs["x"], rows))


@dataclasses.dataclass(frozen=True)
class LayerNorm(Rows):
    kind = "layernorm"
    EPSILON = 1e-5

    def parameters(self) -> list[Parameter]:
        s, shape = self.storage, (self.height, self.n)
        return [Array("x", s, shape), Array("weight", s, (self.n,)), Array("bias", s, (self.n,)),
                Array("out", s, shape, "poison")]

    def want(self, real: Numbers, inputs: dict[str, Any], unit: int, rows: Any) -> Any:
        x = real(inputs["x"], rows)
        centred = x - real.xp.mean(x, -1, keepdims=True)
        variance = real.xp.mean(centred ** 2, -1, keepdims=True)
        return centred / real.xp.sqrt(variance + self.EPSILON) * real(inputs["weight"]) + real(inputs["bias"])


def problems() -> list[Problem]:
    found: list[Problem] = [Copy("u8", 1, 1 << 32), VectorAdd("f32", 1, 1 << 28)]
    for n, tier in ((4096, 1), (16384, 2), (1024, 3), (8192, 3)):
        found += [Softmax("bf16", tier, (1 << 28) // n, n), LayerNorm("bf16", max(tier, 2), (1 << 28) // n, n)]
    return found
