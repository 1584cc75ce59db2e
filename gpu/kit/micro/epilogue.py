"""M11: two ways to store accumulators.

Two warpgroups compute a 128 x 256 tile of f32 with one matrix instruction each (256 clk together; without it ptxas
would pack the tile only once, before the loop). They write it as bf16 to another tile of a matrix each time. In the
first way, each thread stores its pairs directly (16-byte pieces of rows). In the second, `stmatrix` writes the pairs
to swizzled chunks of 64 x 64 in shared memory, which TMA stores while the next chunk is packed.
"""
from __future__ import annotations

import numpy as np

from .. import dtypes
from ..launches import Buffer, Launch, Scalar, TensorMap
from . import tiles
from .ptx import Entry
from .spec import Arrays, Figure, Micro, Setup, Variant, agent_clocks, equal, per_step, words
from .tma import store_box

ROWS, COLUMNS = 128, 256
CHUNK = 64
CHUNK_BYTES = 64 * tiles.ROW
TILE_BYTES = ROWS * COLUMNS * 2
# Number of tiles in a row of the matrix.
ACROSS = 4

PARAMS = [("out", "u64"), ("matrix", "u64"), ("iterations", "u32"), ("a", "u64"), ("b", "u64")]
MAP_PARAMS = [("out", "u64"), ("matrix", "map"), *PARAMS[2:]]


