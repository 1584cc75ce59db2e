"""Programs that the machine only runs: random ones and the written tests, by `tile-fuzz --export`."""
from __future__ import annotations

import lzma
import os
import pathlib
import shutil
import tempfile

from . import tools
from .target import TARGET
from .tools import ROOT, ToolError

# With these, and all other parts, the pack stays below its limit.
SEED, COUNT = 1_000_000, 1500
LEVELS = "0,3"


def tile_fuzz() -> pathlib.Path:
    """The release build, since it compiles thousands of programs."""
    if os.environ.get("TILEIRAS_BIN"):
        return tools.built("tile-fuzz")
    path = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"), "release", "tile-fuzz")
    if not path.is_file():
        raise ToolError("tile-fuzz is not built: cargo build --release --bin tile-fuzz")
    return path


def programs(pack: pathlib.Path, jobs: int, seed: int = SEED, count: int = COUNT, levels: str = LEVELS,
             files: list[pathlib.Path] | None = None, ptx: bool = False) -> None:
    """Exports and compresses. `files` are the written tests: those of all ops unless told; `ptx` leaves out the assembler."""
    folder = pack / "programs"
    folder.mkdir(parents=True)
    with tempfile.TemporaryDirectory(prefix="programs-", dir=pack) as scratch:
        command = [tile_fuzz(), "--export", scratch, "--seed", seed, "--count", count, "--jobs", jobs, "--targets", TARGET, "--levels", levels]
        said = tools.run(*command, *(["--ptx"] if ptx else []), "--files", *([ROOT / "tests" / "semantics"] if files is None else files)).stdout
        print("programs: " + said.strip().replace("\n", "\nprograms: "))
        shutil.copyfile(pathlib.Path(scratch, "programs.txt"), folder / "programs.txt")
        tools.parallel(lambda piece: compress(piece, folder / f"{piece.stem}.xz"), sorted(pathlib.Path(scratch).glob("*.programs")), jobs)


def compress(piece: pathlib.Path, to: pathlib.Path) -> None:
    # A piece is smaller than the window of this level.
    to.write_bytes(lzma.compress(piece.read_bytes(), preset=6 | lzma.PRESET_EXTREME))
