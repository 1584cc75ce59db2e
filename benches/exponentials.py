#!/usr/bin/env python3
"""Computes a share of the exponentials of a kernel on the FMA units, in its PTX.

    benches/exponentials.py rewrite IN.ptx OUT.ptx [--share N/M] [--as polynomial | copy]
    benches/exponentials.py check [--tile-run FILE] [--every N]

`rewrite` takes N of every M pairs of `ex2.approx.ftz.f32` in runs of at least eight, and computes them by a polynomial
of degree 6, in pairs (`fma.rn.f32x2`), between the remaining exponentials of the run. With `--as copy` the pairs become
moves: results are wrong, and the predicted time is a bound for any other way to compute them. `cargo xtask predict`
predicts the times of OUT.ptx.

`check` needs NumPy. It compares the polynomial with 2^x for every f32 whose magnitude is in [1/4, 2), for every N-th
other one from -127 to 128 (default 64), and at infinities and NaN. Fused multiply-adds round once. With `--tile-run`,
the simulator runs the PTX for 1024 numbers and must give the same bits.

2^x is 2^n * p(f) with n = floor(x) and f = x - n. The sum x + 12583039, rounded down, is an integer whose low bits hold
n + 127. Shifted to the exponent, they are 2^n, and zero for n = -127. So x is clamped to [-127, 128], and no other
number needs a special case: results below 2^-126 become zero, 2^128 is infinity, and a NaN reaches the result through
f. The coefficients are those of the polynomial with the smallest largest relative error (Remez) on [0, 1] with
p(0) = 1, rounded to f32 one by one; 2^-28.8 remains.
"""

import argparse
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

# Constant term first.
COEFFICIENTS = [
    1.0,
    float.fromhex("0x1.62e42cp-1"),
    float.fromhex("0x1.ebfd3ap-3"),
    float.fromhex("0x1.c68af6p-5"),
    float.fromhex("0x1.3cfd82p-7"),
    float.fromhex("0x1.473738p-10"),
    float.fromhex("0x1.c4458p-13"),
]
ROUND = 12583039.0
LEAST, MOST = -127.0, 128.0
# The bound of `__tileir_exp2_f32` in docs/math.md, in units in the last place.
BOUND = 2.0
# Shorter runs of exponentials are left alone: factors of rows, for example.
SHORTEST = 8
# Pairs whose operations alternate.
TOGETHER = 2
# Arguments that `check` takes at a time.
BLOCK = 1 << 18
EXPONENTIAL = re.compile(r"\s*ex2\.approx\.ftz\.f32\s+(%\w+), (%\w+);")


def bits(value: float) -> str:
    return "0f%08X" % struct.unpack("<I", struct.pack("<f", value))


class Rewriter:
    """Instructions and declarations of the polynomials of a kernel."""

    def __init__(self) -> None:
        self.declarations: list[str] = []
        self.constants: dict[float, str] = {}
        self.pairs = 0

    def constant(self, value: float) -> str:
        return self.constants.setdefault(value, f"%exp_c{len(self.constants)}")

    def pair(self, results: tuple[str, str], arguments: tuple[str, str]) -> list[str]:
        """The steps of 2^x of two numbers; each takes about one instruction."""
        names = {name: f"%exp_{name}{self.pairs}" for name in ("l", "h", "x", "t", "n", "p", "sl", "sh", "s")}
        self.pairs += 1
        single = ", ".join(names[n] for n in ("l", "h", "sl", "sh"))
        double = ", ".join(names[n] for n in ("x", "t", "n", "p", "s"))
        self.declarations.append(f".reg .b32 {single}; .reg .b64 {double};")
        low, high, x, t, n, p, scale_low, scale_high, scale = names.values()
        around = self.constant(ROUND)

        def clamp(to: str, argument: str) -> str:
            return f"max.NaN.f32 {to}, {argument}, {bits(LEAST)}; min.NaN.f32 {to}, {to}, {bits(MOST)};"

        steps = [
            clamp(low, arguments[0]),
            f"{clamp(high, arguments[1])} mov.b64 {x}, {{{low}, {high}}};",
            f"add.rm.f32x2 {t}, {x}, {around};",
            f"sub.rn.f32x2 {n}, {t}, {around};",
            f"sub.rn.f32x2 {x}, {x}, {n};",
        ]
        start, *rest = reversed(COEFFICIENTS)
        factor = self.constant(start)
        for coefficient in rest:
            steps.append(f"fma.rn.f32x2 {p}, {factor}, {x}, {self.constant(coefficient)};")
            factor = p
        return steps + [
            f"mov.b64 {{{scale_low}, {scale_high}}}, {t}; shl.b32 {scale_low}, {scale_low}, 23;",
            f"shl.b32 {scale_high}, {scale_high}, 23; mov.b64 {scale}, {{{scale_low}, {scale_high}}};",
            f"mul.rn.ftz.f32x2 {p}, {p}, {scale}; mov.b64 {{{results[0]}, {results[1]}}}, {p};",
        ]

    def head(self) -> str:
        names = "".join(f".reg .b64 {name};\n" for name in self.constants.values())
        moves = "".join(f"mov.b64 {name}, {{{bits(v)}, {bits(v)}}};\n" for v, name in self.constants.items())
        return "\n".join(self.declarations) + "\n" + names + moves


