"""What single steps of our compiler are worth: some kernels of the competition once more, each time without one step."""
from __future__ import annotations

# By what is left out: the option of the pipeline that does so.
STEPS: dict[str, str] = {
    "warpgroups": "pipeline-strategy=unspecialize",
    "rotation": "disable-pass=tileas-pipeline-dots",
    "turns": "disable-pass=tileas-ping-pong",
    "prefetching": "disable-pass=tileas-prefetch-tiles",
    "tensor stores": "disable-pass=tileas-lower-tma-load-store-to-async",
    "skipped scaling": "disable-pass=tileas-skip-rescale",
}

# With the larger tiles of each type, one tile a block and in a loop over tiles, and the two loops of attention.
KERNELS = (
    "mm_bf16_nt_128x256x64",
    "mm_bf16_nt_128x256x64_p",
    "mm_fp8_nt_128x256x128_p",
    "attention_128_128x128",
    "attention_128_causal_128x128",
    "attention_64_128x128",
)


def who(step: str) -> str:
    """A competitor of its own, so that each step is timed by turns with the others."""
    return f"ours without {step}"
