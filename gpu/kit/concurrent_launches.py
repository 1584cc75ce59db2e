"""Do launches that run at the same time get in each other's way?

A kernel of ours that copies by tensor maps keeps them in a table in its module's memory, which the first block that needs a map
fills, whichever launch that block belongs to. So the first launches of a process are what has to be right: here a process of its own
loads the image and at once starts the kernel sixteen times, in several streams or as the independent nodes of a graph. All wait
for one event, so that they begin together. Pairs of launches have the same operands, and so the same maps; others have maps of their
own. Each launch writes arrays of its own, which are compared like those of a launch alone.
"""
from __future__ import annotations

import pathlib
from typing import Any

from . import correctness
from .device import Image
from .launches import Launch
from .work import Context, Item

LAUNCHES, STREAMS = 16, 8

# In the PTX of kernels that copy by tensor maps.
MARK = "cp.async.bulk.tensor"


def items(pack: pathlib.Path, only: str = "") -> list[Item]:
    found = []
    for program in correctness.read_index(pack / "cases" / "index.json"):
        if program["level"] == 3 and MARK in (pack / program["ptx"]).read_text():
            for how in ("streams", "graph"):
                name = f"{program['program']} {how}"
                if only in name:
                    # Each pays for a context of its own.
                    found.append(Item("concurrent", name, {"program": program, "how": how}, 23, 2.0, 60.0, worker="fresh", fresh=True))
    return found


def together(cases: Any, program: dict[str, Any]) -> list[Launch]:
    """The launches. Two and two have one seed and the same operands; every one has arrays of its own to write."""
    block, found = tuple(program["block"]), []
    for i in range(LAUNCHES):
        launch = correctness.corpus_launch(cases, program["case"], i // 2, block, program["entry"])
        if i % 2:
            written = {e.arg for e in launch.expect}
            launch.args = [mine if n in written else theirs for n, (mine, theirs) in enumerate(zip(launch.args, found[-1].args))]
        found.append(launch)
    return found


def handle(context: Context, payload: dict[str, Any]) -> None:
    pack, program = pathlib.Path(context.config["pack"]), payload["program"]
    cases = correctness.load_cases(pack / "cases" / "cases.py")
    launches = together(cases, program)
    image = Image(pack / program["cubin"], pack / program["ptx"])
    graph = payload["how"] == "graph"
    context.stage("run", payload["how"])
    outcomes = context.device.run_together(image, launches, STREAMS, graph)
    about = {"sha256": program.get("sha256", "")[:16], "launches": LAUNCHES, "streams": STREAMS, "graph": graph}
    wrong = [(i, d) for i, (launch, outcome) in enumerate(zip(launches, outcomes)) for d in correctness.differences(launch, outcome.arrays)]
    if wrong:
        at, first = wrong[0]
        context.case("fail", what="result", where=f"launch {at}, {first.where}", detail=str(first), wrong=first.wrong, of=first.of,
                     launches_wrong=len({i for i, _ in wrong}), **about)
    else:
        context.case("pass", **about)
