"""Predicted times, searches, pages and reports on numerics, using the commands of the package."""
from __future__ import annotations

import contextlib
import dataclasses
import html
import itertools
import json
import math
import os
import pathlib
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ._compile import Source, run_program, write_source
from ._errors import CompileError, ConfigurationError, Error, of_status
from ._kernels import is_kernel
from ._launch import Grid, Launch
from ._tools import program


RADIX = 1_000_000
"""The number of a variant in a search is this times the number of its launch, plus its own."""


class Page:
    """A page that loads nothing else. Notebooks show it; `save` writes it to a file."""

    def __init__(self, text: str) -> None:
        self.html = text

    def save(self, file: str | os.PathLike[str]) -> None:
        pathlib.Path(file).write_text(self.html, encoding="utf-8")

    def _repr_html_(self) -> str:
        # A frame of its own, so that neither styles nor scripts of page and notebook meet.
        return (f'<iframe srcdoc="{html.escape(self.html)}" width="100%" height="640" '
                'sandbox="allow-scripts" style="border: 1px solid #8886"></iframe>')


class Exploration(Page):
    """A program at every level. `data` has the levels, passes and remarks as `docs/explore.md` describes."""

    def __init__(self, text: str, data: dict[str, Any]) -> None:
        super().__init__(text)
        self.data = data


class Prediction(Page):
    """The predicted time of a launch. Its text is the report, its page has the timeline."""

    def __init__(self, text: str, page: str, data: dict[str, Any]) -> None:
        super().__init__(page)
        self.text, self.data = text, data

    @property
    def microseconds(self) -> float:
        return self.data["us"]

    def __str__(self) -> str:
        return self.text


@dataclasses.dataclass(frozen=True)
class Variant:
    """One combination of parameters."""

    parameters: dict[str, Any]
    time: float | None
    """The predicted microseconds; `None` if the variant failed."""
    reason: str | None
    """Why it failed."""
    details: dict[str, Any]
    """Prediction, resources, and the variant with the same code, as `tileiras tune -o FILE.json` writes them."""


class Tuning:
    """The variants of a search, the fastest first."""

    def __init__(self, variants: list[Variant]) -> None:
        self.variants = variants

    @property
    def best(self) -> Variant:
        return self.variants[0]

    def without_effect(self) -> list[str]:
        """The parameters whose values change nothing, whatever the other parameters are."""
        def changes_nothing(name: str) -> bool:
            groups: dict[tuple[Any, ...], set[Any]] = {}
            sizes: dict[tuple[Any, ...], int] = {}
            for each in self.variants:
                key = tuple((n, repr(v)) for n, v in each.parameters.items() if n != name)
                groups.setdefault(key, set()).add(each.details.get("same_as") or f"VARIANT={each.details['parameters']['VARIANT']}")
                sizes[key] = sizes.get(key, 0) + 1
            return max(sizes.values()) > 1 and all(len(codes) == 1 for codes in groups.values())

        names = self.variants[0].parameters if all(v.time is not None for v in self.variants) else {}
        return [name for name in names if changes_nothing(name)]

    def _rows(self) -> list[list[str]]:
        names = list(self.variants[0].parameters)
        rows = [[*names, "us", "registers", "spills", "bound by"]]
        for each in self.variants:
            taken = each.details.get("resources") or {}
            spills = taken.get("spill_stores", 0) + taken.get("spill_loads", 0) if taken else "-"
            bound = each.reason or (each.details.get("prediction") or {}).get("busiest", "-")
            time = "-" if each.time is None else f"{each.time:.2f}"
            rows.append([*(str(v) for v in each.parameters.values()), time, str(taken.get("registers", "-")), str(spills), bound])
        return rows

    def __str__(self) -> str:
        rows = self._rows()
        widths = [max(len(row[c]) for row in rows) for c in range(len(rows[0]) - 1)]
        lines = ["  ".join([*(cell.rjust(w) for cell, w in zip(row, widths)), row[-1]]) for row in rows]
        idle = self.without_effect()
        return "\n".join(lines + [f"{', '.join(idle)}: no value changes the code"] * bool(idle))

    def _repr_html_(self) -> str:
        head, *rows = [[html.escape(cell) for cell in row] for row in self._rows()]
        body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
        return f"<table><tr>{''.join(f'<th>{cell}</th>' for cell in head)}</tr>{body}</table>"


class Numerics:
    """What decides the bits of a program's results. Its text is the report."""

    def __init__(self, text: str, data: dict[str, Any]) -> None:
        self.text, self.data = text, data

    def __str__(self) -> str:
        return self.text


