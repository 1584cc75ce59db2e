"""Tries many variants of a kernel on a Ray cluster, and keeps the best.

    python3 tune.py matmul.mlir.in --work DIR --set OCCUPANCY=1,2 --set LATENCY_A=1,2,3 ... \
        --gpu-name sm_90 --launch '--grid 16,16 zeros:bf16:2048x2048 zeros:bf16:2048x2048 zeros:bf16:2048x2048'

`${NAME}` in the kernel and in the launch is the value of a parameter. Tasks compile a hundred variants each by
default, with manifests of `tileiras batch`, into a cache that all nodes share: DIR must be on a shared file system.
Ray restarts a task if its worker or node is lost, and the new attempt finds the finished compilations in the cache.
Equal PTX is timed once: by the timing model of `tile-run`, or by a benchmark command (--judge), which gets the file
as `$ptx` and the launch as `$launch`, and prints the time last.

`tileiras tune` does the same on one machine; docs/tuning.md describes its other features.
"""

import argparse
import hashlib
import itertools
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import ray

Variant = dict[str, str]


def fill(text: str, variant: Variant) -> str:
    """The text with the values of a variant in place of its parameters."""
    return re.sub(r"\$\{(\w+)\}", lambda hole: variant[hole.group(1)], text)


def variants(parameters: list[str]) -> list[Variant]:
    """All combinations of `NAME=VALUE,...`."""
    names = [p.partition("=")[0] for p in parameters]
    values = [p.partition("=")[2].split(",") for p in parameters]
    return [dict(zip(names, point)) for point in itertools.product(*values)]


def written(path: Path, text: str) -> None:
    """Writes a complete file or nothing, because another attempt at the same task may be reading it."""
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    part.write_text(text)
    part.replace(path)


