"""M3 and M4: TMA with two-dimensional tensor maps.

Boxes are 64 16-bit elements wide (128 bytes, with the swizzle of matrix instructions) and some rows high. A *step*
moves one stage of a ring: one to four vertically adjacent boxes. Steps go along the rows of the matrix first, like
the inner loop of a matmul, so each row of a box is a separate 128-byte piece of memory.
"""
from __future__ import annotations

import dataclasses

import numpy as np

from ..launches import Argument, Buffer, Launch, Scalar, TensorMap, only_array
from . import tiles
from .ptx import Entry
from .spec import Arrays, Figure, Micro, Setup, Variant, agent_clocks, equal, per_step, rate, words

KB = 1024


def load_box(e: Entry, to: str, map_: str, x: str, y: str, barrier: str) -> None:
    e.op(f"cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [{to}], [{map_}, {{{x}, {y}}}], [{barrier}];")


def store_box(e: Entry, map_: str, x: str, y: str, source: str) -> None:
    e.op(f"cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [{map_}, {{{x}, {y}}}], [{source}];")


def expect(e: Entry, barrier: str, size: str) -> None:
    e.op(f"mbarrier.arrive.expect_tx.shared::cta.b64 _, [{barrier}], {size};")


class Walk:
    """Coordinates of the steps of one CTA: along a row of boxes, then to the next row, and from the last back to the
    first."""

    def __init__(self, e: Entry, width: str, height: str, first: str, rows: str):
        self.e, self.width, self.height, self.first = e, width, height, first
        self.end = e.calc("add.u32", first, rows)
        self.x, self.y = e.reg(), e.reg()
        self.reset()

    def reset(self) -> None:
        self.e.op(f"mov.u32 {self.x}, 0;", f"mov.u32 {self.y}, {self.first};")

    def advance(self) -> None:
        e, p = self.e, self.e.reg("pred")
        e.op(f"add.u32 {self.x}, {self.x}, {tiles.DEPTH};", f"setp.ge.u32 {p}, {self.x}, {self.width};",
             f"@{p} mov.u32 {self.x}, 0;", f"@{p} add.u32 {self.y}, {self.y}, {self.height};")
        e.op(f"setp.ge.u32 {p}, {self.y}, {self.end};", f"@{p} mov.u32 {self.y}, {self.first};")


LOAD_PARAMS = [("map", "map"), ("out", "u64"), ("stage", "u64"), ("iterations", "u32"), ("passes", "u32"), ("rows", "u32"),
               ("width", "u32"), ("cta_rows", "u32")]


