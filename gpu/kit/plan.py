"""The pieces of work and their order.

First come the tests of clients' launches and of correctness, which take seconds. The first tier of competitors and
the micro-kernels that the machine model needs most follow, and then the rest of both as time permits.
"""
from __future__ import annotations

import pathlib

from . import concurrent_launches, correctness, dependent_launches, launch_abi, programs, tensor_copies
from .micro import run as micro
from .peers import plan as peers
from .work import Item

# Families are the competitors' cases of the last tier: attention and matmuls as used in models and serving systems.
# Each step of our compiler is disabled once.
PARTS = ("launch-abi", "correctness", "concurrent", "dependent", "programs", "micro", "peers", "families", "steps",
         "tensor-copies")


def items(pack: pathlib.Path, what: str, device: str, levels: tuple[int, ...] = (3, 0), only: str = "") -> list[Item]:
    found: list[Item] = []
    if what in ("all", "launch-abi"):
        found += launch_abi.items(pack, only)
    if what in ("all", "correctness"):
        found += correctness.items(pack, levels, only)
    if what in ("all", "concurrent"):
        found += concurrent_launches.items(pack, only)
    if what in ("all", "dependent"):
        found += dependent_launches.items(pack, only)
    if what in ("all", "programs"):
        found += programs.items(pack, device, only)
    if what in ("all", "micro"):
        found += micro.items(pack, only)
    if what in ("all", "peers"):
        found += peers.items(pack, device, only)
    if what == "families":
        found += peers.items(pack, device, only, tiers=(4,))
    if what in ("all", "steps"):
        found += peers.steps(pack, device, only)
    if what in ("all", "tensor-copies"):
        found += tensor_copies.items(pack, only)
    return found
