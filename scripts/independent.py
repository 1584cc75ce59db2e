#!/usr/bin/env python3
"""Runs PTX of compilers that this project has no part in on the simulator, and compares the results with NumPy's.

    python3 scripts/independent.py DIR [--only TEXT] [--targets 90,100,103,120] [--seeds 4] [--strict] [--list]

Needs PyPI's `triton` and `numpy`, no GPU, and `tile-run` (target/debug, or TILE_RUN). The kernels are this project's
own; what is independent is their way to PTX, which others have run on devices. Inputs are small whole numbers, so that results are
exact and all bits are compared. DIR gets a folder for each case and `results.tsv`; the exit status is 1 if a run
failed. docs/ptx-sim.md says what each family corroborates.
"""
from __future__ import annotations

import argparse
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
from typing import Any

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts"))

from independent_kernels import Case, Typed, cases as all_cases  # noqa: E402


def write(case: Case, folder: pathlib.Path) -> None:
    """Compiles a case and writes its launch."""
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource
    kinds = {"float32": ("*fp32", "f32"), "float16": ("*fp16", "f16"), "int32": ("*i32", "i32"), "int8": ("*i8", "i8"),
             "uint8": ("*u8", "u8"), "int64": ("*i64", "i64"), "int16": ("*i16", "i16")}
    names = [p for p in case.function.arg_names if p not in case.constants]
    signature: dict[str, str] = {name: "constexpr" for name in case.constants}
    attributes = {}
    arguments: list[dict[str, Any]] = []
    folder.mkdir(parents=True, exist_ok=True)
    for n, (name, value) in enumerate(zip(names, case.values, strict=True)):
        at = (case.function.arg_names.index(name), )
        if isinstance(value, int):
            signature[name] = "i32"
            arguments.append({"i32": value})
            if value % 16 == 0:
                attributes[at] = [["tt.divisibility", 16]]
            continue
        bits, kind, dtype = (value.bits, value.kind, value.dtype) if isinstance(value, Typed) else \
            (value, *kinds[value.dtype.name])
        signature[name] = kind
        attributes[at] = [["tt.divisibility", 16]]
        np.save(folder / f"arg{n}.npy", bits)
        arguments.append({"buffer": f"arg{n}.npy", "dtype": dtype})
    signature = {name: signature[name] for name in case.function.arg_names}
    source = ASTSource(case.function, signature, case.constants, attributes)
    compiled = triton.compile(source, target=GPUTarget("cuda", case.target, 32), options=case.options)
    (folder / "kernel.ptx").write_text(compiled.asm["ptx"])
    grid = [*case.grid, 1, 1][:3]
    for size in (compiled.metadata.global_scratch_size, compiled.metadata.profile_scratch_size):
        arguments.append({"unwritten": [max(16, size * grid[0] * grid[1] * grid[2])], "dtype": "u8"})
    expect = []
    for n, want in case.expected.items():
        np.save(folder / f"want{n}.npy", want)
        expect.append({"arg": n, "value": f"want{n}.npy", "match": "bits"})
    launch = {"kernel": "kernel.ptx", "entry": compiled.metadata.name, "grid": grid,
              "dynamic_shared": compiled.metadata.shared, "args": arguments, "expect": expect}
    (folder / "launch.json").write_text(json.dumps(launch, indent=1) + "\n")


def run(folder: pathlib.Path, seeds: str, strict: bool, limit: int) -> str:
    """What `tile-run` says about a case on all schedules; empty if all is right."""
    binary = os.environ.get("TILE_RUN") or str(ROOT / "target" / "debug" / "tile-run")
    command = [binary, "--quiet", "--launch", str(folder / "launch.json"), "--adversarial", seeds]
    command += ["--strict"] if strict else []
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit, check=False)
    except subprocess.TimeoutExpired:
        return f"no end within {limit} s"
    return "" if done.returncode == 0 else (done.stderr.strip() or f"status {done.returncode}").replace("\n", " ")[:600]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("dir", type=pathlib.Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--targets", default="90,100,103,120")
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--strict", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--limit", type=int, default=300, help="seconds for all schedules of a case")
    options = parser.parse_args()
    targets = [int(t) for t in options.targets.split(",")]
    cases = [c for c in all_cases(targets) if options.only in c.name]
    if options.list:
        print("\n".join(c.name for c in cases))
        return 0
    from triton.backends.nvidia.compiler import CUDABackend
    # PTX is all that is wanted: assembling takes most of the time.
    CUDABackend.make_cubin = lambda *_: b""
    seeds = ",".join(["plain", *map(str, range(1, options.seeds + 1))])
    rows: list[tuple[str, str, str]] = []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        pending = []
        for case in cases:
            folder = options.dir / case.name
            try:
                write(case, folder)
            except Exception as e:  # a compiler raises what it likes; the case counts as not compiled
                rows.append((case.name, case.family, f"not compiled: {type(e).__name__}: {str(e).strip()[:200]}"
                             .replace("\n", " ")))
                continue
            pending.append((case, pool.submit(run, folder, seeds, options.strict, options.limit)))
        for case, result in pending:
            rows.append((case.name, case.family, result.result() or "right"))
            print(*rows[-1], sep="\t", flush=True)
    rows.sort()
    (options.dir / "results.tsv").write_text("".join("\t".join(row) + "\n" for row in rows))
    right = sum(row[2] == "right" for row in rows)
    skipped = sum(row[2].startswith("not compiled") for row in rows)
    print(f"{right} of {len(rows) - skipped} cases right on {seeds}; {skipped} not compiled")
    return int(right + skipped != len(rows))


if __name__ == "__main__":
    raise SystemExit(main())
