"""A GPU through the driver API, as provided by the package cuda-bindings.

Every allocation is surrounded by red zones: 256 bytes filled with a pattern, which a kernel that writes outside its
arrays is likely to hit. They are checked after each launch.

Some errors are *sticky*: an illegal address, for example, destroys the context, and each later call fails with the
same code. `DeviceError.fatal` reports that to the caller. Only a new process can continue.
"""
from __future__ import annotations

import contextlib
import ctypes
import importlib
import os
import sys
import tempfile
from typing import Any, Iterator, Sequence

import numpy as np

from . import dtypes
from .device import Device, DeviceError, Image, Outcome, Schedule, Timed
from .launches import MAP_ELEMENTS, Argument, Array, ArrayList, Buffer, Bytes, Launch, Scalar, TensorMap, arrays

RED = 256
RED_BYTE = 0xC3
# Initial size of the memory for small launches.
ARENA = 4 << 20
# Four times the L2 of an H200.
FLUSH = 256 << 20

ATTRIBUTES = {
    "sms": "MULTIPROCESSOR_COUNT", "clock_khz": "CLOCK_RATE", "memory_clock_khz": "MEMORY_CLOCK_RATE", "memory_bus_bits": "GLOBAL_MEMORY_BUS_WIDTH",
    "l2_bytes": "L2_CACHE_SIZE", "major": "COMPUTE_CAPABILITY_MAJOR", "minor": "COMPUTE_CAPABILITY_MINOR", "ecc": "ECC_ENABLED",
    "shared_per_block": "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN", "shared_per_sm": "MAX_SHARED_MEMORY_PER_MULTIPROCESSOR",
}


# Name of the device of the stand-in for the driver (gpu/driver): it runs kernels, but its times are invented.
SIMULATED = "ptx-sim"


