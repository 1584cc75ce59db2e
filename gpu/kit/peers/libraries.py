"""The libraries that come with PyTorch: cuBLAS, cuDNN, and its own kernels."""
from __future__ import annotations

import contextlib
import functools
from typing import Any, Callable, Iterator

from .backend import Contender
from .tensors import Tensors

# A function of the inputs that returns the output.
Call = Callable[..., Any]
# Implementation, variant, and a factory of the function: imports and compilation are part of the competitor's stage.
Way = tuple[str, str, Callable[[Tensors], Call]]


def contenders(t: Tensors) -> list[tuple[str, str, Callable[[], Contender]]]:
    """The competitors for a case that this version of PyTorch supports."""
    return [(who, config, functools.partial(_contender, t, who, config, make))
            for who, config, make in WAYS.get(t.problem.kind, ()) if make not in NEEDS or NEEDS[make](t.torch)]


def _contender(t: Tensors, who: str, config: str, make: Callable[[Tensors], Call]) -> Contender:
    """A contender from a function of the inputs. The function may return a new tensor each time; the first one is
    kept."""
    call = make(t)
    left: list[Any] = [None]

    def launcher(inputs: tuple[Any, ...], first: bool) -> Callable[[], None]:
        def launch() -> None:
            result = call(*inputs)
            if first:
                left[0] = result
        return launch

    return Contender(who, config, [launcher(s, n == 0) for n, s in enumerate(t.sets)], lambda: left[0], t.poison)


# ---------------------------------------------------------------- rows

def _copy(t: Tensors) -> Call:
    return lambda x: t.out.copy_(x)


def _vadd(t: Tensors) -> Call:
    return lambda a, b: t.torch.add(a, b, out=t.out)


def _softmax(t: Tensors) -> Call:
    return lambda x: t.torch.nn.functional.softmax(x, 1)


def _layernorm(t: Tensors) -> Call:
    return lambda x, w, b: t.torch.nn.functional.layer_norm(x, (t.problem.n,), w, b, t.problem.EPSILON)


# ---------------------------------------------------------------- matmuls

def _mm(t: Tensors) -> Call:
    torch, p = t.torch, t.problem
    if p.dtype == "fp8":
        one = torch.ones((), device=t.device)
        return lambda a, b: torch._scaled_mm(a, b.T if p.nt else b, scale_a=one, scale_b=one, out_dtype=torch.bfloat16,
                                             use_fast_accum=True)
    if p.dtype == "int8":
        return lambda a, b: torch._int_mm(a, b.T if p.nt else b)
    if p.dtype == "tf32":
        def with_tf32(a: Any, b: Any) -> Any:
            before = torch.backends.cuda.matmul.allow_tf32
            torch.backends.cuda.matmul.allow_tf32 = True
            try:
                return torch.mm(a, b.T if p.nt else b, out=t.out)
            finally:
                torch.backends.cuda.matmul.allow_tf32 = before
        return with_tf32
    return lambda a, b: torch.mm(a, b.T if p.nt else b, out=t.out)


def _bmm(t: Tensors) -> Call:
    return lambda a, b: t.torch.bmm(a, b, out=t.out)


def _gelu(t: Tensors) -> Call:
    functional = t.torch.nn.functional
    return lambda a, b, bias: functional.gelu(functional.linear(a, b, bias), approximate="tanh")


def _gelu_fused(t: Tensors) -> Call:
    """In the epilogue of cuBLASLt, which supports this approximation."""
    return lambda a, b, bias: t.torch._addmm_activation(bias, a, b.T, use_gelu=True)


def _splitk(t: Tensors) -> Call:
    return lambda a, b: t.torch.mm(a, b.T, out_dtype=t.torch.float32)


def _unquantised(t: Tensors) -> Call:
    """The alternative without quantization: the same matmul with bf16 weights that were converted before."""
    torch, p = t.torch, t.problem
    real = {id(inputs[1]): _dequantised(p, torch, *inputs[1:]) for inputs in t.sets}
    return lambda a, w, scale: torch.mm(a, real[id(w)].T, out=t.out)


def _dequantised(p: Any, torch: Any, w: Any, scale: Any) -> Any:
    if w.dtype == torch.int8:
        high = w >> 4
        low = (w << 4) >> 4
        w = torch.stack([low.view(p.n, -1, 64), high.view(p.n, -1, 64)], 2)
    return (w.view(p.n, -1, 128).float() * scale[:, :, None]).to(torch.bfloat16).view(p.n, p.k)


def _blocks(t: Tensors) -> Call:
    """Scales of 1 x 128 on the left, of 128 x 128 on the right."""
    torch = t.torch
    return lambda a, b, scale_a, scale_b: torch._scaled_mm(a, b.T, scale_a=scale_a.T, scale_b=scale_b.T,
                                                           out_dtype=torch.bfloat16)


