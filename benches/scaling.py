#!/usr/bin/env python3
"""How the time of compilation grows with the length of a program.

    benches/scaling.py [--tileiras FILE] [--before FILE] [--ptxas FILE] [--gpu-name sm_NN] [--least N] [--doublings K]
                       [--longest S] [--runs R] [KIND...]

Compiles generated programs with N, 2N, 4N, ... parts at -O3 to PTX and prints, for each, the processor time of the
command in seconds (the least of R runs) and its ratio to that of half the length: 2 is linear, 4 quadratic. With
--before another command does the same in turns with the first one; with --ptxas the assembler gets what they made. The
first row of a kind that takes longer than --longest seconds in a column is the last one of that column. The kinds:

    views       loads and stores through views with checked bounds, one behind the other by tokens
    ifs         branches one behind the other, each with a store
    values      branches one behind the other, each with a result
    loops       loops one behind the other, each with a store
    pointers    stores through pointers
    arithmetic  additions and products of tiles
    nested      loops inside of each other; at most 256, which is the limit
    tokens      loops inside of each other that carry a token; at most 256
"""

import argparse
import os
import pathlib
import resource
import subprocess
import sys
import tempfile

VIEW = "partition_view<tile=(128), tensor_view<?xf32, strides=[1]>>"
MAKE_VIEW = f"""    %p = assume div_by<16>, %x : tile<ptr<f32>>
    %v = make_tensor_view %p, shape = [%m], strides = [1] : tile<i32> -> tensor_view<?xf32, strides=[1]>
    %tiles = make_partition_view %v : {VIEW}
    %i, %j, %k = get_tile_block_id : tile<i32>
"""
BOUNDS = "    %z = constant <i32: 0> : tile<i32>\n    %o = constant <i32: 1> : tile<i32>\n"
DEEPEST = 250


def views(n: int) -> str:
    return MAKE_VIEW + "    %t0 = make_token : token\n" + "".join(
        f"    %c{q} = constant <i32: {q}> : tile<i32>\n"
        f"    %i{q} = addi %i, %c{q} : tile<i32>\n"
        f"    %a{q}, %r{q} = load_view_tko weak %tiles[%i{q}] token=%t{q}"
        f" : {VIEW}, tile<i32> -> tile<128xf32>, token\n"
        f"    %b{q} = addf %a{q}, %a{q} : tile<128xf32>\n"
        f"    %t{q + 1} = store_view_tko weak %b{q}, %tiles[%i{q}] token=%r{q}"
        f" : tile<128xf32>, {VIEW}, tile<i32> -> token\n"
        for q in range(n))


def condition(q: int) -> str:
    return (f"    %k{q} = constant <i32: {q}> : tile<i32>\n"
            f"    %q{q} = cmpi greater_than %m, %k{q}, signed : tile<i32> -> tile<i1>\n")


def store(name: str, value: str) -> str:
    return f"      %{name} = store_ptr_tko weak %y, %{value} : tile<ptr<i32>>, tile<i32> -> token\n"


def ifs(n: int) -> str:
    return "".join(condition(q) + f"    if %q{q} {{\n" + store(f"w{q}", f"k{q}") + "    }\n" for q in range(n))


def values(n: int) -> str:
    text = "    %v0 = constant <i32: 0> : tile<i32>\n"
    for q in range(n):
        text += condition(q) + (
            f"    %v{q + 1} = if %q{q} -> (tile<i32>) {{\n      %w{q} = addi %v{q}, %k{q} : tile<i32>\n"
            f"      yield %w{q} : tile<i32>\n    }} else {{\n      %w{q} = muli %v{q}, %m : tile<i32>\n"
            f"      yield %w{q} : tile<i32>\n    }}\n")
    return text + store("w", f"v{n}")


def loop(q: int) -> str:
    return f"    for %i{q} in (%z to %m, step %o) : tile<i32> {{\n"


def loops(n: int) -> str:
    return BOUNDS + "".join(loop(q) + store(f"w{q}", f"i{q}") + "    }\n" for q in range(n))


def pointers(n: int) -> str:
    return "".join(
        f"    %c{q} = constant <i32: {q}> : tile<i32>\n"
        f"    %p{q} = offset %y, %c{q} : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>\n"
        f"    %w{q} = store_ptr_tko weak %p{q}, %c{q} : tile<ptr<i32>>, tile<i32> -> token\n" for q in range(n))


def arithmetic(n: int) -> str:
    text = MAKE_VIEW + "    %v0 = iota : tile<128xi32>\n    %f0 = itof %v0 signed : tile<128xi32> -> tile<128xf32>\n"
    for q in range(n):
        text += f"    %f{q + 1} = {('addf', 'mulf')[q % 2]} %f{q}, %f{q // 2} : tile<128xf32>\n"
    return text + (f"    %w = store_view_tko weak %f{n}, %tiles[%i] : tile<128xf32>, {VIEW}, tile<i32> -> token\n")


