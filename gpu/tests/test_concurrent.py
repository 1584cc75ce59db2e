"""Concurrent launches: a kernel of the corpus on the simulated device, where they run one after the other."""
import pathlib
import tempfile
import unittest

from kit import concurrent_launches, correctness
from packer import parts

from .help import kit


class Concurrent(unittest.TestCase):
    def test_a_product_of_the_corpus(self):
        with tempfile.TemporaryDirectory() as folder:
            pack, out = pathlib.Path(folder, "pack"), pathlib.Path(folder, "out")
            parts.cases(pack, 2, r"^(matmul_f16|vadd_f32)\.13\.1$", (3,))
            # A kernel without tensor maps is not at issue.
            self.assertEqual([i.name for i in concurrent_launches.items(pack)], ["matmul_f16.13.1 streams", "matmul_f16.13.1 graph"])
            code, found, said = kit(pack, out, "--only", "graph", what="concurrent")
            self.assertEqual(code, 0, said)
            done, = [r for r in found if r["record"] == "case"]
            self.assertEqual((done["part"], done["status"], done["launches"], done["graph"]), ("concurrent", "pass", 16, True))

            # Pairs share what they read, and each writes arrays of its own.
            program, = [p for p in correctness.read_index(pack / "cases" / "index.json") if p["case"] == "matmul_f16"]
            launches = concurrent_launches.together(correctness.load_cases(pack / "cases" / "cases.py"), program)
            a, b, c = (launches[i].args for i in (0, 1, 2))
            self.assertTrue(a[0] is b[0] and a[1] is b[1])
            self.assertFalse(a[0] is c[0] or (a[0].data == c[0].data).all())
            self.assertEqual(len({id(launch.args[2].data) for launch in launches}), 16)


if __name__ == "__main__":
    unittest.main()
