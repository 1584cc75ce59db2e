"""Writes Triton's kernels of all cases as PTX, without a device: `python3 gpu/packer/triton_export.py DIR [TEXT]`.

Needs Triton alone. Each variant becomes NAME.ptx and NAME.json, which says how it is launched. With TEXT, only variants whose
name contains it. The kit's own launches are made, but end where Triton would ask for a device, so that arguments are specialised
as in earnest. `cargo xtask predict --triton DIR` reads the folder.
"""
from __future__ import annotations

import json
import pathlib
import re
import sys
import types
from typing import Any

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

# What a program is compiled for.
CAPABILITY, SMS = 90, 132

BYTES = {"bf16": 2, "fp16": 2, "tf32": 4, "f32": 4, "fp8": 1, "int8": 1, "int32": 4}
NAMES = {"bf16": "bfloat16", "fp16": "float16", "tf32": "float32", "f32": "float32", "fp8": "float8_e4m3fn", "int8": "int8", "int32": "int32"}


class Type:
    """A type as PyTorch prints it: by that Triton knows it."""

    def __init__(self, name: str):
        self.name = name

    def __repr__(self) -> str:
        return f"torch.{NAMES[self.name]}"

    __str__ = __repr__


TYPES = {name: Type(name) for name in NAMES}


class Array:
    """A contiguous tensor without memory. Allocations of PyTorch are aligned to more than 16 bytes."""

    def __init__(self, dtype: str, *shape: int):
        self.dtype, self.shape = TYPES[dtype], shape

    def data_ptr(self) -> int:
        return 0

    def stride(self, i: int) -> int:
        size = 1
        for n in self.shape[i + 1:]:
            size *= n
        return size

    def fields(self) -> dict[str, Any]:
        size = BYTES[self.dtype.name]
        for n in self.shape:
            size *= n
        return {"kind": "array", "type": self.dtype.name, "shape": list(self.shape), "bytes": size}


def arrays(p: Any) -> tuple[tuple[Array, ...], Array]:
    """Inputs and output of a case, as kit/peers/tensors.py makes them."""
    if p.kind == "mm":
        m, n, k = p.shape
        result = {"int8": "int32", "fp8": "bf16"}.get(p.dtype, p.dtype)
        return (Array(p.dtype, m, k), Array(p.dtype, *((n, k) if p.nt else (k, n)))), Array(result, m, n)
    count = {"attention": 3, "vadd": 2}.get(p.kind, 1)
    inputs = [Array(p.dtype, *p.shape) for _ in range(count)]
    if p.kind == "layernorm":
        inputs += [Array(p.dtype, p.shape[1]) for _ in range(2)]
    return tuple(inputs), Array(p.dtype, *p.shape)


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
    about = types.SimpleNamespace(multi_processor_count=SMS)
    torch.cuda = types.SimpleNamespace(get_device_properties=lambda device: about)
    return torch


class Launches:
    """In place of launches: compiles, and keeps what was to be launched."""

    def __init__(self) -> None:
        from triton.runtime.jit import JITFunction
        self.last: Any = None
        original = JITFunction.run

        def run(function: Any, *args: Any, grid: Any, warmup: bool, **kwargs: Any) -> Any:
            compiled = original(function, *args, grid=grid, warmup=True, **kwargs)
            self.last = (function, compiled, grid, args)
            return compiled

        JITFunction.run = run


def describe(function: Any, compiled: Any, grid: tuple[int, ...], args: tuple[Any, ...]) -> dict[str, Any]:
    """How the compiled kernel is launched: its arguments are those that are no constants, then memory that it asks for."""
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
    values += [{"kind": "scratch", "bytes": size * programs} for size in (metadata.global_scratch_size, metadata.profile_scratch_size)]
    threads = re.search(r"\.(?:req|max)ntid (\d+)", ptx)
    if threads is None:
        raise ValueError("the PTX does not say how many threads a block has")
    return {"kernel": metadata.name, "grid": list(grid), "threads": int(threads.group(1)), "shared": metadata.shared, "args": values}


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
            inputs, result = arrays(p)
            try:
                triton_peers.launch(p, o, inputs, result)
                about = describe(*launches.last)
            except Exception as e:  # a compiler raises what it likes; one variant less, and it is told
                print(f"{name}: {type(e).__name__}: {str(e).strip()[:300]}", file=sys.stderr)
                failed += 1
                continue
            about = {"triton": triton.__version__, "case": p.name, "config": o.name, **about}
            compiled = launches.last[1]
            (out / f"{name}.ptx").write_text(compiled.asm["ptx"])
            (out / f"{name}.json").write_text(json.dumps(about, indent=1) + "\n")
    return min(failed, 1)


if __name__ == "__main__":
    raise SystemExit(main())
