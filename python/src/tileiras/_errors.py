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

    @property
    def place(self) -> str:
        """The location as it precedes a message."""
        return _place({"file": self.file, "line": self.line, "column": self.column})

    def __str__(self) -> str:
        return f"{self.place}{self.severity}: {self.message}" + "".join(f"\n  note: {note}" for note in self.notes)


def _place(location: dict[str, object]) -> str:
    """A location before a message. Unknown lines and columns are 0 or `None`."""
    parts = [location.get(key) for key in ("file", "line", "column")]
    return "".join(f"{part}:" for part in parts if part) + " " if parts[0] else ""


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


for _error in (Error, ConfigurationError, InputError, ToolError, CompileError, LaunchError):
    # The public name, in tracebacks and in pickles.
    _error.__module__ = "tileiras"

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
        notes = tuple(_place(note.get("location") or {}) + note["message"] for note in read.get("notes") or ())
        found.append(Diagnostic(read.get("severity", "error"), read.get("message", ""), read.get("code"), place.get("file"),
                                place.get("line") or None, place.get("column") or None, notes))
    return tuple(found)


def of_status(status: int, said: str) -> Error:
    """The exception for a command that exited with `status` and wrote `said` to standard error."""
    all_said = diagnostics(said)
    errors = [d for d in all_said if d.severity == "error"] or list(all_said)
    text = "\n".join(map(str, errors)) or f"the compiler exited with status {status}"
    return of_kind(status, text, all_said)


def of_kind(status: int, text: str, said: tuple[Diagnostic, ...]) -> Error:
    """The exception for an exit status of the command."""
    return _BY_STATUS.get(status, CompileError)(text, said)
