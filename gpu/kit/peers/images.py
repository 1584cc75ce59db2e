"""Cubins as competitors: loaded by the driver, launched on PyTorch's stream with PyTorch's memory."""
from __future__ import annotations

import ctypes
import dataclasses
import functools
import itertools
import pathlib
from typing import Any, Sequence

from ..device import DeviceError, Image
from ..cuda_device import CudaDevice, Loaded, LoadedLibrary
from .backend import Contender
from .problem import Entry, Grid, Number
from .problems import blocks, config
from .tensors import Tensors

# An image with a larger error was launched incorrectly. Whether the result is accurate enough is decided later.
CLEARLY_WRONG = 0.05


class Kernel:
    """A loaded entry. Tries the newer API first, which clients use and the vendor's images may require."""

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
        # Memory that only parameters point to.
        self.kept: list[Any] = []
        for value in values:
            if isinstance(value, Number):
                self.cells.append(ctypes.c_float(value.value) if value.dtype == "f32"
                                  else ctypes.c_int32(int(value.value)))
            elif isinstance(value, list):
                self.kept.append(descriptors(value))
                self.cells += [ctypes.c_void_p(self.kept[-1].data_ptr()), ctypes.c_int32(len(value))]
            else:
                self.cells.append(ctypes.c_void_p(value.data_ptr()))
                self.cells += [ctypes.c_int32(n) for n in (*value.shape, *value.stride())]
        self._pointers = (ctypes.c_void_p * len(self.cells))(*(ctypes.addressof(c) for c in self.cells))

    @property
    def address(self) -> int:
        return ctypes.addressof(self._pointers)


def descriptors(tensors: Sequence[Any]) -> Any:
    """The representation of a list of arrays in memory: 64-bit words with address, extents and strides of each."""
    import torch
    words = [[t.data_ptr(), *t.shape, *t.stride()] for t in tensors]
    return torch.tensor(words, dtype=torch.int64, device=tensors[0].device)


@dataclasses.dataclass
class Launch:
    """A step of a case, ready to launch: block, grid, and parameters for each input set."""
    kernel: Kernel
    grid: Grid
    block: Grid
    arguments: list[Packed]


def contender(device: CudaDevice, pack: pathlib.Path, e: Entry, t: Tensors, others: dict[str, Entry]) -> Contender:
    """Loads an image and the images of its later steps, and determines how to launch them: the first way with a
    correct result is used. `others` are the images of the same compiler by name."""
    sms = t.torch.cuda.get_device_properties(0).multi_processor_count
    ways: list[list[Launch]] = []
    for step in t.problem.steps(e, sms):
        image = e if step.entry == e["name"] else others[step.entry]
        kernel = Kernel(device, Image(cubin=pack / image["cubin"]), image["symbol"])
        packed = [Packed([values[name] for name in step.parameters]) for values in map(t.arguments, t.sets)]
        ways.append([Launch(kernel, grid, block, packed) for block in blocks(image) for grid in step.grids])
    tried: list[str] = []
    refused: DeviceError | None = None
    for launches in itertools.product(*ways):
        how = ", ".join(f"block {launch.block[0]} grid {launch.grid[0]}" for launch in launches)
        t.poison()
        try:
            run(t, launches, 0)
            device.call("cuCtxSynchronize", where="kernel")
        except DeviceError as e_launch:
            if e_launch.fatal:
                raise
            refused = e_launch
            tried.append(f"{how}: {e_launch.code_name}")
            continue
        error = t.error(t.out)
        tried.append(f"{how}: error {error:.2g}")
        if error < CLEARLY_WRONG:
            return _ready(e, t, launches, tried)
    if refused and len(tried) == 1:
        raise refused
    raise DeviceError("result", "; ".join(tried), where=e["name"], code_name="NO_WAY_TO_LAUNCH")


def run(t: Tensors, launches: Sequence[Launch], inputs: int) -> None:
    """Runs all steps on one input set. If kernels add to the result, it is filled with zeros first, which is part of
    the work."""
    if t.problem.clears:
        t.out.zero_()
    for launch in launches:
        launch.kernel.launch(launch.grid, launch.block, launch.arguments[inputs])


def _ready(e: Entry, t: Tensors, launches: Sequence[Launch], tried: list[str]) -> Contender:
    launchers = [functools.partial(run, t, launches, n) for n in range(len(t.sets))]
    who = {"vendor": "tileiras-vendor"}.get(e["who"], e["who"])
    about = {"sha256": e["sha256"][:16], "grid": list(launches[0].grid), "block": list(launches[0].block),
             "tried": tried}
    return Contender(who, config(e), launchers, lambda: t.out, t.poison, about)
