"""Which kernels, tiles and hints compete: a table without cuda-tile, so that it can be read and tested anywhere.

Hints: `w` worker warps (none means that the compiler chooses), `occupancy`, `ctas` of a cluster.
"""
from __future__ import annotations

import dataclasses
from typing import Any, Callable, Union

from packer.target import PAIRS


@dataclasses.dataclass(frozen=True)
class Entry:
    """One kernel with its tile and hints. `params` are the Python parameters in order: ("array", dtype, rank, divisor
    of the extents), ("list", dtype, rank, divisor) of such arrays, ("scalar", dtype), or a constant."""
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
    # What is built in besides the tile, as `Problem.constants` of the kit has it.
    constants: dict[str, Any] = dataclasses.field(default_factory=dict)
    # The function in the modules of kernels, where it is not called as the kind of case.
    kernel: str = ""
    # The entry that is launched behind it.
    then: str = ""

    def hints(self) -> dict[str, int]:
        found = {"num_worker_warps": self.w, "occupancy": self.occupancy,
                 "num_ctas": self.ctas if self.ctas > 1 else None}
        return {k: v for k, v in found.items() if v is not None}

    def fields(self) -> dict[str, Any]:
        """As the manifest has them."""
        return {**dataclasses.asdict(self), "tile": list(self.tile),
                "params": [list(p) if isinstance(p, tuple) else p for p in self.params]}


Divisor = Union[int, tuple[int, ...]]


def array(dtype: str, rank: int, divisor: Divisor = 16) -> tuple:
    """A well-formed tensor: base and row strides of multiples of 16 bytes, extents of multiples of `divisor`, which may
    be of each."""
    return ("array", dtype, rank, divisor)


def arrays(dtype: str, rank: int, divisor: Divisor = 16) -> tuple:
    """A list of such tensors."""
    return ("list", dtype, rank, divisor)


F32 = ("scalar", "f32")


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
            add(f"softmax_{n}", w, occupancy, kind="softmax", dtype="bf16", tile=(1, n), constants={"n": n},
                params=(*[array("bf16", 2)] * 2, n))
            add(f"layernorm_{n}", w, occupancy, kind="layernorm", dtype="bf16", tile=(1, n), constants={"n": n},
                params=(array("bf16", 2), array("bf16", 1), array("bf16", 1), array("bf16", 2), 1e-5, n))

    types = {"bf16": ("bf16", "bf16"), "fp16": ("f16", "f16"), "fp8": ("e4m3", "bf16"), "int8": ("i8", "i32"),
             "tf32": ("f32", "f32")}

    def product(dtype: str, tile: tuple[int, int, int], persistent: bool, w: int | None, ctas: int = 1, nt: bool = True,
                divisor: int = 16,
                occupancy: int | None = None) -> None:
        source, result = types[dtype]
        base = f"mm_{dtype}_{'nt' if nt else 'nn'}_{'x'.join(map(str, tile))}"
        base += ("_p" if persistent else "") + ("_any" if divisor == 1 else "")
        params = (array(source, 2, divisor), array(source, 2, divisor), array(result, 2, divisor), *tile, 8)
        add(base, w, occupancy, ctas, kind="mm", dtype=dtype, tile=tile, params=params, persistent=persistent,
            divisor=divisor, constants={"nt": nt})

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
    if PAIRS:
        for persistent in (False, True):
            for dtype, k in (("bf16", 64), ("fp16", 64), ("fp8", 128), ("int8", 128), ("tf32", 32)):
                product(dtype, (256, 256, k), persistent, None, ctas=2)
            product("bf16", (256, 256, 64), persistent, None, ctas=2, nt=False)
    for d in (64, 128):
        for causal in (False, True):
            for block in ((128, 128), (128, 64)):
                for w, occupancy in ((None, None), (8, None), (None, 2)):
                    add(f"attention_{d}{'_causal' if causal else ''}_{block[0]}x{block[1]}", w, occupancy,
                        kind="attention", dtype="bf16", tile=block,
                        params=(*[array("bf16", 3)] * 4, F32, causal, d, *block), constants={"d": d, "causal": causal})
    _attention(add)
    _products(add)
    return found


# Adds an entry: its name, hints, and its other fields.
Add = Callable[..., None]


