"""Matmul cases: plain ones, and the families that models use.

Unless stated otherwise, the right matrix is transposed, (N, K), as weights are stored.
"""
from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np

from .problem import Array, Arrays, Entry, Grid, Numbers, Parameter, Problem, persistent, tiles

# The types of results that differ from the type of the inputs.
RESULTS = {"int8": "i32", "fp8": "bf16"}

# Number of columns that share a scale.
BLOCK = 128


@dataclasses.dataclass(frozen=True)
class Tiled(Problem):
    """A result of (m, n), each tile of which is a sum over k."""
    m: int
    n: int
    k: int

    @property
    def size(self) -> str:
        return f"{self.m}x{self.n}x{self.k}"

    @property
    def flop(self) -> float:
        return 2.0 * self.m * self.n * self.k

    @property
    def out(self) -> Array:
        return Array("out", RESULTS.get(self.dtype, self.storage), (self.m, self.n), "poison")

    def rows(self, unit: int) -> int:
        return self.m

    def grids(self, e: Entry, sms: int) -> list[Grid]:
        return persistent(e, tiles((self.m, self.n), e["tile"]), sms)

    @classmethod
    def small(cls, e: Entry) -> Problem:
        m, n, k = e["tile"]
        return cls(e["dtype"], 1, m + 16, n + 16, 2 * k)


@dataclasses.dataclass(frozen=True)
class Product(Tiled):
    """`nt`: the right matrix is (n, k), otherwise (k, n)."""
    nt: bool = True
    kind = "mm"
    seconds = 14.0

    @property
    def size(self) -> str:
        return f"{super().size} {'nt' if self.nt else 'nn'}"

    def parameters(self) -> list[Parameter]:
        b = (self.n, self.k) if self.nt else (self.k, self.n)
        return [Array("a", self.storage, (self.m, self.k)), Array("b", self.storage, b), self.out]

    def want(self, real: Numbers, inputs: dict[str, Any], unit: int, rows: Any) -> Any:
        b = real(inputs["b"])
        return real(inputs["a"], rows) @ (b.T if self.nt else b)

    def constants(self) -> dict[str, Any]:
        return {"nt": self.nt}

    def divides(self, e: Entry) -> bool:
        # Images without promises are for the cases that need them.
        plain = any(x % 16 for x in (self.m, self.n, self.k))
        return e["divisor"] == (1 if plain else 16)

    @classmethod
    def small(cls, e: Entry) -> Problem:
        m, n, k = e["tile"]
        odd = 8 if e["divisor"] == 1 else 0
        return cls(e["dtype"], 1, m + 16 - odd, n + 16 - odd, 2 * k, **e["constants"])


@dataclasses.dataclass(frozen=True)
class Batched(Tiled):
    """A matmul for each of `batch` pairs of matrices, (m, k) and (k, n)."""
    batch: int = 1
    kind = "bmm"

    @property
    def size(self) -> str:
        return f"{self.batch}x{super().size}"

    @property
    def flop(self) -> float:
        return self.batch * super().flop

    def parameters(self) -> list[Parameter]:
        s = self.storage
        return [Array("a", s, (self.batch, self.m, self.k)), Array("b", s, (self.batch, self.k, self.n)),
                Array("out", s, (self.batch, self.m, self.n), "poison")]

    @property
    def units(self) -> int:
        return self.batch

    def place(self, unit: int, rows: Any) -> Any:
        return unit, rows

    def want(self, real: Numbers, inputs: dict[str, Any], unit: int, rows: Any) -> Any:
        return real(inputs["a"], (unit, rows)) @ real(inputs["b"], unit)

    def grids(self, e: Entry, sms: int) -> list[Grid]:
        return [(tiles((self.m, self.n), e["tile"]), self.batch, 1)]

    @classmethod
    def small(cls, e: Entry) -> Problem:
        m, n, k = e["tile"]
        return cls(e["dtype"], 1, m + 16, n, 2 * k, 2)


@dataclasses.dataclass(frozen=True)
class Activated(Tiled):
    """Bias and tanh-approximated GELU in the epilogue: the first half of a feed-forward layer."""
    kind = "mm_gelu"

    def parameters(self) -> list[Parameter]:
        s = self.storage
        return [Array("a", s, (self.m, self.k)), Array("b", s, (self.n, self.k)), Array("bias", s, (self.n,)), self.out]

    def want(self, real: Numbers, inputs: dict[str, Any], unit: int, rows: Any) -> Any:
        x = real(inputs["a"], rows) @ real(inputs["b"]).T + real(inputs["bias"])
        return 0.5 * x * (1 + real.xp.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3)))


