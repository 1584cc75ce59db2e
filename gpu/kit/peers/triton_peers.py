"""Triton as a competitor: kernels, options, and launches."""
from __future__ import annotations

import dataclasses
import functools
import math
from typing import Any, Callable, Sequence

from .backend import Contender
from .problem import Number, Problem, tiles
from .tensors import Tensors

BAND = 8


@dataclasses.dataclass(frozen=True)
class Options:
    """The options of one variant. `way`: `pointers`, `persistent` (descriptors), `specialized` (descriptors, warps
    with roles), or the only way of a kind."""
    way: str
    tile: tuple[int, ...]
    warps: int
    stages: int

    @property
    def name(self) -> str:
        return f"{'x'.join(map(str, self.tile))} {self.way} w{self.warps} s{self.stages}"

    @property
    def how(self) -> dict[str, int]:
        return {"num_warps": self.warps, "num_stages": self.stages}


# Parameters of a case by name: tensors, lists of tensors, numbers.
Values = dict[str, Any]
Launch = Callable[[Any, Options, Values], None]


def options(p: Problem) -> list[Options]:
    """Options that perform well according to public reports, for each kind of case."""
    found = OPTIONS.get(p.kind, [])
    return list(found(p) if callable(found) else found)


def contenders(t: Tensors) -> list[tuple[str, Callable[[], Contender]]]:
    try:
        import triton
    except ImportError:
        return []
    triton.set_allocator(lambda size, align, stream: t.torch.empty(size, dtype=t.torch.int8, device=t.device))
    return [(o.name, functools.partial(contender, t, o)) for o in options(t.problem)]


def contender(t: Tensors, o: Options) -> Contender:
    launchers = [functools.partial(run, t, o, t.arguments(inputs)) for inputs in t.sets]
    return Contender("triton", o.name, launchers, lambda: t.out, t.poison)


def run(t: Tensors, o: Options, values: Values) -> None:
    if t.problem.clears:
        t.out.zero_()
    launch(t.problem, o, values)


def launch(p: Problem, o: Options, values: Values) -> None:
    LAUNCHES[p.kind](p, o, {name: v.value if isinstance(v, Number) else v for name, v in values.items()})


def multiprocessors() -> int:
    import torch
    return torch.cuda.get_device_properties(0).multi_processor_count


# ---------------------------------------------------------------- rows

def _vadd(p: Any, o: Options, v: Values) -> None:
    from . import triton_kernels as kernels
    kernels.vadd[(math.ceil(p.n / o.tile[0]),)](v["a"], v["b"], v["out"], p.n, BLOCK=o.tile[0], **o.how)


def _row_options(p: Any) -> list[Options]:
    return [Options("rows", (p.n,), w, 1) for w in (4, 8, 16)]


def _softmax(p: Any, o: Options, v: Values) -> None:
    from . import triton_kernels as kernels
    kernels.softmax[(p.height,)](v["x"], v["out"], N=p.n, **o.how)


def _layernorm(p: Any, o: Options, v: Values) -> None:
    from . import triton_kernels as kernels
    kernels.layernorm[(p.height,)](v["x"], v["weight"], v["bias"], v["out"], p.EPSILON, N=p.n, **o.how)


# ---------------------------------------------------------------- matmuls

def _mm_options(p: Any) -> list[Options]:
    if p.dtype in ("int8", "tf32"):
        deep = 32 if p.dtype == "tf32" else 128
        return [Options("pointers", (128, 256, deep), 8, 3), Options("pointers", (128, 128, deep), 8, 3)]
    k = 128 if p.dtype == "fp8" else 64
    if not p.nt or any(x % 16 for x in (p.m, p.n, p.k)):
        return [Options("pointers", (128, 256, k), 8, 3), Options("pointers", (128, 256, k), 8, 4),
                Options("pointers", (128, 128, k), 8, 4)]
    return [Options("persistent", (128, 256, k), 8, 3), Options("persistent", (128, 128, k), 8, 4),
            # The only form that Triton 3.6 warp-specializes on Hopper: four warps, loops not flattened.
            Options("specialized", (128, 256, k), 4, 3), Options("specialized", (128, 128, k), 4, 4)]


