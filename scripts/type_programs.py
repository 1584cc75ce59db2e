#!/usr/bin/env python3
"""Writes tests/semantics/every_type_*.mlir: for each number type that can be stored in memory, a program with every op that
moves elements without interpreting them: shape ops, both kinds of memory access, views of every kind, variables, scratch
memory, branches and loops.

usage: python3 scripts/type_programs.py FOLDER
"""

from __future__ import annotations

import sys
from pathlib import Path

# Name in a test, name in the language, width, and eight values including zero, extremes and special values.
TYPES = [
    ("i1", "i1", 1, [0, 1, 1, 0, 1, 0, 0, 1]),
    ("i8", "i8", 8, [0, 1, 0x7F, 0x80, 0xFF, 0x55, 0xAA, 2]),
    ("i16", "i16", 16, [0, 1, 0x7FFF, 0x8000, 0xFFFF, 0x1234, 0xAA55, 2]),
    ("i32", "i32", 32, [0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x12345678, 0xAA5500FF, 2]),
    ("i64", "i64", 64, [0, 1, (1 << 63) - 1, 1 << 63, (1 << 64) - 1, 0x123456789ABCDEF0, 0xAA55, 2]),
    ("f16", "f16", 16, [0, 0x8000, 0x7C00, 0xFC00, 0x0001, 0x7BFF, 0x3C00, 0x83FF]),
    ("bf16", "bf16", 16, [0, 0x8000, 0x7F80, 0xFF80, 0x0001, 0x7F7F, 0x3F80, 0x807F]),
    ("f32", "f32", 32, [0, 0x80000000, 0x7F800000, 0xFF800000, 1, 0x7F7FFFFF, 0x3F800000, 0x807FFFFF]),
    ("f64", "f64", 64, [0, 1 << 63, 0x7FF << 52, 0xFFF << 52, 1, 0x7FEFFFFFFFFFFFFF, 0x3FF << 52, 0x800FFFFFFFFFFFFF]),
    ("tf32", "tf32", 19, [0, 0x40000, 0x3FC00, 0x7FC00, 1, 0x3FBFF, 0x1FC00, 0x403FF]),
    ("e4m3", "f8E4M3FN", 8, [0, 0x80, 0x7E, 0xFE, 0x01, 0x38, 0x87, 0xB8]),
    ("e5m2", "f8E5M2", 8, [0, 0x80, 0x7C, 0xFC, 0x01, 0x7B, 0x3C, 0x83]),
    ("e5m3", "fnv8E5M3FNU", 8, [0, 0x01, 0x07, 0x08, 0x78, 0xFE, 0xFF, 0x80]),
    ("e8m0", "f8E8M0FNU", 8, [0x7F, 0, 0xFE, 0x01, 0x80, 0x7E, 0x10, 0xF0]),
]


