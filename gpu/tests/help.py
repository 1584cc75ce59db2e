"""What several tests need: the binaries, runs of the kit, and packs made by hand."""
from __future__ import annotations

import json
import lzma
import os
import pathlib
import struct
import subprocess
import sys
import zlib
from typing import Any

import numpy as np

from kit import records
from packer import tools

from . import GPU, ROOT

SAXPY = """
.version 8.7
.target sm_90a
.address_size 64
.visible .entry scale(.param .u64 data, .param .f32 by)
.reqntid 32, 1, 1
{
	.reg .f32 %f<3>;
	.reg .b32 %r<2>;
	.reg .b64 %d<3>;
	ld.param.u64 %d0, [data];
	ld.param.f32 %f0, [by];
	mov.u32 %r0, %tid.x;
	mul.wide.u32 %d1, %r0, 4;
	add.u64 %d2, %d0, %d1;
	ld.global.f32 %f1, [%d2];
	mul.f32 %f1, %f1, %f0;
	st.global.f32 [%d2], %f1;
	ret;
}
"""

# Waits for what nobody writes.
HANG = SAXPY.replace("\tret;", "again:\n\tld.volatile.global.f32 %f1, [%d0];\n\tsetp.lt.f32 %p0, %f1, 0fFF000000;\n\t@!%p0 bra again;\n\tret;").replace(
    ".reg .f32 %f<3>;", ".reg .f32 %f<3>;\n\t.reg .pred %p<1>;")


def tile_run() -> pathlib.Path:
    return tools.built("tile-run")


def kit(pack: pathlib.Path, out: pathlib.Path, *arguments: str, what: str = "all", device: str = "sim", env: dict[str, str] | None = None,
        timeout: float = 150) -> tuple[int, list[records.Record], str]:
    """Runs the kit; its exit status, records and output."""
    command = [sys.executable, str(GPU / "run.py"), what, "--device", device, "--pack", str(pack), "--out", str(out),
               *(["--tile-run", str(tile_run())] if device == "sim" else []), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, env={**os.environ, **(env or {})})
    found = records.read(out / "results.jsonl")[0] if (out / "results.jsonl").is_file() else []
    return done.returncode, found, done.stdout + done.stderr


def case(pack: pathlib.Path, name: str, ptx: str, *, entry: str = "scale", want: float = 2.0, image: str = "kernel.ptx") -> dict[str, Any]:
    """A launch of the kernel above on 32 ones, expected to give `want`; its line of the index."""
    folder = pack / "ptx" / name
    folder.mkdir(parents=True)
    (folder / "kernel.ptx").write_text(ptx)
    np.save(folder / "arg0.npy", np.ones(32, np.float32))
    np.save(folder / "want0.npy", np.full(32, want, np.float32))
    launch = {"grid": [1], "block": [32], "args": [{"buffer": "arg0.npy", "dtype": "f32"}, {"f32": 2.0}],
              "expect": [{"arg": 0, "value": "want0.npy", "match": "bits"}]}
    (folder / "launch.json").write_text(json.dumps(launch))
    return {"name": name, "entry": entry, "launch": f"ptx/{name}/launch.json", "ptx": f"ptx/{name}/{image}", "cubin": f"ptx/{name}/{image}", "sha256": "0" * 64}


def piece(pack: pathlib.Path, name: str, kernels: list[tuple[str, str]]) -> None:
    """A piece of programs, each the kernel above in some form, on 32 ones."""
    data = b""
    for program, ptx in kernels:
        image = ptx.encode()
        header = {"name": program, "digest": "0", "entry": "scale", "grid": [1, 1, 1], "arguments": [{"buffer": 128}, {"value": "00000040"}],
                  "images": [{"configuration": "sm_90 -O3", "threads": [32, 1, 1], "prints": False, "bytes": len(image)}]}
        text = json.dumps(header).encode()
        data += struct.pack("<I", len(text)) + text + np.ones(32, np.float32).tobytes() + image
    (pack / "programs").mkdir(parents=True, exist_ok=True)
    (pack / "programs" / f"{name}.xz").write_bytes(lzma.compress(data))


def results(path: pathlib.Path) -> list[tuple[dict[str, Any], bytes]]:
    """The results of programs: headers, and the buffers that changed."""
    data, found = path.read_bytes(), []
    while data:
        length, = struct.unpack_from("<I", data)
        head, _, rest = zlib.decompress(data[4:4 + length]).partition(b"\n")
        found.append((json.loads(head), rest))
        data = data[4 + length:]
    return found


def index(pack: pathlib.Path, cases: list[dict[str, Any]]) -> None:
    (pack / "ptx" / "index.json").write_text(json.dumps(cases))


def status(found: list[records.Record], name: str) -> records.Record:
    """The only record of a piece of work."""
    mine = [r for r in found if r["record"] == "case" and r["name"] == name]
    assert len(mine) == 1, f"{len(mine)} records of {name}: {mine}"
    return mine[0]


__all__ = ["HANG", "ROOT", "SAXPY", "case", "index", "kit", "piece", "results", "status", "tile_run"]