def _attention(add: Add) -> None:
    """As serving systems have it. Lengths are whole tiles where nothing else is said."""
    q, any_q = array("bf16", 3), array("bf16", 3, (1, 1, 16))

    def each(name: str, params: tuple, constants: dict[str, Any], blocks: tuple = ((128, 128), (128, 64)),
             **fields: Any) -> None:
        """With some tiles, which are the last parameters."""
        for block in blocks:
            add(f"{name}_{'x'.join(map(str, block))}", dtype="bf16", tile=block, params=(*params, *block),
                constants=constants, **{"kind": name, **fields})

    each("attention_96_causal", (q, q, q, q, F32, True, 128), {"d": 96, "causal": True}, kind="attention",
         kernel="attention_padded")
    each("attention_256_causal", (q, q, q, q, F32, True, 256), {"d": 256, "causal": True},
         ((128, 64), (128, 128), (64, 64)), kind="attention")
    each("attention_grouped", (q, q, q, q, F32, 4, 128), {"d": 128, "group": 4})
    each("attention_window", (q, q, q, q, F32, ("scalar", "i32"), 4, 128), {"d": 128, "group": 4})
    each("attention_capped", (q, q, q, q, F32, F32, 2, 128), {"d": 128, "group": 2})
    each("attention_biased", (q, q, q, q, q, F32, 64), {"d": 64})
    each("attention_latent", (q, q, q, q, F32, 128, 64), {"d": 128, "rotated": 64})
    tokens, numbers = array("bf16", 2, (1, 16)), array("i32", 1, 1)
    each("attention_packed", (tokens, tokens, tokens, numbers, tokens, F32, 4, 128), {"d": 128, "group": 4})
    # Eight rows in tiles of sixteen.
    pages, table, splits = array("bf16", 4, (1, 16, 1, 16)), array("i32", 2, 1), 32
    for w in (None, 8):
        each("attention_paged", (any_q, pages, pages, table, numbers, any_q, F32, 128),
             {"d": 128, "group": 8, "page": 64}, ((16, 64),), w=w)
    part, sums, combine = array("f32", 4, (1, 1, 1, 16)), array("f32", 3, 1), "attention_combine"
    each("attention_split", (any_q, any_q, any_q, part, sums, F32, 128), {"d": 128, "group": 8, "splits": splits},
         ((16, 64), (16, 128)), then=combine)
    add(combine, kind=combine, dtype="bf16", tile=(1, 128), params=(part, sums, any_q, splits, 128))


def _products(add: Add) -> None:
    """The families of products, by the tile (m, n, k)."""
    a, v, scales = array("bf16", 2), array("bf16", 1), array("f32", 2, (16, 1))
    square, wide, band = (128, 128, 64), (128, 256, 64), (8,)

    def each(kind: str, params: tuple, blocks: tuple, last: tuple = band, dtype: str = "bf16", **fields: Any) -> None:
        """With some tiles, which are the parameters before the last."""
        for tile in blocks:
            add(f"{kind}_{'x'.join(map(str, tile))}", kind=kind, dtype=dtype, tile=tile, params=(*params, *tile, *last),
                **fields)

    each("mm_gelu", (a, a, v, a), (square, wide), persistent=True)
    each("gated_unit", (a, a, a, a), (square, (128, 64, 64)))
    each("mm_of_norm", (a, v, a, a, 1e-5), (square, wide))
    each("mm_splitk", (a, a, array("f32", 2)), (square, (64, 128, 64)))
    eights, fours, deep, tall = array("e4m3", 2), array("i8", 2), (128, 128, 128), (256, 128, 128)
    each("mm_w8", (a, eights, scales, a), (deep, tall))
    each("mm_w4", (a, fours, scales, a), (deep, tall, (16, 128, 128)))
    each("mm_blocks", (eights, eights, array("f32", 2, (1, 16)), array("f32", 2, 1), a), (deep,), dtype="fp8")
    rows, matrices, numbers = array("bf16", 2, (1, 16)), array("bf16", 3, (1, 16, 16)), array("i32", 1, 1)
    each("bmm", (matrices, matrices, matrices), (square, wide))
    each("mm_ragged", (rows, matrices, numbers, rows), (square, wide), (), persistent=True)
    each("moe", (rows, matrices, array("i32", 1), numbers, rows, 128), (square, wide), ())
    each("mm_lists", (arrays("bf16", 2),) * 3, (square, wide), (), persistent=True)
    images = array("bf16", 4, (1, 1, 1, 16))
    filters = array("bf16", 3, (16, 1, 16))
    each("conv", (images, filters, images, 3), ((2, 64, 128, 64), (2, 64, 256, 64)), (), constants={"taps": 3})
    if PAIRS:
        pair = ((256, 256, 64),)
        each("mm_gelu", (a, a, v, a), pair, persistent=True, ctas=2)
        each("gated_unit", (a, a, a, a), ((256, 128, 64),), ctas=2)
        each("bmm", (matrices, matrices, matrices), pair, ctas=2)
        each("mm_ragged", (rows, matrices, numbers, rows), pair, (), persistent=True, ctas=2)
        each("mm_lists", (arrays("bf16", 2),) * 3, pair, (), persistent=True, ctas=2)
        each("conv", (images, filters, images, 3), ((4, 64, 256, 64),), (), constants={"taps": 3}, ctas=2)
