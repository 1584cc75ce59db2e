"""Kills a worker and a node of a cluster in the middle of a search, and checks the results.

    python3 test_cluster.py FOLDER TOOLS [VARIANTS]

FOLDER is empty; TOOLS contains the commands. `scripts/test-ray.sh` calls this.
"""

import json
import os
import shutil
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ray
from ray.cluster_utils import Cluster

import tune

LAUNCH = "--grid 16,16 zeros:bf16:2048x2048 zeros:bf16:2048x2048 zeros:bf16:2048x2048"
# 5 x 10 x 10 x 2: a thousand.
PARAMETERS = [
    "OCCUPANCY=1,2,3,4,5",
    "LATENCY_A=" + ",".join(map(str, range(1, 11))),
    "LATENCY_B=" + ",".join(map(str, range(1, 11))),
    "TMA=true,false",
]


def counting_tools(folder: Path, tools: Path) -> Path:
    """Tools whose compiler writes a line when it starts to compile, which a cache hit does not.

    They are copies, so a concurrent build does not affect them.
    """
    own = folder / "tools"
    own.mkdir()
    for tool in ("tileiras", "tile-run"):
        shutil.copy(tools / tool, own / tool)
    shutil.copy(tools / "tileiras-core", own / "core-itself")
    core = own / "tileiras-core"
    core.write_text(f"#!/bin/sh\necho >> '{folder}/compilations'\nexec '{own}/core-itself' \"$@\"\n")
    core.chmod(0o755)
    return own


def compilations(folder: Path) -> int:
    log = folder / "compilations"
    return len(log.read_text().splitlines()) if log.exists() else 0


def wait_for(what: str, look: Callable[[], Any]) -> Any:
    """Waits for a result of `look` and returns it."""
    deadline = time.monotonic() + 600
    while not (seen := look()):
        if time.monotonic() > deadline:
            raise SystemExit(f"test: {what}: not in time")
        time.sleep(0.05)
    return seen


def workers(node: Any) -> list[int]:
    """Processes of a node that compile."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            title = (entry / "cmdline").read_bytes()
            parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
        if title.startswith(b"ray::compiled") and parent in [p.process.pid for p in node.all_processes["raylet"]]:
            found.append(int(entry.name))
    return found


def main() -> None:
    folder, tools = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    parameters = PARAMETERS
    if len(sys.argv) > 3:
        # A subset of the latencies, for a quick test with fewer variants.
        parameters = [p if "LATENCY" not in p else ",".join(p.split(",")[: int(sys.argv[3])]) for p in PARAMETERS]
    here = Path(__file__).parent
    # Workers import the example like the driver.
    os.environ["PYTHONPATH"] = f"{here}:{os.environ.get('PYTHONPATH', '')}"
    total = len(tune.variants(parameters))
    words = [str(here / "matmul.mlir.in"), "--work", str(folder / "work"), "--launch", LAUNCH, "--chunk", "25"]
    words += ["--tools", str(counting_tools(folder, tools))]
    for parameter in parameters:
        words += ["--set", parameter]
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    second = cluster.add_node(num_cpus=1)
    ray.init(address=cluster.address, log_to_driver=False)
    cluster.wait_for_nodes()
    assert len(ray.nodes()) == 2
    started = time.monotonic()
    outcome: dict[str, Any] = {}
    search = threading.Thread(target=lambda: outcome.update(tune.search(tune.parsed(words))))
    search.start()

    # Kill a worker of the first node, then the whole second node, which another one replaces.
    wait_for("the first quarter", lambda: compilations(folder) > total // 4)
    os.kill(wait_for("a worker", lambda: workers(cluster.head_node))[0], signal.SIGKILL)
    at_worker = compilations(folder)
    wait_for("the first half", lambda: compilations(folder) > total // 2)
    # Nothing continues on a lost machine.
    of_second = wait_for("a worker of the second node", lambda: workers(second))
    cluster.remove_node(second, allow_graceful=False)
    for worker in of_second:
        try:
            os.kill(worker, signal.SIGKILL)
        except ProcessLookupError:
            pass
    at_node = compilations(folder)
    cluster.add_node(num_cpus=1)
    search.join()
    spent = time.monotonic() - started

    rows = outcome["variants"]
    failed = [row for row in rows if "failed" in row]
    assert len(rows) == total and not failed, failed[:3]
    assert len({json.dumps(row["parameters"], sort_keys=True) for row in rows}) == total
    entries = [entry for entry in (folder / "work/cache").rglob("*") if entry.is_file()]
    assert len(entries) == total, f"{len(entries)} entries of the cache"
    # Only the compilation that a lost worker was doing is started again.
    begun, lost = compilations(folder), 2
    assert total <= begun <= total + lost, f"{begun} compilations of {total} variants"
    assert at_worker < at_node < total, "nothing was left to do when workers were lost"
    best = min(rows, key=lambda row: row["time"])
    assert rows[0]["time"] == best["time"]
    assert (folder / "work/best.ptx").read_text() == (folder / f"work/ptx/{rows[0]['ptx']}.ptx").read_text()
    # The same search again: everything is in the cache.
    again = tune.search(tune.parsed(words))
    assert compilations(folder) == begun, "something was compiled twice"
    assert [row.get("time") for row in again["variants"]] == [row["time"] for row in rows]
    print(f"{total} variants on two nodes in {spent:.0f} s; a worker lost after {at_worker} compilations, a node after "
          f"{at_node}; {begun} compilations, {len(entries)} entries of the cache; {outcome['judged']} texts of PTX judged")
    print(f"best: {' '.join(f'{n}={v}' for n, v in rows[0]['parameters'].items())} with {rows[0]['time']:.2f} us, "
          f"worst {rows[-1]['time']:.2f} us")
    ray.shutdown()
    cluster.shutdown()


if __name__ == "__main__":
    main()
