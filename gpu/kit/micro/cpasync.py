"""M7: filling a ring with `cp.async`, the alternative to tensor maps."""
from __future__ import annotations

import numpy as np

from ..launches import Argument, Buffer, Launch, Scalar
from . import tiles
from .ptx import Entry
from .spec import Arrays, Figure, Micro, Setup, Variant, agent_clocks, equal, rate, words
from .tma import noise

STAGES = 4
ROWS = 384
STAGE = ROWS * tiles.ROW
# The source: a matrix whose rows span this many stages, read repeatedly from L2.
SOURCE_STEPS = 4

PARAMS = [("source", "u64"), ("out", "u64"), ("stage", "u64"), ("iterations", "u32")]


def entry(producers: int) -> Entry:
    """`producers` warps copy 16 bytes per thread into swizzled stages of 48 KB. Another warp waits for the stages and
    frees them."""
    e = Entry(f"m7_p{producers}", PARAMS, 32 * (producers + 1))
    source, out, stage, iterations = e.pointer("source"), e.pointer("out"), e.pointer("stage"), e.param("iterations")
    thread, memory = e.special("%tid.x"), e.dynamic()
    full, empty = e.shared("full", 8 * STAGES), e.shared("empty", 8 * STAGES)
    with e.when("eq", thread, 0):
        for s in range(STAGES):
            e.init_barrier(f"full+{8 * s}", 32 * producers)
            e.init_barrier(f"empty+{8 * s}", 1)
        e.barriers_ready()
    e.sync()
    with e.when("lt", thread, 32 * producers):
        with e.loop(iterations) as i:
            slot = e.calc("and.b32", i, STAGES - 1)
            round_ = e.calc("shr.u32", i, STAGES.bit_length() - 1)
            # In the first round every slot is empty: the phase before the first one counts as complete.
            e.wait(e.calc("mad.lo.u32", slot, f"8, {empty}"), e.calc("and.b32", e.calc("add.u32", round_, 1), 1))
            base = e.calc("mad.lo.u32", slot, f"{STAGE}, {memory}")
            column = e.calc("mul.lo.u32", e.calc("and.b32", i, SOURCE_STEPS - 1), tiles.ROW)
            # A warp copies four rows at once, each in eight chunks of 16 bytes.
            row = e.calc("shr.u32", thread, 3)
            chunk = e.calc("and.b32", thread, 7)
            to = tiles.swizzled(e, base, row, chunk)
            offset = e.calc("mad.lo.u32", row, f"{tiles.ROW * SOURCE_STEPS}, {e.calc('mad.lo.u32', chunk, f'16, {column}')}")
            at = e.calc("mad.wide.u32", offset, f"1, {source}", "b64")
            step = 4 * producers
            # Rows whose distance is a multiple of eight have the same swizzle. The rows of a warp are four apart, so
            # it needs two addresses.
            places = [to] if step % 8 == 0 else [to, tiles.swizzled(e, base, e.calc("add.u32", row, step), chunk)]
            for n in range(ROWS // step):
                place = places[n % len(places)]
                behind = (n - n % len(places)) * step * tiles.ROW
                e.op(f"cp.async.cg.shared.global [{place}+{behind}], [{at}+{n * step * tiles.ROW * SOURCE_STEPS}], 16;")
            e.op(f"cp.async.mbarrier.arrive.noinc.shared::cta.b64 [{e.calc('mad.lo.u32', slot, f'8, {full}')}];")
    with e.when("eq", thread, 32 * producers):
        start = e.clock()
        with e.loop(iterations) as i:
            slot = e.calc("and.b32", i, STAGES - 1)
            e.wait(e.calc("mad.lo.u32", slot, f"8, {full}"), e.calc("and.b32", e.calc("shr.u32", i, STAGES.bit_length() - 1), 1))
            e.op("fence.proxy.async.shared::cta;")
            e.op(f"mbarrier.arrive.shared::cta.b64 _, [{e.calc('mad.lo.u32', slot, f'8, {empty}')}];")
        stop = e.clock()
        agent_clocks(e, out, 0, start, stop)
    e.sync()
    last = e.calc("and.b32", e.calc("add.u32", iterations, -1 & 0xFFFFFFFF), STAGES - 1)
    base = e.calc("mad.lo.u32", last, f"{STAGE}, {memory}")
    with e.when("lt", e.calc("mad.lo.u32", e.special("%ctaid.x"), f"1024, {thread}"), 32):
        with e.loop(e.value("b32", STAGE // 512)) as i:
            at = e.calc("shl.b32", e.calc("mad.lo.u32", i, f"32, {thread}"), 4)
            v = e.regs("b32", 4)
            e.op(f"ld.shared.v4.b32 {{{', '.join(v)}}}, [{e.calc('add.u32', base, at)}];")
            to = e.calc("mad.wide.u32", at, f"1, {stage}", "b64")
            e.op(f"st.global.v4.b32 [{to}], {{{', '.join(v)}}};")
    return e


def variant(producers: int, every: bool, figure: Figure) -> Variant:
    source = noise(7, ROWS, SOURCE_STEPS * tiles.DEPTH)

    def launch(setup: Setup, length: int) -> Launch:
        ctas = setup.sms if every else 1
        args: list[Argument] = [Buffer(source, "u16"), Buffer(words(ctas), "u64"), Buffer(np.full(STAGE // 2, 0xA5A5, np.uint16), "u16"), Scalar("u32", length)]
        return Launch(f"m7_p{producers}", (ctas, 1, 1), args, (32 * (producers + 1), 1, 1), dynamic_shared=STAGES * STAGE + 1024)

    def check(setup: Setup, length: int, launch: Launch, found: Arrays) -> str | None:
        x = (length - 1) % SOURCE_STEPS * tiles.DEPTH
        return equal("stage", tiles.unswizzle(found[2][0], ROWS).view(np.uint16), source[:, x:x + tiles.DEPTH])

    name = f"m7_p{producers}_{'all' if every else 'one'}"
    return Variant(name, f"m7_p{producers}", (16, 64, 192), (5, 6), launch, check, (figure,), rate(figure.name, STAGE), out=1)


def variants() -> list[Variant]:
    found = []
    for producers, value, low, high, why in (
            (1, 24, 12, 40, "one warp issues a copy of 512 bytes every 16 to 20 clk with its share of waiting"),
            (2, 40, 24, 60, "twice as many copies, near the 64 B/clk that an SM takes from L2"),
            (4, 52, 40, 64, "96 warp instructions per 48 KB stage fit 1024 clk easily: the path from L2 is the limit")):
        found.append(variant(producers, False, Figure(f"cp_async.{producers}warps.one.rate", "B/clk/SM", value, low, high, why)))
    found.append(variant(4, True, Figure("cp_async.4warps.all.rate", "B/clk/SM", 32, 22, 56, "all SMs share L2, as with tensor maps")))
    return found


M7 = Micro(
    "M7", "A ring filled by cp.async",
    "What rate do one, two and four producer warps reach with 16-byte cp.async into swizzled stages, signalled by mbarriers?",
    lambda: [entry(p) for p in (1, 2, 4)], variants, opcodes={"m7_": {"LDGSTS": 24, "SYNCS": 2}}, priority=43)
