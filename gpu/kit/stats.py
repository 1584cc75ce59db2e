"""Statistics of repeated measurements: medians, and the interpretation of their spread."""
from __future__ import annotations

import dataclasses
import math
from typing import Iterable, Sequence


@dataclasses.dataclass(frozen=True)
class Summary:
    """A sample. `low` and `high` are its extremes, `q1` and `q3` its quartiles."""
    n: int
    median: float
    low: float
    high: float
    q1: float
    q3: float

    @property
    def spread(self) -> float:
        """The distance of the quartiles relative to the median; 0 if the median is 0."""
        return (self.q3 - self.q1) / abs(self.median) if self.median else 0.0

    def fields(self) -> dict[str, float]:
        """The fields of a measurement record."""
        return {"n": self.n, "median": self.median, "low": self.low, "high": self.high, "q1": self.q1, "q3": self.q3}

    def map(self, f) -> "Summary":
        """The summary of `f` of each value, for a monotonic `f`, such as the conversion of a time to a rate."""
        ends, quartiles = sorted((f(self.low), f(self.high))), sorted((f(self.q1), f(self.q3)))
        return Summary(self.n, f(self.median), *ends, *quartiles)


def quantile(ordered: Sequence[float], q: float) -> float:
    """A quantile of values in ascending order, by linear interpolation between neighbors."""
    at = q * (len(ordered) - 1)
    below = math.floor(at)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (at - below) * (ordered[above] - ordered[below])


def summary(values: Iterable[float]) -> Summary:
    ordered = sorted(float(v) for v in values)
    if not ordered:
        raise ValueError("no values")
    if not all(math.isfinite(v) for v in ordered):
        raise ValueError("values that are not finite")
    q1, median, q3 = (quantile(ordered, q) for q in (0.25, 0.5, 0.75))
    return Summary(len(ordered), median, ordered[0], ordered[-1], q1, q3)


@dataclasses.dataclass(frozen=True)
class Line:
    """`y = intercept + slope * x`; `residual` is the largest distance of a point from the line."""
    slope: float
    intercept: float
    residual: float


def line(points: Sequence[tuple[float, float]]) -> Line:
    """Least squares. A chain of n operations takes `latency + n * rate`, so two lengths separate the two."""
    xs, ys = [float(x) for x, _ in points], [float(y) for _, y in points]
    if len(set(xs)) < 2:
        raise ValueError("a line needs two different lengths")
    mx, my = sum(xs) / len(xs), sum(ys) / len(ys)
    slope = sum((x - mx) * (y - my) for x, y in zip(xs, ys)) / sum((x - mx) ** 2 for x in xs)
    intercept = my - slope * mx
    residual = max(abs(y - intercept - slope * x) for x, y in zip(xs, ys))
    return Line(slope, intercept, residual)


def distinguishable(a: Summary, b: Summary) -> bool:
    """Whether two medians differ by more than the spread of the runs: their interquartile ranges do not overlap."""
    return a.q1 > b.q3 or b.q1 > a.q3


def paired_ratio(a: Sequence[float], b: Sequence[float]) -> Summary:
    """`a[i] / b[i]` of interleaved runs, in which slow changes, such as of clocks, cancel."""
    if len(a) != len(b):
        raise ValueError("interleaved runs come in pairs")
    return summary(x / y for x, y in zip(a, b))
