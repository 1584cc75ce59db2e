"""The simulated device: `tile-run`, one process per launch."""
from __future__ import annotations

import dataclasses
import pathlib
import re
import subprocess
import tempfile
from typing import Any, Sequence

import numpy as np

from . import launches
from .device import Device, DeviceError, Image, Outcome, Schedule, Timed
from .launches import Argument, ArrayList, Bytes, Launch, Scalar, arrays

# The meaning of tile-run's exit statuses.
STATUSES = {1: ("arguments", "USAGE"), 3: ("load", "INVALID_KERNEL"), 5: ("load", "COMPILATION_FAILED"), 6: ("run", "LAUNCH_FAILED"),
            7: ("result", "WRONG_RESULT"), 8: ("tool", "WRITE_FAILED")}


class SimDevice(Device):
    name = "sim"
    measures = False

    def __init__(self, tile_run: pathlib.Path, adversarial: str | None = None):
        self.tile_run = tile_run
        self.options: tuple[str, ...] = ("--adversarial", adversarial) if adversarial else ()
        if not tile_run.is_file():
            raise DeviceError("tool", f"there is no {tile_run.name}: cargo build --bin tile-run", where=str(tile_run))

    def facts(self) -> dict[str, Any]:
        return {"model": "ptx-sim", "measures": False, "note": "a functional simulator: clocks and times are not measurements"}

    def run(self, image: Image, launch: Launch) -> Outcome:
        if image.ptx is None or not image.ptx.is_file():
            raise DeviceError("image", "there is no PTX of this kernel", where=str(image.ptx))
        with tempfile.TemporaryDirectory(prefix="tile-run-") as scratch:
            out = pathlib.Path(scratch, "out")
            printed = self._tile_run(image, launch, pathlib.Path(scratch), *self.options, "--out-dir", str(out))
            found = [[np.load(out / name, allow_pickle=False) for name in names] for names in launches.file_names(launch)]
            return Outcome(found, printed)

    def _tile_run(self, image: Image, launch: Launch, folder: pathlib.Path, *options: str) -> str:
        """The output of the tool for a launch, whose description is written to `folder`."""
        command = [str(self.tile_run), "--quiet", "--end-with-parent", *options, "--launch", str(launches.write(launch, folder)), str(image.ptx)]
        done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
        if done.returncode:
            raise self._error(done.returncode, done.stderr)
        return done.stdout

    def run_small(self, image: bytes, launch: Launch, prints: bool) -> Outcome:
        if image.startswith(b"\x7fELF"):
            raise DeviceError("image", "there is no PTX of this kernel")
        with tempfile.NamedTemporaryFile(prefix="tile-run-", suffix=".ptx") as file:
            file.write(image)
            file.flush()
            return self.run(Image(ptx=pathlib.Path(file.name)), launch)

    def run_together(self, image: Image, launches: Sequence[Launch], streams: int, graph: bool) -> list[Outcome]:
        # One after another, because only the correctness of each is tested.
        return [self.run(image, launch) for launch in launches]

    def run_chain(self, image: Image, launches: Sequence[Launch], graph: bool) -> list[Outcome]:
        # One process per launch, so shared contents are passed from each launch to the next explicitly.
        now: dict[int, np.ndarray] = {}
        outcomes = []
        for launch in launches:
            outcome = self.run(image, dataclasses.replace(launch, args=[with_data(a, now) for a in launch.args]))
            now |= {id(mine): found for a, all_found in zip(launch.args, outcome.arrays) for mine, found in zip(arrays(a), all_found)}
            outcomes.append(outcome)
        return [Outcome([[now[id(mine)] for mine in arrays(a)] for a in launch.args], outcome.printed)
                for launch, outcome in zip(launches, outcomes)]

    def time(self, contenders: Sequence[tuple[Image, list[Launch]]], schedule: Schedule) -> list[Timed]:
        raise DeviceError("launch", "the simulated device does not measure time")

    @staticmethod
    def _error(status: int, said: str) -> DeviceError:
        lines = [line for line in said.splitlines() if line.strip()]
        message = next((line.split("error: ", 1)[1] for line in lines if "error: " in line), lines[0] if lines else "no message")
        what, name = STATUSES.get(status, ("tool", f"STATUS_{status}"))
        if re.search(r"no entry '.*' in the kernel", message):
            what, name = "symbol", "NOT_FOUND"
        elif "entry parameters" in message:
            what = "arguments"
        return DeviceError(what, message[:400], code=status, code_name=name)


def with_data(argument: Argument, now: dict[int, np.ndarray]) -> Argument:
    """The argument with the current contents of its arrays, where they are known."""
    if isinstance(argument, ArrayList):
        return dataclasses.replace(argument, items=[with_data(a, now) for a in argument.items])
    if isinstance(argument, (Scalar, Bytes)):
        return argument
    return dataclasses.replace(argument, data=now.get(id(argument.data), argument.data))
