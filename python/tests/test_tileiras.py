"""Tests of the Python module with the programs in `TILEIRAS_BIN` or in the installed package."""
from __future__ import annotations

import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time
import traceback
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

    def test_portable_code_has_no_approximate_instruction(self):
        softmax = CORPUS / "softmax_f32.13.1.tileirbc"
        found = [".approx" in tileiras.compile(softmax, emit="ptx", numerics=mode).text for mode in ("pinned", "portable")]
        self.assertEqual(found, [True, False])

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


    def test_numbers_have_the_type_of_the_parameter(self):
        kernel = ("cuda_tile.module @m {\n  entry @k(%p: tile<ptr<f64>>, %x: tile<f64>, %n: tile<i64>) {\n"
                  "    %s = itof %n signed : tile<i64> -> tile<f64>\n    %y = addf %x, %s : tile<f64>\n"
                  "    %done = store_ptr_tko weak %p, %y : tile<ptr<f64>>, tile<f64> -> token\n    return\n  }\n}\n")
        y = numpy.zeros(1)
        tileiras.run(kernel, 1, [y, 0.1, 2**40], target="sm_90")
        self.assertEqual(y[0], 0.1 + 2**40)
        tileiras.run(kernel, 1, [y, 1, 2], target="sm_90", engine="reference")
        self.assertEqual(y[0], 3)
        with self.assertRaises(tileiras.LaunchError) as caught:
            tileiras.run(kernel, 1, [y, 1, 2.5], target="sm_90")
        self.assertEqual(str(caught.exception), "args[2] is f32, but the parameter is i64; pass tileiras.Scalar(\"i64\", VALUE)")
        with self.assertRaisesRegex(tileiras.ConfigurationError, "the grid has 4 extents"):
            tileiras.run(kernel, (1, 1, 1, 1), [y, 1, 2])


class Analyses(unittest.TestCase):
    def test_predictions(self):
        found = tileiras.predict(RELU, 2**10, [tileiras.zeros(2**21), tileiras.zeros(2**21, "f32"), 2**21], target="sm_90")
        self.assertGreater(found.microseconds, 1)
        self.assertTrue(str(found).startswith("predicted on sm_90: "), str(found))
        self.assertTrue(found.html.startswith("<!doctype html>"))
        other = tileiras.predict(RELU, 1, [tileiras.zeros(2048), tileiras.zeros(2048), 2048], target="sm_120",
                                 machine="sm_120_geforce")
        self.assertEqual(other.data["machine"], "sm_120_geforce")
        with self.assertRaisesRegex(tileiras.ConfigurationError, "type 'f128' is unknown"):
            tileiras.zeros(1, "f128")
        with self.assertRaises(tileiras.LaunchError):
            tileiras.predict(RELU, 1, [tileiras.zeros(2048)], target="sm_90")

    def test_a_search_over_programs(self):
        relu = RELU.read_text()
        n = 2**16
        found = tileiras.tune(lambda T, N: relu.replace("2048", str(T)), lambda T, N: n // T,
                              [tileiras.zeros(n), tileiras.zeros(n), n], {"T": [512, 2048], "N": [1, 2]}, target="sm_90", jobs=2)
        self.assertEqual(len(found.variants), 4)
        self.assertTrue(all(v.time and v.details["resources"]["registers"] for v in found.variants))
        self.assertEqual(found.without_effect(), ["N"])
        self.assertIn("N: no value changes the code", str(found))
        with self.assertRaises(TypeError):
            tileiras.tune(relu, 1, [], {"T": [1]})
        with self.assertRaisesRegex(tileiras.ConfigurationError, "no combination"):
            tileiras.tune(lambda T: relu, 1, [], {"T": [1]}, where=lambda T: False)

    def test_pages_and_numerics(self):
        page = tileiras.explore(RELU.read_text(), target="sm_90")
        self.assertIn("relu_f32", page.html)
        self.assertGreater(len(page.data["steps"]), 10)
        with tempfile.TemporaryDirectory() as folder:
            page.save(pathlib.Path(folder, "page.html"))
            self.assertEqual(pathlib.Path(folder, "page.html").read_text(), page.html)
        report = tileiras.numerics(CORPUS / "reduce_all_f32.13.1.tileirbc", target="sm_90")
        self.assertFalse(report.data["ops"][0]["pinned"])
        self.assertTrue(tileiras.numerics(CORPUS / "reduce_all_f32.13.1.tileirbc", target="sm_90",
                                          options=["--numerics=pinned"]).data["ops"][0]["pinned"])
        with self.assertRaises(tileiras.InputError) as caught:
            tileiras.explore("cuda_tile.module @m {\n  nonsense\n}\n")
        self.assertNotIn("/tileiras-", str(caught.exception))


class Commands(unittest.TestCase):
    def test_exceptions_have_their_public_names(self):
        with self.assertRaises(tileiras.ToolError) as caught:
            tileiras.program("no-such-program")
        shown = "".join(traceback.format_exception_only(caught.exception))
        self.assertTrue(shown.startswith("tileiras.ToolError: program 'no-such-program' was not found in "), shown)

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
