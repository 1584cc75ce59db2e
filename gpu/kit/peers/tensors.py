"""The tensors of a case, with PyTorch: random inputs in several sets, a poisoned output, and the error against float64."""
from __future__ import annotations

import math
from typing import Any

from .problems import Problem

# Input sets that launches take by turns.
SETS = 2
# Rows that are compared.
SAMPLE = 64


class Tensors:
    def __init__(self, problem: Problem, device: str = "cuda"):
        import torch
        self.problem, self.device, self.torch = problem, device, torch
        self.types = {"bf16": torch.bfloat16, "fp16": torch.float16, "tf32": torch.float32, "f32": torch.float32,
                      "fp8": torch.float8_e4m3fn, "int8": torch.int8, "u8": torch.uint8}
        torch.manual_seed(17)
        self.sets: list[tuple[Any, ...]] = [self._inputs() for _ in range(SETS)]
        self.out = self._output()

    def _random(self, *shape: int) -> Any:
        torch, dtype = self.torch, self.types[self.problem.dtype]
        if dtype == torch.int8:
            return torch.randint(-20, 21, shape, dtype=dtype, device=self.device)
        # Made in the type itself where that is possible: float32 of the largest ones would not fit beside the rest.
        if dtype in (torch.bfloat16, torch.float16, torch.float32):
            return torch.randn(*shape, dtype=dtype, device=self.device)
        return torch.randn(*shape, dtype=torch.bfloat16, device=self.device).to(dtype)

    def _inputs(self) -> tuple[Any, ...]:
        p = self.problem
        if p.kind == "mm":
            m, n, k = p.shape
            return self._random(m, k), self._random(n, k) if p.nt else self._random(k, n)
        if p.kind == "attention":
            return tuple(self._random(*p.shape) for _ in range(3))
        if p.kind == "layernorm":
            return self._random(*p.shape), self._random(p.shape[1]), self._random(p.shape[1])
        if p.kind == "copy":
            return (self.torch.randint(0, 256, p.shape, dtype=self.torch.uint8, device=self.device),)
        return tuple(self._random(*p.shape) for _ in range(2 if p.kind == "vadd" else 1))

    def _output(self) -> Any:
        torch, p = self.torch, self.problem
        if p.kind == "mm":
            dtype = {"int8": torch.int32, "fp8": torch.bfloat16}.get(p.dtype, self.types[p.dtype])
            return torch.empty(p.shape[0], p.shape[1], dtype=dtype, device=self.device)
        return torch.empty(p.shape, dtype=self.types[p.dtype], device=self.device)

    def poison(self) -> None:
        if self.out.dtype.is_floating_point:
            self.out.fill_(math.nan)
        else:
            self.out.fill_(0x5A)

    def error(self, out: Any) -> float:
        """The relative error of an output of the first input set, on a sample of rows; infinite where it is no number."""
        torch, p = self.torch, self.problem
        inputs = self.sets[0]
        if p.kind == "mm":
            a, b = inputs
            rows = torch.randint(0, p.shape[0], (SAMPLE,), device=self.device)
            want = select(a, rows).double() @ (b.double().T if p.nt else b.double())
            got = out[rows]
        elif p.kind == "attention":
            got, want = self._attention(out)
        elif p.kind in ("softmax", "layernorm"):
            x = inputs[0][:SAMPLE].double()
            want = torch.softmax(x, 1) if p.kind == "softmax" else torch.nn.functional.layer_norm(
                x, (p.shape[1],), inputs[1].double(), inputs[2].double())
            got = out[:SAMPLE]
        else:
            step = slice(None, None, max(1, p.shape[0] // 65536))
            want = inputs[0][step].double() + inputs[1][step].double() if p.kind == "vadd" else inputs[0][step].double()
            got = out[step]
        difference = (got.double() - want).norm() / want.norm()
        error = float(difference)
        return error if math.isfinite(error) else math.inf

    def _attention(self, out: Any) -> tuple[Any, Any]:
        """Some rows of the first head: all keys and values, in float64."""
        torch, p = self.torch, self.problem
        q, k, v = (t[0, 0].double() for t in self.sets[0])
        length, d = p.shape[2:]
        rows = torch.linspace(0, length - 1, min(SAMPLE, length), device=self.device).long()
        s = q[rows] @ k.T / math.sqrt(d)
        if p.causal:
            s.masked_fill_(torch.arange(length, device=self.device)[None, :] > rows[:, None], -math.inf)
        return out[0, 0][rows], torch.softmax(s, 1) @ v


def select(a: Any, rows: Any) -> Any:
    """Rows of a tensor, of types too that cannot be indexed."""
    import torch
    if a.dtype == torch.float8_e4m3fn:
        return a.view(torch.uint8)[rows].view(a.dtype)
    return a[rows]
