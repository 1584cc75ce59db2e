"""The pack: built from real inputs, under its limit, the same twice, and run as a whole on the simulated device."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from . import GPU, ROOT
from .help import kit
from packer import main as packer
from packer import parts, tools

# Programs of the corpus: at two levels more than thirty cases.
PROGRAMS = r"^(acquire_flag|casts|collatz|copy_pad_nan|early_return|gather_rows|int_zoo|math_zoo_f32|permute3d_f32|rope_f16|saxpy_f32|scatter_perm|searchsorted|" \
           r"stencil5|swiglu_f16|transpose_f32|vadd_bf16|vadd_f32|vadd_multi)\.13\.1$"


def build(out: pathlib.Path, *arguments: str, target: str = "sm_90") -> subprocess.CompletedProcess:
    env = {**os.environ, "PACK_TARGET": target, "PYTHONPATH": os.pathsep.join([str(GPU), str(ROOT / ".tools" / "python")])}
    return subprocess.run([sys.executable, "-m", "packer.main", "--out", str(out), "--jobs", "2", *arguments], capture_output=True, text=True, env=env)


class Packs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.pack = pathlib.Path(cls.folder.name, "pack")
        cls.done = build(cls.pack, "--parts", "cases,abi", "--only", PROGRAMS)
        if cls.done.returncode:
            raise AssertionError(cls.done.stderr)

    def test_it_is_under_its_limit_and_says_what_it_holds(self):
        about = json.loads((self.pack / "pack.json").read_text())
        self.assertLess(about["bytes"], packer.LIMIT)
        held = [p for p in self.pack.rglob("*") if p.is_file() and p.name != "pack.json"]
        self.assertEqual((len(held), sum(p.stat().st_size for p in held)), (about["files"], about["bytes"]))
        self.assertIn("MiB of at most 60 MiB", self.done.stdout)
        self.assertIn("lacks vendor image", self.done.stdout)

    def test_a_pack_that_is_too_large_is_refused(self):
        packer.check_size(packer.LIMIT)
        with self.assertRaisesRegex(tools.ToolError, "no more than 60 MiB"):
            packer.check_size(packer.LIMIT + 1)

    def test_nothing_of_this_machine_is_in_it(self):
        marks = [str(ROOT).encode(), self.folder.name.encode()]
        for path in self.pack.rglob("*"):
            if path.is_file():
                self.assertFalse(any(m in path.read_bytes() for m in marks), path)

    def test_the_same_inputs_make_the_same_bytes(self):
        again = pathlib.Path(self.folder.name, "again")
        self.assertEqual(build(again, "--parts", "cases,abi", "--only", r"^(vadd_f32|casts)\.13\.1$").returncode, 0)
        for name in ("cases/vadd_f32.13.1.O3.cubin", "cases/casts.13.1.O0.ptx", "abi/ours_language.cubin", "abi/index.json", "kit/worker.py"):
            self.assertEqual((self.pack / name).read_bytes(), (again / name).read_bytes(), name)

    def test_a_pack_for_another_target(self):
        """It has programs for that target, and none of the kernels written in PTX for Hopper."""
        pack = pathlib.Path(self.folder.name, "blackwell")
        done = build(pack, "--parts", "cases,micro,copies", "--only", r"^(vadd_f32|matmul_bf16)\.13\.1$", target="sm_100")
        self.assertEqual(done.returncode, 0, done.stderr)
        about = json.loads((pack / "pack.json").read_text())
        self.assertEqual((about["target"], about["parts"], sorted(about["lacks"])), ("sm_100", ["cases"], ["copies", "micro"]))
        text = (pack / "cases/matmul_bf16.13.1.O3.ptx").read_text()
        self.assertIn(".target sm_100a", text)
        self.assertIn("tcgen05.mma", text)
        code, found, said = kit(pack, pathlib.Path(self.folder.name, "blackwell-out"))
        self.assertEqual(code, 0, said)
        cases = [r for r in found if r["record"] == "case" and r["part"] == "correctness"]
        self.assertEqual((len(cases), {r["status"] for r in cases}), (4, {"pass"}))

    def test_all_of_it_runs(self):
        """From inside the pack, as on a GPU machine: its own run.py, its own kit."""
        out = pathlib.Path(self.folder.name, "out")
        code, found, said = kit(self.pack, out)
        self.assertEqual(code, 0, said)
        cases = [r for r in found if r["record"] == "case" and r["part"] == "correctness"]
        self.assertGreaterEqual(len(cases), 30)
        self.assertEqual({r["status"] for r in cases}, {"pass"})
        self.assertTrue(all(r["seeds"] == [0, 1] and len(r["sha256"]) == 16 for r in cases))
        outcomes = {(r["variant"], r["block"][0]): r["outcome"] for r in found if r["record"] == "launch_abi"}
        # As NVIDIA's driver does it: docs/launch-abi.md.
        self.assertEqual([outcomes["plain", n] for n in (1, 64, 128, 256)], ["one thread", "other", "all threads", "other"])
        for variant in ("reqntid", "reqntid_clusters", "reqntid_language_metadata", "ours", "ours_language"):
            self.assertEqual([outcomes[variant, n] for n in (1, 64, 128, 256)], ["all threads", "refused", "all threads", "refused"], variant)
        self.assertEqual([r["record"] for r in found if r["record"] in ("run", "end", "measurement")], ["run", "end"])
        self.assertIn("correctness: ", (out / "summary.txt").read_text())
        self.assertFalse(list(out.glob("*-20*.json")), "the simulated device has no constants")

    def test_outputs_hold_garbage(self):
        from kit import correctness
        cases = correctness.load_cases(self.pack / "cases" / "cases.py")
        launch = correctness.corpus_launch(cases, "vadd_f32", 0, (128, 1, 1), "vadd_f32")
        self.assertTrue((launch.args[2].data.view("u4") == 0xFFFFFFFF).all())
        launch = correctness.corpus_launch(cases, "histogram", 0, (128, 1, 1), "histogram")
        self.assertFalse(launch.args[1].data.any())


class Parts(unittest.TestCase):
    def test_blocks_are_read_from_ptx(self):
        text = ".visible .entry a(.param .u64 p)\n.reqntid 32\n{\nret;\n}\n.visible .entry ab(\n)\n.maxntid 64\n.reqntid 128, 2, 1\n{\nret;\n}\n"
        self.assertEqual(parts.required_block(text, "a"), [32, 1, 1])
        self.assertEqual(parts.required_block(text, "ab"), [128, 2, 1])
        for entry in ("b", "abc"):
            with self.assertRaises(tools.ToolError):
                parts.required_block(text, entry)

    def test_listed_programs_have_files(self):
        files = parts.corpus_files()
        for name in parts.programs(""):
            self.assertTrue(files[name][0].is_file(), name)

    def test_missing_opcodes_are_errors(self):
        good = {"m1_ss_n64": {"HGMMA": 4}}
        parts.check_opcodes("M1", good)
        for bad, message in (({"m1_ss_n64": {"HGMMA": 3}}, "3 HGMMA"), ({"m1_ss_n64": {"HGMMA": 4, "LDL": 1}}, "local memory")):
            with self.assertRaisesRegex(tools.ToolError, message):
                parts.check_opcodes("M1", bad)

    def test_an_unknown_part_is_an_error(self):
        with tempfile.TemporaryDirectory() as folder:
            done = build(pathlib.Path(folder, "pack"), "--parts", "frob")
            self.assertEqual(done.returncode, 2)
            self.assertIn("no part is called frob", done.stderr)
