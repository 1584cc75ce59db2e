"""Coordinates of tensor copies: the simulated device takes what an H100 took, and refuses what it refused."""
import pathlib
import tempfile
import unittest

from kit import summary, tensor_copies
from packer import parts

from .help import kit

NAMES = ("load u16 at", "store s32 at", "max s64 at")


class Copies(unittest.TestCase):
    def test_outcomes_are_those_of_an_h100(self):
        with tempfile.TemporaryDirectory() as folder:
            pack = pathlib.Path(folder, "pack")
            pack.mkdir()
            parts.tensor_copies(pack)
            for name in NAMES:
                out = pathlib.Path(folder, name.replace(" ", "-"))
                code, found, said = kit(pack, out, "--only", name, what="tensor-copies")
                self.assertEqual(code, 0, said)
                rows = [r for r in found if r["record"] == "tensor_copy"]
                self.assertEqual(len(rows), sum(f"{p[0]} {p[1]} at" == name for p in tensor_copies.points()))
                for r in rows:
                    allowed = r["aligned"] and (r["op"] == "load" or min(r["at"]) >= 0)
                    self.assertEqual(r["outcome"], "right" if allowed else "refused", r)
                    if not allowed:
                        self.assertRegex(r["detail"], "multiple of 16 bytes|begins before the tensor")
                self.assertEqual({r["outcome"] for r in rows}, {"right", "refused"})

    def test_the_summary_names_what_is_refused(self):
        rows = [{"record": "tensor_copy", "op": "store", "element": "u8", "at": at, "aligned": True, "outcome": outcome}
                for at, outcome in (([0, 0], "right"), ([-16, 0], "refused"), ([16, 0], "right"))]
        self.assertIn("2 right; 1 refused at [[-16, 0]]", summary.tensor_copies(rows))

    def test_what_is_expected_of_a_load_over_a_corner(self):
        launch, argument, want = tensor_copies.launch("load", "s32", -4, -3)
        tensor = launch.args[0].data
        self.assertEqual(argument, 1)
        self.assertEqual(want[:3].tolist(), [[0] * 8] * 3)
        self.assertEqual(want[3].tolist(), [0] * 4 + tensor[0, :4].tolist())


if __name__ == "__main__":
    unittest.main()
