#!/usr/bin/env python3
"""Compares the machine code of this compiler with that of NVIDIA's tileiras, without a GPU.

    benches/static_code.py [--tileiras FILE] [--release N] [--targets sm_NN,..] [--keep DIR] [--output FILE] [PROGRAM...]
    benches/static_code.py --spills [--tileiras FILE] [--targets sm_NN,..] [--output FILE] [PROGRAM...]

Compiles programs of tests/corpus at -O3 with both compilers and prints a table for each target. Each cell has our number,
then NVIDIA's. The columns are

* the threads of a CTA, the registers of a thread, the bytes of its stack, and the bytes of shared memory. Stacks of these
  programs hold spilled registers only;
* the main loop in machine code: the shortest loop that contains a fifth of the kernel's matrix instructions, or, without
  such instructions, the longest innermost loop. Its instructions are those of one warp. An assembler may unroll it, so that
  the last column, instructions for each matrix instruction, is the number to compare;
* the matrix instructions of the loop (HMMA, IMMA, QMMA, ..), of which one of Ampere may do half as much.

With --spills, all files of tests/corpus are compiled by this compiler to cubins, and the table has those with kernels that
spill registers, by the remark Spilled.

With --keep, NVIDIA's cubins are kept in a folder, and not made again for the same program, target and release.

`scripts/setup.sh --comparisons` installs NVIDIA's tools. They are used as black boxes: cuobjdump prints the resources of
both compilers' cubins, and nvdisasm their instructions.
"""

import argparse
import concurrent.futures
import dataclasses
import hashlib
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
TOOLS = ROOT / ".tools/cuda/bin"
TARGETS = ["sm_80", "sm_86", "sm_89", "sm_120", "sm_121"]
NEWEST = "13.5.37"

PROGRAMS = """
    matmul_bf16 matmul_f16 matmul_tf32 matmul_e4m3 matmul_i8 matmul_epilogue_bf16 matmul_persistent gated_unit conv2d_f16
    mma_mx matmul_w4
    fmha_bf16_d128_causal fmha_f16 fmha_bf16_d256 attention_grouped attention_fp8 attention_dkv
    softmax_bf16_n4096 layernorm_bf16_n4096 cross_entropy_f16 topk_rows_f32 rmsnorm_bf16
""".split()

MATRIX = re.compile(r"[A-Z]*MMA(\.|$)")
INSTRUCTION = re.compile(r"/\*[0-9a-f]{4,}\*/\s+(?P<guard>@!?U?P\w+\s+)?(?P<opcode>\S+)(?P<rest>[^;]*);")
LABEL = re.compile(r"(\.L\w+):")


@dataclasses.dataclass(frozen=True)
class Loop:
    """A loop of a kernel: all its instructions, and its matrix instructions."""

    instructions: int
    matrix: int


@dataclasses.dataclass(frozen=True)
class Code:
    """A kernel in machine code."""

    threads: int
    registers: int
    stack: int
    shared: int
    loop: Loop | None


class Failure(Exception):
    """A compiler or tool failed."""


