"""Assembles the pack's PTX on the target machine, if its driver rejects the images in the pack.

A driver accepts images of later toolkits of its own major release. If it does not, the ptxas on that machine may
help: it matches the driver's release, and each of our images in the pack has its PTX next to it. The new images go
into a copy of the pack.
"""
from __future__ import annotations

import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

# The latest PTX version that ptxas 13.0 accepts. Nothing in the pack needs more; nvcc and later tools only write
# higher numbers.
PTX_VERSION = (9, 0)


def find_ptxas() -> pathlib.Path | None:
    """The ptxas on PATH or in a toolkit."""
    found = shutil.which("ptxas")
    folders = [os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda"]
    candidates = [pathlib.Path(found)] if found else []
    candidates += [pathlib.Path(f, "bin", "ptxas") for f in folders if f]
    return next((c for c in candidates if c.is_file()), None)


def lowered(text: str) -> str:
    """The PTX with a version that the older assembler accepts."""
    def version(match: re.Match[str]) -> str:
        have = (int(match[1]), int(match[2]))
        return f".version {'.'.join(map(str, min(have, PTX_VERSION)))}"
    return re.sub(r"^\s*\.version\s+(\d+)\.(\d+)", version, text, count=1, flags=re.MULTILINE)


def architecture(ptx: str) -> str:
    """The target that the PTX names. An empty name, which ptxas rejects, where it names none."""
    found = re.search(r"^\s*\.target\s+(\w+)", ptx, flags=re.MULTILINE)
    return found[1] if found else ""


def reassemble(pack: pathlib.Path, ptxas: pathlib.Path) -> tuple[pathlib.Path, list[str]]:
    """A copy of the pack with images of this assembler, and the PTX that it could not assemble; those images stay
    unchanged."""
    copy = pathlib.Path(tempfile.mkdtemp(prefix="gpu-pack-"), "pack")
    shutil.copytree(pack, copy)

    def one(text: pathlib.Path) -> str | None:
        cubin = text.with_suffix(".cubin")
        # Images with attributes that were changed afterwards share the name of their PTX with others, or test those
        # attributes.
        if not cubin.is_file() or text.parent.name == "abi":
            return None
        source = text.with_suffix(".lowered.ptx")
        ptx = lowered(text.read_text())
        source.write_text(ptx)
        done = subprocess.run([str(ptxas), f"-arch={architecture(ptx)}", str(source), "-o", str(cubin)], capture_output=True, text=True, stdin=subprocess.DEVNULL)
        return f"{text.relative_to(copy)}: {done.stderr.strip()[:200]}" if done.returncode else None

    texts = sorted(p for p in copy.rglob("*.ptx") if not p.name.endswith(".lowered.ptx"))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        return copy, [problem for problem in pool.map(one, texts) if problem]