def runs_of(lines: list[str]) -> list[range]:
    """The ranges of lines with nothing but exponentials."""
    runs: list[range] = []
    for i, line in enumerate(lines):
        if EXPONENTIAL.match(line):
            extends = runs and runs[-1].stop == i
            runs[-1:] = [range(runs[-1].start, i + 1)] if extends else [*runs[-1:], range(i, i + 1)]
    return [run for run in runs if len(run) >= SHORTEST]


def rewrite(text: str, share: tuple[int, int], copy: bool) -> tuple[str, int]:
    """The PTX with that share of exponentials as polynomials or copies, and the number of pairs."""
    lines, rewriter, copies = text.split("\n"), Rewriter(), 0
    for run in runs_of(lines):
        remaining, chains, owed = [], [], 0
        for at in range(run.start, run.stop - 1, 2):
            owed += share[0]
            if owed < share[1]:
                remaining += lines[at : at + 2]
                continue
            owed -= share[1]
            (r0, x0), (r1, x1) = (EXPONENTIAL.match(line).groups() for line in lines[at : at + 2])
            if copy:
                copies += 1
                remaining += [f"mov.b32 {r0}, {x0};", f"mov.b32 {r1}, {x1};"]
            else:
                chains.append(rewriter.pair((r0, r1), (x0, x1)))
        remaining += lines[run.stop - 1 : run.stop] if len(run) % 2 else []
        groups = [chains[i : i + TOGETHER] for i in range(0, len(chains), TOGETHER)]
        steps = [step for group in groups for together in zip(*group) for step in together]
        mixed, done = [], 0
        for i, line in enumerate(remaining, 1):
            until = i * len(steps) // len(remaining)
            mixed += [line, *steps[done:until]]
            done = until
        lines[run.start] = "\n".join(mixed + steps[done:])
        for at in run[1:]:
            lines[at] = ""
    text = "\n".join(lines)
    body = text.index("\n{", text.index(".entry")) + 2
    return text[:body] + "\n" + rewriter.head() + text[body:], rewriter.pairs + copies


def single_step(np, a, b, c):
    """a * b + c of f32 arrays, rounded once: the sum is rounded to odd in f64 first."""
    product, addend = a.astype(np.float64) * b.astype(np.float64), c.astype(np.float64)
    total = product + addend
    back = total - product
    error = (product - (total - back)) + (addend - back)
    words = total.view(np.int64)
    inexact = (error != 0) & (words % 2 == 0)
    words += np.where(inexact, np.where((error > 0) == (total > 0), 1, -1), 0)
    return words.view(np.float64).astype(np.float32)


def model(np, x):
    """The polynomial's results for f32 arguments, as the PTX computes them."""
    f32 = np.float32
    clamped = np.minimum(np.maximum(x, f32(LEAST)), f32(MOST))
    n = np.floor(clamped.astype(np.float64))
    f = clamped - n.astype(f32)
    p = np.full_like(f, f32(COEFFICIENTS[-1]))
    for c in COEFFICIENTS[-2::-1]:
        p = single_step(np, p, f, np.full_like(f, f32(c)))
    field = np.where(np.isnan(n), 0, n).astype(np.int64) + 127
    scale = (field << 23).astype(np.uint32).view(f32)
    result = p * scale
    return np.where(np.abs(result) < f32(2.0**-126), f32(0), result)


def largest_error(np, x) -> float:
    """In units in the last place of the exact result; arguments with results below 2^-126 must give zero."""
    result = model(np, x)
    flushed = x < -126
    if not np.all(result[flushed] == 0):
        sys.exit("a result below 2^-126 is not zero")
    normal = ~flushed & (x < 128)
    exact = np.exp2(x[normal].astype(np.float64))
    unit = np.exp2(np.floor(np.log2(exact)) - 23)
    return float(np.max(np.abs(result[normal].astype(np.float64) - exact) / unit, initial=0))