def load_entry(name: str, boxes: int, depth: int) -> Entry:
    """One thread keeps `depth` stages in flight. The last of `passes` over the same steps is timed."""
    e = Entry(name, LOAD_PARAMS, 128)
    map_, out, stage = e.map("map"), e.pointer("out"), e.pointer("stage")
    iterations, passes, rows, width = (e.param(n) for n in ("iterations", "passes", "rows", "width"))
    thread, memory = e.special("%tid.x"), e.dynamic()
    barriers = e.shared("full", 8 * depth)
    height = e.calc("mul.lo.u32", rows, boxes)
    box_bytes = e.calc("shl.b32", rows, 7)
    size = e.calc("mul.lo.u32", box_bytes, boxes)
    own = e.param("cta_rows")
    first = e.calc("mul.lo.u32", e.special("%ctaid.x"), own)
    with e.when("eq", thread, 0):
        for s in range(depth):
            e.init_barrier(f"full+{8 * s}", 1)
        e.barriers_ready()
    e.sync()
    with e.when("eq", thread, 0):
        walk = Walk(e, width, height, first, own)
        start, stop = e.reg("b64"), e.reg("b64")
        issued, waited = e.value("b32", 0), e.value("b32", 0)
        slots = e.calc("add.u32", iterations, depth)
        with e.loop(passes):
            walk.reset()
            e.op(f"mov.u64 {start}, %clock64;")
            with e.loop(slots) as i:
                with e.when("ge", i, depth):
                    slot, parity = e.calc("and.b32", waited, depth - 1), e.calc("and.b32", e.calc("shr.u32", waited, depth.bit_length() - 1), 1)
                    e.wait(e.calc("mad.lo.u32", slot, f"8, {barriers}"), parity)
                    e.op(f"add.u32 {waited}, {waited}, 1;")
                with e.when("lt", i, iterations):
                    slot = e.calc("and.b32", issued, depth - 1)
                    barrier, to = e.calc("mad.lo.u32", slot, f"8, {barriers}"), e.calc("mad.lo.u32", slot, f"{size}, {memory}")
                    expect(e, barrier, size)
                    y = e.value("b32", walk.y)
                    for b in range(boxes):
                        load_box(e, to, map_, walk.x, y, barrier)
                        if b + 1 < boxes:
                            e.op(f"add.u32 {to}, {to}, {box_bytes};", f"add.u32 {y}, {y}, {rows};")
                    walk.advance()
                    e.op(f"add.u32 {issued}, {issued}, 1;")
            e.op(f"mov.u64 {stop}, %clock64;")
        agent_clocks(e, out, 0, start, stop)
    e.sync()
    # The data of the last step, for the check. The threads that waited can see the loads; the others have
    # synchronized with them at the barrier.
    last = e.calc("and.b32", e.calc("add.u32", e.calc("mul.lo.u32", passes, iterations), -1 & 0xFFFFFFFF), depth - 1)
    source = e.calc("mad.lo.u32", last, f"{size}, {memory}")
    place = e.calc("mad.wide.u32", e.special("%ctaid.x"), f"{size}, {stage}", "b64")
    with e.loop(e.calc("shr.u32", size, 11)) as i:
        at = e.calc("shl.b32", e.calc("mad.lo.u32", i, f"128, {thread}"), 4)
        v = e.regs("b32", 4)
        e.op(f"ld.shared.v4.b32 {{{', '.join(v)}}}, [{e.calc('add.u32', source, at)}];")
        to = e.calc("mad.wide.u32", at, f"1, {place}", "b64")
        e.op(f"st.global.v4.b32 [{to}], {{{', '.join(v)}}};")
    return e


@dataclasses.dataclass(frozen=True)
class Region:
    """The matrix over which `ctas` walk, each over separate rows."""
    width: int
    own: int
    ctas: int
    # Of one step.
    height: int

    @property
    def rows(self) -> int:
        return self.own * self.ctas

    def map(self, data: np.ndarray, box_rows: int, constant: bool = False) -> TensorMap:
        return TensorMap(data, "u16", [self.width, self.rows], [2 * self.width], [tiles.DEPTH, box_rows], swizzle=3, constant=constant)

    def step(self, data: np.ndarray, cta: int, step: int) -> np.ndarray:
        """The elements of a step."""
        x, y = step * tiles.DEPTH % self.width, cta * self.own + step * tiles.DEPTH // self.width * self.height % self.own
        return data[y:y + self.height, x:x + tiles.DEPTH]


