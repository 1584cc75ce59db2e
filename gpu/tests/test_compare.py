"""Results against expectations, and launch descriptions."""
import json
import pathlib
import tempfile
import unittest

import numpy as np

from . import GPU  # noqa: F401
from kit import dtypes, launches
from kit.compare import compare, compare_lines
from kit.launches import Array, ArrayList, Buffer, Bytes, Expect, Launch, Scalar, TensorMap

NAN, INF = np.nan, np.inf


def f32(*values):
    return np.array(values, np.float32)


class Matches(unittest.TestCase):
    def test_ways_to_match(self):
        nan1, nan2 = np.array([0x7FC00000, 0x7FC00001], np.uint32).view(np.float32)[:, None]
        table = [
            ("value", f32(1, 2), np.array([1.0, 2.0]), {}, True),
            ("value", f32(1, 2.5), np.array([1.0, 2.0]), {}, False),
            ("value", f32(1, 2.5), np.array([1.0, 2.0]), {"rtol": 0.25}, True),
            ("value", f32(1, 2.5), np.array([1.0, 2.0]), {"bad": 0.5}, True),
            ("value", f32(0, 2.5), np.array([1.0, 2.0]), {"bad": 0.5}, False),
            ("value", f32(NAN, INF, -0.0), np.array([NAN, INF, 0.0]), {}, True),
            ("value", f32(NAN), np.array([1.0]), {"atol": 9}, False),
            ("value", f32(1), np.array([NAN]), {"atol": 9}, False),
            ("value", f32(-INF), np.array([INF]), {"rtol": 1}, False),
            # Rows that are not loose are exact, down to the signs of zeros.
            ("value", f32(1, 2.5), np.array([1.0, 2.0]), {"rtol": 0.25, "loose": [1]}, True),
            ("value", f32(1, 2.5), np.array([1.0, 2.0]), {"rtol": 0.25, "loose": [0]}, False),
            ("value", f32(NAN, INF, 1), np.array([NAN, INF, 2.0]), {"rtol": 1, "loose": [2]}, True),
            ("value", f32(-0.0), np.array([0.0]), {"loose": []}, False),
            ("bits", f32(0.0), f32(-0.0), {}, False),
            ("bits", nan1, nan1, {}, True),
            ("bits", nan1, nan2, {}, False),
            ("bits_or_nan", nan1, nan2, {}, True),
            ("bits_or_nan", f32(1), f32(2), {}, False),
            # Bits may be kept as integers.
            ("bits_or_nan", nan1, nan2.view(np.uint32), {}, True),
            ("bits_or_nan", f32(1), f32(2).view(np.uint32), {}, False),
            ("sorted", f32(3, 1, 2), f32(1, 2, 3), {}, True),
            ("sorted", f32(3, 1, 1), f32(1, 2, 3), {}, False),
        ]
        for match, got, want, tolerance, good in table:
            found = compare("a", got, "f32", want, Expect(0, [want], match, **tolerance))
            self.assertEqual(found is None, good, (match, got, want, tolerance, found))

    def test_integers_are_exact_in_all_their_bits(self):
        got = np.array([2 ** 63 + 1], np.uint64)
        for want, good in ((2 ** 63 + 1, True), (2 ** 63, False)):
            found = compare("a", got, "u64", np.array([want], np.uint64), Expect(0, []))
            self.assertEqual(found is None, good)

    def test_the_first_wrong_element_is_named(self):
        got, want = f32(1, 2, 3, 4).reshape(2, 2), np.array([[1.0, 2.0], [3.5, 4.5]])
        found = compare("argument 2", got, "f32", want, Expect(2, [want]))
        self.assertEqual(str(found), "argument 2[1, 0]: 3.0, expected 3.5; 2 of 4 are wrong")
        found = compare("a", got, "f32", want.reshape(4), Expect(0, []))
        self.assertIn("shape (2, 2), expected shape (4,)", str(found))

    def test_printed_lines_in_any_order(self):
        self.assertIsNone(compare_lines("b\na\n", ["a", "b"]))
        self.assertIn("'a' is missing", compare_lines("b\n", ["a", "b"]))
        self.assertIn("'b' was not expected", compare_lines("b\nb\na", ["a", "b"]))


