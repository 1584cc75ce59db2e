"""M8: do matrix instructions slow down while TMA fills shared memory?

Two warpgroups repeatedly multiply a 128 x 256 tile of depth 64 with resident operands: 1024 clk per iteration without
interference. A third agent loads a given number of 8 KB boxes per iteration into memory that is never read; 16 boxes
are 128 B/clk. The bandwidth of shared memory is supposedly 128 B/clk in total, shared by operand reads and the fill.
"""
from __future__ import annotations

import numpy as np

from .. import dtypes
from ..launches import Argument, Buffer, Launch, Scalar, TensorMap
from ..stats import line
from . import tiles
from .ptx import Entry
from .spec import Arrays, Figure, Micro, Reading, Setup, Variant, agent_clocks, equal, store_word, words
from .tma import expect, load_box, noise

GROUPS, WIDTH, CLOCKS = 2, 256, 1024
SLOTS, SLOT_BOXES = 2, 8
BOX_ROWS = 64
BOX = BOX_ROWS * tiles.ROW
# Number of source boxes, all of which fit in L2.
SOURCE_BOXES = 16

PARAMS = [("map", "map"), ("out", "u64"), ("a", "u64"), ("b", "u64"), ("d", "u64"), ("iterations", "u32"), ("boxes", "u32")]


