"""The programs of the package, and the environment that they run in."""
from __future__ import annotations

import importlib.util
import os
import pathlib
import sys

from ._errors import ToolError


def program(name: str) -> pathlib.Path:
    """The program `tileiras`, `tileirdisasm`, `tile-run` or `tileiras-lsp-server`: below `TILEIRAS_BIN`, if that is set, or in the package.

    Raises `ToolError` where there is none.
    """
    folders = [pathlib.Path(os.environ["TILEIRAS_BIN"])] if os.environ.get("TILEIRAS_BIN") else []
    folders.append(pathlib.Path(__file__).with_name("bin"))
    for folder in folders:
        if os.access(folder / name, os.X_OK):
            return folder / name
    raise ToolError(f"there is no program '{name}' in {' or '.join(map(str, folders))}")


def environment() -> dict[str, str]:
    """The process's environment, with the ptxas of NVIDIA's Python packages at the end of `PATH`.

    What the user has set (`CUDA_HOME`, `PATH`) comes before it.
    """
    found = dict(os.environ)
    for folder in _nvidia_folders():
        found["PATH"] = os.pathsep.join(filter(None, [found.get("PATH"), str(folder)]))
    return found


def _nvidia_folders() -> list[pathlib.Path]:
    """The folders of NVIDIA's packages that have a ptxas: `nvidia-cuda-nvcc` puts it into `nvidia/cu13/bin`."""
    try:
        spec = importlib.util.find_spec("nvidia")
    except (ImportError, ValueError):
        return []
    roots = spec.submodule_search_locations if spec else None
    return [f for root in roots or () for f in sorted(pathlib.Path(root).glob("cu1[3-9]*/bin")) if os.access(f / "ptxas", os.X_OK)]


def _become(name: str) -> None:
    """Ends this process and goes on as a program of the package, which is told the name under which it was called."""
    try:
        path = program(name)
    except ToolError as missing:
        sys.exit(f"{name}: {missing}")
    # For `tileiras doctor`, which says what else answers to the name, and which compiler cuTile uses in this environment.
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
