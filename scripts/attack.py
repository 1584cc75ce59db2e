#!/usr/bin/env python3
"""Attacks the compiler: damaged input, kills, concurrency, full disks, odd paths.

    scripts/attack.py [--seconds N | --slice] [--seed S] [--tools DIR] [--library FILE] [--work DIR] [ATTACK...]

Each attack runs for its share of N seconds (default 3600). With --slice, each runs a small fixed number of times, as
in the test `a_slice_of_the_campaign`. --tools is the folder with tileiras, tileiras-core and tile-fuzz. With
--library, a libtileiras of the same build, damaged files are also compiled by the library, in a separate process. A
finding is printed with its seed and step, and the files to reproduce it are kept in the working folder. The exit
status is 1 if there is a finding.

    damaged  bytecode with bytes changed, removed, inserted or duplicated: status 0 with every entry, or 3 or 5 with a
             message; never a signal, 70, or an image without an entry
    mutated  text with words exchanged, lines duplicated or removed, and extreme numbers: the same
    nests    a random nest of loops and branches with dots (tile-fuzz --nests), unchanged, with operands of dots
             replaced by others of their type, or with other loop bounds: status 0 without a weaker plan, or 3 if the
             verifier rejects a replaced operand
    kills    a compilation is killed at a random time: no process or scratch file is left, and the output is either
             the complete old one or the complete new one
    many     many concurrent compilations with one cache: all have the same bytes
    full     files may not grow beyond a few bytes, or the disk is full: a status and a message, and no partial output
    paths    names with spaces, newlines, invalid UTF-8, dashes; cyclic links, folders, devices
"""

import argparse
import concurrent.futures
import ctypes
import os
import pathlib
import random
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator

ROOT = pathlib.Path(__file__).resolve().parent.parent
TARGETS = ["sm_80", "sm_89", "sm_90", "sm_100", "sm_120"]
# A small kernel takes less than a second of processor time, but a busy machine is slow.
PATIENCE = 120
MEMORY = 4 << 30


class Finding(Exception):
    pass


