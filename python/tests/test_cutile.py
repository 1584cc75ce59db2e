"""Kernels of cuTile Python through the module: without a GPU, its driver, and signatures written by hand.

Needs the package `cuda-tile`.
"""
from __future__ import annotations

import ctypes
import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import warnings
from typing import Annotated

import numpy

import cuda.tile as ct
import cuda.tile.compilation as compilation
import tileiras
from tileiras import _arrays, _kernels

warnings.simplefilter("ignore")
CORPUS = pathlib.Path(__file__).resolve().parents[2] / "tests" / "corpus"
CI = ct.Constant[int]


@ct.kernel
def axpy(x, y, factor, T: CI):
    i = ct.bid(0)
    ct.store(y, (i,), factor * ct.load(x, (i,), (T,)) + ct.load(y, (i,), (T,)))


@ct.kernel
def transpose(x, y, T: CI):
    i, j = ct.bid(0), ct.bid(1)
    ct.store(y, (j, i), ct.transpose(ct.load(x, (i, j), (T, T))))


@ct.kernel
def sum_rows(x, y, T: CI):
    i = ct.bid(0)
    ct.store(y, (i,), ct.sum(ct.load(x, (i, 0), (1, T)), 1))


@ct.kernel
def one(x):
    pass


NEWER = hasattr(compilation, "TupleConstraint")
if NEWER:
    Fixed = Annotated[ct.Array, ct.ArrayAnnotation(static_shape_dims=(0,))]

    @ct.kernel
    def of_tuple(xs, y, T: CI):
        i = ct.bid(0)
        ct.store(y, (i,), xs[2] * ct.load(xs[0], (i,), (T,)) + ct.load(xs[1], (i,), (T,)))

    @ct.kernel
    def of_constant_extent(x: Fixed, y, T: CI):
        i = ct.bid(0)
        ct.store(y, (i,), ct.load(x, (i,), (T,)) + x.shape[0])


