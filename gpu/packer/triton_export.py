"""Writes Triton's kernels of all cases as PTX, without a device: `python3 gpu/packer/triton_export.py DIR [TEXT]`.

Needs Triton alone. Each variant becomes NAME.ptx and NAME.json, which says how it is launched. With TEXT, only variants
whose name contains it. The kit's own launches are made, but end where Triton would ask for a device, so that arguments
are specialised as in earnest. `cargo xtask predict --triton DIR` reads the folder.
"""
from __future__ import annotations

import json
import pathlib
import re
import sys
import types
from typing import Any

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT.parent / ".tools" / "python")]

import numpy as np  # noqa: E402

from kit.peers import problem  # noqa: E402

# What a program is compiled for.
CAPABILITY, SMS = 90, 132

# Types of elements as PyTorch names them.
NAMES = {"bf16": "bfloat16", "f16": "float16", "f32": "float32", "e4m3": "float8_e4m3fn", "i8": "int8", "u8": "uint8",
         "i32": "int32", "i64": "int64"}
# How predictions name them.
SHORT = {"f16": "fp16", "e4m3": "fp8", "i8": "int8", "i32": "int32"}
BYTES = {**problem.BYTES, "i64": 8}


class Type:
    """A type as PyTorch prints it: by that Triton knows it."""

    def __init__(self, name: str):
        self.name = name

    def __repr__(self) -> str:
        return f"torch.{NAMES[self.name]}"

    __str__ = __repr__


TYPES = {name: Type(name) for name in NAMES}


class Array:
    """A contiguous tensor without memory, but for `values` that count. Allocations of PyTorch are aligned to more than
    16 bytes."""

    def __init__(self, dtype: str, *shape: int, values: np.ndarray | None = None):
        self.dtype, self.shape, self.values, self.device = TYPES[dtype], shape, values, "none"

    def data_ptr(self) -> int:
        return 0

    def stride(self, i: int | None = None) -> Any:
        strides = [int(np.prod(self.shape[n + 1:], dtype=np.int64)) for n in range(len(self.shape))]
        return strides if i is None else strides[i]

    def fields(self) -> dict[str, Any]:
        size = BYTES[self.dtype.name]
        for n in self.shape:
            size *= n
        name = self.dtype.name
        found = {"kind": "array", "type": SHORT.get(name, name), "shape": list(self.shape), "bytes": size}
        return found if self.values is None else {**found, "values": self.values.ravel().tolist()}


def values(p: Any) -> dict[str, Any]:
    """The parameters of a case, as kit/peers/tensors.py makes them."""
    def array(a: problem.Array) -> Array:
        return Array(a.dtype, *a.shape, values=a.fill if isinstance(a.fill, np.ndarray) else None)

    def value(q: problem.Parameter) -> Any:
        if isinstance(q, problem.Number):
            return q
        return [array(a) for a in q.items] if isinstance(q, problem.Arrays) else array(q)

    return {q.name: value(q) for q in p.parameters()}


class Driver:
    """What Triton asks of a driver before it launches."""

    def __init__(self, target: Any):
        self.target = target

    def get_current_target(self) -> Any:
        return self.target

    def get_current_device(self) -> int:
        return 0

    def get_current_stream(self, device: int) -> int:
        return 0


def stand_in_for_torch() -> types.ModuleType:
    """The kit asks PyTorch how many multiprocessors there are."""
    torch = types.ModuleType("torch")
    torch.Tensor = Array
    torch.int64 = None
    torch.tensor = lambda words, dtype, device: Array("i64", len(words), len(words[0]))
    about = types.SimpleNamespace(multi_processor_count=SMS)
    torch.cuda = types.SimpleNamespace(get_device_properties=lambda device: about)
    return torch


class Launches:
    """In place of launches: compiles, and keeps what was to be launched: the first of a case, as others only put its
    results together."""

    def __init__(self) -> None:
        from triton.runtime.jit import JITFunction
        self.first: Any = None
        original = JITFunction.run

        def run(function: Any, *args: Any, grid: Any, warmup: bool, **kwargs: Any) -> Any:
            compiled = original(function, *args, grid=grid, warmup=True, **kwargs)
            self.first = self.first or (function, compiled, grid, args)
            return compiled

        JITFunction.run = run


def describe(function: Any, compiled: Any, grid: tuple[int, ...], args: tuple[Any, ...]) -> dict[str, Any]:
    """How the compiled kernel is launched: its arguments are those that are no constants, then memory that it asks
    for."""
    compiled = compiled.result() if hasattr(compiled, "result") else compiled
    metadata, ptx = compiled.metadata, compiled.asm["ptx"]
    signature = compiled.src.signature
    grid = (*grid, 1, 1)[:3]
    values: list[dict[str, Any]] = []
    for parameter, value in zip(function.params, args):
        kind = signature[parameter.name]
        if kind == "constexpr":
            continue
        values.append(value.fields() if isinstance(value, Array) else {"kind": kind, "value": value})
    programs = grid[0] * grid[1] * grid[2]
    values += [{"kind": "scratch", "bytes": size * programs} for size in (metadata.global_scratch_size,
                                                                          metadata.profile_scratch_size)]
    threads = re.search(r"\.(?:req|max)ntid (\d+)", ptx)
    if threads is None:
        raise ValueError("the PTX does not say how many threads a block has")
    return {"kernel": metadata.name, "grid": list(grid), "threads": int(threads.group(1)), "shared": metadata.shared,
            "args": values}


def main() -> int:
    out, only = pathlib.Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else ""
    sys.modules.setdefault("torch", stand_in_for_torch())
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.runtime import driver
    from kit.peers import problems, triton_peers
    from triton.backends.nvidia.compiler import CUDABackend
    driver.set_active(Driver(GPUTarget("cuda", CAPABILITY, 32)))
    # PTX is all that is wanted: assembling takes most of the time.
    CUDABackend.make_cubin = lambda *_: b""
    launches = Launches()
    failed = 0
    out.mkdir(parents=True, exist_ok=True)
    for p in problems.problems():
        for o in triton_peers.options(p):
            name = f"{p.name} {o.name}".replace(" ", "_")
            if only not in name:
                continue
            launches.first = None
            try:
                triton_peers.launch(p, o, values(p))
                about = describe(*launches.first)
            except Exception as e:  # a compiler raises what it likes; one variant less, and it is told
                print(f"{name}: {type(e).__name__}: {str(e).strip()[:300]}", file=sys.stderr)
                failed += 1
                continue
            about = {"triton": triton.__version__, "case": p.name, "config": o.name, **about}
            compiled = launches.first[1]
            (out / f"{name}.ptx").write_text(compiled.asm["ptx"])
            (out / f"{name}.json").write_text(json.dumps(about, indent=1) + "\n")
    return min(failed, 1)


if __name__ == "__main__":
    raise SystemExit(main())
