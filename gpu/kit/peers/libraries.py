"""The libraries that PyTorch brings: cuBLAS, cuDNN, and its own kernels."""
from __future__ import annotations

from typing import Any, Callable

from .backend import Contender
from .tensors import Tensors


def contenders(t: Tensors) -> list[Contender]:
    p = t.problem
    if p.kind == "mm":
        return [_contender(t, "cublas", "", _mm(t))]
    if p.kind == "attention":
        return [_contender(t, who, "", _attention(t, backend)) for who, backend in
                (("cudnn", "CUDNN_ATTENTION"), ("torch-flash", "FLASH_ATTENTION"))]
    functional = t.torch.nn.functional
    calls: dict[str, Callable[..., Any]] = {
        "copy": lambda x: t.out.copy_(x),
        "vadd": lambda a, b: t.torch.add(a, b, out=t.out),
        "softmax": lambda x: functional.softmax(x, 1),
        "layernorm": lambda x, w, b: functional.layer_norm(x, (p.shape[1],), w, b, 1e-5),
    }
    return [_contender(t, "torch", "", calls[p.kind])]


def _contender(t: Tensors, who: str, config: str, call: Callable[..., Any]) -> Contender:
    """Of a function of the inputs that returns its output. It may be a new tensor each time, so the first call's is kept."""
    left: list[Any] = [None]

    def launcher(inputs: tuple[Any, ...], first: bool) -> Callable[[], None]:
        def launch() -> None:
            result = call(*inputs)
            if first:
                left[0] = result
        return launch

    return Contender(who, config, [launcher(s, n == 0) for n, s in enumerate(t.sets)], lambda: left[0], t.poison)


def _mm(t: Tensors) -> Callable[..., Any]:
    torch, p = t.torch, t.problem
    if p.dtype == "fp8":
        one = torch.ones((), device=t.device)
        return lambda a, b: torch._scaled_mm(a, b.T if p.nt else b, scale_a=one, scale_b=one, out_dtype=torch.bfloat16, use_fast_accum=True)
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


def _attention(t: Tensors, backend: str) -> Callable[..., Any]:
    from torch.nn.attention import SDPBackend, sdpa_kernel

    def attend(q: Any, k: Any, v: Any) -> Any:
        with sdpa_kernel(getattr(SDPBackend, backend)):
            return t.torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=t.problem.causal)
    return attend