class CudaDevice(Device):
    name = "cuda"
    measures = True

    def __init__(self, driver: str = "cuda.bindings.driver"):
        try:
            self.cu = importlib.import_module(driver)
        except ImportError as e:
            raise DeviceError("tool", f"the package cuda-bindings is missing: {e}") from e
        cu = self.cu
        try:
            self.call("cuInit", 0)
        except RuntimeError as e:  # the package raises this if there is no libcuda
            raise DeviceError("tool", f"no CUDA driver: {e}") from e
        self.device = self.call("cuDeviceGet", 0)
        self.context = self.call("cuDevicePrimaryCtxRetain", self.device)
        self.call("cuCtxSetCurrent", self.context)
        self.flusher: Any = None
        self._arena: tuple[Any, int] | None = None
        self.model = self.call("cuDeviceGetName", 128, self.device).split(b"\0")[0].decode()
        self.measures = not self.model.startswith(SIMULATED)
        self.stream = self.call("cuStreamCreate", cu.CUstream_flags.CU_STREAM_NON_BLOCKING)

    # ------------------------------------------------------------ calls

    def call(self, function: str, *arguments: Any, what: str = "run", where: str = "") -> Any:
        """Calls the driver. Returns its result: nothing, a value, or a tuple. Raises an error unless the call
        succeeds."""
        result = getattr(self.cu, function)(*arguments)
        code = result[0]
        if int(code) != 0:
            raise self._error(code, what, where or function)
        return result[1] if len(result) == 2 else result[1:]

    def _error(self, code: Any, what: str, where: str) -> DeviceError:
        name = getattr(code, "name", str(code))
        detail = name
        error, text = self.cu.cuGetErrorString(code)
        if int(error) == 0 and text:
            detail = text.decode() if isinstance(text, bytes) else str(text)
        return DeviceError(what, detail, where=where, code=int(code), code_name=name, fatal=not self.healthy())

    def healthy(self) -> bool:
        """Whether the context still works."""
        context = getattr(self, "context", None)
        return context is None or int(self.cu.cuCtxSynchronize()[0]) == 0

    def facts(self) -> dict[str, Any]:
        cu, found = self.cu, {}
        for key, name in ATTRIBUTES.items():
            # Releases of the package differ in the attributes that they define.
            attribute = getattr(cu.CUdevice_attribute, "CU_DEVICE_ATTRIBUTE_" + name, None)
            if attribute is not None:
                found[key] = self.call("cuDeviceGetAttribute", attribute, self.device)
        return {
            "model": self.model,
            "driver_api": self.call("cuDriverGetVersion"),
            "memory_bytes": self.call("cuDeviceTotalMem", self.device),
            "bindings": getattr(sys.modules.get("cuda.bindings"), "__version__", ""),
            "measures": self.measures,
            **found,
        }

    # ------------------------------------------------------------ launches

    def run(self, image: Image, launch: Launch) -> Outcome:
        return self.run_through(image, launch, "cuLaunchKernel")

    def run_through(self, image: Image, launch: Launch, api: str) -> Outcome:
        """Runs a launch through one of the APIs in `kit.launch_abi.APIS`."""
        extended = api == "cuLaunchKernelEx"
        with (LoadedLibrary if "library" in api else Loaded)(self, image) as module, Memory(self) as memory:
            function = module.function(launch.entry, launch.dynamic_shared)
            parameters = Parameters(memory, launch.args)
            if launch.cold:
                self.clear_caches()
            self.synchronize()
            with captured_output() as printed:
                for _ in range(launch.launches):
                    self.launch(function, launch, parameters, extended=extended)
                self.synchronize()
            found = parameters.read(memory, launch.args)
            memory.check_red_zones()
            return Outcome(found, printed.text)

    def run_small(self, image: bytes, launch: Launch, prints: bool) -> Outcome:
        """Copies all buffers to the device at once, and back at once, because calls of the driver dominate the cost
        of such a launch."""
        buffers = [a.data for a in launch.args if isinstance(a, Buffer)]
        places, size = [], RED
        for data in buffers:
            places.append(size)
            size += -(-data.nbytes // RED) * RED + RED
        there = np.full(size, RED_BYTE, np.uint8)
        for at, data in zip(places, buffers):
            there[at:at + data.nbytes] = data
        base = self.arena(size)
        addresses = iter(places)
        parameters = ReadyParameters([a.data if isinstance(a, Bytes) else (int(base) + next(addresses)).to_bytes(8, "little") for a in launch.args])
        with LoadedBytes(self, image, launch.entry or "") as module:
            function = module.function(launch.entry)
            self.call("cuMemcpyHtoD", base, there.ctypes.data, size, what="memory", where="buffers")
            with captured_output() if prints else contextlib.nullcontext() as printed:
                # The stream that copies are ordered with.
                self.launch(function, launch, parameters, stream=self.cu.CUstream(0))
                self.synchronize()
            self.call("cuMemcpyDtoH", there.ctypes.data, base, size, where="kernel")
        ends = [*places[1:], size]
        zones = [(0, RED, 0, -RED), *((at + data.nbytes, end, i, data.nbytes) for i, (at, data, end) in enumerate(zip(places, buffers, ends)))]
        for begin, end, i, offset in zones:
            hit = np.flatnonzero(there[begin:end] != RED_BYTE)
            if hit.size:
                raise red_zone(hit.size, int(hit[0]) + offset, buffers[i].nbytes if buffers else 0, f"buffer {i}")
        found = iter([there[at:at + data.nbytes].copy() for at, data in zip(places, buffers)])
        return Outcome([[next(found)] if isinstance(a, Buffer) else [] for a in launch.args], printed.text if printed else "")

    def run_together(self, image: Image, launches: Sequence[Launch], streams: int, graph: bool) -> list[Outcome]:
        with contextlib.ExitStack() as stack:
            module, memory = stack.enter_context(Loaded(self, image)), stack.enter_context(Memory(self, share=True))
            work = [(module.function(one.entry, one.dynamic_shared), one, Parameters(memory, one.args)) for one in launches]
            lanes = stack.enter_context(Lanes(self, min(streams, len(work)) if not graph else len(work)))
            self.clear_caches()
            # Copies from pageable memory may still be in flight, and these streams do not wait for them.
            self.synchronize()
            if graph:
                with lanes.captured(work) as executable:
                    self.call("cuGraphLaunch", executable, self.stream, what="launch")
                    self.synchronize()
            else:
                lanes.launch(work)
                self.synchronize()
            found = [Outcome(parameters.read(memory, launch.args)) for _, launch, parameters in work]
            memory.check_red_zones()
            return found

    def run_chain(self, image: Image, launches: Sequence[Launch], graph: bool) -> list[Outcome]:
        with contextlib.ExitStack() as stack:
            module, memory = stack.enter_context(Loaded(self, image)), stack.enter_context(Memory(self, share=True))
            work = [(module.function(one.entry, one.dynamic_shared), one, Parameters(memory, one.args)) for one in launches]
            # Copies from pageable memory may still be in flight, and this stream does not wait for them.
            self.synchronize()
            if graph:
                executable = stack.enter_context(Graph(self, work, len(work))).executable
                self.call("cuGraphLaunch", executable, self.stream, what="launch")
            else:
                for item in work:
                    self.launch(*item)
            self.synchronize()
            found = [Outcome(parameters.read(memory, launch.args)) for _, launch, parameters in work]
            memory.check_red_zones()
            return found

    def arena(self, size: int) -> Any:
        """Memory for small launches, which run one at a time."""
        if self._arena is None or self._arena[1] < size:
            if self._arena is not None:
                self.call("cuMemFree", self._arena[0], what="memory", where="arena")
            room = max(size, ARENA)
            self._arena = (self.call("cuMemAlloc", room, what="memory", where="arena"), room)
        return self._arena[0]

    def launch(self, function: Any, launch: Launch, parameters: "Parameters", stream: Any = None, extended: bool = False) -> None:
        """Enqueues one launch. The image's own CTA size is not known here, so the launch must specify it."""
        if launch.block is None:
            raise DeviceError("arguments", "the launch does not specify the number of threads of a CTA")
        cu, stream = self.cu, self.stream if stream is None else stream
        attributes = []
        if launch.cluster is not None:
            value = cu.CUlaunchAttributeValue()
            value.clusterDim.x, value.clusterDim.y, value.clusterDim.z = launch.cluster
            attributes.append((cu.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, value))
        if launch.dependent:
            value = cu.CUlaunchAttributeValue()
            value.programmaticStreamSerializationAllowed = 1
            attributes.append((cu.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION, value))
        if not attributes and not extended:
            self.call("cuLaunchKernel", function, *launch.grid, *launch.block, launch.dynamic_shared, stream, parameters.address, 0, what="launch")
            return
        config = cu.CUlaunchConfig()
        config.gridDimX, config.gridDimY, config.gridDimZ = launch.grid
        config.blockDimX, config.blockDimY, config.blockDimZ = launch.block
        config.sharedMemBytes, config.hStream = launch.dynamic_shared, stream
        config.attrs, config.numAttrs = [self._attribute(*a) for a in attributes], len(attributes)
        self.call("cuLaunchKernelEx", config, function, parameters.address, 0, what="launch")

    def _attribute(self, which: Any, value: Any) -> Any:
        attribute = self.cu.CUlaunchAttribute()
        attribute.id, attribute.value = which, value
        return attribute

    def clear_caches(self) -> None:
        """Fills memory larger than L2, which evicts the arguments."""
        if self.flusher is None:
            self.flusher = self.call("cuMemAlloc", FLUSH, what="memory", where="flush")
        self.call("cuMemsetD8", self.flusher, 0, FLUSH, what="memory", where="flush")

    def synchronize(self) -> None:
        self.call("cuCtxSynchronize", where="kernel")

    def time(self, contenders: Sequence[tuple[Image, list[Launch]]], schedule: Schedule) -> list[Timed]:
        """Replays a graph for each contender alternately, with events around each replay."""
        with contextlib.ExitStack() as stack:
            memory = stack.enter_context(Memory(self, share=True))
            graphs, prepared = [], []
            for image, launches in contenders:
                module = stack.enter_context(Loaded(self, image))
                work = [(module.function(one.entry, one.dynamic_shared), one, Parameters(memory, one.args)) for one in launches]
                # Copies from pageable memory may still be in flight, and this stream does not wait for them.
                self.synchronize()
                for item in work:
                    self.launch(*item)
                self.synchronize()
                graphs.append(stack.enter_context(Graph(self, work, schedule.per_graph)))
                prepared.append(work)
            first, last = (self.call("cuEventCreate", self.cu.CUevent_flags.CU_EVENT_DEFAULT) for _ in range(2))
            times: list[list[float]] = [[] for _ in graphs]
            for i in range(schedule.warm + schedule.replays):
                for graph, mine in zip(graphs, times):
                    self.call("cuEventRecord", first, self.stream)
                    self.call("cuGraphLaunch", graph.executable, self.stream, what="launch")
                    self.call("cuEventRecord", last, self.stream)
                    self.call("cuEventSynchronize", last, where="kernel")
                    if i >= schedule.warm:
                        mine.append(self.call("cuEventElapsedTime", first, last) * 1e3 / schedule.per_graph)
            for event in (first, last):
                self.call("cuEventDestroy", event)
            memory.check_red_zones()
            return [Timed(mine, [parameters.read(memory, launch.args) for _, launch, parameters in work])
                    for mine, work in zip(times, prepared)]

    def close(self) -> None:
        self.cu.cuDevicePrimaryCtxRelease(self.device)


class Loaded:
    """A loaded module."""

    def __init__(self, device: CudaDevice, image: Image):
        self.device = device
        if image.cubin is None or not image.cubin.is_file():
            raise DeviceError("image", "there is no cubin of this kernel", where=str(image.cubin))
        # The driver reads the image from this buffer.
        self.data = image.cubin.read_bytes()
        self.module = device.call("cuModuleLoadData", self.data, what="load", where=image.cubin.name)

    def function(self, entry: str | None, dynamic_shared: int = 0) -> Any:
        if entry is None:
            raise DeviceError("symbol", "the launch does not name its entry")
        cu = self.device.cu
        function = self.device.call("cuModuleGetFunction", self.module, entry.encode(), what="symbol", where=entry)
        if dynamic_shared > 48 * 1024:
            attribute = cu.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
            self.device.call("cuFuncSetAttribute", function, attribute, dynamic_shared, what="arguments", where=entry)
        return function

    def __enter__(self) -> "Loaded":
        return self

    def __exit__(self, kind, error, trace) -> None:
        # After a sticky error this fails too. The first error is the one to report.
        self.device.cu.cuModuleUnload(self.module)


class LoadedBytes(Loaded):
    """A module whose image is in memory."""

    def __init__(self, device: CudaDevice, image: bytes, name: str):
        self.device, self.data = device, image
        self.module = device.call("cuModuleLoadData", image, what="load", where=name)


class Graph:
    """A graph of `count` launches that cycles through the prepared ones."""

    def __init__(self, device: CudaDevice, work: Sequence[tuple[Any, Launch, "Parameters"]], count: int):
        self.device, cu = device, device.cu
        device.call("cuStreamBeginCapture", device.stream, cu.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_THREAD_LOCAL, what="launch")
        for i in range(count):
            device.launch(*work[i % len(work)])
        self.graph = device.call("cuStreamEndCapture", device.stream, what="launch")
        self.executable = device.call("cuGraphInstantiate", self.graph, 0, what="launch")

    def __enter__(self) -> "Graph":
        return self

    def __exit__(self, kind, error, trace) -> None:
        self.device.cu.cuGraphExecDestroy(self.executable)
        self.device.cu.cuGraphDestroy(self.graph)


class Lanes:
    """Streams that start after all previous work of the device's own stream, which then waits for them."""

    def __init__(self, device: CudaDevice, count: int):
        self.device, cu = device, device.cu
        self.streams = [device.call("cuStreamCreate", cu.CUstream_flags.CU_STREAM_NON_BLOCKING) for _ in range(count)]
        flags = cu.CUevent_flags.CU_EVENT_DISABLE_TIMING
        self.begin, *self.ends = (device.call("cuEventCreate", flags) for _ in range(count + 1))

    def launch(self, work: Sequence[tuple[Any, Launch, "Parameters"]]) -> None:
        """Enqueues launches on the streams in turn. None starts before all are enqueued, if filling memory takes long
        enough."""
        device = self.device
        device.call("cuMemsetD8Async", device.flusher, 0, FLUSH, device.stream, what="memory", where="flush")
        device.call("cuEventRecord", self.begin, device.stream)
        for stream in self.streams:
            device.call("cuStreamWaitEvent", stream, self.begin, 0)
        for i, (function, one, parameters) in enumerate(work):
            device.launch(function, one, parameters, stream=self.streams[i % len(self.streams)])
        for stream, end in zip(self.streams, self.ends):
            device.call("cuEventRecord", end, stream)
            device.call("cuStreamWaitEvent", device.stream, end, 0)

    @contextlib.contextmanager
    def captured(self, work: Sequence[tuple[Any, Launch, "Parameters"]]) -> Iterator[Any]:
        """As `launch`, captured as a graph that is ready to be launched."""
        device, cu = self.device, self.device.cu
        device.call("cuStreamBeginCapture", device.stream, cu.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_THREAD_LOCAL, what="launch")
        self.launch(work)
        graph = device.call("cuStreamEndCapture", device.stream, what="launch")
        executable = device.call("cuGraphInstantiate", graph, 0, what="launch")
        try:
            yield executable
        finally:
            cu.cuGraphExecDestroy(executable)
            cu.cuGraphDestroy(graph)

    def __enter__(self) -> "Lanes":
        return self

    def __exit__(self, kind, error, trace) -> None:
        for event in (self.begin, *self.ends):
            self.device.cu.cuEventDestroy(event)
        for stream in self.streams:
            self.device.cu.cuStreamDestroy(stream)


class LoadedLibrary(Loaded):
    """A loaded library: the newer API, which cuTile uses."""

    def __init__(self, device: CudaDevice, image: Image):
        self.device = device
        if image.cubin is None or not image.cubin.is_file():
            raise DeviceError("image", "there is no cubin of this kernel", where=str(image.cubin))
        self.data = image.cubin.read_bytes()
        self.module = device.call("cuLibraryLoadData", self.data, [], [], 0, [], [], 0, what="load", where=image.cubin.name)

    def function(self, entry: str | None, dynamic_shared: int = 0) -> Any:
        if entry is None:
            raise DeviceError("symbol", "the launch does not name its entry")
        kernel = self.device.call("cuLibraryGetKernel", self.module, entry.encode(), what="symbol", where=entry)
        return self.device.call("cuKernelGetFunction", kernel, what="symbol", where=entry)

    def __exit__(self, kind, error, trace) -> None:
        self.device.cu.cuLibraryUnload(self.module)


class Memory:
    """Allocations of launches, each between red zones. With `share`, views of one array share one allocation."""

    def __init__(self, device: CudaDevice, share: bool = False):
        self.device, self.share = device, share
        self.known: dict[int, tuple[np.ndarray, int]] = {}
        self.blocks: list[tuple[Any, int, str]] = []

    def __enter__(self) -> "Memory":
        return self

    def __exit__(self, kind, error, trace) -> None:
        for base, _, _ in self.blocks:
            self.device.cu.cuMemFree(base)

    def allocate(self, size: int, name: str) -> int:
        """The address of `size` bytes, aligned to 256."""
        device = self.device
        room = -(-size // RED) * RED
        base = device.call("cuMemAlloc", room + 2 * RED, what="memory", where=name)
        device.call("cuMemsetD8", base, RED_BYTE, room + 2 * RED, what="memory", where=name)
        self.blocks.append((base, size, name))
        return int(base) + RED

    def place(self, data: np.ndarray, name: str) -> int:
        if self.share:
            # Views of one array at one address count as that array. A reference to the array keeps its identity
            # valid.
            key = data.ctypes.data
            if key in self.known and self.known[key][0].nbytes == data.nbytes:
                return self.known[key][1]
        address = self._copy(data, name)
        if self.share:
            self.known[data.ctypes.data] = (data, address)
        return address

    def _copy(self, data: np.ndarray, name: str) -> int:
        data = np.ascontiguousarray(data)
        address = self.allocate(data.nbytes, name)
        if data.nbytes:
            self.device.call("cuMemcpyHtoD", self._at(address), data.ctypes.data, data.nbytes, what="memory", where=name)
        return address

    def read(self, address: int, like: np.ndarray) -> np.ndarray:
        found = np.empty(like.shape, like.dtype)
        if found.nbytes:
            self.device.call("cuMemcpyDtoH", found.ctypes.data, self._at(address), found.nbytes, where="kernel")
        return found

    def check_red_zones(self) -> None:
        for base, size, name in self.blocks:
            for start, length in ((0, RED), (RED + size, -size % RED + RED)):
                zone = self.read(int(base) + start, np.empty(length, np.uint8))
                hit = np.flatnonzero(zone != RED_BYTE)
                if hit.size:
                    raise red_zone(hit.size, int(hit[0]) + start - RED, size, name)

    def _at(self, address: int) -> Any:
        return self.device.cu.CUdeviceptr(address)


def red_zone(count: int, at: int, size: int, name: str) -> DeviceError:
    """The error for a launch that wrote outside an array."""
    return DeviceError("result", f"{count} bytes outside the array were written, the first at offset {at} of {size}", where=name, code_name="RED_ZONE")


class Parameters:
    """The entry parameters of a launch in the driver's format: an array of pointers to values."""

    def __init__(self, memory: Memory, arguments: Sequence[Argument]):
        self.places: list[list[int]] = []
        self.values: list[Any] = []
        for i, argument in enumerate(arguments):
            self.places.append(self._add(memory, argument, f"argument {i}"))
        self._point()

    def _point(self) -> None:
        self._pointers = (ctypes.c_void_p * max(1, len(self.values)))(*(ctypes.addressof(v) for v in self.values))

    @property
    def address(self) -> int:
        return ctypes.addressof(self._pointers)

    def read(self, memory: Memory, arguments: Sequence[Argument]) -> list[list[np.ndarray]]:
        """The current contents of the arguments."""
        return [arrays(argument) if getattr(argument, "constant", False) else [memory.read(where, a) for where, a in zip(places, arrays(argument))]
                for places, argument in zip(self.places, arguments)]

    def _push(self, data: bytes, align: int = 8) -> None:
        room = ctypes.create_string_buffer(len(data) + align)
        start = -ctypes.addressof(room) % align
        value = (ctypes.c_char * len(data)).from_buffer(room, start)
        value.raw = data
        self.values.append(value)

    def _word(self, value: int, size: int = 8) -> None:
        self._push((value % (1 << 8 * size)).to_bytes(size, "little"))

    def _add(self, memory: Memory, a: Argument, name: str) -> list[int]:
        if isinstance(a, Scalar):
            self._push(a.bytes())
            return []
        if isinstance(a, Bytes):
            self._push(a.data, 64)
            return []
        if isinstance(a, Buffer):
            address = memory.place(a.data, name)
            self._word(address)
            return [address]
        if isinstance(a, Array):
            address = memory.place(a.data, name)
            self._word(address)
            for n in a.sizes():
                self._word(n, dtypes.size(a.index))
            return [address]
        if isinstance(a, ArrayList):
            places = [memory.place(x.data, f"{name}[{n}]") for n, x in enumerate(a.items)]
            words = [w for address, x in zip(places, a.items) for w in (address, *x.sizes())]
            self._word(memory.place(np.array(words, np.uint64), f"{name}: descriptors"))
            self._word(len(places), 4)
            return places
        address = memory.place(a.data, name)
        self._push(tensor_map(memory.device, a, address, name), 64)
        return [address]


class ReadyParameters(Parameters):
    """Parameters that are already bytes."""

    def __init__(self, values: Sequence[bytes]):
        self.places, self.values = [], [ctypes.create_string_buffer(value, len(value)) for value in values]
        self._point()


def tensor_map(device: CudaDevice, a: TensorMap, address: int, name: str = "") -> bytes:
    """The 128 bytes of a tensor map, encoded by the driver."""
    cu = device.cu
    wide, narrow = cu.cuuint64_t, cu.cuuint32_t
    # The driver requires an array of strides even if a tensor has one dimension and so none.
    strides = [wide(n) for n in a.strides or [16]]
    found = device.call(
        "cuTensorMapEncodeTiled", cu.CUtensorMapDataType(MAP_ELEMENTS.index(a.element)), len(a.dims), address,
        [wide(n) for n in a.dims], strides, [narrow(n) for n in a.box], [narrow(n) for n in a.steps or [1] * len(a.dims)],
        cu.CUtensorMapInterleave.CU_TENSOR_MAP_INTERLEAVE_NONE, cu.CUtensorMapSwizzle(a.swizzle),
        cu.CUtensorMapL2promotion.CU_TENSOR_MAP_L2_PROMOTION_NONE,
        cu.CUtensorMapFloatOOBfill(["zero", "nan"].index(a.fill)), what="arguments", where=name)
    return ctypes.string_at(int(found.getPtr()), 128)


class captured_output:
    """Captures file descriptor 1, where the driver writes the output of kernels."""

    text = ""

    def __enter__(self) -> "captured_output":
        sys.stdout.flush()
        self._file = tempfile.TemporaryFile()
        self._saved = os.dup(1)
        os.dup2(self._file.fileno(), 1)
        return self

    def __exit__(self, kind, error, trace) -> None:
        # The driver writes through the C library's buffer.
        ctypes.CDLL(None).fflush(None)
        os.dup2(self._saved, 1)
        os.close(self._saved)
        self._file.seek(0)
        self.text = self._file.read().decode(errors="replace")
        self._file.close()
