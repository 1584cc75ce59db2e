#!/usr/bin/env python3
"""Runs the micro-kernels through the timing model, and compares their figures with those of a machine.

    python3 gpu/predict_micro.py [--only TEXT] [--results FILE] [--out PAGE] [--tile-run FILE] [--jobs N]

The same PTX, launches, lengths and fits as on hardware (README.md beside this file), with clocks from `tile-run --timing`. Prints a
table; with --out also a page. A machine's file says which of its numbers came from which figure: those are marked, since the model was
given them. Exit status 1 where a variant could not be predicted.
"""
from __future__ import annotations

import argparse
import concurrent.futures
import dataclasses
import json
import math
import os
import pathlib
import re
import statistics
import sys
import tempfile
from typing import Any, Iterator

GPU = pathlib.Path(__file__).resolve().parent
ROOT = GPU.parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(GPU))
sys.path += [str(ROOT / ".tools" / "python")]

from kit import summary  # noqa: E402
from kit.device import DeviceError, Image, Schedule  # noqa: E402
from kit.micro import ptx  # noqa: E402
from kit.micro.registry import ALL  # noqa: E402
from kit.micro.spec import Contender, Reading, Setup, Variant  # noqa: E402
from kit.model_device import ModelDevice  # noqa: E402

# How far from what was measured a figure may be, as a share of it.
NEAR = 0.1


def predict_variant(device: ModelDevice, image: Image, variant: Variant) -> dict[str, float]:
    setup = Setup(device.sms, True)
    readings = []
    for length in variant.lengths:
        launch = variant.launch(setup, length)
        arrays = device.run(image, launch).arrays
        complaint = variant.check(setup, length, launch, arrays)
        if complaint:
            raise DeviceError("result", complaint)
        readings.append(Reading(length, arrays[variant.out][0]))
    return variant.derive(readings)


def predict_contender(device: ModelDevice, image: Image, contender: Contender) -> dict[str, float]:
    setup = Setup(device.sms, True)
    [timed] = device.time([(image, contender.launches(setup))], Schedule())
    return {contender.figure.name: contender.value(setup, timed.microseconds[0])}


def work(only: str, device: ModelDevice, folder: pathlib.Path) -> Iterator[tuple[str, str, object]]:
    """Name of each micro-kernel and variant, and what predicts it."""
    for m in ALL.values():
        path = folder / f"{m.id}.ptx"
        path.write_text(ptx.module(m.entries()))
        image = Image(ptx=path)
        for v in m.variants():
            if only in f"{m.id} {v.name}":
                yield m.id, v.name, lambda v=v, image=image: predict_variant(device, image, v)
        for c in (c for group in m.contenders() for c in group):
            if only in f"{m.id} {c.name}":
                yield m.id, c.name, lambda c=c, image=image: predict_contender(device, image, c)


@dataclasses.dataclass(frozen=True)
class Row:
    micro: str
    figure: str
    predicted: float
    measured: float
    unit: str

    @property
    def ratio(self) -> float:
        """Predicted over measured; 1 where both are nothing."""
        if self.measured == 0:
            return 1.0 if self.predicted == 0 else math.inf
        return self.predicted / self.measured

    @property
    def is_near(self) -> bool:
        return abs(self.ratio - 1) <= NEAR


def numbers(machine: str) -> dict[str, dict[str, Any]]:
    """What the model knows of a machine, with sources."""
    return json.loads((ROOT / "src" / "machine" / "data" / f"{machine}.json").read_text())["values"]


def given(machine: str) -> set[str]:
    """Figures that numbers of the machine's file were taken from."""
    sources = (number["source"] for number in numbers(machine).values())
    return {figure for source in sources if source.startswith("run: ") for figure in re.findall(r"[a-z_0-9]+(?:\.[a-z_0-9]+)+", source)}


def page(rows: list[Row], failed: list[tuple[str, str, str]], machine: str, results: pathlib.Path) -> str:
    known = given(machine)
    near = sum(r.is_near for r in rows)
    unknown = [r for r in rows if r.figure not in known]
    out = [f"# Micro-kernels, predicted and measured: {results.stem}", "",
           f"{near} of {len(rows)} figures of the [micro-kernels](../gpu/README.md#micro-kernels) are predicted within {NEAR:.0%}; of the",
           f"{len(unknown)} that no number of the model was taken from, {sum(r.is_near for r in unknown)}. Made by `python3 gpu/predict_micro.py --out docs/timing-micro.md`; what the",
           "figures show of the model is in [timing.md](timing.md#micro-kernels).", "",
           "| | question | figures | near | given | median ratio |", "|---|---|---|---|---|---|"]
    for m in ALL.values():
        own = [r for r in rows if r.micro == m.id]
        if own:
            middle = statistics.median(r.ratio for r in own)
            out.append(f"| {m.id} | {m.title} | {len(own)} | {sum(r.is_near for r in own)} | {sum(r.figure in known for r in own)} | {middle:.2f} |")
    out += ["", "*Given*: a number of the machine's file was taken from this figure.", "",
            "| | figure | unit | measured | predicted | ratio | |", "|---|---|---|---|---|---|---|"]
    for r in rows:
        mark = " ".join((["given"] if r.figure in known else []) + ([] if r.is_near else ["**off**"]))
        out.append(f"| {r.micro} | `{r.figure}` | {r.unit} | {r.measured:.4g} | {r.predicted:.4g} | {r.ratio:.2f} | {mark} |")
    if failed:
        out += ["", "Not predicted:", ""] + [f"* {m}, `{name}`: {why}" for m, name, why in failed]
    return "\n".join(out) + "\n"


def latest(machine: str) -> pathlib.Path:
    """The newest figures of the device that a machine's file describes."""
    device = json.loads((ROOT / "src" / "machine" / "data" / f"{machine}.json").read_text())["device"]
    found = sorted((GPU / "results").glob(f"{summary.slug(device)}-*.json"))
    if not found:
        raise OSError(f"no results of {device}")
    return found[-1]


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="variants whose name has this in it")
    parser.add_argument("--results", type=pathlib.Path, help="measured figures (default: the latest of that machine)")
    parser.add_argument("--tile-run", type=pathlib.Path, default=ROOT / "target" / "debug" / "tile-run")
    parser.add_argument("--machine", default="sm_90")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--out", type=pathlib.Path)
    args = parser.parse_args(arguments)
    try:
        args.results = args.results or latest(args.machine)
        measured = json.loads(args.results.read_text())["constants"]
        device = ModelDevice(args.tile_run, args.machine, numbers(args.machine)["sm.count"]["value"])
    except (OSError, DeviceError) as error:
        print(f"predict_micro.py: {error}", file=sys.stderr)
        return 2
    rows, failed = [], []
    with tempfile.TemporaryDirectory(prefix="micro-") as scratch, concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        jobs = [(m, name, pool.submit(predict)) for m, name, predict in work(args.only, device, pathlib.Path(scratch))]
        for m, name, job in jobs:
            try:
                found = job.result()
            except DeviceError as error:
                failed.append((m, name, error.detail))
                print(f"{name}: {error}", file=sys.stderr, flush=True)
                continue
            for figure, value in found.items():
                have = measured.get(figure)
                if have is None:
                    continue
                rows.append(Row(m, figure, value, have["value"], have["unit"]))
                print(m, figure, f"{value:.6g}", f"{have['value']:.6g}", have["unit"], f"{rows[-1].ratio:.2f}", sep="\t", flush=True)
    if args.out:
        args.out.write_text(page(rows, failed, args.machine, args.results))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
