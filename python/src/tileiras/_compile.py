"""Compilation, using the `tileiras` command."""
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
Numerics = Literal["default", "pinned"]
"""Which bits of results the program alone determines."""
Source = Any
"""Bytecode or LLVM IR as bytes, MLIR as a string with line breaks, the path of a file, or a cuTile Python kernel."""

MAGICS = (b"\x7fTileIR\x00", b"ML\xefR")


@dataclasses.dataclass(frozen=True)
class Kernel:
    """The resources of a kernel, as reported by ptxas. Sizes are in bytes."""

    name: str
    registers: int
    shared_memory: int
    stack_frame: int
    spill_stores: int
    spill_loads: int
    threads: tuple[int, int, int]
    """Threads per CTA. The kernel supports no other size."""


@dataclasses.dataclass(frozen=True)
class Remark:
    """An optimization remark: what a pass did, failed to do, or found."""

    severity: str
    message: str
    file: str | None
    line: int | None


@dataclasses.dataclass(frozen=True)
class Compiled:
    """The result of a compilation."""

    emit: str
    target: str
    data: bytes
    kernels: dict[str, Kernel]
    """By name. Empty if ptxas did not run."""
    diagnostics: tuple[Diagnostic, ...]
    """Warnings and remarks."""

    @property
    def text(self) -> str:
        """The output of a textual level."""
        if self.emit in ("cubin", "obj"):
            raise ValueError(f"the output is a {self.emit}, not text: use `image`")
        return self.data.decode()

    @property
    def image(self) -> bytes:
        """The cubin, or the host object."""
        if self.emit not in ("cubin", "obj"):
            raise ValueError(f"the output is text of the level {self.emit}: use `text`")
        return self.data

    @property
    def remarks(self) -> tuple[Remark, ...]:
        found = (d for d in self.diagnostics if d.severity == "remark")
        return tuple(Remark(d.severity, d.message, d.file, d.line) for d in found)


def compile(source: Source, *, target: str = "sm_100", emit: Level = "cubin", opt_level: int = 3, remarks: bool = False,
            numerics: Numerics = "default", options: Sequence[str] = (), signature: Any = None, ptxas: str | os.PathLike[str] | None = None) -> Compiled:
    """Compiles a program to a level.

    `source`: bytecode as bytes, MLIR as text, the path of a file, or a cuTile Python kernel with its `signature` (or a list of
    signatures, `cuda.tile.compilation.KernelSignature`). `target`: a GPU such as `sm_90`. `emit`: the level, from `cuda-tile` to
    `cubin`; `obj` is a host object that embeds the cubin. `numerics`: `pinned` makes reductions and scans combine elements in an order that
    depends on their shape alone. `options`: further command-line options, such as `--lineinfo`. `ptxas`:
    its path; by default it is found as the command does, and in NVIDIA's Python packages.

    Raises a subclass of `Error` with the compiler's diagnostics.
    """
    with tempfile.TemporaryDirectory(prefix="tileiras-") as scratch:
        file = write_source(source, pathlib.Path(scratch), signature)
        output, usage = pathlib.Path(scratch, "output"), pathlib.Path(scratch, "resources.json")
        command = [program("tileiras"), f"--gpu-name={target}", f"--emit={emit}", f"--opt-level={opt_level}",
                   f"--numerics={numerics}", "--diagnostic-format=json", "-o", output, *options]
        if emit in ("cubin", "obj"):
            command.append(f"--resource-usage-file={usage}")
        if remarks:
            command.append("--remarks=all")
        if ptxas is not None:
            command.append(f"--ptxas-path={os.fspath(ptxas)}")
        done = _run([*command, "--", file])
        # The program's temporary file has no folder in messages.
        said = done.stderr.replace(f"{scratch}{os.sep}", "")
        if done.returncode != 0:
            raise of_status(done.returncode, said)
        kernels = _kernels(json.loads(usage.read_text())) if usage.exists() else {}
        return Compiled(emit, target, output.read_bytes(), kernels, diagnostics(said))


def disassemble(bytecode: bytes | str | os.PathLike[str]) -> str:
    """Converts bytecode, or a bytecode file, to text. Raises a subclass of `Error`."""
    with tempfile.TemporaryDirectory(prefix="tileiras-") as scratch:
        done = _run([program("tileirdisasm"), write_source(bytecode, pathlib.Path(scratch), None)])
        if done.returncode != 0:
            raise of_status(done.returncode, done.stderr.replace(f"{scratch}{os.sep}", ""))
        return done.stdout


def write_source(source: Source, folder: pathlib.Path, signature: Any) -> pathlib.Path:
    """Writes the program to a file in `folder`, unless it is a file already. Returns the file."""
    if isinstance(source, (bytes, bytearray, memoryview)):
        data = bytes(source)
        file = folder / ("input.tileirbc" if data.startswith(MAGICS) else "input.mlir")
    elif isinstance(source, os.PathLike) or (isinstance(source, str) and "\n" not in source):
        file = pathlib.Path(source)
        if not file.exists():
            raise ConfigurationError(f"file '{file}' does not exist (a textual program must contain a line break)")
        return file
    elif isinstance(source, str):
        data, file = source.encode(), folder / "input.mlir"
    else:
        data, file = _of_cutile(source, signature), folder / "input.tileirbc"
    file.write_bytes(data)
    return file


def _of_cutile(kernel: Any, signature: Any) -> bytes:
    """The bytecode of a cuTile Python kernel."""
    try:
        from cuda.tile.compilation import export_kernel
    except ImportError:
        raise TypeError(f"a program is bytes, text, a path or a cuTile Python kernel, not {type(kernel).__name__}") from None
    if signature is None:
        raise TypeError("a cuTile Python kernel needs a signature")
    signatures = list(signature) if isinstance(signature, (list, tuple)) else [signature]
    buffer = io.BytesIO()
    # The GPU only affects hints; the bytecode is the same for all GPUs.
    export_kernel(kernel, signatures, buffer, gpu_code="sm_100", output_format="tileir_bytecode")
    return buffer.getvalue()


def _kernels(read: dict[str, Any]) -> dict[str, Kernel]:
    names = [f.name for f in dataclasses.fields(Kernel) if f.name != "threads"]
    return {k["name"]: Kernel(**{name: k[name] for name in names}, threads=tuple(k["block"])) for k in read["kernels"]}


def _run(command: list[Any]) -> subprocess.CompletedProcess[str]:
    """Runs a program without blocking other Python threads."""
    return subprocess.run([os.fspath(c) for c in command], capture_output=True, text=True, errors="replace", check=False,
                          env=environment(), stdin=subprocess.DEVNULL)
