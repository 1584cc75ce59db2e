"""The kernels of scripts/independent.py, with their launches and results by NumPy. Arrays hold small whole numbers."""
from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import triton
import triton.language as tl


@dataclass
class Case:
    """A kernel with its launch: `values` are arrays and numbers in the order of the parameters that are no constants,
    `expected` the contents of arrays afterwards, by position."""
    name: str
    family: str
    target: int
    function: Any
    constants: dict[str, Any]
    values: list[Any]
    expected: dict[int, np.ndarray]
    grid: tuple[int, ...]
    options: dict[str, Any] = field(default_factory=dict)


class Typed:
    """An array whose elements NumPy has no type for: stored bits, and Triton's name of the type."""

    def __init__(self, bits: np.ndarray, kind: str, dtype: str):
        self.bits, self.kind, self.dtype = bits, kind, dtype


@triton.jit
def product(a, b, c, M, N, K, AM: tl.constexpr, AK: tl.constexpr, BK: tl.constexpr, BN: tl.constexpr, D: tl.constexpr,
            BM: tl.constexpr, BNN: tl.constexpr, BKK: tl.constexpr, OUT: tl.constexpr, STAGES: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BNN + tl.arange(0, BNN)
    k = tl.arange(0, BKK)
    sum = tl.zeros((BM, BNN), dtype=D)
    for i in tl.range(0, K, BKK, num_stages=STAGES):
        x = tl.load(a + m[:, None] * AM + (i + k)[None, :] * AK, mask=m[:, None] < M, other=0)
        y = tl.load(b + (i + k)[:, None] * BK + n[None, :] * BN, mask=n[None, :] < N, other=0)
        sum = tl.dot(x, y, sum, out_dtype=D, input_precision="tf32")
    tl.store(c + m[:, None] * N + n[None, :], sum.to(OUT), mask=(m[:, None] < M) & (n[None, :] < N))


@triton.jit
def described(a, b, c, M, N, K, TILES, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, TURNED: tl.constexpr,
              OUT: tl.constexpr, STAGES: tl.constexpr, AGENTS: tl.constexpr):
    """Persistent, with tensor maps built on the device."""
    da = tl.make_tensor_descriptor(a, shape=[M, K], strides=[K, 1], block_shape=[BM, BK])
    if TURNED:
        db = tl.make_tensor_descriptor(b, shape=[N, K], strides=[K, 1], block_shape=[BN, BK])
    else:
        db = tl.make_tensor_descriptor(b, shape=[K, N], strides=[N, 1], block_shape=[BK, BN])
    dc = tl.make_tensor_descriptor(c, shape=[M, N], strides=[N, 1], block_shape=[BM, BN])
    for tile in tl.range(tl.program_id(0), TILES, tl.num_programs(0), flatten=True, warp_specialize=AGENTS):
        m, n = tile // tl.cdiv(N, BN) * BM, tile % tl.cdiv(N, BN) * BN
        sum = tl.zeros((BM, BN), dtype=tl.float32)
        for k in tl.range(0, K, BK, num_stages=STAGES):
            x = da.load([m, k])
            y = db.load([n, k]).T if TURNED else db.load([k, n])
            sum = tl.dot(x, y, sum)
        dc.store([m, n], sum.to(OUT))


@triton.jit
def scaled(a, sa, b, sb, c, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, FA: tl.constexpr,
           FB: tl.constexpr, PA: tl.constexpr, PB: tl.constexpr, VECTOR: tl.constexpr, STAGES: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    ka, kb, ks = tl.arange(0, BK // PA), tl.arange(0, BK // PB), tl.arange(0, BK // VECTOR)
    sum = tl.zeros((BM, BN), dtype=tl.float32)
    for i in tl.range(0, K, BK, num_stages=STAGES):
        x = tl.load(a + m[:, None] * (K // PA) + (i // PA + ka)[None, :])
        y = tl.load(b + n[None, :] * (K // PB) + (i // PB + kb)[:, None])
        s = tl.load(sa + m[:, None] * (K // VECTOR) + (i // VECTOR + ks)[None, :])
        t = tl.load(sb + n[:, None] * (K // VECTOR) + (i // VECTOR + ks)[None, :])
        sum = tl.dot_scaled(x, s, FA, y, t, FB, sum)
    tl.store(c + m[:, None] * N + n[None, :], sum)


@triton.jit
def chain(q, k, v, o, L, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, TYPE: tl.constexpr,
          STAGES: tl.constexpr, AGENTS: tl.constexpr):
    """The two products of attention, with max(0, x) between them."""
    m, d = tl.program_id(0) * BM + tl.arange(0, BM), tl.arange(0, D)
    x = tl.load(q + m[:, None] * D + d[None, :])
    sum = tl.zeros((BM, D), dtype=tl.float32)
    for i in tl.range(0, L, BN, num_stages=STAGES, warp_specialize=AGENTS):
        n = i + tl.arange(0, BN)
        y = tl.load(k + n[None, :] * D + d[:, None])
        z = tl.load(v + n[:, None] * D + d[None, :])
        sum = tl.dot(tl.maximum(tl.dot(x, y), 0.0).to(TYPE), z, sum)
    tl.store(o + m[:, None] * D + d[None, :], sum)


@triton.jit
def rows(x, y, z, w, N, OF: tl.constexpr, B: tl.constexpr):
    """Sum, maximum, index of the maximum and sums of prefixes of a row."""
    n = tl.arange(0, B)
    row = tl.program_id(0)
    values = tl.load(x + row * N + n, mask=n < N, other=0)
    tl.store(y + row, tl.sum(values, axis=0))
    tl.store(z + row, tl.argmax(values, axis=0) if OF == 1 else tl.max(values, axis=0).to(tl.int32))
    tl.store(w + row * N + n, tl.cumsum(values, axis=0), mask=n < N)


@triton.jit
def turned(x, y, M, N, BM: tl.constexpr, BN: tl.constexpr):
    m, n = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN)
    tile = tl.load(x + m[:, None] * N + n[None, :], mask=(m[:, None] < M) & (n[None, :] < N))
    tl.store(y + n[:, None] * M + m[None, :], tl.trans(tile), mask=(n[:, None] < N) & (m[None, :] < M))


@triton.jit
def counted(x, y, z, N, B: tl.constexpr, BINS: tl.constexpr):
    """A histogram by atomics, and the number of blocks that have finished."""
    n = tl.program_id(0) * B + tl.arange(0, B)
    values = tl.load(x + n, mask=n < N, other=0)
    tl.atomic_add(y + values, 1, mask=n < N)
    tl.atomic_max(z, tl.program_id(0))


@triton.jit
def sorted_rows(x, y, N: tl.constexpr, DESCENDING: tl.constexpr):
    n = tl.arange(0, N)
    row = tl.program_id(0)
    tl.store(y + row * N + n, tl.sort(tl.load(x + row * N + n), descending=DESCENDING))


@triton.jit
def gathered(x, i, y, N: tl.constexpr, M: tl.constexpr):
    n, m = tl.arange(0, N), tl.arange(0, M)
    table = tl.load(x + n[:, None] * M + m[None, :])
    tl.store(y + n[:, None] * M + m[None, :], tl.gather(table, tl.load(i + n[:, None] * M + m[None, :]), axis=0))


def whole(seed: int, *shape: int, low: int = -3, high: int = 4) -> np.ndarray:
    return np.random.default_rng(seed).integers(low, high, shape)


# Bits of the small whole numbers of 8-bit and 4-bit floats.
E4M3 = {0: 0, 1: 0x38, 2: 0x40, 3: 0x44, 4: 0x48}
E5M2 = {0: 0, 1: 0x3c, 2: 0x40, 3: 0x42, 4: 0x44}
E2M1 = {0: 0, 1: 2, 2: 4, 3: 5, 4: 6}


def small(values: np.ndarray, table: dict[int, int], sign: int) -> np.ndarray:
    bits = np.vectorize(table.__getitem__)(np.abs(values))
    return (bits | np.where(values < 0, sign, 0)).astype(np.uint8)


def packed(values: np.ndarray) -> np.ndarray:
    bits = small(values, E2M1, 8)
    return (bits[:, ::2] | bits[:, 1::2] << 4).astype(np.uint8)


def stored(values: np.ndarray, name: str) -> Any:
    """Values as an array of a type."""
    match name:
        case "bf16":
            return Typed((values.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16), "*bf16", "bf16")
        case "e4m3":
            return Typed(small(values, E4M3, 0x80), "*fp8e4nv", "u8")
        case "e5m2":
            return Typed(small(values, E5M2, 0x80), "*fp8e5", "u8")
        case _:
            return values.astype({"f32": np.float32, "f16": np.float16, "i8": np.int8, "i32": np.int32}[name])


def bits_of(values: np.ndarray, name: str) -> np.ndarray:
    array = stored(values, name)
    return array.bits if isinstance(array, Typed) else array


TYPES = {"f16": tl.float16, "bf16": tl.bfloat16, "f32": tl.float32, "i32": tl.int32}


def products(target: int) -> Iterator[Case]:
    shapes = [(128, 128, 64, 2), (128, 64, 32, 3), (64, 64, 64, 1), (128, 256, 64, 3), (256, 128, 32, 2)]
    for element, tile, warps, majors in [(e, t, w, j) for e in ("f16", "bf16", "f32", "i8", "e4m3", "e5m2")
                                         for t in shapes for w, j in ((4, "NT"), (8, "NN"))]:
        bm, bn, bk, stages = tile
        if element == "i8" and target == 103 or element == "f32" and bn == 256:
            continue  # no such instruction; more shared memory than there is
        if bm * bn > 16384 and (warps == 4 or target == 120):
            continue
        m, n, k = bm + 16, bn + 16, 3 * bk
        x, y = whole(1, m, k), whole(2, k, n)
        turned_b = majors[1] == "T"
        out = "i32" if element == "i8" else "f32"
        constants = {"AM": k, "AK": 1, "BK": 1 if turned_b else n, "BN": k if turned_b else 1, "D": TYPES[out], "BM": bm,
                     "BNN": bn, "BKK": bk, "OUT": TYPES[out], "STAGES": stages}
        values = [stored(x, element), stored(np.ascontiguousarray(y.T) if turned_b else y, element),
                  stored(np.zeros((m, n)), out), m, n, k]
        yield Case(f"product-{element}-{bm}x{bn}x{bk}-s{stages}-{majors}-w{warps}-sm{target}", "product", target, product,
                   constants, values, {2: bits_of(x @ y, out)}, (2, 2), {"num_warps": warps})


def described_products(target: int) -> Iterator[Case]:
    for element, (bm, bn, bk), turn, agents, stages in [
        (e, t, turn, g, s) for e in ("f16", "bf16") for t in ((128, 128, 64), (128, 64, 64)) for turn in (True, False)
        for g, s in ((False, 3), (True, 3))
    ]:
        m, n, k = 2 * bm, 2 * bn, 4 * bk
        x, y = whole(3, m, k), whole(4, k, n)
        values = [stored(x, element), stored(np.ascontiguousarray(y.T) if turn else y, element),
                  stored(np.zeros((m, n)), element), m, n, k, 4]
        constants = {"BM": bm, "BN": bn, "BK": bk, "TURNED": turn, "OUT": TYPES[element], "STAGES": stages,
                     "AGENTS": agents}
        name = f"described-{element}-{bm}x{bn}x{bk}-{'T' if turn else 'N'}{'-agents' if agents else ''}-sm{target}"
        yield Case(name, "described", target, described, constants, values, {2: bits_of(x @ y, element)}, (2, ),
                   {"num_warps": 4})


def scaled_products(target: int) -> Iterator[Case]:
    for fa, fb, (bm, bn, bk), warps in [(a, b, t, w) for a, b in (("e4m3", "e4m3"), ("e5m2", "e4m3"), ("e2m1", "e2m1"),
                                                                  ("e4m3", "e2m1"))
                                        for t in ((128, 128, 128), (128, 64, 128), (128, 256, 128)) for w in (4, 8)]:
        if bn == 256 and (target == 120 or warps == 4):
            continue
        m, n, k = bm, bn, 2 * bk
        x, y = whole(5, m, k), whole(6, n, k)
        sa, sb = whole(7, m, k // 32, low=0, high=3), whole(8, n, k // 32, low=-1, high=2)
        exact = (x * np.repeat(2.0**sa, 32, 1)) @ (y * np.repeat(2.0**sb, 32, 1)).T

        def operand(values: np.ndarray, kind: str) -> Any:
            return Typed(packed(values), "*u8", "u8") if kind == "e2m1" else stored(values, kind)

        values = [operand(x, fa), (sa + 127).astype(np.uint8), operand(y, fb), (sb + 127).astype(np.uint8),
                  np.zeros((m, n), np.float32), n, k]
        constants = {"BM": bm, "BN": bn, "BK": bk, "FA": fa, "FB": fb, "PA": 2 if fa == "e2m1" else 1,
                     "PB": 2 if fb == "e2m1" else 1, "VECTOR": 32, "STAGES": 2}
        yield Case(f"scaled-{fa}-{fb}-{bm}x{bn}x{bk}-w{warps}-sm{target}", "scaled", target, scaled, constants, values,
                   {4: exact.astype(np.float32)}, (1, 1), {"num_warps": warps})


def chains(target: int) -> Iterator[Case]:
    for element, d, agents in [(e, d, g) for e in ("f16", "bf16") for d in (64, 128) for g in (False, True)]:
        length, bm, bn = 256, 128, 64
        q, k, v = (whole(s, length, d, low=-1, high=2) for s in (9, 10, 11))
        inner = np.maximum(q @ k.T, 0)
        values = [stored(q, element), stored(k, element), stored(v, element), np.zeros((length, d), np.float32), length]
        constants = {"D": d, "BM": bm, "BN": bn, "TYPE": TYPES[element], "STAGES": 2, "AGENTS": agents}
        yield Case(f"chain-{element}-{d}{'-agents' if agents else ''}-sm{target}", "chain", target, chain, constants,
                   values, {3: (inner @ v).astype(np.float32)}, (2, ), {"num_warps": 4})


def others(target: int) -> Iterator[Case]:
    for element, n, argument in [(e, n, a) for e in ("f32", "i32") for n in (100, 1024) for a in (0, 1)]:
        x = whole(12, 4, n)
        kept = bits_of(x, element)
        second = x.argmax(1) if argument else x.max(1)
        values = [kept, stored(np.zeros(4), element), np.zeros(4, np.int32), stored(np.zeros((4, n)), element), n]
        want = {1: bits_of(x.sum(1), element), 2: second.astype(np.int32), 3: bits_of(x.cumsum(1), element)}
        if argument and n != 1024:
            continue  # the padding would count
        if not argument:
            want[2] = np.maximum(x.max(1), 0).astype(np.int32) if n != 1024 else want[2]
        yield Case(f"rows-{element}-{n}-{argument}-sm{target}", "rows", target, rows, {"OF": argument, "B": 1024}, values,
                   want, (4, ), {"num_warps": 4})
    for m, n, warps in ((64, 64, 4), (100, 70, 4), (128, 32, 8)):
        x = whole(13, m, n).astype(np.int32)
        yield Case(f"turned-{m}x{n}-w{warps}-sm{target}", "turned", target, turned, {"BM": 64, "BN": 32},
                   [x, np.zeros((n, m), np.int32), m, n], {1: np.ascontiguousarray(x.T)}, (2, 3), {"num_warps": warps})
    x = whole(14, 1000, low=0, high=16).astype(np.int32)
    yield Case(f"counted-sm{target}", "counted", target, counted, {"B": 256, "BINS": 16},
               [x, np.zeros(16, np.int32), np.zeros(1, np.int32), 1000],
               {1: np.bincount(x, minlength=16).astype(np.int32), 2: np.array([3], np.int32)}, (4, ))
    for down in (False, True):
        x = whole(15, 3, 256, low=-1000, high=1000).astype(np.int32)
        want = np.sort(x, 1)[:, ::-1] if down else np.sort(x, 1)
        yield Case(f"sorted-{down}-sm{target}", "sorted", target, sorted_rows, {"N": 256, "DESCENDING": down},
                   [x, np.zeros_like(x)], {1: np.ascontiguousarray(want)}, (3, ))
    x, i = whole(16, 32, 64).astype(np.int32), whole(17, 32, 64, low=0, high=32).astype(np.int32)
    yield Case(f"gathered-sm{target}", "gathered", target, gathered, {"N": 32, "M": 64}, [x, i, np.zeros_like(x)],
               {2: np.take_along_axis(x, i, 0)}, (1, ))


def cases(targets: list[int]) -> Iterator[Case]:
    for target in targets:
        yield from products(target)
        yield from described_products(target)
        if target >= 100:
            yield from scaled_products(target)
        yield from chains(target)
        yield from others(target)
