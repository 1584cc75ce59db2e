"""Do concurrent launches interfere with each other?

Our kernels with TMA keep their tensor maps in a table in the module's memory. The first block that needs a map fills
its slot, whichever launch that block belongs to. So the first launches of a process are critical. Each test loads the
image in a new process and immediately starts the kernel sixteen times, in several streams or as independent nodes of
a graph. All launches wait for one event, so they start together. Pairs of launches have the same operands and so the
same maps; other launches have different maps. Each launch writes separate arrays, which are compared as for a single
launch.
"""
from __future__ import annotations

import pathlib
from typing import Any

from . import correctness
from .device import Image
from .launches import Launch
from .work import Context, Item

LAUNCHES, STREAMS = 16, 8

# Appears in the PTX of kernels with TMA.
MARK = "cp.async.bulk.tensor"


def items(pack: pathlib.Path, only: str = "") -> list[Item]:
    found = []
    for program in correctness.read_index(pack / "cases" / "index.json"):
        if program["level"] == 3 and MARK in (pack / program["ptx"]).read_text():
            for how in ("streams", "graph"):
                name = f"{program['program']} {how}"
                if only in name:
                    # Each needs a new context.
                    found.append(Item("concurrent", name, {"program": program, "how": how}, 23, 2.0, 60.0, worker="fresh", fresh=True))
    return found


def together(cases: Any, program: dict[str, Any]) -> list[Launch]:
    """The launches. Each pair has the same seed and operands; every launch writes separate arrays."""
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
