"""Tiles in shared memory and matrix instructions, for the micro-kernels that need them.

A *tile* consists of rows of 64 16-bit elements: 128 bytes, the span of the widest swizzle. The 16-byte chunk c of row
r is at `128 r + 16 (c ^ (r & 7))`, in groups of eight rows, 1024 bytes each, from an address aligned to 1024 bytes.
"""
from __future__ import annotations

import numpy as np

from .ptx import Entry

ROW = 128
# Elements of a row: the depth of four matrix instructions.
DEPTH = 64

# A matrix descriptor without its address: 128-byte swizzle, groups of eight rows that are 1024 bytes apart.
DESCRIPTOR = 1 << 62 | (1024 >> 4) << 32 | 1 << 16


def fill(e: Entry, to: str, source: str, rows: int, thread: str, threads: int) -> None:
    """Copies a row-major matrix of `rows` x 64 16-bit elements into a tile. All `threads` take part."""
    chunks = rows * 8
    assert chunks % threads == 0
    with e.loop(e.value("b32", chunks // threads)) as i:
        n = e.calc("mad.lo.u32", i, f"{threads}, {thread}")
        at = e.calc("mul.wide.u32", n, 16, "b64")
        e.op(f"add.u64 {at}, {source}, {at};")
        v = e.regs("b32", 4)
        e.op(f"ld.global.v4.b32 {{{', '.join(v)}}}, [{at}];")
        row, chunk = e.calc("shr.u32", n, 3), e.calc("and.b32", n, 7)
        place = swizzled(e, to, row, chunk)
        e.op(f"st.shared.v4.b32 [{place}], {{{', '.join(v)}}};")


def swizzled(e: Entry, base: str, row: str, chunk: str) -> str:
    """The address of a chunk of a row."""
    low = e.calc("and.b32", row, 7)
    place = e.calc("xor.b32", chunk, low)
    e.op(f"shl.b32 {place}, {place}, 4;")
    return e.calc("add.u32", e.calc("mad.lo.u32", row, f"{ROW}, {place}"), base)


def to_async(e: Entry) -> None:
    """Makes ordinary stores to shared memory visible to matrix instructions and TMA, and synchronizes the CTA."""
    e.op("fence.proxy.async.shared::cta;")
    e.sync()


def descriptor(e: Entry, address: str) -> str:
    """The descriptor of a tile."""
    wide = e.reg("b64")
    e.op(f"cvt.u64.u32 {wide}, {address};", f"and.b64 {wide}, {wide}, 0x3ffff;", f"shr.u64 {wide}, {wide}, 4;",
         f"or.b64 {wide}, {wide}, {DESCRIPTOR:#x};")
    return wide


def steps(e: Entry, d: str) -> list[str]:
    """The descriptors of the four depth-16 slices of a tile: 32 bytes apart."""
    return [d] + [e.calc("add.u64", d, 2 * k, "b64") for k in range(1, 4)]


def accumulators(e: Entry, n: int) -> list[str]:
    """Zero accumulators of a 64 x n dot, for each thread of a warpgroup."""
    d = e.regs("f32", n // 2)
    e.op(*(f"mov.f32 {r}, 0f00000000;" for r in d))
    return d


def wgmma(e: Entry, n: int, d: list[str], a: str | list[str], b: str, one: str) -> None:
    """`d += a b`: `a` is a descriptor or four registers, `b` a descriptor; `one` is a true predicate."""
    left = a if isinstance(a, str) else "{" + ", ".join(a) + "}"
    flags = "1, 1, 0, 0" if isinstance(a, str) else "1, 1, 0"
    e.op(f"wgmma.mma_async.sync.aligned.m64n{n}k16.f32.bf16.bf16 {{{', '.join(d)}}}, {left}, {b}, {one}, {flags};")


def true(e: Entry) -> str:
    p = e.reg("pred")
    e.op(f"setp.eq.u32 {p}, 0, 0;")
    return p


def fence(e: Entry) -> None:
    e.op("wgmma.fence.sync.aligned;")


def commit(e: Entry) -> None:
    e.op("wgmma.commit_group.sync.aligned;")


def drain(e: Entry, pending: int = 0) -> None:
    e.op(f"wgmma.wait_group.sync.aligned {pending};")


def dump(e: Entry, base: str, d: list[str], thread: str, threads: int) -> None:
    """Stores accumulator j of thread t to `base[j * threads + t]`."""
    at = e.calc("mul.wide.u32", thread, 4, "b64")
    e.op(f"add.u64 {at}, {base}, {at};")
    for j, r in enumerate(d):
        e.op(f"st.global.f32 [{at}+{4 * j * threads}], {r};")


def undump(raw: np.ndarray, n: int, threads: int = 128) -> np.ndarray:
    """The output of `dump` for one warpgroup as a 64 x n matrix."""
    raw = raw.reshape(-1)[: n // 2 * threads].reshape(n // 2, threads)[:, :128]
    out = np.empty((64, n), raw.dtype)
    t, j = np.meshgrid(np.arange(128), np.arange(n // 2))
    rows = 16 * (t // 32) + t % 32 // 4 + 8 * (j // 2 % 2)
    cols = 8 * (j // 4) + 2 * (t % 4) + j % 2
    out[rows, cols] = raw
    return out


def unswizzle(raw: np.ndarray, rows: int) -> np.ndarray:
    """The bytes of a tile as rows of 128."""
    tile = raw.view(np.uint8).reshape(-1)[: rows * ROW].reshape(rows, 8, 16)
    r, c = np.meshgrid(np.arange(rows), np.arange(8), indexing="ij")
    return tile[r, c ^ (r & 7)].reshape(rows, ROW)


def small_matrix(seed: int, rows: int, columns: int = DEPTH) -> np.ndarray:
    """Integers from -2 to 2, so products and their sums are exact."""
    return np.random.default_rng(seed).integers(-2, 3, (rows, columns)).astype(np.float64)


def fragment(e: Entry, base: str, thread: str) -> list[list[str]]:
    """The registers of A for the four slices of a 64 x 64 row-major matrix of 16-bit elements in global memory."""
    warp, lane = e.calc("shr.u32", thread, 5), e.calc("and.b32", thread, 31)
    row = e.calc("mad.lo.u32", warp, f"16, {e.calc('shr.u32', lane, 2)}")
    column = e.calc("shl.b32", e.calc("and.b32", lane, 3), 1)
    first = e.calc("mul.wide.u32", e.calc("mad.lo.u32", row, f"{DEPTH}, {column}"), 2, "b64")
    e.op(f"add.u64 {first}, {base}, {first};")
    out = []
    for k in range(4):
        r = e.regs("b32", 4)
        # Rows g and g + 8, then the same rows eight columns further.
        for n, offset in enumerate((0, 8 * ROW, 16, 8 * ROW + 16)):
            e.op(f"ld.global.b32 {r[n]}, [{first}+{offset + 32 * k}];")
        out.append(r)
    return out
