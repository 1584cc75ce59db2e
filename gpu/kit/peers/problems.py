"""The cases on which compilers and libraries compete, and how an image is launched on them. Knows neither PyTorch nor a device."""
from __future__ import annotations

import dataclasses
import json
import math
import pathlib
from typing import Any

Entry = dict[str, Any]

# Relative error, by Frobenius norms over sampled rows, above which a result is wrong.
TOLERANCE = {"f32": 1e-6, "bf16": 1e-2, "fp16": 2e-3, "tf32": 2e-3, "fp8": 2e-2, "int8": 0.0}


@dataclasses.dataclass(frozen=True)
class Problem:
    """One case. `shape` by kind: mm (m, n, k), attention (batch, heads, length, d), softmax and layernorm (rows, n), vadd and
    copy (n)."""
    kind: str
    dtype: str
    shape: tuple[int, ...]
    # 1 is measured before the micro-kernels, 2 after those that matter most, 3 if time is left.
    tier: int
    nt: bool = True
    causal: bool = False

    @property
    def name(self) -> str:
        size = "x".join(map(str, self.shape))
        if self.kind == "mm":
            return f"mm {self.dtype} {size} {'nt' if self.nt else 'nn'}"
        if self.kind == "attention":
            batch, heads, length, d = self.shape
            return f"attention {self.dtype} b{batch} h{heads} d{d} s{length}{' causal' if self.causal else ''}"
        return f"{self.kind} {self.dtype} {size}"

    @property
    def flop(self) -> float:
        if self.kind == "mm":
            m, n, k = self.shape
            return 2.0 * m * n * k
        if self.kind == "attention":
            batch, heads, length, d = self.shape
            return 4.0 * batch * heads * length * length * d * (0.5 if self.causal else 1)
        return 0.0

    @property
    def bytes(self) -> float:
        """Of inputs read once and outputs written once, where that is the measure."""
        if self.kind == "vadd":
            return 12.0 * self.shape[0]
        if self.kind in ("softmax", "layernorm"):
            return 4.0 * self.shape[0] * self.shape[1]
        if self.kind == "copy":
            return 2.0 * self.shape[0]
        return 0.0

    @property
    def unit(self) -> str:
        return "TFLOP/s" if self.flop else "GB/s"

    def rate(self, microseconds: float) -> float:
        return self.flop / microseconds * 1e-6 if self.flop else self.bytes / microseconds * 1e-3

    @property
    def seconds(self) -> float:
        """What measuring it takes, with all competitors' variants."""
        return {"mm": 14.0, "attention": 12.0, "copy": 1.0}.get(self.kind, 7.0)


def problems() -> list[Problem]:
    found = [Problem("copy", "u8", (1 << 32,), 1)]

    def mm(dtype: str, m: int, n: int, k: int, tier: int, nt: bool = True) -> None:
        found.append(Problem("mm", dtype, (m, n, k), tier, nt=nt))

    mm("bf16", 8192, 8192, 8192, 1)
    mm("fp8", 8192, 8192, 8192, 1)
    mm("int8", 8192, 8192, 8192, 2)
    mm("tf32", 8192, 8192, 4096, 2)
    mm("fp16", 8192, 8192, 8192, 2)
    mm("bf16", 4096, 4096, 4096, 2)
    mm("bf16", 8192, 8192, 1024, 2)
    mm("bf16", 8192, 8192, 8192, 2, nt=False)
    mm("bf16", 2048, 2048, 2048, 3)
    mm("bf16", 1000, 3000, 4096, 3)
    mm("bf16", 65536, 1024, 1024, 3)
    mm("fp16", 8192, 8192, 512, 3)
    mm("fp8", 8192, 8192, 1024, 3)
    for d, causal, length, tier in ((128, False, 8192, 1), (128, True, 8192, 2), (64, False, 8192, 2), (128, False, 1024, 2), (64, True, 8192, 3),
                                    (128, False, 4096, 3), (128, False, 16384, 3), (128, True, 1024, 3), (128, True, 16384, 3), (64, False, 1024, 3)):
        # Sixteen heads, and as many batches as make 16384 rows.
        found.append(Problem("attention", "bf16", (max(1, 16384 // length), 16, length, d), tier, causal=causal))
    found.append(Problem("vadd", "f32", (1 << 28,), 1))
    for n, tier in ((4096, 1), (16384, 2), (1024, 3), (8192, 3)):
        for kind in ("softmax", "layernorm"):
            found.append(Problem(kind, "bf16", ((1 << 28) // n, n), tier if kind == "softmax" else max(tier, 2)))
    return found


# ---------------------------------------------------------------- images

def entries(pack: pathlib.Path) -> list[Entry]:
    path = pack / "peers" / "index.json"
    return json.loads(path.read_text()) if path.is_file() else []


def fits(e: Entry, p: Problem) -> bool:
    """Whether an image can be launched on a case: kind, type, and what it was promised of the extents."""
    if e.get("same_as") or (e["kind"], e["dtype"]) != (p.kind, p.dtype):
        return False
    if p.kind == "mm":
        # Images without promises are for the cases that need them.
        plain = any(x % 16 for x in p.shape)
        return e["nt"] == p.nt and e["divisor"] == (1 if plain else 16)
    if p.kind == "attention":
        return e["d"] == p.shape[3] and e["causal"] == p.causal and all(p.shape[2] % t == 0 for t in e["tile"])
    if p.kind == "vadd":
        return p.shape[0] % e["tile"][0] == 0
    return e["tile"][1] == p.shape[1]


def grids(e: Entry, p: Problem, sms: int) -> list[tuple[int, int, int]]:
    """The grid of a launch. Where clusters multiply it there are two candidates, and the right result tells which one it is."""
    if p.kind == "mm":
        (m, n, _), (tm, tn, _) = p.shape, e["tile"]
        tiles = math.ceil(m / tm) * math.ceil(n / tn)
        ctas = e["ctas"]
        blocks = min(tiles, sms // ctas) if e["persistent"] else tiles
        return [(blocks, 1, 1)] if ctas == 1 else [(blocks, 1, 1), (blocks * ctas, 1, 1)]
    if p.kind == "attention":
        batch, heads, length, _ = p.shape
        return [(length // e["tile"][0], batch * heads, 1)]
    if p.kind == "vadd":
        return [(p.shape[0] // e["tile"][0], 1, 1)]
    return [(p.shape[0], 1, 1)]


def blocks(e: Entry) -> list[tuple[int, int, int]]:
    """How to give the block: the vendor's images as cuTile launches them, and in earnest if that is refused; ours in earnest."""
    true = tuple(e["block"])
    return [(1, 1, 1), true] if e["who"] == "vendor" else [true]


def config(e: Entry) -> str:
    """The name without what all images of a case have in common."""
    return e["name"]