class Program:
    def __init__(self, short: str, name: str, width: int, values: list[int]) -> None:
        self.short, self.t, self.width, self.values = short, name, width, values
        self.lines: list[str] = []
        self.parameters = [f"%in: tile<ptr<{name}>>"]
        self.buffers = [f"// buffer: {short} {self.words(values)}"]

    def words(self, values: list[int]) -> str:
        if self.width == 1:
            return " ".join(str(v) for v in values)
        return " ".join(f"0x{v:0{(self.width + 3) // 4}x}" for v in values)

    def literal(self, values: list[int]) -> str:
        def one(v: int) -> str:
            if self.short == "i1":
                return "true" if v else "false"
            if self.short.startswith("i"):
                return str(v - (1 << self.width) if v >> (self.width - 1) else v)
            return f"0x{v:0{(self.width + 3) // 4}X}"

        return f"<{self.t}: [{', '.join(one(v) for v in values)}]>"

    def add(self, line: str) -> None:
        self.lines.append("    " + line)

    def tile(self, *shape: int, element: str = "") -> str:
        return f"tile<{''.join(f'{d}x' for d in shape)}{element or self.t}>"

    def pointers(self, *shape: int) -> str:
        return self.tile(*shape, element=f"ptr<{self.t}>")

    def output(self, values: list[int], before: list[int] | None = None) -> str:
        name = f"%out{len(self.buffers)}"
        self.parameters.append(f"{name}: tile<ptr<{self.t}>>")
        blank = before if before is not None else [self.values[0]] * len(values)
        self.buffers.append(f"// buffer: {self.short} {self.words(blank)} -> {self.words(values)}")
        return name

    def tensor(self, value: str, base: str, *shape: int) -> str:
        strides = [1] * len(shape)
        for d in range(len(shape) - 1, 0, -1):
            strides[d - 1] = strides[d] * shape[d]
        t = f"tensor_view<{'x'.join(map(str, shape))}x{self.t}, strides=[{','.join(map(str, strides))}]>"
        sizes, steps = ", ".join(map(str, shape)), ", ".join(map(str, strides))
        self.add(f"{value} = make_tensor_view {base}, shape = [{sizes}], strides = [{steps}] : {t}")
        return t

    def store(self, value: str, shape: tuple[int, ...], values: list[int]) -> None:
        """Stores through a view to a new buffer."""
        out = self.output(values)
        name = out[1:]
        t = self.tensor(f"%{name}_t", out, *shape)
        view = f"partition_view<tile=({'x'.join(map(str, shape))}), {t}>"
        self.add(f"%{name}_v = make_partition_view %{name}_t : {view}")
        zeros = ", ".join(["%c0"] * len(shape))
        self.add(f"%{name}_k = store_view_tko weak {value}, %{name}_v[{zeros}] : {self.tile(*shape)}, {view}, tile<i32> -> token")

    def splat(self, name: str, pointer: str, count: int) -> None:
        self.add(f"{name}_1 = reshape {pointer} : {self.pointers()} -> {self.pointers(1)}")
        self.add(f"{name}_n = broadcast {name}_1 : {self.pointers(1)} -> {self.pointers(count)}")

    def text(self) -> str:
        head = f"// Every op that moves elements, on {self.t}.\n// grid: 1 1 1\n" + "\n".join(self.buffers)
        body = "\n".join(self.lines)
        initial = self.literal(self.values[:4])
        return (
            f"{head}\ncuda_tile.module @m {{\n  global @variable {initial} : {self.tile(4)}\n"
            f"  entry @every_type_{self.short}({', '.join(self.parameters)}) {{\n{body}\n    return\n  }}\n}}\n"
        )