def predict(source: Source, grid: Grid, args: Sequence[Any] = (), *, entry: str | None = None, target: str = "sm_100",
            machine: str | None = None, opt_level: int = 3, registers: int | None = None, signature: Any = None,
            options: Sequence[str] = ()) -> Prediction:
    """Predicts the time of a launch on a GPU. No GPU is needed, and nothing is written to the arrays.

    Arguments are as for `run`; `zeros(shape, type)` is an array without memory. `machine`: a GPU such as
    `sm_120_geforce`; by default that of the target. `registers`: registers per thread as ptxas reports them; estimated by
    default. `options`: further options of `tile-run`.
    """
    with Launch(source, args, grid) as launch:
        file = write_source(source, launch.folder, signature, target, args)
        data, page = launch.folder / "prediction.json", launch.folder / "prediction.html"
        timing = "--timing" if machine is None else f"--timing={machine}"
        command = [program("tile-run"), "--quiet", f"--gpu-name={target}", "-O", opt_level, timing,
                   "--timing-json", data, "--timing-html", page]
        if registers is not None:
            command += ["--registers", registers]
        call = lambda described: run_program([*command, *options, "--launch", described, "--", file])
        text = launch.call(call, file, entry)
        return Prediction(text, page.read_text(encoding="utf-8"), json.loads(data.read_text(encoding="utf-8")))


def explore(source: Source, args: Sequence[Any] | None = None, *, target: str = "sm_100", opt_level: int = 3,
            signature: Any = None, options: Sequence[str] = ()) -> Exploration:
    """Shows a program at every level, from the language to machine code, with remarks. `args` as for `compile`."""
    with tempfile.TemporaryDirectory(prefix="tileiras-") as scratch:
        folder = pathlib.Path(scratch)
        file = write_source(source, folder, signature, target, args)
        read = []
        for name in ("page.html", "page.json"):
            _checked([program("tileiras"), "explore", file, f"--gpu-name={target}", f"--opt-level={opt_level}", *options, "-o",
                      folder / name], folder)
            read.append((folder / name).read_text(encoding="utf-8"))
        return Exploration(read[0], json.loads(read[1]))


def numerics(source: Source, args: Sequence[Any] | None = None, *, target: str = "sm_100", opt_level: int = 3,
             signature: Any = None, options: Sequence[str] = ()) -> Numerics:
    """Reports the order of each sum, the units of products, and bounds of their errors. `args` as for `compile`."""
    with tempfile.TemporaryDirectory(prefix="tileiras-") as scratch:
        folder = pathlib.Path(scratch)
        file = write_source(source, folder, signature, target, args)
        command = [program("tileiras"), "numerics", file, f"--gpu-name={target}", f"--opt-level={opt_level}", *options]
        text = _checked(command, folder)
        return Numerics(text.replace(f"{folder}/", ""), json.loads(_checked([*command, "--json"], folder)))


def tune(source: Source | Callable[..., Source], grid: Grid | Callable[..., Grid], args: Sequence[Any] | Callable[..., Any],
         space: Mapping[str, Sequence[Any]], *, where: Callable[..., bool] | None = None, target: str = "sm_100",
         machine: str | None = None, opt_level: int = 3, jobs: int | None = None, options: Sequence[str] = ()) -> Tuning:
    """Predicts the time of every combination of values and returns them, the fastest first.

    `space`: names and the values of each. For a cuTile kernel, a name is a parameter of the kernel, whose value replaces
    the argument, or a hint of cuTile (`occupancy`, `num_ctas`, `num_worker_warps`). Otherwise `source` is a function that
    takes the values by name and returns a program. `grid` and `args` may be functions of the values, too. `where`: a
    function that excludes combinations. `jobs`: concurrent processes. `options`: further compiler options.

    Raises `CompileError` if every variant fails.
    """
    points = [dict(zip(space, values)) for values in itertools.product(*space.values())]
    points = [point for point in points if where is None or where(**point)]
    if not points:
        raise ConfigurationError("no combination of values satisfies the condition")
    with tempfile.TemporaryDirectory(prefix="tileiras-tune-") as scratch, contextlib.ExitStack() as stack:
        folder = pathlib.Path(scratch)
        # Points with the same arguments share a launch. A variant's number tells both.
        launches: dict[Any, tuple[int, Launch]] = {}
        numbers: dict[int, dict[str, Any]] = {}
        for point in points:
            program_of, size, given = _variant(source, grid, args, point)
            key = (repr(size), *(repr(value) if isinstance(value, (bool, int, float, str)) else id(value) for value in given))
            if key not in launches:
                launches[key] = len(launches), stack.enter_context(Launch(program_of, given, size))
            # Objects of the key stay alive, so that no other has their address.
            stack.callback(lambda *kept: None, given)
            index, launch = launches[key]
            numbers[index * RADIX + len(numbers)] = point
            _write_program(folder / f"{index * RADIX + len(numbers) - 1}", (program_of, given), target, launch)
        every = [launch for _, launch in launches.values()]
        if not every[0].exact:
            _settle(every, [folder / f"{number}.program" for number in numbers], target, opt_level)
        for index, launch in enumerate(every):
            _write_launch(launch, folder / f"{index}.launch.json")
        table = folder / "table.json"
        command = [program("tileiras"), "tune", f"--gpu-name={target}", f"--opt-level={opt_level}", "--quiet",
                   "--set", "VARIANT=" + ",".join(map(str, numbers)), "--generate", f'cat "{folder}/$VARIANT.program"',
                   "--launch", f"--launch '{folder}/${{floor(VARIANT / {RADIX})}}.launch.json'", "-o", table]
        command += ["-j", jobs] if jobs is not None else []
        command += ["--machine", machine] if machine is not None else []
        done = run_program([*command, *options])
        if not table.exists():
            raise of_status(done.returncode, done.stderr.replace(f"{folder}/", ""))
        return _tuning(json.loads(table.read_text()), numbers, folder)


