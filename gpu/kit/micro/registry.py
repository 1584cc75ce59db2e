"""All micro-kernels, by their names in the protocol."""
from __future__ import annotations

from . import atomics, cpasync, descriptors, epilogue, pipes, roles, roof, rows, start, sync, tma, wgmma
from .spec import Micro

ALL: dict[str, Micro] = {m.id: m for m in (
    wgmma.M1, wgmma.M2, tma.M3, tma.M4, sync.M5, descriptors.M6, cpasync.M7, roof.M8, pipes.M9, rows.M10, epilogue.M11, roles.M12,
    atomics.M13, start.M14)}
