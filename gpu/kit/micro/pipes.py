"""M9: throughput of the instructions around wgmma, alone and concurrent with it.

Four or eight warps run an instruction on independent chains. In the last variant four warps do so while another
warpgroup issues wgmma. That warpgroup continues until the warps are done, and counts its instructions.
"""
from __future__ import annotations

import dataclasses
from typing import Callable

import numpy as np

from .. import dtypes
from ..launches import Argument, Buffer, Launch, Scalar
from ..stats import line
from . import tiles
from .ptx import Entry
from .spec import Arrays, Figure, Micro, Reading, Setup, Variant, agent_clocks, equal, store_word, words

CHAINS, UNROLL = 8, 4
WIDTH = 256


@dataclasses.dataclass(frozen=True)
class Instruction:
    """An instruction under test. `text` alternates between the registers of two constants."""
    name: str
    opcode: str
    text: str
    # 32 lanes divided by the lanes per clock and SM quarter.
    clocks: float
    why: str
    # The effect on the bits of all chains (rows) and threads (columns), for the given copy in the unrolled loop.
    step: Callable[[np.ndarray, int], np.ndarray]
    exact: bool = True


def _floats(x: np.ndarray) -> np.ndarray:
    return x.view(np.float32)


def _bits(x: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(x, np.float32).view(np.uint32)


def _start(chain: np.ndarray, thread: np.ndarray) -> np.ndarray:
    """Bits of floats between 1 and 2, different for each chain and thread."""
    return (0x3F800000 + (chain * 131 + thread) * 1024).astype(np.uint32)


def _ex2(bits: np.ndarray, turn: int) -> np.ndarray:
    return _bits(np.exp2(-_floats(bits).astype(np.float64)))


def _pack(bits: np.ndarray, turn: int) -> np.ndarray:
    half = dtypes.encode("bf16", _floats(bits)).astype(np.uint32)
    return half << 16 | half


CONSTANTS = (np.float32(1.25), np.float32(1.75))


def _minmax(bits: np.ndarray, turn: int) -> np.ndarray:
    f = np.maximum if turn % 2 == 0 else np.minimum
    return _bits(f(_floats(bits), CONSTANTS[turn % 2]))


def _fma(bits: np.ndarray, turn: int) -> np.ndarray:
    exact = _floats(bits).astype(np.float64) * 0.5 + float(CONSTANTS[turn % 2])
    return _bits(exact)


def _shuffle(bits: np.ndarray, turn: int) -> np.ndarray:
    return bits[:, np.arange(bits.shape[1]) ^ 1]


def _redux(bits: np.ndarray, turn: int) -> np.ndarray:
    warps = bits.reshape(bits.shape[0], -1, 32)
    return np.repeat(warps.max(2), 32, 1)


INSTRUCTIONS = [
    Instruction("ex2", "MUFU", "neg.f32 {f}, {f}; ex2.approx.ftz.f32 {f}, {f};", 8, "16 lanes per clock and SM", _ex2, exact=False),
    Instruction("cvt_bf16x2", "F2FP", "cvt.rn.bf16x2.f32 {r}, {f}, {f}; mov.b32 {f}, {r};", 2, "64 lanes per clock and SM", _pack),
    Instruction("minmax", "FMNMX", "{m}.f32 {f}, {f}, {c};", 2, "64 lanes per clock and SM", _minmax),
    Instruction("fma", "FFMA", "fma.rn.f32 {f}, {f}, 0f3F000000, {c};", 1, "128 lanes per clock and SM", _fma),
    Instruction("shuffle", "SHFL", "mov.b32 {r}, {f}; shfl.sync.bfly.b32 {r}, {r}, 1, 31, -1; mov.b32 {f}, {r};", 4,
                "a full-warp shuffle is 128 B of shared memory's 128 B/clk: one per clock and SM", _shuffle),
    Instruction("redux", "REDUX", "mov.b32 {r}, {f}; redux.sync.max.u32 {r}, {r}, -1; mov.b32 {f}, {r};", 8, "half the rate of a shuffle", _redux),
]
FORMS = ("4warps", "8warps", "beside_wgmma")

PARAMS = [("out", "u64"), ("values", "u64"), ("iterations", "u32"), ("a", "u64"), ("b", "u64"), ("d", "u64")]


def chains(e: Entry, instruction: Instruction, thread: str, iterations: str) -> tuple[list[str], str, str]:
    """The loop under test. Returns its chains, and the start and stop clocks."""
    values = []
    for c in range(CHAINS):
        bits = e.calc("mad.lo.u32", thread, f"1024, {0x3F800000 + c * 131 * 1024}")
        f = e.reg("f32")
        e.op(f"mov.b32 {f}, {bits};")
        values.append(f)
    constants = [e.value("f32", f"0f{int(_bits(np.array(c)).item()):08X}") for c in CONSTANTS]
    scratch = e.reg()
    start = e.clock()
    with e.loop(iterations):
        for turn in range(UNROLL):
            for f in values:
                text = instruction.text.format(f=f, r=scratch, c=constants[turn % 2], m=("max", "min")[turn % 2])
                e.op(*(part.strip() + ";" for part in text.split(";") if part.strip()))
    stop = e.clock()
    return values, start, stop


def entry(instruction: Instruction, form: str) -> Entry:
    beside = form == "beside_wgmma"
    threads = 128 if form == "4warps" else 256
    e = Entry(f"m9_{instruction.name}_{form}", PARAMS, threads)
    out, values, iterations = e.pointer("out"), e.pointer("values"), e.param("iterations")
    thread = e.special("%tid.x")
    if not beside:
        e.sync()
        found, start, stop = chains(e, instruction, thread, iterations)
        _store(e, out, values, found, thread, threads, start, stop)
        return e
    memory, flag = e.dynamic(), e.shared("stop_flag", 4, 4)
    b_tile = e.calc("add.u32", memory, 64 * tiles.ROW)
    within = e.calc("and.b32", thread, 127)
    tiles.fill(e, memory, e.pointer("a"), 64, thread, threads)
    tiles.fill(e, b_tile, e.pointer("b"), WIDTH, thread, threads)
    with e.when("eq", thread, 0):
        e.op(f"st.shared.u32 [{flag}], 0;")
    tiles.to_async(e)
    with e.when("lt", thread, 128):
        found, start, stop = chains(e, instruction, thread, iterations)
        with e.when("eq", within, 0):
            e.op(f"st.relaxed.cta.shared.u32 [{flag}], 1;")
        _store(e, out, values, found, thread, 128, start, stop)
    with e.when("ge", thread, 128):
        left, right = tiles.steps(e, tiles.descriptor(e, memory)), tiles.steps(e, tiles.descriptor(e, b_tile))
        d, one, again = tiles.accumulators(e, WIDTH), tiles.true(e), e.label()
        rounds, stopped, p = e.value("b64", 0), e.reg(), e.reg("pred")
        start = e.clock()
        tiles.fence(e)
        e.place(again)
        for k in range(4):
            tiles.wgmma(e, WIDTH, d, left[k], right[k], one)
        tiles.commit(e)
        tiles.drain(e, 1)
        e.op(f"add.u64 {rounds}, {rounds}, 1;")
        # One lane reads the flag, so the warpgroup agrees. Its warps meet at a separate barrier once per round.
        e.op(f"ld.relaxed.cta.shared.u32 {stopped}, [{flag}];", f"setp.ne.u32 {p}, {stopped}, 0;", f"barrier.cta.red.or.pred.aligned {p}, 1, 128, {p};",
             f"@!{p} bra.uni {again};")
        tiles.drain(e)
        stop = e.clock()
        with e.when("eq", within, 0):
            agent_clocks(e, out, 1, start, stop)
            store_word(e, out, 4, rounds)
        tiles.dump(e, e.pointer("d"), d, within, 128)
    return e


def _store(e: Entry, out: str, values: str, found: list[str], thread: str, threads: int, start: str, stop: str) -> None:
    with e.when("eq", e.calc("and.b32", thread, 127), 0):
        agent_clocks(e, out, e.calc("shr.u32", thread, 7), start, stop)
    at = e.calc("mad.wide.u32", thread, f"4, {values}", "b64")
    for c, f in enumerate(found):
        e.op(f"st.global.f32 [{at}+{4 * c * threads}], {f};")


def variant(instruction: Instruction, form: str, figures: tuple[Figure, ...]) -> Variant:
    beside, name = form == "beside_wgmma", f"m9_{instruction.name}_{form}"
    threads = 128 if form != "8warps" else 256
    a, b = tiles.small_matrix(11, 64), tiles.small_matrix(12, WIDTH)

    def launch(setup: Setup, length: int) -> Launch:
        args: list[Argument] = [Buffer(words(1), "u64"), Buffer(np.zeros((CHAINS, threads), np.uint32), "u32"), Scalar("u32", length),
                Buffer(dtypes.encode("bf16", a), "bf16"), Buffer(dtypes.encode("bf16", b), "bf16"),
                Buffer(dtypes.poisoned("f32", (WIDTH // 2, 128)), "f32")]
        return Launch(name, (1, 1, 1), args, (256 if beside else threads, 1, 1), dynamic_shared=(64 + WIDTH) * tiles.ROW + 1024 if beside else 0)

    def check(setup: Setup, length: int, launch: Launch, found: Arrays) -> str | None:
        got, want = found[1][0], expected(instruction, threads, length)
        if instruction.exact:
            complaint = equal("values", got, want)
        else:
            far = np.abs(_floats(got) - _floats(want)) > 1e-4
            complaint = f"values: {int(far.sum())} of {far.size} are far off" if far.any() or not np.isfinite(_floats(got)).all() else None
        if complaint or not beside:
            return complaint
        rounds = int(found[0][0][0, 4])
        if rounds < 1:
            return "the concurrent wgmma did not run"
        return equal("d", tiles.undump(found[5][0], WIDTH), (rounds * (a @ b.T)).astype(np.float32))

    def derive(readings: list[Reading]) -> dict[str, float]:
        per_quarter = CHAINS * UNROLL * (2 if form == "8warps" else 1)
        agents = (0, 1) if form == "8warps" else (0,)
        found = {figures[0].name: line([(r.length, r.clocks(agents)) for r in readings]).slope / per_quarter}
        if beside:
            last = readings[-1]
            found[figures[1].name] = 512 * float(last.words[0, 4]) / last.clocks((1,))
        return found

    return Variant(name, name, (32, 128, 512), (1, 2), launch, check, figures, derive)


def expected(instruction: Instruction, threads: int, length: int) -> np.ndarray:
    chain, thread = np.meshgrid(np.arange(CHAINS), np.arange(threads), indexing="ij")
    values = _start(chain, thread)
    for _ in range(length):
        before = values
        for turn in range(UNROLL):
            values = instruction.step(values, turn)
        if np.array_equal(values, before):
            break
    return values


def variants() -> list[Variant]:
    found = []
    for i in INSTRUCTIONS:
        for form in FORMS:
            label = f"pipe.{i.name}.{form}"
            low, high = i.clocks * 0.95, i.clocks * (1.15 if form == "8warps" else 1.5)
            why = f"{i.why}: {i.clocks:g} clk per warp instruction and quarter"
            figures = [Figure(f"{label}.clk", "clk", i.clocks, low, high, why)]
            if form == "beside_wgmma":
                shared = i.name in ("shuffle", "redux")
                share = 0.8 if shared else 0.97
                figures.append(Figure(f"{label}.wgmma_share", "of 2048 MAC/clk", share, 0.55 if shared else 0.85, 1.01,
                                      "a round of products meets at a barrier: a few per cent" + ("; shuffles take shared memory's bandwidth from the operands" if shared else "")))
            found.append(variant(i, form, tuple(figures)))
    return found


M9 = Micro(
    "M9", "Throughput of other pipes, alone and concurrent with wgmma",
    "How many clocks do ex2, packing to bf16, min and max, shuffles and warp reductions take, and do they and wgmma slow each other down?",
    lambda: [entry(i, form) for i in INSTRUCTIONS for form in FORMS], variants,
    opcodes={f"m9_{i.name}": {i.opcode: CHAINS * UNROLL} for i in INSTRUCTIONS}, priority=42)