def entry(n: int) -> Entry:
    sets = WIDTH // n
    e = Entry(f"m8_n{n}", PARAMS, 384, maxnreg=168)
    map_, out, a, b, d, iterations, boxes = (e.map("map"), e.pointer("out"), e.pointer("a"), e.pointer("b"), e.pointer("d"),
                                             e.param("iterations"), e.param("boxes"))
    thread = e.special("%tid.x")
    group, within = e.calc("shr.u32", thread, 7), e.calc("and.b32", thread, 127)
    memory = e.dynamic()
    b_tile = e.calc("add.u32", memory, GROUPS * 64 * tiles.ROW)
    ring = e.calc("add.u32", b_tile, WIDTH * tiles.ROW)
    full, tick = e.shared("full", 8 * SLOTS), e.shared("tick", 4, 4)
    with e.when("lt", thread, 128):
        tiles.fill(e, memory, a, 128, thread, 128)
        tiles.fill(e, b_tile, b, WIDTH, thread, 128)
    with e.when("eq", thread, 0):
        for s in range(SLOTS):
            e.init_barrier(f"full+{8 * s}", 1)
        e.op(f"st.shared.u32 [{tick}], 0;")
        e.barriers_ready()
    tiles.to_async(e)
    with e.when("lt", thread, 128 * GROUPS):
        own = e.calc("mad.lo.u32", group, f"{64 * tiles.ROW}, {memory}")
        left = tiles.steps(e, tiles.descriptor(e, own))
        right = [tiles.steps(e, tiles.descriptor(e, e.calc("add.u32", b_tile, s * n * tiles.ROW))) for s in range(sets)]
        sums = [tiles.accumulators(e, n) for _ in range(sets)]
        one, first = tiles.true(e), e.reg("pred")
        e.op(f"setp.eq.u32 {first}, {thread}, 0;")
        e.op("bar.sync 1, 384;")
        start = e.clock()
        tiles.fence(e)
        with e.loop(iterations) as i:
            for k in range(4):
                for s in range(sets):
                    tiles.wgmma(e, n, sums[s], left[k], right[s][k], one)
            tiles.commit(e)
            tiles.drain(e, 1)
            e.op(f"@{first} st.relaxed.cta.shared.u32 [{tick}], {i};")
        tiles.drain(e)
        stop = e.clock()
        with e.when("eq", within, 0):
            agent_clocks(e, out, group, start, stop)
        place = e.calc("mul.wide.u32", group, 128 * 4 * WIDTH // 2, "b64")
        e.op(f"add.u64 {place}, {d}, {place};")
        with e.when("eq", e.special("%ctaid.x"), 0):
            tiles.dump(e, place, [r for s in sums for r in s], within, 128)
    with e.when("ge", thread, 128 * GROUPS):
        e.op("bar.sync 1, 384;")
        with e.when("eq", within, 0):
            producer(e, map_, out, ring, full, tick, iterations, boxes)
    return e


def producer(e: Entry, map_: str, out: str, ring: str, full: str, tick: str, iterations: str, boxes: str) -> None:
    """For each iteration of the dots: waits for the slot's earlier boxes, loads `boxes`, and waits until the dots
    have progressed as far. Their progress is a number in memory rather than a barrier, because a fill that falls
    behind must not lose count."""
    size = e.calc("mul.lo.u32", boxes, BOX)
    y = e.value("b32", 0)
    start = e.clock()
    with e.loop(iterations) as i:
        slot = e.calc("and.b32", i, SLOTS - 1)
        barrier = e.calc("mad.lo.u32", slot, f"8, {full}")
        with e.when("ge", i, SLOTS):
            e.wait(barrier, e.calc("and.b32", e.calc("add.u32", e.calc("shr.u32", i, 1), 1), 1))
        # The phase of a slot without boxes completes by the arrival alone.
        expect(e, barrier, size)
        to = e.calc("mad.lo.u32", slot, f"{SLOT_BOXES * BOX}, {ring}")
        with e.when("gt", boxes, 0):
            with e.loop(boxes):
                load_box(e, to, map_, e.value("b32", 0), y, barrier)
                e.op(f"add.u32 {to}, {to}, {BOX};", f"add.u32 {y}, {y}, {BOX_ROWS};", f"and.b32 {y}, {y}, {SOURCE_BOXES * BOX_ROWS - 1};")
        p, again, progress = e.reg("pred"), e.label(), e.reg()
        e.place(again)
        e.op(f"ld.relaxed.cta.shared.u32 {progress}, [{tick}];", f"setp.lt.u32 {p}, {progress}, {i};", f"@{p} bra {again};")
    for back in range(SLOTS, 0, -1):
        last = e.calc("sub.u32", iterations, back)
        e.wait(e.calc("mad.lo.u32", e.calc("and.b32", last, SLOTS - 1), f"8, {full}"), e.calc("and.b32", e.calc("shr.u32", last, 1), 1))
    stop = e.clock()
    agent_clocks(e, out, 2, start, stop)
    store_word(e, out, 6, e.calc("mul.wide.u32", size, iterations, "b64"))


def variant(n: int, boxes: int, every: bool, figures: tuple[Figure, Figure]) -> Variant:
    a, b = tiles.small_matrix(8, 128), tiles.small_matrix(9, WIDTH)
    source = noise(10, SOURCE_BOXES * BOX_ROWS, tiles.DEPTH)
    sets = WIDTH // n

    def launch(setup: Setup, length: int) -> Launch:
        ctas = setup.sms if every else 1
        map_ = TensorMap(source, "u16", [tiles.DEPTH, SOURCE_BOXES * BOX_ROWS], [tiles.ROW], [tiles.DEPTH, BOX_ROWS], swizzle=3)
        args: list[Argument] = [map_, Buffer(words(ctas), "u64"), Buffer(dtypes.encode("bf16", a), "bf16"), Buffer(dtypes.encode("bf16", b), "bf16"),
                Buffer(dtypes.poisoned("f32", (GROUPS, WIDTH // 2, 128)), "f32"), Scalar("u32", length), Scalar("u32", boxes)]
        memory = (128 + WIDTH) * tiles.ROW + SLOTS * SLOT_BOXES * BOX + 1024
        return Launch(f"m8_n{n}", (ctas, 1, 1), args, (384, 1, 1), dynamic_shared=memory)

    def check(setup: Setup, length: int, launch: Launch, found: Arrays) -> str | None:
        want = (length * (a @ b.T)).astype(np.float32)
        for g in range(GROUPS):
            raw = found[4][0][g].reshape(sets, n // 2, 128)
            got = np.concatenate([tiles.undump(raw[s], n) for s in range(sets)], 1)
            complaint = equal(f"d of warpgroup {g}", got, want[64 * g:64 * g + 64])
            if complaint:
                return complaint
        loaded = int(found[1][0][0, 6])
        return None if loaded == length * boxes * BOX else f"{loaded} bytes were loaded, expected {length * boxes * BOX}"

    def derive(readings: list[Reading]) -> dict[str, float]:
        step = line([(r.length, r.clocks((0, 1))) for r in readings]).slope
        filled = line([(r.length, r.clocks((2,))) for r in readings]).slope
        return {figures[0].name: CLOCKS / step, figures[1].name: boxes * BOX / filled}

    where = "all" if every else "one"
    return Variant(f"m8_n{n}_{boxes * 8}bpc_{where}", f"m8_n{n}", (8, 32, 128), (3, 4), launch, check, figures, derive, out=1)


def variants() -> list[Variant]:
    found = []
    for n, reads in ((256, 80), (128, 96)):
        for boxes in (0, 2, 4, 6, 8):
            for every in (False, True):
                if every and boxes not in (0, 6):
                    continue
                fill = 8 * boxes
                share = min(1.0, 128 / (reads + fill))
                label = f"roof.2wg.n{n}.fill{fill}.{'all' if every else 'one'}"
                slower = "; all SMs at once: L2 gives 32 B/clk rather than what is asked for, and power may lower clocks" if every and boxes else ""
                found.append(variant(n, boxes, every, (
                    Figure(f"{label}.wgmma_share", "of 2048 MAC/clk", share, share * 0.93, min(1.01, share * 1.08),
                           f"operands take {reads} B/clk, the fill {fill}, and shared memory has 128{slower}"),
                    Figure(f"{label}.fill_rate", "B/clk/SM", fill * share, fill * share * (0.5 if every else 0.85), fill * 1.01,
                           "the fill is paced by wgmma" if boxes else "no fill"))))
    return found


M8 = Micro(
    "M8", "The bandwidth limit of shared memory",
    "How much do matrix instructions of width 256 and 128 slow down while 16 to 64 B/clk are loaded into shared memory?",
    lambda: [entry(256), entry(128)], variants, opcodes={"m8_": {"HGMMA": 4, "UTMALDG": 1}}, priority=40)