def program(short: str, name: str, width: int, v: list[int]) -> str:
    p = Program(short, name, width, v)
    for i in range(4):
        p.add(f"%c{i} = constant <i32: {i}> : tile<i32>")
    p.add("%true = constant <i1: true> : tile<i1>")

    # Views of every kind.
    tensor = p.tensor("%in_t", "%in", 2, 4)
    whole = f"partition_view<tile=(2x4), {tensor}>"
    p.add(f"%in_v = make_partition_view %in_t : {whole}")
    p.add(f"%x, %x_k = load_view_tko weak %in_v[%c0, %c0] : {whole}, tile<i32> -> {p.tile(2, 4)}, token")
    line = p.tensor("%line_t", "%in", 8)
    strided = f"strided_view<tile=(4), traversal_strides=[3], {line}>"
    p.add(f"%strided = make_strided_view %line_t : {strided}")
    p.add(f"%s, %s_k = load_view_tko weak %strided[%c1] : {strided}, tile<i32> -> {p.tile(4)}, token")
    p.store("%s", (4,), v[3:7])
    sparse = f"gather_scatter_view<tile=(4x2), {tensor}, sparse_dim=0>"
    p.add(f"%sparse = make_gather_scatter_view %in_t : {sparse}")
    p.add("%rows = constant <i32: [1, 0, 1, 1]> : tile<4xi32>")
    p.add(f"%g, %g_k = load_view_tko weak %sparse[%rows, %c2] : {sparse}, tile<4xi32>, tile<i32> -> {p.tile(4, 2)}, token")
    p.store("%g", (4, 2), [v[4 * r + c] for r in (1, 0, 1, 1) for c in (2, 3)])

    # Shapes.
    p.add(f"%permuted = permute %x [1, 0] : {p.tile(2, 4)} -> {p.tile(4, 2)}")
    p.store("%permuted", (4, 2), [v[4 * r + c] for c in range(4) for r in range(2)])
    p.add(f"%flat = reshape %x : {p.tile(2, 4)} -> {p.tile(8)}")
    p.store("%flat", (8,), v)
    p.add(f"%part = extract %x[%c1, %c0] : {p.tile(2, 4)} -> {p.tile(1, 2)}")
    p.store("%part", (1, 2), v[4:6])
    p.add(f"%put = insert %part, %x[%c0, %c1] : {p.tile(1, 2)}, {p.tile(2, 4)}")
    p.store("%put", (2, 4), v[:2] + v[4:6] + v[4:])
    p.add(f"%wide = broadcast %part : {p.tile(1, 2)} -> {p.tile(4, 2)}")
    p.store("%wide", (4, 2), v[4:6] * 4)
    p.add(f"%joined = cat %x, %x dim = 1 : {p.tile(2, 4)}, {p.tile(2, 4)} -> {p.tile(2, 8)}")
    p.store("%joined", (2, 8), v[:4] * 2 + v[4:] * 2)

    # Constants, and a select between them and loaded values.
    p.add(f"%constant = constant {p.literal(v[::-1])} : {p.tile(8)}")
    p.add("%which = constant <i1: [true, false, true, true, false, false, true, false]> : tile<8xi1>")
    p.add(f"%chosen = select %which, %flat, %constant : tile<8xi1>, {p.tile(8)}")
    which = [1, 0, 1, 1, 0, 0, 1, 0]
    p.store("%chosen", (8,), [v[i] if w else v[7 - i] for i, w in enumerate(which)])

    # Pointers, masked and unmasked, and casts to integers and other pointers.
    p.add("%number = ptr_to_int %in : " + f"{p.pointers()} -> tile<i64>")
    p.add(f"%again = int_to_ptr %number : tile<i64> -> {p.pointers()}")
    other = "i64" if short != "i64" else "f32"
    p.add(f"%other = ptr_to_ptr %again : {p.pointers()} -> tile<ptr<{other}>>")
    p.add(f"%back = ptr_to_ptr %other : tile<ptr<{other}>> -> {p.pointers()}")
    p.add("%i = iota : tile<8xi32>")
    p.splat("%from", "%back", 8)
    p.add(f"%from = offset %from_n, %i : {p.pointers(8)}, tile<8xi32> -> {p.pointers(8)}")
    p.add(f"%l, %l_k = load_ptr_tko weak %from, %which, %constant : {p.pointers(8)}, tile<8xi1>, {p.tile(8)} -> {p.tile(8)}, token")
    before, after = [v[0]] * 8, [v[i] if w else v[0] for i, w in enumerate(which)]
    out = p.output(after, before)
    p.splat("%to", out, 8)
    p.add("%i64 = exti %i signed : tile<8xi32> -> tile<8xi64>")
    p.add(f"%to = offset %to_n, %i64 : {p.pointers(8)}, tile<8xi64> -> {p.pointers(8)}")
    p.add(f"%to_k = store_ptr_tko weak %to, %l, %which : {p.pointers(8)}, {p.tile(8)}, tile<8xi1> -> token")
    p.store("%l", (8,), [v[i] if w else v[7 - i] for i, w in enumerate(which)])

    # Variables and scratch memory.
    p.add(f"%variable = get_global @variable : {p.pointers()}")
    for i, integer in enumerate(["i8", "i16"]):
        p.add(f"%o{i} = constant <{integer}: {i + 2}> : tile<{integer}>")
        p.add(f"%at{i} = offset %variable, %o{i} : {p.pointers()}, tile<{integer}> -> {p.pointers()}")
        p.add(f"%e{i}, %e{i}_k = load_ptr_tko weak %at{i} : {p.pointers()} -> {p.tile()}, token")
        p.add(f"%e{i}_1 = reshape %e{i} : {p.tile()} -> {p.tile(1)}")
        p.store(f"%e{i}_1", (1,), [v[i + 2]])
    p.add(f"%scratch = alloca num_elem = 8, alignment = 16 : {p.pointers()}")
    p.splat("%scratch", "%scratch", 8)
    p.add(f"%cells = offset %scratch_n, %i : {p.pointers(8)}, tile<8xi32> -> {p.pointers(8)}")
    p.add(f"%written = store_ptr_tko weak %cells, %flat : {p.pointers(8)}, {p.tile(8)} -> token")
    p.add("%seven = constant <i32: 7> : tile<8xi32>")
    p.add("%turned = subi %seven, %i : tile<8xi32>")
    p.add(f"%cells_r = offset %scratch_n, %turned : {p.pointers(8)}, tile<8xi32> -> {p.pointers(8)}")
    p.add(f"%r, %r_k = load_ptr_tko weak %cells_r token=%written : {p.pointers(8)} -> {p.tile(8)}, token")
    p.store("%r", (8,), v[::-1])

    # Branches and loops that carry tiles.
    p.add("%id:3 = get_tile_block_id : tile<i32>")
    p.add("%first = cmpi equal %id#0, %c0, signed : tile<i32> -> tile<i1>")
    p.add(f"%branch = if %first -> ({p.tile(8)}) {{")
    p.add(f"  yield %constant : {p.tile(8)}")
    p.add("} else {")
    p.add(f"  yield %flat : {p.tile(8)}")
    p.add("}")
    p.store("%branch", (8,), v[::-1])
    p.add(
        f"%swapped:2 = for %k in (%c0 to %c3, step %c1) : tile<i32> "
        f"iter_values(%a = %flat, %b = %constant) -> ({p.tile(8)}, {p.tile(8)}) {{"
    )
    p.add(f"  continue %b, %a : {p.tile(8)}, {p.tile(8)}")
    p.add("}")
    p.store("%swapped#1", (8,), v)
    p.add(f"%left = loop iter_values(%n = %c0, %a = %flat) : tile<i32>, {p.tile(8)} -> {p.tile(8)} {{")
    p.add("  %done = cmpi equal %n, %c2, signed : tile<i32> -> tile<i1>")
    p.add("  if %done {")
    p.add(f"    break %a : {p.tile(8)}")
    p.add("  }")
    p.add("  %next = addi %n, %c1 : tile<i32>")
    p.add(f"  continue %next, %constant : tile<i32>, {p.tile(8)}")
    p.add("}")
    p.store("%left", (8,), v[::-1])
    if short.startswith("i") and width > 1:
        integers(p, v)
    if short in ("i32", "i64", "f32", "f64"):
        exchange(p, v)
    if width != 8:
        pack(p, v)
    # The extent of a tensor as an operand.
    p.add(f"%length = get_tensor_shape %line_t : {line} -> tile<i64>")
    p.add("%less = constant <i64: -2> : tile<i64>")
    p.add("%last = addi %length, %less : tile<i64>")
    p.add(f"%at_last = offset %in, %last : {p.pointers()}, tile<i64> -> {p.pointers()}")
    p.add(f"%e_last, %e_last_k = load_ptr_tko weak %at_last : {p.pointers()} -> {p.tile()}, token")
    p.add(f"%e_last_1 = reshape %e_last : {p.tile()} -> {p.tile(1)}")
    p.store("%e_last_1", (1,), [v[6]])
    return p.text()


