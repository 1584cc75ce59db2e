"""Cubins as competitors: loaded by the driver, launched on PyTorch's stream with PyTorch's memory."""
from __future__ import annotations

import ctypes
import functools
import math
import pathlib
from typing import Any, Sequence

from ..device import DeviceError, Image
from ..cuda_device import CudaDevice, Loaded, LoadedLibrary
from .backend import Contender
from .problems import Entry, Problem, blocks, config, grids
from .tensors import Tensors


class Kernel:
    """A loaded entry. The newer loading first: it is what clients use, and the vendor's images may want it."""

    def __init__(self, device: CudaDevice, image: Image, symbol: str):
        self.device = device
        try:
            self.module: Loaded = LoadedLibrary(device, image)
        except DeviceError:
            self.module = Loaded(device, image)
        self.function = self.module.function(symbol)

    def launch(self, grid: Sequence[int], block: Sequence[int], arguments: "Packed") -> None:
        import torch
        stream = torch.cuda.current_stream().cuda_stream
        self.device.call("cuLaunchKernel", self.function, *grid, *block, 0, stream, arguments.address, 0, what="launch")


class Packed:
    """Entry parameters by the tile convention."""

    def __init__(self, values: Sequence[Any]):
        self.cells: list[Any] = []
        for value in values:
            if isinstance(value, float):
                self.cells.append(ctypes.c_float(value))
            else:
                self.cells.append(ctypes.c_void_p(value.data_ptr()))
                self.cells += [ctypes.c_int32(n) for n in (*value.shape, *value.stride())]
        self._pointers = (ctypes.c_void_p * len(self.cells))(*(ctypes.addressof(c) for c in self.cells))

    @property
    def address(self) -> int:
        return ctypes.addressof(self._pointers)


def arguments(p: Problem, inputs: Sequence[Any], out: Any) -> Packed:
    if p.kind == "attention":
        batch, heads, length, d = p.shape
        flat = [t.view(batch * heads, length, d) for t in (*inputs, out)]
        return Packed([*flat, 1 / math.sqrt(d)])
    return Packed([*inputs, out])


def contender(device: CudaDevice, pack: pathlib.Path, e: Entry, t: Tensors) -> Contender:
    """Loads an image and finds out how it wants to be launched: the first way whose result is right is taken."""
    p = t.problem
    kernel = Kernel(device, Image(cubin=pack / e["cubin"]), e["symbol"])
    packed = [arguments(p, inputs, t.out) for inputs in t.sets]
    sms = t.torch.cuda.get_device_properties(0).multi_processor_count
    tried: list[str] = []
    refused: DeviceError | None = None
    for block in blocks(e):
        for grid in grids(e, p, sms):
            t.poison()
            try:
                kernel.launch(grid, block, packed[0])
                device.call("cuCtxSynchronize", where="kernel")
            except DeviceError as e_launch:
                if e_launch.fatal:
                    raise
                refused = e_launch
                tried.append(f"block {block[0]} grid {grid[0]}: {e_launch.code_name}")
                continue
            error = t.error(t.out)
            tried.append(f"block {block[0]} grid {grid[0]}: error {error:.2g}")
            if error < 0.05:
                return _ready(kernel, e, t, grid, block, packed, tried)
    if refused and len(tried) == 1:
        raise refused
    raise DeviceError("result", "; ".join(tried), where=e["name"], code_name="NO_WAY_TO_LAUNCH")


def _ready(kernel: Kernel, e: Entry, t: Tensors, grid: Sequence[int], block: Sequence[int], packed: Sequence[Packed], tried: list[str]) -> Contender:
    launchers = [functools.partial(kernel.launch, grid, block, a) for a in packed]
    who = "tileiras-vendor" if e["who"] == "vendor" else "ours"
    about = {"sha256": e["sha256"][:16], "grid": list(grid), "block": list(block), "tried": tried}
    return Contender(who, config(e), launchers, lambda: t.out, t.poison, about)