def nested(n: int) -> str:
    return BOUNDS + "".join(loop(q) for q in range(n)) + store("w", "i0") + "    }\n" * n


def tokens(n: int) -> str:
    """Innermost a load and a store of the same place, so that orders go around each of the loops."""
    text = BOUNDS + "    %t0 = make_token : token\n"
    for q in range(n):
        text += (f"    %u{q} = for %i{q} in (%z to %m, step %o) : tile<i32> iter_values(%t{q + 1} = %t{q})"
                 " -> (token) {\n")
    text += (f"    %v, %r = load_ptr_tko weak %y token=%t{n} : tile<ptr<i32>> -> tile<i32>, token\n"
             "    %s = store_ptr_tko weak %y, %v token=%r : tile<ptr<i32>>, tile<i32> -> token\n"
             "    continue %s : token\n    }\n")
    return text + "".join(f"    continue %u{q} : token\n    }}\n" for q in range(n - 1, 0, -1))


KINDS = {f.__name__: f for f in (views, ifs, values, loops, pointers, arithmetic, nested, tokens)}


def program(kind: str, n: int) -> str:
    arguments = "%x: tile<ptr<f32>>, %y: tile<ptr<i32>>, %m: tile<i32>"
    return f"cuda_tile.module @m {{\n  entry @k({arguments}) {{\n{KINDS[kind](n)}    return\n  }}\n}}\n"


def seconds(command: list[str]) -> float:
    def used() -> float:
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    before = used()
    subprocess.run(command, check=True, env={**os.environ, "LC_ALL": "C"})
    return used() - before


def target_of(ptx: pathlib.Path) -> str:
    with ptx.open() as lines:
        return next(line.split()[1].rstrip(",") for line in lines if line.startswith(".target"))


class Column:
    """What one command takes; for an assembler, on what `source` has made."""

    def __init__(self, tool: str, source: "Column | None" = None) -> None:
        self.tool, self.source = tool, source
        self.last: float | None = None
        self.times: list[float] = []
        self.ptx = pathlib.Path()
        self.is_over = False

    def measure(self, folder: pathlib.Path, gpu: str) -> None:
        self.ptx = folder / f"{id(self)}.ptx"
        if self.source:
            ptx = self.source.ptx
            command = [self.tool, f"-arch={target_of(ptx)}", "-O3", str(ptx), "-o", "/dev/null"]
        else:
            command = [self.tool, str(folder / "program.mlir"), f"--gpu-name={gpu}", "--emit=ptx", "-o", str(self.ptx)]
        self.times.append(seconds(command))

    def cells(self, longest: float) -> str:
        if not self.times:
            return "|  |  "
        time = min(self.times)
        ratio = f"{time / self.last:.2f}" if self.last else ""
        self.last, self.is_over = time, time > longest
        return f"| {time:.2f} | {ratio} "


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    root = pathlib.Path(__file__).resolve().parent.parent
    parser.add_argument("--tileiras", default=str(root / "target/debug/tileiras"))
    parser.add_argument("--before")
    parser.add_argument("--ptxas")
    parser.add_argument("--gpu-name", default="sm_90")
    parser.add_argument("--least", type=int, default=1000)
    parser.add_argument("--doublings", type=int, default=3)
    parser.add_argument("--longest", type=float, default=float("inf"))
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=", ".join(KINDS))
    arguments = parser.parse_args()
    unknown = [k for k in arguments.kinds if k not in KINDS]
    if unknown:
        parser.error(f"no such kind: {', '.join(unknown)}")
    titles = (["before, s"] if arguments.before else []) + ["s"] + (["ptxas, s"] if arguments.ptxas else [])
    print("| kind | parts " + "".join(f"| {t} | ratio " for t in titles) + "|\n|---|---" + "|---|---" * len(titles) + "|")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for kind in arguments.kinds or KINDS:
            ours = Column(arguments.tileiras)
            columns = [Column(arguments.before)] if arguments.before else []
            columns += [ours] + ([Column(arguments.ptxas, ours)] if arguments.ptxas else [])
            deep = kind in ("nested", "tokens")
            least, doublings = (DEEPEST >> 3, 3) if deep else (arguments.least, arguments.doublings)
            for parts in (least << i for i in range(doublings + 1)):
                if ours.is_over:
                    break
                (folder / "program.mlir").write_text(program(kind, parts))
                for column in columns:
                    column.times = []
                for _ in range(arguments.runs):
                    for column in columns:
                        if not column.is_over:
                            column.measure(folder, arguments.gpu_name)
                cells = "".join(column.cells(arguments.longest) for column in columns)
                print(f"| {kind} | {parts} {cells}|", flush=True)


if __name__ == "__main__":
    sys.exit(main())
