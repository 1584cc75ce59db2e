"""Compares results with expectations, and locates differences."""
from __future__ import annotations

import dataclasses

import numpy as np

from . import dtypes
from .launches import Expect


@dataclasses.dataclass(frozen=True)
class Difference:
    """The first wrong element of an array, and the number of wrong elements."""
    where: str
    wrong: int
    of: int
    found: str
    expected: str

    def __str__(self) -> str:
        return f"{self.where}: {self.found}, expected {self.expected}; {self.wrong} of {self.of} are wrong"


def compare(name: str, got: np.ndarray, dtype: str, want: np.ndarray, e: Expect) -> Difference | None:
    """Compares storage (`got`) with storage for the exact ways to match, or with numbers for `value`."""
    if got.shape != want.shape:
        return Difference(name, got.size, got.size, f"shape {got.shape}", f"shape {want.shape}")
    if e.match == "sorted":
        bits = np.dtype(f"u{got.itemsize}")
        got, want = np.sort(got.view(bits), axis=None), np.sort(want.view(bits), axis=None)
        wrong = got != want
    elif e.match in ("bits", "bits_or_nan"):
        bits = np.dtype(f"u{got.itemsize}")
        got, want = np.ascontiguousarray(got), np.ascontiguousarray(want)
        wrong = got.view(bits) != want.view(bits)
        if e.match == "bits_or_nan":
            # The expected bits may be stored as integers.
            storage = dtypes.STORAGE[dtype]
            wrong &= ~(_nan(dtype, got.view(storage)) & _nan(dtype, want.view(storage)))
    elif e.match == "value":
        got = dtypes.decode(dtype, got)
        want = dtypes.decode(dtype, want) if want.dtype == dtypes.STORAGE[dtype] else want
        wrong = _far(got, want, e)
    else:
        raise ValueError(f"unknown match {e.match!r}")
    count = int(np.count_nonzero(wrong))
    if count == 0 or (e.match == "value" and count / wrong.size <= e.bad):
        return None
    first = tuple(int(i) for i in np.argwhere(wrong)[0])
    at = f"{name}[{', '.join(map(str, first))}]"
    return Difference(at, count, wrong.size, _show(got[first], e.match), _show(want[first], e.match))


def _nan(dtype: str, storage: np.ndarray) -> np.ndarray:
    return np.isnan(dtypes.decode(dtype, storage)) if dtype in dtypes.FLOATS else np.zeros(storage.shape, bool)


def _far(got: np.ndarray, want: np.ndarray, e: Expect) -> np.ndarray:
    if np.issubdtype(got.dtype, np.integer) and np.issubdtype(want.dtype, np.integer):
        if not (e.rtol or e.atol):
            return got.astype(object) != want.astype(object) if got.dtype.kind != want.dtype.kind else got != want
        limit = e.atol + e.rtol * np.abs(want.astype(np.float64))
        return np.abs(got.astype(np.float64) - want.astype(np.float64)) > limit
    got, want = got.astype(np.float64), want.astype(np.float64)
    with np.errstate(invalid="ignore"):
        same = (got == want) | (np.isnan(got) & np.isnan(want))
        limit = e.atol + e.rtol * np.abs(want)
        # The limit around an infinity is infinite, and would accept everything.
        near = same | (np.isfinite(limit) & (np.abs(got - want) <= limit))
    if e.loose is not None:
        exact = np.setdiff1d(np.arange(len(got)), e.loose)
        near[exact] = (same & ((got != 0) | (np.signbit(got) == np.signbit(want))))[exact]
    return ~near


def _show(value, match: str) -> str:
    if match == "value":
        return repr(value.item())
    return f"{value.item()!r}"


def compare_lines(printed: str, expected: list[str]) -> str | None:
    """A complaint unless the lines are the expected ones, in any order."""
    have, want = sorted(printed.splitlines()), sorted(expected)
    if have == want:
        return None
    missing = next((line for line in want if have.count(line) < want.count(line)), None)
    if missing is not None:
        return f"output: the line {missing!r} is missing"
    surplus = next(line for line in have if have.count(line) > want.count(line))
    return f"output: the line {surplus!r} was not expected"
