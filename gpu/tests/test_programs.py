"""Programs that are exported, run on the simulated device, and judged."""
import pathlib
import struct
import subprocess
import tempfile
import unittest

from . import GPU, ROOT  # noqa: F401
from .help import kit, results, status

from kit import programs as kit_programs
from packer import programs, tools

WRITTEN = ("print", "tokens")


class RoundTrip(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.pack, cls.out = pathlib.Path(folder.name, "pack"), pathlib.Path(folder.name, "out")
        cls.pack.mkdir()
        files = [ROOT / "tests" / "semantics" / f"{name}.mlir" for name in WRITTEN]
        programs.programs(cls.pack, 2, seed=7, count=4, levels="0,3", files=files, ptx=True)
        cls.code, cls.records, cls.said = kit(cls.pack, cls.out, what="programs")

    def judge(self, change=lambda found: found):
        """Judges the results as `change` makes them: exit status, output, files written."""
        found = change(results(self.out / kit_programs.RESULTS))
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, kit_programs.RESULTS)
            path.write_bytes(b"".join(kit_programs.block(head, [data]) for head, data in found))
            command = [programs.tile_fuzz(), "--compare", path, "--export-dir", self.pack / "programs", "--out", folder]
            done = subprocess.run([str(c) for c in command], capture_output=True, text=True, cwd=ROOT)
            return done.returncode, done.stdout + done.stderr, sorted(p.name for p in pathlib.Path(folder).glob("*.mlir"))

    def test_every_image_is_run(self):
        self.assertEqual(self.code, 0, self.said)
        listed = (self.pack / "programs" / "programs.txt").read_text().splitlines()
        self.assertEqual(len(listed), 2 * (4 + len(WRITTEN)))
        ran = sum(r["ran"] for r in self.records if r["record"] == "case")
        self.assertEqual(ran, len(listed))
        self.assertEqual({line.split("\t")[1] for line in listed}, {"sm_90 -O0", "sm_90 -O3"})

    def test_what_the_simulator_computes_is_right(self):
        code, said, written = self.judge()
        self.assertEqual((code, written), (0, []), said)
        for level in (0, 3):
            self.assertIn(f"sm_90 -O{level}: 6 passed, 0 failed, 0 without a result", said)

    def test_a_wrong_result_is_found(self):
        """One bit of what a program left, in one configuration."""
        def change(found):
            return [(head, data[:-1] + bytes([data[-1] ^ 0x80])) if (head["name"], head["configuration"]) == ("seed 7", "sm_90 -O3") else (head, data)
                    for head, data in found]
        code, said, written = self.judge(change)
        self.assertEqual((code, written), (1, ["seed-7.mlir"]), said)
        self.assertRegex(said, r"seed 7: result sm_90 -O3: parameter \d+: 1 of \d+ elements are wrong, first \d+: .*; the simulator agrees with the interpreter")
        self.assertIn("sm_90 -O3: 5 passed, 1 failed", said)
        self.assertIn("sm_90 -O0: 6 passed, 0 failed", said)

    def test_wrong_output_is_found(self):
        code, said, _ = self.judge(lambda found: [({**head, "printed": head["printed"].replace("1", "2")}, data) for head, data in found])
        self.assertEqual(code, 1, said)
        self.assertRegex(said, r"print: result sm_90 -O0: printed ")

    def test_errors_of_the_device_are_failures(self):
        """And the first of several is told."""
        def change(found):
            lost = [{"name": h["name"], "configuration": h["configuration"], "digest": h["digest"], "error": e} for h, _ in found[:1] for e in ("run: LOST", "later")]
            return [*((h, b"") for h in lost), *found[1:]]
        code, said, _ = self.judge(change)
        self.assertEqual(code, 1, said)
        self.assertRegex(said, r": run sm_90 -O\d: run: LOST; the simulator agrees with the interpreter")

    def test_what_is_missing_is_counted(self):
        code, said, _ = self.judge(lambda found: [(head, data) for head, data in found if head["name"] != "seed 8"])
        self.assertEqual(code, 1, said)
        self.assertIn("2 without a result (first: seed 8, sm_90 -O0)", said)

    def test_another_program_of_that_name_is_not_judged(self):
        code, said, _ = self.judge(lambda found: [({**head, "digest": "0"}, data) for head, data in found])
        self.assertEqual(code, 1, said)
        self.assertIn("this revision generates another program of that name", said)
        self.assertIn("sm_90 -O0: 0 passed, 6 failed", said)

    def test_a_device_needs_images_of_its_form(self):
        """The simulated device takes no cubins, and says so of each."""
        with tempfile.TemporaryDirectory() as folder:
            pack, out = pathlib.Path(folder, "pack"), pathlib.Path(folder, "out")
            pack.mkdir()
            programs.programs(pack, 1, seed=7, count=1, levels="3", files=[])
            code, found, said = kit(pack, out, what="programs")
            self.assertEqual((code, status(found, "seed 7 sm_90 -O3")["what"]), (1, "image"), said)
            self.assertIn("image: there is no PTX", results(out / kit_programs.RESULTS)[0][0]["error"])

    def test_a_piece_that_is_cut_off_is_an_error(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "0.programs")
            path.write_bytes(struct.pack("<I", 100) + b"{")
            programs.compress(path, path.with_suffix(".xz"))
            with self.assertRaisesRegex(ValueError, "0.xz is truncated"):
                list(kit_programs.read(path.with_suffix(".xz")))


class Building(unittest.TestCase):
    def test_a_failed_export_is_an_error(self):
        with tempfile.TemporaryDirectory() as folder:
            with self.assertRaisesRegex(tools.ToolError, "tile-fuzz failed"):
                programs.programs(pathlib.Path(folder), 1, count=0, levels="7x", files=[])