def arguments(np, every: int):
    """Blocks of the words of f32 from -127 to 128."""
    word = lambda value: int(np.float32(value).view(np.uint32))
    for sign, limit in ((0, MOST), (1 << 31, -LEAST)):
        for first, last, step in ((0, word(0.25), every), (word(0.25), word(2), 1), (word(2), word(limit) + 1, every)):
            for start in range(first, last, BLOCK * step):
                yield np.arange(start, min(last, start + BLOCK * step), step, dtype=np.uint32) + np.uint32(sign)


def compare_with_simulator(np, tile_run: pathlib.Path) -> None:
    rng = np.random.default_rng(1)
    special = [0, 2.0**-149, 2.0**-30, 126.5, 127.99, 128, 129, 1e30, np.inf, np.nan, 125.99999, 126, 126.00001, 127]
    special = np.array(special, np.float32)
    x = np.concatenate([special, -special, rng.uniform(-140, 135, 1024 - 2 * len(special)).astype(np.float32)])
    kernel = Rewriter()
    steps = "\n".join(kernel.pair(("%r0", "%r1"), ("%x0", "%x1")))
    text = f""".version 8.8
.target sm_100a
.address_size 64
.visible .entry exponentials(.param .u64 a, .param .u64 b) .reqntid 128 {{
.reg .b32 %r0, %r1, %x0, %x1, %at, %cta; .reg .b64 %a, %b, %off;
{kernel.head()}
ld.param.u64 %a, [a]; ld.param.u64 %b, [b];
mov.u32 %at, %tid.x; mov.u32 %cta, %ctaid.x; mad.lo.u32 %at, %cta, 128, %at;
mul.wide.u32 %off, %at, 8; add.u64 %a, %a, %off; add.u64 %b, %b, %off;
ld.global.v2.b32 {{%x0, %x1}}, [%a];
{steps}
st.global.v2.b32 [%b], {{%r0, %r1}};
ret;
}}
"""
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder)
        (place / "k.ptx").write_text(text)
        np.save(place / "x.npy", x)
        np.save(place / "y.npy", np.zeros_like(x))
        command = [tile_run, place / "k.ptx", "--gpu-name", "sm_100", "--grid", "4", f"{place}/x.npy:ptr"]
        subprocess.run([*command, f"{place}/y.npy:ptr", "--out-dir", place / "out", "--quiet"], check=True)
        found = np.load(place / "out/y.npy")
    expected = model(np, x)
    same = (found.view(np.uint32) == expected.view(np.uint32)) | (np.isnan(found) & np.isnan(expected))
    for i in np.flatnonzero(~same):
        print(f"2^{x[i]!r}: the simulator has {found[i]!r}, the model {expected[i]!r}")
    if not np.all(same):
        sys.exit(1)
    print(f"{len(x)} results of the simulator have the same bits")


def check(every: int, tile_run: pathlib.Path | None) -> None:
    import numpy as np

    np.seterr(invalid="ignore", over="ignore")
    ends = np.array([-np.inf, -1e30, -127, np.nan, 128, 1e30, np.inf], np.float32)
    results = model(np, ends)
    if not (np.all(results[:3] == 0) and np.isnan(results[3]) and np.all(np.isposinf(results[4:]))):
        sys.exit(f"wrong results at {ends}: {results}")
    worst, count = 0.0, 0
    for words in arguments(np, every):
        worst, count = max(worst, largest_error(np, words.view(np.float32))), count + len(words)
    print(f"largest error {worst:.3f} ulp, {count} arguments")
    if worst > BOUND:
        sys.exit(f"the bound is {BOUND} ulp")
    if tile_run:
        compare_with_simulator(np, tile_run)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("rewrite")
    one.add_argument("input", type=pathlib.Path)
    one.add_argument("output", type=pathlib.Path)
    one.add_argument("--share", default="1/4")
    one.add_argument("--as", dest="form", choices=["polynomial", "copy"], default="polynomial")
    other = commands.add_parser("check")
    other.add_argument("--tile-run", type=pathlib.Path)
    other.add_argument("--every", default=64, type=int)
    options = parser.parse_args()
    if options.command == "check":
        return check(options.every, options.tile_run)
    part, whole = (int(n) for n in options.share.split("/"))
    if not 0 < part <= whole:
        sys.exit(f"the share {options.share} is not between 0 and 1")
    text = options.input.read_text()
    if text.count(".entry") != 1:
        sys.exit(f"{options.input} must be PTX with one kernel")
    text, pairs = rewrite(text, (part, whole), options.form == "copy")
    if pairs == 0:
        sys.exit(f"{options.input} has no run of {SHORTEST} exponentials that flush subnormals")
    options.output.write_text(text)
    print(f"{pairs} pairs")


if __name__ == "__main__":
    main()
