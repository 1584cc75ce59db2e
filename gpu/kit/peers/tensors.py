"""The tensors of a case, with PyTorch: random inputs in several sets, a poisoned output, and the error relative to
float64."""
from __future__ import annotations

import math
from typing import Any

import numpy as np

from .problem import Array, Arrays, Number, Numbers, Problem

# Input sets that launches alternate between.
SETS = 2
# Number of rows that are compared, and maximum number of units that they are taken from.
SAMPLE, UNITS = 64, 4


class Tensors:
    """`sets` holds the inputs in the order of the case's parameters. All other data for launches exists once."""

    def __init__(self, problem: Problem, device: str = "cuda"):
        import torch
        self.problem, self.device, self.torch = problem, device, torch
        self.types = {"bf16": torch.bfloat16, "f16": torch.float16, "f32": torch.float32, "e4m3": torch.float8_e4m3fn,
                      "i8": torch.int8, "u8": torch.uint8, "i32": torch.int32}
        torch.manual_seed(17)
        parameters = [p for p in problem.parameters() if not isinstance(p, Number)]
        self.inputs = [p for p in parameters if not _written(p)]
        self.sets: list[tuple[Any, ...]] = [tuple(self._made(p) for p in self.inputs) for _ in range(SETS)]
        self.written = {p.name: self._made(p) for p in parameters if _written(p)}
        self.out = self.written[problem.result]

    def _made(self, p: Array | Arrays) -> Any:
        if isinstance(p, Arrays):
            return [self._made(a) for a in p.items]
        torch, dtype = self.torch, self.types[p.dtype]
        if isinstance(p.fill, np.ndarray):
            return torch.from_numpy(p.fill).to(self.device, dtype)
        if p.fill == "poison":
            return torch.empty(p.shape, dtype=dtype, device=self.device)
        if p.fill == "scale":
            return torch.rand(p.shape, dtype=dtype, device=self.device) * 1.5 + 0.5
        if dtype == torch.int8:
            # The small range keeps sums of products exact; the full range covers all pairs of 4 bits.
            low, high = (-20, 21) if self.problem.dtype == "int8" else (-128, 128)
            return torch.randint(low, high, p.shape, dtype=dtype, device=self.device)
        if dtype == torch.uint8:
            return torch.randint(0, 256, p.shape, dtype=dtype, device=self.device)
        # Generated in the type itself if possible: float32 of the largest tensors would not fit in addition to the
        # others.
        if dtype in (torch.bfloat16, torch.float16, torch.float32):
            return torch.randn(p.shape, dtype=dtype, device=self.device)
        return torch.randn(p.shape, dtype=torch.bfloat16, device=self.device).to(dtype)

    def arguments(self, inputs: tuple[Any, ...]) -> dict[str, Any]:
        """All parameters by name, with one of the input sets."""
        numbers = {p.name: p for p in self.problem.parameters() if isinstance(p, Number)}
        return {**dict(zip((p.name for p in self.inputs), inputs)), **self.written, **numbers}

    def poison(self) -> None:
        for tensor in flat(self.written.values()):
            if tensor.dtype.is_floating_point:
                tensor.fill_(math.nan)
            else:
                tensor.fill_(0x5A)

    def error(self, out: Any) -> float:
        """The relative error of an output of the first input set, on a sample of rows; infinite if it is not a
        number."""
        torch, p = self.torch, self.problem
        inputs = self.arguments(self.sets[0])
        real = numbers(torch, self.device)
        units = sorted({round(i * (p.units - 1) / max(1, UNITS - 1)) for i in range(UNITS)})
        off = of = 0.0
        for unit in units:
            count = p.rows(unit)
            if not count:
                continue
            rows = torch.randint(0, count, (SAMPLE // len(units),), device=self.device)
            # The last row attends to the most keys, and is at the end of a tile.
            rows[-1] = count - 1
            want = p.want(real, inputs, unit, rows)
            got = _at(out, p.place(unit, rows)).double()
            off += float(((got - want) ** 2).sum())
            of += float((want ** 2).sum())
        error = math.sqrt(off / of) if of else math.inf
        return error if math.isfinite(error) else math.inf


def _written(p: Array | Arrays) -> bool:
    first = p.items[0] if isinstance(p, Arrays) else p
    return isinstance(first.fill, str) and first.fill == "poison"


def _at(out: Any, place: Any) -> Any:
    """A part of a tensor, or of one of several."""
    if isinstance(out, (list, tuple)):
        return out[place[0]][place[1:]]
    return out[place]


def flat(tensors: Any) -> list[Any]:
    """The tensors in lists of tensors."""
    return [x for t in tensors for x in (t if isinstance(t, (list, tuple)) else [t])]


def numbers(torch: Any, device: str) -> Numbers:
    def read(array: Any, at: Any) -> Any:
        if array.dtype == torch.float8_e4m3fn:
            # Elements of this type cannot be indexed.
            return array.view(torch.uint8)[at].view(array.dtype).double()
        return array[at] if array.dtype == torch.int32 else array[at].double()

    return Numbers(torch, read, lambda n: torch.arange(n, device=device))
