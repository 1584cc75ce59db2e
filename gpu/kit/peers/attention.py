"""Cases of forward attention, as used in training and in serving systems.

Arrays have the kernels' layout: queries (heads of all batches, length, d), keys and values likewise. Heads of a batch
are adjacent, and `group` consecutive heads of queries share one head of keys and values.
"""
from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np

from .problem import Array, Entry, Grid, Number, Numbers, Parameter, Problem, Step


def power(n: int) -> int:
    """The next power of two: the width of a tile for an array with n columns."""
    return 1 << (n - 1).bit_length()


@dataclasses.dataclass(frozen=True)
class Attention(Problem):
    """All queries of sequences with the same length. `group` is 1 if each head has separate keys."""
    batch: int
    heads: int
    length: int
    d: int
    causal: bool = False
    kind = "attention"
    seconds = 12.0

    group = 1

    @property
    def size(self) -> str:
        kv = f" kv{self.heads // self.group}" if self.group > 1 else ""
        return f"b{self.batch} h{self.heads}{kv} d{self.d} s{self.length}{' causal' if self.causal else ''}"

    @property
    def pairs(self) -> float:
        """The number of pairs of a query and an unmasked key in each head."""
        return self.length * self.length * (0.5 if self.causal else 1)

    @property
    def flop(self) -> float:
        return 4.0 * self.batch * self.heads * self.pairs * self.d

    @property
    def scale(self) -> float:
        return 1 / math.sqrt(self.d)

    def parameters(self) -> list[Parameter]:
        heads = self.batch * self.heads
        q, k = (heads, self.length, self.d), (heads // self.group, self.length, self.d)
        s = self.storage
        return [Array("q", s, q), Array("k", s, k), Array("v", s, k), Array("out", s, q, "poison"),
                Number("scale", self.scale)]

    @property
    def units(self) -> int:
        return self.batch * self.heads

    def rows(self, unit: int) -> int:
        return self.length

    def place(self, unit: int, rows: Any) -> Any:
        return unit, rows

    def logits(self, real: Numbers, inputs: dict[str, Any], unit: int, rows: Any) -> Any:
        return real(inputs["q"], (unit, rows)) @ real(inputs["k"], unit // self.group).T * self.scale

    def visible(self, row: Any, key: Any) -> Any:
        """The keys that a row attends to."""
        return key <= row if self.causal else key >= 0

    def want(self, real: Numbers, inputs: dict[str, Any], unit: int, rows: Any) -> Any:
        s = self.logits(real, inputs, unit, rows)
        s = real.xp.where(self.visible(rows[:, None], real.arange(self.length)[None, :]), s, -math.inf)
        return real.softmax(s) @ real(inputs["v"], unit // self.group)

    def constants(self) -> dict[str, Any]:
        return {"d": self.d, "causal": self.causal}

    def divides(self, e: Entry) -> bool:
        return all(self.length % t == 0 for t in e["tile"])

    def grids(self, e: Entry, sms: int) -> list[Grid]:
        return [(self.length // e["tile"][0], self.batch * self.heads, 1)]

    @classmethod
    def small(cls, e: Entry) -> Problem:
        return cls(e["dtype"], 1, 1, 1, 2 * max(e["tile"]), **e["constants"])


@dataclasses.dataclass(frozen=True)
class Grouped(Attention):
    """Groups of heads of queries share keys and values. Causal."""
    causal: bool = True
    group: int = 4
    kind = "attention_grouped"

    def constants(self) -> dict[str, Any]:
        return {"d": self.d, "group": self.group}
    @classmethod
    def small(cls, e: Entry) -> Problem:
        c = e["constants"]
        return cls(e["dtype"], 1, 1, c["group"], 2 * max(e["tile"]), **c)


@dataclasses.dataclass(frozen=True)
class Window(Grouped):
    """Each row attends to the last `window` keys up to its own."""
    window: int = 4096
    kind = "attention_window"
    # One of the competitors is first compiled by PyTorch.
    seconds = 40.0

    @property
    def size(self) -> str:
        return f"{super().size} w{self.window}"

    @property
    def pairs(self) -> float:
        return self.window * (self.length - self.window / 2)

    def visible(self, row: Any, key: Any) -> Any:
        return (key <= row) & (row - key < self.window)

    def parameters(self) -> list[Parameter]:
        return [*super().parameters(), Number("window", self.window, "i32")]

    @classmethod
    def small(cls, e: Entry) -> Problem:
        c = e["constants"]
        # Covers blocks of keys that a tile does not attend to, in part, and completely.
        return cls(e["dtype"], 1, 1, c["group"], 5 * max(e["tile"]), **c, window=2 * max(e["tile"]) + 24)


@dataclasses.dataclass(frozen=True)
class Capped(Grouped):
    """Capped logits: cap * tanh(x / cap)."""
    cap: float = 50.0
    kind = "attention_capped"
    seconds = 40.0

    def parameters(self) -> list[Parameter]:
        return [*super().parameters(), Number("cap", self.cap)]

    def logits(self, real: Numbers, inputs: dict[str, Any], unit: int, rows: Any) -> Any:
        return real.xp.tanh(super().logits(real, inputs, unit, rows) / self.cap) * self.cap

    @classmethod
    def small(cls, e: Entry) -> Problem:
        c = e["constants"]
        # A low cap, so that it has an effect.
        return cls(e["dtype"], 1, 1, c["group"], 2 * max(e["tile"]), **c, cap=2.0)


@dataclasses.dataclass(frozen=True)
class Biased(Attention):
    """A bias is added to the logits of each head, the same in all batches."""
    kind = "attention_biased"

    def parameters(self) -> list[Parameter]:
        q, k, v, *rest = super().parameters()
        return [q, k, v, Array("bias", self.storage, (self.heads, self.length, self.length)), *rest]

    def logits(self, real: Numbers, inputs: dict[str, Any], unit: int, rows: Any) -> Any:
        return super().logits(real, inputs, unit, rows) + real(inputs["bias"], (unit % self.heads, rows))

    def constants(self) -> dict[str, Any]:
        return {"d": self.d}

    @classmethod
    def small(cls, e: Entry) -> Problem:
        return cls(e["dtype"], 1, 2, 2, 2 * max(e["tile"]), **e["constants"])


@dataclasses.dataclass(frozen=True)
class Latent(Attention):
    """Queries and keys of d + rotated columns, values of d: latent attention before its prefill is absorbed.
    Causal."""
    causal: bool = True
    rotated: int = 64
    kind = "attention_latent"

    @property
    def size(self) -> str:
        return f"b{self.batch} h{self.heads} d{self.d + self.rotated} v{self.d} s{self.length} causal"

    @property
    def flop(self) -> float:
        return 2.0 * self.batch * self.heads * self.pairs * (2 * self.d + self.rotated)

    @property
    def scale(self) -> float:
        return 1 / math.sqrt(self.d + self.rotated)

    def parameters(self) -> list[Parameter]:
        heads, s = self.batch * self.heads, self.storage
        wide, narrow = (heads, self.length, self.d + self.rotated), (heads, self.length, self.d)
        return [Array("q", s, wide), Array("k", s, wide), Array("v", s, narrow), Array("out", s, narrow, "poison"),
                Number("scale", self.scale)]

    def constants(self) -> dict[str, Any]:
        return {"d": self.d, "rotated": self.rotated}

    @classmethod
    def small(cls, e: Entry) -> Problem:
        return cls(e["dtype"], 1, 1, 1, 2 * max(e["tile"]), **e["constants"])


@dataclasses.dataclass(frozen=True)
class Packed(Grouped):
    """Packed sequences of different lengths, (tokens, heads * d): `batch` sequences with `length` tokens in total."""
    kind = "attention_packed"

    @property
    def size(self) -> str:
        return super().size.removesuffix(" causal")

    @property
    def lengths(self) -> np.ndarray:
        """Lengths of at least an eighth of the mean, the same in every run."""
        weights = np.random.default_rng(1).uniform(0.125, 1.875, self.batch)
        ends = np.rint(np.cumsum(weights) / weights.sum() * self.length).astype(np.int64)
        return np.diff(ends, prepend=0)

    @property
    def starts(self) -> np.ndarray:
        return np.concatenate([[0], np.cumsum(self.lengths)]).astype(np.int32)

    @property
    def flop(self) -> float:
        return 2.0 * self.heads * self.d * float((self.lengths.astype(np.float64) ** 2).sum())

    def parameters(self) -> list[Parameter]:
        s, q, k = self.storage, (self.length, self.heads * self.d), (self.length, self.heads // self.group * self.d)
        return [Array("q", s, q), Array("k", s, k), Array("v", s, k),
                Array("starts", "i32", (self.batch + 1,), self.starts),
                Array("out", s, q, "poison"), Number("scale", self.scale)]

    def rows(self, unit: int) -> int:
        return int(self.lengths[unit // self.heads])

    def _columns(self, head: int) -> slice:
        return slice(head * self.d, (head + 1) * self.d)

    def place(self, unit: int, rows: Any) -> Any:
        return rows + int(self.starts[unit // self.heads]), self._columns(unit % self.heads)

    def want(self, real: Numbers, inputs: dict[str, Any], unit: int, rows: Any) -> Any:
        sequence, head = divmod(unit, self.heads)
        tokens = slice(int(self.starts[sequence]), int(self.starts[sequence + 1]))
        shared = self._columns(head // self.group)
        query = real(inputs["q"], (rows + tokens.start, self._columns(head)))
        s = query @ real(inputs["k"], (tokens, shared)).T * self.scale
        s = real.xp.where(real.arange(self.rows(unit))[None, :] <= rows[:, None], s, -math.inf)
        return real.softmax(s) @ real(inputs["v"], (tokens, shared))

    def divides(self, e: Entry) -> bool:
        return True

    def grids(self, e: Entry, sms: int) -> list[Grid]:
        return [(-(-int(self.lengths.max()) // e["tile"][0]), self.heads, self.batch)]

    @classmethod
    def small(cls, e: Entry) -> Problem:
        c = e["constants"]
        return cls(e["dtype"], 1, 3, c["group"], 3 * max(e["tile"]) + 8, **c)


@dataclasses.dataclass(frozen=True)
class Decoding(Problem):
    """The newest query of each sequence: `group` heads of queries share the keys of each of `heads` heads."""
    batch: int
    heads: int
    group: int
    length: int
    d: int = 128

    @property
    def scale(self) -> float:
        return 1 / math.sqrt(self.d)

    def rows(self, unit: int) -> int:
        return self.group

    @property
    def units(self) -> int:
        return self.batch * self.heads

    def place(self, unit: int, rows: Any) -> Any:
        return unit, rows

    def attend(self, real: Numbers, q: Any, k: Any, v: Any) -> Any:
        return real.softmax(q @ k.T * self.scale) @ v

    def constants(self) -> dict[str, Any]:
        return {"d": self.d, "group": self.group}


@dataclasses.dataclass(frozen=True)
class Paged(Decoding):
    """Keys and values are in pages, (pages, tokens of a page, heads, d), whose numbers are in a table. `length` is
    the maximum length of a sequence."""
    page: int = 64
    kind = "attention_paged"

    @property
    def size(self) -> str:
        return f"b{self.batch} h{self.heads * self.group} kv{self.heads} d{self.d} s{self.length} page{self.page}"

    @property
    def bytes(self) -> float:
        return 2.0 * 2 * float(self.lengths.sum()) * self.heads * self.d

    @property
    def lengths(self) -> np.ndarray:
        """Lengths of the sequences, at least an eighth of the maximum, the same in every run."""
        return np.random.default_rng(2).integers(self.length // 8, self.length + 1, self.batch).astype(np.int32)

    @property
    def table(self) -> np.ndarray:
        """The pages of each sequence, in random order as in a long-running system."""
        most = -(-self.length // self.page)
        return np.random.default_rng(3).permutation(self.batch * most).reshape(self.batch, most).astype(np.int32)

    def parameters(self) -> list[Parameter]:
        q, s = (self.batch * self.heads, self.group, self.d), self.storage
        kv = (self.table.size, self.page, self.heads, self.d)
        return [Array("q", s, q), Array("k", s, kv), Array("v", s, kv),
                Array("pages", "i32", self.table.shape, self.table),
                Array("lengths", "i32", self.lengths.shape, self.lengths), Array("out", s, q, "poison"),
                Number("scale", self.scale)]

    def want(self, real: Numbers, inputs: dict[str, Any], unit: int, rows: Any) -> Any:
        sequence, head = divmod(unit, self.heads)
        length = int(self.lengths[sequence])
        pages = self.table[sequence, :-(-length // self.page)].tolist()

        def keys(name: str) -> Any:
            return real(inputs[name], (pages, slice(None), head)).reshape(-1, self.d)[:length]

        return self.attend(real, real(inputs["q"], (unit, rows)), keys("k"), keys("v"))

    def constants(self) -> dict[str, Any]:
        return {**super().constants(), "page": self.page}

    def grids(self, e: Entry, sms: int) -> list[Grid]:
        return [(self.batch * self.heads, 1, 1)]

    @classmethod
    def small(cls, e: Entry) -> Problem:
        c = e["constants"]
        return cls(e["dtype"], 1, 2, 2, c["group"], 4 * c["page"], c["d"], c["page"])


@dataclasses.dataclass(frozen=True)
class Split(Decoding):
    """Few long sequences: keys are split over blocks, and a second kernel combines the partial results."""
    splits: int = 32
    kind = "attention_split"

    @property
    def size(self) -> str:
        return f"b{self.batch} h{self.heads * self.group} kv{self.heads} d{self.d} s{self.length}"

    @property
    def bytes(self) -> float:
        return 2.0 * 2 * self.batch * self.heads * self.length * self.d

    def parameters(self) -> list[Parameter]:
        q, kv, s = (self.units, self.group, self.d), (self.units, self.length, self.d), self.storage
        return [Array("q", s, q), Array("k", s, kv), Array("v", s, kv),
                Array("part", "f32", (self.units, self.splits, self.group, self.d), "poison"),
                Array("sums", "f32", (self.units, self.splits, self.group), "poison"), Array("out", s, q, "poison"),
                Number("scale", self.scale)]

    def want(self, real: Numbers, inputs: dict[str, Any], unit: int, rows: Any) -> Any:
        return self.attend(real, real(inputs["q"], (unit, rows)), real(inputs["k"], unit), real(inputs["v"], unit))

    def constants(self) -> dict[str, Any]:
        return {**super().constants(), "splits": self.splits}

    def steps(self, e: Entry, sms: int) -> list[Step]:
        return [Step(e["name"], [(self.units, self.splits, 1)], ("q", "k", "v", "part", "sums", "scale")),
                Step(e["then"], [(self.units, self.group, 1)], ("part", "sums", "out"))]

    @classmethod
    def small(cls, e: Entry) -> Problem:
        c = e["constants"]
        # The last split has one tile of keys, the others two, and the last tile is incomplete.
        return cls(e["dtype"], 1, 1, 2, c["group"], (2 * c["splits"] - 1) * e["tile"][1] - 8, c["d"], c["splits"])


def problems() -> list[Problem]:
    found: list[Problem] = []
    for d, causal, length, tier in ((128, False, 8192, 1), (128, True, 8192, 2), (64, False, 8192, 2),
                                    (128, False, 1024, 2), (64, True, 8192, 3), (128, False, 4096, 3),
                                    (128, False, 16384, 3), (128, True, 1024, 3), (128, True, 16384, 3),
                                    (64, False, 1024, 3)):
        # Sixteen heads, and as many batches as give 16384 rows.
        found.append(Attention("bf16", tier, max(1, 16384 // length), 16, length, d, causal))
    return found + [
        # As in Phi-3 mini, Gemma 7B, Llama 3 8B, Mistral 7B, Gemma 2 27B, T5, DeepSeek V3 on eight devices.
        Attention("bf16", 4, 1, 32, 8192, 96, True),
        Attention("bf16", 4, 2, 16, 4096, 256, True),
        Grouped("bf16", 4, 1, 32, 8192, 128, group=4),
        Window("bf16", 4, 1, 32, 16384, 128, group=4, window=4096),
        Capped("bf16", 4, 2, 32, 4096, 128, group=2),
        Biased("bf16", 4, 8, 16, 2048, 64),
        Latent("bf16", 4, 4, 16, 4096, 128),
        Packed("bf16", 4, 16, 32, 16384, 128, group=4),
        # As in Llama 3 70B: 64 sequences at once, and one long one.
        Paged("bf16", 4, 64, 8, 8, 8192),
        Split("bf16", 4, 1, 8, 8, 131072),
    ]