class Campaign:
    def __init__(self, arguments: argparse.Namespace):
        self.tool = arguments.tools / "tileiras"
        self.generator = arguments.tools / "tile-fuzz"
        self.library = arguments.library
        self.work = arguments.work
        self.seed = arguments.seed
        self.random = random.Random(arguments.seed)
        corpus = sorted((ROOT / "tests/corpus").glob("*.tileirbc"))
        # Only the first version of each program, and no large ones, which take long.
        self.bytecode = [f for f in corpus if f.name.endswith(".13.1.tileirbc") and f.stat().st_size < 6000]
        self.text = sorted((ROOT / "examples").glob("*.mlir"))
        self.small = ROOT / "examples/vadd_f32_div16.tileirbc"
        self.expected = self.compile(self.small.read_bytes(), ["--gpu-name=sm_90"], "bc")[2]

    def run(self, arguments: list, limit: int | None = None, **more) -> subprocess.CompletedProcess:
        def bound() -> None:
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            if limit is not None:
                resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
                # The signal would hide the program's handling of a failing write.
                signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

        more = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "cwd": self.work} | more
        try:
            return subprocess.run([self.tool, *arguments], timeout=PATIENCE, preexec_fn=bound, check=False, **more)
        except subprocess.TimeoutExpired as e:
            raise Finding(f"no end within {PATIENCE} s: {arguments}") from e

    def compile(self, data: bytes, arguments: list, suffix: str) -> tuple[int, str, bytes]:
        """Exit status, messages and PTX."""
        source = self.work / f"input.{suffix}"
        source.write_bytes(data)
        done = self.run([source, "--emit=ptx", "-o", "-", *arguments])
        said = done.stderr.decode(errors="replace")
        if done.returncode not in (0, 3, 5):
            raise Finding(f"status {done.returncode}: {said[-600:]}")
        if done.returncode == 0:
            if b".entry" not in done.stdout and b"entry" in data:
                raise Finding("success without an entry in the output")
        elif "error" not in said:
            raise Finding(f"status {done.returncode} without a message: {said!r}")
        return done.returncode, said, done.stdout

    def damaged(self) -> None:
        data = damage(self.random, self.random.choice(self.bytecode).read_bytes())
        target = self.random.choice(TARGETS)
        self.compile(data, [f"--gpu-name={target}", f"-O{self.random.randrange(4)}"], "bc")
        if self.library:
            self.through_library(data, int(target[3:]))

    def through_library(self, data: bytes, target: int) -> None:
        (self.work / "input.bc").write_bytes(data)
        command = [sys.executable, __file__, "--library", self.library, "--one", self.work / "input.bc", str(target)]
        done = subprocess.run(command, capture_output=True, timeout=PATIENCE, check=False)
        if done.returncode:
            raise Finding(f"the library ended its process: {done.returncode} {done.stderr[-400:]!r}")

    def mutated(self) -> None:
        text = mutate(self.random, self.random.choice(self.text).read_text())
        target = self.random.choice(TARGETS)
        self.compile(text.encode(errors="surrogateescape"), [f"--gpu-name={target}"], "mlir")

    def nests(self) -> None:
        seed = self.random.randrange(1 << 40)
        done = subprocess.run([self.generator, "--nests", "--show", "--seed", str(seed)], capture_output=True,
                              timeout=PATIENCE, check=False)
        text = "".join(line for line in done.stdout.decode().splitlines(True) if not line.startswith("//"))
        if done.returncode:
            raise Finding(f"the generator ends with {done.returncode} for seed {seed}: {done.stderr!r}")
        if not text:
            # The undefined behavior of some programs cannot be repaired.
            return
        change = self.random.choice([None, exchange_operands, change_bounds])
        if change:
            text = change(self.random, text)
        target, level = self.random.choice(TARGETS), self.random.choice([2, 3])
        status, said, _ = self.compile(text.encode(), [f"--gpu-name={target}", f"-O{level}", "--strict-plans"], "mlir")
        # The exchange only checks types. The verifier rejects a value that is used before its definition.
        if status and not (status == 3 and change):
            raise Finding(f"a nest of seed {seed} is refused for {target} at -O{level}: {said[-600:]}")

    def kills(self) -> None:
        output, scratch = self.work / "killed.ptx", self.work / "scratch"
        scratch.mkdir(exist_ok=True)
        output.write_bytes(b"old")
        command = [self.tool, self.small, "--gpu-name=sm_90", "--emit=ptx", "-o", output]
        # A separate process group shows which processes are left.
        child = subprocess.Popen(command, cwd=self.work, stderr=subprocess.DEVNULL, start_new_session=True,
                                 env={**os.environ, "TMPDIR": str(scratch)})
        time.sleep(self.random.uniform(0, 0.08))
        child.send_signal(self.random.choice([signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP]))
        child.wait(PATIENCE)
        for _ in range(100):
            if not members(child.pid):
                break
            time.sleep(0.02)
        else:
            raise Finding(f"processes are left: {members(child.pid)}")
        if output.read_bytes() not in (b"old", self.expected):
            raise Finding("half an output")
        left = [p.name for p in self.work.iterdir() if p.name.startswith((".killed", "killed.ptx."))]
        if child.returncode == 0 and left:
            raise Finding(f"scratch files beside the output: {left}")
        for name in left:
            (self.work / name).unlink()

    def many(self) -> None:
        def one(number: int) -> None:
            output = self.work / f"many.{number}.ptx"
            done = self.run([self.small, "--gpu-name=sm_90", "--emit=ptx", "-o", output, "--cache-dir=cache"])
            if done.returncode or output.read_bytes() != self.expected:
                raise Finding(f"status {done.returncode}, another output: {done.stderr.decode(errors='replace')}")
            output.unlink()

        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            for result in [pool.submit(one, number) for number in range(16)]:
                result.result()

    def full(self) -> None:
        output = self.work / "full.out"
        output.unlink(missing_ok=True)
        output.write_bytes(b"old")
        kind = self.random.choice(["limit", "device", "memory"])
        if kind == "device":
            done = self.run([self.small, "--emit=ptx", "-o", "/dev/full"])
        elif kind == "memory":
            with open("/dev/full", "wb") as device:
                done = self.run([self.small, "--emit=ptx", "-o", "-"], stdout=device)
        else:
            limit = self.random.randrange(len(self.expected))
            emit = self.random.choice(["ptx", "tileas", "llvm"])
            done = self.run([self.small, "--gpu-name=sm_90", f"--emit={emit}", "-o", output], limit=limit)
        if done.returncode == 0 and kind != "limit":
            raise Finding(f"success on a full disk ({kind})")
        if done.returncode not in (0, 1, 2, 5) or done.returncode and b"error" not in done.stderr:
            raise Finding(f"{kind}: status {done.returncode}: {done.stderr!r}")
        if done.returncode and kind == "limit" and output.read_bytes() != b"old":
            raise Finding("half an output")

    def paths(self) -> None:
        folder = pathlib.Path(tempfile.mkdtemp(dir=self.work))
        name = self.random.choice([b"a b", b"line\nend", b"tab\t", b"\xff\xfe", "ü".encode(), b"-dash", b"--emit=ptx", b"%s%n",
                                   b"a" * 255, b"a" * 256, b"'quote\"", b"@response", b"..", b".", b"x\x1b[31m"])
        path = os.path.join(os.fsencode(folder), name)
        kind = self.random.choice(["input", "output", "circle", "folder", "missing"])
        try:
            if kind == "input":
                pathlib.Path(os.fsdecode(path)).write_bytes(self.small.read_bytes())
            elif kind == "circle":
                os.symlink(name, path)
            elif kind == "folder":
                os.mkdir(path)
        except OSError:
            return
        files = [self.small, "-o", path] if kind == "output" else [path, "-o", os.path.join(os.fsencode(folder), b"out")]
        done = self.run([*files, "--gpu-name=sm_90", "--emit=ptx"])
        if done.returncode not in ((0,) if kind == "input" else (0, 1, 2, 3)):
            raise Finding(f"{kind} {name!r}: status {done.returncode}: {done.stderr!r}")
        if done.returncode and b"error" not in done.stderr:
            raise Finding(f"{kind} {name!r}: no message")
        if b"\x1b" in done.stderr:
            raise Finding(f"{kind} {name!r}: an escape reaches the terminal: {done.stderr!r}")


