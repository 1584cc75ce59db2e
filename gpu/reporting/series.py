"""The curves: rates against size, taken from records."""
from __future__ import annotations

import dataclasses
import re

from kit import summary
from kit.records import Record

TITLES = {
    "peers.mm": "Matrix products, bf16, n = m = k",
    "peers.mm_depth": "Matrix products, bf16, 8192 x 8192 x k",
    "peers.attention": "Attention, bf16, d = 128",
    "peers.attention_causal": "Attention, bf16, d = 128, causal",
    "peers.softmax": "Softmax, bf16, 2^28 elements",
    "peers.layernorm": "Layer norm, bf16, 2^28 elements",
    "micro.load_latency": "TMA loads: latency",
    "micro.load_rate": "TMA loads: rate with four in flight",
    "micro.roof": "Matrix products beside a fill of shared memory",
    "micro.rows": "Reading rows",
}
AXES = {"peers.mm": ("n", "TFLOP/s"), "peers.mm_depth": ("k", "TFLOP/s"), "peers.attention": ("length", "TFLOP/s"), "peers.attention_causal": ("length", "TFLOP/s"),
        "peers.softmax": ("row", "GB/s"), "peers.layernorm": ("row", "GB/s"), "micro.load_latency": ("KB", "clk"), "micro.load_rate": ("KB", "B/clk/SM"),
        "micro.roof": ("fill in B/clk", "share of 2048 MAC/clk"), "micro.rows": ("KB", "GB/s")}


@dataclasses.dataclass(frozen=True)
class Point:
    x: float
    y: float
    low: float
    high: float


# By the name of a plot, then of a curve.
Curves = dict[str, dict[str, list[Point]]]


def peer_place(name: str) -> tuple[str, float] | None:
    """The plot and the size that a case of the peers belongs to."""
    m = re.fullmatch(r"mm bf16 (\d+)x(\d+)x(\d+) nt", name)
    if m:
        a, b, k = map(int, m.groups())
        if a == b == k:
            return "peers.mm", a
    if m and (int(m[1]), int(m[2])) == (8192, 8192):
        return "peers.mm_depth", int(m[3])
    m = re.fullmatch(r"attention bf16 b\d+ h\d+ d128 s(\d+)( causal)?", name)
    if m:
        return ("peers.attention_causal" if m[2] else "peers.attention"), int(m[1])
    m = re.fullmatch(r"(softmax|layernorm) bf16 \d+x(\d+)", name)
    return (f"peers.{m[1]}", int(m[2])) if m else None


# Patterns of constants: plot, and where size and curve stand in the name.
MICRO = [
    ("micro.load_latency", re.compile(r"tma\.load\.(?P<x>\d+)kb\.(?P<curve>\d+box\.\w+)\.latency")),
    ("micro.load_rate", re.compile(r"tma\.load\.(?P<x>\d+)kb\.(?P<curve>\w+\.\w+)\.rate")),
    ("micro.roof", re.compile(r"roof\.2wg\.(?P<curve>n\d+)\.fill(?P<x>\d+)\.one\.wgmma_share")),
    ("micro.rows", re.compile(r"rows\.(?P<x>\d+)kb\.(?P<curve>\w+)\.rate")),
]


def curves(records: list[Record]) -> Curves:
    """All curves with two points at least."""
    found: Curves = {}

    def add(plot: str, curve: str, x: float, r: Record) -> None:
        found.setdefault(plot, {}).setdefault(curve, []).append(Point(x, r["median"], r["low"], r["high"]))

    for (name, impl), r in summary.best(records).items():
        place = peer_place(name)
        if place:
            add(place[0], impl, place[1], r)
    for r in records:
        if r["record"] == "measurement" and r["part"] == "micro":
            for plot, pattern in MICRO:
                m = pattern.fullmatch(r["name"])
                if m:
                    add(plot, m["curve"], float(m["x"]), r)
    for lines in found.values():
        for points in lines.values():
            points.sort(key=lambda p: p.x)
    return {plot: c for plot, c in found.items() if any(len(points) > 1 for points in c.values())}