def pack(p: Program, v: list[int]) -> None:
    """Packs to bytes and unpacks."""
    bits, shift = (1, 0) if p.width == 1 else (32, 13) if p.short == "tf32" else (p.width, 0)
    whole = sum((x << shift) << (bits * i) for i, x in enumerate(v))
    count = 8 * bits // 8
    data = list(whole.to_bytes(count, "little"))
    p.parameters.append("%bytes: tile<ptr<i8>>")
    p.buffers.append(f"// buffer: i8 {' '.join('0' for _ in data)} -> {' '.join(f'0x{b:02x}' for b in data)}")
    p.add(f"%packed = pack %flat : {p.tile(8)} -> tile<{count}xi8>")
    view = f"tensor_view<{count}xi8, strides=[1]>"
    p.add(f"%bytes_t = make_tensor_view %bytes, shape = [{count}], strides = [1] : {view}")
    tiles = f"partition_view<tile=({count}), {view}>"
    p.add(f"%bytes_v = make_partition_view %bytes_t : {tiles}")
    p.add(f"%bytes_k = store_view_tko weak %packed, %bytes_v[%c0] : tile<{count}xi8>, {tiles}, tile<i32> -> token")
    p.add(f"%unpacked = unpack %packed : tile<{count}xi8> -> {p.tile(8)}")
    p.store("%unpacked", (8,), v)


