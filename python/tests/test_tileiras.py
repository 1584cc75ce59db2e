"""Tests of the Python module with the programs in `TILEIRAS_BIN` or in the installed package."""
from __future__ import annotations

import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import numpy

import tileiras

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES, CORPUS = ROOT / "examples", ROOT / "tests" / "corpus"
RELU = EXAMPLES / "relu_f32.mlir"


class Compile(unittest.TestCase):
    def test_every_source_gives_the_same(self):
        bytecode = (CORPUS / "vadd_f32.13.1.tileirbc").read_bytes()
        of_bytes = tileiras.compile(bytecode, target="sm_90", emit="ptx").text
        self.assertIn(".visible .entry vadd_f32", of_bytes)
        self.assertEqual(tileiras.compile(CORPUS / "vadd_f32.13.1.tileirbc", target="sm_90", emit="ptx").text, of_bytes)
        text = tileiras.disassemble(bytecode)
        self.assertIn("vadd_f32", text)
        relu = tileiras.compile(RELU.read_text(), target="sm_90", emit="ptx").text
        self.assertEqual(tileiras.compile(str(RELU), target="sm_90", emit="ptx").text, relu)

    def test_images_come_with_what_kernels_take(self):
        compiled = tileiras.compile(RELU, target="sm_90", remarks=True)
        self.assertTrue(compiled.image.startswith(b"\x7fELF"))
        kernel = compiled.kernels["relu_f32"]
        self.assertEqual((kernel.threads, kernel.spill_stores), ((128, 1, 1), 0))
        self.assertGreater(kernel.registers, 0)
        self.assertTrue(any(r.line == 15 and r.file == str(RELU) for r in compiled.remarks), compiled.remarks)
        with self.assertRaises(ValueError):
            compiled.text
        with self.assertRaises(ValueError):
            tileiras.compile(RELU, target="sm_90", emit="tileas").image

    def test_the_order_of_a_reduction_can_be_pinned(self):
        sums = CORPUS / "reduce_all_f32.13.1.tileirbc"
        found = [tileiras.compile(sums, emit="tileas", numerics=mode).text.count("nv_tileaa.canonical") for mode in ("default", "pinned")]
        self.assertEqual(found[0], 0)
        self.assertGreater(found[1], 0)

    def test_what_goes_wrong_has_a_type_and_says_where(self):
        with self.assertRaises(tileiras.InputError) as caught:
            tileiras.compile("cuda_tile.module @m {\n  nonsense\n}\n", target="sm_90", emit="ptx")
        self.assertTrue(any(d.severity == "error" and d.line == 2 for d in caught.exception.diagnostics), caught.exception.diagnostics)
        # The folder of the program is gone.
        self.assertTrue(str(caught.exception).startswith("input.mlir:2:"), str(caught.exception))
        with self.assertRaises(tileiras.ConfigurationError) as caught:
            tileiras.compile(RELU, target="sm_1")
        self.assertIn("sm_1", str(caught.exception))
        with self.assertRaisesRegex(tileiras.ConfigurationError, "numerics"):
            tileiras.compile(RELU, numerics="exact")
        with self.assertRaises(tileiras.ConfigurationError):
            tileiras.compile("no-such-file.mlir")
        with self.assertRaises(tileiras.ToolError):
            tileiras.compile(RELU, target="sm_90", ptxas="/no/such/ptxas")
        with self.assertRaises(TypeError):
            tileiras.compile(42)

    def test_threads_run_on_meanwhile(self):
        counted, done = 0, threading.Event()
        worker = threading.Thread(target=lambda: (tileiras.compile(RELU, target="sm_90", emit="ptx"), done.set()))
        worker.start()
        while not done.is_set():
            counted += 1
            time.sleep(0.001)
        worker.join()
        self.assertGreater(counted, 5)


