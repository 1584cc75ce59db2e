#!/usr/bin/env python3
"""Measures how compile time grows with the length of a program.

    benches/scaling.py [--tileiras FILE] [--before FILE] [--stages] [--ptxas FILE] [--gpu-name sm_NN] [--least N]
                       [--doublings K] [--ops LIST] [--longest S] [--runs R] [KIND...]

Compiles generated programs with N, 2N, 4N, ... parts at -O3 to PTX and prints for each the processor time of the command in
seconds (the minimum of R runs) and the exponent of its growth since half the length: 1 is linear, 2 quadratic. --before adds
a second command, interleaved with the first. --stages adds a column for each stage before PTX, with the time up to that
stage. --ptxas adds the assembler's time for the generated PTX. A column ends for a kind after the first time above --longest
seconds. --ops 100,1000,10000 chooses the parts so that programs have about these numbers of ops, whatever the kind. The
time of an empty kernel is then part of the smallest rows only. The kinds:

    views       loads and stores through views with bounds checks, ordered by tokens
    loads       loads of tiles of 1024 elements, each added to an accumulator
    gathered    the same loads, with the additions after all of them
    copies      loads and stores of such tiles with known extents, without a branch
    entries     kernels in a module, each with a load and a store
    products    consecutive loops, each with a dot whose operands it loads; 8 to 64
    rings       nested loops, 2 to 5 levels, with as many loads of operands on each level as there are parts; 1 to 6
    ifs         consecutive branches, each with a store
    values      consecutive branches, each with a result
    loops       consecutive loops, each with a store
    pointers    stores through pointers
    arithmetic  additions and multiplications of tiles
    nested      nested loops; at most 256, which is the limit
    tokens      nested loops that carry a token; at most 256
    sines       sines, each added to an accumulator
"""

import argparse
import math
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
STAGES = ["cuda-tile", "tileaa", "tileas", "llvm"]


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


WIDE = "partition_view<tile=(1024), tensor_view<?xf32, strides=[1]>>"
WIDE_TILE = "tile<1024xf32>"
MAKE_WIDE_VIEW = MAKE_VIEW.replace(VIEW, WIDE) + f"    %s0 = constant <f32: 0.0> : {WIDE_TILE}\n"
STORE_WIDE = f"_view_tko weak %{{}}, %tiles[%i] : {WIDE_TILE}, {WIDE}, tile<i32> -> token\n"


def load(q: int) -> str:
    return (f"    %c{q} = constant <i32: {q}> : tile<i32>\n    %i{q} = addi %i, %c{q} : tile<i32>\n"
            f"    %a{q}, %r{q} = load_view_tko weak %tiles[%i{q}] : {WIDE}, tile<i32> -> {WIDE_TILE}, token\n")


def add(q: int, term: str) -> str:
    return f"    %s{q + 1} = addf %s{q}, %{term}{q} : {WIDE_TILE}\n"


def loads(n: int) -> str:
    return (MAKE_WIDE_VIEW + "".join(load(q) + add(q, "a") for q in range(n)) + "    %w = store" +
            STORE_WIDE.format(f"s{n}"))


def gathered(n: int) -> str:
    return (MAKE_WIDE_VIEW + "".join(map(load, range(n))) + "".join(add(q, "a") for q in range(n)) + "    %w = store" +
            STORE_WIDE.format(f"s{n}"))


def sines(n: int) -> str:
    text = MAKE_WIDE_VIEW + load(0)
    for q in range(n):
        text += (f"    %k{q} = constant <f32: {q}.5> : {WIDE_TILE}\n    %m{q} = mulf %a0, %k{q} : {WIDE_TILE}\n"
                 f"    %b{q} = sin %m{q} : {WIDE_TILE}\n") + add(q, "b")
    return text + "    %w = store" + STORE_WIDE.format(f"s{n}")


def copies(n: int) -> str:
    view = f"tensor_view<{1024 * n}xf32, strides=[1]>"
    extent = f"partition_view<tile=(1024), {view}>"
    text = ("    %p = assume div_by<16>, %x : tile<ptr<f32>>\n"
            f"    %v = make_tensor_view %p, shape = [{1024 * n}], strides = [1] : {view}\n"
            f"    %tiles = make_partition_view %v : {extent}\n")
    for q in range(n):
        text += (f"    %c{q} = constant <i32: {q}> : tile<i32>\n"
                 f"    %a{q}, %r{q} = load_view_tko weak %tiles[%c{q}] : {extent}, tile<i32> -> {WIDE_TILE}, token\n"
                 f"    %b{q} = addf %a{q}, %a{q} : {WIDE_TILE}\n    %t{q} = store_view_tko weak %b{q}, %tiles[%c{q}]"
                 f" : {WIDE_TILE}, {extent}, tile<i32> -> token\n")
    return text


