"""Runs programs that are compiled and compared on another machine: random ones, and the written tests of each op.

A piece (`programs/*.xz`, written by `tile-fuzz --export`) holds up to a hundred programs, each with the contents of
its buffers and an image for each configuration. This module only runs them and appends the results to
`programs.results`, which `tile-fuzz --compare` reads. `src/execution/fuzz/cases/archive.rs` describes both formats.
"""
from __future__ import annotations

import dataclasses
import json
import lzma
import pathlib
import struct
import zlib
from typing import Any, Iterator

import numpy as np

from .device import DeviceError
from .launches import Buffer, Bytes, Launch, arrays
from .work import Context, Item

RESULTS = "programs.results"


@dataclasses.dataclass
class Image:
    configuration: str
    threads: tuple[int, int, int]
    prints: bool
    data: bytes


@dataclasses.dataclass
class Program:
    name: str
    digest: str
    entry: str
    grid: tuple[int, int, int]
    arguments: list[Buffer | Bytes]
    images: list[Image]


def items(pack: pathlib.Path, device: str, only: str = "") -> list[Item]:
    # A simulated device needs a process for each launch.
    limit = 20.0 if device == "cuda" else 600.0
    return [Item("programs", path.stem, {"file": f"programs/{path.name}"}, 24, 1.0, limit, subjects=True)
            for path in sorted((pack / "programs").glob("*.xz")) if only in path.stem]


# ---------------------------------------------------------------- files

def read(path: pathlib.Path) -> Iterator[Program]:
    """The programs of a piece, in order."""
    data = lzma.decompress(path.read_bytes())
    at = 0

    def take(size: int) -> bytes:
        nonlocal at
        at += size
        if at > len(data):
            raise ValueError(f"{path.name} is truncated")
        return data[at - size:at]

    while at < len(data):
        length, = struct.unpack("<I", take(4))
        header = json.loads(take(length))
        arguments: list[Buffer | Bytes] = []
        for a in header["arguments"]:
            if "buffer" in a:
                arguments.append(Buffer(np.frombuffer(take(a["buffer"]), np.uint8), "u8"))
            else:
                arguments.append(Bytes(bytes.fromhex(a["value"])))
        images = [Image(i["configuration"], tuple(i["threads"]), i["prints"], take(i["bytes"])) for i in header["images"]]
        yield Program(header["name"], header["digest"], header["entry"], tuple(header["grid"]), arguments, images)


def block(header: dict[str, Any], buffers: list[bytes]) -> bytes:
    """A result in the file's format."""
    packed = zlib.compress(json.dumps(header, separators=(",", ":")).encode() + b"\n" + b"".join(buffers))
    return struct.pack("<I", len(packed)) + packed


# ---------------------------------------------------------------- in the worker

def handle(context: Context, payload: dict[str, Any]) -> None:
    done = failed = 0
    with open(pathlib.Path(context.config["out"], RESULTS), "ab", buffering=0) as results:
        for program in read(pathlib.Path(context.config["pack"], payload["file"])):
            for image in program.images:
                subject = f"{program.name} {image.configuration}"
                about = {"name": program.name, "configuration": image.configuration, "digest": program.digest}
                if subject in context.skip:
                    # The program that was blamed for the end of a worker may not have reported it.
                    results.write(block({**about, "error": "the device was lost, or did not answer"}, []))
                    continue
                context.stage("run", subject)
                try:
                    results.write(run(context, program, image, about))
                    done += 1
                except DeviceError as e:
                    results.write(block({**about, "error": str(e)}, []))
                    if e.fatal:
                        raise
                    failed += 1
                    context.case("error", subject, **e.fields())
    if not failed:
        context.case("pass", ran=done, left_out=len(context.skip))


def run(context: Context, program: Program, image: Image, about: dict[str, Any]) -> bytes:
    """Runs an image and returns its result."""
    launch = Launch(program.entry, program.grid, program.arguments, image.threads)
    outcome = context.device.run_small(image.data, launch, image.prints)
    lengths: list[int | None] = []
    changed = []
    for argument, found in zip(program.arguments, outcome.arrays):
        for before, after in zip(arrays(argument), found):
            data = after.tobytes()
            same = data == before.tobytes()
            lengths.append(None if same else len(data))
            if not same:
                changed.append(data)
    return block({**about, "buffers": lengths, "printed": outcome.printed}, changed)
