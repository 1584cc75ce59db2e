"""Compiling, by the command."""
from __future__ import annotations

import dataclasses
import io
import json
import os
import pathlib
import subprocess
import tempfile
from collections.abc import Sequence
from typing import Any, Literal

from ._errors import ConfigurationError, Diagnostic, diagnostics, of_status
from ._tools import environment, program

Level = Literal["cuda-tile", "tileaa", "tileas", "llvm", "ptx", "cubin", "obj"]
Source = Any
"""Bytecode or LLVM IR as bytes, MLIR as a string that has line breaks, the path of a file, or a kernel of cuTile Python."""

MAGICS = (b"\x7fTileIR\x00", b"ML\xefR")


@dataclasses.dataclass(frozen=True)
class Kernel:
    """What a kernel takes, as ptxas says. Sizes in bytes."""

    name: str
    registers: int
    shared_memory: int
    stack_frame: int
    spill_stores: int
    spill_loads: int
    threads: tuple[int, int, int]
    """Of a block; the kernel works with no other number."""


@dataclasses.dataclass(frozen=True)
class Remark:
    """What a pass did, could not do, or found."""

    severity: str
    message: str
    file: str | None
    line: int | None


@dataclasses.dataclass(frozen=True)
class Compiled:
    """What came out."""

    emit: str
    target: str
    data: bytes
    kernels: dict[str, Kernel]
    """By name; empty where ptxas did not run."""
    diagnostics: tuple[Diagnostic, ...]
    """Warnings and remarks."""

    @property
    def text(self) -> str:
        """The output of a level that is text."""
        if self.emit in ("cubin", "obj"):
            raise ValueError(f"the output is a {self.emit}, which is no text: see `image`")
        return self.data.decode()

    @property
    def image(self) -> bytes:
        """The cubin, or the object for the host."""
        if self.emit not in ("cubin", "obj"):
            raise ValueError(f"the output is text of the level {self.emit}: see `text`")
        return self.data

    @property
    def remarks(self) -> tuple[Remark, ...]:
        found = (d for d in self.diagnostics if d.severity == "remark")
        return tuple(Remark(d.severity, d.message, d.file, d.line) for d in found)


def compile(source: Source, *, target: str = "sm_100", emit: Level = "cubin", opt_level: int = 3, remarks: bool = False,
            options: Sequence[str] = (), signature: Any = None, ptxas: str | os.PathLike[str] | None = None) -> Compiled:
    """Compiles a program to a level.

    `source`: bytecode as bytes, MLIR as text, the path of a file, or a kernel of cuTile Python, whose `signature` (or list of
    them, `cuda.tile.compilation.KernelSignature`) says what it is called with. `target`: a GPU such as `sm_90`. `emit`: the level,
    from `cuda-tile` to `cubin`; `obj` is a cubin in an object for the host. `options`: further arguments of the command, such as
    `--lineinfo`. `ptxas`: its path; where none is given it is found as the command finds it, and in NVIDIA's Python packages.

    Raises a kind of `Error` with the compiler's diagnostics.
    """
    with tempfile.TemporaryDirectory(prefix="tileiras-") as scratch:
        file = write_source(source, pathlib.Path(scratch), signature)
        output, usage = pathlib.Path(scratch, "output"), pathlib.Path(scratch, "resources.json")
        command = [program("tileiras"), f"--gpu-name={target}", f"--emit={emit}", f"--opt-level={opt_level}", "--diagnostic-format=json",
                   "-o", output, *options]
        if emit in ("cubin", "obj"):
            command.append(f"--resource-usage-file={usage}")
        if remarks:
            command.append("--remarks=all")
        if ptxas is not None:
            command.append(f"--ptxas-path={os.fspath(ptxas)}")
        done = _run([*command, "--", file])
        if done.returncode != 0:
            raise of_status(done.returncode, done.stderr)
        kernels = _kernels(json.loads(usage.read_text())) if usage.exists() else {}
        return Compiled(emit, target, output.read_bytes(), kernels, diagnostics(done.stderr))


def disassemble(bytecode: bytes | str | os.PathLike[str]) -> str:
    """Bytecode, or a file of it, as text. Raises a kind of `Error`."""
    with tempfile.TemporaryDirectory(prefix="tileiras-") as scratch:
        done = _run([program("tileirdisasm"), write_source(bytecode, pathlib.Path(scratch), None)])
        if done.returncode != 0:
            raise of_status(done.returncode, done.stderr)
        return done.stdout


def write_source(source: Source, folder: pathlib.Path, signature: Any) -> pathlib.Path:
    """A file with the program, in `folder` unless it is one already."""
    if isinstance(source, (bytes, bytearray, memoryview)):
        data = bytes(source)
        file = folder / ("input.tileirbc" if data.startswith(MAGICS) else "input.mlir")
    elif isinstance(source, os.PathLike) or (isinstance(source, str) and "\n" not in source):
        file = pathlib.Path(source)
        if not file.exists():
            raise ConfigurationError(f"there is no file '{file}' (a program in text has line breaks)")
        return file
    elif isinstance(source, str):
        data, file = source.encode(), folder / "input.mlir"
    else:
        data, file = _of_cutile(source, signature), folder / "input.tileirbc"
    file.write_bytes(data)
    return file


def _of_cutile(kernel: Any, signature: Any) -> bytes:
    """The bytecode of a kernel of cuTile Python."""
    try:
        from cuda.tile.compilation import export_kernel
    except ImportError:
        raise TypeError(f"a program is bytes, text, a path or a kernel of cuTile Python, and no {type(kernel).__name__}") from None
    if signature is None:
        raise TypeError("a kernel of cuTile Python needs its signature")
    signatures = list(signature) if isinstance(signature, (list, tuple)) else [signature]
    buffer = io.BytesIO()
    # The GPU matters to hints alone here; bytecode is the same for all.
    export_kernel(kernel, signatures, buffer, gpu_code="sm_100", output_format="tileir_bytecode")
    return buffer.getvalue()


def _kernels(read: dict[str, Any]) -> dict[str, Kernel]:
    names = [f.name for f in dataclasses.fields(Kernel) if f.name != "threads"]
    return {k["name"]: Kernel(**{name: k[name] for name in names}, threads=tuple(k["block"])) for k in read["kernels"]}


def _run(command: list[Any]) -> subprocess.CompletedProcess[str]:
    """Runs a program; other threads of Python run on."""
    return subprocess.run([os.fspath(c) for c in command], capture_output=True, text=True, errors="replace", check=False,
                          env=environment(), stdin=subprocess.DEVNULL)
