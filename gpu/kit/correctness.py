"""Are our kernels correct on the device? Runs the programs of the corpus, and the test kernels of the simulator.

Corpus: inputs and expected results come from `cases.py` and are generated from a seed where they are compared, so the
pack only contains images. Outputs hold garbage before the launch, unless the kernel adds to them.

Test kernels: launch descriptions with their arrays and the results of the simulator or the host. They are compared
bit for bit where PTX defines the result.
"""
from __future__ import annotations

import importlib.util
import json
import pathlib
import sys
from types import ModuleType
from typing import Any

import numpy as np

from . import launches
from .compare import Difference, compare, compare_lines
from .device import Image
from .launches import Argument, Array, ArrayList, Expect, Launch, Scalar
from .work import Context, Item

SEEDS = (0, 1)


# ---------------------------------------------------------------- planning

def items(pack: pathlib.Path, levels: tuple[int, ...] = (3, 0), only: str = "") -> list[Item]:
    """Every program at every level, -O3 first, followed by the test kernels."""
    found = []
    for program in read_index(pack / "cases" / "index.json"):
        if program["level"] in levels and only in program["program"]:
            payload = {"program": program}
            found.append(Item("correctness", f"{program['program']} -O{program['level']}", payload, 20 + (program["level"] == 0), 0.1))
    for case in read_index(pack / "ptx" / "index.json"):
        if only in case["name"]:
            found.append(Item("ptx", case["name"], {"ptx_case": case}, 22, 0.1))
    return found


def read_index(path: pathlib.Path) -> list[dict[str, Any]]:
    return json.loads(path.read_text()) if path.is_file() else []


# ---------------------------------------------------------------- in the worker

def handle(context: Context, payload: dict[str, Any]) -> None:
    pack = pathlib.Path(context.config["pack"])
    if "program" in payload:
        program = payload["program"]
        cases = load_cases(pack / "cases" / "cases.py")
        for seed in SEEDS:
            context.stage("run", f"seed {seed}")
            launch = corpus_launch(cases, program["case"], seed, tuple(program["block"]), program["entry"])
            if not check(context, _image(pack, program), launch, {**_about(program), "seed": seed}):
                return
        context.case("pass", seeds=list(SEEDS), **_about(program))
        return
    case = payload["ptx_case"]
    context.stage("run", case["name"])
    launch = launches.read(pack / case["launch"])
    launch.entry = launch.entry or case["entry"]
    if check(context, _image(pack, case), launch, _about(case)):
        # If the results depend on the machine, the case only has to complete.
        context.case("pass", compared=bool(launch.expect) or launch.stdout is not None, **_about(case))


def check(context: Context, image: Image, launch: Launch, about: dict[str, Any]) -> bool:
    """Runs a launch, compares the results and records differences. Returns whether there are none. Errors of the
    device propagate."""
    outcome = context.device.run(image, launch)
    wrong = differences(launch, outcome.arrays)
    line = compare_lines(outcome.printed, launch.stdout) if launch.stdout is not None else None
    if wrong:
        first = wrong[0]
        context.case("fail", what="result", where=first.where, detail=str(first), wrong=first.wrong, of=first.of, **about)
    elif line:
        context.case("fail", what="output", where="stdout", detail=line, **about)
    return not wrong and not line


def differences(launch: Launch, found: list[list[np.ndarray]]) -> list[Difference]:
    """The first wrong element of each array that differs from its expectation."""
    wrong = []
    for e in launch.expect:
        argument = launch.args[e.arg]
        several = isinstance(argument, ArrayList)
        for n, (got, dtype, want) in enumerate(zip(found[e.arg], launches.element_types(argument), e.values)):
            name = f"argument {e.arg}[{n}]" if several else f"argument {e.arg}"
            difference = compare(name, got, dtype, want, e)
            if difference:
                wrong.append(difference)
    return wrong


def _about(entry: dict[str, Any]) -> dict[str, Any]:
    return {"sha256": entry.get("sha256", "")[:16]}


def _image(pack: pathlib.Path, entry: dict[str, Any]) -> Image:
    return Image(*(pack / entry[key] if entry.get(key) else None for key in ("cubin", "ptx")))


# ---------------------------------------------------------------- cases of the corpus

def load_cases(path: pathlib.Path) -> ModuleType:
    """The module `cases.py` of the corpus."""
    loaded = sys.modules.get("corpus_cases")
    if loaded is not None and getattr(loaded, "__file__", None) == str(path):
        return loaded
    spec = importlib.util.spec_from_file_location("corpus_cases", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # Its dataclasses look up their module.
    sys.modules["corpus_cases"] = module
    spec.loader.exec_module(module)
    return module


def corpus_launch(cases: ModuleType, name: str, seed: int, block: launches.Extents, entry: str) -> Launch:
    """A case of the corpus as a launch."""
    case = cases.make(name, seed)

    def convert(a: Any) -> Argument:
        if isinstance(a, cases.Sca):
            return Scalar(a.dtype, float(a.value) if a.dtype[0] in "fb" else int(a.value))
        if isinstance(a, cases.Lst):
            return ArrayList([Array(x.data, x.dtype, x.index) for x in a.items])
        return Array(a.data, a.dtype, a.index)

    expect = [Expect(i, [_numbers(v) for v in (e.value if isinstance(e.value, list) else [e.value])], "value", e.rtol, e.atol, e.bad,
                     e.loose)
              for i, e in case.expect.items()]
    return Launch(entry, case.grid, [convert(a) for a in case.args], block, expect=expect,
                  stdout=case.stdout or None)


def _numbers(value: Any) -> np.ndarray:
    value = np.asarray(value)
    return value if np.issubdtype(value.dtype, np.integer) else value.astype(np.float64)
