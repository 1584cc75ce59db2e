"""Exceptions, selected by the exit status of the command."""
from __future__ import annotations

import dataclasses
import json


@dataclasses.dataclass(frozen=True)
class Diagnostic:
    """A message of the compiler. Lines and columns start at 1. An unknown location is `None`."""

    severity: str
    message: str
    code: str | None = None
    file: str | None = None
    line: int | None = None
    column: int | None = None
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}:{self.column}: " if self.file else ""
        return f"{place}{self.severity}: {self.message}" + "".join(f"\n  note: {note}" for note in self.notes)


class Error(Exception):
    """A failed call. `diagnostics` contains the compiler's messages, including warnings."""

    def __init__(self, message: str, diagnostics: tuple[Diagnostic, ...] = ()) -> None:
        super().__init__(message)
        self.diagnostics = diagnostics


class ConfigurationError(Error):
    """An argument is invalid, or a file cannot be read or written."""


class InputError(Error):
    """The input is not a valid Tile IR program."""


class ToolError(Error):
    """ptxas or a program of this package is missing."""


class CompileError(Error):
    """The compilation failed, or the compiler crashed."""


class LaunchError(Error):
    """The simulator or the interpreter rejected the launch or found an error in it: an out-of-bounds access, a race, a failed assertion."""


_BY_STATUS: dict[int, type[Error]] = {1: ConfigurationError, 2: ConfigurationError, 3: InputError, 4: ToolError}


def diagnostics(said: str) -> tuple[Diagnostic, ...]:
    """Parses the output of `--diagnostic-format=json`. Other lines come from other programs and become notes."""
    found = []
    for line in said.splitlines():
        try:
            read = json.loads(line)
        except ValueError:
            read = None
        if not isinstance(read, dict):
            if line.strip():
                found.append(Diagnostic("note", line))
            continue
        place = read.get("location") or {}
        notes = tuple(note["message"] if isinstance(note, dict) else str(note) for note in read.get("notes") or ())
        found.append(Diagnostic(read.get("severity", "error"), read.get("message", ""), read.get("code"), place.get("file"),
                                place.get("line"), place.get("column"), notes))
    return tuple(found)


def of_status(status: int, said: str) -> Error:
    """The exception for a command that exited with `status` and wrote `said` to standard error."""
    all_said = diagnostics(said)
    errors = [d for d in all_said if d.severity == "error"] or list(all_said)
    text = "\n".join(map(str, errors)) or f"the compiler exited with status {status}"
    return _BY_STATUS.get(status, CompileError)(text, all_said)