def _gated(t: Tensors) -> Call:
    functional = t.torch.nn.functional
    return lambda x, gate, up: functional.silu(functional.linear(x, gate)) * functional.linear(x, up)


def _of_norm(t: Tensors) -> Call:
    functional, p = t.torch.nn.functional, t.problem
    return lambda x, weight, b: functional.linear(functional.rms_norm(x, (p.k,), weight, p.EPSILON), b)


def _ragged(t: Tensors) -> Call:
    grouped = _grouped_mm(t.torch)
    return lambda x, w, ends: grouped(x, w.transpose(1, 2), offs=ends)


def _gathered(t: Tensors) -> Call:
    """A separate kernel gathers the rows. Padding also belongs to an expert, so results are in the order of slots."""
    import numpy as np
    torch, p = t.torch, t.problem
    grouped = _grouped_mm(torch)
    ends = torch.from_numpy(np.cumsum(p.blocks * p.SLOTS).astype(np.int32)).to(t.device)
    # A row for padding.
    rows = t.sets[0][2].clamp(max=p.tokens - 1)
    return lambda x, w, _rows, _experts: grouped(x.index_select(0, rows), w.transpose(1, 2), offs=ends)


def _grouped_mm(torch: Any) -> Call:
    return getattr(torch.nn.functional, "grouped_mm", None) or torch._grouped_mm


def _lists(t: Tensors) -> Call:
    """One launch after another, because no function supports several sizes."""
    def each(a: list[Any], b: list[Any]) -> list[Any]:
        for x, y, out in zip(a, b, t.out):
            t.torch.mm(x, y, out=out)
        return t.out
    return each


def _conv(t: Tensors) -> Call:
    """Channels are innermost for cuDNN too. The output is viewed in the layout of the case."""
    functional, p = t.torch.nn.functional, t.problem

    def convolve(x: Any, w: Any) -> Any:
        weights = w.view(p.filters, p.taps, p.taps, p.channels).permute(0, 3, 1, 2)
        return functional.conv2d(x.permute(0, 3, 1, 2), weights).permute(0, 2, 3, 1)
    return convolve


# ---------------------------------------------------------------- attention

@contextlib.contextmanager
def _backend(name: str) -> Iterator[None]:
    from torch.nn.attention import SDPBackend, sdpa_kernel
    with sdpa_kernel(getattr(SDPBackend, name)):
        yield


def _attention(backend: str) -> Callable[[Tensors], Call]:
    """One of the implementations of scaled_dot_product_attention, where the heads of a batch are a separate
    dimension."""
    def make(t: Tensors) -> Call:
        p, attention = t.problem, t.torch.nn.functional.scaled_dot_product_attention
        shared = {"enable_gqa": True} if p.group > 1 else {}

        def attend(q: Any, k: Any, v: Any, bias: Any = None) -> Any:
            q, k, v = (x.view(p.batch, -1, *x.shape[1:]) for x in (q, k, v))
            with _backend(backend):
                out = attention(q, k, v, attn_mask=None if bias is None else bias[None], is_causal=p.causal,
                                scale=p.scale, **shared)
            return out.flatten(0, 1)
        return attend
    return make


def _padded(t: Tensors) -> Call:
    """Pads values with zeros to the width of keys, for implementations that support only one width. The padding is
    part of the work."""
    attend, p = _attention("FLASH_ATTENTION")(t), t.problem
    return lambda q, k, v: attend(q, k, t.torch.nn.functional.pad(v, (0, p.rotated)))[..., :p.d]


def _decode(backend: str) -> Callable[[Tensors], Call]:
    def make(t: Tensors) -> Call:
        p, attention = t.problem, t.torch.nn.functional.scaled_dot_product_attention

        def attend(q: Any, k: Any, v: Any) -> Any:
            q = q.view(p.batch, p.heads * p.group, 1, p.d)
            k, v = (x.view(p.batch, p.heads, p.length, p.d) for x in (k, v))
            with _backend(backend):
                return attention(q, k, v, scale=p.scale, enable_gqa=True).view(p.units, p.group, p.d)
        return attend
    return make


def _flex(t: Tensors) -> Call:
    """FlexAttention, compiled: a mask of blocks where keys are masked, a function of logits where they are capped."""
    import torch
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention
    p = t.problem

    def bend(score: Any, b: Any, h: Any, q: Any, k: Any) -> Any:
        return torch.tanh(score / p.cap) * p.cap

    change = bend if p.kind == "attention_capped" else None
    mask = create_block_mask(lambda b, h, q, k: p.visible(q, k), None, None, p.length, p.length, device=t.device)
    compiled = torch.compile(flex_attention, dynamic=False)

    def attend(q: Any, k: Any, v: Any) -> Any:
        q, k, v = (x.view(p.batch, -1, *x.shape[1:]) for x in (q, k, v))
        return compiled(q, k, v, score_mod=change, block_mask=mask, scale=p.scale, enable_gqa=True).flatten(0, 1)
    return attend


