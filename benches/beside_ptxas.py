#!/usr/bin/env python3
"""Compares the compiler's processor time with that of the assembler that runs after it.

    benches/beside_ptxas.py [--tileiras FILE] [--ptxas FILE] [--gpu-name sm_NN] [--runs R] [NAME...]

For each program of the corpus whose name contains one of NAME (default: all): the processor time of the command from
bytecode to PTX at -O3, without ptxas, and of ptxas for that PTX, in ms. The two are interleaved, R times (default 5), and
the minimum of each is used. Programs that the command rejects are omitted. The table is sorted by the ratio of the two,
largest first, followed by the median and the geometric mean of the ratios, and the number of ratios above 1.
"""

import argparse
import math
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent


def milliseconds(command: list[str]) -> float | None:
    """The processor time of a command; None if it fails."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return 1e3 * spent if done.returncode == 0 else None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tileiras", default=ROOT / "target/release/tileiras", type=pathlib.Path)
    parser.add_argument("--ptxas", default=ROOT / ".tools/cuda/bin/ptxas", type=pathlib.Path)
    parser.add_argument("--gpu-name", default="sm_90")
    parser.add_argument("--runs", default=5, type=int)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    for tool in (options.tileiras, options.ptxas):
        if not os.access(tool, os.X_OK):
            sys.exit(f"{tool} is not an executable program")

    rows = []
    with tempfile.TemporaryDirectory() as folder:
        ptx = os.path.join(folder, "k.ptx")
        for program in sorted((ROOT / "tests/corpus").glob("*.tileirbc")):
            name = program.name.removesuffix(".tileirbc")
            if options.names and not any(n in name for n in options.names):
                continue
            ours = [str(options.tileiras), str(program), f"--gpu-name={options.gpu_name}", "-O3", "--emit=ptx", "-o", ptx]
            if milliseconds(ours) is None:
                continue
            # The target as named in the PTX, including a suffix.
            arch = next(line.split()[1].rstrip(",") for line in open(ptx) if line.startswith(".target"))
            theirs = [str(options.ptxas), "-arch", arch, "--opt-level", "3", ptx, "-o", os.path.join(folder, "k.cubin")]
            times = [(milliseconds(ours), milliseconds(theirs)) for _ in range(options.runs)]
            if any(t is None for pair in times for t in pair):
                sys.exit(f"{name}: ptxas rejects the output of the command")
            a, b = (min(column) for column in zip(*times))
            rows.append((a / b, name, a, b))
    if not rows:
        sys.exit("no program to compile")

    rows.sort(reverse=True)
    print("| program | to PTX, ms | ptxas, ms | ratio |\n|---|---|---|---|")
    for ratio, name, a, b in rows:
        print(f"| {name} | {a:.1f} | {b:.1f} | {ratio:.2f} |")
    ratios = [r[0] for r in rows]
    mean = math.exp(statistics.fmean(map(math.log, ratios)))
    longer = sum(r > 1 for r in ratios)
    print(f"\n{len(rows)} programs: median {statistics.median(ratios):.2f}, geometric mean {mean:.2f}, "
          f"greatest {ratios[0]:.2f} ({rows[0][1]}); above 1: {longer}")


if __name__ == "__main__":
    main()
