"""Launches of kernels on the simulated GPU and on the reference interpreter, using `tile-run`."""
from __future__ import annotations

import dataclasses
import pathlib
import re
import tempfile
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from ._compile import Source, _run, write_source
from ._errors import LaunchError, ToolError, of_status
from ._tools import program

if TYPE_CHECKING:
    import numpy

BIT_TYPES = {"bfloat16": "bf16", "float8_e4m3fn": "e4m3", "float8_e5m2": "e5m2", "float8_e8m0fnu": "e8m0"}
"""Types of the package `ml_dtypes` that NumPy files cannot store."""


@dataclasses.dataclass(frozen=True)
class Scalar:
    """A scalar argument of a type that Python lacks: `Scalar("f16", 0.5)`."""

    type: str
    value: float | int


def run(source: Source, *, grid: int | Sequence[int], args: Sequence[Any] = (), entry: str | None = None, target: str = "sm_100",
        opt_level: int = 3, engine: Literal["sim", "reference"] = "sim", adversarial: int | None = None,
        timeout: float | None = None, signature: Any = None) -> str:
    """Launches a kernel and waits for it. Returns its printed output.

    `args`: NumPy arrays, which the kernel may modify; integers (`i32`) and floats (`f32`); `Scalar` for other types. An array is
    passed as pointer, extents and strides, as cuTile Python does, or as a plain pointer if that matches the kernel's number of
    parameters. Its type must be that of the parameter. `engine`: the simulated GPU, which detects out-of-bounds accesses and, with a seed for `adversarial`, runs an
    adversarial schedule and detects races; or the reference interpreter of the language. `timeout` is in seconds.

    Raises `LaunchError` if the launch is rejected or fails, and another subclass of `Error` if the kernel does not compile.
    """
    try:
        import numpy
    except ImportError:
        raise ToolError("arrays need NumPy: pip install tileiras[run]") from None
    extents = [grid] if isinstance(grid, int) else list(grid)
    with tempfile.TemporaryDirectory(prefix="tileiras-") as scratch:
        folder = pathlib.Path(scratch)
        file = write_source(source, folder, signature)
        words, arrays = [], []
        for i, arg in enumerate(args):
            if isinstance(arg, numpy.ndarray):
                words.append(_store(numpy, arg, folder / f"{i}.npy"))
                arrays.append((arg, folder / "out" / f"{i}.npy"))
            elif isinstance(arg, Scalar):
                words.append(f"{arg.type}:{arg.value}")
            elif isinstance(arg, (bool, int, numpy.integer)):
                words.append(f"i32:{int(arg)}")
            elif isinstance(arg, (float, numpy.floating)):
                words.append(f"f32:{float(arg)!r}")
            else:
                raise TypeError(f"argument {i} is a {type(arg).__name__}; arguments must be NumPy arrays, numbers or Scalar")
        command = [program("tile-run"), "--quiet", f"--gpu-name={target}", "-O", opt_level, f"--engine={engine}",
                   "--grid", ",".join(map(str, extents)), "--out-dir", folder / "out"]
        if entry is not None:
            command += ["--entry", entry]
        if adversarial is not None:
            command += ["--adversarial", adversarial]
        if timeout is not None:
            command += ["--max-time", timeout]
        call = lambda suffix: _run([*map(str, command), "--", str(file), *(w + suffix if w.endswith(".npy") or ".npy:" in w else w for w in words)])
        done = call("")
        if done.returncode == 6 and "to pass only the pointer of an array" in done.stderr:
            done = call(":ptr")
        if done.returncode != 0:
            text = _readable("\n".join(line.removeprefix("error: ") for line in done.stderr.splitlines()), folder, file)
            if done.returncode in (1, 6, 7):
                raise LaunchError(text)
            raise of_status(done.returncode, _readable(done.stderr, folder, file))
        for array, left in arrays:
            array[...] = numpy.load(left).view(array.dtype).reshape(array.shape)
        return done.stdout


def _readable(text: str, folder: pathlib.Path, file: pathlib.Path) -> str:
    """Names arguments as Python does, and no temporary file."""
    text = re.sub(r"argument (\d+)(\[\d+\])? \([^()]*\)", r"args[\1]\2", text)
    if file.parent == folder:
        text = text.replace(str(file), "kernel")
    return text.replace(f"{folder}/", "")


def _store(numpy: Any, array: numpy.ndarray, file: pathlib.Path) -> str:
    """Writes an array. Returns the corresponding argument of tile-run."""
    kind = BIT_TYPES.get(array.dtype.name)
    if kind is None:
        numpy.save(file, array)
        return str(file)
    numpy.save(file, array.view(numpy.uint16 if array.dtype.itemsize == 2 else numpy.uint8))
    return f"{file}:{kind}"