MATRIX = "tensor_view<?x?xf16, strides=[?,1]>"
OPERAND = f"partition_view<tile=(64x64), padding_value = zero, {MATRIX}>"
SUM = "tile<64x64xf32>"
MAKE_MATRIX = BOUNDS + f"""    %q = assume div_by<16>, %h : tile<ptr<f16>>
    %n = assume div_by<16>, %m : tile<i32>
    %v = make_tensor_view %q, shape = [%n, %n], strides = [%n, 1] : tile<i32> -> {MATRIX}
    %tiles = make_partition_view %v : {OPERAND}
    %e = make_tensor_view %q, shape = [%n, %n], strides = [%n, 1] : tile<i32> -> {MATRIX}
    %to = make_partition_view %e : partition_view<tile=(64x64), {MATRIX}>
    %s0 = constant <f32: 0.0> : {SUM}
"""


def product(name: str, row: str, column: str) -> str:
    """Adds a dot of two tiles to %{name}a, with the result %{name}b."""
    tile = f"{OPERAND}, tile<i32> -> tile<64x64xf16>, token\n"
    return (f"    %{name}x, %{name}u = load_view_tko weak %tiles[%{row}, %{column}] : {tile}"
            f"    %{name}y, %{name}v = load_view_tko weak %tiles[%{column}, %{row}] : {tile}"
            f"    %{name}b = mmaf %{name}x, %{name}y, %{name}a : tile<64x64xf16>, tile<64x64xf16>, {SUM}\n")


def store_sum(value: str) -> str:
    return (f"    %half = ftof %{value} : {SUM} -> tile<64x64xf16>\n    %w = store_view_tko weak %half, %to[%z, %z]"
            f" : tile<64x64xf16>, partition_view<tile=(64x64), {MATRIX}>, tile<i32> -> token\n")


def products(n: int) -> str:
    text = MAKE_MATRIX
    for q in range(n):
        text += (f"    %d{q} = constant <i32: {q}> : tile<i32>\n" +
                 f"    %s{q + 1} = for %i{q} in (%z to %m, step %o) : tile<i32> iter_values(%p{q}a = %s{q}) -> ({SUM}) {{\n" +
                 product(f"p{q}", f"d{q}", f"i{q}") + f"    continue %p{q}b : {SUM}\n    }}\n")
    return text + store_sum(f"s{n}")


def rings(n: int, depth: int) -> str:
    """Each level has `n` dots before its inner loop."""
    def level(at: int, first: str) -> str:
        """The rest of a loop body whose accumulator is `first`, up to the end of the loop."""
        text, now = "", first
        for q in range(n):
            name = f"l{at}p{q}"
            text += f"    %{name}d = constant <i32: {q}> : tile<i32>\n"
            text += product(name, f"{name}d", f"i{at}").replace(f"%{name}a :", f"%{now} :")
            now = f"{name}b"
        if at + 1 < depth:
            text += (f"    %f{at} = for %i{at + 1} in (%z to %m, step %o) : tile<i32>"
                     f" iter_values(%c{at} = %{now}) -> ({SUM}) {{\n") + level(at + 1, f"c{at}")
            now = f"f{at}"
        return text + f"    continue %{now} : {SUM}\n    }}\n"

    head = f"    %f = for %i0 in (%z to %m, step %o) : tile<i32> iter_values(%c = %s0) -> ({SUM}) {{\n"
    return MAKE_MATRIX + head + level(0, "c") + store_sum("f")


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
    """The innermost loop loads and stores the same location, so the ordering is carried by each of the loops."""
    text = BOUNDS + "    %t0 = make_token : token\n"
    for q in range(n):
        text += (f"    %u{q} = for %i{q} in (%z to %m, step %o) : tile<i32> iter_values(%t{q + 1} = %t{q})"
                 " -> (token) {\n")
    text += (f"    %v, %r = load_ptr_tko weak %y token=%t{n} : tile<ptr<i32>> -> tile<i32>, token\n"
             "    %s = store_ptr_tko weak %y, %v token=%r : tile<ptr<i32>>, tile<i32> -> token\n"
             "    continue %s : token\n    }\n")
    return text + "".join(f"    continue %u{q} : token\n    }}\n" for q in range(n - 1, 0, -1))


def entries(_: int) -> str:
    return (MAKE_VIEW + f"    %a, %t = load_view_tko weak %tiles[%i] : {VIEW}, tile<i32> -> tile<128xf32>, token\n"
            "    %b = addf %a, %a : tile<128xf32>\n"
            f"    %w = store_view_tko weak %b, %tiles[%i] : tile<128xf32>, {VIEW}, tile<i32> -> token\n")


KINDS = {f.__name__: f for f in (views, loads, gathered, copies, entries, products, ifs, values, loops, pointers,
                                 arithmetic, nested, tokens, sines)}
KINDS |= {f"rings{depth}": lambda n, depth=depth: rings(n, depth) for depth in range(2, 6)}
# The numbers of parts in the first and the last row, for kinds that ignore the command line.
SPANS = {"nested": (DEEPEST >> 3, DEEPEST), "tokens": (DEEPEST >> 3, DEEPEST), "products": (8, 64)}
SPANS |= {f"rings{depth}": (1, 6) for depth in range(2, 6)}
# The kinds whose last row is a limit of the language, or of shared memory.
LIMITED = ("nested", "tokens", "rings")
GROUPS = {"rings": [f"rings{depth}" for depth in range(2, 6)]}


