"""Compilation, using the C library in this process or the `tileiras` command."""
from __future__ import annotations

import dataclasses
import json
import os
import pathlib
import subprocess
import tempfile
from collections.abc import Sequence
from typing import Any, Literal

from ._errors import ConfigurationError, Diagnostic, ToolError, diagnostics, of_status
from ._kernels import bytecode as bytecode_of
from ._kernels import is_kernel, name_of
from ._library import load_library
from ._tools import environment, program

Level = Literal["cuda-tile", "tileaa", "tileas", "llvm", "ptx", "cubin", "obj"]
Numerics = Literal["default", "pinned", "portable"]
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


def compile(source: Source, args: Sequence[Any] | None = None, *, target: str = "sm_100", emit: Level = "cubin",
            opt_level: int = 3, remarks: bool = False, numerics: Numerics = "default", options: Sequence[str] = (),
            signature: Any = None, ptxas: str | os.PathLike[str] | None = None, child: bool | None = None) -> Compiled:
    """Compiles a program to a level.

    `source`: bytecode as bytes, MLIR as text, the path of a file, or a cuTile kernel. `args`: for a cuTile kernel, the
    arguments of a launch, from which its signature follows; their contents do not matter. Alternatively, `signature`: a
    `cuda.tile.compilation.KernelSignature`, or a list of them. `target`: a GPU such as `sm_90`. `emit`: the level, from
    `cuda-tile` to `cubin`; `obj` is a host object that embeds the cubin. `numerics`: `pinned` makes reductions and scans
    combine elements in an order that depends on their shape alone; `portable` also avoids instructions whose bits PTX does
    not define. `options`: further command-line options, such as
    `--lineinfo`. `ptxas`: its path; by default it is found as the command does, and in NVIDIA's Python packages.

    The compiler runs in this process if the package has its C library, there are no `options` and the output is not a host
    object. `child=True` starts the command instead, which costs tens of milliseconds, and in which even a defect of the
    compiler cannot end this process. `child=False` is an error where the compiler cannot run in this process.

    Raises a subclass of `Error` with the compiler's diagnostics.
    """
    library = None if child or options or emit == "obj" else load_library()
    if library is not None:
        data, name = read_source(source, signature, target, args)
        call = library.compile(data, name, target=target, emit=emit, opt_level=opt_level, remarks=remarks,
                               numerics=numerics, ptxas=ptxas)
        return Compiled(emit, target, call.output, _kernels(call.resources), call.diagnostics)
    if child is False:
        why = "there are further options" if options else "only the command makes host objects" if emit == "obj" else \
            "the package lacks libtileiras.so"
        raise ToolError(f"the compiler cannot run in this process: {why}")
    with tempfile.TemporaryDirectory(prefix="tileiras-") as scratch:
        file = write_source(source, pathlib.Path(scratch), signature, target, args)
        output, usage = pathlib.Path(scratch, "output"), pathlib.Path(scratch, "resources.json")
        command = [program("tileiras"), f"--gpu-name={target}", f"--emit={emit}", f"--opt-level={opt_level}",
                   f"--numerics={numerics}", "--diagnostic-format=json", "-o", output, *options]
        if emit in ("cubin", "obj"):
            command.append(f"--resource-usage-file={usage}")
        if remarks:
            command.append("--remarks=all")
        if ptxas is not None:
            command.append(f"--ptxas-path={os.fspath(ptxas)}")
        done = run_program([*command, "--", file])
        # The program's temporary file has no folder in messages.
        said = done.stderr.replace(f"{scratch}{os.sep}", "")
        if done.returncode != 0:
            raise of_status(done.returncode, said)
        kernels = _kernels(usage.read_text() if usage.exists() else None)
        return Compiled(emit, target, output.read_bytes(), kernels, diagnostics(said))


def disassemble(bytecode: bytes | str | os.PathLike[str]) -> str:
    """Converts bytecode, or a bytecode file, to text. Raises a subclass of `Error`."""
    with tempfile.TemporaryDirectory(prefix="tileiras-") as scratch:
        done = run_program([program("tileirdisasm"), write_source(bytecode, pathlib.Path(scratch))])
        if done.returncode != 0:
            raise of_status(done.returncode, done.stderr.replace(f"{scratch}{os.sep}", ""))
        return done.stdout


def read_source(source: Source, signature: Any = None, target: str = "sm_100",
                args: Sequence[Any] | None = None) -> tuple[bytes, str]:
    """The contents of a program, and its name in messages."""
    if isinstance(source, (bytes, bytearray, memoryview)):
        data = bytes(source)
        return data, "input.tileirbc" if data.startswith(MAGICS) else "input.mlir"
    file = _file_of(source)
    if file is not None:
        try:
            return file.read_bytes(), str(file)
        except OSError as error:
            raise ConfigurationError(f"file '{file}' cannot be read: {error.strerror}") from None
    if isinstance(source, str):
        return source.encode(), "input.mlir"
    if is_kernel(source):
        return bytecode_of(source, target, args, signature), f"{name_of(source)}.tileirbc"
    raise TypeError(f"a program is bytes, text, a path or a cuTile kernel, not {type(source).__name__}")


def write_source(source: Source, folder: pathlib.Path, signature: Any = None, target: str = "sm_100",
                 args: Sequence[Any] | None = None) -> pathlib.Path:
    """Writes the program to a file in `folder`, unless it is a file already. Returns the file."""
    given = _file_of(source)
    if given is not None:
        return given
    data, name = read_source(source, signature, target, args)
    file = folder / name
    file.write_bytes(data)
    return file


def _file_of(source: Source) -> pathlib.Path | None:
    """The file that a program is, if it is one."""
    if not isinstance(source, (str, os.PathLike)) or isinstance(source, str) and "\n" in source:
        return None
    file = pathlib.Path(source)
    if not file.exists():
        raise ConfigurationError(f"file '{file}' does not exist (a textual program must contain a line break)")
    return file


def _kernels(resources: str | None) -> dict[str, Kernel]:
    """The kernels in the JSON text of `--resource-usage-file`."""
    names = [f.name for f in dataclasses.fields(Kernel) if f.name != "threads"]
    every = json.loads(resources)["kernels"] if resources else []
    return {k["name"]: Kernel(**{name: k[name] for name in names}, threads=tuple(k["block"])) for k in every}


def run_program(command: list[Any]) -> subprocess.CompletedProcess[str]:
    """Runs a program without blocking other Python threads."""
    return subprocess.run([os.fspath(c) if isinstance(c, os.PathLike) else str(c) for c in command], capture_output=True,
                          text=True, errors="replace", check=False, env=environment(), stdin=subprocess.DEVNULL)