# Number of runs in a slice.
ATTACKS = {"damaged": 60, "mutated": 60, "nests": 12, "kills": 25, "many": 2, "full": 25, "paths": 40}


def damage(chance: random.Random, data: bytes) -> bytes:
    data = bytearray(data)
    for _ in range(chance.choice([1, 1, 1, 2, 4, 16])):
        at, length = chance.randrange(len(data)), chance.randrange(1, 9)
        match chance.randrange(5):
            case 0:
                data[at] = chance.randrange(256)
            case 1:
                data[at] ^= 1 << chance.randrange(8)
            case 2:
                del data[at:at + length]
            case 3:
                data[at:at] = data[at:at + length] * chance.randrange(1, 4)
            case 4:
                data[at:at + length] = bytes([chance.choice([0, 0x7F, 0x80, 0xFF])]) * length
        if not data:
            return b"\x7fTileIR\0"
    return bytes(data)


def mutate(chance: random.Random, text: str) -> str:
    for _ in range(chance.choice([1, 1, 2, 5])):
        lines, words = text.split("\n"), list(re.finditer(r"[%@#\w.]+|[^\s\w]", text))
        a, b = sorted(chance.sample(range(len(words)), 2))
        match chance.randrange(5):
            case 0:
                a, b = words[a], words[b]
                text = text[:a.start()] + b[0] + text[a.end():b.start()] + a[0] + text[b.end():]
            case 1:
                at = chance.randrange(len(lines))
                text = "\n".join(lines[:at] + [lines[at]] * chance.choice([0, 2]) + lines[at + 1:])
            case 2:
                number = chance.choice(["0", "-1", "1", "2147483648", "18446744073709551616", "1048576", "1e400", "nan"])
                numbers = list(re.finditer(r"\d+", text))
                at = chance.choice(numbers)
                text = text[:at.start()] + number + text[at.end():]
            case 3:
                types = ["f32", "f16", "i1", "i64", "f8E4M3FN", "ptr<f32>", "token", "i128", "tf32", "f4E2M1FN"]
                at = chance.choice(list(re.finditer(r"\b[fi]\d+\b", text)) or [words[a]])
                text = text[:at.start()] + chance.choice(types) + text[at.end():]
            case 4:
                text = text[:words[a].start()] + text[words[b].start():]
        if len(list(re.finditer(r"[%@#\w.]+|[^\s\w]", text))) < 2 or not re.search(r"\d", text):
            break
    return text


def exchange_operands(chance: random.Random, text: str) -> str:
    """Replaces operands of dots by other values of their type that are in scope according to the indentation."""
    scope: list[tuple[int, str, str]] = []
    # Positions in the text, with the possible replacements.
    operands: list[tuple[tuple[int, int], list[str]]] = []
    start = 0
    for line in text.splitlines(True):
        indent = len(line) - len(line.lstrip())
        scope = [value for value in scope if value[0] <= indent]
        if product := re.search(r"= mma[fi] (%\w+), (%\w+), (%\w+).*? : (\S+), (\S+), (\S+)$", line):
            for n in (1, 2, 3):
                span = (start + product.start(n), start + product.end(n))
                others = [name for _, name, kind in scope if kind == product[n + 3] and name != product[n]]
                operands += [(span, others)] if others else []
            scope.append((indent, line.split()[0], product[6]))
        elif loaded := re.match(r" *(%\w+), %\w+ = load_.* -> (tile<\S+>), token$", line):
            scope.append((indent, loaded[1], loaded[2]))
        elif carried := re.search(r" iter_values\((.*)\) -> \((.*)\) {$", line):
            names = re.findall(r"(%\w+) =", carried[1])
            scope += [(indent + 1, name, kind) for name, kind in zip(names, carried[2].split(", "))]
        elif made := re.match(r" *(%\w+) = \w+ .*(tile<\S+>)$", line):
            scope.append((indent, made[1], made[2]))
        start += len(line)
    if not operands:
        return text
    changed = {span: chance.choice(others) for span, others in chance.choices(operands, k=chance.choice([1, 2, 4]))}
    for (start, end), name in sorted(changed.items(), reverse=True):
        text = text[:start] + name + text[end:]
    return text


