"""M14: the cost of a launch: empty nodes of a graph, and CTAs that only start and end."""
from __future__ import annotations

import numpy as np

from ..launches import Buffer, Launch
from .ptx import Entry
from .spec import Arrays, Contender, Figure, Micro, Setup, equal

THREADS, SHARED = 384, 200 * 1024
WAVES = (1, 2, 4, 8, 16)


def empty() -> Entry:
    e = Entry("m14_empty", [("count", "u64")], 32)
    e.op("bar.warp.sync -1;")
    return e


def heavy() -> Entry:
    """A CTA with the threads and shared memory of a matmul's CTA, of which one fits an SM. It counts itself."""
    e = Entry("m14_cta", [("count", "u64")], THREADS)
    count = e.pointer("count")
    memory = e.dynamic()
    with e.when("eq", e.special("%tid.x"), 0):
        e.op(f"st.shared.u32 [{memory}], 1;", f"red.relaxed.gpu.global.add.u32 [{count}], 1;")
    return e


def contenders() -> list[list[Contender]]:
    def launches(setup: Setup) -> list[Launch]:
        return [Launch("m14_empty", (1, 1, 1), [Buffer(np.zeros(1, np.uint32), "u32")], (32, 1, 1))]

    nothing = Contender(
        "m14_graph_node", "m14_empty", launches, lambda setup, launch, found: equal("count", found[0][0], np.zeros(1, np.uint32)),
        Figure("launch.graph_node", "us", 1.3, 0.8, 2.5, "public notes: 1.3 to 1.5 us from kernel to kernel in a graph"), lambda setup, us: us)
    return [[nothing], [waves(n) for n in WAVES]]


def waves(n: int) -> Contender:
    def launches(setup: Setup) -> list[Launch]:
        return [Launch("m14_cta", (setup.sms * n, 1, 1), [Buffer(np.zeros(1, np.uint32), "u32")], (THREADS, 1, 1), dynamic_shared=SHARED)]

    def check(setup: Setup, launch: Launch, found: Arrays) -> str | None:
        got = int(found[0][0][0])
        return None if got and got % (setup.sms * n) == 0 else f"{got} CTAs were counted, not a multiple of {setup.sms * n}"

    predicted = 2.5 + 1.0 * (n - 1)
    figure = Figure(f"launch.{n}waves", "us", predicted, predicted * 0.5, predicted * 2,
                    "a node of 1.3 us, 1 us to start the first CTA of 384 threads, and 1 us for each further wave")
    return Contender(f"m14_{n}waves", "m14_cta", launches, check, figure, lambda setup, us: us)


M14 = Micro(
    "M14", "The cost of launching",
    "What does an empty node of a graph cost, and how long does a wave of empty CTAs of 384 threads with 200 KB of shared memory take?",
    lambda: [empty(), heavy()], contenders=contenders, opcodes={"m14_": {"EXIT": 1}}, priority=41)
