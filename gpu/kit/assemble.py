"""Assembles the pack's PTX where it is run, when the driver there does not take the images that were carried.

A driver takes images of later toolkits of its own major release. Should it not, the ptxas of that machine may help: it
knows the driver's release, and everything of ours in the pack has its PTX beside it. What it makes goes into a copy of the pack.
"""
from __future__ import annotations

import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

# The latest PTX that ptxas 13.0 reads. Nothing in the pack needs more; nvcc and later tools only write higher numbers.
PTX_VERSION = (9, 0)


def find_ptxas() -> pathlib.Path | None:
    """On PATH, or in a toolkit."""
    found = shutil.which("ptxas")
    folders = [os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda"]
    candidates = [pathlib.Path(found)] if found else []
    candidates += [pathlib.Path(f, "bin", "ptxas") for f in folders if f]
    return next((c for c in candidates if c.is_file()), None)


def lowered(text: str) -> str:
    """PTX with a version that the older assembler reads."""
    def version(match: re.Match[str]) -> str:
        have = (int(match[1]), int(match[2]))
        return f".version {'.'.join(map(str, min(have, PTX_VERSION)))}"
    return re.sub(r"^\s*\.version\s+(\d+)\.(\d+)", version, text, count=1, flags=re.MULTILINE)


def reassemble(pack: pathlib.Path, ptxas: pathlib.Path) -> tuple[pathlib.Path, list[str]]:
    """A copy of the pack with images of this assembler, and what it could not assemble; those images stay as they were."""
    copy = pathlib.Path(tempfile.mkdtemp(prefix="gpu-pack-"), "pack")
    shutil.copytree(pack, copy)

    def one(text: pathlib.Path) -> str | None:
        cubin = text.with_suffix(".cubin")
        # Images whose attributes were changed afterwards share their PTX's name with others, or have a question of their own.
        if not cubin.is_file() or text.parent.name == "abi":
            return None
        source = text.with_suffix(".lowered.ptx")
        source.write_text(lowered(text.read_text()))
        done = subprocess.run([str(ptxas), "-arch=sm_90a", str(source), "-o", str(cubin)], capture_output=True, text=True, stdin=subprocess.DEVNULL)
        return f"{text.relative_to(copy)}: {done.stderr.strip()[:200]}" if done.returncode else None

    texts = sorted(p for p in copy.rglob("*.ptx") if not p.name.endswith(".lowered.ptx"))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        return copy, [problem for problem in pool.map(one, texts) if problem]
