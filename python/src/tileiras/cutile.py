"""`python -m tileiras.cutile [--simulate] SCRIPT [ARGUMENT ...]`: runs a cuTile Python script with this compiler.

If NVIDIA's package `nvidia-cuda-tileiras` is installed, cuTile Python prefers it over `PATH`. This module hides the package within
its process. The package's files are not touched, and other processes are not affected.

Launches need a GPU and its driver. With `--simulate`, they run on the simulated GPU instead, with arrays in CPU memory;
`--target=sm_90` selects the GPU (default sm_100).
"""
from __future__ import annotations

import ctypes
import importlib.metadata
import os
import re
import runpy
import sys
import traceback
from collections.abc import Sequence
from typing import Any

from ._errors import ToolError
from ._tools import environment, program

HIDDEN = "nvidia-cuda-tileiras"

NO_DRIVER = "tileiras.cutile: there is no GPU driver (libcuda.so.1) here, so cuTile cannot launch kernels. Without a GPU:"

ABOUT_GPUS = re.compile("cuda|nvidia|stream|gpu", re.IGNORECASE)
"""Words of errors that the missing driver causes."""


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


def simulate(target: str = "sm_100") -> None:
    """Makes `cuda.tile.launch` run kernels on the simulated GPU in this process from now on. Streams are ignored."""
    import cuda.tile

    from ._run import run

    def launch(stream: Any, grid: Sequence[int], kernel: Any, kernel_args: Sequence[Any], /) -> None:
        printed = run(kernel, grid, kernel_args, target=target)
        if printed:
            print(printed, end="")

    cuda.tile.launch = launch


def has_driver() -> bool:
    """Whether the GPU driver can be loaded."""
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False
    return True


def advice(script: str) -> str:
    """What to do without a GPU."""
    table = [(f"python -m tileiras.cutile --simulate {script}", "launches on the simulated GPU, with arrays in CPU memory"),
             ("tileiras.run(kernel, grid, args)", "one such launch, from Python"),
             ("tileiras.predict(kernel, grid, args)", "its predicted time on a GPU")]
    width = max(len(call) for call, _ in table)
    return "\n".join([NO_DRIVER, *(f"  {call.ljust(width)}  {meaning}" for call, meaning in table)])


def main() -> None:
    arguments = sys.argv[1:]
    simulated, target = False, "sm_100"
    while arguments and (arguments[0] == "--simulate" or arguments[0].startswith("--target=")):
        if arguments[0] == "--simulate":
            simulated = True
        else:
            target = arguments[0].partition("=")[2]
        arguments = arguments[1:]
    if not arguments or arguments[0] in ("-h", "--help"):
        sys.exit(__doc__)
    try:
        use()
        if simulated:
            simulate(target)
    except ToolError as missing:
        sys.exit(f"tileiras.cutile: {missing}")
    except ImportError as missing:
        sys.exit(f"tileiras.cutile: {missing}; install cuTile Python: pip install cuda-tile")
    sys.argv = arguments
    sys.path.insert(0, os.path.dirname(os.path.abspath(sys.argv[0])))
    try:
        runpy.run_path(sys.argv[0], run_name="__main__")
    except Exception as error:
        # As the interpreter prints it, without the calls of this module and of runpy.
        trace = error.__traceback__
        while trace is not None and os.path.basename(trace.tb_frame.f_code.co_filename) in ("cutile.py", "<frozen runpy>", "runpy.py"):
            trace = trace.tb_next
        traceback.print_exception(type(error), error, trace)
        if not simulated and ABOUT_GPUS.search(f"{type(error).__module__} {error}") and not has_driver():
            print(advice(sys.argv[0]), file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    main()
