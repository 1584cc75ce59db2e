"""Results: one JSON object per line, written as soon as it is available.

Every line has `record` (its kind), `t` (seconds since the run began) and `device`. The kinds:

    run          the measured system: command, pack, driver, clocks; the first line
    case         one piece of work: status pass, fail, error, timeout or skipped
    launch_abi   one way to launch one cubin, and the outcome
    tensor_copy  one TMA access at given coordinates, and the outcome
    measurement  one figure with its spread
    telemetry    clocks and power over a span of time
    end          the last line of a complete run

The reader drops and counts lines that an interrupted run left incomplete.
"""
from __future__ import annotations

import datetime
import json
import pathlib
import time
from typing import Any, Iterator

Record = dict[str, Any]

SCHEMA = 1

STATUSES = ("pass", "fail", "error", "timeout", "skipped")

# Fields that every record of a kind has in addition to `record`, `t` and `device`.
REQUIRED: dict[str, tuple[str, ...]] = {
    "run": ("schema", "command", "started"),
    "case": ("part", "name", "status"),
    "launch_abi": ("variant", "block", "api", "outcome"),
    "tensor_copy": ("op", "element", "at", "outcome"),
    "measurement": ("part", "name", "impl", "unit", "median", "low", "high", "n"),
    "telemetry": ("samples",),
    "end": ("elapsed", "counts"),
}

# The description of a failed piece of work.
FAILURE = ("what", "where", "code", "code_name", "detail")


def problems(record: Record) -> list[str]:
    """The problems of a record; empty if it is valid."""
    kind = record.get("record")
    if kind not in REQUIRED:
        return [f"unknown kind {kind!r}"]
    found = [f"{kind}: '{key}' is missing" for key in ("t", "device", *REQUIRED[kind]) if key not in record]
    status = record.get("status")
    if kind == "case" and status is not None:
        if status not in STATUSES:
            found.append(f"case: status {status!r}")
        elif status not in ("pass", "skipped") and "what" not in record:
            found.append(f"case: status {status} without 'what'")
    if kind == "measurement" and not found and not record["low"] <= record["median"] <= record["high"]:
        found.append("measurement: the median is outside its range")
    return found


class BadRecord(ValueError):
    """A record that lacks required fields."""


class Log:
    """The results file of a run."""

    def __init__(self, path: pathlib.Path, device: str):
        self.path = path
        self.device = device
        self.begun = time.monotonic()
        self.counts: dict[str, int] = {}
        self._file = open(path, "a", encoding="utf-8")

    def write(self, record: Record) -> Record:
        """Completes a record, checks it, and writes it immediately."""
        full: Record = {"record": record["record"], "t": round(time.monotonic() - self.begun, 3), "device": self.device}
        full.update(record)
        found = problems(full)
        if found:
            raise BadRecord("; ".join(found))
        self._file.write(json.dumps(full, separators=(",", ":"), default=_plain) + "\n")
        self._file.flush()
        status = str(full.get("status", full["record"]))
        self.counts[status] = self.counts.get(status, 0) + 1
        return full

    def close(self) -> None:
        self._file.close()


def _plain(value: Any) -> Any:
    """Converts NumPy's numbers to Python's."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} cannot be represented in JSON")


def read(path: pathlib.Path) -> tuple[list[Record], int]:
    """The records of a file with their line numbers, and the number of lines that are not JSON."""
    records, bad = [], 0
    for number, line in enumerate(lines(path), 1):
        try:
            record = json.loads(line)
        except json.JSONDecodeError:
            bad += 1
            continue
        if isinstance(record, dict):
            records.append({**record, "line": number})
        else:
            bad += 1
    return records, bad


def lines(path: pathlib.Path) -> Iterator[str]:
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            if line.strip():
                yield line


def now() -> str:
    return datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
