"""The parent process against workers that crash, say nothing, or break on one of several subjects."""
import pathlib
import stat
import subprocess
import sys
import tempfile
import time
import unittest

from . import GPU
from kit import records
from kit.supervisor import Supervisor
from kit.work import Item
from .help import HANG, SAXPY, case, index, kit, status, tile_run


def children(pid: int) -> list[int]:
    """The processes that any thread of the process has started and that still run."""
    lists = [path.read_text() for path in pathlib.Path(f"/proc/{pid}/task").glob("*/children")]
    return [int(p) for found in lists for p in found.split()]


class Crashes(unittest.TestCase):
    def test_a_worker_that_dies_is_replaced(self):
        """A stand-in for tile-run kills its parent, the worker, when it sees the one case."""
        with tempfile.TemporaryDirectory() as folder:
            pack, out, stand_in = pathlib.Path(folder, "pack"), pathlib.Path(folder, "out"), pathlib.Path(folder, "stand-in")
            stand_in.write_text(f'#!/bin/sh\ncase "$*" in *ptx/deadly/*) kill -9 $PPID; sleep 1; exit 1;; esac\nexec {tile_run()} "$@"\n')
            stand_in.chmod(stand_in.stat().st_mode | stat.S_IXUSR)
            index(pack, [case(pack, name, SAXPY) for name in ("a_first", "deadly", "z_last")])
            code, found, said = kit(pack, out, "--tile-run", str(stand_in), what="correctness")
            self.assertEqual(code, 1)
            self.assertEqual([status(found, n)["status"] for n in ("a_first", "deadly", "z_last")], ["pass", "error", "pass"], said)
            self.assertEqual((status(found, "deadly")["code_name"], status(found, "deadly")["detail"]), ("WORKER_DIED", "signal SIGKILL"))


    def test_a_worker_ends_with_its_parent(self):
        """The kit is killed while a kernel hangs: the worker's session is another one, but nothing of it stays."""
        with tempfile.TemporaryDirectory() as folder:
            pack, out = pathlib.Path(folder, "pack"), pathlib.Path(folder, "out")
            index(pack, [case(pack, "hang", HANG)])
            command = [sys.executable, str(GPU / "run.py"), "correctness", "--device", "sim", "--pack", str(pack), "--out", str(out), "--tile-run", str(tile_run())]
            parent = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            workers = []
            for _ in range(300):
                workers = children(parent.pid)
                if workers:
                    break
                time.sleep(0.1)
            self.assertEqual(len(workers), 1)
            simulators: list[int] = []
            for _ in range(300):
                simulators = children(workers[0])
                if simulators:
                    break
                time.sleep(0.1)
            self.assertEqual(len(simulators), 1)
            # It asks for its end with the parent before it reads the kernel.
            time.sleep(1)
            parent.kill()
            parent.wait()
            left = [*workers, *simulators]
            for _ in range(100):
                left = [p for p in left if pathlib.Path(f"/proc/{p}").exists()]
                if not left:
                    break
                time.sleep(0.1)
            self.assertEqual(left, [], "a worker or its simulator is still there")


class Pieces(unittest.TestCase):
    """Pieces of work of tests/pieces.py."""

    def run_items(self, *items, budget=60.0):
        with tempfile.TemporaryDirectory() as folder:
            log = records.Log(pathlib.Path(folder, "results.jsonl"), "sim")
            config = {"device": "sim", "tile_run": str(tile_run()), "pack": folder, "handlers": {"test": "tests.pieces"}}
            Supervisor(log, config, pathlib.Path(folder), budget).run(items)
            log.close()
            return records.read(log.path)[0]

    @staticmethod
    def item(name, priority=1, **options):
        return Item("test", name, {"do": name}, priority, **options)

    def test_order_is_by_priority(self):
        found = self.run_items(self.item("fine", 3), self.item("says nothing", 1), self.item("raises", 2))
        self.assertEqual([r["name"] for r in found], ["says nothing", "raises", "fine"])
        self.assertEqual([r["status"] for r in found], ["error", "error", "pass"])
        self.assertIn("without a record", found[0]["detail"])
        self.assertEqual((found[1]["what"], found[1]["code_name"], found[1]["where"].split(":")[0]), ("kit", "ZeroDivisionError", "pieces.py"))

    def test_subjects_that_break_it_are_left_out(self):
        found = self.run_items(self.item("competition", limit=3, subjects=True), self.item("fine", 2))
        seen = [(r["name"], r["status"]) for r in found]
        # `crash` kills the process, `lost` loses the context, `hang` meets the watchdog; the good ones pass in the last round.
        self.assertEqual(seen[-3:], [("good 1", "pass"), ("good 2", "pass"), ("fine", "pass")])
        self.assertIn(("competition", "timeout"), seen)
        by = [r for r in found if r["status"] in ("error", "timeout")]
        self.assertEqual([r.get("code_name") for r in by], ["WORKER_DIED", "LOST", "WATCHDOG"])

    def test_the_end_of_the_run_is_told_from_a_hang(self):
        found = self.run_items(self.item("hang", limit=30), budget=4.0)
        self.assertEqual([(r["status"], r["code_name"]) for r in found], [("timeout", "BUDGET")])

    def test_a_lost_context_costs_the_worker_only(self):
        found = self.run_items(self.item("lost"), self.item("fine", 2))
        self.assertEqual([(r["name"], r["status"]) for r in found], [("lost", "error"), ("fine", "pass")])
        self.assertEqual(found[0]["code_name"], "LOST")
