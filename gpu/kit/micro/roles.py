"""M12: the cost of roles and clusters: moving registers between warpgroups, and loading for two CTAs at once."""
from __future__ import annotations

import numpy as np

from ..launches import Argument, Buffer, Launch, Scalar, TensorMap, only_array
from . import tiles
from .ptx import Entry
from .spec import Arrays, Figure, Micro, Reading, Setup, Variant, agent_clocks, equal, rate, words
from .tma import expect, load_box, noise

CAPPED, LOW, HIGH = 168, 40, 232


def setmaxnreg() -> Entry:
    """One warpgroup releases registers. After all warpgroups have synchronized, two others acquire them. Agents 0, 1,
    2 are the warpgroups."""
    e = Entry("m12_setmaxnreg", [("out", "u64")], 384, maxnreg=CAPPED)
    out, thread = e.pointer("out"), e.special("%tid.x")
    group, within = e.calc("shr.u32", thread, 7), e.calc("and.b32", thread, 127)
    e.sync()
    for lowest, text in ((0, f"setmaxnreg.dec.sync.aligned.u32 {LOW};"), (1, f"setmaxnreg.inc.sync.aligned.u32 {HIGH};")):
        with e.when("eq" if lowest == 0 else "ge", group, lowest):
            if lowest:
                e.op("bar.sync 1, 384;")
            start = e.clock()
            e.op(text)
            stop = e.clock()
            if not lowest:
                e.op("bar.sync 1, 384;")
            with e.when("eq", within, 0):
                agent_clocks(e, out, group, start, stop)
    return e


def registers() -> Variant:
    figures = (Figure("setmaxnreg.dec", "clk", 20, 4, 80, "nothing to wait for; a few instructions' worth"),
               Figure("setmaxnreg.inc", "clk", 40, 8, 150, "the registers are free by then; the pool answers all four warps"))

    def check(setup: Setup, length: int, launch: Launch, found: Arrays) -> str | None:
        stops = found[0][0][0, [1, 3, 5]]
        return None if (stops != 0).all() else "a warpgroup did not finish"

    def derive(readings: list[Reading]) -> dict[str, float]:
        last = readings[-1]
        return {figures[0].name: last.clocks((0,)), figures[1].name: max(last.clocks((1,)), last.clocks((2,)))}

    return Variant("m12_setmaxnreg", "m12_setmaxnreg", (1,), (1,),
                   lambda setup, length: Launch("m12_setmaxnreg", (1, 1, 1), [Buffer(words(1), "u64")], (384, 1, 1)), check, figures, derive, repeats=15)


# ---------------------------------------------------------------- multicast

STAGES = 4
A_ROWS, B_ROWS = 128, 256
A_BYTES, B_BYTES = A_ROWS * tiles.ROW, B_ROWS * tiles.ROW
STAGE = A_BYTES + B_BYTES
# Steps along the inner dimension before it restarts; L2 holds all of them.
STEPS = 8

PARAMS = [("a", "map"), ("b", "map"), ("out", "u64"), ("stage", "u64"), ("iterations", "u32")]


