"""The competitors' images: one source in cuTile Python, compiled by the vendor's assembler and by this project's compiler."""
from __future__ import annotations

import hashlib
import json
import pathlib
import sys
import tarfile
import tempfile
from typing import Any

from . import elf, launches, steps, tools, variants
from .parts import required_block, sha256, vendor_environment, write_index
from .target import TARGET
from .tools import ROOT, ToolError


def build(pack: pathlib.Path, jobs: int, vendor: pathlib.Path | None, archive: pathlib.Path | None, lacks: dict[str, str]) -> None:
    """`peers/index.json` and the images. Without the vendor's tools or an archive there is nothing to compile."""
    folder = pack / "peers"
    folder.mkdir(parents=True)
    if archive is not None:
        unpack(archive, folder)
        return
    if vendor is None:
        write_index(folder, [])
        lacks["peers"] = "no --vendor"
        return
    with tempfile.TemporaryDirectory() as scratch:
        bytecode = export(pathlib.Path(scratch), vendor)

        refused: dict[str, str] = {}

        def both(entry: variants.Entry) -> list[dict[str, Any]]:
            source = bytecode / f"{entry.name}.tileirbc"
            own = ours(entry, source, folder, refused)
            less = without_steps(entry, source, folder, own[0]) if own and entry.name in steps.KERNELS else []
            return [by_vendor(entry, source, folder, vendor), *own, *less]

        present = [e for e in variants.entries() if (bytecode / f"{e.name}.tileirbc").is_file()]
        found = [e for pair in tools.parallel(both, present, jobs) for e in pair]
    mark_twins(found, pack)
    write_index(folder, found)
    launches.write(folder)
    if refused:
        name, why = min(refused.items())
        lacks["peers of ours"] = f"{len(refused)} of {len(present)} kernels do not compile; {name}: {why}"


def export(scratch: pathlib.Path, vendor: pathlib.Path) -> pathlib.Path:
    """The kernels as bytecode, by a process of its own: see export.py."""
    here, out = pathlib.Path(__file__).resolve().parent, scratch / "bytecode"
    path = f"{here}:{vendor}:{ROOT / '.tools' / 'python'}"
    done = tools.run(sys.executable, here / "export.py", out, env={"PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"})
    failed = json.loads(done.stdout)
    if failed:
        name, why = next(iter(failed.items()))
        raise ToolError(f"{len(failed)} kernels could not be exported; {name}: {why}")
    return out


def describe(entry: variants.Entry, who: str, cubin: pathlib.Path) -> dict[str, Any]:
    image = cubin.read_bytes()
    cluster = elf.extents(image, entry.name, elf.CLUSTER) or (1, 1, 1)
    block = elf.extents(image, entry.name, elf.REQNTID)
    if block is None:
        raise ToolError(f"{cubin.name} does not say how many threads a block has")
    return {**entry.fields(), "who": who, "symbol": entry.name, "cubin": f"peers/{cubin.name}", "block": list(block), "cluster": list(cluster),
            "code": hashlib.sha256(elf.code_of(image)).hexdigest()[:16], "sha256": sha256(cubin)}


def by_vendor(entry: variants.Entry, source: pathlib.Path, folder: pathlib.Path, vendor: pathlib.Path) -> dict[str, Any]:
    cubin = folder / f"{entry.name}.vendor.cubin"
    tools.run(vendor / "nvidia/cu13/bin/tileiras", f"--gpu-name={TARGET}", "-O3", source, "-o", cubin, env=vendor_environment())
    return describe(entry, "vendor", cubin)


def ours(entry: variants.Entry, source: pathlib.Path, folder: pathlib.Path, refused: dict[str, str], who: str = "ours",
         options: tuple[str, ...] = ()) -> list[dict[str, Any]]:
    """Nothing where the compiler refuses the kernel: `refused` gets the reason."""
    stem = folder / f"{entry.name}.{who.replace(' ', '-')}"
    cubin, text = stem.with_name(stem.name + ".cubin"), stem.with_name(stem.name + ".ptx")
    tileiras = tools.built("tileiras")
    command = [tileiras, source, f"--gpu-name={TARGET}", "-O3", *options]
    done = tools.run(*command, "--emit=ptx", "-o", text, check=False)
    if done.returncode == 5:
        refused[entry.name] = done.stderr.strip().partition("\n")[0]
        return []
    if done.returncode:
        raise ToolError(f"tileiras failed on {entry.name} with status {done.returncode}: {done.stderr.strip()[-400:]}")
    tools.run(*command, "-o", cubin)
    return [{**describe(entry, who, cubin), "ptx": f"peers/{text.name}", "block": required_block(text.read_text(), entry.name)}]


def without_steps(entry: variants.Entry, source: pathlib.Path, folder: pathlib.Path, whole: dict[str, Any]) -> list[dict[str, Any]]:
    """The kernel without each of the steps that change it."""
    found = []
    for step, option in steps.STEPS.items():
        refused: dict[str, str] = {}
        made = ours(entry, source, folder, refused, steps.who(step), (f"--pipeline-option={option}",))
        if refused:
            raise ToolError(f"{entry.name} does not compile without {step}: {refused[entry.name]}")
        if made[0]["code"] != whole["code"]:
            found += made
            continue
        for image in ("cubin", "ptx"):
            (folder.parent / made[0][image]).unlink()
    return found


def mark_twins(entries: list[dict[str, Any]], pack: pathlib.Path) -> None:
    """Hints that change nothing make the same code under another name: `same_as` names the first, and the image is dropped.
    One code may serve other cases under its other name, as attention with padded columns does: then both stay."""
    first: dict[tuple, str] = {}
    for e in entries:
        key = (e["who"], e["kind"], e["code"], tuple(e["block"]), tuple(e["cluster"]), e["divisor"], repr(sorted(e["constants"].items())))
        name = first.setdefault(key, e["name"])
        e["same_as"] = None if name == e["name"] else name
        if e["same_as"]:
            for image in ("cubin", "ptx"):
                if e.get(image):
                    (pack / e[image]).unlink()


def unpack(archive: pathlib.Path, folder: pathlib.Path) -> None:
    """Images that an earlier build made: an archive of its `peers` folder."""
    with tarfile.open(archive) as tar:
        tar.extractall(folder.parent, filter="data")
    if not (folder / "index.json").is_file():
        raise ToolError(f"{archive} holds no peers/index.json")
