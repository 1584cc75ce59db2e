"""Does a launch with block (1, 1, 1) start a kernel with the number of threads that it requires?

Users of Tile IR launch this way, because the image knows how many threads a tile block needs. This experiment
determines whether the driver supports it, and what the image must contain. It launches each *variant* of an image
with block (1, 1, 1), with the required block, and with half and twice its threads, through each launch API.
`docs/launch-abi.md` explains the variants and contains the results.

The *probe* is a kernel that counts its threads and records the extents that it sees. The other variants are a vector
addition, whose result shows whether all threads ran.
"""
from __future__ import annotations

import json
import pathlib
from typing import Any

import numpy as np

from . import correctness
from .device import Device, DeviceError, Image
from .launches import Buffer, Launch
from .work import Context, Item

# Threads that the probe requires, blocks per launch, and the words that it writes.
THREADS, BLOCKS = 128, 4
WORDS = ("threads", "ntid_x", "ntid_y", "ntid_z", "nctaid_x", "cluster_x", "largest_tid", "passed_barrier")

APIS = ("cuLaunchKernel", "cuLaunchKernel on a library's kernel", "cuLaunchKernelEx")


def probe_ptx(directives: str, target: str = "sm_90a", version: str = "9.0", metadata: bool = False) -> str:
    """The probe with the directives of a variant. `metadata` adds the variable that is in the vendor's images."""
    variable = ".visible .global .align 8 .b8 ___NV_TILE_LAUNCH_META_DATA___[64];\n" if metadata else ""
    # The address is stored to an unused location, so the variable is not removed.
    use = "\tmov.u64 %rd2, ___NV_TILE_LAUNCH_META_DATA___;\n\tst.global.u64 [%rd1+64], %rd2;\n" if metadata else ""
    return f"""\
.version {version}
.target {target}
.address_size 64
{variable}
.visible .entry probe(.param .u64 out)
{directives}
{{
	.reg .pred %p<2>;
	.reg .b32 %r<8>;
	.reg .b64 %rd<3>;
	ld.param.u64 %rd1, [out];
	cvta.to.global.u64 %rd1, %rd1;
	mov.u32 %r1, %tid.x;
	red.global.add.u32 [%rd1], 1;
	red.global.max.u32 [%rd1+24], %r1;
	bar.sync 0;
	red.global.add.u32 [%rd1+28], 1;
	setp.ne.u32 %p1, %r1, 0;
	@%p1 bra done;
	mov.u32 %r2, %ntid.x;
	st.global.u32 [%rd1+4], %r2;
	mov.u32 %r2, %ntid.y;
	st.global.u32 [%rd1+8], %r2;
	mov.u32 %r2, %ntid.z;
	st.global.u32 [%rd1+12], %r2;
	mov.u32 %r2, %nctaid.x;
	st.global.u32 [%rd1+16], %r2;
	mov.u32 %r2, %cluster_nctaid.x;
	st.global.u32 [%rd1+20], %r2;
{use}done:
	ret;
}}
"""


# The probe's variants: directives, whether the image's language is Tile IR, whether it has the metadata variable.
REQNTID = f".reqntid {THREADS}, 1, 1"
CLUSTERS = ".reqnctapercluster 1, 1, 1\n.blocksareclusters"
PROBES: dict[str, tuple[str, bool, bool]] = {
    "plain": ("", False, False),
    "reqntid": (REQNTID, False, False),
    "reqntid_clusters": (f"{REQNTID}\n{CLUSTERS}", False, False),
    "reqntid_language": (REQNTID, True, False),
    "reqntid_language_metadata": (REQNTID, True, True),
    "reqntid_clusters_language": (f"{REQNTID}\n{CLUSTERS}", True, False),
}

# The program of the other variants, and their compilers.
PROGRAM, PROGRAM_CASE = "vadd_f32.13.1", "vadd_f32"
PROGRAMS = ("vendor", "ours", "ours_language")


def items(pack: pathlib.Path, only: str = "") -> list[Item]:
    path = pack / "abi" / "index.json"
    if not path.is_file():
        return []
    found = []
    for entry in json.loads(path.read_text()):
        x, y, z = entry["block"]
        for block in ((1, 1, 1), (x, y, z), (x // 2, y, z), (2 * x, y, z)):
            for api in APIS:
                name = f"{entry['variant']} block {block[0]} {api}"
                if only in name:
                    found.append(Item("launch-abi", name, {"entry": entry, "block": block, "api": api}, 10, 0.1))
    return found


def handle(context: Context, payload: dict[str, Any]) -> None:
    pack, entry, block = pathlib.Path(context.config["pack"]), payload["entry"], tuple(payload["block"])
    image = Image(*(pack / entry[key] if entry.get(key) else None for key in ("cubin", "ptx")))
    context.stage("launch", payload["api"])
    record: dict[str, Any] = {"record": "launch_abi", "variant": entry["variant"], "block": list(block), "true_block": entry["block"],
                              "api": payload["api"], "sha256": entry.get("sha256", "")[:16]}
    if entry["kind"] == "probe":
        launch = Launch(entry["entry"], (BLOCKS, 1, 1), [Buffer(np.zeros(32, np.uint32), "u32")], block)
    else:
        cases = correctness.load_cases(pack / "cases" / "cases.py")
        launch = correctness.corpus_launch(cases, PROGRAM_CASE, 0, block, entry["entry"])
    try:
        found = start(context.device, image, launch, payload["api"])
    except DeviceError as e:
        outcome = "not run" if e.what == "image" else "refused"
        context.record({**record, "outcome": outcome, **e.fields()})
        context.lost = e.fatal
        return
    if entry["kind"] == "probe":
        words = dict(zip(WORDS, (int(w) for w in found[0][0][:len(WORDS)])))
        context.record({**record, "outcome": probe_outcome(words, entry["block"][0]), "code": 0, **words})
    else:
        wrong = correctness.differences(launch, found)
        detail = {"detail": str(wrong[0])} if wrong else {}
        context.record({**record, "outcome": "wrong" if wrong else "all threads", "code": 0, **detail})


def probe_outcome(words: dict[str, int], threads: int) -> str:
    """The meaning of the probe's words: `all threads`, `one thread` or `other`."""
    if words["threads"] == words["passed_barrier"] == BLOCKS * threads and words["ntid_x"] == threads:
        return "all threads"
    if words["threads"] == BLOCKS and words["ntid_x"] == 1:
        return "one thread"
    return "other"


def start(device: Device, image: Image, launch: Launch, api: str) -> list[list[np.ndarray]]:
    """Runs a launch through one of the launch APIs. Only a GPU has several."""
    run = getattr(device, "run_through", None)
    return (run(image, launch, api) if run else device.run(image, launch)).arrays
