"""The families of attention and of products: our kernels of them on small cases on the simulated device, and their
references.

`samples/kernels` has a kernel of each as bytecode, as `packer/export.py` writes it, since the front end may not be at
hand.
"""
import json
import pathlib
import sys
import tempfile
import unittest

from . import GPU, ROOT
import numpy as np

from .help import kit
from kit.launches import ArrayList
from kit.peers import problems, small
from packer import launches, parts, tools, variants

SAMPLES = GPU / "tests" / "samples" / "kernels"


def entries():
    held = {path.stem for path in SAMPLES.glob("*.tileirbc")}
    return {e.name: e for e in variants.entries() if e.name in held}


class Families(unittest.TestCase):
    def test_each_has_a_sample(self):
        kinds = {e.kind for e in entries().values()}
        self.assertEqual({p.kind for p in problems.problems() if p.tier == 4} - kinds, set())
        self.assertEqual({e.then for e in entries().values() if e.then} - set(entries()), set())

    def test_samples_are_what_is_exported(self):
        front_end = ROOT / ".tools" / "tileiras"
        if not front_end.is_dir():
            self.skipTest("scripts/fetch-tileiras.sh was not run")
        with tempfile.TemporaryDirectory() as folder:
            path = f"{GPU / 'packer'}:{front_end}:{ROOT / '.tools' / 'python'}"
            tools.run(sys.executable, GPU / "packer" / "export.py", folder, *entries(), env={"PYTHONPATH": path})
            for name in entries():
                self.assertEqual(pathlib.Path(folder, f"{name}.tileirbc").read_bytes(),
                                 (SAMPLES / f"{name}.tileirbc").read_bytes(), name)

    def test_our_images_are_right_on_small_cases(self):
        with tempfile.TemporaryDirectory() as folder:
            pack, out = pathlib.Path(folder, "pack"), pathlib.Path(folder, "out")
            (pack / "peers").mkdir(parents=True)

            def image(e):
                ptx = pack / "peers" / f"{e.name}.ptx"
                tools.run(tools.built("tileiras"), SAMPLES / f"{e.name}.tileirbc", "--gpu-name=sm_90", "-O3",
                          "--emit=ptx", "-o", ptx)
                return {**e.fields(), "who": "ours", "symbol": e.name, "same_as": None, "ptx": f"peers/{ptx.name}",
                        "cubin": f"peers/{e.name}.cubin",
                        "block": parts.required_block(ptx.read_text(), e.name), "sha256": "0" * 64}

            images = tools.parallel(image, entries().values(), 2)
            (pack / "peers" / "index.json").write_text(json.dumps(images))
            code, found, said = kit(pack, out, what="families", timeout=600)
            passed = {r["name"] for r in found if r["record"] == "case" and r["status"] == "pass"}
            # What follows another is no case of its own.
            self.assertEqual((code, passed), (0, {e["name"] for e in images} - {e["then"] for e in images}), said)


class References(unittest.TestCase):
    """What is expected of small cases."""

    def cases(self):
        for e in entries().values():
            if e.kind in problems.KINDS:
                yield e, problems.small(e.fields())

    def test_they_find_what_is_wrong(self):
        """Results as expected are right; with one element zero, or never written, they are wrong."""
        for e, p in self.cases():
            with self.subTest(e.name):
                values = small.made(p)
                self.assertIsNotNone(small.check(p, values), "nothing was written")
                out = self.fill(p, values)
                self.assertIsNone(small.check(p, values))
                data = out[-1].data
                at = np.unravel_index(np.nanargmax(np.abs(small.numbers()(out[-1]))), data.shape)
                data[at] = 0
                self.assertIsNotNone(small.check(p, values), "one element is zero")

    @staticmethod
    def fill(p, values):
        """Puts what is expected into the result."""
        from kit import dtypes
        result = values[p.result]
        out = result.items if isinstance(result, ArrayList) else [result]
        inputs = {name: a.items if isinstance(a, ArrayList) else a for name, a in values.items()}
        for unit in range(p.units):
            rows = np.arange(p.rows(unit))
            place, want = p.place(unit, rows), p.want(small.numbers(), inputs, unit, rows)
            if isinstance(result, ArrayList):
                out[place[0]].data[place[1:]] = dtypes.encode(out[place[0]].dtype, want)
            else:
                out[0].data[place] = dtypes.encode(out[0].dtype, want)
        return out

    def test_predictions_know_all_launches(self):
        """The file that the timing model reads has every parameter of every launch."""
        with tempfile.TemporaryDirectory() as folder:
            launches.write(pathlib.Path(folder))
            cases = json.loads(pathlib.Path(folder, "launches.json").read_text())
        self.assertEqual({c["name"] for c in cases}, {p.name for p in problems.problems() if p.kind != "copy"})
        for c in cases:
            for steps in c["variants"].values():
                self.assertTrue(all(set(s["parameters"]) <= set(c["parameters"]) for s in steps))
            self.assertTrue(c["flop"] or c["bytes"], c["name"])
