"""Schedules pieces of work within the time budget, passes them to workers, and detects workers that do not
respond."""
from __future__ import annotations

import json
import os
import pathlib
import queue
import signal
import subprocess
import sys
import threading
import time
from typing import Any, Callable, Iterable

from .records import Log
from .work import RESTARTS, Item

# Limit until a worker is ready: a cold import of PyTorch and the creation of a context.
START_LIMIT = 120.0
# A worker that has lost its device this often without completing anything is not restarted.
FAILED_STARTS = 2


class Worker:
    """A worker process, as seen by the parent."""

    def __init__(self, config: dict[str, Any], log: pathlib.Path):
        self.config = config
        self.facts: dict[str, Any] | None = None
        package = pathlib.Path(__file__).resolve().parent.parent
        # The worker finds its packages in the same places as this process.
        path = os.pathsep.join(dict.fromkeys([str(package), *filter(None, sys.path)]))
        self._log = open(log, "ab")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "kit.worker"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._log,
            env={**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}, start_new_session=True)
        self._messages: queue.Queue[dict[str, Any] | None] = queue.Queue()
        threading.Thread(target=self._listen, daemon=True).start()
        self.send({"config": config})

    def _listen(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            try:
                self._messages.put(json.loads(line))
            except json.JSONDecodeError:
                # The worker died in the middle of a line.
                continue
        self._messages.put(None)

    def send(self, message: dict[str, Any]) -> None:
        try:
            assert self.process.stdin is not None
            self.process.stdin.write(json.dumps(message).encode() + b"\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            # The end of the worker is detected when its messages end.
            pass

    def receive(self, deadline: float) -> dict[str, Any] | None:
        """The next message, or None if the process has ended. Raises TimeoutError at the deadline."""
        try:
            return self._messages.get(timeout=max(0.0, deadline - time.monotonic()))
        except queue.Empty:
            raise TimeoutError from None

    def end(self, kill: bool) -> str:
        """Ends the process and all its children. Returns a description of how it ended."""
        if not kill:
            try:
                assert self.process.stdin is not None
                self.process.stdin.close()
                self.process.wait(timeout=10)
            except (BrokenPipeError, subprocess.TimeoutExpired):
                kill = True
        if kill:
            try:
                os.killpg(self.process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        try:
            status = self.process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            # A process that is stuck in the driver cannot be waited for. The next one is started anyway.
            return "does not end"
        finally:
            self._log.close()
            for pipe in (self.process.stdin, self.process.stdout):
                try:
                    if pipe:
                        pipe.close()
                except BrokenPipeError:
                    # There was unwritten data for a process that has ended.
                    continue
        return f"signal {signal.Signals(-status).name}" if status < 0 else f"exit status {status}"


class Supervisor:
    def __init__(self, log: Log, config: dict[str, Any], out: pathlib.Path, budget: float,
                 annotate: Callable[[dict[str, Any]], dict[str, Any]] = lambda record: record):
        self.log, self.config, self.out = log, config, out
        self.deadline = time.monotonic() + budget
        self.annotate = annotate
        self.workers: dict[str, Worker] = {}
        self.broken: dict[str, dict[str, Any]] = {}
        self.failed_starts: dict[str, int] = {}
        self.facts: dict[str, Any] | None = None

    def left(self) -> float:
        return self.deadline - time.monotonic()

    def run(self, items: Iterable[Item]) -> None:
        """Does the pieces in order of priority. Each leaves at least one record, whatever happens."""
        ordered = sorted(items, key=lambda i: i.priority)
        kinds = []
        for item in ordered:
            if item.worker not in kinds:
                kinds.append(item.worker)
        # All kinds of workers start at once, so their imports overlap the first one's work.
        for kind in kinds:
            self._start(kind)
        try:
            for item in ordered:
                self._do(item)
        finally:
            for worker in self.workers.values():
                worker.end(kill=self.left() < 0)
            self.workers.clear()

    def _start(self, kind: str) -> Worker:
        worker = Worker({**self.config, "worker": kind}, self.out / "workers.log")
        self.workers[kind] = worker
        return worker

    def _case(self, item: Item, status: str, **fields: Any) -> None:
        self.log.write({"record": "case", "part": item.part, "name": item.name, "status": status, **fields})

    def _do(self, item: Item) -> None:
        skip: list[str] = []
        while True:
            if self.left() < item.seconds:
                self._case(item, "skipped", what="budget", detail=f"{self.left():.0f} s left, {item.seconds:.0f} are needed")
                return
            if item.worker in self.broken:
                self._case(item, "skipped", **{**self.broken[item.worker], "what": "no worker"})
                return
            worker = self.workers.get(item.worker) or self._start(item.worker)
            if item.fresh and worker.facts:
                self._drop(item.worker, kill=False)
                worker = self._start(item.worker)
            # The last pieces must not exceed the run's time.
            limit = min(item.limit, max(self.left(), 1.0))
            worker.send({"item": {"part": item.part, "name": item.name, "payload": item.payload}, "skip": skip})
            subject = self._follow(worker, item, limit)
            if subject is None:
                return
            # The piece failed. Pieces with subjects are restarted without the subject that caused the failure.
            if not (item.subjects and subject and subject not in skip and len(skip) < RESTARTS):
                return
            skip.append(subject)

    def _follow(self, worker: Worker, item: Item, limit: float) -> str | None:
        """Receives a worker's messages until the piece is done. Otherwise returns the subject that caused the
        failure, which may be empty."""
        stage, subject, told = "start", "", False
        deadline = time.monotonic() + (limit if worker.facts else START_LIMIT)
        while True:
            try:
                message = worker.receive(deadline)
            except TimeoutError:
                waited = limit if worker.facts else START_LIMIT
                self._drop(item.worker, kill=True)
                # A piece that was cut short by the end of the run may not be hanging.
                name = "BUDGET" if worker.facts and limit < item.limit else "WATCHDOG"
                self._case(item, "timeout", what=stage, where=subject, code=None, code_name=name, detail=f"not finished after {waited:.0f} s")
                if worker.facts is None:
                    self._note_failed_start(item.worker, {"where": "start", "detail": f"the worker was not ready after {waited:.0f} s"})
                return subject
            if message is None:
                how = self._drop(item.worker, kill=False)
                self._case(item, "error", what=stage, where=subject, code=None, code_name="WORKER_DIED", detail=how)
                if worker.facts is None:
                    self._note_failed_start(item.worker, {"where": "start", "detail": how})
                return subject
            if "stage" in message:
                stage, subject = message["stage"], message["subject"]
            elif "ready" in message:
                worker.facts = self.facts = message["ready"]
                deadline = time.monotonic() + limit
            elif "failed" in message:
                self._drop(item.worker, kill=True)
                self._note_failed_start(item.worker, message["failed"], at_once=True)
                self._case(item, "error", **message["failed"])
                return ""
            elif "record" in message:
                told = True
                self.log.write(self.annotate(message["record"]))
            elif "done" in message:
                if not told:
                    self._case(item, "error", what="kit", detail="the piece of work ended without a record")
                if message["done"]:
                    self.failed_starts[item.worker] = 0
                    return None
                self._drop(item.worker, kill=True)
                return subject

    def _drop(self, kind: str, kill: bool) -> str:
        worker = self.workers.pop(kind, None)
        return worker.end(kill) if worker else ""

    def _note_failed_start(self, kind: str, fields: dict[str, Any], at_once: bool = False) -> None:
        self.failed_starts[kind] = self.failed_starts.get(kind, 0) + 1
        if at_once or self.failed_starts[kind] >= FAILED_STARTS:
            self.broken[kind] = fields
