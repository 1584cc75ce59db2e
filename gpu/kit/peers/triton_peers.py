"""Triton as a competitor: which kernels and options, and their launches."""
from __future__ import annotations

import dataclasses
import functools
import math
from typing import Any, Callable

from .backend import Contender
from .problems import Problem
from .tensors import Tensors

BAND = 8


@dataclasses.dataclass(frozen=True)
class Options:
    """Of one variant. `way`: `pointers`, `persistent` (descriptors), `specialized` (descriptors, warps with roles)."""
    way: str
    tile: tuple[int, ...]
    warps: int
    stages: int

    @property
    def name(self) -> str:
        return f"{'x'.join(map(str, self.tile))} {self.way} w{self.warps} s{self.stages}"


def options(p: Problem) -> list[Options]:
    """Those that do well by public reports, for each kind of case."""
    if p.kind == "mm":
        if p.dtype in ("int8", "tf32"):
            deep = 32 if p.dtype == "tf32" else 128
            return [Options("pointers", (128, 256, deep), 8, 3), Options("pointers", (128, 128, deep), 8, 3)]
        k = 128 if p.dtype == "fp8" else 64
        if not p.nt or any(x % 16 for x in p.shape):
            return [Options("pointers", (128, 256, k), 8, 3), Options("pointers", (128, 256, k), 8, 4), Options("pointers", (128, 128, k), 8, 4)]
        return [Options("persistent", (128, 256, k), 8, 3), Options("persistent", (128, 128, k), 8, 4),
                # The one form that Triton 3.6 gives roles on Hopper: four warps, loops not flattened.
                Options("specialized", (128, 256, k), 4, 3), Options("specialized", (128, 128, k), 4, 4)]
    if p.kind == "attention":
        return [Options("plain", (128, 128), 8, 2), Options("plain", (128, 64), 8, 3), Options("plain", (128, 64), 4, 3),
                Options("specialized", (128, 128), 4, 2)]
    if p.kind == "vadd":
        return [Options("blocks", (n,), w, 1) for n, w in ((1024, 4), (2048, 8), (4096, 8))]
    if p.kind in ("softmax", "layernorm"):
        return [Options("rows", (p.shape[1],), w, 1) for w in (4, 8, 16)]
    return []


def contenders(t: Tensors) -> list[tuple[str, Callable[[], Contender]]]:
    try:
        import triton
    except ImportError:
        return []
    triton.set_allocator(lambda size, align, stream: t.torch.empty(size, dtype=t.torch.int8, device=t.device))
    return [(o.name, functools.partial(contender, t, o)) for o in options(t.problem)]


def contender(t: Tensors, o: Options) -> Contender:
    launchers = [functools.partial(launch, t.problem, o, inputs, t.out) for inputs in t.sets]
    return Contender("triton", o.name, launchers, lambda: t.out, t.poison)


def launch(p: Problem, o: Options, inputs: tuple[Any, ...], out: Any) -> None:
    import torch
    import triton.language as tl
    from . import triton_kernels as kernels
    how = {"num_warps": o.warps, "num_stages": o.stages}
    if p.kind == "mm":
        (m, n, k), (tm, tn, tk), (a, b) = p.shape, o.tile, inputs
        tiles = math.ceil(m / tm) * math.ceil(n / tn)
        if o.way == "pointers":
            stride_k, stride_n = (1, b.stride(0)) if p.nt else (b.stride(0), 1)
            kernels.product_pointers[(tiles,)](a, b, out, m, n, k, a.stride(0), stride_k, stride_n, out.stride(0), TM=tm, TN=tn, TK=tk, BAND=BAND,
                                             ACC=tl.int32 if p.dtype == "int8" else tl.float32, **how)
            return
        programs = min(tiles, torch.cuda.get_device_properties(0).multi_processor_count)
        roles = o.way == "specialized"
        kernels.product_descriptors[(programs,)](a, b, out, m, n, k, PROGRAMS=programs, TM=tm, TN=tn, TK=tk, BAND=BAND, FLATTEN=not roles,
                                                 SPECIALIZE=roles, **how)
    elif p.kind == "attention":
        batch, heads, length, d = p.shape
        tm, tn = o.tile
        kernels.attention[(length // tm, batch * heads)](*inputs, out, 1 / math.sqrt(d), batch * heads * length, length, D=d, TM=tm, TN=tn,
                                                         CAUSAL=p.causal, SPECIALIZE=o.way == "specialized", **how)
    elif p.kind == "vadd":
        kernels.vadd[(math.ceil(p.shape[0] / o.tile[0]),)](*inputs, out, p.shape[0], BLOCK=o.tile[0], **how)
    elif p.kind == "softmax":
        kernels.softmax[(p.shape[0],)](*inputs, out, N=p.shape[1], **how)
    else:
        kernels.layernorm[(p.shape[0],)](*inputs, out, 1e-5, N=p.shape[1], **how)
