"""Runs micro-kernels on a device and converts their readings to figures.

On hardware each figure becomes a `measurement` record with its prediction. On the simulator the same launches run
with few steps and only results are checked, because its clock counts instructions.
"""
from __future__ import annotations

import json
import pathlib
from typing import Any

from ..device import DeviceError, Image, Schedule
from ..stats import Summary, summary
from ..work import Context, Item
from .registry import ALL
from .spec import Contender, Figure, Reading, Setup, Variant

# Duration of one variant on hardware: three lengths, five times each, with copies.
SECONDS = 0.4


def items(pack: pathlib.Path, only: str = "") -> list[Item]:
    """One piece of work for each variant and for each group of contenders."""
    path = pack / "micro" / "index.json"
    if not path.is_file():
        return []
    images = json.loads(path.read_text())
    found = []
    for m in ALL.values():
        for v in m.variants():
            if only in f"{m.id} {v.name}":
                found.append(Item("micro", v.name, {"micro": m.id, "variant": v.name, "image": images[m.id]}, m.priority, SECONDS, 30))
        for n, group in enumerate(m.contenders()):
            names = " ".join(c.name for c in group)
            if only in f"{m.id} {names}":
                payload = {"micro": m.id, "group": n, "image": images[m.id]}
                found.append(Item("micro", group[0].name, payload, m.priority, 2.0, 60))
    return found


def handle(context: Context, payload: dict[str, Any]) -> None:
    micro, pack = ALL[payload["micro"]], pathlib.Path(context.config["pack"])
    image = Image(*(pack / payload["image"][key] for key in ("cubin", "ptx")))
    about = {"micro": micro.id, "sha256": payload["image"]["sha256"][:16]}
    device = context.device
    setup = Setup(device.facts().get("sms", 2), True) if device.measures else Setup(2, False)
    if "variant" in payload:
        variant = next(v for v in micro.variants() if v.name == payload["variant"])
        run_variant(context, image, setup, variant, about)
    else:
        run_group(context, image, setup, micro.contenders()[payload["group"]], about)


def run_variant(context: Context, image: Image, setup: Setup, variant: Variant, about: dict[str, Any]) -> None:
    lengths = variant.lengths if setup.full else variant.short
    launches = [(n, variant.launch(setup, n)) for n in lengths]
    samples: dict[str, list[float]] = {f.name: [] for f in variant.figures}
    # The first repetition is a warm-up for the figures, but its results are checked too.
    for repetition in range(variant.repeats + 1 if setup.full else 1):
        readings = []
        for length, launch in launches:
            context.stage("run", f"length {length}")
            arrays = context.device.run(image, launch).arrays
            complaint = variant.check(setup, length, launch, arrays)
            if complaint:
                context.case("fail", what="result", where=f"length {length}", detail=complaint, **about)
                return
            readings.append(Reading(length, arrays[variant.out][0]))
        if setup.full and repetition:
            for name, value in variant.derive(readings).items():
                samples[name].append(value)
    context.case("pass", lengths=list(lengths), **about)
    for figure in variant.figures:
        if samples[figure.name]:
            measurement(context, figure, summary(samples[figure.name]), variant.name, about)


def run_group(context: Context, image: Image, setup: Setup, group: list[Contender], about: dict[str, Any]) -> None:
    work = [(image, c.launches(setup)) for c in group]
    if not setup.full:
        for c, (_, launches) in zip(group, work):
            for launch in launches:
                context.stage("run", c.name)
                complaint = c.check(setup, launch, context.device.run(image, launch).arrays)
                context.case("fail" if complaint else "pass", c.name, **({"what": "result", "detail": complaint} if complaint else {}), **about)
        return
    context.stage("time", group[0].name)
    per_graph = 100 if len(work[0][1]) == 1 else 10
    timed = context.device.time(work, Schedule(per_graph=per_graph))
    for c, (_, launches), found in zip(group, work, timed):
        complaint = next((x for x in (c.check(setup, launch, a) for launch, a in zip(launches, found.arrays)) if x), None)
        if complaint:
            context.case("fail", c.name, what="result", detail=complaint, **about)
            continue
        context.case("pass", c.name, **about)
        # A rate falls as the time rises; the summary swaps its ends.
        measurement(context, c.figure, summary(found.microseconds).map(lambda us: c.value(setup, us)), c.name, about)


def measurement(context: Context, figure: Figure, s: Summary, variant: str, about: dict[str, Any]) -> None:
    if not context.device.measures:
        raise DeviceError("kit", "clocks of a device that does not measure are not results")
    context.record({
        "record": "measurement", "part": "micro", "name": figure.name, "impl": variant, "unit": figure.unit, **s.fields(),
        "predicted": figure.predicted, "predicted_low": figure.low, "predicted_high": figure.high, "why": figure.why,
        "as_predicted": figure.low <= s.median <= figure.high, **about})