class Exporter:
    """An array of another library, as DLPack describes it."""

    def __init__(self, array, code=None, *, version=True, readonly=False, device=1):
        self.array, self.version, self.readonly, self.device = array, version, readonly, device
        self.type = (code if code is not None else {"i": 0, "u": 1, "f": 2, "b": 6}[array.dtype.kind], 8 * array.itemsize)
        self.kept = []

    def __dlpack_device__(self):
        return self.device, 0

    def __dlpack__(self, **options):
        if options and not self.version:
            raise TypeError("unexpected keyword argument 'max_version'")
        rank = self.array.ndim
        shape = (ctypes.c_int64 * rank)(*self.array.shape)
        strides = (ctypes.c_int64 * rank)(*(s // self.array.itemsize for s in self.array.strides))
        tensor = _arrays._Tensor(self.array.ctypes.data, self.device, 0, rank, *self.type, 1, shape, strides, 0)
        managed, name = tensor, b"dltensor"
        if self.version:
            managed, name = _arrays._Versioned(1, 0, None, None, int(self.readonly), tensor), b"dltensor_versioned"
        self.kept.append((shape, strides, managed))
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return new(ctypes.addressof(managed), name, None)


class OfNumPy:
    """A NumPy array as an array of a library that is not known."""

    def __init__(self, array):
        self.__dlpack__, self.__dlpack_device__ = array.__dlpack__, array.__dlpack_device__


def load(name):
    """A module of the corpus. An older cuTile lacks `TupleConstraint`, which it imports."""
    if not hasattr(compilation, "TupleConstraint"):
        compilation.TupleConstraint = None
    spec = importlib.util.spec_from_file_location(name, CORPUS / f"{name}.py")
    sys.modules[name] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Corpus(unittest.TestCase):
    """Kernels of the corpus with the inputs and the results of its cases."""

    NAMES = ["vadd_f32", "saxpy_f32", "saxpy_grid_stride", "gelu_silu_bf16", "int_zoo", "casts_fp8", "transpose_f32",
             "softmax_f16", "matmul_bf16", "matmul_fp8", "cumsum_rows", "histogram", "list_sum"]
    CODES = {"bf16": 4, "e4m3": 10, "e5m2": 12, "e8m0": 14}

    def test_kernels_compute_what_their_cases_expect(self):
        kernels, cases = load("kernels"), load("cases")
        specs = {s.name: s for s in kernels.SPECS}
        found = 0
        for name in self.NAMES:
            if name not in specs:
                continue
            found += 1
            with self.subTest(name):
                self.check(specs[name], cases, cases.make(name))
        self.assertGreater(found, 9)

    def check(self, spec, cases, case):
        given, args = iter(case.args), []
        for parameter in spec.params:
            if isinstance(parameter.constraint(), compilation.ConstantConstraint):
                args.append(parameter.value)
                continue
            value = next(given)
            if isinstance(value, cases.Sca):
                args.append(int(value.value) if value.dtype == "i32" else float(value.value) if value.dtype == "f32" else
                            tileiras.Scalar(value.dtype, value.value))
            elif isinstance(value, cases.Arr):
                args.append(self.array(value))
            else:
                args.append([self.array(item) for item in value.items])
        printed = tileiras.run(spec.kernel, case.grid, args, target="sm_90")
        self.assertEqual(sorted(printed.splitlines()), sorted(case.stdout))
        results = {}
        for number in case.expect:
            of = case.args[number]
            results[number] = of.data if isinstance(of, cases.Arr) else [item.data for item in of.items]
        self.assertEqual(cases.compare(case, results), [])

    def array(self, value):
        code = self.CODES.get(value.dtype)
        return value.data if code is None else Exporter(value.data, code)


class Signatures(unittest.TestCase):
    def test_assumptions_are_those_of_a_launch(self):
        # Symbols that `KernelSignature.from_kernel_args` of cuda-tile 1.7.0 returned for these arguments on a machine with a
        # driver, without those of the addresses, which were divisible by 16.
        z = numpy.zeros
        table = [
            (z(1024, "f4"), "A1f32_1i16t1_p16"),
            (z((128, 64), "f2"), "A2f16_1v8l0_2t1_3i16_p16"),
            (z((100, 30), "f4"), "A2f32_1l0_2t1_p16"),
            (z((64, 128), "f8").T, "A2f64_1t1_2v2l0_3i16_p16"),
            (z((64, 128), "f4")[:, ::2], "A2f32_1v4_3i16l0_p16"),
            (z((1, 32), "i1"), "A2i8_1v16l0_2i16t1_p16"),
            (z((4, 8, 16), "?"), "A3b8_3v16l0_4i16t1_p16"),
            (z((3, 5), "i8")[:, :4], "A2i64_1l0_2t1_p16"),
            ([z((64, 32), "f4"), z((48, 30), "f4")], "LiA2f32_1i16l0_2t1_p16"),
        ]
        for value, expected in table:
            signature = _kernels.signature_of(one, [value])
            with self.subTest(expected):
                self.assertEqual(signature.with_mangled_symbol("one").symbol, f"one_Kt1_{expected}")

    def test_numbers_have_32_bits(self):
        of = lambda value: _kernels.signature_of(one, [value]).parameters[0].dtype
        self.assertEqual([of(v) for v in (True, 7, 0.5, numpy.int64(3), tileiras.Scalar("f16", 1))],
                         [ct.bool_, ct.int32, ct.float32, ct.int32, ct.float16])
        with self.assertRaisesRegex(tileiras.ConfigurationError, r"args\[0\] is 1099511627776, which exceeds 32 bits"):
            of(2**40)
        with self.assertRaisesRegex(tileiras.ConfigurationError, r"has 4 parameters \(x, y, factor, T\), but 1 arguments"):
            _kernels.signature_of(axpy, [1])
        with self.assertRaisesRegex(TypeError, r"args\[0\] is a str"):
            of("x")


class Run(unittest.TestCase):
    def check(self, wrap_x, wrap_y, **more):
        x = numpy.arange(1024, dtype=numpy.float32)
        y = numpy.ones(2048, numpy.float32)
        tileiras.run(axpy, 4, [wrap_x(x), wrap_y(y), 2.0, 256], target="sm_90", **more)
        return x, y

    def test_any_library_with_dlpack(self):
        same = lambda a: a
        for wrap in (same, Exporter, lambda a: Exporter(a, version=False), OfNumPy):
            _, y = self.check(wrap, wrap)
            numpy.testing.assert_array_equal(y[:1024], 2 * numpy.arange(1024) + 1)
            numpy.testing.assert_array_equal(y[1024:], 1)
        _, y = self.check(same, lambda a: a[::2], engine="reference")
        numpy.testing.assert_array_equal(y[::2], 2 * numpy.arange(1024) + 1)
        numpy.testing.assert_array_equal(y[1::2], 1)

    def test_pytorch(self):
        try:
            import torch
        except ImportError:
            self.skipTest("PyTorch is not installed")
        x, y = torch.arange(1024, dtype=torch.float32), torch.ones(1024)
        tileiras.run(axpy, 4, [x, y, 2.0, 256], target="sm_90")
        self.assertTrue(torch.equal(y, 2 * torch.arange(1024) + 1))
        x, y = torch.arange(64.0).reshape(8, 8).to(torch.bfloat16), torch.zeros(8, 8, dtype=torch.bfloat16)
        tileiras.run(transpose, (1, 1), [x, y, 8], target="sm_90")
        self.assertTrue(torch.equal(y, x.T))

    def test_arrays_that_cannot_be_launched(self):
        with self.assertRaisesRegex(TypeError, r"args\[0\] is a Exporter on device \(2, 0\), but kernels run on the CPU"):
            self.check(lambda a: Exporter(a, device=2), Exporter)
        with self.assertRaisesRegex(TypeError, r"args\[0\] has elements of DLPack type \(5, 32, 1\)"):
            self.check(lambda a: Exporter(a, 5), Exporter)
        with self.assertRaisesRegex(tileiras.LaunchError, r"args\[1\] is read-only, but the kernel wrote to it"):
            self.check(Exporter, lambda a: Exporter(a, readonly=True))
        with self.assertRaisesRegex(tileiras.LaunchError, r"args\[0\] has a negative stride"):
            self.check(lambda a: a[::-1], Exporter)
        both = numpy.ones(1024, numpy.float32)
        with self.assertRaisesRegex(tileiras.LaunchError, r"wrote to args\[1\], which shares memory with args\[0\]"):
            tileiras.run(axpy, 4, [both, both, 2.0, 256], target="sm_90")
        self.assertTrue((both == 1).all())

    def test_views_keep_their_strides(self):
        whole = numpy.arange(64 * 96, dtype=numpy.float32).reshape(64, 96)
        left = numpy.zeros((96, 64), numpy.float32)
        for x, y in ((whole, left), (whole, left.T.copy().T), (whole[:32, 32:64], left[:32, :32]), (left.T, whole.T)):
            x = x.copy() if x.base is y.base else x
            before = x.copy()
            tileiras.run(transpose, (-(-x.shape[0] // 32), -(-x.shape[1] // 32)), [x, y, 32], target="sm_90")
            numpy.testing.assert_array_equal(y, before.T)
        row = numpy.broadcast_to(numpy.arange(32, dtype=numpy.float32), (4, 32))
        sums = numpy.zeros(4, numpy.float32)
        tileiras.run(sum_rows, 4, [row, sums, 32], target="sm_90")
        numpy.testing.assert_array_equal(sums, 496)

    def test_errors_of_the_front_end(self):
        x = numpy.ones(1024, numpy.float32)
        with self.assertRaises(tileiras.InputError) as caught:
            tileiras.run(axpy, 4, [x, x.copy(), 2.0, 100], target="sm_90")
        self.assertIn("not a power of two", str(caught.exception))
        with self.assertRaisesRegex(TypeError, "needs arguments of a launch"):
            tileiras.compile(axpy)

    @unittest.skipUnless(NEWER, "an older cuTile")
    def test_tuples_and_constant_extents(self):
        x, z = numpy.arange(256, dtype=numpy.float32), numpy.ones(256, numpy.float32)
        y = numpy.zeros(256, numpy.float32)
        tileiras.run(of_tuple, 2, [(x, z, 3.0), y, 128], target="sm_90")
        numpy.testing.assert_array_equal(y, 3 * x + 1)
        tileiras.run(of_constant_extent, 2, [x, y, 128], target="sm_90")
        numpy.testing.assert_array_equal(y, x + 256)


class Others(unittest.TestCase):
    ARGS = [tileiras.zeros(1024), tileiras.zeros((1024,), "f32"), 2.0, 256]

    def test_compile(self):
        self.assertIn(".entry axpy", tileiras.compile(axpy, self.ARGS, target="sm_90", emit="ptx").text)
        signature = _kernels.signature_of(axpy, self.ARGS)
        self.assertEqual(tileiras.compile(axpy, signature=signature, target="sm_90", emit="ptx"),
                         tileiras.compile(axpy, self.ARGS, target="sm_90", emit="ptx"))

    def test_predict(self):
        large = [tileiras.zeros(2**20), tileiras.zeros(2**20), 2.0, 256]
        times = [tileiras.predict(axpy, args[0].shape[0] // 256, args, target="sm_90").microseconds
                 for args in (self.ARGS, large)]
        self.assertLess(0, times[0])
        self.assertLess(times[0], times[1])

    def test_tune(self):
        found = tileiras.tune(axpy, lambda T, occupancy: 1024 // T, self.ARGS[:3], {"T": [64, 100, 128], "occupancy": [1, 2]},
                              where=lambda T, occupancy: T != 128 or occupancy == 1, target="sm_90")
        self.assertEqual([v.parameters["T"] for v in found.variants if v.time is None], [100, 100])
        self.assertEqual(len(found.variants), 5)
        self.assertIn("not a power of two", found.variants[-1].reason)
        self.assertLessEqual(found.best.time, found.variants[1].time)
        self.assertIn("not a power of two", str(found))
        self.assertIn("<td>128</td>", found._repr_html_())
        with self.assertRaisesRegex(tileiras.ConfigurationError, r"warps: neither a parameter of the kernel \(x, y, factor, T\)"):
            tileiras.tune(axpy, 4, self.ARGS, {"warps": [1]})
        with self.assertRaisesRegex(tileiras.CompileError, "every variant failed: {'T': 100}: "):
            tileiras.tune(axpy, 4, self.ARGS, {"T": [100]}, target="sm_90")

    def test_explore_and_numerics(self):
        page = tileiras.explore(sum_rows, [tileiras.zeros((4, 32)), tileiras.zeros(4), 32], target="sm_90")
        self.assertIn("sum_rows", page.html)
        self.assertEqual(page.data["target"], "sm_90")
        self.assertTrue(page._repr_html_().startswith("<iframe srcdoc="))
        report = tileiras.numerics(sum_rows, [tileiras.zeros((4, 32)), tileiras.zeros(4), 32], target="sm_90")
        self.assertEqual([op["kind"] for op in report.data["ops"]], ["reduce"])
        self.assertIn("addf", str(report))


class Scripts(unittest.TestCase):
    SCRIPT = ("import numpy, cuda.tile as ct\n@ct.kernel\ndef twice(x):\n"
              "    ct.store(x, (ct.bid(0),), 2 * ct.load(x, (ct.bid(0),), (128,)))\n"
              "x = numpy.ones(256, numpy.float32)\nct.launch(None, (2,), twice, (x,))\nprint(x.sum())\n")

    def run_script(self, *options, script=SCRIPT):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "script.py")
            file.write_text(script)
            environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
            environment["TILEIRAS_BIN"] = str(tileiras.program("tileiras").parent.resolve())
            return subprocess.run([sys.executable, "-m", "tileiras.cutile", *options, file], capture_output=True, text=True,
                                  env=environment, cwd=folder, check=False)

    def test_a_script_can_be_simulated(self):
        done = self.run_script("--simulate", "--target=sm_90")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "512.0\n", ""))

    @unittest.skipIf(os.path.exists("/dev/nvidia0"), "there is a GPU")
    def test_without_a_gpu_the_module_says_what_to_do(self):
        done = self.run_script()
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("there is no GPU driver (libcuda.so.1)", done.stderr)
        self.assertIn("python -m tileiras.cutile --simulate", done.stderr)
        self.assertNotIn("runpy", done.stderr)
        # An error of the script itself has nothing to do with GPUs.
        done = self.run_script(script="1 / 0\n")
        self.assertEqual(done.returncode, 1)
        self.assertTrue(done.stderr.endswith("ZeroDivisionError: division by zero\n"), done.stderr)


if __name__ == "__main__":
    unittest.main()
