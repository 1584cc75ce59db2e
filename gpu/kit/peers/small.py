"""Our images on small cases, by NumPy and any device: tries entry parameters, grids and numerics without a GPU."""
from __future__ import annotations

import math
import pathlib

import numpy as np

from .. import dtypes
from ..compare import compare
from ..device import Image
from ..launches import Argument, Array, Expect, Launch, Scalar, element_types
from ..work import Context
from .problems import Entry, Problem, grids

STORAGE = {"f32": "f32", "bf16": "bf16", "fp16": "f16", "tf32": "f32", "fp8": "e4m3", "int8": "i8"}


def handle(context: Context, entry: Entry) -> None:
    pack = pathlib.Path(context.config["pack"])
    problem = small(entry)
    launch = make(entry, problem)
    context.stage("run", entry["name"])
    found = context.device.run(Image(pack / entry["cubin"], pack / entry["ptx"] if entry.get("ptx") else None), launch)
    e = launch.expect[0]
    dtype, = element_types(launch.args[e.arg])
    wrong = compare(f"argument {e.arg}", found.arrays[e.arg][0], dtype, e.values[0], e)
    if wrong:
        context.case("fail", what="result", where=wrong.where, detail=str(wrong), sha256=entry["sha256"][:16])
    else:
        context.case("pass", case=problem.name, sha256=entry["sha256"][:16])


def small(e: Entry) -> Problem:
    """A case of one to a few tiles."""
    if e["kind"] == "mm":
        tm, tn, tk = e["tile"]
        odd = 8 if e["divisor"] == 1 else 0
        return Problem("mm", e["dtype"], (tm + 16 - odd, tn + 16 - odd, 2 * tk), 1, nt=e["nt"])
    if e["kind"] == "attention":
        return Problem("attention", e["dtype"], (1, 1, 2 * max(e["tile"]), e["d"]), 1, causal=e["causal"])
    if e["kind"] == "vadd":
        return Problem("vadd", e["dtype"], (2 * e["tile"][0],), 1)
    return Problem(e["kind"], e["dtype"], (3, e["tile"][1]), 1)


def make(e: Entry, p: Problem) -> Launch:
    """Random arguments and what is expected."""
    random = np.random.default_rng(len(p.name))
    source = STORAGE[p.dtype]

    def tensor(*shape: int) -> Array:
        if source == "i8":
            return Array(random.integers(-20, 21, shape, np.int8), "i8")
        if source == "e4m3":
            # Patterns of numbers between 1/4 and 4, of both signs.
            return Array((random.integers(0x28, 0x48, shape) | random.integers(0, 2, shape) << 7).astype(np.uint8), "e4m3")
        return Array(dtypes.encode(source, random.normal(size=shape)), source)

    def value(a: Array) -> np.ndarray:
        return dtypes.decode(a.dtype, a.data)

    def output(dtype: str, *shape: int) -> Array:
        return Array(dtypes.poisoned(dtype, shape), dtype)

    args: list[Argument]
    if p.kind == "mm":
        m, n, depth = p.shape
        a, b = tensor(m, depth), tensor(n, depth) if p.nt else tensor(depth, n)
        result = {"int8": "i32", "tf32": "f32", "fp8": "bf16"}.get(p.dtype, source)
        want = value(a).astype(np.float64) @ (value(b).astype(np.float64).T if p.nt else value(b).astype(np.float64))
        args = [a, b, output(result, m, n)]
        size = float(np.sqrt((want ** 2).mean()))
        exact = result == "i32"
        expect = Expect(2, [want.astype(np.int64) if exact else want], "value", 0.0 if exact else 1e-2, 0.0 if exact else 1e-2 * size)
    elif p.kind == "attention":
        _, _, length, d = p.shape
        q, k, v = (tensor(1, length, d) for _ in range(3))
        scale = 1 / math.sqrt(d)
        s = value(q)[0] @ value(k)[0].T * scale
        if p.causal:
            s = np.where(np.tril(np.ones((length, length), bool)), s, -np.inf)
        w = np.exp(s - s.max(1, keepdims=True))
        want = (w / w.sum(1, keepdims=True) @ value(v)[0])[None]
        args = [q, k, v, output("bf16", 1, length, d), Scalar("f32", scale)]
        expect = Expect(3, [want], "value", 2e-2, 2e-2)
    elif p.kind == "vadd":
        a, b = tensor(*p.shape), tensor(*p.shape)
        args = [a, b, output("f32", *p.shape)]
        expect = Expect(2, [(a.data + b.data).astype(np.float64)], "value", 0.0, 0.0)
    else:
        x = tensor(*p.shape)
        t = value(x)
        if p.kind == "softmax":
            w = np.exp(t - t.max(1, keepdims=True))
            args, want = [x, output("bf16", *p.shape)], w / w.sum(1, keepdims=True)
        else:
            weight, bias = tensor(p.shape[1]), tensor(p.shape[1])
            centred = t - t.mean(1, keepdims=True)
            want = centred / np.sqrt((centred ** 2).mean(1, keepdims=True) + 1e-5) * value(weight) + value(bias)
            args = [x, weight, bias, output("bf16", *p.shape)]
        expect = Expect(len(args) - 1, [want], "value", 1.5e-2, 1e-3)
    return Launch(e["symbol"], grids(e, p, 2)[0], args, tuple(e["block"]), expect=[expect])
