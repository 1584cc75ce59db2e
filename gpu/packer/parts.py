"""The parts of the pack: each makes its folder and an index that the kit reads."""
from __future__ import annotations

import hashlib
import json
import pathlib
import re
import shutil
from typing import Any

from kit import launch_abi, tensor_copies as copies
from kit.micro import ptx
from kit.micro.registry import ALL

from . import elf, tools
from .target import TARGET
from .tools import ROOT, ToolError


def sha256(path: pathlib.Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def write_index(folder: pathlib.Path, entries: Any) -> None:
    (folder / "index.json").write_text(json.dumps(entries, indent=1) + "\n")


def required_block(text: str, entry: str) -> list[int]:
    """The extents of a block that the PTX of an entry requires."""
    start = re.search(rf"\.entry\s+{re.escape(entry)}\b", text)
    body = text.find("{", start.end()) if start else -1
    found = re.search(r"\.reqntid\s+(\d+)(?:\s*,\s*(\d+))?(?:\s*,\s*(\d+))?", text[start.end():body]) if start and body > 0 else None
    if not found:
        raise ToolError(f"the PTX of '{entry}' does not say how many threads a block has")
    return [int(n or 1) for n in found.groups()]


# ---------------------------------------------------------------- our compiler on the corpus

def programs(names: str) -> list[str]:
    """The programs of the corpus that are supported on the target, and match a pattern."""
    corpus = ROOT / "tests" / "corpus"
    pending = {}
    for line in (corpus / "pending.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            name, targets, _ = line.split(" ", 2)
            pending[name] = targets.split(",")
    listed = [line.strip() for line in (corpus / "supported.txt").read_text().splitlines() if line.strip() and not line.startswith("#")]
    return [p for p in listed if TARGET not in pending.get(p, ()) and re.search(names, p)]


def corpus_files() -> dict[str, tuple[pathlib.Path, str]]:
    """Each program's file and entry, by its name: entry and version."""
    corpus = ROOT / "tests" / "corpus"
    found = {}
    for file in json.loads((corpus / "index.json").read_text())["files"]:
        version = ".".join(file["file"].split(".")[1:3])
        for entry in file["entries"]:
            found[f"{entry['symbol']}.{version}"] = (corpus / file["file"], entry["symbol"])
    return found


def case_files(folder: pathlib.Path) -> None:
    """The inputs and expected results of the corpus: `cases.py`, and the files that it runs at its end."""
    for path in (ROOT / "tests" / "corpus").glob("cases*.py"):
        shutil.copyfile(path, folder / path.name)


def cases(pack: pathlib.Path, jobs: int, names: str = "", levels: tuple[int, ...] = (0, 3)) -> None:
    folder = pack / "cases"
    folder.mkdir(parents=True)
    case_files(folder)
    files, tileiras = corpus_files(), tools.built("tileiras")

    def compile_(job: tuple[str, int]) -> dict[str, Any]:
        program, level = job
        source, entry = files[program]
        stem = f"cases/{program}.O{level}"
        for suffix, emit in ((".cubin", []), (".ptx", ["--emit=ptx"])):
            tools.run(tileiras, source, f"--gpu-name={TARGET}", f"-O{level}", *emit, "-o", pack / (stem + suffix))
        block = required_block((pack / (stem + ".ptx")).read_text(), entry)
        return {"program": program, "case": entry, "entry": entry, "level": level, "cubin": stem + ".cubin", "ptx": stem + ".ptx", "block": block,
                "sha256": sha256(pack / (stem + ".cubin"))}

    write_index(folder, tools.parallel(compile_, [(p, level) for p in programs(names) for level in levels], jobs))


# ---------------------------------------------------------------- test kernels of the simulator

def simulator_cases(pack: pathlib.Path, jobs: int, source: pathlib.Path, names: str = "") -> None:
    """Copies cases that run on Hopper and assembles them. `source` is what `cargo xtask ptx-cases` wrote."""
    folder = pack / "ptx"
    folder.mkdir(parents=True)

    def one(case: pathlib.Path) -> dict[str, Any] | None:
        text = (case / "kernel.ptx").read_text()
        target = re.search(r"^\s*\.target\s+(\w+)", text, re.MULTILINE)
        number = re.match(r"sm_(\d+)(a?)", target.group(1)) if target else None
        if not number or int(number.group(1)) > 90 or (number.group(2) and number.group(1) != "90"):
            return None
        entries = re.findall(r"\.entry\s+(\w+)", text)
        to = folder / case.name
        shutil.copytree(case, to)
        tools.assemble(to / "kernel.ptx", to / "kernel.cubin")
        stem = f"ptx/{case.name}"
        return {"name": case.name, "entry": entries[0] if entries else None, "launch": f"{stem}/launch.json", "cubin": f"{stem}/kernel.cubin",
                "ptx": f"{stem}/kernel.ptx", "sha256": sha256(to / "kernel.cubin")}

    found = sorted(c for c in source.iterdir() if (c / "launch.json").is_file() and re.search(names, c.name))
    write_index(folder, [e for e in tools.parallel(one, found, jobs) if e])


# ---------------------------------------------------------------- launch ABI

def abi(pack: pathlib.Path, vendor: pathlib.Path | None) -> None:
    """The probe in its variants, and the program of the corpus by our compiler and, if it is there, by the vendor's."""
    folder = pack / "abi"
    folder.mkdir(parents=True)
    found = []

    def add(variant: str, kind: str, entry: str, block: list[int], ptx_file: pathlib.Path | None) -> None:
        cubin = folder / f"{variant}.cubin"
        found.append({"variant": variant, "kind": kind, "entry": entry, "block": block, "cubin": f"abi/{cubin.name}",
                      "ptx": f"abi/{ptx_file.name}" if ptx_file else None, "sha256": sha256(cubin)})

    for variant, (directives, language, metadata) in launch_abi.PROBES.items():
        text = folder / f"{variant}.ptx"
        text.write_text(launch_abi.probe_ptx(directives, metadata=metadata))
        cubin = folder / f"{variant}.cubin"
        tools.assemble(text, cubin)
        if language:
            cubin.write_bytes(elf.with_language(cubin.read_bytes(), "probe", elf.TILEIR))
        add(variant, "probe", "probe", [launch_abi.THREADS, 1, 1], text)
    source, entry = corpus_files()[launch_abi.PROGRAM]
    tileiras = tools.built("tileiras")
    tools.run(tileiras, source, f"--gpu-name={TARGET}", "-O3", "--emit=ptx", "-o", folder / "ours.ptx")
    tools.run(tileiras, source, f"--gpu-name={TARGET}", "-O3", "-o", folder / "ours.cubin")
    block = required_block((folder / "ours.ptx").read_text(), entry)
    add("ours", "program", entry, block, folder / "ours.ptx")
    (folder / "ours_language.cubin").write_bytes(elf.with_language((folder / "ours.cubin").read_bytes(), entry, elf.TILEIR))
    add("ours_language", "program", entry, block, folder / "ours.ptx")
    if vendor is not None:
        cubin = folder / "vendor.cubin"
        tools.run(vendor / "nvidia/cu13/bin/tileiras", f"--gpu-name={TARGET}", "-O3", source, "-o", cubin, env=vendor_environment())
        if elf.language(cubin.read_bytes(), entry) != elf.TILEIR:
            raise ToolError("the vendor's image no longer says that its language is Tile IR: look at its attributes again")
        add("vendor", "program", entry, [128, 1, 1], None)
    write_index(folder, found)


def vendor_environment() -> dict[str, str]:
    """The vendor's assembler looks for its helpers in a toolkit."""
    return {"CUDA_HOME": str(ROOT / ".tools" / "nvcc" / "nvidia" / "cu13")}


# ---------------------------------------------------------------- coordinates of TMA copies

def tensor_copies(pack: pathlib.Path) -> None:
    folder = pack / "copies"
    folder.mkdir(parents=True)
    (folder / "copies.ptx").write_text(copies.ptx())
    tools.assemble(folder / "copies.ptx", folder / "copies.cubin")


# ---------------------------------------------------------------- micro-kernels

def micro(pack: pathlib.Path, jobs: int) -> None:
    folder = pack / "micro"
    folder.mkdir(parents=True)

    def one(id_: str) -> dict[str, str]:
        text, cubin = folder / f"{id_}.ptx", folder / f"{id_}.cubin"
        text.write_text(ptx.module(ALL[id_].entries()))
        tools.assemble(text, cubin, strict=True)
        check_opcodes(id_, tools.opcodes(cubin))
        return {"cubin": f"micro/{cubin.name}", "ptx": f"micro/{text.name}", "sha256": sha256(cubin)}

    write_index(folder, dict(zip(ALL, tools.parallel(one, ALL, jobs))))


def check_opcodes(id_: str, found: dict[str, dict[str, int]]) -> None:
    """The machine code has to hold what the question is about, and no spills."""
    for entry, codes in found.items():
        for prefix, wanted in ALL[id_].opcodes.items():
            for opcode, least in wanted.items() if entry.startswith(prefix) else ():
                have = sum(n for code, n in codes.items() if code.startswith(opcode))
                if have < least:
                    raise ToolError(f"{entry} has {have} {opcode} instructions, at least {least} are needed")
        local = [code for code in ("LDL", "STL") if codes.get(code)]
        if local:
            raise ToolError(f"{entry} uses local memory: {', '.join(local)}")
