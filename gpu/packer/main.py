"""`python3 -m packer.main`: compiles everything and writes the pack. gpu/build.sh calls it with what it needs."""
from __future__ import annotations

import argparse
import hashlib
import json
import os
import pathlib
import shutil
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.append(str(ROOT / ".tools" / "python"))
sys.path.insert(0, str(ROOT / "gpu"))

from packer import parts, programs, tools  # noqa: E402
from packer.target import HOPPER_PARTS, TARGET  # noqa: E402
from packer.tools import ToolError  # noqa: E402

# What may be carried.
LIMIT = 60 << 20

PARTS = ("cases", "ptx", "abi", "copies", "micro", "peers", "programs")


def code(pack: pathlib.Path) -> None:
    """The kit itself."""
    gpu = ROOT / "gpu"
    shutil.copytree(gpu / "kit", pack / "kit", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("run.py", "README.md"):
        shutil.copyfile(gpu / name, pack / name)


def manifest(pack: pathlib.Path, built: list[str], lacks: dict[str, str]) -> int:
    """Writes what the pack holds; gives its size."""
    files = sorted(p for p in pack.rglob("*") if p.is_file())
    digest = hashlib.sha256()
    size = 0
    for path in files:
        data = path.read_bytes()
        size += len(data)
        digest.update(f"{path.relative_to(pack).as_posix()} {hashlib.sha256(data).hexdigest()}\n".encode())
    revision = tools.run("git", "-C", ROOT, "describe", "--always", "--dirty", "--abbrev=12", check=False).stdout.strip()
    ptxas = tools.run(tools.find("ptxas"), "--version").stdout.strip().splitlines()[-1]
    compiler = tools.run(tools.built("tileiras"), "--version").stdout.strip().splitlines()[0]
    about = {"target": TARGET, "digest": digest.hexdigest()[:16], "revision": revision, "ptxas": ptxas, "tileiras": compiler, "parts": built, "lacks": lacks,
             "files": len(files), "bytes": size}
    (pack / "pack.json").write_text(json.dumps(about, indent=1) + "\n")
    return size


def check_size(size: int) -> None:
    if size > LIMIT:
        raise ToolError(f"the pack has {size / 2**20:.1f} MiB, and no more than {LIMIT >> 20} MiB may be carried")


def main() -> int:
    parser = argparse.ArgumentParser(description="Builds the pack for a GPU machine.")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "target" / "gpu-pack")
    parser.add_argument("--parts", default=",".join(PARTS), help="some of " + ",".join(PARTS))
    parser.add_argument("--only", default="", help="a regular expression: programs and test kernels to take")
    parser.add_argument("--ptx-cases", type=pathlib.Path, help="the folder that cargo xtask ptx-cases wrote")
    parser.add_argument("--vendor", type=pathlib.Path, help="the folder of scripts/fetch-tileiras.sh; without it there are no images of the vendor's")
    parser.add_argument("--peers-archive", type=pathlib.Path, help="competitors' images made before, instead of making them")
    parser.add_argument("--seed", type=int, default=programs.SEED, help="the first of the random programs")
    parser.add_argument("--programs", type=int, default=programs.COUNT, help="how many random programs")
    parser.add_argument("--levels", default=programs.LEVELS, help="optimization levels of programs")
    parser.add_argument("--jobs", type=int, default=min(4, os.cpu_count() or 1))
    args = parser.parse_args()
    wanted = [p for p in args.parts.split(",") if p]
    unknown = set(wanted) - set(PARTS)
    if unknown:
        parser.error(f"no part is called {', '.join(sorted(unknown))}")
    lacks: dict[str, str] = {}
    if TARGET != "sm_90":
        lacks = {part: f"its images are for sm_90, not {TARGET}" for part in HOPPER_PARTS if part in wanted}
        wanted = [part for part in wanted if part not in lacks]
    started = time.monotonic()
    try:
        build(args, wanted, lacks)
        size = manifest(args.out, wanted, lacks)
        for name, why in lacks.items():
            print(f"lacks {name}: {why}")
        print(f"{args.out}: {size / 2**20:.1f} MiB of at most {LIMIT >> 20} MiB, {time.monotonic() - started:.0f} s")
        check_size(size)
    except ToolError as e:
        print(f"error: {e}", file=sys.stderr)
        return 1
    return 0


def build(args: argparse.Namespace, wanted: list[str], lacks: dict[str, str]) -> None:
    # Made beside its place, so that a failed build leaves the last good one.
    final, pack = args.out, args.out.with_name(args.out.name + ".new")
    shutil.rmtree(pack, ignore_errors=True)
    pack.mkdir(parents=True)
    code(pack)
    if "cases" in wanted:
        parts.cases(pack, args.jobs, args.only)
    if "ptx" in wanted:
        if args.ptx_cases is None:
            lacks["ptx"] = "no --ptx-cases"
        else:
            parts.simulator_cases(pack, args.jobs, args.ptx_cases, args.only)
    if "abi" in wanted:
        if not (pack / "cases").exists():
            (pack / "cases").mkdir()
            parts.case_files(pack / "cases")
        parts.abi(pack, args.vendor)
        if args.vendor is None:
            lacks["vendor image of the launch experiment"] = "no --vendor"
    if "copies" in wanted:
        parts.tensor_copies(pack)
    if "micro" in wanted:
        parts.micro(pack, args.jobs)
    if "peers" in wanted:
        from packer import peers
        peers.build(pack, args.jobs, args.vendor, args.peers_archive, lacks)
    if "programs" in wanted:
        programs.programs(pack, args.jobs, args.seed, args.programs, args.levels)
    shutil.rmtree(final, ignore_errors=True)
    pack.rename(final)


if __name__ == "__main__":
    sys.exit(main())