def integers(p: Program, v: list[int]) -> None:
    """Ops that depend on the width of an integer: loops that count in it, sums, and an assumption that holds."""
    t, mask = p.tile(), (1 << p.width) - 1
    for i in (0, 1, 3):
        p.add(f"%n{i} = constant <{p.t}: {i}> : {t}")
    p.add(f"%counted = for %k in (%n0 to %n3, step %n1) : {t} iter_values(%acc = %n0) -> ({t}) {{")
    p.add(f"  %sum = addi %acc, %k : {t}")
    p.add(f"  continue %sum : {t}")
    p.add("}")
    p.add(f"%counted_1 = reshape %counted : {t} -> {p.tile(1)}")
    p.store("%counted_1", (1,), [3])
    p.add(f"%whole = reduce %x dim=1 identities=[0 : {p.t}] : {p.tile(2, 4)} -> {p.tile(2)}")
    p.add(f"(%a: {t}, %b: {t}) {{")
    p.add(f"  %sum = addi %a, %b : {t}")
    p.add(f"  yield %sum : {t}")
    p.add("}")
    p.store("%whole", (2,), [sum(v[:4]) & mask, sum(v[4:]) & mask])
    p.add(f"%prefixes = scan %flat dim=0 reverse=false identities=[0 : {p.t}] : {p.tile(8)} -> {p.tile(8)}")
    p.add(f"(%a: {t}, %b: {t}) {{")
    p.add(f"  %sum = addi %a, %b : {t}")
    p.add(f"  yield %sum : {t}")
    p.add("}")
    p.store("%prefixes", (8,), [sum(v[: i + 1]) & mask for i in range(8)])
    p.add(f"%low = extract %x[%c0, %c0] : {p.tile(2, 4)} -> {p.tile(1, 2)}")
    p.add(f"%promised = assume bounded<0, 1>, %low : {p.tile(1, 2)}")
    p.store("%promised", (1, 2), v[:2])


def exchange(p: Program, v: list[int]) -> None:
    """Compare-and-swap: one element matches, the other does not."""
    at = p.output([v[3], v[1]], [v[0], v[1]])
    p.add("%two = iota : tile<2xi32>")
    p.splat("%cell", at, 2)
    p.add(f"%cell = offset %cell_n, %two : {p.pointers(2)}, tile<2xi32> -> {p.pointers(2)}")
    p.add(f"%expected = constant {p.literal([v[0], v[2]])} : {p.tile(2)}")
    p.add(f"%wanted = constant {p.literal([v[3], v[4]])} : {p.tile(2)}")
    p.add(f"%was, %was_k = atomic_cas_tko acq_rel device %cell, %expected, %wanted : {p.pointers(2)}, {p.tile(2)} -> {p.tile(2)}, token")
    p.store("%was", (2,), [v[0], v[1]])


if __name__ == "__main__":
    for short, name, width, values in TYPES:
        Path(sys.argv[1], f"every_type_{short}.mlir").write_text(program(short, name, width, values))