@dataclasses.dataclass(frozen=True)
class SplitK(Tiled):
    """Few rows and a long sum, which is split over blocks that add to the result in memory."""
    splits: int = 8
    kind = "mm_splitk"
    clears = True
    # Nothing is rounded to 16 bits.
    TOLERANCE = {"bf16": 1e-4}

    @property
    def out(self) -> Array:
        return Array("out", "f32", (self.m, self.n), "poison")

    def parameters(self) -> list[Parameter]:
        return [Array("a", self.storage, (self.m, self.k)), Array("b", self.storage, (self.n, self.k)), self.out]

    def want(self, real: Numbers, inputs: dict[str, Any], unit: int, rows: Any) -> Any:
        return real(inputs["a"], rows) @ real(inputs["b"]).T

    def grids(self, e: Entry, sms: int) -> list[Grid]:
        return [(tiles((self.m, self.n), e["tile"]), self.splits, 1)]

    @classmethod
    def small(cls, e: Entry) -> Problem:
        m, n, k = e["tile"]
        # The last split has one step less than the first.
        return cls(e["dtype"], 1, m, n + 16, 3 * k, 2)


@dataclasses.dataclass(frozen=True)
class Quantised(Tiled):
    """Weights with a scale for each row's 128 columns, multiplied by activations that are not quantized."""

    @property
    def scale(self) -> Array:
        return Array("scale", "f32", (self.n, self.k // BLOCK), "scale")

    def scaled(self, real: Numbers, inputs: dict[str, Any], weights: Any) -> Any:
        """Weights, (n, k), multiplied by their scales."""
        blocks = weights.reshape(self.n, -1, BLOCK) * real(inputs["scale"])[:, :, None]
        return blocks.reshape(self.n, self.k)


@dataclasses.dataclass(frozen=True)
class Weights8(Quantised):
    """Weights in e4m3."""
    kind = "mm_w8"

    def parameters(self) -> list[Parameter]:
        return [Array("a", self.storage, (self.m, self.k)), Array("w", "e4m3", (self.n, self.k)), self.scale, self.out]

    def want(self, real: Numbers, inputs: dict[str, Any], unit: int, rows: Any) -> Any:
        return real(inputs["a"], rows) @ self.scaled(real, inputs, real(inputs["w"])).T


@dataclasses.dataclass(frozen=True)
class Weights4(Quantised):
    """4-bit weights in two's complement, stored as for a fast kernel: of 128 columns, byte j holds column j in its
    low half and column j + 64 in its high half."""
    kind = "mm_w4"

    def parameters(self) -> list[Parameter]:
        return [Array("a", self.storage, (self.m, self.k)), Array("w", "i8", (self.n, self.k // 2)), self.scale,
                self.out]

    def want(self, real: Numbers, inputs: dict[str, Any], unit: int, rows: Any) -> Any:
        return real(inputs["a"], rows) @ self.scaled(real, inputs, unpacked(real, real(inputs["w"]))).T

    def divides(self, e: Entry) -> bool:
        # Tiles with few rows are for decoding, which has few tokens.
        return (e["tile"][0] < 64) == (self.m < 64)


def unpacked(real: Numbers, pairs: Any) -> Any:
    """The numbers in pairs of 4 bits, which are given as bytes from -128 to 127."""
    high = real.xp.floor(pairs / 16)
    low = pairs - 16 * high
    low = low - 16 * real.xp.floor(low / 8)
    n, half = pairs.shape[0], BLOCK // 2
    return real.xp.stack([low.reshape(n, -1, half), high.reshape(n, -1, half)], 2).reshape(n, -1)


@dataclasses.dataclass(frozen=True)
class BlockScaled(Tiled):
    """Both sides in e4m3: a scale for each row's 128 columns on the left, for 128 x 128 on the right."""
    kind = "mm_blocks"

    def parameters(self) -> list[Parameter]:
        m, n, k = self.m, self.n, self.k
        return [Array("a", "e4m3", (m, k)), Array("b", "e4m3", (n, k)),
                Array("scale_a", "f32", (k // BLOCK, m), "scale"),
                Array("scale_b", "f32", (n // BLOCK, k // BLOCK), "scale"), self.out]

    def want(self, real: Numbers, inputs: dict[str, Any], unit: int, rows: Any) -> Any:
        scale_b = real(inputs["scale_b"])
        b = real(inputs["b"]).reshape(self.n // BLOCK, BLOCK, -1, BLOCK) * scale_b[:, None, :, None]
        scale_a = real(inputs["scale_a"], (slice(None), rows)).T
        a = real(inputs["a"], rows).reshape(len(rows), -1, BLOCK) * scale_a[:, :, None]
        return a.reshape(len(rows), -1) @ b.reshape(self.n, -1).T

    @classmethod
    def small(cls, e: Entry) -> Problem:
        m, n, k = e["tile"]
        return cls(e["dtype"], 1, m + 16, 2 * n, 2 * k)


@dataclasses.dataclass(frozen=True)
class GatedUnit(Tiled):
    """silu(x gate^T) * (x up^T): two matmuls of the same rows."""
    kind = "gated_unit"

    @property
    def flop(self) -> float:
        return 2 * super().flop

    def parameters(self) -> list[Parameter]:
        s, w = self.storage, (self.n, self.k)
        return [Array("x", s, (self.m, self.k)), Array("gate", s, w), Array("up", s, w), self.out]

    def want(self, real: Numbers, inputs: dict[str, Any], unit: int, rows: Any) -> Any:
        x = real(inputs["x"], rows)
        gate = x @ real(inputs["gate"]).T
        return gate * real.sigmoid(gate) * (x @ real(inputs["up"]).T)


@dataclasses.dataclass(frozen=True)
class OfNorm(Tiled):
    """rmsnorm(x) * weight, times a matrix: the rows' scale is computed alongside the matmul and applied after it."""
    kind = "mm_of_norm"
    EPSILON = 1e-5

    def parameters(self) -> list[Parameter]:
        s = self.storage
        return [Array("x", s, (self.m, self.k)), Array("weight", s, (self.k,)), Array("b", s, (self.n, self.k)),
                self.out]

    def want(self, real: Numbers, inputs: dict[str, Any], unit: int, rows: Any) -> Any:
        x = real(inputs["x"], rows)
        scale = 1 / real.xp.sqrt(real.xp.mean(x ** 2, -1, keepdims=True) + self.EPSILON)
        return (x * scale * real(inputs["weight"])) @ real(inputs["b"]).T


@dataclasses.dataclass(frozen=True)
class Ragged(Tiled):
    """Rows in order of their expert. Each expert has a separate matrix, (experts, n, k)."""
    experts: int = 64
    kind = "mm_ragged"

    @property
    def size(self) -> str:
        return f"{super().size} e{self.experts}"

    @property
    def counts(self) -> np.ndarray:
        """Number of rows of each expert, some twice as many as others; the same in every run."""
        weights = np.random.default_rng(4).uniform(0.5, 1.5, self.experts)
        ends = np.rint(np.cumsum(weights) / weights.sum() * self.m).astype(np.int64)
        return np.diff(ends, prepend=0)

    @property
    def ends(self) -> np.ndarray:
        return np.cumsum(self.counts).astype(np.int32)

    def parameters(self) -> list[Parameter]:
        s = self.storage
        return [Array("x", s, (self.m, self.k)), Array("w", s, (self.experts, self.n, self.k)),
                Array("ends", "i32", (self.experts,), self.ends), self.out]

    @property
    def units(self) -> int:
        return self.experts

    def rows(self, unit: int) -> int:
        return int(self.counts[unit])

    def place(self, unit: int, rows: Any) -> Any:
        return rows + int(self.ends[unit] - self.counts[unit])

    def want(self, real: Numbers, inputs: dict[str, Any], unit: int, rows: Any) -> Any:
        return real(inputs["x"], self.place(unit, rows)) @ real(inputs["w"], unit).T

    def grids(self, e: Entry, sms: int) -> list[Grid]:
        return persistent(e, sum(tiles((int(m), self.n), e["tile"]) for m in self.counts), sms)

    @classmethod
    def small(cls, e: Entry) -> Problem:
        m, n, k = e["tile"]
        return cls(e["dtype"], 1, 3 * m + 8, n + 16, 2 * k, 3)


@dataclasses.dataclass(frozen=True)
class Gathered(Ragged):
    """Mixture of experts: `choices` experts for each of m / choices tokens. Rows are gathered by a list in order of
    their expert, padded to whole blocks of 128 slots, each of which belongs to one expert. The output is in the order
    of slots."""
    choices: int = 8
    kind = "moe"
    SLOTS = 128

    @property
    def size(self) -> str:
        return f"{super().size} top{self.choices}"

    @property
    def tokens(self) -> int:
        return self.m // self.choices

    @property
    def blocks(self) -> np.ndarray:
        """Number of blocks of slots for each expert."""
        return -(-self.counts // self.SLOTS)

    @property
    def experts_of_blocks(self) -> np.ndarray:
        return np.repeat(np.arange(self.experts), self.blocks).astype(np.int32)

    @property
    def rows_of_slots(self) -> np.ndarray:
        """The token of each slot; padding has a nonexistent one."""
        # Tokens in turn, so none chooses an expert twice, in random order within an expert.
        random = np.random.default_rng(5)
        found = np.full(int(self.blocks.sum()) * self.SLOTS, self.tokens, np.int32)
        first = np.cumsum(self.blocks) - self.blocks
        for expert in range(self.experts):
            rows = self.place_of_rows(expert) % self.tokens
            at = int(first[expert]) * self.SLOTS
            found[at:at + len(rows)] = random.permutation(rows)
        return found

    def place_of_rows(self, expert: int) -> np.ndarray:
        end = int(self.ends[expert])
        return np.arange(end - int(self.counts[expert]), end)

    def parameters(self) -> list[Parameter]:
        s, slots = self.storage, self.rows_of_slots
        return [Array("x", s, (self.tokens, self.k)), Array("w", s, (self.experts, self.n, self.k)),
                Array("rows", "i32", slots.shape, slots),
                Array("experts", "i32", self.experts_of_blocks.shape, self.experts_of_blocks),
                Array("out", s, (len(slots), self.n), "poison")]

    def place(self, unit: int, rows: Any) -> Any:
        return rows + int((np.cumsum(self.blocks) - self.blocks)[unit]) * self.SLOTS

    def want(self, real: Numbers, inputs: dict[str, Any], unit: int, rows: Any) -> Any:
        return real(inputs["x"], real(inputs["rows"], self.place(unit, rows))) @ real(inputs["w"], unit).T

    def grids(self, e: Entry, sms: int) -> list[Grid]:
        return persistent(e, tiles((int(self.blocks.sum()) * self.SLOTS, self.n), e["tile"]), sms)

    def divides(self, e: Entry) -> bool:
        return self.SLOTS % e["tile"][0] == 0

    @classmethod
    def small(cls, e: Entry) -> Problem:
        m, n, k = e["tile"]
        return cls(e["dtype"], 1, 2 * m + 16, n + 16, 2 * k, 3, 2)


@dataclasses.dataclass(frozen=True)
class Lists(Problem):
    """Matmuls of several sizes in one launch, from lists of arrays: (m, n, k) each, with right matrices (k, n)."""
    sizes: tuple[tuple[int, int, int], ...]
    kind = "mm_lists"

    @property
    def size(self) -> str:
        m, n, k = (sum(s[i] for s in self.sizes) for i in range(3))
        return f"{len(self.sizes)} of {m}x{n}x{k} in all"

    @property
    def flop(self) -> float:
        return sum(2.0 * m * n * k for m, n, k in self.sizes)

    def parameters(self) -> list[Parameter]:
        s = self.storage
        return [Arrays("a", tuple(Array(f"a{i}", s, (m, k)) for i, (m, _, k) in enumerate(self.sizes))),
                Arrays("b", tuple(Array(f"b{i}", s, (k, n)) for i, (_, n, k) in enumerate(self.sizes))),
                Arrays("out", tuple(Array(f"c{i}", s, (m, n), "poison") for i, (m, n, _) in enumerate(self.sizes)))]

    @property
    def units(self) -> int:
        return len(self.sizes)

    def rows(self, unit: int) -> int:
        return self.sizes[unit][0]

    def place(self, unit: int, rows: Any) -> Any:
        return unit, rows

    def want(self, real: Numbers, inputs: dict[str, Any], unit: int, rows: Any) -> Any:
        return real(inputs["a"][unit], rows) @ real(inputs["b"][unit])

    def grids(self, e: Entry, sms: int) -> list[Grid]:
        return persistent(e, sum(tiles((m, n), e["tile"]) for m, n, _ in self.sizes), sms)

    @classmethod
    def small(cls, e: Entry) -> Problem:
        m, n, k = e["tile"]
        return cls(e["dtype"], 1, ((m + 16, n, 2 * k), (m, n + 16, k), (32, n, 3 * k)))


@dataclasses.dataclass(frozen=True)
class Convolution(Problem):
    """A convolution of images, (images, height, width, channels), by `taps` x `taps`. The input includes its border,
    so the result has the height and width of the case. Weights are (filters, taps * taps, channels)."""
    images: int
    height: int
    width: int
    channels: int
    filters: int
    taps: int = 3
    kind = "conv"

    @property
    def size(self) -> str:
        return f"{self.images}x{self.height}x{self.width}x{self.channels} {self.filters}x{self.taps}x{self.taps}"

    @property
    def flop(self) -> float:
        return 2.0 * self.images * self.height * self.width * self.channels * self.filters * self.taps ** 2

    def parameters(self) -> list[Parameter]:
        s, border = self.storage, self.taps - 1
        return [Array("x", s, (self.images, self.height + border, self.width + border, self.channels)),
                Array("w", s, (self.filters, self.taps ** 2, self.channels)),
                Array("out", s, (self.images, self.height, self.width, self.filters), "poison")]

    @property
    def units(self) -> int:
        return self.images

    def rows(self, unit: int) -> int:
        return self.height * self.width

    def place(self, unit: int, rows: Any) -> Any:
        return unit, rows // self.width, rows % self.width

    def want(self, real: Numbers, inputs: dict[str, Any], unit: int, rows: Any) -> Any:
        _, i, j = self.place(unit, rows)
        w = real(inputs["w"])
        return sum(real(inputs["x"], (unit, i + r, j + c)) @ w[:, r * self.taps + c].T for r in range(self.taps)
                   for c in range(self.taps))

    def constants(self) -> dict[str, Any]:
        return {"taps": self.taps}

    def grids(self, e: Entry, sms: int) -> list[Grid]:
        h, w, filters, _ = e["tile"]
        return [(tiles((self.filters,), (filters,)), tiles((self.height, self.width), (h, w)), self.images)]

    @classmethod
    def small(cls, e: Entry) -> Problem:
        h, w, filters, channels = e["tile"]
        return cls(e["dtype"], 1, 2, h + 2, w, 2 * channels, filters, **e["constants"])


def problems() -> list[Problem]:
    return [
        Product("bf16", 1, 8192, 8192, 8192),
        Product("fp8", 1, 8192, 8192, 8192),
        Product("int8", 2, 8192, 8192, 8192),
        Product("tf32", 2, 8192, 8192, 4096),
        Product("fp16", 2, 8192, 8192, 8192),
        Product("bf16", 2, 4096, 4096, 4096),
        Product("bf16", 2, 8192, 8192, 1024),
        Product("bf16", 2, 8192, 8192, 8192, nt=False),
        Product("bf16", 3, 2048, 2048, 2048),
        Product("bf16", 3, 1000, 3000, 4096),
        Product("bf16", 3, 65536, 1024, 1024),
        Product("fp16", 3, 8192, 8192, 512),
        Product("fp8", 3, 8192, 8192, 1024),
        # A feed-forward layer of GPT-3 6.7B and one of Llama 3 8B, whose projections of queries, keys and values are
        # one matmul.
        Activated("bf16", 4, 4096, 16384, 4096),
        GatedUnit("bf16", 4, 4096, 14336, 4096),
        OfNorm("bf16", 4, 8192, 6144, 4096),
        # Weights of Llama 3 8B for a prompt, and of Llama 3 70B for the newest tokens of 16 sequences.
        Weights8("bf16", 4, 4096, 14336, 4096),
        Weights4("bf16", 4, 4096, 14336, 4096),
        Weights4("bf16", 4, 16, 28672, 8192),
        # As in DeepSeek V3.
        BlockScaled("fp8", 4, 4096, 7168, 16384),
        # Experts of Qwen3 30B, which has 128, on two devices.
        Ragged("bf16", 4, 32768, 1536, 2048, 64),
        Gathered("bf16", 4, 32768, 1536, 2048, 64, 8),
        Lists("bf16", 4, ((8192, 4096, 2048), (4096, 4096, 4096), (2048, 8192, 4096), (1024, 2048, 8192),
                          (512, 4096, 4096), (256, 1024, 4096))),
        Batched("bf16", 4, 1024, 1024, 1024, 64),
        SplitK("bf16", 4, 128, 4096, 16384),
        # From the middle of an image generator.
        Convolution("bf16", 4, 16, 64, 64, 512, 512),
    ]
