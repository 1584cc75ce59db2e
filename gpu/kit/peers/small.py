"""Our images on small cases, with NumPy and any device: tests entry parameters, grids and numerics without a GPU."""
from __future__ import annotations

import pathlib
from typing import Any, Union

import numpy as np

from .. import dtypes, launches
from ..compare import compare
from ..device import Image
from ..launches import Argument, ArrayList, Expect, Launch, Scalar
from ..work import Context
from .problem import Array, Arrays, Entry, Number, Numbers, Problem, Step
from .problems import small

# Number of SMs for which persistent grids are made: few, so that blocks have several tiles.
SMS = 2

# Permitted error of an element, relative to itself and to the root mean square of all, as a multiple of the permitted
# norm of the difference. The largest of thousands of errors is compared.
NEAR = 2.0


def handle(context: Context, entry: Entry, others: dict[str, Entry]) -> None:
    """Runs an image and those of its later steps. `others` are the images of the pack by name."""
    pack = pathlib.Path(context.config["pack"])
    problem = small(entry)
    values = made(problem)
    for step in problem.steps(entry, SMS):
        e = entry if step.entry == entry["name"] else others[step.entry]
        context.stage("run", e["name"])
        launch = make(e, step, values)
        found = context.device.run(Image(pack / e["cubin"], pack / e["ptx"] if e.get("ptx") else None), launch)
        for name, arrays in zip(step.parameters, found.arrays):
            keep(values[name], arrays)
    wrong = check(problem, values)
    if wrong:
        context.case("fail", what="result", where=wrong.where, detail=str(wrong), sha256=entry["sha256"][:16])
    else:
        context.case("pass", case=problem.name, sha256=entry["sha256"][:16])


def made(p: Problem) -> dict[str, Argument]:
    """Random arguments by name; outputs are poisoned."""
    random = np.random.default_rng(len(p.name))

    def array(a: Array) -> launches.Array:
        if isinstance(a.fill, np.ndarray):
            return launches.Array(a.fill, a.dtype)
        if a.fill == "poison":
            zero = p.clears and a.name == p.result
            start = np.zeros(a.shape, dtypes.STORAGE[a.dtype]) if zero else dtypes.poisoned(a.dtype, a.shape)
            return launches.Array(start, a.dtype)
        if a.fill == "scale":
            return launches.Array(random.uniform(0.5, 2.0, a.shape).astype(np.float32), a.dtype)
        if a.dtype == "i8":
            low, high = (-20, 21) if p.dtype == "int8" else (-128, 128)
            return launches.Array(random.integers(low, high, a.shape, np.int8), a.dtype)
        if a.dtype == "e4m3":
            # Bit patterns of numbers between 1/4 and 4, of both signs.
            patterns = random.integers(0x28, 0x48, a.shape) | random.integers(0, 2, a.shape) << 7
            return launches.Array(patterns.astype(np.uint8), a.dtype)
        return launches.Array(dtypes.encode(a.dtype, random.normal(size=a.shape)), a.dtype)

    def argument(q: Union[Array, Arrays, Number]) -> Argument:
        if isinstance(q, Number):
            return Scalar(q.dtype, q.value)
        return ArrayList([array(a) for a in q.items]) if isinstance(q, Arrays) else array(q)

    return {q.name: argument(q) for q in p.parameters()}


def make(e: Entry, step: Step, values: dict[str, Argument]) -> Launch:
    """A launch of an image. It has no expectations: `check` compares the results after all steps."""
    return Launch(e["symbol"], step.grids[0], [values[name] for name in step.parameters], tuple(e["block"]))


def keep(argument: Argument, found: list[np.ndarray]) -> None:
    """Passes the results of a launch to the next one."""
    for array, data in zip(_arrays(argument), found):
        array.data = data


def check(p: Problem, values: dict[str, Argument]) -> Any:
    """The first wrong element of the result, if there is one."""
    inputs = {name: a.items if isinstance(a, ArrayList) else a for name, a in values.items()}
    out = _arrays(values[p.result])
    wants = [np.full(a.data.shape, np.nan) for a in out]
    real = numbers()
    for unit in range(p.units):
        rows = np.arange(p.rows(unit))
        place = p.place(unit, rows)
        want = p.want(real, inputs, unit, rows)
        if isinstance(values[p.result], ArrayList):
            wants[place[0]][place[1:]] = want
        else:
            wants[0][place] = want
    for n, (array, want) in enumerate(zip(out, wants)):
        known = ~np.isnan(want)
        near, size = NEAR * p.tolerance, float(np.sqrt((want[known] ** 2).mean()))
        # Elements without an expectation, such as padding, always match.
        want = np.where(known, want, dtypes.decode(array.dtype, array.data))
        expect = Expect(0, [], "value", near, near * size)
        wrong = compare(p.result if len(out) == 1 else f"{p.result}[{n}]", array.data, array.dtype, want, expect)
        if wrong:
            return wrong
    return None


def _arrays(argument: Argument) -> list[launches.Array]:
    if isinstance(argument, ArrayList):
        return argument.items
    return [argument] if isinstance(argument, launches.Array) else []


def numbers() -> Numbers:
    def read(array: launches.Array, at: Any) -> Any:
        found = dtypes.decode(array.dtype, array.data[at])
        return found if array.dtype == "i32" else found.astype(np.float64)

    return Numbers(np, read, np.arange)
