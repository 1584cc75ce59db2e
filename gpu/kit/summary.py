"""Summarizes a run as a short text for the end of its output, and the machine's constants as a data file."""
from __future__ import annotations

import json
import pathlib
import re
from typing import Any, Iterable

from .records import Record


def table(records: list[Record]) -> str:
    """The whole summary. Failures come last, where they are visible."""
    parts = [head(records), abi(records), tensor_copies(records), micro(records), dependent(records), peers(records), failures(records), counts(records)]
    return "\n".join(p for p in parts if p) + "\n"


def head(records: list[Record]) -> str:
    run = next((r for r in records if r["record"] == "run"), {})
    machine, pack = run.get("machine", {}), run.get("pack", {})
    what = f"{machine.get('name', run.get('device', '?'))}, driver {machine.get('driver_version', '?')}"
    return f"{what}; pack {pack.get('digest', '?')} of {pack.get('revision', '?')}; {run.get('started', '?')}"


def columns(rows: Iterable[Iterable[Any]]) -> str:
    """Rows in aligned columns."""
    texts = [[str(c) for c in row] for row in rows]
    if not texts:
        return ""
    widths = [max(len(row[i]) for row in texts if i < len(row)) for i in range(max(map(len, texts)))]
    return "\n".join("  ".join(c.ljust(w) for c, w in zip(row, widths)).rstrip() for row in texts)


def number(value: float) -> str:
    """Formats a number with four digits."""
    return f"{value:.4g}" if abs(value) < 10000 else f"{value:.0f}"


def abi(records: list[Record]) -> str:
    rows = [r for r in records if r["record"] == "launch_abi"]
    if not rows:
        return ""
    found: dict[tuple[str, int], dict[str, str]] = {}
    for r in rows:
        outcome = r["outcome"] + (f" ({r.get('code_name') or r.get('what')})" if r["outcome"] == "refused" else "")
        found.setdefault((r["variant"], r["block"][0]), {})[r["api"]] = outcome
    lines = [["launch ABI: variant", "block", "outcome"]]
    for (variant, block), outcomes in found.items():
        different = set(outcomes.values())
        text = different.pop() if len(different) == 1 else "; ".join(f"{api}: {o}" for api, o in outcomes.items())
        lines.append([variant, str(block), text])
    return columns(lines)


def tensor_copies(records: list[Record]) -> str:
    rows = [r for r in records if r["record"] == "tensor_copy"]
    if not rows:
        return ""
    lines = [["tensor copies", "element", "starts aligned to 16 bytes", "starts elsewhere"]]
    for op, element in dict.fromkeys((r["op"], r["element"]) for r in rows):
        mine = [r for r in rows if (r["op"], r["element"]) == (op, element)]
        lines.append([op, element, *(tally([r for r in mine if r["aligned"] == aligned]) for aligned in (True, False))])
    return columns(lines)


def tally(rows: list[Record]) -> str:
    """The number of each outcome, and the coordinates of the launches that are not right."""
    found: dict[str, list[list[int]]] = {}
    for r in rows:
        found.setdefault(r["outcome"], []).append(r["at"])
    return "; ".join(f"{len(at)} {outcome}" + ("" if outcome == "right" or len(at) == len(rows) else f" at {at}") for outcome, at in found.items())


def micro(records: list[Record]) -> str:
    rows = [r for r in records if r["record"] == "measurement" and r["part"] == "micro"]
    if not rows:
        return ""
    missed = [r for r in rows if not r["as_predicted"]]
    lines = [[f"micro: {len(rows)} figures, {len(missed)} outside the predicted range", "measured", "predicted", "unit"]]
    lines += [[r["name"], number(r["median"]), f"{number(r['predicted'])} ({number(r['predicted_low'])} to {number(r['predicted_high'])})", r["unit"]]
              for r in missed]
    return columns(lines)


