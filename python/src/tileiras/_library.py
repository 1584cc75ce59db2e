"""The C library, in this process: compilation without a child process for each call."""
from __future__ import annotations

import ctypes
import dataclasses
import functools
import os
import pathlib
import shutil
import threading
from typing import Any

from ._errors import ConfigurationError, Diagnostic, Error, ToolError, of_kind
from ._tools import library_file, nvidia_folders

API = 7
"""The oldest version of the interface with the functions below."""

LEVELS = {"cubin": 0, "ptx": 1, "llvm": 2, "tileas": 3, "tileaa": 4, "cuda-tile": 5}
SEVERITIES = ("error", "warning", "remark", "note")


class _Config(ctypes.Structure):
    """`TileirasConfig` of `tileiras.h`."""

    _fields_ = [("input_buffer_data", ctypes.c_void_p), ("input_buffer_size", ctypes.c_size_t),
                *[(name, ctypes.c_int32) for name in ("gpu_id", "opt_level", "device_debug", "lineinfo", "host_arch", "host_os",
                                                      "sanitize")],
                ("reserved", ctypes.c_uint32), ("output_name", ctypes.c_char_p), ("output_name_len", ctypes.c_size_t),
                ("cuda_root", ctypes.c_char_p), ("cuda_root_len", ctypes.c_size_t)]


class _View(ctypes.Structure):
    """`TileirasByteView`."""

    _fields_ = [("data", ctypes.c_void_p), ("length", ctypes.c_size_t)]


class _Message(ctypes.Structure):
    """`TileirasDiagnostic`."""

    _fields_ = [("size", ctypes.c_size_t), ("word", ctypes.c_uint32), ("severity", ctypes.c_uint32),
                ("code", ctypes.c_char_p), ("message", ctypes.c_char_p), ("file", ctypes.c_char_p), ("line", ctypes.c_uint32),
                ("column", ctypes.c_uint32), ("program", ctypes.c_void_p)]


_Callback = ctypes.CFUNCTYPE(None, ctypes.POINTER(_Message), ctypes.c_void_p)


@dataclasses.dataclass(frozen=True)
class Output:
    """The results of a compilation."""

    output: bytes
    resources: str | None
    """JSON, if ptxas ran."""
    diagnostics: tuple[Diagnostic, ...]


