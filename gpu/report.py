#!/usr/bin/env python3
"""Makes a page under docs/results/ from recorded lines, and keeps the machine's constants under gpu/results/.

    python3 gpu/report.py RESULTS.jsonl [--out docs/results/NAME.md] [--constants]

Pictures need matplotlib: python3 -m pip install --target .tools/plotting matplotlib
"""
from __future__ import annotations

import argparse
import pathlib
import sys

GPU = pathlib.Path(__file__).resolve().parent
ROOT = GPU.parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(GPU))
sys.path += [str(ROOT / ".tools" / "python"), str(ROOT / ".tools" / "plotting")]

from kit import records, summary  # noqa: E402
from reporting import page, plots, series  # noqa: E402


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Makes a page of results.")
    parser.add_argument("results", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path, help="the page (default: docs/results/MACHINE-DATE.md); pictures go into a folder beside it")
    parser.add_argument("--constants", action="store_true", help="also write gpu/results/MACHINE-DATE.json")
    args = parser.parse_args(arguments)
    try:
        found, bad = records.read(args.results)
    except OSError as error:
        print(f"report.py: {error}", file=sys.stderr)
        return 2
    run = next((r for r in found if r["record"] == "run"), None)
    if run is None:
        print(f"report.py: {args.results} does not begin with a run", file=sys.stderr)
        return 1
    name = f"{summary.slug(run.get('machine', {}).get('name') or run['device'])}-{run['started'][:10]}"
    out = args.out or ROOT / "docs" / "results" / f"{name}.md"
    drawn = plots.draw(series.curves(found), out.with_suffix(""))
    if not drawn:
        print("report.py: no pictures: matplotlib is missing, or no curve has two points", file=sys.stderr)
    page.write(out, page.page(found, bad, {k: f"{out.stem}/{f}" for k, f in drawn.items()}, args.results.name))
    print(out)
    if args.constants:
        folder = GPU / "results"
        folder.mkdir(exist_ok=True)
        path = summary.write_constants(found, folder)
        print(path or "no constants: nothing was measured on a GPU")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
