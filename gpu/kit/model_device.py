"""The timing model as a device: `tile-run --timing`, one process per launch. Kernels that read their clock see
predicted times.

Like the simulated device it does not measure, but its clocks are meaningful. The figures of micro-kernels can be
derived from them as on hardware, and compared with measurements of the modeled machine.
"""
from __future__ import annotations

import json
import pathlib
import tempfile
from typing import Any, Sequence

from .device import Image, Outcome, Schedule, Timed
from .launches import Launch
from .sim_device import SimDevice


class ModelDevice(SimDevice):
    name = "model"

    def __init__(self, tile_run: pathlib.Path, machine: str, sms: int):
        super().__init__(tile_run)
        self.options = (f"--timing={machine}", "--timing-run")
        self.machine, self.sms = machine, sms

    def facts(self) -> dict[str, Any]:
        return {"model": f"timing model of {self.machine}", "measures": False, "sms": self.sms}

    def run(self, image: Image, launch: Launch) -> Outcome:
        outcome = super().run(image, launch)
        # The output is the prediction.
        return Outcome(outcome.arrays)

    def time(self, contenders: Sequence[tuple[Image, list[Launch]]], schedule: Schedule) -> list[Timed]:
        """Predicted microseconds of each contender's first launch, without arrays, because nothing runs."""
        return [Timed([self._microseconds(image, found[0])], []) for image, found in contenders]

    def _microseconds(self, image: Image, launch: Launch) -> float:
        with tempfile.TemporaryDirectory(prefix="tile-run-") as scratch:
            report = pathlib.Path(scratch, "prediction.json")
            self._tile_run(image, launch, pathlib.Path(scratch), f"--timing={self.machine}", "--timing-json", str(report))
            return json.loads(report.read_text())["us"]
