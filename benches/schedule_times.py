#!/usr/bin/env python3
"""Predicts the times of the corpus' product and attention kernels at several levels of the modulo scheduler.

    benches/schedule_times.py --cases DIR [--bin DIR] [--targets sm_90,sm_100] [--levels 0,2,3] [NAME...]

Compiles each program of the corpus (version 13.1, those whose names contain one of NAME) whose PTX has matrix
instructions with v2-opt-level=LEVEL, and predicts its launch with the timing model. DIR of --cases has the launches:
`target/corpus-cases/HASH` after the corpus tests ran. Levels with equal PTX are predicted once. The table has clocks and
the difference between the first two levels.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Matrix instructions of all units.
PRODUCT = re.compile(r"\b(wgmma\.mma_async|tcgen05\.mma|mma\.sync)\b")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", required=True, type=pathlib.Path)
    parser.add_argument("--bin", default=ROOT / "target/release", type=pathlib.Path)
    parser.add_argument("--targets", default="sm_90,sm_100")
    parser.add_argument("--levels", default="0,2,3")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    targets, levels = options.targets.split(","), options.levels.split(",")
    if len(levels) < 2:
        sys.exit("--levels needs at least two levels")

    names = options.names or [""]
    programs = sorted((ROOT / "tests/corpus").glob("*.13.1.tileirbc"))
    programs = [p for p in programs if any(name in p.name for name in names)]
    if not programs:
        sys.exit(f"no program of the corpus has a name with one of {', '.join(names)}")
    head = [f"{target}, level {levels[0]}" for target in targets]
    rows = [[one, *levels[1:], f"{levels[1]} against {levels[0]}"] for one in head]
    print("| kernel | " + " | ".join(cell for row in rows for cell in row) + " |")
    print("|---" * (1 + sum(map(len, rows))) + "|")
    with tempfile.TemporaryDirectory() as folder:
        for program in programs:
            name = program.name.removesuffix(".13.1.tileirbc")
            launch = options.cases / name / "launch.json"
            if not launch.is_file():
                sys.exit(f"{launch} does not exist: run the corpus tests first")
            cells, found = [], False
            for target in targets:
                clocks: list[float] = []
                known: dict[str, float] = {}
                for level in levels:
                    ptx = compiled(options.bin, program, target, level, pathlib.Path(folder) / "kernel.ptx")
                    if ptx is None or not PRODUCT.search(ptx.read_text()):
                        break
                    text = without_header(ptx.read_text())
                    if text not in known:
                        known[text] = predicted(options.bin, ptx, launch, target)
                    clocks.append(known[text])
                found |= bool(clocks)
                if clocks:
                    change = (clocks[1] / clocks[0] - 1) * 100
                    cells += [f"{c:.0f}" for c in clocks] + [f"{change:+.2f} %" if change else ""]
                else:
                    cells += ["-"] * (len(levels) + 1)
            if found:
                print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


def compiled(tools: pathlib.Path, program: pathlib.Path, target: str, level: str, ptx: pathlib.Path):
    """Compiles a program. Returns None if the target does not support it."""
    option = f"--pipeline-option=v2-opt-level={level}"
    command = [tools / "tileiras", program, f"--gpu-name={target}", "--emit=ptx", option, "-o", ptx]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode and "not supported" not in result.stderr:
        sys.exit(f"{program.name} for {target} at level {level}: {result.stderr}")
    return None if result.returncode else ptx


def without_header(text: str) -> str:
    """The instructions, without comments."""
    return "\n".join(line for line in text.splitlines() if not line.startswith("//"))


def predicted(tools: pathlib.Path, ptx: pathlib.Path, launch: pathlib.Path, target: str) -> float:
    """The predicted clocks of a launch."""
    times = ptx.with_suffix(".json")
    command = [tools / "tile-run", f"--timing={target}", "--timing-json", times, "--launch", launch, ptx]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode:
        sys.exit(f"{launch.parent.name} for {target}: {result.stderr}")
    return json.loads(times.read_text())["clocks"]


if __name__ == "__main__":
    main()
