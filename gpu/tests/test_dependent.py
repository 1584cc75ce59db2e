"""Dependent launches: a chain of a program of the corpus on the simulated device, where its launches run one after the other."""
import json
import pathlib
import tempfile
import unittest

import numpy as np

from kit import correctness, dependent_launches, records, summary
from packer import parts
from reporting import page

from .help import kit


class Dependent(unittest.TestCase):
    def test_a_chain_of_the_corpus(self):
        with tempfile.TemporaryDirectory() as folder:
            pack, out = pathlib.Path(folder, "pack"), pathlib.Path(folder, "out")
            parts.cases(pack, 2, r"^(dependent_launch|vadd_f32)\.13\.\d$", (3,))
            # A kernel that does not wait is not at issue.
            names = [f"dependent_launch.13.4 -O3 {n} blocks" for n in dependent_launches.BLOCKS]
            self.assertEqual([i.name for i in dependent_launches.items(pack)], names)
            code, found, said = kit(pack, out, "--only", "4 blocks", what="dependent")
            self.assertEqual(code, 0, said)
            done, = [r for r in found if r["record"] == "case"]
            self.assertEqual((done["part"], done["status"], done["launches"], done["blocks"]), ("dependent", "pass", 8, 4))

            # Each takes what the one before stores; all but the first may begin early.
            program, = [p for p in correctness.read_index(pack / "cases" / "index.json") if p["case"] == "dependent_launch"]
            launches = dependent_launches.chain(program, 4, True)
            self.assertEqual([one.dependent for one in launches], [False] + 7 * [True])
            for one, next_ in zip(launches, launches[1:]):
                self.assertIs(one.args[1].data, next_.args[0].data)
                self.assertTrue(np.isnan(one.args[1].data).all())
            x = launches[0].args[0].data
            for _ in launches:
                x = x * x
            self.assertTrue((launches[-1].expect[0].values[0] == x).all() and not (x == 1).all())

            # A wrong result is found, and where.
            text = (pack / program["ptx"]).read_text()
            self.assertIn("mul.rn.f32", text)
            (pack / program["ptx"]).write_text(text.replace("mul.rn.f32", "add.rn.f32"))
            code, found, said = kit(pack, pathlib.Path(folder, "wrong"), "--only", "4 blocks", what="dependent")
            wrong, = [r for r in found if r["record"] == "case"]
            self.assertEqual((code, wrong["status"], wrong["where"]), (1, "fail", "plain, stream, launch 0, argument 1[0]"), said)

    def test_a_table_of_times(self):
        about = {"record": "measurement", "t": 0, "device": "cuda", "part": "dependent", "name": "chain", "unit": "us", "low": 1.0, "high": 3.0, "n": 3}
        lines = [{**about, "impl": "plain", "median": 2.5}, {**about, "impl": "dependent", "median": 1.5}]
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "results.jsonl")
            path.write_text("".join(json.dumps(r) + "\n" for r in lines))
            found, bad = records.read(path)
        self.assertEqual(summary.dependent(found).splitlines()[1:], ["chain               plain      2.5     1    3     us", "chain               dependent  1.5     1    3     us"])
        self.assertIn("| chain | dependent | 1.5 us | 1 to 3 |  | 2 |", page.page(found, bad, {}, "results.jsonl"))


if __name__ == "__main__":
    unittest.main()