class Library:
    """The loaded library. Threads may use it concurrently."""

    def __init__(self, file: pathlib.Path) -> None:
        self._calls = ctypes.CDLL(str(file))
        self._calls.tileirasApiVersion.restype = ctypes.c_uint32
        if self._calls.tileirasApiVersion() < API:
            raise ToolError(f"'{file}' is older than this module")
        self._said: dict[int, list[Diagnostic]] = {}
        # Errors of a call itself name no program. They arrive in the thread that made the call.
        self._callback = _Callback(self._hear)
        self._calls.tileirasSetDiagnosticCallback(self._callback, None)

    def compile(self, data: bytes, name: str, *, target: str, emit: str, opt_level: int, remarks: bool, numerics: str,
                ptxas: str | os.PathLike[str] | None) -> Output:
        """Compiles a program. Takes the arguments of `tileiras.compile`."""
        config, kept = self._config(data, target, opt_level, emit)
        thread = threading.get_ident()
        said = self._said[thread] = []
        program = ctypes.c_void_p()
        try:
            done = self._calls.tileirasProgramCreate(ctypes.byref(program), ctypes.byref(config))
            if done == 0:
                self._set(program, name, emit, remarks, numerics, ptxas)
                # Waits without the lock of the interpreter.
                done = self._calls.tileirasProgramCompile(program)
            found = tuple(_gathered(said))
            if done != 0:
                raise _error(done, found)
            output = self._bytes(self._calls.tileirasProgramGetOutput, program)
            resources = None
            if emit == "cubin":
                resources = self._bytes(self._calls.tileirasProgramGetResources, program).decode()
            return Output(output, resources, found)
        finally:
            if program:
                self._calls.tileirasProgramRelease(program)
            del self._said[thread], kept

    def _config(self, data: bytes, target: str, opt_level: int, emit: str) -> tuple[_Config, Any]:
        number = target.removeprefix("sm_")
        if emit not in LEVELS:
            raise ConfigurationError(f"level '{emit}' is unknown (known levels: {', '.join(LEVELS)})")
        if not target.startswith("sm_") or not number.isdigit():
            raise ConfigurationError(f"target '{target}' is unknown: a target is a GPU such as sm_90")
        kept = ctypes.create_string_buffer(data, max(1, len(data)))
        root = _toolkit()
        config = _Config(input_buffer_data=ctypes.addressof(kept), input_buffer_size=len(data),
                         gpu_id=min(int(number), 2**31 - 1), opt_level=opt_level, cuda_root=root,
                         cuda_root_len=len(root or b""))
        return config, kept

    def _set(self, program: Any, name: str, emit: str, remarks: bool, numerics: str,
             ptxas: str | os.PathLike[str] | None) -> None:
        text = lambda function, value: function(program, value, ctypes.c_size_t(len(value)))
        calls = self._calls
        modes = ("default", "pinned", "portable")
        if numerics not in modes:
            raise ConfigurationError(f"numerics '{numerics}' is unknown (expected default, pinned or portable)")
        text(calls.tileirasProgramSetInputName, os.fsencode(name))
        calls.tileirasProgramSetEmit(program, LEVELS[emit])
        calls.tileirasProgramSetNumerics(program, modes.index(numerics))
        calls.tileirasProgramSetResources(program, int(emit == "cubin"))
        text(calls.tileirasProgramSetRemarks, b"all" if remarks else b"none")
        if ptxas is not None:
            text(calls.tileirasProgramSetPtxas, os.fsencode(ptxas))

    def _bytes(self, call: Any, program: Any) -> bytes:
        view = _View()
        if call(program, ctypes.byref(view)) != 0:
            raise _error(5, tuple(_gathered(self._said[threading.get_ident()])))
        return ctypes.string_at(view.data, view.length)

    def _hear(self, message: Any, _: Any) -> None:
        d = message.contents
        read = lambda text: text.decode(errors="replace") or None
        said = self._said.get(threading.get_ident())
        if said is not None:
            said.append(Diagnostic(SEVERITIES[d.severity], _adapted(read(d.message) or ""), read(d.code), read(d.file),
                                   d.line or None, d.column or None))


@functools.cache
def load_library() -> Library | None:
    """The library in `TILEIRAS_BIN`, if set, or in the package. `None` if there is none."""
    file = library_file()
    return None if file is None else Library(file)


def _gathered(said: list[Diagnostic]) -> list[Diagnostic]:
    """Messages with the notes that follow them."""
    found: list[Diagnostic] = []
    for d in said:
        if d.severity == "note" and found:
            found[-1] = dataclasses.replace(found[-1], notes=(*found[-1].notes, d.place + d.message))
        else:
            found.append(d)
    return found


def _error(status: int, found: tuple[Diagnostic, ...]) -> Error:
    errors = [d for d in found if d.severity == "error"]
    # The last message of the library repeats the status.
    text = "\n".join(map(str, errors[:-1] or errors)) or f"the compiler failed with status {status}"
    # The third character of a code is the exit status of the command.
    kinds = [int(d.code[2]) for d in errors if d.code]
    return of_kind(status if status in (2, 3) else next(iter(kinds), status), text, found)


def _adapted(message: str) -> str:
    """A message about functions of the library, in words of this module."""
    for of, by in (("name its root in cuda_root or the file with tileirasProgramSetPtxas; PTX needs no ptxas: "
                    "tileirasProgramSetEmit", 'name the file with the argument ptxas; emit="ptx" needs no ptxas'),
                   ("tileirasProgramSetPtxas", "the argument ptxas"), ("gpu_id is ", "the target is sm_")):
        message = message.replace(of, by)
    return message


def _toolkit() -> bytes | None:
    """The root of ptxas, where the library would not find it: that of a checkout, as for the command, or NVIDIA's Python
    packages, unless the user's settings lead to another."""
    if any(os.environ.get(name) for name in ("CUDA_ROOT", "CUDA_HOME", "CUDA_PATH")):
        return None
    file = library_file()
    above = [folder / ".tools" / "cuda" for folder in file.resolve().parents] if file else []
    roots = [folder for folder in above if os.access(folder / "bin" / "ptxas", os.X_OK)]
    if not roots and shutil.which("ptxas") is None:
        roots = [folder.parent for folder in nvidia_folders()]
    return os.fsencode(roots[0]) if roots else None
