"""M5: the cost of one warp waiting for another."""
from __future__ import annotations

import numpy as np

from ..launches import Buffer, Launch, Scalar
from .ptx import Entry
from .spec import Arrays, Figure, Micro, Setup, Variant, agent_clocks, per_step, words

PARAMS = [("out", "u64"), ("count", "u64"), ("iterations", "u32")]


def _begin(name: str, threads: int, barriers: int = 0) -> tuple[Entry, str, str, str, str]:
    e = Entry(name, PARAMS, threads)
    out, iterations, thread = e.pointer("out"), e.param("iterations"), e.special("%tid.x")
    base = e.shared("bar", 8 * max(barriers, 1))
    if barriers:
        with e.when("eq", thread, 0):
            for b in range(barriers):
                e.init_barrier(f"bar+{8 * b}", 1)
            e.barriers_ready()
    e.sync()
    return e, out, iterations, thread, base


def _done(e: Entry, times: str) -> None:
    """Counts the iterations of a thread, for the check."""
    count = e.pointer("count")
    e.op(f"red.global.add.u32 [{count}], {times};")


def _arrive(e: Entry, barrier: str) -> None:
    e.op(f"mbarrier.arrive.shared::cta.b64 _, [{barrier}];")


def pingpong() -> Entry:
    """Lane 0 of two warps wake each other alternately through two mbarriers: two edges per iteration."""
    e, out, iterations, thread, base = _begin("m5_mbarrier_pingpong", 64, 2)
    mine, other = base, e.calc("add.u32", base, 8)
    with e.when("eq", thread, 0):
        start = e.clock()
        with e.loop(iterations) as i:
            _arrive(e, other)
            e.wait(mine, e.calc("and.b32", i, 1))
        stop = e.clock()
        agent_clocks(e, out, 0, start, stop)
        _done(e, iterations)
    with e.when("eq", thread, 32):
        with e.loop(iterations) as i:
            e.wait(other, e.calc("and.b32", i, 1))
            _arrive(e, mine)
        _done(e, iterations)
    return e


def alone() -> Entry:
    """One thread arrives and waits for a completed phase: the cost of a wait that does not block."""
    e, out, iterations, thread, base = _begin("m5_mbarrier_self", 32, 1)
    with e.when("eq", thread, 0):
        start = e.clock()
        with e.loop(iterations) as i:
            _arrive(e, base)
            e.wait(base, e.calc("and.b32", i, 1))
        stop = e.clock()
        agent_clocks(e, out, 0, start, stop)
        _done(e, iterations)
    return e


def named() -> Entry:
    """Eight warps meet at a named barrier."""
    e, out, iterations, thread, _ = _begin("m5_named_256", 256)
    start = e.clock()
    with e.loop(iterations):
        e.op("bar.sync 1, 256;")
    stop = e.clock()
    with e.when("eq", thread, 0):
        agent_clocks(e, out, 0, start, stop)
    _done(e, iterations)
    return e


def handover() -> Entry:
    """Two groups of four warps alternate through two named barriers: two edges per iteration."""
    e, out, iterations, thread, _ = _begin("m5_named_handover", 256)
    start = e.clock()
    with e.when("lt", thread, 128):
        with e.loop(iterations):
            e.op("bar.arrive 2, 256;", "bar.sync 1, 256;")
    with e.when("ge", thread, 128):
        with e.loop(iterations):
            e.op("bar.sync 2, 256;", "bar.arrive 1, 256;")
    stop = e.clock()
    with e.when("eq", thread, 0):
        agent_clocks(e, out, 0, start, stop)
    _done(e, iterations)
    return e


def variant(name: str, threads: int, counted: int, figure: Figure, edges: int) -> Variant:
    def launch(setup: Setup, length: int) -> Launch:
        return Launch(name, (1, 1, 1), [Buffer(words(1), "u64"), Buffer(np.zeros(1, np.uint32), "u32"), Scalar("u32", length)], (threads, 1, 1))

    def check(setup: Setup, length: int, launch: Launch, found: Arrays) -> str | None:
        got, want = int(found[1][0][0]), counted * length
        return None if got == want else f"{got} rounds were counted, expected {want}"

    return Variant(name, name, (64, 256, 1024), (3, 5), launch, check, (figure,), per_step(figure.name, 1 / edges))


def variants() -> list[Variant]:
    return [
        variant("m5_mbarrier_pingpong", 64, 2, Figure(
            "sync.mbarrier.edge", "clk", 60, 30, 110, "an arrival of about 20, and the wake-up of a thread in try_wait of about 40"), 2),
        variant("m5_mbarrier_self", 32, 1, Figure(
            "sync.mbarrier.hit", "clk", 40, 20, 80, "an arrival and a successful try_wait, about 20 each, one after the other"), 1),
        variant("m5_named_256", 256, 256, Figure(
            "sync.named.256", "clk", 25, 15, 45, "public notes: 20 to 30 for a barrier of a CTA"), 1),
        variant("m5_named_handover", 256, 256, Figure(
            "sync.named.edge", "clk", 30, 15, 60, "as a barrier of all, and one more instruction"), 2),
    ]


M5 = Micro(
    "M5", "Edges between warps",
    "How many clocks from an arrival at an mbarrier to the wake-up of a waiting thread, and how many for a named barrier of 256 threads?",
    lambda: [pingpong(), alone(), named(), handover()], variants,
    opcodes={"m5_mbarrier": {"SYNCS": 2}, "m5_named": {"BAR": 2}}, priority=41)
