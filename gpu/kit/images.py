"""Checks that the driver accepts the images of the pack: one is loaded and run before anything else."""
from __future__ import annotations

import json
import pathlib
from typing import Any

import numpy as np

from . import correctness, launch_abi, launches
from .device import Image
from .launches import Buffer, Launch
from .work import Context, Item


def items(pack: pathlib.Path) -> list[Item]:
    """One image from each assembler: the probe of the launch experiment, or any program."""
    for index, kind in (("abi", "probe"), ("cases", "program"), ("ptx", "kernel")):
        path = pack / index / "index.json"
        entries = json.loads(path.read_text()) if path.is_file() else []
        if entries:
            return [Item("images", "carried", {"kind": kind, "entry": entries[0]}, 0, 0.1, 30)]
    return []


def handle(context: Context, payload: dict[str, Any]) -> None:
    pack, entry = pathlib.Path(context.config["pack"]), payload["entry"]
    image = Image(cubin=pack / entry["cubin"])
    context.stage("load", entry["cubin"])
    if payload["kind"] == "probe":
        found = context.device.run(image, Launch(entry["entry"], (1, 1, 1), [Buffer(np.zeros(32, np.uint32), "u32")], (launch_abi.THREADS, 1, 1)))
        if int(found.arrays[0][0][0]) != launch_abi.THREADS:
            context.case("fail", what="result", where=entry["cubin"], detail=f"{int(found.arrays[0][0][0])} threads were counted")
            return
    elif payload["kind"] == "program":
        cases = correctness.load_cases(pack / "cases" / "cases.py")
        context.device.run(image, correctness.corpus_launch(cases, entry["case"], 0, tuple(entry["block"]), entry["entry"]))
    else:
        launch = launches.read(pack / entry["launch"])
        launch.entry = launch.entry or entry["entry"]
        context.device.run(image, launch)
    context.case("pass", sha256=entry.get("sha256", "")[:16])