def output(command: list, environment: dict | None = None) -> str:
    done = subprocess.run([str(c) for c in command], env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        raise Failure(f"{pathlib.Path(command[0]).name}: {(done.stderr or done.stdout).strip().splitlines()[:1]}")
    return done.stdout


def kernels(cubin: pathlib.Path) -> dict[str, Code]:
    """The kernels of a cubin, by name."""
    elf = output([TOOLS / "cuobjdump", "-elf", cubin])
    threads = {}
    for section in re.split(r"^\.nv\.info\.", elf, flags=re.M)[1:]:
        found = re.search(r"EIATTR_(?:REQNTID|MAX_THREADS)\s+Format:\s+\S+\s+Value:((?:\s+0x[0-9a-f]+)+)", section)
        if found:
            extents = [int(word, 16) for word in found[1].split()]
            threads[section.split()[0]] = extents[0] * extents[1] * extents[2]
    code: dict[str, Code] = {}
    usage = output([TOOLS / "cuobjdump", "-res-usage", cubin])
    listing = output([TOOLS / "nvdisasm", "-c", cubin])
    bodies = {s.split(",")[0].split()[0]: s for s in re.split(r"^\s*\.section\s+\.text\.", listing, flags=re.M)[1:]}
    for name, registers, stack, shared in re.findall(r"Function (\S+):\s+REG:(\d+) STACK:(\d+) SHARED:(\d+)", usage):
        if name in bodies:
            body = main_loop(bodies[name])
            code[name] = Code(threads.get(name, 0), int(registers), int(stack), int(shared), body)
    return code


def main_loop(text: str) -> Loop | None:
    """The loop that the table describes, from a listing of a kernel."""
    opcodes: list[str] = []
    labels: dict[str, int] = {}
    ranges: list[tuple[int, int]] = []
    for line in text.splitlines():
        if label := LABEL.match(line.strip()):
            labels[label[1]] = len(opcodes)
            continue
        instruction = INSTRUCTION.search(line)
        # Skip padding, which is never executed.
        if not instruction or (instruction["guard"] or "").startswith("@!PT"):
            continue
        target = re.search(r"`\((\.L\w+)\)", instruction["rest"])
        if instruction["opcode"].startswith("BRA") and target and target[1] in labels:
            ranges.append((labels[target[1]], len(opcodes) + 1))
        opcodes.append(instruction["opcode"])

    def matrix(begin: int, end: int) -> int:
        return sum(MATRIX.match(opcode) is not None for opcode in opcodes[begin:end])

    total = matrix(0, len(opcodes))
    # A branch to itself ends a kernel.
    ranges = [(begin, end) for begin, end in ranges if end - begin > 1]
    if total:
        large = [r for r in ranges if 5 * matrix(*r) >= total]
        chosen = min(large, key=lambda r: r[1] - r[0], default=None)
    else:
        inner = [r for r in ranges if not any(r != o and r[0] <= o[0] and o[1] <= r[1] for o in ranges)]
        chosen = max(inner, key=lambda r: r[1] - r[0], default=None)
    return Loop(chosen[1] - chosen[0], matrix(*chosen)) if chosen else None


def file_of(program: str) -> pathlib.Path:
    """The bytecode of a program in the oldest version of the format that it exists in."""
    files = sorted((ROOT / "tests/corpus").glob(f"{program}.*.tileirbc"))
    if not files:
        raise SystemExit(f"tests/corpus has no program '{program}'")
    return files[0]


def row(program: str, ours: dict[str, Code] | str, theirs: dict[str, Code] | str) -> list[str]:
    """The rows of a program, one for each kernel."""
    names = [n for side in (ours, theirs) if isinstance(side, dict) for n in side]
    rows = []
    for name in dict.fromkeys(names):
        sides = [side.get(name) if isinstance(side, dict) else None for side in (ours, theirs)]

        def cells(of) -> str:
            return " / ".join("-" if side is None or of(side) is None else str(of(side)) for side in sides)

        def each(side: Code) -> str | None:
            return f"{side.loop.instructions / side.loop.matrix:.2f}" if side.loop and side.loop.matrix else None

        columns = [
            cells(lambda s: s.threads or None),
            cells(lambda s: s.registers),
            cells(lambda s: s.stack),
            cells(lambda s: s.shared),
            cells(lambda s: s.loop.instructions if s.loop else None),
            cells(lambda s: s.loop.matrix if s.loop and s.loop.matrix else None),
            cells(each),
        ]
        label = f"`{program}`" if name in program or program in name else f"`{program}`, `{name}`"
        rows.append(f"| {label} | {' | '.join(columns)} |")
    return rows


def compiled(command: list, cubin: pathlib.Path, environment: dict) -> dict[str, Code] | str:
    """The kernels that a compiler makes of a program, or its message. An existing cubin is used."""
    try:
        if not cubin.exists():
            output([*command, "-o", cubin], environment)
        return kernels(cubin)
    except Failure as failure:
        return str(failure)


SPILLED = re.compile(r"Spilled: .* (?P<stored>\d+) bytes of stores to local memory and (?P<loaded>\d+) bytes of loads")


def spills(tileiras: pathlib.Path, file: pathlib.Path, target: str, scratch: pathlib.Path) -> list[str]:
    """The rows of a file with kernels that spill."""
    cubin = scratch / f"{file.name}-{target}.cubin"
    command = [tileiras, file, f"--gpu-name={target}", "-O3", "--remarks=all", "-o", cubin]
    done = subprocess.run(command, env={"PATH": str(TOOLS)}, capture_output=True, text=True)
    if done.returncode != 0:
        return [f"| `{file.name}` | {target} | not compiled: {done.stderr.strip().splitlines()[-1:]} |"]
    cubin.unlink()
    found = SPILLED.finditer(done.stderr)
    return [f"| `{file.name}` | {target} | {m['stored']}, {m['loaded']} |" for m in found]


def table_of_spills(tileiras: pathlib.Path, targets: list[str], files: list[pathlib.Path]) -> str:
    cases = [(file, target) for target in targets for file in files]
    with tempfile.TemporaryDirectory() as scratch, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        rows = list(pool.map(lambda case: spills(tileiras, *case, pathlib.Path(scratch)), cases))
    lines = [line for of_file in rows for line in of_file]
    summary = f"{len(cases)} compilations of {len(files)} files, {len(lines)} rows."
    head = ["", "| program | target | bytes stored, loaded |", "|---|---|---|"] if lines else []
    return "\n".join([summary, *head, *lines]) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tileiras", default=ROOT / "target/debug/tileiras", type=pathlib.Path)
    parser.add_argument("--release", default=NEWEST, help=f"release of NVIDIA's tileiras and toolkit (default {NEWEST})")
    parser.add_argument("--targets", default=",".join(TARGETS), help="the targets, with commas between them")
    parser.add_argument("--keep", type=pathlib.Path, help="a folder of cubins of NVIDIA's tileiras")
    parser.add_argument("--output", type=pathlib.Path, help="write the tables to this file")
    parser.add_argument("--spills", action="store_true", help="the kernels of all programs that spill registers")
    parser.add_argument("programs", nargs="*", help=f"default: {' '.join(PROGRAMS)}")
    options = parser.parse_args()
    if options.spills:
        every = sorted((ROOT / "tests/corpus").glob("*.tileirbc"))
        files = [file_of(program) for program in options.programs] or every
        write(table_of_spills(options.tileiras, options.targets.split(","), files), options.output)
        return 0
    vendor = ROOT / f".tools/tileiras-{options.release}/nvidia/cu13/bin/tileiras"
    toolkit = ROOT / f".tools/nvcc-{options.release}/nvidia/cu13"
    for file in (options.tileiras, vendor, toolkit / "bin/ptxas", TOOLS / "nvdisasm", TOOLS / "cuobjdump"):
        if not os.access(file, os.X_OK):
            raise SystemExit(f"{file} is missing: see --help")
    programs = options.programs or PROGRAMS
    lines, messages = [], []
    with tempfile.TemporaryDirectory() as scratch:
        keep = options.keep or pathlib.Path(scratch)
        keep.mkdir(parents=True, exist_ok=True)
        for target in options.targets.split(","):
            lines += [
                f"## {target}",
                "",
                "| program | threads | registers | stack | shared | loop | matrix instructions in it | per matrix instruction |",
                "|---|---|---|---|---|---|---|---|",
            ]
            for program in programs:
                file = file_of(program)
                usual = [file, f"--gpu-name={target}", "-O3"]
                name = f"{program}-{target}-{options.release}-{hashlib.sha256(file.read_bytes()).hexdigest()[:16]}.cubin"
                ours = compiled([options.tileiras, *usual], pathlib.Path(scratch) / f"ours-{name}", {"PATH": str(TOOLS)})
                environment = {"PATH": "/usr/bin:/bin", "CUDA_HOME": str(toolkit)}
                theirs = compiled([vendor, *usual], keep / name, environment)
                lines += row(program, ours, theirs)
                messages += [f"{program} on {target}: {side}" for side in (ours, theirs) if isinstance(side, str)]
                print(lines[-1], file=sys.stderr)
            lines.append("")
    if messages:
        lines += ["Not compiled:", ""] + [f"* {message}" for message in messages]
    write("\n".join(lines).rstrip() + "\n", options.output)
    return 0


def write(text: str, file: pathlib.Path | None) -> None:
    if file:
        file.write_text(text)
    else:
        print(text, end="")


if __name__ == "__main__":
    sys.exit(main())