def region(setup: Setup, length: int, height: int, ctas: int, small: bool = False) -> Region:
    """A region as large as the walk is long; with `small`, four steps, which fit in L2 for all SMs at once."""
    width = 256 if small or not setup.full else 4096
    own = height if small else -(-length * tiles.DEPTH // width) * height
    return Region(width, own, ctas, height)


def noise(seed: int, rows: int, width: int) -> np.ndarray:
    """Random 16-bit elements. In large matrices all blocks of 4 MB are equal."""
    n = rows * width
    block = np.random.default_rng(seed).integers(0, 1 << 16, min(n, 1 << 21), np.uint16)
    return np.resize(block, n).reshape(rows, width)


def load_variant(size: int, boxes: int, depth: int, cold: bool, every: bool, figure: Figure) -> Variant:
    rows = size // boxes // tiles.ROW
    name = f"m3_{size // KB}kb_b{boxes}_d{depth}_{'hbm' if cold else 'l2'}_{'all' if every else 'one'}"

    def launch(setup: Setup, length: int) -> Launch:
        ctas = setup.sms if every else 1
        r = region(setup, length, rows * boxes, ctas, every and not cold)
        stage = np.full((ctas, size), 0xA5, np.uint8)
        args: list[Argument] = [r.map(noise(3, r.rows, r.width), rows, constant=True), Buffer(words(ctas), "u64"), Buffer(stage, "u8"),
                *(Scalar("u32", n) for n in (length, 1 if cold else 2, rows, r.width, r.own))]
        return Launch(f"m3_b{boxes}_d{depth}", (ctas, 1, 1), args, (128, 1, 1), dynamic_shared=depth * size + KB, cold=cold)

    def check(setup: Setup, length: int, launch: Launch, found: Arrays) -> str | None:
        r = region(setup, length, rows * boxes, launch.grid[0], every and not cold)
        for c in range(r.ctas):
            got = tiles.unswizzle(found[2][0][c], r.height).view(np.uint16)
            complaint = equal(f"stage of CTA {c}", got, r.step(only_array(launch.args[0]), c, length - 1))
            if complaint:
                return complaint
        return None

    derive = per_step(figure.name) if depth == 1 else rate(figure.name, size)
    # All SMs together: at most 200 MB if each byte is new.
    lengths = (8, 16, 32) if every and cold else (16, 64, 256)
    return Variant(name, f"m3_b{boxes}_d{depth}", lengths, (5, 6), launch, check, (figure,), derive, out=1, repeats=3 if every else 5)


def m3_variants() -> list[Variant]:
    found = []
    for size in (8 * KB, 16 * KB, 32 * KB, 48 * KB):
        kb = size // KB
        for boxes in (1, 2, 4):
            if size // boxes // tiles.ROW > 256:
                continue
            for cold in (False, True):
                place = "hbm" if cold else "l2"
                clocks = 1.2 * (460 + 6 * kb + 240 * max(0, min(boxes - 1, 2) - 1)) + (350 if cold else 0)
                why = (f"B200's 460 + 6 per KB, and 240 for a third box, times 1.2 for Hopper{', and 350 for a miss in L2' if cold else ''}")
                found.append(load_variant(size, boxes, 1, cold, False, Figure(
                    f"tma.load.{kb}kb.{boxes}box.{place}.latency", "clk", clocks, clocks * 0.7, clocks * 1.5, why)))
        boxes = 2 if kb > 32 else 1
        for cold, every, value, low, high, why in (
                (False, False, 56, 40, 64, "one SM takes at most 64 B/clk from L2; four stages in flight cover most of the latency"),
                (True, False, 48, 25, 64, "as from L2, with a latency that four stages of small size do not cover"),
                (False, True, 32, 22, 48, "all SMs share L2: 5.5 to 7 TB/s by public notes, over 132 SMs at 1.75 GHz"),
                (True, True, 16, 12, 20, "memory: 3.0 TB/s (H100) or 4.3 (H200) over 132 SMs at 1.75 GHz is 13 or 18.6")):
            place = f"{'hbm' if cold else 'l2'}.{'all' if every else 'one'}"
            found.append(load_variant(size, boxes, 4, cold, every, Figure(f"tma.load.{kb}kb.{place}.rate", "B/clk/SM", value, low, high, why)))
    return found


STORE_PARAMS = [("map", "map"), ("out", "u64"), ("iterations", "u32"), ("rows", "u32"), ("width", "u32"), ("cta_rows", "u32")]


def store_entry(name: str, depth: int, read: bool) -> Entry:
    """One thread stores boxes from a ring of `depth`. It waits until a source has been read, or until the store is
    complete."""
    e = Entry(name, STORE_PARAMS, 128)
    map_, out = e.map("map"), e.pointer("out")
    iterations, rows, width = (e.param(n) for n in ("iterations", "rows", "width"))
    thread, memory = e.special("%tid.x"), e.dynamic()
    size = e.calc("shl.b32", rows, 7)
    own = e.param("cta_rows")
    first = e.calc("mul.lo.u32", e.special("%ctaid.x"), own)
    # Each 16-bit element of the ring holds the low bits of its index.
    with e.loop(e.calc("shr.u32", e.calc("mul.lo.u32", size, depth), 9)) as i:
        at = e.calc("mad.lo.u32", i, f"128, {thread}")
        low = e.calc("and.b32", e.calc("shl.b32", at, 1), 0xFFFF)
        pair = e.calc("or.b32", low, e.calc("shl.b32", e.calc("add.u32", low, 1), 16))
        e.op(f"st.shared.b32 [{e.calc('mad.lo.u32', at, f'4, {memory}')}], {pair};")
    tiles.to_async(e)
    with e.when("eq", thread, 0):
        walk = Walk(e, width, rows, first, own)
        start = e.clock()
        with e.loop(iterations) as i:
            source = e.calc("mad.lo.u32", e.calc("and.b32", i, depth - 1), f"{size}, {memory}")
            store_box(e, map_, walk.x, walk.y, source)
            e.op("cp.async.bulk.commit_group;", f"cp.async.bulk.wait_group{'.read' if read else ''} {depth - 1};")
            walk.advance()
        e.op(f"cp.async.bulk.wait_group{'.read' if read else ''} 0;")
        stop = e.clock()
        e.op("cp.async.bulk.wait_group 0;")
        agent_clocks(e, out, 0, start, stop)
    return e


def store_variant(size: int, depth: int, read: bool, every: bool, figure: Figure) -> Variant:
    rows = size // tiles.ROW
    entry = f"m4_d{depth}_{'read' if read else 'done'}"
    name = f"{entry}_{size // KB}kb_{'all' if every else 'one'}"

    def launch(setup: Setup, length: int) -> Launch:
        ctas = setup.sms if every else 1
        r = region(setup, length, rows, ctas)
        data = np.full((r.rows, r.width), 0xA5A5, np.uint16)
        args: list[Argument] = [r.map(data, rows), Buffer(words(ctas), "u64"), *(Scalar("u32", n) for n in (length, rows, r.width, r.own))]
        return Launch(entry, (ctas, 1, 1), args, (128, 1, 1), dynamic_shared=depth * size + KB)

    def check(setup: Setup, length: int, launch: Launch, found: Arrays) -> str | None:
        r = region(setup, length, rows, launch.grid[0])
        raw = np.arange(depth * size // 2, dtype=np.uint32).astype(np.uint16).reshape(depth, size // 2)
        stages = [tiles.unswizzle(raw[s], rows).view(np.uint16) for s in range(depth)]
        for c in range(r.ctas):
            for step in range(length):
                complaint = equal(f"box {step} of CTA {c}", r.step(found[0][0], c, step), stages[step % depth])
                if complaint:
                    return complaint
        return None

    derive = per_step(figure.name) if depth == 1 else rate(figure.name, size)
    return Variant(name, entry, (16, 48, 96), (5, 6), launch, check, (figure,), derive, out=1, repeats=3)


def m4_variants() -> list[Variant]:
    found = []
    for size in (8 * KB, 16 * KB):
        kb = size // KB
        found.append(store_variant(size, 1, True, False, Figure(
            f"tma.store.{kb}kb.source_free", "clk", 200 + size / 64, 150, 900, "TMA reads shared memory at about 64 B/clk after some 200 clk")))
        found.append(store_variant(size, 1, False, False, Figure(
            f"tma.store.{kb}kb.complete", "clk", 700 + size / 64, 450, 1800, "a write to L2 and its acknowledgement, as long as a load from there")))
        for every, value, low, high, why in ((False, 48, 30, 64, "one SM sends at most 64 B/clk to L2"),
                                             (True, 16, 10, 26, "52 clk per KB by public notes for B200 is 20 B/clk/SM; memory's share is 13 to 18")):
            found.append(store_variant(size, 4, True, every, Figure(
                f"tma.store.{kb}kb.{'all' if every else 'one'}.rate", "B/clk/SM", value, low, high, why)))
    return found


M3 = Micro(
    "M3", "TMA loads of two dimensions",
    "How long does a load of 8 to 48 KB in one to four boxes take from L2 and from memory, and what rate do four stages in flight reach, on one SM and on all?",
    lambda: [load_entry(f"m3_b{b}_d{d}", b, d) for b in (1, 2, 4) for d in (1, 4)],
    m3_variants, opcodes={"m3_": {"UTMALDG": 1, "SYNCS": 2}}, priority=40)

M4 = Micro(
    "M4", "TMA stores",
    "How long until the source of a stored chunk may be overwritten, how long until the store is complete, and what rate do four chunks in flight reach?",
    lambda: [store_entry(f"m4_d{d}_{w}", d, w == "read") for d in (1, 4) for w in ("read", "done")],
    m4_variants, opcodes={"m4_": {"UTMASTG": 1}}, priority=42)
