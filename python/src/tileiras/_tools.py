"""The programs of the package, and their environment."""
from __future__ import annotations

import importlib.util
import os
import pathlib
import sys

from ._errors import ToolError


def program(name: str) -> pathlib.Path:
    """Finds the program `tileiras`, `tileirdisasm`, `tile-run` or `tileiras-lsp-server` in `TILEIRAS_BIN`, if set, or in the package.

    Raises `ToolError` if it is missing.
    """
    for folder in _folders():
        if os.access(folder / name, os.X_OK):
            return folder / name
    raise ToolError(f"program '{name}' was not found in {' or '.join(map(str, _folders()))}")


def library_file() -> pathlib.Path | None:
    """The C library in `TILEIRAS_BIN`, if set, or in the package."""
    # A release has programs and libraries in two folders.
    files = [place / "libtileiras.so" for folder in _folders() for place in (folder, folder.parent / "lib")]
    return next((file for file in files if file.is_file()), None)


def _folders() -> list[pathlib.Path]:
    named = [pathlib.Path(os.environ["TILEIRAS_BIN"])] if os.environ.get("TILEIRAS_BIN") else []
    return [*named, pathlib.Path(__file__).with_name("bin")]


def environment() -> dict[str, str]:
    """The process's environment, with the directory of ptxas in NVIDIA's Python packages appended to `PATH`.

    The user's settings (`CUDA_HOME`, `PATH`) take precedence.
    """
    found = dict(os.environ)
    for folder in nvidia_folders():
        found["PATH"] = os.pathsep.join(filter(None, [found.get("PATH"), str(folder)]))
    return found


def nvidia_folders() -> list[pathlib.Path]:
    """The directories of NVIDIA's packages that contain ptxas: `nvidia-cuda-nvcc` installs it to `nvidia/cu13/bin`."""
    try:
        spec = importlib.util.find_spec("nvidia")
    except (ImportError, ValueError):
        return []
    roots = spec.submodule_search_locations if spec else None
    return [f for root in roots or () for f in sorted(pathlib.Path(root).glob("cu1[3-9]*/bin")) if os.access(f / "ptxas", os.X_OK)]


def _become(name: str) -> None:
    """Replaces this process by a program of the package, called under its own name."""
    try:
        path = program(name)
    except ToolError as missing:
        sys.exit(f"{name}: {missing}")
    # For `tileiras doctor`, which reports other programs named tileiras, and the compiler that cuTile uses here.
    told = {"TILEIRAS_LAUNCHER": os.path.abspath(sys.argv[0]), "TILEIRAS_PYTHON": sys.executable or ""}
    os.execve(path, [name, *sys.argv[1:]], {**environment(), **told})


def tileiras() -> None:
    _become("tileiras")


def tileirdisasm() -> None:
    _become("tileirdisasm")


def tile_run() -> None:
    _become("tile-run")


def tileiras_lsp_server() -> None:
    _become("tileiras-lsp-server")
