"""gpu/cutile.py with stand-ins for PyTorch and cuTile: a right kernel, a wrong one, and one that raises."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from . import GPU, ROOT

TORCH = '''
import numpy as np

uint8, float32, int8 = np.uint8, np.float32, np.int8

class Tensor:
    """A view of NumPy memory with the few methods that are needed."""
    def __init__(self, data): self.data = data
    def cuda(self): return self
    def cpu(self): return self
    def contiguous(self): return Tensor(np.ascontiguousarray(self.data))
    def view(self, dtype): return Tensor(self.data.reshape(-1).view(dtype))
    def numpy(self): return self.data
    def as_strided(self, shape, strides, offset):
        flat = self.data.reshape(-1)[offset:]
        return Tensor(np.lib.stride_tricks.as_strided(flat, shape, [s * flat.itemsize for s in strides]))

def from_numpy(data): return Tensor(data)

class cuda:
    current_stream = staticmethod(lambda: "stream")
    synchronize = staticmethod(lambda: None)
    get_device_name = staticmethod(lambda: "stand-in")
'''

TILE = '''
__version__ = "0"

def launch(stream, grid, kernel, args):
    assert stream == "stream" and len(grid) == 3
    kernel(*args)
'''

KERNELS = '''
import dataclasses

@dataclasses.dataclass
class C:
    value: object

@dataclasses.dataclass
class Spec:
    name: str
    kernel: object
    params: list
    more: list = dataclasses.field(default_factory=list)

def add(a, b, c, tile):
    assert tile == 1024
    c.data[...] = a.data + b.data

def forget(a, b, c, tile):
    c.data[...] = a.data

def refuse(a, b, c, tile):
    raise TypeError("not today")

SPECS = [Spec("vadd_f32", KERNEL, [None, None, None, C(1024)], [("vadd_i8", [None, None, None, C(1024)])])]
'''


class Client(unittest.TestCase):
    def run_with(self, kernel, *arguments):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        root = pathlib.Path(folder.name)
        (root / "cuda" / "tile").mkdir(parents=True)
        (root / "torch.py").write_text(TORCH)
        (root / "cuda" / "tile" / "__init__.py").write_text(TILE)
        (root / "kernels.py").write_text(KERNELS.replace("KERNEL,", f"{kernel},"))
        (root / "cases.py").write_bytes((ROOT / "tests" / "corpus" / "cases.py").read_bytes())
        path = os.pathsep.join([str(root), str(ROOT / ".tools" / "python")])
        done = subprocess.run([sys.executable, str(GPU / "cutile.py"), "--corpus", str(root), "--out", str(root / "out.jsonl"), *arguments],
                              capture_output=True, text=True, env={**os.environ, "PYTHONPATH": path})
        lines = [json.loads(line) for line in (root / "out.jsonl").read_text().splitlines()]
        return done.returncode, lines, done.stdout + done.stderr

    def test_right_kernels_pass(self):
        code, lines, said = self.run_with("add")
        self.assertEqual(code, 0, said)
        self.assertEqual([(r["name"], r["status"]) for r in lines], [("vadd_f32", "pass"), ("vadd_i8", "pass")])
        self.assertIn("cuTile 0 on stand-in: 2 pass", said)

    def test_missing_packages_are_named(self):
        done = subprocess.run([sys.executable, "-S", str(GPU / "cutile.py"), "--corpus", "."], capture_output=True, text=True, env={})
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr, "^cutile.py: the Python package 'cuda(.tile)?' is missing")

    def test_wrong_results_and_errors_are_told(self):
        code, lines, said = self.run_with("forget", "--only", "f32")
        self.assertEqual((code, [r["status"] for r in lines]), (1, ["wrong"]), said)
        self.assertIn("arg 2", lines[0]["detail"])
        code, lines, said = self.run_with("refuse", "--only", "f32")
        self.assertEqual((code, [r["status"] for r in lines]), (1, ["error"]), said)
        self.assertIn("TypeError: not today", said)


if __name__ == "__main__":
    unittest.main()
