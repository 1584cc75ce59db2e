"""The programs that the pack is built with, and how they are run."""
from __future__ import annotations

import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
from typing import Callable, Iterable, TypeVar

from .target import ARCHITECTURE

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent

T = TypeVar("T")
U = TypeVar("U")


class ToolError(RuntimeError):
    """A tool that is missing or failed."""


def find(name: str) -> pathlib.Path:
    """A tool of the CUDA toolkit: in the checkout, in CUDA_HOME, or on PATH."""
    folders = [ROOT / ".tools" / "cuda" / "bin", *(pathlib.Path(os.environ[v], "bin") for v in ("CUDA_HOME", "CUDA_PATH") if os.environ.get(v))]
    for folder in folders:
        if (folder / name).is_file():
            return folder / name
    found = shutil.which(name)
    if not found:
        raise ToolError(f"{name} was not found: run scripts/setup.sh")
    return pathlib.Path(found)


def built(name: str) -> pathlib.Path:
    """A binary of this project; TILEIRAS_BIN names another folder."""
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    folders = [pathlib.Path(os.environ["TILEIRAS_BIN"])] if os.environ.get("TILEIRAS_BIN") else [target / "debug", target / "release"]
    for folder in folders:
        if (folder / name).is_file():
            return folder / name
    raise ToolError(f"{name} is not built: cargo build --bins")


def run(*command: object, env: dict[str, str] | None = None, check: bool = True) -> subprocess.CompletedProcess[str]:
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, env={**os.environ, **(env or {})}, stdin=subprocess.DEVNULL)
    if check and done.returncode:
        said = (done.stderr or done.stdout).strip()
        raise ToolError(f"{pathlib.Path(str(command[0])).name} failed with status {done.returncode}: {said[-600:]}")
    return done


def parallel(f: Callable[[T], U], items: Iterable[T], jobs: int) -> list[U]:
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        return list(pool.map(f, items))


# What ptxas says when it does not do what was written: matrix instructions one after the other, setmaxnreg ignored, spills.
COMPLAINTS = re.compile(r"\(C75\d\d\)|serializ|setmaxnreg ignored", re.IGNORECASE)
SPILLS = re.compile(r"([1-9]\d*) bytes spill")


def assemble(ptx: pathlib.Path, cubin: pathlib.Path, architecture: str = ARCHITECTURE, strict: bool = False) -> None:
    """PTX to a cubin. `strict`: a remark that costs speed is an error."""
    done = run(find("ptxas"), f"-arch={architecture}", "-v", ptx, "-o", cubin)
    if strict and (COMPLAINTS.search(done.stderr) or SPILLS.search(done.stderr)):
        raise ToolError(f"{ptx.name}: ptxas remarks:\n" + "\n".join(line for line in done.stderr.splitlines() if COMPLAINTS.search(line) or SPILLS.search(line)))


def opcodes(cubin: pathlib.Path) -> dict[str, dict[str, int]]:
    """How often each kernel of a cubin has each opcode."""
    found: dict[str, dict[str, int]] = {}
    current: dict[str, int] = {}
    for line in run(find("nvdisasm"), "-c", cubin).stdout.splitlines():
        section = re.match(r"\s*\.section\s+\.text\.(\w+)", line)
        if section:
            current = found.setdefault(section.group(1), {})
        code = re.match(r"\s*/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+\s+)?([A-Z][A-Z0-9_]*)", line)
        if code:
            current[code.group(1)] = current.get(code.group(1), 0) + 1
    return found
