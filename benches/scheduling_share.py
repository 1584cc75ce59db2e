#!/usr/bin/env python3
"""Measures the modulo scheduler's share of compile time.

    benches/scheduling_share.py [--tileiras FILE] [--gpu-name sm_NN] [--level N] [--longest N] [NAME...]

Compiles the programs of the corpus whose names contain one of NAME (default: all of version 13.1) to PTX with
v2-opt-level=N (default 2), and compares the total time of the passes that describe and schedule loops, as reported by
--mlir-timing, with the time of all passes. The table lists the programs with the largest shares (default 10). Times are
wall-clock times; other load affects both equally.
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PASSES = re.compile(
    r"^ +([\d.]+) \( *[\d.]+%\)  TileAS(?:PrepareForScheduling|RecomputeForScheduling|GenerateScheduleConstraints|"
    r"MaterializeSchedule)$",
    re.MULTILINE,
)
ALL = re.compile(r"^timing: .* total ([\d.]+) ms$", re.MULTILINE)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tileiras", default=ROOT / "target/release/tileiras", type=pathlib.Path)
    parser.add_argument("--gpu-name", default="sm_90")
    parser.add_argument("--level", default=2, type=int)
    parser.add_argument("--longest", default=10, type=int)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    if not os.access(options.tileiras, os.X_OK):
        sys.exit(f"{options.tileiras} is not an executable program")

    names = options.names or [".13.1."]
    command = [options.tileiras, f"--gpu-name={options.gpu_name}", "--emit=ptx", "-o", os.devnull, "--mlir-timing"]
    command.append(f"--pipeline-option=v2-opt-level={options.level}")
    rows, refused = [], 0
    for program in sorted((ROOT / "tests/corpus").glob("*.tileirbc")):
        if not any(n in program.name for n in names):
            continue
        done = subprocess.run([*command, program], capture_output=True, text=True)
        if done.returncode != 0:
            refused += 1
            continue
        total = ALL.search(done.stderr)
        if total is None:
            sys.exit(f"{program.name}: the output of {options.tileiras} does not contain times")
        scheduling = sum(1e3 * float(seconds) for seconds in PASSES.findall(done.stderr))
        rows.append((scheduling, float(total[1]), program.name.removesuffix(".tileirbc")))
    if not rows:
        sys.exit("no program to compile")

    rows.sort(key=lambda row: row[0] / row[1], reverse=True)
    print("| program | scheduling, ms | all, ms | share |\n|---|---|---|---|")
    for scheduling, total, name in rows[: options.longest]:
        print(f"| {name} | {scheduling:.1f} | {total:.1f} | {100 * scheduling / total:.1f} % |")
    scheduling, total = (sum(column) for column in list(zip(*rows))[:2])
    print(f"\n{len(rows)} programs, {refused} rejected: {scheduling:.0f} of {total:.0f} ms, "
          f"{100 * scheduling / total:.1f} %")


if __name__ == "__main__":
    main()
