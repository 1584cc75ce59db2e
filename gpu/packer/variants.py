"""Which kernels, tiles and hints compete: a table without cuda-tile, so that it can be read and tested anywhere.

Hints: `w` worker warps (none means that the compiler chooses), `occupancy`, `ctas` of a cluster.
"""
from __future__ import annotations

import dataclasses
from typing import Any


@dataclasses.dataclass(frozen=True)
class Entry:
    """One kernel with its tile and hints. `params` are the Python parameters in order: ("array", dtype, rank, divisor of the
    extents), ("scalar", dtype), or a constant."""
    name: str
    kind: str
    dtype: str
    tile: tuple[int, ...]
    params: tuple[Any, ...]
    w: int | None = None
    occupancy: int | None = None
    ctas: int = 1
    persistent: bool = False
    divisor: int = 16
    d: int = 0
    causal: bool = False
    nt: bool = True

    def hints(self) -> dict[str, int]:
        found = {"num_worker_warps": self.w, "occupancy": self.occupancy, "num_ctas": self.ctas if self.ctas > 1 else None}
        return {k: v for k, v in found.items() if v is not None}

    def fields(self) -> dict[str, Any]:
        """As the manifest has them."""
        return {**dataclasses.asdict(self), "tile": list(self.tile), "params": [list(p) if isinstance(p, tuple) else p for p in self.params]}


def array(dtype: str, rank: int, divisor: int = 16) -> tuple:
    """A well-formed tensor: base and row strides of multiples of 16 bytes, extents of multiples of `divisor`."""
    return ("array", dtype, rank, divisor)


def _suffix(w: int | None, occupancy: int | None, ctas: int) -> str:
    return (f"_w{w}" if w else "") + (f"_o{occupancy}" if occupancy else "") + (f"_c{ctas}" if ctas > 1 else "")


def entries() -> list[Entry]:
    found: list[Entry] = []

    def add(base: str, w: int | None = None, occupancy: int | None = None, ctas: int = 1, **fields: Any) -> None:
        found.append(Entry(base + _suffix(w, occupancy, ctas), w=w, occupancy=occupancy, ctas=ctas, **fields))

    for n in (1024, 2048, 4096):
        for w, occupancy in ((None, None), (8, None)) + (((None, 2), (None, 4)) if n == 2048 else ()):
            add(f"vadd_{n}", w, occupancy, kind="vadd", dtype="f32", tile=(n,), params=(*[array("f32", 1)] * 3, n))
    for n in (1024, 4096, 8192, 16384):
        for w, occupancy in ((None, None), (None, 2), (None, 4), (8, None), (8, 2)):
            add(f"softmax_{n}", w, occupancy, kind="softmax", dtype="bf16", tile=(1, n), params=(*[array("bf16", 2)] * 2, n))
            add(f"layernorm_{n}", w, occupancy, kind="layernorm", dtype="bf16", tile=(1, n),
                params=(array("bf16", 2), array("bf16", 1), array("bf16", 1), array("bf16", 2), 1e-5, n))

    types = {"bf16": ("bf16", "bf16"), "fp16": ("f16", "f16"), "fp8": ("e4m3", "bf16"), "int8": ("i8", "i32"), "tf32": ("f32", "f32")}

    def product(dtype: str, tile: tuple[int, int, int], persistent: bool, w: int | None, ctas: int = 1, nt: bool = True, divisor: int = 16,
                occupancy: int | None = None) -> None:
        source, result = types[dtype]
        base = f"mm_{dtype}_{'nt' if nt else 'nn'}_{'x'.join(map(str, tile))}" + ("_p" if persistent else "") + ("_any" if divisor == 1 else "")
        params = (array(source, 2, divisor), array(source, 2, divisor), array(result, 2, divisor), *tile, 8)
        add(base, w, occupancy, ctas, kind="mm", dtype=dtype, tile=tile, params=params, persistent=persistent, divisor=divisor, nt=nt)

    for nt in (True, False):
        for tile in ((128, 128, 64), (128, 256, 64), (256, 128, 64), (64, 256, 64)):
            for persistent in (False, True):
                for w in (None, 8):
                    product("bf16", tile, persistent, w, nt=nt)
    for tile in ((128, 256, 64), (256, 128, 64)):
        for persistent in (False, True):
            for w in (None, 8):
                product("bf16", tile, persistent, w, ctas=2)
    product("bf16", (128, 128, 64), False, None, occupancy=2)
    for tile in ((128, 128, 64), (128, 256, 64)):
        for w in (None, 8):
            product("bf16", tile, False, w, divisor=1)
    for persistent in (False, True):
        for w in (None, 8):
            product("fp16", (128, 256, 64), persistent, w)
    for dtype in ("fp8", "int8"):
        for tile in ((128, 256, 128), (128, 128, 128)):
            for persistent in (False, True):
                for w in (None, 8):
                    product(dtype, tile, persistent, w)
        for w in (None, 8):
            product(dtype, (128, 256, 128), False, w, ctas=2)
    for tile in ((256, 128, 128), (64, 256, 128), (128, 256, 64)):
        product("fp8", tile, False, 8)
    for tile in ((128, 128, 32), (128, 256, 32)):
        for w in (None, 8):
            product("tf32", tile, False, w)
    for d in (64, 128):
        for causal in (False, True):
            for block in ((128, 128), (128, 64)):
                for w, occupancy in ((None, None), (8, None), (None, 2)):
                    add(f"attention_{d}{'_causal' if causal else ''}_{block[0]}x{block[1]}", w, occupancy, kind="attention", dtype="bf16", tile=block,
                        params=(*[array("bf16", 3)] * 4, ("scalar", "f32"), causal, d, *block), d=d, causal=causal)
    return found
