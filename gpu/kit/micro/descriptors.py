"""M6: the cost of tensor maps that are parameters, built by the kernel, or looked up in a table in memory.

Each kernel is a warp that prepares a map and uses it to load one box of 64 x 64 16-bit elements twice. For the second
load all caches are warm. The words of the output are the clocks of each stage.
"""
from __future__ import annotations

import numpy as np

from ..launches import Argument, Buffer, Launch, Scalar, TensorMap
from . import tiles
from .ptx import Entry
from .spec import Arrays, Figure, Micro, Reading, Setup, Variant, equal, store_word, words
from .tma import expect, load_box, noise

ROWS, WIDTH, HEIGHT = 64, 256, 256
BOX = ROWS * tiles.ROW


class Warp:
    """The common parts of the kernels: a barrier, a stage, and loads of a box."""

    def __init__(self, name: str, params: list[tuple[str, str]]):
        self.e = e = Entry(name, params, 32)
        self.out, self.stage = e.pointer("out"), e.pointer("stage")
        self.lane = e.special("%tid.x")
        self.memory, self.bar = e.dynamic(), e.shared("full", 8)
        with e.when("eq", self.lane, 0):
            e.init_barrier("full", 1)
            e.barriers_ready()
        e.op("bar.warp.sync -1;")
        self.loads = 0

    def load(self, map_: str) -> None:
        """Lane 0 loads a box and waits. The caller has branched the other lanes around this."""
        e, y = self.e, ROWS * self.loads
        expect(e, self.bar, str(BOX))
        load_box(e, self.memory, map_, e.value("b32", 0), e.value("b32", y), self.bar)
        e.wait(self.bar, str(self.loads % 2))
        self.loads += 1

    def finish(self) -> Entry:
        """Copies the last box to memory."""
        e = self.e
        e.op("bar.warp.sync -1;")
        with e.loop(e.value("b32", BOX // 512)) as i:
            at = e.calc("shl.b32", e.calc("mad.lo.u32", i, f"32, {self.lane}"), 4)
            v = e.regs("b32", 4)
            e.op(f"ld.shared.v4.b32 {{{', '.join(v)}}}, [{e.calc('add.u32', self.memory, at)}];")
            to = e.calc("mad.wide.u32", at, f"1, {self.stage}", "b64")
            e.op(f"st.global.v4.b32 [{to}], {{{', '.join(v)}}};")
        return e

    def lap(self, word: int, since: str) -> str:
        """Stores the clocks since an earlier reading. Returns a new reading."""
        now = self.e.clock()
        store_word(self.e, self.out, word, self.e.elapsed(since, now))
        return self.e.clock()


def parameter(name: str, prefetch: bool) -> Entry:
    """A map by value. Words: first load, second load. With a prefetch, 4096 clocks pass before the first load."""
    w = Warp(name, [("map", "map"), ("out", "u64"), ("stage", "u64")])
    e, map_ = w.e, w.e.map("map")
    with e.when("eq", w.lane, 0):
        if prefetch:
            e.op(f"prefetch.tensormap [{map_}];")
            begin, p, again = e.clock(), e.reg("pred"), e.label()
            e.place(again)
            passed = e.elapsed(begin, e.clock())
            e.op(f"setp.lt.u64 {p}, {passed}, 4096;", f"@{p} bra {again};")
        at = e.clock()
        w.load(map_)
        at = w.lap(0, at)
        w.load(map_)
        w.lap(1, at)
    return w.finish()


BUILD_PARAMS = [("data", "u64"), ("out", "u64"), ("stage", "u64"), ("scratch", "u64"), ("width", "u32"), ("height", "u32")]


def build(e: Entry, lane: str, template: str, data: str, width: str, height: str) -> None:
    """A warp builds a map in shared memory, field by field, starting from zeros."""
    e.op(f"st.shared.b32 [{e.calc('mad.lo.u32', lane, f'4, {template}')}], 0;", "bar.warp.sync -1;")
    pitch = e.reg("b64")
    e.op(f"cvt.u64.u32 {pitch}, {width};", f"shl.b64 {pitch}, {pitch}, 1;")
    with e.when("eq", lane, 0):
        def put(field: str, kind: str, value: object, ordinal: str = "") -> None:
            e.op(f"tensormap.replace.tile.{field}.shared::cta.b1024.{kind} [{template}], {ordinal}{value};")
        put("global_address", "b64", data)
        put("rank", "b32", 1)
        for i, (box, extent) in enumerate(((tiles.DEPTH, width), (ROWS, height))):
            put("box_dim", "b32", box, f"{i}, ")
            put("global_dim", "b32", extent, f"{i}, ")
            put("element_stride", "b32", 1, f"{i}, ")
        put("global_stride", "b64", pitch, "0, ")
        for field, code in (("elemtype", 1), ("interleave_layout", 0), ("swizzle_mode", 3), ("fill_mode", 0)):
            put(field, "b32", code)
    e.op("bar.warp.sync -1;")


def publish(e: Entry, template: str, to: str) -> None:
    """Copies a map to memory and makes it visible to TMA. All lanes of the warp take part."""
    e.op(f"tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [{to}], [{template}], 128;")


def acquire(e: Entry, map_: str) -> None:
    e.op(f"fence.proxy.tensormap::generic.acquire.gpu [{map_}], 128;")


def built() -> Entry:
    """Words: building, publishing with the fence, first load, second load."""
    w = Warp("m6_build", BUILD_PARAMS)
    e = w.e
    data, scratch = e.param("data"), e.param("scratch")
    template = e.shared("template", 128, 128)
    at = e.clock()
    build(e, w.lane, template, data, e.param("width"), e.param("height"))
    fields = e.clock()
    publish(e, template, scratch)
    acquire(e, scratch)
    fenced = e.clock()
    with e.when("eq", w.lane, 0):
        store_word(e, w.out, 0, e.elapsed(at, fields))
        store_word(e, w.out, 1, e.elapsed(fields, fenced))
        at = e.clock()
        w.load(scratch)
        at = w.lap(2, at)
        w.load(scratch)
        w.lap(3, at)
    return w.finish()


def interned() -> Entry:
    """Looks up a map by its key in memory: state, address, width and height after the map itself. The first launch
    builds it, the second finds it. Words: looking up or building, first load, second load, whether it was found."""
    w = Warp("m6_interned", BUILD_PARAMS)
    e = w.e
    data, scratch, width, height = e.param("data"), e.param("scratch"), e.param("width"), e.param("height")
    template = e.shared("template", 128, 128)
    at = e.clock()
    state, address, extents = e.reg(), e.reg("b64"), e.regs("b32", 2)
    e.op(f"ld.acquire.gpu.global.u32 {state}, [{scratch}+128];", f"ld.global.u64 {address}, [{scratch}+136];",
         f"ld.global.v2.u32 {{{extents[0]}, {extents[1]}}}, [{scratch}+144];")
    hit, ready = e.reg("pred"), e.label()
    e.op(f"setp.eq.u32 {hit}, {state}, 1;")
    for have, want, kind in ((address, data, "u64"), (extents[0], width, "u32"), (extents[1], height, "u32")):
        e.op(f"setp.eq.and.{kind} {hit}, {have}, {want}, {hit};")
    e.op(f"@{hit} bra.uni {ready};")
    build(e, w.lane, template, data, width, height)
    publish(e, template, scratch)
    with e.when("eq", w.lane, 0):
        e.op(f"st.global.u64 [{scratch}+136], {data};", f"st.global.v2.u32 [{scratch}+144], {{{width}, {height}}};",
             f"st.release.gpu.global.u32 [{scratch}+128], 1;")
    e.place(ready)
    acquire(e, scratch)
    done = e.clock()
    found = e.reg("b64")
    with e.when("eq", w.lane, 0):
        store_word(e, w.out, 0, e.elapsed(at, done))
        e.op(f"selp.u64 {found}, 1, 0, {hit};")
        store_word(e, w.out, 3, found)
        at = e.clock()
        w.load(scratch)
        at = w.lap(1, at)
        w.load(scratch)
        w.lap(2, at)
    return w.finish()


def variant(name: str, launches: int, figures: dict[int, Figure]) -> Variant:
    """`figures` maps the output words to their figures."""
    data = noise(5, HEIGHT, WIDTH)

    def launch(setup: Setup, length: int) -> Launch:
        stage = Buffer(np.full(BOX // 2, 0xA5A5, np.uint16), "u16")
        args: list[Argument]
        if name.startswith("m6_param"):
            map_ = TensorMap(data, "u16", [WIDTH, HEIGHT], [2 * WIDTH], [tiles.DEPTH, ROWS], swizzle=3)
            args = [map_, Buffer(words(1), "u64"), stage]
        else:
            args = [Buffer(data, "u16"), Buffer(words(1), "u64"), stage, Buffer(np.zeros(64, np.uint64), "u64"),
                    Scalar("u32", WIDTH), Scalar("u32", HEIGHT)]
        return Launch(name, (1, 1, 1), args, (32, 1, 1), dynamic_shared=BOX + 1024, launches=launches)

    def check(setup: Setup, length: int, launch: Launch, found: Arrays) -> str | None:
        if launches == 2 and int(found[1][0][0, 3]) != 1:
            return "the second launch did not find the map that the first one built"
        return equal("box", tiles.unswizzle(found[2][0], ROWS).view(np.uint16), data[ROWS:2 * ROWS, :tiles.DEPTH])

    def derive(readings: list[Reading]) -> dict[str, float]:
        return {figure.name: float(readings[-1].words[0, word]) for word, figure in figures.items()}

    return Variant(name, name, (1,), (1,), launch, check, tuple(figures.values()), derive, out=1, repeats=15)


def variants() -> list[Variant]:
    warm = "B200's 460 + 6 per KB times 1.2 is 610; box and map are warm except for the box's data"
    return [
        variant("m6_param", 1, {
            0: Figure("tensormap.param.first_load", "clk", 1500, 900, 2500, "a cold map: one more trip to memory, 600 to 800 clk, before the load's own"),
            1: Figure("tensormap.param.second_load", "clk", 900, 500, 1400, warm)}),
        variant("m6_param_prefetch", 1, {
            0: Figure("tensormap.param.prefetched_load", "clk", 900, 500, 1400, "the prefetch takes the map's own trip away")}),
        variant("m6_build", 1, {
            0: Figure("tensormap.build.fields", "clk", 600, 200, 1500, "12 replacements of some 30 to 50 clk in a row"),
            1: Figure("tensormap.build.publish", "clk", 1500, 600, 3000, "a copy to memory, a release and an acquire of GPU scope: two trips of 600 to 800 clk"),
            2: Figure("tensormap.build.first_load", "clk", 1300, 700, 2500, "the map is in L2, not in the map cache")}),
        variant("m6_interned", 2, {
            0: Figure("tensormap.interned.hit", "clk", 900, 500, 2000, "two dependent loads from L2, 270 clk each, and the acquire of the map: about 0.5 us by estimate"),
            1: Figure("tensormap.interned.first_load", "clk", 1300, 700, 2500, "as after building")}),
    ]


M6 = Micro(
    "M6", "Tensor maps",
    "What does it cost to build a tensor map in the kernel, to find one in a table, and to use one for the first time?",
    lambda: [parameter("m6_param", False), parameter("m6_param_prefetch", True), built(), interned()],
    variants, opcodes={"m6_": {"UTMALDG": 2}, "m6_param_prefetch": {"UTMACCTL": 1}}, priority=42)