def _varlen() -> Call:
    from torch.nn.attention.varlen import varlen_attn
    return varlen_attn


def _window(t: Tensors) -> Call:
    """As packed sequences of equal length, because that function supports windows. Its tokens come before heads."""
    p, attention = t.problem, _varlen()
    starts = t.torch.arange(p.batch + 1, dtype=t.torch.int32, device=t.device) * p.length
    shared = {"enable_gqa": True} if p.group > 1 else {}

    def tokens(x: Any) -> Any:
        return x.view(p.batch, -1, p.length, p.d).transpose(1, 2).flatten(0, 1)

    def attend(q: Any, k: Any, v: Any) -> Any:
        out = attention(tokens(q), tokens(k), tokens(v), starts, starts, p.length, p.length, scale=p.scale,
                        window_size=(p.window - 1, 0), **shared)
        return out.view(p.batch, p.length, p.heads, p.d).transpose(1, 2).flatten(0, 1)
    return attend


def _packed(t: Tensors) -> Call:
    p, attention = t.problem, _varlen()
    longest = int(p.lengths.max())

    def attend(q: Any, k: Any, v: Any, starts: Any) -> Any:
        q, k, v = (x.view(p.length, -1, p.d) for x in (q, k, v))
        return attention(q, k, v, starts, starts, longest, longest, scale=p.scale, window_size=(-1, 0),
                         enable_gqa=True).flatten(1)
    return attend


def _paged(t: Tensors) -> Call:
    p, attention, torch = t.problem, _varlen(), t.torch
    one = torch.arange(p.batch + 1, dtype=torch.int32, device=t.device)
    longest = int(p.lengths.max())
    starts = torch.arange(p.batch + 1, dtype=torch.int32, device=t.device) * longest

    def attend(q: Any, k: Any, v: Any, pages: Any, lengths: Any) -> Any:
        out = attention(q.view(p.batch, p.heads * p.group, p.d), k, v, one, starts, 1, longest, scale=p.scale,
                        enable_gqa=True,
                        seqused_k=lengths, block_table=pages)
        return out.view(p.units, p.group, p.d)
    return attend


# ---------------------------------------------------------------- table

def _has_varlen(torch: Any) -> bool:
    """Since PyTorch 2.10; windows, groups and pages came later."""
    try:
        import inspect
        return {"window_size", "enable_gqa", "block_table"} <= set(inspect.signature(_varlen()).parameters)
    except ImportError:
        return False


def _has_grouped(torch: Any) -> bool:
    return hasattr(torch.nn.functional, "grouped_mm") or hasattr(torch, "_grouped_mm")


# Whether this version of PyTorch has the features that a factory needs.
NEEDS: dict[Callable[[Tensors], Call], Callable[[Any], bool]] = {
    _window: _has_varlen, _packed: _has_varlen, _paged: _has_varlen, _ragged: _has_grouped, _gathered: _has_grouped}

SDPA: tuple[Way, ...] = (("cudnn", "", _attention("CUDNN_ATTENTION")),
                         ("torch-flash", "", _attention("FLASH_ATTENTION")))

# By kind of case.
WAYS: dict[str, tuple[Way, ...]] = {
    "copy": (("torch", "", _copy),),
    "vadd": (("torch", "", _vadd),),
    "softmax": (("torch", "", _softmax),),
    "layernorm": (("torch", "", _layernorm),),
    "mm": (("cublas", "", _mm),),
    "bmm": (("cublas", "", _bmm),),
    "mm_gelu": (("cublas", "fused", _gelu_fused), ("torch", "", _gelu)),
    "mm_splitk": (("cublas", "", _splitk),),
    "mm_w8": (("cublas", "bf16 weights", _unquantised),),
    "mm_w4": (("cublas", "bf16 weights", _unquantised),),
    "mm_blocks": (("cublas", "", _blocks),),
    "gated_unit": (("torch", "", _gated),),
    "mm_of_norm": (("torch", "", _of_norm),),
    "mm_ragged": (("torch", "grouped_mm", _ragged),),
    "moe": (("torch", "gather, grouped_mm", _gathered),),
    "mm_lists": (("cublas", "one by one", _lists),),
    "conv": (("cudnn", "", _conv),),
    "attention": SDPA,
    "attention_grouped": SDPA,
    "attention_latent": (SDPA[0], ("torch-flash", "padded values", _padded)),
    "attention_biased": (SDPA[0], ("torch-efficient", "", _attention("EFFICIENT_ATTENTION"))),
    "attention_window": (("torch-varlen", "", _window), ("torch-flex", "", _flex)),
    "attention_capped": (("torch-flex", "", _flex),),
    "attention_packed": (("torch-varlen", "", _packed),),
    "attention_paged": (("torch-varlen", "", _paged),),
    "attention_split": (("torch-flash", "", _decode("FLASH_ATTENTION")), ("cudnn", "", _decode("CUDNN_ATTENTION"))),
}

__all__ = ["WAYS", "contenders"]
