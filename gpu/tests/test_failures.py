"""A broken image, a missing symbol, a wrong result and a kernel that hangs are reported, and the rest goes on."""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

from . import GPU
from .help import HANG, SAXPY, case, index, kit, status


class Failures(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.pack, self.out = pathlib.Path(folder.name, "pack"), pathlib.Path(folder.name, "out")

    def run_with(self, bad, *arguments):
        """A bad case between two good ones: the record of the bad one, after the good ones were seen to pass."""
        index(self.pack, [case(self.pack, "a_first", SAXPY), bad, case(self.pack, "z_last", SAXPY)])
        code, found, said = kit(self.pack, self.out, *arguments, what="correctness")
        self.assertEqual(code, 1, said)
        for name in ("a_first", "z_last"):
            self.assertEqual(status(found, name)["status"], "pass", said)
        self.assertEqual(found[-1]["record"], "end")
        self.assertIn("2 pass", said)
        return status(found, bad["name"])

    def test_a_broken_image(self):
        bad = self.run_with(case(self.pack, "broken", SAXPY.replace("mul.f32", "frob.f32")))
        self.assertEqual((bad["status"], bad["what"], bad["code_name"]), ("error", "load", "INVALID_KERNEL"))
        self.assertIn("frob", bad["detail"])

    def test_an_image_that_is_not_there(self):
        bad = self.run_with(case(self.pack, "lost", SAXPY, image="none.ptx"))
        self.assertEqual((bad["status"], bad["what"]), ("error", "image"))

    def test_a_missing_symbol(self):
        bad = self.run_with(case(self.pack, "symbol", SAXPY, entry="nope"))
        self.assertEqual((bad["status"], bad["what"], bad["code_name"]), ("error", "symbol", "NOT_FOUND"))

    def test_a_wrong_result(self):
        bad = self.run_with(case(self.pack, "wrong", SAXPY, want=3.0))
        self.assertEqual((bad["status"], bad["what"], bad["where"], bad["wrong"], bad["of"]), ("fail", "result", "argument 0[0]", 32, 32))
        self.assertIn("2.0, expected 3.0", bad["detail"])

    def test_a_kernel_that_hangs(self):
        bad = self.run_with(case(self.pack, "hang", HANG), "--limit", "4")
        self.assertEqual((bad["status"], bad["what"], bad["code_name"]), ("timeout", "run", "WATCHDOG"))
        self.assertIn("not finished after 4 s", bad["detail"])

    def test_a_bad_description(self):
        bad = case(self.pack, "description", SAXPY)
        (self.pack / bad["launch"]).write_text(json.dumps({"args": [{"frob": 1}]}))
        record = self.run_with(bad)
        self.assertEqual((record["status"], record["code_name"]), ("error", "BadDescription"))


class Runs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.pack, self.out = pathlib.Path(folder.name, "pack"), pathlib.Path(folder.name, "out")

    def test_what_does_not_fit_into_the_budget_is_listed(self):
        index(self.pack, [case(self.pack, "one", SAXPY)])
        code, found, said = kit(self.pack, self.out, "--budget", "0.05", what="correctness")
        self.assertEqual(status(found, "one")["status"], "skipped", said)
        self.assertEqual(status(found, "one")["what"], "budget")
        self.assertEqual(code, 3)

    def test_a_pack_without_work(self):
        self.pack.mkdir()
        code, found, said = kit(self.pack, self.out)
        self.assertEqual((code, found), (2, []))
        self.assertIn("holds nothing to run", said)

    def test_no_gpu(self):
        index(self.pack, [case(self.pack, "one", SAXPY), case(self.pack, "two", SAXPY)])
        # Whatever this machine has, no such package is there.
        code, found, said = kit(self.pack, self.out, what="correctness", device="cuda", env={"CUDA_VISIBLE_DEVICES": "", "PYTHONPATH": str(self.pack / "none")})
        self.assertEqual(code, 3, said)
        self.assertEqual(status(found, "one")["what"], "tool")
        self.assertEqual((status(found, "two")["status"], status(found, "two")["what"]), ("skipped", "no worker"))


class Usage(unittest.TestCase):
    """What is said to those who type the command wrongly, or on a machine that lacks something."""

    def run_tool(self, *command: str | pathlib.Path) -> tuple[int, str]:
        done = subprocess.run([sys.executable, *map(str, command)], capture_output=True, text=True)
        self.assertNotIn("Traceback", done.stderr)
        return done.returncode, done.stderr

    def test_a_machine_without_numpy(self):
        with tempfile.TemporaryDirectory() as folder:
            shutil.copy(GPU / "run.py", folder)
            shutil.copytree(GPU / "kit", pathlib.Path(folder, "kit"))
            # Neither the site's packages nor the packages of the environment.
            code, said = self.run_tool("-I", "-S", pathlib.Path(folder, "run.py"), "all")
        self.assertEqual(code, 2)
        self.assertIn("the Python package 'numpy' is missing", said)

    def test_levels_that_are_not_there(self):
        code, said = self.run_tool(GPU / "run.py", "all", "--levels", "2")
        self.assertEqual(code, 2)
        self.assertIn("--levels", said)

    def test_results_that_are_not_there(self):
        code, said = self.run_tool(GPU / "report.py", "/nonexistent/results.jsonl")
        self.assertEqual(code, 2)
        self.assertIn("/nonexistent/results.jsonl", said)