def _mm(p: Any, o: Options, v: Values) -> None:
    import triton.language as tl
    from . import triton_kernels as kernels
    (tm, tn, tk), a, b, out = o.tile, v["a"], v["b"], v["out"]
    count = tiles((p.m, p.n), o.tile)
    if o.way == "pointers":
        stride_k, stride_n = (1, b.stride(0)) if p.nt else (b.stride(0), 1)
        kernels.product_pointers[(count,)](a, b, out, p.m, p.n, p.k, a.stride(0), stride_k, stride_n, out.stride(0),
                                           TM=tm, TN=tn, TK=tk, BAND=BAND,
                                           ACC=tl.int32 if p.dtype == "int8" else tl.float32, **o.how)
        return
    programs = min(count, multiprocessors())
    roles = o.way == "specialized"
    kernels.product_descriptors[(programs,)](a, b, out, p.m, p.n, p.k, PROGRAMS=programs, TM=tm, TN=tn, TK=tk,
                                             BAND=BAND, FLATTEN=not roles,
                                             SPECIALIZE=roles, **o.how)


def _tiled(name: str, parameters: Sequence[str], more: Sequence[float] = ()) -> Launch:
    """Launches a kernel of triton_products.py that takes arrays, extents and more, and has a program for each
    tile."""
    def launch_tiled(p: Any, o: Options, v: Values) -> None:
        from . import triton_products as kernels
        tm, tn, tk = o.tile
        kernel = getattr(kernels, name)
        kernel[(tiles((p.m, p.n), o.tile),)](*(v[n] for n in parameters), p.m, p.n, p.k, *more, TM=tm, TN=tn, TK=tk,
                                             BAND=BAND, **o.how)
    return launch_tiled


def _weights4_options(p: Any) -> list[Options]:
    if p.m < 64:
        return [Options("descriptors", (16, 128, 128), 4, 4), Options("descriptors", (16, 64, 128), 4, 5)]
    return [Options("descriptors", (128, 128, 128), 8, 3), Options("descriptors", (256, 128, 128), 8, 2)]


def _batched(p: Any, o: Options, v: Values) -> None:
    from . import triton_products as kernels
    tm, tn, tk = o.tile
    kernels.batched[(tiles((p.m, p.n), o.tile), p.batch)](v["a"], v["b"], v["out"], p.m, p.n, p.k, TM=tm, TN=tn, TK=tk,
                                                          BAND=BAND, **o.how)


def _split_product(p: Any, o: Options, v: Values) -> None:
    from . import triton_products as kernels
    tm, tn, tk = o.tile
    each = math.ceil(math.ceil(p.k / tk) / p.splits)
    kernels.split[(tiles((p.m, p.n), o.tile), p.splits)](v["a"], v["b"], v["out"], p.m, p.n, p.k, each, TM=tm, TN=tn,
                                                         TK=tk, BAND=BAND, **o.how)


def _ragged(p: Any, o: Options, v: Values) -> None:
    from . import triton_products as kernels
    tm, tn, tk = o.tile
    programs = multiprocessors()
    kernels.ragged[(programs,)](v["x"], v["w"], v["ends"], v["out"], p.experts, p.n, p.k, PROGRAMS=programs, TM=tm,
                                TN=tn, TK=tk, **o.how)


def _gathered(p: Any, o: Options, v: Values) -> None:
    from . import triton_products as kernels
    tm, tn, tk = o.tile
    count = tiles((v["out"].shape[0], p.n), o.tile)
    kernels.gathered[(count,)](v["x"], v["w"], v["rows"], v["experts"], v["out"], p.tokens, p.n, p.k, SLOTS=p.SLOTS,
                               TM=tm, TN=tn, TK=tk, **o.how)