def ring(multicast: bool) -> Entry:
    """Pairs of CTAs that need separate A and the same B. With multicast each loads half of B for both."""
    e = Entry(f"m12_{'multicast' if multicast else 'separate'}", PARAMS, 64, cluster=2)
    a, b, out, stage, iterations = e.map("a"), e.map("b"), e.pointer("out"), e.pointer("stage"), e.param("iterations")
    thread, memory, cta = e.special("%tid.x"), e.dynamic(), e.special("%ctaid.x")
    rank = e.special("%cluster_ctarank")
    full, empty = e.shared("full", 8 * STAGES), e.shared("empty", 8 * STAGES)
    with e.when("eq", thread, 0):
        for s in range(STAGES):
            e.init_barrier(f"full+{8 * s}", 1)
            # A slot is free when its readers are done: in both CTAs, if both receive copies at once.
            e.init_barrier(f"empty+{8 * s}", 2 if multicast else 1)
        e.barriers_ready()
    cluster_sync(e)
    own_rows = e.calc("mul.lo.u32", cta, A_ROWS)
    half = B_ROWS // 2
    with e.when("eq", thread, 0):
        with e.loop(iterations) as i:
            slot = e.calc("and.b32", i, STAGES - 1)
            round_ = e.calc("shr.u32", i, STAGES.bit_length() - 1)
            e.wait(e.calc("mad.lo.u32", slot, f"8, {empty}"), e.calc("and.b32", e.calc("add.u32", round_, 1), 1))
            barrier = e.calc("mad.lo.u32", slot, f"8, {full}")
            to = e.calc("mad.lo.u32", slot, f"{STAGE}, {memory}")
            x = e.calc("mul.lo.u32", e.calc("and.b32", i, STEPS - 1), tiles.DEPTH)
            expect(e, barrier, str(STAGE))
            load_box(e, to, a, x, own_rows, barrier)
            to_b = e.calc("add.u32", to, A_BYTES)
            if multicast:
                place = e.calc("mad.lo.u32", rank, f"{half * tiles.ROW}, {to_b}")
                y = e.calc("mul.lo.u32", rank, half)
                mask = e.reg("b16")
                e.op(f"mov.u16 {mask}, 3;",
                     "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster "
                     f"[{place}], [{b}, {{{x}, {y}}}], [{barrier}], {mask};")
            else:
                for h in range(2):
                    load_box(e, e.calc("add.u32", to_b, h * half * tiles.ROW), b, x, str(h * half), barrier)
    with e.when("eq", thread, 32):
        remotes = []
        for r in range(2 if multicast else 0):
            at = e.reg()
            e.op(f"mapa.shared::cluster.u32 {at}, {empty}, {r};")
            remotes.append(at)
        start = e.clock()
        with e.loop(iterations) as i:
            slot = e.calc("and.b32", i, STAGES - 1)
            e.wait(e.calc("mad.lo.u32", slot, f"8, {full}"), e.calc("and.b32", e.calc("shr.u32", i, STAGES.bit_length() - 1), 1))
            if multicast:
                for at in remotes:
                    e.op(f"mbarrier.arrive.release.cluster.shared::cluster.b64 _, [{e.calc('mad.lo.u32', slot, f'8, {at}')}];")
            else:
                e.op(f"mbarrier.arrive.shared::cta.b64 _, [{e.calc('mad.lo.u32', slot, f'8, {empty}')}];")
        stop = e.clock()
        agent_clocks(e, out, 0, start, stop)
    # No CTA exits while the other one may still write to its memory.
    cluster_sync(e)
    last = e.calc("and.b32", e.calc("add.u32", iterations, -1 & 0xFFFFFFFF), STAGES - 1)
    source = e.calc("mad.lo.u32", last, f"{STAGE}, {memory}")
    to = e.calc("mad.wide.u32", cta, f"{STAGE}, {stage}", "b64")
    with e.loop(e.value("b32", STAGE // 1024)) as i:
        at = e.calc("shl.b32", e.calc("mad.lo.u32", i, f"64, {thread}"), 4)
        v = e.regs("b32", 4)
        e.op(f"ld.shared.v4.b32 {{{', '.join(v)}}}, [{e.calc('add.u32', source, at)}];")
        place = e.calc("mad.wide.u32", at, f"1, {to}", "b64")
        e.op(f"st.global.v4.b32 [{place}], {{{', '.join(v)}}};")
    return e


def cluster_sync(e: Entry) -> None:
    e.op("barrier.cluster.arrive.release.aligned;", "barrier.cluster.wait.acquire.aligned;")


def loads(multicast: bool, every: bool, figure: Figure) -> Variant:
    name = f"m12_{'multicast' if multicast else 'separate'}"
    width = STEPS * tiles.DEPTH

    def launch(setup: Setup, length: int) -> Launch:
        ctas = setup.sms // 2 * 2 if every else 2
        a, b = noise(15, ctas * A_ROWS, width), noise(16, B_ROWS, width)
        maps = [TensorMap(m, "u16", [width, len(m)], [2 * width], [tiles.DEPTH, 128], swizzle=3, constant=True) for m in (a, b)]
        args: list[Argument] = [*maps, Buffer(words(ctas), "u64"), Buffer(np.full((ctas, STAGE), 0xA5, np.uint8), "u8"), Scalar("u32", length)]
        return Launch(name, (ctas, 1, 1), args, (64, 1, 1), dynamic_shared=STAGES * STAGE + 1024)

    def check(setup: Setup, length: int, launch: Launch, found: Arrays) -> str | None:
        a, b = (only_array(m) for m in launch.args[:2])
        x = (length - 1) % STEPS * tiles.DEPTH
        for c in range(launch.grid[0]):
            got = tiles.unswizzle(found[3][0][c], A_ROWS + B_ROWS).view(np.uint16)
            want = np.concatenate([a[c * A_ROWS:(c + 1) * A_ROWS, x:x + tiles.DEPTH], b[:, x:x + tiles.DEPTH]])
            complaint = equal(f"stage of CTA {c}", got, want)
            if complaint:
                return complaint
        return None

    return Variant(f"{name}_{'all' if every else 'pair'}", name, (16, 64, 192), (5, 6), launch, check, (figure,), rate(figure.name, STAGE), out=2, repeats=3)


def variants() -> list[Variant]:
    return [
        registers(),
        loads(False, False, Figure("cluster.separate.pair.rate", "B/clk/SM", 56, 40, 64, "one SM takes at most 64 B/clk from L2, and two are far apart")),
        loads(True, False, Figure("cluster.multicast.pair.rate", "B/clk/SM", 64, 48, 90, "bytes that arrive: a third of them come by the other CTA's request")),
        loads(False, True, Figure("cluster.separate.all.rate", "B/clk/SM", 32, 22, 48, "all SMs share L2's 5.5 to 7 TB/s")),
        loads(True, True, Figure("cluster.multicast.all.rate", "B/clk/SM", 46, 28, 72, "L2 delivers 32 of each 48 KB: half as much again arrives")),
    ]


M12 = Micro(
    "M12", "Registers between roles, and multicast",
    "What do setmaxnreg.dec and .inc cost, and how much faster are loads of a shared operand if each of two CTAs loads half of it for both?",
    lambda: [setmaxnreg(), ring(False), ring(True)], variants,
    opcodes={"m12_setmaxnreg": {"USETMAXREG": 2}, "m12_multicast": {"UTMALDG": 2}, "m12_separate": {"UTMALDG": 3}}, priority=43)
