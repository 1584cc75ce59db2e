"""One case: checks the result of every competitor, times every variant quickly, and the best of each precisely,
interleaved."""
from __future__ import annotations

import functools
import pathlib
import time
from typing import Any, Callable, Iterator

from ..device import DeviceError
from ..stats import paired_ratio, summary
from ..work import Context, ContextLost
from . import problems, small
from .backend import Contender, interleaved, quick
from .problem import Problem

# With fewer seconds left, no further variant is tested.
RESERVE = 6.0

# A competitor that is created on demand: loading and compiling are part of its own stage.
Lazy = tuple[str, str, Callable[[], Contender]]


def handle(context: Context, payload: dict[str, Any]) -> None:
    if "entry" in payload:
        small.handle(context, payload["entry"], of(pathlib.Path(context.config["pack"]), "ours"))
        return
    if not context.device.measures:
        raise DeviceError("kit", "competitors are timed on a GPU only")
    problem = next(p for p in problems.problems() if p.name == payload["case"])
    compete(context, problem, payload.get("steps", False))


def compete(context: Context, problem: Problem, steps: bool = False) -> None:
    from .tensors import Tensors
    context.stage("inputs", "")
    tensors = Tensors(problem)
    standing: list[tuple[float, Contender]] = []
    for who, config, make in (without_steps if steps else lazily)(context, problem, tensors):
        subject = f"{who} {config}".strip()
        if subject in context.skip:
            continue
        if context.config["deadline"] - time.monotonic() < RESERVE:
            context.case("skipped", f"{problem.name}: {subject}", what="budget")
            continue
        checked = check(context, problem, tensors, subject, make)
        if checked is not None:
            standing.append(checked)
    precise(context, problem, standing)
    if not standing:
        context.case("error", what="peers", where=problem.name, code=None, code_name="NOBODY", detail="no competitor had a correct result")
    else:
        context.case("pass", variants=len(standing))
    tensors.torch.cuda.empty_cache()


def check(context: Context, problem: Problem, tensors: Any, subject: str, make: Callable[[], Contender]) -> tuple[float, Contender] | None:
    """Compiles, loads, runs and compares one variant, then times it quickly. Returns None, after a record, if it is
    not correct."""
    name = f"{problem.name}: {subject}"
    context.stage("check", subject)
    started = time.monotonic()
    try:
        contender = make()
        contender.poison()
        contender.launchers[0]()
        tensors.torch.cuda.synchronize()
        error = tensors.error(contender.output())
        ready = time.monotonic() - started
        if not error <= problem.tolerance:
            context.case("fail", name, what="result", where=subject, code=None, code_name="RELATIVE_ERROR", detail=f"{error:.3g}", **contender.about)
            return None
        context.stage("time", subject)
        us = quick(contender)
    except DeviceError as e:
        context.case("error", name, **e.fields())
        if e.fatal:
            # The process must end. The case continues in a new one without this subject.
            raise ContextLost from e
        return None
    except Exception as e:  # libraries and compilers raise any exception; a broken variant is one line of the results
        context.case("error", name, what="library", where=subject, code=None, code_name=type(e).__name__, detail=str(e)[:300])
        if not alive(tensors.torch):
            raise ContextLost from e
        return None
    record(context, problem, contender, [us], False, {"error": error, "ready_s": round(ready, 3)})
    contender.about["error"] = error
    return us, contender


def alive(torch: Any) -> bool:
    try:
        torch.cuda.synchronize()
        return True
    except Exception:  # after any exception, this process is unusable
        return False


def precise(context: Context, problem: Problem, standing: list[tuple[float, Contender]]) -> None:
    """The best variant of each competitor, all interleaved."""
    best: dict[str, tuple[float, Contender]] = {}
    for us, contender in standing:
        if contender.who not in best or us < best[contender.who][0]:
            best[contender.who] = (us, contender)
    chosen = [c for _, c in best.values()]
    if not chosen:
        return
    context.stage("time", "all by turns")
    context.began = time.monotonic()
    times = interleaved(chosen)
    reference = next((t for c, t in zip(chosen, times) if c.who in ("cublas", "cudnn") or c.who.startswith("torch")), None)
    for contender, mine in zip(chosen, times):
        extra = {"error": contender.about.get("error")}
        if reference is not None:
            # Above 1: faster than the library.
            extra["against_library"] = paired_ratio(reference, mine).fields()
        record(context, problem, contender, mine, True, extra)


def record(context: Context, problem: Problem, contender: Contender, times: list[float], precise_: bool, extra: dict[str, Any]) -> None:
    us = summary(times)
    context.record({**contender.about, **extra, "record": "measurement", "part": "peers", "name": problem.name, "impl": contender.who, "config": contender.config,
                    "unit": problem.unit, **us.map(problem.rate).fields(), "us": us.fields(), "precise": precise_})


def of(pack: pathlib.Path, who: str) -> dict[str, problems.Entry]:
    """A compiler's images by name."""
    return {e["name"]: e for e in problems.entries(pack) if e["who"] == who}


def lazily(context: Context, problem: Problem, tensors: Any) -> Iterator[Lazy]:
    """All competitors of a case: libraries first, then images, then Triton."""
    from . import images, libraries, triton_peers
    for who, config, make in libraries.contenders(tensors):
        yield who, config, make
    pack = pathlib.Path(context.config["pack"])
    for maker, who in (("vendor", "tileiras-vendor"), ("ours", "ours")):
        all_of_them = of(pack, maker)
        for e in all_of_them.values():
            if problems.fits(e, problem):
                yield who, problems.config(e), functools.partial(images.contender, context.device, pack, e, tensors, all_of_them)
    for config, make in triton_peers.contenders(tensors):
        yield "triton", config, make


def without_steps(context: Context, problem: Problem, tensors: Any) -> Iterator[Lazy]:
    """Images that lack a step, after the library and the complete image."""
    from . import images, libraries
    for who, config, make in libraries.contenders(tensors):
        yield who, config, make
    pack = pathlib.Path(context.config["pack"])
    everything = problems.entries(pack)
    less = [e for e in everything if problems.is_without(e)]
    names = {e["name"] for e in less}
    for e in [*(e for e in everything if e["who"] == "ours" and e["name"] in names), *less]:
        if problems.fits(e, problem):
            yield e["who"], problems.config(e), functools.partial(images.contender, context.device, pack, e, tensors, of(pack, "ours"))
