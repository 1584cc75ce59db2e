"""M10: three ways to load a row into a CTA. One CTA of 256 threads per row sums its words. Timed from outside,
interleaved."""
from __future__ import annotations

import functools

import numpy as np

from ..launches import Argument, Buffer, Launch, TensorMap, only_array
from .ptx import Entry
from .spec import Arrays, Contender, Figure, Micro, Setup, equal

KB = 1024
SIZES = tuple(k * KB for k in (2, 4, 8, 16, 32, 64))
WAYS = ("ldg", "bulk", "boxes")
THREADS = 256
BOX_ELEMENTS = 256
# Two input sets of a quarter of a gigabyte each, used alternately.
SET_BYTES = 1 << 28


def entry(way: str, size: int) -> Entry:
    params = [("out", "u64"), ("map" if way == "boxes" else "data", "map" if way == "boxes" else "u64")]
    e = Entry(f"m10_{way}_{size // KB}kb", params, THREADS)
    out, thread, row = e.pointer("out"), e.special("%tid.x"), e.special("%ctaid.x")
    chunks = size // 16
    per = max(1, chunks // THREADS)
    values: list[str] = []
    total = e.value("b32", 0)
    if way == "ldg":
        data = e.pointer("data")
        at = e.calc("mad.wide.u32", row, f"{size}, {data}", "b64")
        e.op(f"mad.wide.u32 {at}, {thread}, 16, {at};")
        with e.when("lt", thread, chunks):
            for n in range(per):
                v = e.regs("b32", 4)
                e.op(f"ld.global.nc.L1::no_allocate.v4.b32 {{{', '.join(v)}}}, [{at}+{16 * THREADS * n}];")
                values += v
            for word in values:
                e.op(f"add.u32 {total}, {total}, {word};")
    else:
        memory, bar = e.dynamic(128), e.shared("full", 8)
        with e.when("eq", thread, 0):
            e.init_barrier("full", 1)
            e.barriers_ready()
            e.op(f"mbarrier.arrive.expect_tx.shared::cta.b64 _, [{bar}], {size};")
        e.sync()
        if way == "bulk":
            at = e.calc("mad.wide.u32", row, f"{size}, {e.pointer('data')}", "b64")
            with e.when("eq", thread, 0):
                e.op(f"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [{memory}], [{at}], {size}, [{bar}];")
        else:
            map_, box = e.map("map"), 2 * BOX_ELEMENTS
            with e.when("lt", thread, min(32, size // box)):
                x = e.calc("mad.lo.u32", row, f"{size // 2}, {e.calc('mul.lo.u32', thread, BOX_ELEMENTS)}")
                to = e.calc("mad.lo.u32", thread, f"{box}, {memory}")
                for _ in range(max(1, size // box // 32)):
                    e.op(f"cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [{to}], [{map_}, {{{x}}}], [{bar}];",
                         f"add.u32 {x}, {x}, {32 * BOX_ELEMENTS};", f"add.u32 {to}, {to}, {32 * box};")
        e.wait(bar, "0")
        with e.when("lt", thread, chunks):
            at = e.calc("mad.lo.u32", thread, f"16, {memory}")
            for n in range(per):
                v = e.regs("b32", 4)
                e.op(f"ld.shared.v4.b32 {{{', '.join(v)}}}, [{at}+{16 * THREADS * n}];")
                for r in v:
                    e.op(f"add.u32 {total}, {total}, {r};")
    partial = e.shared("partial", 4 * THREADS // 32, 16)
    e.op(f"redux.sync.add.u32 {total}, {total}, -1;")
    with e.when("eq", e.calc("and.b32", thread, 31), 0):
        e.op(f"st.shared.u32 [{e.calc('mad.lo.u32', e.calc('shr.u32', thread, 5), f'4, {partial}')}], {total};")
    e.sync()
    with e.when("eq", thread, 0):
        for n in range(1, THREADS // 32):
            word = e.reg()
            e.op(f"ld.shared.u32 {word}, [{partial}+{4 * n}];", f"add.u32 {total}, {total}, {word};")
        e.store(out, row, total, "u32")
    return e


@functools.cache
def source(which: int, size: int) -> np.ndarray:
    """An input set. Its blocks of 4 MB are equal but at different addresses."""
    block = np.random.default_rng(which).integers(0, 1 << 32, min(size, 1 << 22) // 4, np.uint32)
    return np.resize(block, size // 4)


def contender(way: str, size: int) -> Contender:
    name = f"m10_{way}_{size // KB}kb"

    def launches(setup: Setup) -> list[Launch]:
        total = setup.pick(SET_BYTES, 3 * size)
        found = []
        for which in range(setup.pick(2, 1)):
            data = source(which, total)
            argument: Argument = TensorMap(data.view(np.uint16), "u16", [total // 2], [], [BOX_ELEMENTS], constant=True) if way == "boxes" else Buffer(data, "u32", constant=True)
            out = Buffer(np.full(total // size, 0xA5A5A5A5, np.uint32), "u32")
            found.append(Launch(name, (total // size, 1, 1), [out, argument], (THREADS, 1, 1), dynamic_shared=0 if way == "ldg" else size + 128))
        return found

    def check(setup: Setup, launch: Launch, found: Arrays) -> str | None:
        data = only_array(launch.args[1]).view(np.uint32).reshape(-1, size // 4)
        return equal("sums", found[0][0], data.sum(1, dtype=np.uint32))

    high_cost = way == "boxes" and size >= 32 * KB
    value = {"ldg": 0.92, "bulk": 0.93, "boxes": 0.85 if high_cost else 0.9}[way] - (0.12 if size == 2 * KB else 0.05 if size == 4 * KB else 0)
    why = {"ldg": "a CTA of 256 threads has its row in flight at once, and several CTAs share an SM: near copy bandwidth",
           "bulk": "one instruction a row and no registers held: as good, with a barrier's set-up before it",
           "boxes": "as bulk, but an instruction for each 512 bytes: issue of some 30 clk each shows on long rows"}[way]
    if size <= 4 * KB:
        why += "; short rows pay for the start of a CTA each"
    # Relative to 3.0 TB/s, which copies on an H100 reach, counting reads and writes; on an H200 the machine's own
    # copy figure is the reference.
    figure = Figure(f"rows.{size // KB}kb.{way}.rate", "GB/s", 3000 * value, 2200 * value, 4700, why + f"; {value:.0%} of 3.0 TB/s (H100; H200: 4.3)")
    return Contender(name, name, launches, check, figure, lambda setup, us: setup.pick(SET_BYTES, 3 * size) / us * 1e-3)


M10 = Micro(
    "M10", "Rows: registers, bulk copies, or boxes",
    "Which way of reading rows of 2 to 64 KB, one CTA each, comes closest to memory bandwidth?",
    lambda: [entry(w, s) for s in SIZES for w in WAYS], contenders=lambda: [[contender(w, s) for w in WAYS] for s in SIZES],
    opcodes={"m10_ldg": {"LDG": 1}, "m10_bulk": {"UBLKCP": 1}, "m10_boxes": {"UTMALDG": 1}}, priority=43)
