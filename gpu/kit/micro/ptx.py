"""Writes the PTX of micro-kernels: declares registers, numbers labels, and provides loops and waits.

The result reads like handwritten PTX; `ptxas` and the simulator read the same file.
"""
from __future__ import annotations

import contextlib
from typing import Iterator, Sequence

VERSION, TARGET = "8.7", "sm_90a"

# Prefix of a register of each type.
PREFIX = {"pred": "%p", "b16": "%h", "b32": "%r", "b64": "%d", "f32": "%f"}


class Entry:
    """One kernel entry under construction.

        e = Entry("m5_named_barrier", [("out", "u64"), ("iterations", "u32")], threads=256)
        start = e.clock()
        with e.loop(e.param("iterations")):
            e.op("bar.sync 1, 256;")
    """

    def __init__(self, name: str, params: Sequence[tuple[str, str]], threads: int, *, cluster: int = 1, maxnreg: int = 0):
        self.name, self.params, self.threads, self.cluster, self.maxnreg = name, list(params), threads, cluster, maxnreg
        self._counts = dict.fromkeys(PREFIX, 0)
        self._labels = 0
        self._lines: list[str] = []
        self._shared: list[str] = []
        self.uses_dynamic = False

    # ---------------------------------------------------------------- registers and memory

    def reg(self, kind: str = "b32") -> str:
        n = self._counts[kind]
        self._counts[kind] = n + 1
        return f"{PREFIX[kind]}{n}"

    def regs(self, kind: str, n: int) -> list[str]:
        return [self.reg(kind) for _ in range(n)]

    def shared(self, name: str, size: int, align: int = 8) -> str:
        """A static variable in shared memory. Returns a register with its address."""
        self._shared.append(f".shared .align {align} .b8 {name}[{size}];")
        return self.value("b32", name)

    def dynamic(self, align: int = 1024) -> str:
        """The address of dynamic shared memory, rounded up to `align`. The launch must provide that much more."""
        self.uses_dynamic = True
        r = self.value("b32", "dynamic_memory")
        self.op(f"add.u32 {r}, {r}, {align - 1};", f"and.b32 {r}, {r}, {-align & 0xFFFFFFFF:#x};")
        return r

    def value(self, kind: str, of: object) -> str:
        """A register that holds a constant, a symbol's address or the value of another register."""
        r = self.reg(kind)
        self.op(f"mov.{'u' + kind[1:] if kind[0] == 'b' else kind} {r}, {of};")
        return r

    def param(self, name: str) -> str:
        kind = dict(self.params)[name]
        r = self.reg({"u64": "b64", "u32": "b32", "f32": "f32"}[kind])
        self.op(f"ld.param.{kind} {r}, [{name}];")
        return r

    def pointer(self, name: str) -> str:
        """A pointer parameter as a global address."""
        r = self.param(name)
        self.op(f"cvta.to.global.u64 {r}, {r};")
        return r

    def map(self, name: str) -> str:
        """The generic address of a tensor map parameter."""
        r = self.value("b64", name)
        self.op(f"cvta.param.u64 {r}, {r};")
        return r

    def special(self, name: str, kind: str = "b32") -> str:
        return self.value(kind, name)

    # ---------------------------------------------------------------- text

    def op(self, *lines: str) -> None:
        self._lines += ["\t" + line for line in lines]

    def label(self) -> str:
        self._labels += 1
        return f"L{self._labels}"

    def place(self, label: str) -> None:
        self._lines.append(f"{label}:")

    def calc(self, op: str, a: object, b: object, kind: str = "b32") -> str:
        """A new register with the result of `op a, b`."""
        r = self.reg(kind)
        self.op(f"{op} {r}, {a}, {b};")
        return r

    @contextlib.contextmanager
    def loop(self, count: str) -> Iterator[str]:
        """Runs its body `count` times (a register, at least 1). Yields the register that counts from 0."""
        i, p, again = self.value("b32", 0), self.reg("pred"), self.label()
        self.place(again)
        yield i
        self.op(f"add.u32 {i}, {i}, 1;", f"setp.lt.u32 {p}, {i}, {count};", f"@{p} bra {again};")

    @contextlib.contextmanager
    def when(self, relation: str, a: object, b: object, kind: str = "u32") -> Iterator[None]:
        """Runs its body if `a relation b`."""
        p, past = self.reg("pred"), self.label()
        self.op(f"setp.{relation}.{kind} {p}, {a}, {b};", f"@!{p} bra {past};")
        yield
        self.place(past)

    # ---------------------------------------------------------------- idioms

    def clock(self) -> str:
        """Reads the clock. The read is not moved across other volatile operations."""
        r = self.reg("b64")
        self.op(f"mov.u64 {r}, %clock64;")
        return r

    def elapsed(self, start: str, end: str) -> str:
        return self.calc("sub.u64", end, start, "b64")

    def wait(self, barrier: str, parity: str) -> None:
        """Waits for the phase with a parity of an mbarrier."""
        p, again = self.reg("pred"), self.label()
        self.place(again)
        self.op(f"mbarrier.try_wait.parity.shared::cta.b64 {p}, [{barrier}], {parity};", f"@!{p} bra {again};")

    def init_barrier(self, barrier: str, count: int) -> None:
        self.op(f"mbarrier.init.shared::cta.b64 [{barrier}], {count};")

    def barriers_ready(self) -> None:
        """Follows the initialization of mbarriers, in the thread that did it; then all threads must synchronize."""
        self.op("fence.mbarrier_init.release.cluster;")

    def sync(self) -> None:
        self.op("bar.sync 0;")

    def store(self, base: str, index: str, value: str, kind: str = "u64") -> None:
        """`base[index] = value` for 32- or 64-bit words of global memory."""
        size = int(kind[1:]) // 8
        at = self.calc("mul.wide.u32", index, size, "b64")
        self.op(f"add.u64 {at}, {base}, {at};", f"st.global.{kind} [{at}], {value};")

    # ---------------------------------------------------------------- the whole

    def text(self) -> str:
        types = {"map": ".param .align 64 .b8 {0}[128]"}
        params = ",\n".join("\t" + types.get(t, f".param .{t} {{0}}").format(n) for n, t in self.params)
        head = [f".visible .entry {self.name}(", params, ")", f".reqntid {self.threads}, 1, 1"]
        if self.cluster > 1:
            head += [f".explicitcluster\n.reqnctapercluster {self.cluster}, 1, 1"]
        if self.maxnreg:
            head += [f".maxnreg {self.maxnreg}"]
        else:
            head += [".minnctapersm 1"]
        declarations = [f"\t.reg .{kind} {PREFIX[kind]}<{n}>;" for kind, n in self._counts.items() if n]
        return "\n".join(head + ["{"] + declarations + ["\t" + s for s in self._shared] + self._lines + ["\tret;", "}"]) + "\n"


def module(entries: Sequence[Entry]) -> str:
    """A file with several entries."""
    head = f".version {VERSION}\n.target {TARGET}\n.address_size 64\n"
    if any(e.uses_dynamic for e in entries):
        head += ".extern .shared .align 1024 .b8 dynamic_memory[];\n"
    return head + "\n" + "\n".join(e.text() for e in entries)