def program(kind: str, n: int) -> str:
    arguments = "%x: tile<ptr<f32>>, %y: tile<ptr<i32>>, %m: tile<i32>, %h: tile<ptr<f16>>"
    names = [f"k{q}" for q in range(n)] if kind == "entries" else ["k"]
    body = KINDS[kind](n)
    return "cuda_tile.module @m {\n" + "".join(
        f"  entry @{name}({arguments}) {{\n{body}    return\n  }}\n" for name in names) + "}\n"


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
    """The time of a command up to a stage, or of an assembler for the output of `source`."""

    def __init__(self, tool: str, stage: str = "ptx", source: "Column | None" = None) -> None:
        self.tool, self.stage, self.source = tool, stage, source
        self.last: tuple[int, float] | None = None
        self.times: list[float] = []
        self.ptx = pathlib.Path()
        self.is_over = False

    def measure(self, folder: pathlib.Path, gpu: str) -> None:
        self.ptx = folder / f"{id(self)}.ptx"
        if self.source:
            ptx = self.source.ptx
            command = [self.tool, f"-arch={target_of(ptx)}", "-O3", str(ptx), "-o", "/dev/null"]
        else:
            emit = ["--gpu-name=" + gpu, "--emit=" + self.stage]
            command = [self.tool, str(folder / "program.mlir"), *emit, "-o", str(self.ptx)]
        self.times.append(seconds(command))

    def cells(self, parts: int, longest: float) -> str:
        if not self.times:
            return "|  |  "
        time = min(self.times)
        exponent = f"{math.log(time / self.last[1]) / math.log(parts / self.last[0]):.2f}" if self.last else ""
        self.last, self.is_over = (parts, time), time > longest
        return f"| {time:.2f} | {exponent} "


def sizes(kind: str, least: int, doublings: int) -> list[int]:
    least, most = SPANS.get(kind, (least, least << doublings))
    steps = [least << i for i in range((most // least).bit_length())]
    return steps if steps[-1] == most else [*steps, most]


def ops(kind: str, parts: int) -> int:
    """The number of lines with an op."""
    return sum(line.strip() not in ("}", "} else {", "") for line in program(kind, parts).splitlines())


def sizes_of_ops(kind: str, counts: list[int]) -> list[int]:
    """The numbers of parts for about so many ops."""
    one, two = ops(kind, 1), ops(kind, 2)
    return [max(1, 1 + round((count - one) / (two - one))) for count in counts]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    root = pathlib.Path(__file__).resolve().parent.parent
    parser.add_argument("--tileiras", default=str(root / "target/debug/tileiras"))
    parser.add_argument("--before")
    parser.add_argument("--stages", action="store_true")
    parser.add_argument("--ptxas")
    parser.add_argument("--gpu-name", default="sm_90")
    parser.add_argument("--least", type=int, default=1000)
    parser.add_argument("--doublings", type=int, default=3)
    parser.add_argument("--ops", type=lambda text: [int(n) for n in text.split(",")])
    parser.add_argument("--longest", type=float, default=float("inf"))
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=", ".join([*KINDS, *GROUPS]))
    arguments = parser.parse_args()
    kinds = [k for kind in arguments.kinds or KINDS for k in GROUPS.get(kind, [kind])]
    unknown = [k for k in kinds if k not in KINDS]
    if unknown:
        parser.error(f"unknown kind: {', '.join(unknown)}")
    stages = [*STAGES, "ptx"] if arguments.stages else ["ptx"]
    titles = (["before"] if arguments.before else []) + stages + (["ptxas"] if arguments.ptxas else [])
    print("| kind | parts | ops " + "".join(f"| {t}, s | exponent " for t in titles) + "|")
    print("|---|---|---" + "|---|---" * len(titles) + "|")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for kind in kinds:
            ours = [Column(arguments.tileiras, stage) for stage in stages]
            columns = [Column(arguments.before)] if arguments.before else []
            columns += ours + ([Column(arguments.ptxas, source=ours[-1])] if arguments.ptxas else [])
            if arguments.ops and not kind.startswith(LIMITED):
                rows = sizes_of_ops(kind, arguments.ops)
            else:
                rows = sizes(kind, arguments.least, arguments.doublings)
            for parts in rows:
                if ours[-1].is_over:
                    break
                (folder / "program.mlir").write_text(program(kind, parts))
                for column in columns:
                    column.times = []
                for _ in range(arguments.runs):
                    for column in columns:
                        if not column.is_over:
                            column.measure(folder, arguments.gpu_name)
                cells = "".join(column.cells(parts, arguments.longest) for column in columns)
                print(f"| {kind} | {parts} | {ops(kind, parts)} {cells}|", flush=True)


if __name__ == "__main__":
    sys.exit(main())