def entry(way: str) -> Entry:
    e = Entry(f"m11_{way}", PARAMS if way == "direct" else MAP_PARAMS, 256)
    out, iterations, thread = e.pointer("out"), e.param("iterations"), e.special("%tid.x")
    matrix = e.pointer("matrix") if way == "direct" else e.map("matrix")
    group, within = e.calc("shr.u32", thread, 7), e.calc("and.b32", thread, 127)
    warp, lane = e.calc("shr.u32", within, 5), e.calc("and.b32", thread, 31)
    memory = e.dynamic()
    a_tile, b_tile = (e.calc("add.u32", memory, 4 * CHUNK_BYTES + n * tiles.ROW) for n in (0, ROWS))
    tiles.fill(e, a_tile, e.pointer("a"), ROWS, thread, 256)
    tiles.fill(e, b_tile, e.pointer("b"), COLUMNS, thread, 256)
    tiles.to_async(e)
    left = tiles.descriptor(e, e.calc("mad.lo.u32", group, f"{64 * tiles.ROW}, {a_tile}"))
    right = tiles.descriptor(e, b_tile)
    values, afresh = e.regs("f32", COLUMNS // 2), e.reg("pred")
    e.op(f"setp.ne.u32 {afresh}, 0, 0;")
    # The CTA's first tile; it processes every gridDim-th.
    tile = e.value("b32", "%ctaid.x")
    ctas = e.special("%nctaid.x")
    e.sync()
    start = e.clock()
    with e.loop(iterations):
        tiles.fence(e)
        tiles.wgmma(e, COLUMNS, values, left, right, afresh)
        tiles.commit(e)
        tiles.drain(e)
        row = e.calc("mad.lo.u32", e.calc("div.u32", tile, ACROSS), f"{ROWS}, {e.calc('shl.b32', group, 6)}")
        column = e.calc("shl.b32", e.calc("rem.u32", tile, ACROSS), 8)
        if way == "direct":
            direct(e, matrix, values, row, column, warp, lane)
        else:
            staged(e, matrix, memory, values, row, column, group, within, warp, lane)
        e.op(f"add.u32 {tile}, {tile}, {ctas};")
    if way == "staged":
        with e.when("eq", within, 0):
            e.op("cp.async.bulk.wait_group 0;")
    stop = e.clock()
    with e.when("eq", within, 0):
        agent_clocks(e, out, group, start, stop)
    return e


def pack(e: Entry, values: list[str], j: int) -> str:
    """Accumulators j and j + 1 as a pair of bf16, the first one low."""
    r = e.reg()
    e.op(f"cvt.rn.bf16x2.f32 {r}, {values[j + 1]}, {values[j]};")
    return r


def direct(e: Entry, matrix: str, values: list[str], row: str, column: str, warp: str, lane: str) -> None:
    pitch = ACROSS * COLUMNS * 2
    r = e.calc("add.u32", row, e.calc("mad.lo.u32", warp, f"16, {e.calc('shr.u32', lane, 2)}"))
    c = e.calc("add.u32", column, e.calc("shl.b32", e.calc("and.b32", lane, 3), 1))
    at = e.calc("mad.wide.u32", r, f"{pitch}, {matrix}", "b64")
    e.op(f"mad.wide.u32 {at}, {c}, 2, {at};")
    for j in range(0, COLUMNS // 2, 2):
        e.op(f"st.global.b32 [{at}+{8 * pitch * (j // 2 % 2) + 16 * (j // 4)}], {pack(e, values, j)};")


def staged(e: Entry, map_: str, memory: str, values: list[str], row: str, column: str, group: str, within: str, warp: str, lane: str) -> None:
    # Two chunks for each warpgroup.
    base = e.calc("mad.lo.u32", group, f"{2 * CHUNK_BYTES}, {memory}")
    # Lane l supplies the address of row l % 8 (+ 8 for odd matrices) of matrix l / 8; matrices 2 and 3 are eight
    # columns further.
    matrix = e.calc("shr.u32", lane, 3)
    local = e.calc("mad.lo.u32", e.calc("and.b32", matrix, 1), f"8, {e.calc('and.b32', lane, 7)}")
    local = e.calc("mad.lo.u32", warp, f"16, {local}")
    block = e.calc("shr.u32", matrix, 1)
    bar = e.calc("add.u32", group, 1)
    for chunk in range(COLUMNS // CHUNK):
        place = e.calc("add.u32", base, (chunk % 2) * CHUNK_BYTES)
        # TMA has read the chunk's previous contents if at most one later store is pending.
        with e.when("eq", within, 0):
            e.op("cp.async.bulk.wait_group.read 1;")
        e.op(f"bar.sync {bar}, 128;")
        for pair in range(CHUNK // 16):
            j = chunk * 32 + pair * 8
            r = [pack(e, values, j + k) for k in (0, 2, 4, 6)]
            at = tiles.swizzled(e, place, local, e.calc("add.u32", block, 2 * pair))
            e.op(f"stmatrix.sync.aligned.m8n8.x4.shared.b16 [{at}], {{{', '.join(r)}}};")
        e.op("fence.proxy.async.shared::cta;", f"bar.sync {bar}, 128;")
        with e.when("eq", within, 0):
            store_box(e, map_, e.calc("add.u32", column, chunk * CHUNK), row, place)
            e.op("cp.async.bulk.commit_group;")


def variant(way: str, every: bool, figure: Figure) -> Variant:
    name = f"m11_{way}_{'all' if every else 'one'}"
    a, b = tiles.small_matrix(13, ROWS), tiles.small_matrix(14, COLUMNS)

    def launch(setup: Setup, length: int) -> Launch:
        ctas = setup.sms if every else 1
        rows = -(-ctas * length // ACROSS) * ROWS
        data, width = np.full((rows, ACROSS * COLUMNS), 0xA5A5, np.uint16), ACROSS * COLUMNS
        argument = Buffer(data, "u16") if way == "direct" else TensorMap(data, "bf16", [width, rows], [2 * width], [CHUNK, 64], swizzle=3)
        return Launch(f"m11_{way}", (ctas, 1, 1), [Buffer(words(ctas), "u64"), argument, Scalar("u32", length),
                       Buffer(dtypes.encode("bf16", a), "bf16"), Buffer(dtypes.encode("bf16", b), "bf16")], (256, 1, 1),
                      dynamic_shared=4 * CHUNK_BYTES + (ROWS + COLUMNS) * tiles.ROW + 1024)

    def check(setup: Setup, length: int, launch: Launch, found: Arrays) -> str | None:
        got = found[1][0]
        # Sums of sixteen products: integers up to 64, exact in bf16.
        want = dtypes.encode("bf16", a[:, :16] @ b[:, :16].T)
        for tile in range(launch.grid[0] * length):
            y, x = tile // ACROSS * ROWS, tile % ACROSS * COLUMNS
            complaint = equal(f"tile {tile}", got[y:y + ROWS, x:x + COLUMNS], want)
            if complaint:
                return complaint
        return None

    return Variant(name, f"m11_{way}", (2, 4, 10) if every else (4, 16, 64), (2, 3), launch, check, (figure,), per_step(figure.name, 1, (0, 1)), repeats=3)


def variants() -> list[Variant]:
    ideal = TILE_BYTES / 64
    return [
        variant("staged", False, Figure("epilogue.staged.one.tile", "clk", 1450, 1150, 2100,
                                        f"128 x 256 bf16 are {ideal:.0f} clk at 64 B/clk, the products 256; packing 64 pairs a thread and eight barriers hide in part")),
        variant("direct", False, Figure("epilogue.direct.one.tile", "clk", 3700, 2000, 6500,
                                        "64 stores a thread whose warps touch eight rows of 16 bytes: half-filled sectors, a third of the staged rate")),
        variant("staged", True, Figure("epilogue.staged.all.tile", "clk", 3600, 2200, 5500, "64 KB at memory's share of some 18 B/clk/SM; L2 takes a part")),
        variant("direct", True, Figure("epilogue.direct.all.tile", "clk", 6000, 3000, 12000, "half-filled sectors are put together in L2; a third to a half of the rate")),
    ]


M11 = Micro(
    "M11", "Epilogues",
    "How long does it take to write a 128 x 256 bf16 tile from wgmma's layout directly, and through stmatrix and TMA?",
    lambda: [entry("staged"), entry("direct")], variants,
    opcodes={"m11_": {"HGMMA": 1, "F2FP": 64}, "m11_staged": {"STSM": 16, "UTMASTG": 4}, "m11_direct": {"STG": 64}}, priority=43)