def dependent(records: list[Record]) -> str:
    rows = [r for r in records if r["record"] == "measurement" and r["part"] == "dependent"]
    lines = [["dependent launches", "how", "median", "low", "high", "unit"]] if rows else []
    lines += [[r["name"], r["impl"], number(r["median"]), number(r["low"]), number(r["high"]), r["unit"]] for r in rows]
    return columns(lines)


def best(records: list[Record]) -> dict[tuple[str, str], Record]:
    """The best correct figure of each competitor in each case of the peers, from precise runs if there are any."""
    found: dict[tuple[str, str], Record] = {}
    for r in records:
        if r["record"] != "measurement" or r["part"] != "peers":
            continue
        key = (r["name"], r["impl"])
        have = found.get(key)
        rank = (bool(r.get("precise")), r["median"] if r["unit"] != "us" else -r["median"])
        if have is None or rank > (bool(have.get("precise")), have["median"] if have["unit"] != "us" else -have["median"]):
            found[key] = r
    return found


def peers(records: list[Record]) -> str:
    found = best(records)
    lines = [["peers: case", "who", "best", "unit", "spread", "with"]] if found else []
    for (name, impl), r in found.items():
        spread = (r["q3"] - r["q1"]) / r["median"] if r.get("median") else 0
        lines.append([name, impl, number(r["median"]), r["unit"], f"{100 * spread:.1f} %", r.get("config", "")])
    return columns(lines)


def failures(records: list[Record]) -> str:
    bad = [r for r in records if r["record"] == "case" and r["status"] in ("fail", "error", "timeout")]
    lines = [[r["status"].upper(), f"{r['part']}/{r['name']}", r.get("what", ""), f"{r.get('code_name') or ''} {r.get('detail') or ''}".strip()[:110]]
             for r in bad[:60]]
    if len(bad) > 60:
        lines.append(["...", f"and {len(bad) - 60} more"])
    return columns(lines)


def counts(records: list[Record]) -> str:
    found: dict[str, dict[str, int]] = {}
    for r in records:
        if r["record"] == "case":
            part = found.setdefault(r["part"], {})
            part[r["status"]] = part.get(r["status"], 0) + 1
    end = next((r for r in reversed(records) if r["record"] == "end"), None)
    parts = "; ".join(f"{part}: {', '.join(f'{n} {s}' for s, n in sorted(c.items()))}" for part, c in found.items())
    took = f"{end['elapsed']:.0f} s" if end else "cut off"
    return f"{parts or 'nothing was done'}; {took}"


def slug(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def constants(records: list[Record]) -> dict[str, Any]:
    """The machine's constants in the format of the machine model."""
    run = next((r for r in records if r["record"] == "run"), {})
    whole = next((r for r in reversed(records) if r["record"] == "telemetry"), {})
    found = {}
    for r in records:
        if r["record"] == "measurement" and r["part"] == "micro" and r["device"] == "cuda":
            found[r["name"]] = {
                "value": r["median"], "unit": r["unit"], "low": r["low"], "high": r["high"], "n": r["n"],
                "predicted": r["predicted"], "predicted_low": r["predicted_low"], "predicted_high": r["predicted_high"],
                "as_predicted": r["as_predicted"], "why_predicted": r["why"], "by": r["micro"], "variant": r["impl"], "binary": r["sha256"]}
    return {"schema": 1, "machine": run.get("machine", {}), "device": whole.get("facts", {}), "clocks": whole.get("clocks", {}),
            "started": run.get("started"), "command": run.get("command"), "pack": run.get("pack", {}), "constants": found}


def write_constants(records: list[Record], out: pathlib.Path) -> pathlib.Path | None:
    """Writes `MACHINE-DATE.json`, if there are any constants."""
    data = constants(records)
    if not data["constants"]:
        return None
    name = data["machine"].get("name") or data["device"].get("model", "gpu")
    path = out / f"{slug(name)}-{(data['started'] or '')[:10]}.json"
    path.write_text(json.dumps(data, indent=1) + "\n")
    return path