class Types(unittest.TestCase):
    def test_small_floats(self):
        for dtype, bits, value in (("e4m3", 0x38, 1), ("e4m3", 0x7E, 448), ("e4m3", 0x01, 2 ** -9), ("e5m2", 0x3C, 1), ("e5m2", 0x7C, INF),
                                   ("e8m0", 130, 8), ("bf16", 0x3FC0, 1.5)):
            self.assertEqual(dtypes.decode(dtype, np.array([bits], dtypes.STORAGE[dtype]))[0], value, (dtype, bits))
        self.assertTrue(np.isnan(dtypes.E4M3[0x7F]))

    def test_bf16_rounds_to_nearest_even(self):
        values = f32(1 + 2 ** -8, 1 + 3 * 2 ** -8, 1 + 2 ** -8 + 2 ** -20)
        self.assertEqual(dtypes.encode("bf16", values).tolist(), [0x3F80, 0x3F82, 0x3F81])

    def test_poison_is_no_number(self):
        for dtype in ("f16", "bf16", "f32", "f64", "e4m3", "e5m2"):
            self.assertTrue(np.isnan(dtypes.decode(dtype, dtypes.poisoned(dtype, (2,)))).all(), dtype)

    def test_scalars(self):
        for dtype, value, want in (("i32", -1, b"\xff" * 4), ("f32", "0x3f800000", b"\0\0\x80\x3f"), ("bf16", 1.0, b"\x80\x3f"), ("u8", 255, b"\xff")):
            self.assertEqual(dtypes.scalar(dtype, value), want)


class Descriptions(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def test_what_is_written_is_read_again(self):
        launch = Launch("k", (2, 1, 1), [
            Scalar("f32", 1.5), Bytes(b"\x0a\x1b"), Buffer(f32(1, 2), "f32"), Array(np.zeros((2, 3), np.uint16), "bf16", "i64"),
            ArrayList([Array(np.ones(2, np.int8), "i8"), Array(np.ones(3, np.int8), "i8")]),
            TensorMap(np.zeros((4, 64), np.uint16), "bf16", [64, 4], [128], [64, 2], [1, 1], 3, "nan")],
            block=(32, 1, 1), cluster=(2, 1, 1), dynamic_shared=64, launches=2)
        again = launches.read(launches.write(launch, self.folder))
        self.assertEqual((again.entry, again.grid, again.block, again.cluster, again.dynamic_shared, again.launches), ("k", (2, 1, 1), (32, 1, 1), (2, 1, 1), 64, 2))
        self.assertEqual(again.args[0].bytes(), launch.args[0].bytes())
        self.assertEqual(again.args[1], launch.args[1])
        for a, b in zip(launch.args[2:], again.args[2:]):
            self.assertEqual(type(a), type(b))
            for x, y in zip(launches.arrays(a), launches.arrays(b)):
                np.testing.assert_array_equal(x, y)
        self.assertEqual(again.args[3].sizes(), [2, 3, 3, 1])
        self.assertEqual((again.args[5].box, again.args[5].swizzle, again.args[5].fill), ([64, 2], 3, "nan"))

    def test_descriptions_that_cannot_be_used(self):
        for text in ("", "[]", '{"args": [{"frob": 1}]}', '{"args": [{"buffer": "none.npy"}]}', '{"args": [{"f31": 1}]}'):
            path = self.folder / "launch.json"
            path.write_text(text)
            with self.assertRaises(launches.BadDescription):
                launches.read(path)

    def test_unwritten_memory_is_poisoned(self):
        path = self.folder / "launch.json"
        path.write_text(json.dumps({"args": [{"unwritten": [2, 2], "dtype": "f32"}]}))
        a = launches.read(path).args[0]
        self.assertTrue(a.unwritten and np.isnan(a.data).all() and a.data.shape == (2, 2))