def change_bounds(chance: random.Random, text: str) -> str:
    """Replaces bounds and steps of counted loops by constants of any size."""
    found = list(re.finditer(r"= for %\w+ in \((%\w+) to (%\w+), step (%\w+)\)", text))
    if not found:
        return text
    loop = chance.choice(found)
    which = chance.randrange(1, 4)
    value = chance.choice(["1", "2", "3", "5", "64", "2147483647"] + (["0", "-1", "-2147483648"] if which < 3 else []))
    start = text.rindex("\n", 0, loop.start()) + 1
    text = text[:loop.start(which)] + "%bound" + text[loop.end(which):]
    return f"{text[:start]}    %bound = constant <i32: {value}> : tile<i32>\n{text[start:]}"


def members(group: int) -> list[int]:
    """The running processes of a group."""
    found = []
    for folder in pathlib.Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                fields = (folder / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[2]) == group and fields[0] != "Z":
                found.append(int(folder.name))
    return found


def one_through_library(library: str, file: str, target: int) -> None:
    class Config(ctypes.Structure):
        _fields_ = ([("data", ctypes.c_char_p), ("size", ctypes.c_size_t)]
                    + [(n, ctypes.c_int32) for n in ("gpu", "level", "debug", "line", "arch", "os", "sanitize", "reserved")]
                    + [("name", ctypes.c_char_p), ("name_length", ctypes.c_size_t)]
                    + [("root", ctypes.c_char_p), ("root_length", ctypes.c_size_t)])

    interface = ctypes.CDLL(library)
    data = pathlib.Path(file).read_bytes()
    program = ctypes.c_void_p()
    config = Config(data=data, size=len(data), gpu=target, level=3)
    statuses = [interface.tileirasProgramCreate(ctypes.byref(program), ctypes.byref(config))]
    if statuses[0] == 0:
        statuses.append(interface.tileirasProgramCompile(program))
        interface.tileirasProgramRelease(program)
    if any(not 0 <= s <= 5 for s in statuses):
        sys.exit(f"statuses {statuses}")


def steps(arguments: argparse.Namespace, attack: str, share: float) -> Iterator[int]:
    end, step = time.monotonic() + share, 0
    while step < ATTACKS[attack] if arguments.slice else time.monotonic() < end:
        yield step
        step += 1


def run(arguments: argparse.Namespace) -> int:
    campaign = Campaign(arguments)
    names = arguments.attacks or list(ATTACKS)
    findings = 0
    for attack in names:
        body: Callable[[], None] = getattr(campaign, attack)
        count, found = 0, 0
        for step in steps(arguments, attack, arguments.seconds / len(names)):
            campaign.random = random.Random(f"{arguments.seed} {attack} {step}")
            count += 1
            try:
                body()
            except Finding as finding:
                found += 1
                print(f"finding: {attack}, --seed {arguments.seed}, step {step}: {finding}", flush=True)
                for file in campaign.work.glob("input.*"):
                    kept = campaign.work / f"finding-{attack}-{arguments.seed}-{step}{file.suffix}"
                    kept.write_bytes(file.read_bytes())
        print(f"{attack:<10}{count:>8} runs{found:>6} findings", flush=True)
        findings += found
    print(f"{findings} findings")
    return min(findings, 1)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=3600)
    parser.add_argument("--slice", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tools", type=pathlib.Path, default=ROOT / "target/debug")
    parser.add_argument("--library", help="libtileiras.so")
    parser.add_argument("--work", type=pathlib.Path)
    parser.add_argument("--one", nargs=2, metavar=("FILE", "TARGET"), help=argparse.SUPPRESS)
    parser.add_argument("attacks", nargs="*", metavar="ATTACK", help=", ".join(ATTACKS))
    arguments = parser.parse_args()
    if arguments.one:
        one_through_library(arguments.library, arguments.one[0], int(arguments.one[1]))
        return 0
    if unknown := set(arguments.attacks) - set(ATTACKS):
        parser.error(f"no such attack: {', '.join(sorted(unknown))}")
    # Processes are started in the working folder, so paths must be absolute.
    arguments.tools = arguments.tools.resolve()
    if arguments.work:
        arguments.work = arguments.work.resolve()
        arguments.work.mkdir(parents=True, exist_ok=True)
        return run(arguments)
    with tempfile.TemporaryDirectory() as folder:
        arguments.work = pathlib.Path(folder)
        return run(arguments)


if __name__ == "__main__":
    sys.exit(main())
