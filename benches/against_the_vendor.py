#!/usr/bin/env python3
"""Compares the speed of the command with NVIDIA's tools, on the same machine in the same run.

    make dist && benches/against_the_vendor.py [--tileiras FILE] [--release N] [--runs N] [--gpu-name sm_NN] [--check]

Three comparisons, each the best of N runs (default 5). The sides are interleaved, so that a busy machine slows both:

* `tileiras --version`;
* vadd_f32 from bytecode to cubin, against ptxas alone on the same PTX with the same options;
* every program of tests/corpus at -O3, against NVIDIA's tileiras. Files that either side rejects are omitted and listed.

Times are given twice, in seconds: wall-clock time and processor time (user and system, including children), which is less
sensitive to other load. With --check the script fails if a ratio misses its target in both.

NVIDIA's tools come from scripts/setup.sh or, for a given release, from scripts/fetch-nvcc.sh and
scripts/fetch-tileiras.sh, which both take the release as an argument.
"""

import argparse
import dataclasses
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
PTXAS = ROOT / ".tools/cuda/bin/ptxas"
# The release whose directories have no number.
USUAL = "13.4.92"
NEWEST = "13.5.37"


def folder(name: str, release: str) -> pathlib.Path:
    """The directory of an unpacked package of a release."""
    return ROOT / ".tools" / (name if release == USUAL else f"{name}-{release}") / "nvidia/cu13"


@dataclasses.dataclass(frozen=True)
class Time:
    """The minimum over several runs, separately for each measure."""

    clock: float
    processor: float

    def __add__(self, other: "Time") -> "Time":
        return Time(self.clock + other.clock, self.processor + other.processor)

    def least(self, other: "Time") -> "Time":
        return Time(min(self.clock, other.clock), min(self.processor, other.processor))


FOREVER = Time(float("inf"), float("inf"))


def run(arguments: list, environment: dict) -> tuple[Time, int, str]:
    start = time.perf_counter()
    child = subprocess.Popen(
        [str(a) for a in arguments], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    assert child.stderr is not None
    words = child.stderr.read()
    # The times of this child and of the children that it waited for.
    _, status, usage = os.wait4(child.pid, 0)
    clock = time.perf_counter() - start
    child.returncode = os.waitstatus_to_exitcode(status)
    return Time(clock, usage.ru_utime + usage.ru_stime), child.returncode, words


def best(runs: int, *sides: tuple[list, dict]) -> list[Time]:
    """The best time of each side, or FOREVER for one that fails."""
    times = [FOREVER] * len(sides)
    failed = [False] * len(sides)
    for _ in range(runs):
        for i, (arguments, environment) in enumerate(sides):
            if any(failed):
                break
            taken, status, _ = run(arguments, environment)
            failed[i] = status != 0
            times[i] = times[i].least(taken)
    return [FOREVER if f else t for f, t in zip(failed, times)]


@dataclasses.dataclass
class Row:
    what: str
    ours: Time
    theirs: Time
    aim: float

    def ratios(self) -> tuple[float, float]:
        return self.ours.clock / self.theirs.clock, self.ours.processor / self.theirs.processor

    def met(self) -> bool:
        return min(self.ratios()) <= self.aim

    def line(self) -> str:
        clock, processor = self.ratios()
        return (
            f"| {self.what} | {self.ours.clock:.3f} | {self.theirs.clock:.3f} | {clock:.2f} "
            f"| {self.ours.processor:.3f} | {self.theirs.processor:.3f} | {processor:.2f} | {self.aim} |"
        )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    version = next(l.split('"')[1] for l in (ROOT / "Cargo.toml").read_text().splitlines() if l.startswith("version = "))
    parser.add_argument("--tileiras", type=pathlib.Path, default=ROOT / f"target/dist/tileiras-{version}/bin/tileiras")
    parser.add_argument("--release", default=NEWEST, help=f"release of NVIDIA's tileiras and its toolkit (default {NEWEST})")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--gpu-name", default="sm_90")
    parser.add_argument("--check", action="store_true", help="fail if a target is missed")
    parser.add_argument("--programs", nargs="*", help="use only these files of the corpus, named without .tileirbc")
    options = parser.parse_args()
    vendor, toolkit = folder("tileiras", options.release) / "bin/tileiras", folder("nvcc", options.release)
    for file in (options.tileiras, PTXAS, vendor, toolkit / "bin/ptxas"):
        if not file.exists():
            raise SystemExit(f"{file} is missing: see --help")

    gpu = ["--gpu-name", options.gpu_name]
    ours_env = {"PATH": str(PTXAS.parent)}
    theirs_env = {"PATH": "/usr/bin:/bin", "CUDA_HOME": str(toolkit)}
    rows = []
    with tempfile.TemporaryDirectory() as scratch:
        at = pathlib.Path(scratch)
        (version_time,) = best(options.runs * 4, ([options.tileiras, "--version"], ours_env))

        vadd = ROOT / "tests/corpus/vadd_f32.13.1.tileirbc"
        run([options.tileiras, vadd, *gpu, "--emit=ptx", "-o", at / "v.ptx"], ours_env)
        target = next(l.split()[1] for l in (at / "v.ptx").read_text().splitlines() if l.startswith(".target"))
        ours, alone = best(
            options.runs * 4,
            ([options.tileiras, vadd, *gpu, "-O3", "-o", at / "ours.cubin"], ours_env),
            ([PTXAS, "-arch", target, "--opt-level", "3", at / "v.ptx", "-o", at / "alone.cubin"], ours_env),
        )
        rows.append(Row("vadd_f32, against ptxas alone", ours, alone, 1.3))

        refused, slowest = [], []
        total = [Time(0, 0), Time(0, 0)]
        for file in sorted((ROOT / "tests/corpus").glob("*.tileirbc")):
            name = file.name.removesuffix(".tileirbc")
            if options.programs and name not in options.programs:
                continue
            times = best(
                options.runs,
                ([options.tileiras, file, *gpu, "-O3", "-o", at / "o.cubin"], ours_env),
                ([vendor, file, *gpu, "-O3", "-o", at / "t.cubin"], theirs_env),
            )
            if FOREVER in times:
                sides = [side for side, t in zip(("ours", "theirs"), times) if t == FOREVER]
                refused.append(f"{name} ({', '.join(sides)})")
                continue
            total = [a + b for a, b in zip(total, times)]
            slowest.append(Row(name, *times, 0.5))
            print(slowest[-1].line(), file=sys.stderr, flush=True)
        rows.append(Row(f"{len(slowest)} programs of the corpus, against NVIDIA's tileiras {options.release}", *total, 0.5))

    print(f"`--version`: {version_time.clock * 1e3:.1f} ms wall-clock time, {version_time.processor * 1e3:.1f} ms processor time\n")
    print("| | ours s | theirs s | ratio | ours CPU s | theirs CPU s | ratio | target |")
    print("|---|---|---|---|---|---|---|---|")
    for row in rows:
        print(row.line())
    print(f"\nomitted: {'; '.join(refused) or 'none'}")
    print("\nThe ten programs with the most processor time:\n")
    for row in sorted(slowest, key=lambda r: -r.ours.processor)[:10]:
        print(row.line())
    missed = [row.what for row in rows if not row.met()]
    if version_time.clock >= 0.020 and version_time.processor >= 0.020:
        missed.append("--version under 20 ms")
    for what in missed:
        print(f"missed: {what}", file=sys.stderr)
    return 1 if missed and options.check else 0


if __name__ == "__main__":
    sys.exit(main())
