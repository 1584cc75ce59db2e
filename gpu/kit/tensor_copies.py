"""Which coordinates does TMA accept?

PTX says little about the coordinates of `cp.async.bulk.tensor`: they are signed, and elements outside the tensor are
filled or skipped. This experiment determines whether a box may start at any element. It loads, stores and reduces a
small box at coordinates inside the tensor, across each border and outside it, aligned to 16 bytes along the innermost
dimension and not. Each launch either has the result that PTX describes (`right`), another result (`wrong`), or is
rejected by the machine (`refused`), which destroys the context.
"""
from __future__ import annotations

import itertools
import pathlib
from typing import Any, Iterator

import numpy as np

from .device import DeviceError, Image
from .launches import Argument, Buffer, Launch, Scalar, TensorMap
from .work import Context, Item

THREADS = 32
# Extents of the tensor and of the box in the second dimension; the first dimension depends on the element type.
ROWS, BOX_ROWS = 20, 8

# Element type, its NumPy type, elements in a row, and elements in a row of the box: 160 and 32 bytes.
ELEMENTS = {"u8": (np.uint8, 160, 32), "u16": (np.uint16, 80, 16), "s32": (np.int32, 40, 8), "s64": (np.int64, 20, 4)}
OPS = ("load", "store", "add", "max")


def ptx(target: str = "sm_90a", version: str = "9.0") -> str:
    """The PTX, with an entry for each operation."""
    return f".version {version}\n.target {target}\n.address_size 64\n\n" + "\n".join(map(_entry, OPS))


def _entry(op: str) -> str:
    if op == "load":
        body = """\
	@%p1 bra ready;
	mbarrier.init.shared::cta.b64 [bar], 1;
	fence.mbarrier_init.release.cluster;
	mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 256;
	cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [tile], [%rd1, {%r2, %r3}], [bar];
ready:
	bar.sync 0;
wait:
	mbarrier.try_wait.parity.shared::cta.b64 %p2, [bar], 0;
	@!%p2 bra wait;
	ld.shared.b64 %rd4, [%r5];
	st.global.b64 [%rd3], %rd4;
"""
    else:
        form = {"store": "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group"}.get(
            op, f"cp.reduce.async.bulk.tensor.2d.global.shared::cta.{op}.tile.bulk_group")
        body = f"""\
	ld.global.b64 %rd4, [%rd3];
	st.shared.b64 [%r5], %rd4;
	fence.proxy.async.shared::cta;
	bar.sync 0;
	@%p1 bra done;
	{form} [%rd1, {{%r2, %r3}}], [tile];
	cp.async.bulk.commit_group;
	cp.async.bulk.wait_group 0;
done:
"""
    return f"""\
.visible .entry {op}(.param .align 64 .b8 map[128], .param .u64 box, .param .u32 x, .param .u32 y)
.reqntid {THREADS}, 1, 1
{{
	.reg .pred %p<3>;
	.reg .b32 %r<6>;
	.reg .b64 %rd<5>;
	.shared .align 128 .b8 tile[256];
	.shared .align 8 .b64 bar;
	mov.b64 %rd1, map;
	cvta.param.u64 %rd1, %rd1;
	ld.param.u64 %rd3, [box];
	cvta.to.global.u64 %rd3, %rd3;
	ld.param.u32 %r2, [x];
	ld.param.u32 %r3, [y];
	mov.u32 %r1, %tid.x;
	setp.ne.u32 %p1, %r1, 0;
	mul.wide.u32 %rd4, %r1, 8;
	add.s64 %rd3, %rd3, %rd4;
	mov.u32 %r4, tile;
	mad.lo.u32 %r5, %r1, 8, %r4;
{body}	ret;
}}
"""


def points() -> Iterator[tuple[str, str, int, int]]:
    """Operation, element type, and the coordinates of the box."""
    for op, element in itertools.product(OPS, ELEMENTS):
        dtype, columns, width = ELEMENTS[element]
        if op in ("add", "max") and element not in ("s32", "s64") or op == "add" and element == "s64":
            # There is no such reduction.
            continue
        quarter = 16 // np.dtype(dtype).itemsize
        across = [0, quarter, columns - width, columns - quarter, columns, columns + 60 * quarter, -quarter, -width, -width - quarter]
        found = [(x, 4) for x in across] + [(quarter, y) for y in (0, ROWS - BOX_ROWS, ROWS - 3, ROWS, ROWS + 50, -3, -BOX_ROWS, -50)]
        found += [(quarter, -4), (-quarter, -4), (columns - quarter, ROWS - 4)]
        # Not aligned to 16 bytes: inside, across both borders, and outside.
        found += [(x, 4) for x in (1, quarter // 2, quarter + 1, columns - width + 1, -1, -quarter // 2, columns + 1)]
        yield from ((op, element, x, y) for x, y in dict.fromkeys(found))


def launch(op: str, element: str, x: int, y: int) -> tuple[Launch, int, np.ndarray]:
    """The launch, the index of the argument that it changes, and the expected contents."""
    dtype, columns, width = ELEMENTS[element]
    tensor = (np.arange(ROWS * columns) * 37 % 101 + 1).astype(dtype).reshape(ROWS, columns)
    box = (np.arange(BOX_ROWS * width) * 53 % 97 + 2).astype(dtype).reshape(BOX_ROWS, width)
    rows, cols = np.mgrid[y:y + BOX_ROWS, x:x + width]
    inside = (rows >= 0) & (rows < ROWS) & (cols >= 0) & (cols < columns)
    at = rows[inside], cols[inside]
    want = tensor.copy()
    if op == "load":
        want = np.zeros_like(box)
        want[inside] = tensor[at]
        box = np.full_like(box, 113)
    elif op == "store":
        want[at] = box[inside]
    else:
        want[at] = {"add": np.add, "max": np.maximum}[op](tensor[at], box[inside])
    tile = TensorMap(tensor, element, [columns, ROWS], [columns * tensor.itemsize], [width, BOX_ROWS])
    args: list[Argument] = [tile, Buffer(box, tile.dtype), Scalar("i32", x), Scalar("i32", y)]
    return Launch(op, (1, 1, 1), args, (THREADS, 1, 1)), 1 if op == "load" else 0, want


def items(pack: pathlib.Path, only: str = "") -> list[Item]:
    if not (pack / "copies" / "copies.ptx").is_file():
        return []
    # After the competitors, because half of these may cost a worker.
    return [Item("tensor-copies", name, {"point": point}, 60, 0.7) for point in points()
            if only in (name := f"{point[0]} {point[1]} at {point[2]}, {point[3]}")]


def handle(context: Context, payload: dict[str, Any]) -> None:
    pack = pathlib.Path(context.config["pack"])
    op, element, x, y = payload["point"]
    context.stage("launch", context.item["name"])
    one, argument, want = launch(op, element, x, y)
    record = {"record": "tensor_copy", "op": op, "element": element, "at": [x, y], "aligned": x * want.itemsize % 16 == 0}
    try:
        found = context.device.run(Image(pack / "copies" / "copies.cubin", pack / "copies" / "copies.ptx"), one).arrays[argument][0]
    except DeviceError as e:
        context.record({**record, "outcome": "refused", **e.fields()})
        context.lost = e.fatal
        return
    wrong = int(np.count_nonzero(found != want))
    context.record({**record, "outcome": "wrong" if wrong else "right", "wrong": wrong})
