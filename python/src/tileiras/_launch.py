"""Launches as `tile-run` reads them: a description with files for the arrays, and results that return to the arrays."""
from __future__ import annotations

import json
import pathlib
import re
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any

from ._arrays import ELEMENTS, Array, array, is_array, shares_memory
from ._errors import ConfigurationError, LaunchError, of_status
from ._kernels import Scalar, is_kernel, launched, scalar_type

Grid = int | Sequence[int]

SCALARS = {"int32": "i32", "int64": "i64", "float32": "f32", "bool_": "u8"}
"""The types of Python's numbers in Tile IR."""

POINTERS = "to pass only the pointer of an array"
"""Part of the message for a kernel that takes fewer parameters than arrays with extents and strides pass."""


class Launch:
    """The files of a launch in a folder of its own. Use it in a `with` statement, which removes the folder."""

    def __init__(self, source: Any, args: Sequence[Any], grid: Grid | None) -> None:
        self.exact = is_kernel(source)
        """Whether the types of all arguments are known. Otherwise they follow the program's."""
        self.grid = [] if grid is None else [grid] if isinstance(grid, int) else [int(n) for n in grid]
        if grid is not None and not 1 <= len(self.grid) <= 3:
            raise ConfigurationError(f"the grid has {len(self.grid)} extents, but 1 to 3 are possible")
        values = launched(source, args) if self.exact else [(f"args[{i}]", value, None) for i, value in enumerate(args)]
        self.names = [name for name, _, _ in values]
        self.values = [value for _, value, _ in values]
        self.annotations = [annotation for _, _, annotation in values]
        """The rules of cuTile for the types of numbers."""
        self.arrays: list[list[tuple[str, Array]]] = []
        """For each argument its arrays, with their names."""
        for name, value, _ in values:
            if isinstance(value, list):
                self.arrays.append([(f"{name}[{i}]", array(part, f"{name}[{i}]")) for i, part in enumerate(value)])
            else:
                self.arrays.append([(name, array(value, name))] if is_array(value) else [])
        self._scratch = tempfile.TemporaryDirectory(prefix="tileiras-")
        self.folder = pathlib.Path(self._scratch.name)
        self.pointers = False
        self.wide: set[int] = set()
        self.types: dict[int, str] = {}
        for number, arrays in enumerate(self.arrays):
            for i, (_, read) in enumerate(arrays):
                read.write(self.folder / self._file(number, i))

    def __enter__(self) -> Launch:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._scratch.cleanup()

    def describe(self, entry: str | None = None) -> pathlib.Path:
        """Writes the description, and returns its file."""
        described: dict[str, Any] = {"args": [self._argument(n) for n in range(len(self.values))]}
        if self.grid:
            described["grid"] = self.grid + [1] * (3 - len(self.grid))
        if entry is not None:
            described["entry"] = entry
        file = self.folder / "launch.json"
        file.write_text(json.dumps(described))
        return file

    def call(self, command: Callable[[pathlib.Path], subprocess.CompletedProcess[str]], program: pathlib.Path,
             entry: str | None = None) -> str:
        """Calls `tile-run` with the description, again with other types where the program asks for them.

        Returns the text on standard output.
        """
        # Each repetition settles at least one argument, or that arrays are pointers.
        for _ in range(2 + len(self.values)):
            done = command(self.describe(entry))
            if done.returncode == 0 or self.exact or not self._adapt(done.stderr):
                break
        if done.returncode == 0:
            return done.stdout
        text = self.readable(done.stderr, program)
        if done.returncode in (1, 6, 7):
            raise LaunchError("\n".join(line.removeprefix("error: ") for line in text.splitlines()))
        raise of_status(done.returncode, text)

    def follow(self, other: Launch) -> None:
        """Passes arguments with the types that another launch has found."""
        self.pointers, self.wide, self.types = other.pointers, other.wide, other.types

    def read(self) -> None:
        """Copies the results to the caller's arrays."""
        every = [(name, read, read.load(self.folder / "out" / self._file(number, i)))
                 for number, arrays in enumerate(self.arrays) for i, (name, read) in enumerate(arrays)
                 if read.bits is not None]
        written = [(name, read, left) for name, read, left in every if read.differs(left)]
        for name, read, _ in written:
            if not read.writable:
                raise LaunchError(f"{name} is read-only, but the kernel wrote to it")
            other = next((n for n, r, _ in every if r is not read and shares_memory(read, r)), None)
            if other is not None:
                raise LaunchError(f"the kernel wrote to {name}, which shares memory with {other}, but in a simulated launch "
                                  "each array has memory of its own: pass a copy of one of them")
        for _, read, left in written:
            read.bits[...] = left

    def readable(self, text: str, program: pathlib.Path) -> str:
        """A message that names arguments as Python does, and no temporary file."""
        def named(found: re.Match[str]) -> str:
            number = int(found[1])
            return (self.names[number] if number < len(self.names) else f"args[{number}]") + (found[2] or "")

        text = re.sub(r"argument (\d+)(\[\d+\])? \([^()]*\)", named, text)
        text = re.sub(r"; write (\w+):VALUE", r'; pass tileiras.Scalar("\1", VALUE)', text)
        if program.parent == self.folder:
            text = text.replace(str(program), "kernel")
        return text.replace(f"{self.folder}/", "")

    def _file(self, number: int, i: int) -> str:
        return f"arg{number}_{i}.npy"

    def _argument(self, number: int) -> dict[str, Any]:
        value, arrays = self.values[number], [read for _, read in self.arrays[number]]
        described = [self._described(number, i, read) for i, read in enumerate(arrays)]
        if isinstance(value, list):
            return {"list": described}
        if described:
            return described[0]
        if isinstance(value, Scalar):
            return {value.type: str(value.value)}
        kind = self.types.get(number)
        if kind is None and not self.exact and hasattr(value, "__index__") and not -2**31 <= int(value) < 2**31:
            kind = "i64"
        kind = kind or SCALARS[scalar_type(self.names[number], value, self.annotations[number])]
        return {kind: str(int(value)) if kind[0] in "iu" else repr(float(value))}

    def _described(self, number: int, i: int, read: Array) -> dict[str, Any]:
        if self.pointers:
            return {"buffer": self._file(number, i), "dtype": read.element}
        described = {"array": self._file(number, i), "dtype": read.element,
                     "index": "i64" if number in self.wide or self._is_large(read) else "i32"}
        if not read.is_dense():
            described |= {"strides": list(read.strides), "extents": list(read.shape)}
        return described

    def _is_large(self, read: Array) -> bool:
        return any(n >= 2**31 for n in (*read.shape, *read.strides))

    def _adapt(self, said: str) -> bool:
        """Follows the types of the program's parameters, as far as this loses nothing. Returns whether anything changed."""
        if POINTERS in said and not self.pointers:
            self.pointers = True
            return True
        wide = re.search(r"argument (\d+) .* is i32, but the parameter is i64; write FILE\.npy:i64", said)
        if wide and int(wide[1]) not in self.wide:
            self.wide.add(int(wide[1]))
            return True
        other = re.search(r"argument (\d+) \(a scalar\) is \w+, but the parameter is (\w+)", said)
        if other and int(other[1]) not in self.types and not isinstance(self.values[int(other[1])], Scalar):
            number, kind = int(other[1]), other[2]
            whole = hasattr(self.values[number], "__index__")
            if kind in ELEMENTS.values() and (whole or kind[0] not in "iu"):
                self.types[number] = kind
                return True
        return False
