"""Launches of kernels on the simulated GPU and on the reference interpreter, using `tile-run`."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from ._compile import Source, run_program, write_source
from ._launch import Grid, Launch
from ._tools import program


def run(source: Source, grid: Grid, args: Sequence[Any] = (), *, entry: str | None = None, target: str = "sm_100",
        opt_level: int = 3, engine: Literal["sim", "reference"] = "sim", adversarial: int | None = None,
        timeout: float | None = None, signature: Any = None, options: Sequence[str] = ()) -> str:
    """Launches a kernel and waits for it. Returns its printed output.

    `source`: a cuTile kernel, or a program as in `compile`. `args`: arrays of NumPy, PyTorch (on the CPU) or another
    library with DLPack, which the kernel may modify; integers (`i32`), floats (`f32`) and `Scalar` for other types; lists
    of arrays. The arguments of a cuTile kernel are those of `cuda.tile.launch`, with constants. In other programs an array
    is passed as pointer, extents and strides, as cuTile does, or as a plain pointer if that matches the number of
    parameters; numbers have the type of the parameter.

    `engine`: the simulated GPU, which detects out-of-bounds accesses and, with a seed for `adversarial`, runs an
    adversarial schedule and detects races; or the reference interpreter of the language. `timeout` is in seconds.
    `options`: further options of `tile-run`.

    Raises `LaunchError` if the launch is rejected or fails, and another subclass of `Error` if the kernel does not compile.
    """
    with Launch(source, args, grid) as launch:
        file = write_source(source, launch.folder, signature, target, args)
        command = [program("tile-run"), "--quiet", f"--gpu-name={target}", "-O", opt_level, f"--engine={engine}",
                   "--out-dir", launch.folder / "out"]
        if adversarial is not None:
            command += ["--adversarial", adversarial]
        if timeout is not None:
            command += ["--max-time", timeout]
        call = lambda described: run_program([*command, *options, "--launch", described, "--", file])
        printed = launch.call(call, file, entry)
        launch.read()
        return printed
