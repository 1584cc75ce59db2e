"""The competitors' pieces of work, one for each case. On the simulator our images run small cases instead, to test
packing and grids."""
from __future__ import annotations

import pathlib

from ..work import Item
from .problems import KINDS, entries, fits, is_without, problems

# Before, between and after the micro-kernels, whose priorities start at 40.
PRIORITY = {1: 30, 2: 43, 3: 50, 4: 55}


def items(pack: pathlib.Path, device: str, only: str = "", tiers: tuple[int, ...] = (1, 2, 3, 4)) -> list[Item]:
    if not (pack / "peers" / "index.json").is_file():
        return []
    if device == "sim":
        return [Item("peers", e["name"], {"entry": e}, 50, 0.5, 60) for e in entries(pack)
                if e["who"] == "ours" and e["kind"] in KINDS and not e["same_as"] and only in e["name"]]
    return [Item("peers", p.name, {"case": p.name}, PRIORITY[p.tier], p.seconds, 3 * p.seconds + 30, "torch", True)
            for p in problems() if p.tier in tiers and only in p.name]


def steps(pack: pathlib.Path, device: str, only: str = "") -> list[Item]:
    """Cases of the first tiers for which there are images without a step. They run last."""
    images = [e for e in entries(pack) if is_without(e) and not e.get("same_as")]
    if device == "sim":
        return [Item("peers", f"{e['name']} {e['who']}", {"entry": e}, 60, 0.5, 60) for e in images if only in e["name"]]
    cases = [p for p in problems() if p.tier in (1, 2) and only in p.name and any(fits(e, p) for e in images)]
    return [Item("peers", f"steps {p.name}", {"case": p.name, "steps": True}, 60, p.seconds, 3 * p.seconds + 30, "torch", True)
            for p in cases]
