"""M1 and M2: latency and throughput of Hopper's matrix instruction."""
from __future__ import annotations

import numpy as np

from .. import dtypes
from ..launches import Argument, Buffer, Launch, Scalar
from . import tiles
from .ptx import Entry
from .spec import Arrays, Figure, Micro, Setup, Variant, agent_clocks, equal, per_step, words

PARAMS = [("out", "u64"), ("a", "u64"), ("b", "u64"), ("d", "u64"), ("iterations", "u32")]


def entry(name: str, form: str, n: int, groups: int, sets: int = 1) -> Entry:
    """A chain of dots of depth 64: `groups` warpgroups with 64 rows each, `sets` accumulators of width n."""
    threads = 128 * groups
    e = Entry(name, PARAMS, threads)
    out, a, b, d, iterations = (e.pointer("out"), e.pointer("a"), e.pointer("b"), e.pointer("d"), e.param("iterations"))
    thread = e.special("%tid.x")
    group, within = e.calc("shr.u32", thread, 7), e.calc("and.b32", thread, 127)
    memory = e.dynamic()
    b_tile = e.calc("add.u32", memory, groups * 64 * tiles.ROW)
    tiles.fill(e, memory, a, 64 * groups, thread, threads)
    tiles.fill(e, b_tile, b, n * sets, thread, threads)
    tiles.to_async(e)
    own = e.calc("mad.lo.u32", group, f"{64 * tiles.ROW}, {memory}")
    if form == "ss":
        left: list = tiles.steps(e, tiles.descriptor(e, own))
    else:
        base = e.calc("mul.wide.u32", group, 64 * tiles.ROW, "b64")
        e.op(f"add.u64 {base}, {a}, {base};")
        left = tiles.fragment(e, base, within)
    right = [tiles.steps(e, tiles.descriptor(e, e.calc("add.u32", b_tile, s * n * tiles.ROW))) for s in range(sets)]
    sums = [tiles.accumulators(e, n) for _ in range(sets)]
    one = tiles.true(e)
    e.sync()
    start = e.clock()
    tiles.fence(e)
    with e.loop(iterations):
        for k in range(4):
            for s in range(sets):
                tiles.wgmma(e, n, sums[s], left[k], right[s][k], one)
        tiles.commit(e)
        tiles.drain(e, 1)
    tiles.drain(e)
    stop = e.clock()
    with e.when("eq", within, 0):
        agent_clocks(e, out, group, start, stop)
    place = e.calc("mul.wide.u32", group, 128 * 4 * n // 2 * sets, "b64")
    e.op(f"add.u64 {place}, {d}, {place};")
    tiles.dump(e, place, [r for s in sums for r in s], within, 128)
    return e


def variant(name: str, form: str, n: int, groups: int, sets: int, figures: tuple[Figure, ...], instructions: int, overhead: str = "") -> Variant:
    width = n * sets
    a, b = tiles.small_matrix(1, 64 * groups), tiles.small_matrix(2, width)

    def launch(setup: Setup, length: int) -> Launch:
        args: list[Argument] = [Buffer(words(1), "u64"), Buffer(dtypes.encode("bf16", a), "bf16"), Buffer(dtypes.encode("bf16", b), "bf16"),
                Buffer(dtypes.poisoned("f32", (groups, width // 2, 128)), "f32"), Scalar("u32", length)]
        return Launch(name, (1, 1, 1), args, (128 * groups, 1, 1), dynamic_shared=(64 * groups + width) * tiles.ROW + 1024)

    def check(setup: Setup, length: int, launch: Launch, found: Arrays) -> str | None:
        want = length * (a @ b.T)
        for g in range(groups):
            raw = found[3][0][g].reshape(sets, n // 2, 128)
            got = np.concatenate([tiles.undump(raw[s], n) for s in range(sets)], 1)
            complaint = equal(f"d of warpgroup {g}", got, want[64 * g:64 * g + 64].astype(np.float32))
            if complaint:
                return complaint
        return None

    derive = per_step(figures[0].name, 1 / instructions, tuple(range(groups)), overhead)
    return Variant(name, name, (16, 64, 256), (2, 3), launch, check, figures, derive)


WIDTHS = (64, 128, 256)


def m1_variants() -> list[Variant]:
    found = []
    for form in ("ss", "rs"):
        for n in WIDTHS:
            clocks = n / 2
            why = f"64 x {n} x 16 multiply-adds at 2048 per clock and SM are {clocks:.0f} clk"
            if form == "ss" and n == 64:
                why += "; both operands, 4 KB, just fit 128 B/clk of shared memory"
            rate = Figure(f"wgmma.bf16.{form}.n{n}.clk", "clk", clocks, clocks, clocks * 1.1, why)
            latency = Figure(f"wgmma.bf16.{form}.n{n}.chain_overhead", "clk", 60, 20, 160,
                             "the pipeline's depth beyond a chain's issue time, with fence and wait: 30 to 60 by public notes")
            found.append(variant(f"m1_{form}_n{n}", form, n, 1, 1, (rate, latency), 4, latency.name))
    return found


def m2_variants() -> list[Variant]:
    shapes = [("m2_ss_n256", "ss", 256, 1, 256.0, 1.03, "the four tensor cores are shared: two groups take twice as long; reads of 80 B/clk fit 128"),
              ("m2_ss_2n128", "ss", 128, 2, 256.0, 1.06, "the same multiply-adds in halves: reads of 96 B/clk still fit 128"),
              ("m2_rs_n256", "rs", 256, 1, 256.0, 1.03, "as from shared memory, with 64 B/clk of reads only")]
    found = []
    for name, form, n, sets, clocks, slack, why in shapes:
        label = f"wgmma.bf16.2wg.{form}.{sets}xn{n}.clk"
        figure = Figure(label, "clk", clocks, clocks * 0.99, clocks * slack, f"128 x 256 x 16: {why}")
        # A step of depth 16 in both groups.
        found.append(variant(name, form, n, 2, sets, (figure,), 4))
    return found


M1 = Micro(
    "M1", "Chained wgmma, one warpgroup",
    "How many clocks does a chained wgmma of width 64, 128, 256 take, with A in shared memory or in registers, and what is the overhead of a chain?",
    lambda: [entry(f"m1_{form}_n{n}", form, n, 1) for form in ("ss", "rs") for n in WIDTHS],
    m1_variants, opcodes={"m1_": {"HGMMA": 4}}, priority=40)

M2 = Micro(
    "M2", "Two warpgroups at once",
    "Do two warpgroups together reach the rate of one, and is one wgmma of width 256 better than two of 128?",
    lambda: [entry("m2_ss_n256", "ss", 256, 2), entry("m2_ss_2n128", "ss", 128, 2, 2), entry("m2_rs_n256", "rs", 256, 2)],
    m2_variants, opcodes={"m2_": {"HGMMA": 4}}, priority=40)
