"""One run, from its first record to its last."""
from __future__ import annotations

import argparse
import json
import pathlib
import platform
import sys
import time
from typing import Any

from . import assemble, images, summary
from .records import SCHEMA, Log, Record, now, read
from .supervisor import Supervisor
from .telemetry import Telemetry
from .work import Item


def run(args: argparse.Namespace, items: list[Item], started: float) -> int:
    """Does the work and writes the results. Returns the exit status: 0 success, 1 some work failed, 3 no device."""
    args.out.mkdir(parents=True, exist_ok=True)
    log = Log(args.out / "results.jsonl", args.device)
    telemetry = Telemetry(args.out / "telemetry.jsonl", args.device == "cuda")
    config = {"device": args.device, "pack": str(args.pack.resolve()), "out": str(args.out.resolve()), "tile_run": str(args.tile_run.resolve()), "adversarial": args.adversarial,
              "deadline": started + args.budget}
    log.write({"record": "run", "schema": SCHEMA, "command": " ".join(["run.py", *sys.argv[1:]]), "started": now(), "pack": about(args),
               "python": platform.python_version(), "machine": telemetry.facts(), "planned": len(items)})

    def annotate(record: Record) -> Record:
        """Adds the clocks during a measurement to its record."""
        return {**record, **telemetry.since(record.get("began"))} if record["record"] == "measurement" else record

    if args.device == "cuda":
        take_images(args.pack, log, config, args.out)
    budget = args.budget - (time.monotonic() - started)
    supervisor = Supervisor(log, config, args.out, budget, annotate)
    try:
        supervisor.run(items)
    finally:
        telemetry.close()
        if supervisor.facts:
            log.write({"record": "telemetry", "samples": telemetry.samples, "facts": supervisor.facts, **telemetry.whole()})
        log.write({"record": "end", "elapsed": round(time.monotonic() - started, 1), "counts": log.counts})
        log.close()
    records, _ = read(log.path)
    text = summary.table(records)
    (args.out / "summary.txt").write_text(text)
    print(text, end="")
    if args.device == "cuda":
        summary.write_constants(records, args.out)
    if supervisor.facts is None:
        return 3
    return 1 if any(log.counts.get(status) for status in ("fail", "error", "timeout")) else 0


def take_images(pack: pathlib.Path, log: Log, config: dict[str, Any], out: pathlib.Path) -> None:
    """Tests whether the driver accepts the images of the pack. If not, assembles their PTX on this machine."""
    probe = images.items(pack)
    if not probe:
        return
    Supervisor(log, config, out, 60.0).run(probe)
    records, _ = read(log.path)
    last = next(r for r in reversed(records) if r["record"] == "case" and r["part"] == "images")
    if last["status"] == "pass" or last.get("what") != "load":
        return
    ptxas = assemble.find_ptxas()
    if ptxas is None:
        log.write({"record": "case", "part": "images", "name": "reassembled", "status": "skipped", "what": "tool", "detail": "no ptxas on this machine"})
        return
    copy, problems = assemble.reassemble(pack, ptxas)
    log.write({"record": "case", "part": "images", "name": "reassembled", "status": "pass", "ptxas": str(ptxas), "problems": len(problems), "first": problems[:5]})
    config["pack"] = str(copy)


def about(args: argparse.Namespace) -> dict[str, Any]:
    """The description of the pack."""
    path = args.pack / "pack.json"
    return json.loads(path.read_text()) if path.is_file() else {}
