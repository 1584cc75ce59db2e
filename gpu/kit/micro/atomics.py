"""M13: atomic adds to memory. Each CTA repeatedly adds 1 to every float of a region."""
from __future__ import annotations

import numpy as np

from ..launches import Buffer, Launch, Scalar
from .ptx import Entry
from .spec import Arrays, Figure, Micro, Setup, Variant, agent_clocks, equal, rate, words

THREADS = 256
REGION = 16 * 1024
FLOATS = REGION // 4
WAYS = ("red", "red_v4", "atom", "bulk")

PARAMS = [("out", "u64"), ("data", "u64"), ("iterations", "u32"), ("stride", "u32")]


def entry(way: str) -> Entry:
    e = Entry(f"m13_{way}", PARAMS, THREADS)
    out, data, iterations, thread = e.pointer("out"), e.pointer("data"), e.param("iterations"), e.special("%tid.x")
    base = e.calc("mul.wide.u32", e.special("%ctaid.x"), e.param("stride"), "b64")
    e.op(f"add.u64 {base}, {base}, {data};")
    one = e.value("f32", "0f3F800000")
    memory = e.shared("ones", REGION, 128) if way == "bulk" else ""
    if way == "bulk":
        for n in range(REGION // 16 // THREADS):
            e.op(f"st.shared.v4.f32 [{e.calc('mad.lo.u32', thread, f'16, {memory}')}+{16 * THREADS * n}], {{{one}, {one}, {one}, {one}}};")
        e.op("fence.proxy.async.shared::cta;")
    e.sync()
    # Adjacent threads have adjacent words, or adjacent groups of four.
    width = 16 if way == "red_v4" else 4
    at = e.calc("mad.wide.u32", thread, f"{width}, {base}", "b64")
    sink = e.value("f32", "0f00000000")
    start = e.clock()
    with e.loop(iterations):
        if way == "bulk":
            with e.when("eq", thread, 0):
                e.op(f"cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [{base}], [{memory}], {REGION};",
                     "cp.async.bulk.commit_group;", "cp.async.bulk.wait_group.read 3;")
        for n in range(0 if way == "bulk" else REGION // width // THREADS):
            place = f"[{at}+{width * THREADS * n}]"
            if way == "red":
                e.op(f"red.relaxed.gpu.global.add.f32 {place}, {one};")
            elif way == "red_v4":
                e.op(f"red.relaxed.gpu.global.add.v4.f32 {place}, {{{one}, {one}, {one}, {one}}};")
            else:
                old = e.reg("f32")
                e.op(f"atom.relaxed.gpu.global.add.f32 {old}, {place}, {one};", f"add.f32 {sink}, {sink}, {old};")
    if way == "bulk":
        with e.when("eq", thread, 0):
            e.op("cp.async.bulk.wait_group 0;")
    e.op("fence.acq_rel.gpu;")
    stop = e.clock()
    with e.when("eq", thread, 0):
        agent_clocks(e, out, 0, start, stop)
    if way == "atom":
        # The old values are used, so the compiler cannot turn the atomics into reductions.
        with e.when("lt", sink, "0f00000000", "f32"):
            e.op(f"st.global.f32 [{data}], {sink};")
    return e


def variant(way: str, shared: bool, figure: Figure) -> Variant:
    def launch(setup: Setup, length: int) -> Launch:
        ctas = setup.sms
        data = np.zeros((1 if shared else ctas, FLOATS), np.float32)
        return Launch(f"m13_{way}", (ctas, 1, 1), [Buffer(words(ctas), "u64"), Buffer(data, "f32"), Scalar("u32", length),
                                                    Scalar("u32", 0 if shared else REGION)], (THREADS, 1, 1))

    def check(setup: Setup, length: int, launch: Launch, found: Arrays) -> str | None:
        each = length * (launch.grid[0] if shared else 1)
        return equal("data", found[1][0], np.full_like(found[1][0], each))

    name = f"m13_{way}_{'shared' if shared else 'own'}"
    return Variant(name, f"m13_{way}", (4, 16, 48), (1, 2), launch, check, (figure,), rate(figure.name, REGION))


def variants() -> list[Variant]:
    table = {
        "red": (8, 3, 24, "one 4-byte addition a thread: L2 adds some 2400 words per clock at best by public notes, over 132 SMs 18 words, and issue is the limit first"),
        "red_v4": (24, 8, 40, "16 bytes a thread: a quarter of the requests"),
        "atom": (6, 2, 20, "as red, and the old values come back"),
        "bulk": (24, 8, 48, "the engine sends lines of 128 bytes; L2's adders are the limit"),
    }
    found = []
    for way in WAYS:
        value, low, high, why = table[way]
        found.append(variant(way, False, Figure(f"atomics.{way}.own.rate", "B/clk/SM", value, low, high, why)))
        found.append(variant(way, True, Figure(f"atomics.{way}.shared.rate", "B/clk/SM", value / 4, 0.1, high,
                                               "all SMs add to the same 16 KB: the few slices of L2 that hold them are the limit")))
    return found


M13 = Micro(
    "M13", "Additions to memory",
    "What rate do red of one and of four floats, atom, and bulk reductions from shared memory reach, on separate regions and on a shared one?",
    lambda: [entry(w) for w in WAYS], variants,
    opcodes={"m13_red": {"RED": 1}, "m13_atom": {"ATOMG": 16}, "m13_bulk": {"UBLKRED": 1}}, priority=44)
