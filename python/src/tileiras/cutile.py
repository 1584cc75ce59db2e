"""`python -m tileiras.cutile SCRIPT [ARGUMENT ...]`: runs a cuTile Python script with this compiler.

If NVIDIA's package `nvidia-cuda-tileiras` is installed, cuTile Python prefers it over `PATH`. This module hides the package within
its process. The package's files are not touched, and other processes are not affected.
"""
from __future__ import annotations

import importlib.metadata
import os
import runpy
import sys

from ._errors import ToolError
from ._tools import environment, program

HIDDEN = "nvidia-cuda-tileiras"


def use() -> str:
    """Makes cuTile Python use this compiler in this process from now on. Returns the compiler's path.

    Call it before the first kernel is compiled, because cuTile Python searches for its compiler only once.
    """
    path = program("tileiras")
    os.environ["PATH"] = os.pathsep.join([str(path.parent), environment().get("PATH", "")])
    distribution = importlib.metadata.distribution

    def without(name: str) -> importlib.metadata.Distribution:
        if name.lower().replace("_", "-") == HIDDEN:
            raise importlib.metadata.PackageNotFoundError(name)
        return distribution(name)

    importlib.metadata.distribution = without
    importlib.metadata.version = lambda name: without(name).version
    return str(path)


def main() -> None:
    if len(sys.argv) < 2 or sys.argv[1] in ("-h", "--help"):
        sys.exit(__doc__)
    try:
        use()
    except ToolError as missing:
        sys.exit(f"tileiras.cutile: {missing}")
    sys.argv = sys.argv[1:]
    sys.path.insert(0, os.path.dirname(os.path.abspath(sys.argv[0])))
    runpy.run_path(sys.argv[0], run_name="__main__")


if __name__ == "__main__":
    main()
