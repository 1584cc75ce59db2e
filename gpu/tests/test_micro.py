"""Micro-kernels: assembled without complaints of ptxas, and run on the simulated device with a few steps."""
import concurrent.futures
import pathlib
import tempfile
import unittest

from . import GPU  # noqa: F401
from .help import tile_run
from kit.device import DeviceError, Image
from kit.micro import ptx
from kit.micro.registry import ALL
from kit.micro.spec import Reading, Setup, per_step, rate
from kit.sim_device import SimDevice
from packer import parts, tools

SMALL = Setup(2, False)


def jobs(chosen):
    """One launch for each entry: the first variant's or contender's, with its longest short length."""
    seen = set()
    for m in chosen:
        for v in m.variants():
            if v.entry not in seen:
                seen.add(v.entry)
                length = v.short[-1]
                yield m, v.name, v.launch(SMALL, length), lambda launch, found, v=v, n=length: v.check(SMALL, n, launch, found)
        for c in (c for group in m.contenders() for c in group):
            if c.entry not in seen:
                seen.add(c.entry)
                launch = c.launches(SMALL)[0]
                yield m, c.name, launch, lambda launch, found, c=c: c.check(SMALL, launch, found)


class Kernels(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.pack = pathlib.Path(folder.name)
        # Assembles all of them; ptxas' remarks and missing instructions are errors.
        parts.micro(cls.pack, 2)

    def run_all(self, schedule, chosen):
        device = SimDevice(tile_run(), schedule)

        def one(job):
            m, name, launch, check = job
            try:
                complaint = check(launch, device.run(Image(ptx=self.pack / "micro" / f"{m.id}.ptx"), launch).arrays)
            except DeviceError as e:
                complaint = str(e)
            return f"{name}: {complaint}" if complaint else None

        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            return [c for c in pool.map(one, jobs(chosen)) if c]

    def test_each_entry_gives_the_right_result(self):
        self.assertEqual(self.run_all(None, ALL.values()), [])

    def test_no_deadlock_and_no_race_under_an_unfavourable_schedule(self):
        # Those with several agents; the large ones of the others take long and have one.
        self.assertEqual(self.run_all("7", [ALL[m] for m in ("M2", "M5", "M6", "M7", "M8", "M12")]), [])

    def test_a_wrong_result_is_noticed(self):
        variant = ALL["M1"].variants()[0]
        launch = variant.launch(SMALL, 3)
        found = SimDevice(tile_run()).run(Image(ptx=self.pack / "micro" / "M1.ptx"), launch).arrays
        self.assertIsNone(variant.check(SMALL, 3, launch, found))
        found[3][0].flat[5] += 1
        self.assertRegex(variant.check(SMALL, 3, launch, found), r"d of warpgroup 0\[\d+, \d+\].*1 of 4096 are wrong")


class Figures(unittest.TestCase):
    def test_every_question_has_predictions_with_reasons(self):
        self.assertEqual(list(ALL), [f"M{n}" for n in range(1, 15)])
        names = []
        for m in ALL.values():
            self.assertTrue(m.question.endswith("?"), m.id)
            figures = [f for v in m.variants() for f in v.figures] + [c.figure for group in m.contenders() for c in group]
            self.assertTrue(figures, m.id)
            for f in figures:
                self.assertTrue(f.low <= f.predicted <= f.high and f.unit and len(f.why) > 6, f)
            names += [f.name for f in figures]
        self.assertEqual(len(names), len(set(names)))

    def test_variants_launch_entries_that_exist_and_fit_a_block(self):
        for m in ALL.values():
            entries = {e.name: e for e in m.entries()}
            for v in m.variants():
                launch = v.launch(SMALL, v.short[0])
                self.assertEqual(launch.entry, v.entry)
                self.assertEqual(launch.block, (entries[v.entry].threads, 1, 1), v.name)
                self.assertLessEqual(launch.dynamic_shared, 226 * 1024, v.name)
                self.assertEqual(len(launch.args), len(entries[v.entry].params), v.name)

    def test_slopes_and_rates(self):
        import numpy as np
        readings = [Reading(n, np.array([[100, 100 + 60 + 32 * n, 90, 95 + 40 * n, 0, 0, 0, 0]], np.uint64)) for n in (4, 8, 16)]
        found = per_step("clk", 0.25, overhead="over")(readings)
        self.assertAlmostEqual(found["clk"], 8)
        self.assertAlmostEqual(found["over"], 60)
        self.assertAlmostEqual(rate("B/clk", 320)(readings)["B/clk"], 10)
        self.assertAlmostEqual(readings[0].clocks((0, 1)), 288 - 90)

    def test_ptx_is_the_same_each_time(self):
        for m in ALL.values():
            self.assertEqual(ptx.module(m.entries()), ptx.module(m.entries()))

    def test_a_complaint_of_ptxas_is_an_error(self):
        with tempfile.TemporaryDirectory() as folder:
            text = pathlib.Path(folder, "x.ptx")
            # An accumulator that is touched between two products: ptxas says that it puts them one after the other.
            good = ptx.module([e for e in ALL["M1"].entries() if e.name == "m1_ss_n64"])
            lines = good.splitlines()
            second = [i for i, line in enumerate(lines) if "wgmma.mma_async" in line][1]
            register = lines[second].split("{")[1].split(",")[0]
            lines.insert(second, f"\tadd.f32 {register}, {register}, {register};")
            text.write_text("\n".join(lines) + "\n")
            with self.assertRaisesRegex(tools.ToolError, "C75"):
                tools.assemble(text, pathlib.Path(folder, "x.cubin"), strict=True)