# A task is restarted without limit: its inputs are in files, and finished compilations are in the cache.
@ray.remote(num_cpus=1, max_retries=-1)
def compiled(tools: str, work: str, number: int, programs: list[str], arguments: list[str]) -> list[dict[str, str]]:
    """Compiles a chunk of programs. Returns for each the name of its PTX, by content, or the error."""
    # The names of programs are part of the cache keys, so they must be the same in each attempt.
    folder = Path(work, "chunks", str(number))
    folder.mkdir(parents=True, exist_ok=True)
    for i, program in enumerate(programs):
        written(folder / f"{i}.mlir", program)
    items = [{"input": f"{i}.mlir", "output": f"{i}.ptx"} for i in range(len(programs))]
    cache = ["--cache-dir", str(Path(work, "cache"))]
    manifest = {"args": [*arguments, "--emit=ptx", *cache], "items": items}
    written(folder / "manifest.json", json.dumps(manifest))
    # Compilations end with their worker. Otherwise they would run concurrently with the same ones of the next
    # attempt.
    alone = ["setpriv", "--pdeathsig", "KILL"]
    batch = subprocess.run([*alone, Path(tools, "tileiras"), "batch", folder / "manifest.json", "-j", "1"],
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    ended = [json.loads(line) for line in batch.stdout.splitlines()]
    if len(ended) != len(items):
        raise RuntimeError(f"chunk {number}: {batch.stderr.strip()}")
    results: list[dict[str, str]] = []
    for end in sorted(ended, key=lambda e: e["index"]):
        if end["status"] != 0:
            first = next((line for line in end["messages"].splitlines() if "error" in line), "no message")
            results.append({"failed": first})
            continue
        text = (folder / end["output"]).read_text()
        name = hashlib.sha256(text.encode()).hexdigest()[:32]
        written(Path(work, "ptx", f"{name}.ptx"), text)
        results.append({"ptx": name})
    return results


@ray.remote(num_cpus=1, max_retries=-1)
def judged(tools: str, work: str, name: str, launch: str, target: str, judge: str | None) -> dict[str, Any]:
    """The time of a launch, or the reason for which it failed."""
    ptx = Path(work, "ptx", f"{name}.ptx")
    if judge is not None:
        run = subprocess.run(["sh", "-c", judge], env={**os.environ, "ptx": str(ptx), "launch": launch},
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if run.returncode != 0:
            return {"failed": run.stderr.strip() or f"status {run.returncode}"}
        try:
            return {"time": float(run.stdout.strip().splitlines()[-1])}
        except (IndexError, ValueError):
            return {"failed": "the last line of the benchmark command is not a number"}
    report = Path(work, "judged", f"{name}.{os.getpid()}.json")
    run = subprocess.run([Path(tools, "tile-run"), f"--timing={target}", "--timing-json", report, "--quiet",
                          "--end-with-parent", ptx, *shlex.split(launch)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if run.returncode != 0:
        return {"failed": run.stderr.strip()}
    told = json.loads(report.read_text())
    report.unlink()
    return {"time": told["us"], "clocks": told["clocks"], "blocks": told["resident"]}


def search(options: argparse.Namespace) -> dict[str, Any]:
    """Compiles and times all variants. Returns a table with the best first."""
    work = Path(options.work).resolve()
    for folder in ("chunks", "ptx", "judged"):
        (work / folder).mkdir(parents=True, exist_ok=True)
    # The compiler creates the cache, because only this user may access it.
    text = Path(options.kernel).read_text()
    points = variants(options.set)
    arguments = [f"--gpu-name={options.gpu_name}", *options.compile]
    programs = [fill(text, point) for point in points]
    if len(set(programs)) != len(programs):
        raise SystemExit("tune: two variants have the same program: a parameter is in no hole of it")
    chunks = [range(i, min(i + options.chunk, len(points))) for i in range(0, len(points), options.chunk)]
    waiting = {
        compiled.remote(options.tools, str(work), n, [programs[i] for i in chunk], arguments): chunk
        for n, chunk in enumerate(chunks)
    }
    rows: list[dict[str, Any]] = [{"parameters": point} for point in points]
    # The timing task for each PTX with a launch, and its result.
    trials: dict[tuple[str, str], ray.ObjectRef] = {}
    started = said = time.monotonic()
    done = 0
    while waiting:
        (ready,), _ = ray.wait(list(waiting), num_returns=1)
        what = waiting.pop(ready)
        if isinstance(what, range):
            for i, result in zip(what, ray.get(ready)):
                rows[i].update(result)
                key = (result.get("ptx", ""), fill(options.launch, points[i]))
                if key[0] and key not in trials:
                    trials[key] = judged.remote(options.tools, str(work), *key, options.gpu_name, options.judge)
                    waiting[trials[key]] = key
            done += len(what)
        if time.monotonic() - said > 10:
            said = time.monotonic()
            left = (said - started) / max(done, 1) * (len(points) - done)
            print(f"tune: {done} of {len(points)} compiled, {len(trials)} differ; about {left:.0f} s left",
                  file=sys.stderr)
    times = {key: ray.get(trial) for key, trial in trials.items()}
    for row in rows:
        if "ptx" in row:
            row.update(times[(row["ptx"], fill(options.launch, row["parameters"]))])
    rows.sort(key=lambda row: row.get("time", float("inf")))
    best = rows[0] if "time" in rows[0] else None
    if best is not None:
        shutil.copy(work / "ptx" / f"{best['ptx']}.ptx", work / "best.ptx")
        (work / "best.mlir").write_text(fill(text, best["parameters"]))
    table = {"variants": rows, "different": len({key[0] for key in trials}), "judged": len(trials)}
    (work / "table.json").write_text(json.dumps(table, indent=1))
    return table


def parsed(words: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("kernel", help="program in text, with ${NAME} for parameters")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE,...", help="a parameter")
    parser.add_argument("--launch", required=True, help="grid and arguments, as for tile-run")
    parser.add_argument("--gpu-name", default="sm_90", help="target, and machine for the prediction")
    parser.add_argument("--compile", action="append", default=[], metavar="OPTION", help="an option of the compilation")
    parser.add_argument("--judge", metavar="COMMAND", help="benchmark command that prints the time of $launch with $ptx; default: predict it")
    parser.add_argument("--work", required=True, help="folder on a file system that all nodes share")
    parser.add_argument("--tools", default=os.path.dirname(shutil.which("tileiras") or ""),
                        help="folder with tileiras and tile-run, the same on all nodes")
    parser.add_argument("--chunk", type=int, default=100, help="variants per task")
    return parser.parse_args(words)


def main() -> None:
    options = parsed()
    # Joins the cluster in RAY_ADDRESS, or starts one on this machine.
    ray.init(log_to_driver=False)
    table = search(options)
    best = table["variants"][0]
    failed = sum("failed" in row for row in table["variants"])
    print(f"{len(table['variants'])} variants, {failed} failed; {table['different']} texts of PTX")
    if "time" not in best:
        raise SystemExit("tune: no variant could be timed")
    print(f"best: {' '.join(f'{n}={v}' for n, v in best['parameters'].items())} with {best['time']:.2f}")


if __name__ == "__main__":
    main()
