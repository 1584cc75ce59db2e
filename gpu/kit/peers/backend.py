"""Timing with PyTorch: CUDA graphs of launches that alternate between input sets, with the competitors' replays
interleaved."""
from __future__ import annotations

import dataclasses
from typing import Any, Callable, Sequence

Launcher = Callable[[], Any]

# Maximum duration of a replay: longer graphs would only take more time.
REPLAY_US = 40_000.0


def prepare(config: dict[str, Any]) -> None:
    """Does the long imports."""
    import torch  # noqa: F401
    try:
        import triton  # noqa: F401
    except ImportError:
        # Then there are no Triton kernels; the cases report that.
        pass


@dataclasses.dataclass
class Contender:
    """A competitor on one case. `launchers` do the same work on different input sets, and `output` returns the
    results of the first. `who` is the implementation, `config` one of its variants."""
    who: str
    config: str
    launchers: Sequence[Launcher]
    output: Callable[[], Any]
    # Called before the check: makes every element of the output wrong.
    poison: Callable[[], None]
    about: dict[str, Any] = dataclasses.field(default_factory=dict)

    @property
    def name(self) -> str:
        return f"{self.who} {self.config}".strip()


class Replay:
    """A captured graph of `count` launches."""

    def __init__(self, launchers: Sequence[Launcher], count: int):
        import torch
        self.count = count
        self.graph = torch.cuda.CUDAGraph()
        # Allocation and compilation in the first call must not happen during capture.
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for launch in launchers:
                launch()
        torch.cuda.current_stream().wait_stream(side)
        torch.cuda.synchronize()
        with torch.cuda.graph(self.graph):
            for i in range(count):
                launchers[i % len(launchers)]()

    def microseconds(self) -> float:
        """Microseconds per launch, measured with one replay."""
        import torch
        first, last = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        first.record()
        self.graph.replay()
        last.record()
        torch.cuda.synchronize()
        return first.elapsed_time(last) * 1e3 / self.count


def once(launch: Launcher) -> float:
    """Approximate microseconds of one launch, from which the size of graphs is chosen."""
    import torch
    first, last = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    torch.cuda.synchronize()
    first.record()
    launch()
    last.record()
    torch.cuda.synchronize()
    return first.elapsed_time(last) * 1e3


def launches_per_graph(microseconds: float, most: int = 10) -> int:
    """Ten launches, or fewer if a launch is long; at least two, to alternate between input sets."""
    return max(2, min(most, int(REPLAY_US / max(microseconds, 1.0))))


def quick(contender: Contender) -> float:
    """Median of three replays, which suffices to distinguish variants that differ much."""
    replay = Replay(contender.launchers, launches_per_graph(once(contender.launchers[0]), 4))
    replay.microseconds()
    return sorted(replay.microseconds() for _ in range(3))[1]


def interleaved(contenders: Sequence[Contender], replays: int = 12, warm: int = 3) -> list[list[float]]:
    """Microseconds of each replay of each contender. Replays are interleaved, so slow changes of clocks affect all
    alike."""
    graphs = [Replay(c.launchers, launches_per_graph(once(c.launchers[0]))) for c in contenders]
    times: list[list[float]] = [[] for _ in graphs]
    for i in range(warm + replays):
        for graph, mine in zip(graphs, times):
            us = graph.microseconds()
            if i >= warm:
                mine.append(us)
    return times
