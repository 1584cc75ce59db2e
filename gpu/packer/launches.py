"""Writes how our kernels are launched on all cases, for predictions without a device: `python3 gpu/packer/launches.py
DIR [MULTIPROCESSORS]`.

The number of multiprocessors of the device, 132 unless it is given, is the grid of kernels with a loop over tiles.
DIR/launches.json has for each case its parameters, with the contents of those that decide how much work there is, and
for each variant its launches. Needs NumPy. `cargo xtask predict --kernels DIR` reads it beside the kernels.
"""
from __future__ import annotations

import json
import pathlib
import sys
from typing import Any

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path += [str(ROOT), str(ROOT.parent / ".tools" / "python")]

import numpy as np  # noqa: E402

from kit.peers import problems  # noqa: E402
from kit.peers.problem import Array, Arrays, Number, Parameter, Problem  # noqa: E402
from packer import variants  # noqa: E402

# Multiprocessors of an H100 or H200.
SMS = 132


def parameter(p: Parameter) -> dict[str, Any]:
    if isinstance(p, Number):
        return {"kind": p.dtype, "value": p.value}
    if isinstance(p, Arrays):
        return {"kind": "list", "items": [parameter(a) for a in p.items]}
    assert isinstance(p, Array)
    found: dict[str, Any] = {"kind": "array", "shape": list(p.shape), "bytes": p.bytes}
    if isinstance(p.fill, np.ndarray):
        assert p.dtype == "i32"
        found["values"] = p.fill.ravel().tolist()
    return found


def case(p: Problem, entries: list[dict[str, Any]], multiprocessors: int) -> dict[str, Any]:
    steps = {e["name"]: [{"kernel": s.entry, "grid": list(s.grids[0]), "parameters": list(s.parameters)}
                         for s in p.steps(e, multiprocessors)]
             for e in entries if p.fits(e)}
    return {"name": p.name, "flop": p.flop, "bytes": p.bytes,
            "parameters": {q.name: parameter(q) for q in p.parameters()}, "variants": steps}


def write(folder: pathlib.Path, multiprocessors: int = SMS) -> None:
    entries = [e.fields() for e in variants.entries()]
    found = [case(p, entries, multiprocessors) for p in problems.problems()]
    (folder / "launches.json").write_text(json.dumps([c for c in found if c["variants"]], separators=(",", ":")) + "\n")


if __name__ == "__main__":
    write(pathlib.Path(sys.argv[1]), *map(int, sys.argv[2:3]))