def _lists(p: Any, o: Options, v: Values) -> None:
    import triton.language as tl
    from . import triton_products as kernels
    tm, tn, tk = o.tile
    programs = multiprocessors()
    words = [_words(v[name]) for name in ("a", "b", "out")]
    kernels.lists[(programs,)](*words, len(p.sizes), ELEMENT={"bf16": tl.bfloat16, "fp16": tl.float16}[p.dtype],
                               PROGRAMS=programs, TM=tm, TN=tn, TK=tk, **o.how)


def _words(tensors: Any) -> Any:
    """The descriptors of a list, created once because a copy to the device cannot be captured in a graph."""
    from .images import descriptors
    key = tuple((t.data_ptr(), *t.shape) for t in tensors)
    if key not in _made:
        _made[key] = descriptors(tensors)
    return _made[key]


_made: dict[tuple[tuple[int, ...], ...], Any] = {}


def _convolution(p: Any, o: Options, v: Values) -> None:
    from . import triton_products as kernels
    tm, tn, tk = o.tile
    grid = (math.ceil(p.filters / tn), math.ceil(p.height * p.width / tm), p.images)
    kernels.convolution[grid](v["x"], v["w"], v["out"], p.height, p.width, p.channels, p.filters, TAPS=p.taps, TM=tm,
                              TN=tn, TK=tk, **o.how)


# ---------------------------------------------------------------- attention

