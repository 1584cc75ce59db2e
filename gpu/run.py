#!/usr/bin/env python3
"""One command that asks a GPU everything: see README.md beside it.

    python3 run.py all --device cuda --out DIR [--budget SECONDS]
    python3 run.py correctness --device sim --tile-run target/debug/tile-run --pack target/gpu-pack --out DIR
"""
from __future__ import annotations

import argparse
import pathlib
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(HERE))
# In a checkout, of which the pack may be a part, NumPy may be a copy of our own.
CHECKOUTS = HERE.parents[:2]
sys.path += [str(folder / ".tools" / "python") for folder in CHECKOUTS]

try:
    from kit import plan, session  # noqa: E402
except ModuleNotFoundError as missing:
    if missing.name is None or missing.name.partition(".")[0] == "kit":
        raise
    print(f"run.py: the Python package '{missing.name}' is missing for {sys.executable}; README.md beside run.py lists what the machine needs", file=sys.stderr)
    sys.exit(2)


def levels(text: str) -> tuple[int, ...]:
    found = tuple(int(n) for n in text.split(","))
    if not set(found) <= {0, 3}:
        raise ValueError(text)
    return found


def simulator() -> pathlib.Path:
    """The one of the checkout that the kit or the pack is in."""
    tools = [folder / "target" / "debug" / "tile-run" for folder in CHECKOUTS]
    return next((tool for tool in tools if tool.exists()), tools[0])


def parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Runs the GPU kit.", formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("all", *plan.PARTS), help="which part; all of them in order of priority")
    parser.add_argument("--device", choices=("cuda", "sim"), default="cuda")
    parser.add_argument("--pack", type=pathlib.Path, default=HERE, help="the folder that build.sh made (default: the one this file is in)")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("."), help="where results.jsonl and the rest go")
    parser.add_argument("--budget", type=float, default=500.0, help="seconds for everything; what does not fit is listed as skipped")
    parser.add_argument("--only", default="", help="pieces of work whose name has this in it")
    parser.add_argument("--tile-run", type=pathlib.Path, default=simulator(), help="for --device sim (default: that of the checkout around, as `cargo build` makes it)")
    parser.add_argument("--adversarial", help="for --device sim: schedules, as tile-run takes them")
    parser.add_argument("--levels", type=levels, default=(3, 0), help="optimization levels of correctness: 3,0 or one of them")
    parser.add_argument("--limit", type=float, help="seconds after which the watchdog ends a piece of work, instead of its own limit")
    return parser.parse_args(arguments)


def main(arguments: list[str]) -> int:
    started = time.monotonic()
    args = parse(arguments)
    items = plan.items(args.pack, args.what, args.device, args.levels, args.only)
    if not items:
        print(f"run.py: {args.pack} holds nothing to run for '{args.what}'", file=sys.stderr)
        return 2
    if args.limit:
        for item in items:
            item.limit = args.limit
    return session.run(args, items, started)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
