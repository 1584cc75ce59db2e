"""Do dependent grids that start early see the writes of the grids they depend on, and how much time does it save?

A program of the corpus waits for the preceding grids, squares its input, and lets dependent grids start before it
stores. Here it is launched as a chain, in which each launch squares the output of the previous one: once as ordinary
launches in a stream, and once with programmatic serialization, as a stream and as a graph. Without the wait, a grid
would load elements that are not written yet: the intermediate arrays are filled with a pattern that is not a square.
Results are compared bit for bit.
"""
from __future__ import annotations

import pathlib
from typing import Any

import numpy as np

from . import correctness
from .device import Image, Schedule
from .dtypes import poisoned
from .launches import Array, Expect, Launch
from .stats import summary
from .work import Context, Item

PROGRAM = "dependent_launch"
CHAIN, TILE = 8, 256

# Number of blocks of each launch: a grid that leaves most of a GPU idle, and one of many waves.
BLOCKS = (4, 8192)

# Appears in the PTX of kernels that wait for the preceding grids.
MARK = "griddepcontrol.wait"


def items(pack: pathlib.Path, only: str = "") -> list[Item]:
    found = []
    for program in correctness.read_index(pack / "cases" / "index.json"):
        if program["case"] == PROGRAM and MARK in (pack / program["ptx"]).read_text():
            for blocks in BLOCKS:
                name = f"{program['program']} -O{program['level']} {blocks} blocks"
                if only in name:
                    found.append(Item("dependent", name, {"program": program, "blocks": blocks}, 23, 1.0, 60.0))
    return found


def chain(program: dict[str, Any], blocks: int, dependent: bool) -> list[Launch]:
    """The launches. The last tile of each array ends in the middle."""
    n = blocks * TILE - TILE // 2
    # Repeated squares stay far from the limits of the type.
    value = np.random.default_rng(blocks).uniform(0.98, 1.02, n).astype(np.float32)
    have, found = Array(value, "f32"), []
    for i in range(CHAIN):
        value = value * value
        out = Array(poisoned("f32", value.shape), "f32")
        found.append(Launch(program["entry"], (blocks, 1, 1), [have, out], tuple(program["block"]), dependent=dependent and i > 0,
                            expect=[Expect(1, [value], "bits")]))
        have = out
    return found


def handle(context: Context, payload: dict[str, Any]) -> None:
    pack, program, blocks = pathlib.Path(context.config["pack"]), payload["program"], payload["blocks"]
    if not context.device.measures:
        # More launches show nothing on a device that runs them one after another.
        blocks = min(blocks, BLOCKS[0])
    image = Image(pack / program["cubin"], pack / program["ptx"])
    about = {"sha256": program.get("sha256", "")[:16], "launches": CHAIN, "blocks": blocks}
    for dependent in (False, True):
        for graph in (False, True):
            how = f"{'dependent' if dependent else 'plain'}, {'graph' if graph else 'stream'}"
            context.stage("run", how)
            launches = chain(program, blocks, dependent)
            outcomes = context.device.run_chain(image, launches, graph)
            wrong = [(i, d) for i, (launch, outcome) in enumerate(zip(launches, outcomes)) for d in correctness.differences(launch, outcome.arrays)]
            if wrong:
                at, first = wrong[0]
                context.case("fail", what="result", where=f"{how}, launch {at}, {first.where}", detail=str(first), wrong=first.wrong, of=first.of, **about)
                return
    if context.device.measures:
        context.stage("time")
        contenders = [(image, chain(program, blocks, dependent)) for dependent in (False, True)]
        for impl, timed in zip(("plain", "dependent"), context.device.time(contenders, Schedule(per_graph=5 * CHAIN))):
            context.record({"record": "measurement", "part": "dependent", "name": context.item["name"], "impl": impl, "unit": "us",
                            **summary(timed.microseconds).fields(), **about})
    context.case("pass", **about)