def _variant(source: Any, grid: Any, args: Any, point: dict[str, Any]) -> tuple[Any, Any, list[Any]]:
    """Program, grid and arguments of a combination."""
    kernel = is_kernel(source)
    size = grid(**point) if callable(grid) else grid
    given = list(args(**point) if callable(args) else args)
    if not kernel:
        if not callable(source):
            raise TypeError("a search needs a cuTile kernel, or a function that takes the values and returns a program")
        return source(**point), size, given
    import inspect
    names = list(inspect.signature(source._annotated_function.pyfunc).parameters)
    hints = {}
    for name, value in point.items():
        if name in names:
            at = names.index(name)
            given += [None] * (at + 1 - len(given))
            given[at] = value
        else:
            hints[name] = value
    if hints:
        try:
            source = source.replace_hints(**hints)
        except TypeError:
            raise ConfigurationError(f"{', '.join(hints)}: neither a parameter of the kernel ({', '.join(names)}) nor a "
                                     "hint of cuTile") from None
    return source, size, given


def _write_program(base: pathlib.Path, variant: tuple[Any, list[Any]], target: str, launch: Launch) -> None:
    """Writes the program of a combination. An error of the front end becomes a program that fails."""
    source, args = variant
    file = base.with_suffix(".program")
    try:
        file.write_bytes(write_source(source, launch.folder, None, target, args).read_bytes())
    except Error as error:
        file.write_text(f"cuda_tile.module @failed{base.name} {{\n")
        base.with_suffix(".error").write_text(str(error))


def _settle(launches: list[Launch], programs: list[pathlib.Path], target: str, opt_level: int) -> None:
    """Finds the types of arguments by a prediction of the first variant that has one, for all launches."""
    for file in programs:
        launch = launches[int(file.stem) // RADIX]
        program_text = launch.folder / "settle.mlir"
        program_text.write_bytes(file.read_bytes())
        call = lambda described: run_program([program("tile-run"), "--quiet", f"--gpu-name={target}", "-O", opt_level,
                                              "--timing", "--launch", described, "--", program_text])
        try:
            launch.call(call, program_text)
        except Error:
            # The search reports the reason.
            continue
        for other in launches:
            other.follow(launch)
        return


def _write_launch(launch: Launch, file: pathlib.Path) -> None:
    """Writes the description of a launch to another folder."""
    described = json.loads(launch.describe().read_text())
    for arg in described["args"]:
        for each in arg.get("list", [arg]):
            for key in ("array", "buffer"):
                if key in each:
                    each[key] = str(launch.folder / each[key])
    file.write_text(json.dumps(described))


def _tuning(table: dict[str, Any], points: dict[int, dict[str, Any]], folder: pathlib.Path) -> Tuning:
    variants = []
    for row in table["variants"]:
        number = int(row["parameters"]["VARIANT"])
        error = folder / f"{number}.error"
        reason = error.read_text().splitlines()[0] if error.exists() else row.get("reason")
        variants.append(Variant(points[number], row.get("time"), reason, row))
    if all(v.time is None for v in variants):
        raise CompileError("every variant failed: " + "; ".join(f"{v.parameters}: {v.reason}" for v in variants))
    variants.sort(key=lambda v: math.inf if v.time is None else v.time)
    return Tuning(variants)


def _checked(command: list[Any], folder: pathlib.Path) -> str:
    done: subprocess.CompletedProcess[str] = run_program(command)
    if done.returncode != 0:
        raise of_status(done.returncode, done.stderr.replace(f"{folder}/", ""))
    return done.stdout
