"""Timing with PyTorch: CUDA graphs of launches that take input sets by turns, competitors' replays interleaved."""
from __future__ import annotations

import dataclasses
from typing import Any, Callable, Sequence

Launcher = Callable[[], Any]

# Of one replay: longer graphs would only cost time.
REPLAY_US = 40_000.0


def prepare(config: dict[str, Any]) -> None:
    """The long imports."""
    import torch  # noqa: F401
    try:
        import triton  # noqa: F401
    except ImportError:
        # Then there are no kernels of Triton's; the cases say so.
        pass


@dataclasses.dataclass
class Contender:
    """A competitor on one case: `launchers` do the same work on different input sets, and `output` gives what the first one
    left. `who` is the implementation, `config` one of its variants."""
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
        # What is allocated or compiled on the first call must not happen during capture.
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
        """Of one launch, by one replay."""
        import torch
        first, last = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        first.record()
        self.graph.replay()
        last.record()
        torch.cuda.synchronize()
        return first.elapsed_time(last) * 1e3 / self.count


def once(launch: Launcher) -> float:
    """Microseconds of one launch, roughly: what sizes the graphs."""
    import torch
    first, last = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    torch.cuda.synchronize()
    first.record()
    launch()
    last.record()
    torch.cuda.synchronize()
    return first.elapsed_time(last) * 1e3


def launches_per_graph(microseconds: float, most: int = 10) -> int:
    """Ten, or fewer where a launch takes long; at least two, so that two input sets take turns."""
    return max(2, min(most, int(REPLAY_US / max(microseconds, 1.0))))


def quick(contender: Contender) -> float:
    """Median of three replays: tells variants apart that are far apart."""
    replay = Replay(contender.launchers, launches_per_graph(once(contender.launchers[0]), 4))
    replay.microseconds()
    return sorted(replay.microseconds() for _ in range(3))[1]


def interleaved(contenders: Sequence[Contender], replays: int = 12, warm: int = 3) -> list[list[float]]:
    """Microseconds of each replay of each contender, taken by turns: slow changes of clocks meet all alike."""
    graphs = [Replay(c.launchers, launches_per_graph(once(c.launchers[0]))) for c in contenders]
    times: list[list[float]] = [[] for _ in graphs]
    for i in range(warm + replays):
        for graph, mine in zip(graphs, times):
            us = graph.microseconds()
            if i >= warm:
                mine.append(us)
    return times