class Run(unittest.TestCase):
    def relu(self, n: int = 5000, **more: object) -> None:
        x = numpy.random.default_rng(1).standard_normal(n).astype(numpy.float32)
        y = numpy.full_like(x, 7)
        printed = tileiras.run(RELU, grid=-(-n // 2048), args=[x, y, n], target="sm_90", **more)
        self.assertEqual(printed, "")
        numpy.testing.assert_array_equal(y, numpy.maximum(x, 0))

    def test_arrays_hold_what_is_left(self):
        # The kernel takes plain pointers.
        self.relu()
        self.relu(adversarial=3)
        self.relu(engine="reference")

    def test_arrays_with_extents_and_strides(self):
        a, b = (numpy.arange(3000, dtype=numpy.float32) * f for f in (1, 2))
        c = numpy.zeros_like(a)
        tileiras.run(CORPUS / "vadd_f32.13.1.tileirbc", grid=12, args=[a, b, c], target="sm_90")
        self.assertTrue((c[:1024] == 3 * a[:1024]).all(), c)

    def test_wrong_launches_are_said(self):
        x = numpy.zeros(16, numpy.float32)
        with self.assertRaises(tileiras.LaunchError) as caught:
            tileiras.run(RELU, grid=1, args=[x, x], target="sm_90")
        self.assertIn("parameters", str(caught.exception))
        # The array is shorter than the length passed to the kernel.
        with self.assertRaises(tileiras.LaunchError):
            tileiras.run(RELU, grid=1, args=[x, x.copy(), 2048], target="sm_90")
        with self.assertRaises(tileiras.LaunchError) as caught:
            tileiras.run(RELU, grid=1, args=[x.astype(numpy.float64), x.copy(), len(x)], target="sm_90")
        self.assertEqual(str(caught.exception), "args[0] is f64, but the parameter is ptr<f32>; convert the array to f32")
        # The source is a text, so the only file is a temporary one, which the message does not name.
        with self.assertRaises(tileiras.LaunchError) as caught:
            tileiras.run(RELU.read_text(), grid=1, args=[x, x.copy(), 2048], target="sm_90")
        self.assertRegex(str(caught.exception), r"in kernel:\d+: (.|\n)*at args\[\d\]: element ")
        self.assertNotIn("/tileiras-", str(caught.exception))
        with self.assertRaises(TypeError):
            tileiras.run(RELU, grid=1, args=["x"])
        with self.assertRaises(tileiras.InputError):
            tileiras.run("cuda_tile.module @m {\n nonsense\n}\n", grid=1)

    def test_scalars_of_other_types(self):
        self.assertEqual(tileiras.Scalar("f16", 0.5).type, "f16")
        with self.assertRaises(tileiras.LaunchError) as caught:
            tileiras.run(RELU, grid=1, args=[tileiras.Scalar("f17", 1)], target="sm_90")
        self.assertIn("f17", str(caught.exception))


class Commands(unittest.TestCase):
    def test_cutile_scripts_see_this_compiler_alone(self):
        with tempfile.TemporaryDirectory() as folder:
            # An installed package as importlib sees it, and a script that looks for it as cuTile does.
            info = pathlib.Path(folder, "nvidia_cuda_tileiras-13.4.92.dist-info")
            info.mkdir()
            (info / "METADATA").write_text("Metadata-Version: 2.1\nName: nvidia-cuda-tileiras\nVersion: 13.4.92\n")
            script = pathlib.Path(folder, "script.py")
            script.write_text("import importlib.metadata as m, shutil, sys\n"
                              "try:\n  print(m.version('nvidia-cuda-tileiras'))\n"
                              "except m.PackageNotFoundError:\n  print('hidden', shutil.which('tileiras'), sys.argv[1:], __name__)\n")
            said = [subprocess.run([sys.executable, *how, script, "a"], capture_output=True, text=True, check=True, cwd=folder,
                                   env={**os.environ, "PYTHONPATH": os.pathsep.join([folder, *sys.path])}).stdout
                    for how in ([], ["-m", "tileiras.cutile"])]
            self.assertEqual(said, ["13.4.92\n", f"hidden {tileiras.program('tileiras')} ['a'] __main__\n"])

    def test_programs_are_found_or_missing(self):
        self.assertTrue(tileiras.program("tileirdisasm").is_file())
        with self.assertRaises(tileiras.ToolError):
            tileiras.program("no-such-program")


if __name__ == "__main__":
    unittest.main()