def _attention(p: Any, o: Options, v: Values) -> None:
    if p.d & (p.d - 1):
        _families(p, o, v)
        return
    from . import triton_kernels as kernels
    tm, tn = o.tile
    rows = p.batch * p.heads * p.length
    kernels.attention[(p.length // tm, p.batch * p.heads)](v["q"], v["k"], v["v"], v["out"], v["scale"], rows, p.length,
                                                           D=p.d, TM=tm, TN=tn,
                                                           CAUSAL=p.causal, SPECIALIZE=o.way == "specialized", **o.how)


def _attention_options(p: Any) -> list[Options]:
    plain = [Options("plain", (128, 128), 8, 2), Options("plain", (128, 64), 8, 3), Options("plain", (128, 64), 4, 3)]
    if p.d == 256:
        return [Options("plain", (128, 64), 8, 2), Options("plain", (64, 64), 4, 2)]
    return plain if p.d == 96 else [*plain, Options("specialized", (128, 128), 4, 2)]


def _families(p: Any, o: Options, v: Values) -> None:
    """Kinds that differ in their bias of the logits and in their mask."""
    from . import triton_attention as kernels
    from .attention import power
    tm, tn = o.tile
    heads = p.batch * p.heads
    rows, shared_rows = heads * p.length, heads // p.group * p.length
    kernels.families[(p.length // tm, heads)](
        v["q"], v["k"], v["v"], v.get("bias", v["q"]), v["out"], v["scale"], v.get("cap", 1.0), rows, shared_rows,
        p.length, int(v.get("window", 0)), p.heads, GROUP=p.group, D=power(p.d), COLUMNS=p.d,
        ROTATED=getattr(p, "rotated", 0), TM=tm, TN=tn, CAUSAL=p.causal, WINDOW="window" in v, CAPPED="cap" in v,
        BIASED="bias" in v, **o.how)


def _packed(p: Any, o: Options, v: Values) -> None:
    from . import triton_attention as kernels
    tm, tn = o.tile
    kernels.packed[(math.ceil(int(p.lengths.max()) / tm), p.heads, p.batch)](v["q"], v["k"], v["v"], v["starts"],
                                                                             v["out"], v["scale"], p.heads,
                                                                           GROUP=p.group, D=p.d, TM=tm, TN=tn, **o.how)


def _paged(p: Any, o: Options, v: Values) -> None:
    from . import triton_attention as kernels
    kernels.paged[(p.units,)](v["q"], v["k"], v["v"], v["pages"], v["lengths"], v["out"], v["scale"], p.heads,
                              p.table.shape[1], GROUP=p.group, D=p.d,
                              TM=o.tile[0], PAGE=p.page, **o.how)


def _split_attention(p: Any, o: Options, v: Values) -> None:
    from . import triton_attention as kernels
    tm, tn = o.tile
    each = math.ceil(math.ceil(p.length / tn) / p.splits)
    kernels.split[(p.units, p.splits)](v["q"], v["k"], v["v"], v["part"], v["sums"], v["scale"], p.length, each,
                                       GROUP=p.group, D=p.d, TM=tm, TN=tn,
                                       **o.how)
    kernels.combine[(p.units, p.group)](v["part"], v["sums"], v["out"], GROUP=p.group, Z=p.splits, D=p.d)


# ---------------------------------------------------------------- tables, by kind of case

_TILES = [Options("descriptors", (128, 128, 64), 8, 4), Options("descriptors", (128, 256, 64), 8, 3)]
_NARROW = [Options("descriptors", (128, 128, 64), 8, 3), Options("descriptors", (128, 64, 64), 4, 4)]
_BLOCKS = [Options("plain", (128, 128), 8, 2), Options("plain", (128, 64), 8, 3), Options("plain", (128, 64), 4, 3)]

OPTIONS: dict[str, list[Options] | Callable[[Any], list[Options]]] = {
    "vadd": [Options("blocks", (n,), w, 1) for n, w in ((1024, 4), (2048, 8), (4096, 8))],
    "softmax": _row_options, "layernorm": _row_options, "mm": _mm_options,
    "mm_gelu": _TILES, "mm_of_norm": _TILES, "bmm": _TILES, "mm_ragged": _TILES, "mm_lists": _TILES,
    "gated_unit": _NARROW,
    "moe": [Options("pointers", (128, 128, 64), 8, 4), Options("pointers", (128, 256, 64), 8, 3)],
    "conv": [Options("pointers", (128, 128, 64), 8, 4), Options("pointers", (128, 256, 64), 8, 3)],
    "mm_splitk": [Options("descriptors", (128, 128, 64), 8, 4), Options("descriptors", (64, 128, 64), 4, 4)],
    "mm_blocks": [Options("descriptors", (128, 128, 128), 8, 3), Options("descriptors", (128, 128, 128), 8, 4)],
    "mm_w8": [Options("descriptors", (128, 128, 128), 8, 3), Options("descriptors", (256, 128, 128), 8, 2)],
    "mm_w4": _weights4_options,
    "attention": _attention_options,
    "attention_grouped": _BLOCKS, "attention_window": _BLOCKS, "attention_capped": _BLOCKS, "attention_biased": _BLOCKS,
    "attention_latent": [Options("plain", (128, 64), 8, 2), Options("plain", (128, 64), 4, 2)],
    "attention_packed": _BLOCKS,
    "attention_paged": [Options("pointers", (16, 64), 4, 3), Options("pointers", (16, 64), 4, 4)],
    "attention_split": [Options("pointers", (16, 64), 4, 3), Options("pointers", (16, 128), 4, 3)],
}

LAUNCHES: dict[str, Launch] = {
    "vadd": _vadd, "softmax": _softmax, "layernorm": _layernorm, "mm": _mm,
    "mm_gelu": _tiled("gelu", ("a", "b", "bias", "out")),
    "gated_unit": _tiled("gated", ("x", "gate", "up", "out")),
    "mm_of_norm": _tiled("of_norm", ("x", "weight", "b", "out"), (1e-5,)),
    "mm_w8": _tiled("weights8", ("a", "w", "scale", "out")),
    "mm_w4": _tiled("weights4", ("a", "w", "scale", "out")),
    "mm_blocks": _tiled("blocks", ("a", "b", "scale_a", "scale_b", "out")),
    "bmm": _batched, "mm_splitk": _split_product, "mm_ragged": _ragged, "moe": _gathered, "mm_lists": _lists,
    "conv": _convolution,
    "attention": _attention, "attention_grouped": _families, "attention_window": _families,
    "attention_capped": _families, "attention_biased": _families, "attention_latent": _families,
    "attention_packed": _packed, "attention_paged": _paged, "attention_split": _split_attention,
}
