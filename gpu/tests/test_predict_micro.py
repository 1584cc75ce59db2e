"""Micro-kernels through the timing model: their clocks are predicted, and figures derived as on hardware."""
import contextlib
import io
import json
import pathlib
import re
import tempfile
import unittest

from . import GPU
from .help import tile_run
import predict_micro
from kit.micro import ptx
from kit.micro.registry import ALL
from kit.device import Image
from kit.model_device import ModelDevice


def predicted(*arguments):
    """Status, table, complaints, and the page."""
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
        page = pathlib.Path(folder, "page.md")
        status = predict_micro.main([*arguments, "--tile-run", str(tile_run()), "--out", str(page)])
        return status, out.getvalue(), err.getvalue(), page.read_text() if page.is_file() else ""


class Predicted(unittest.TestCase):
    def test_what_no_number_was_taken_from(self):
        # Two warpgroups at once, and a load of more boxes than was measured for the model.
        known = predict_micro.given("sm_90")
        self.assertIn("wgmma.bf16.ss.n256.clk", known)
        for only, figures in (("m2_", 3), ("m3_16kb_b2_d1_l2_one", 1), ("m14_4waves", 1)):
            status, table, said, page = predicted("--only", only)
            self.assertEqual((status, said), (0, ""))
            rows = [line.split("\t") for line in table.splitlines()]
            self.assertEqual(len(rows), figures)
            for _, figure, _, _, _, ratio in rows:
                self.assertNotIn(figure, known)
                self.assertLess(abs(float(ratio) - 1), predict_micro.NEAR, figure)
                self.assertIn(f"`{figure}`", page)
            self.assertIn(f"{figures} of {figures} figures", page)

    def test_what_the_model_refuses_is_told(self):
        status, table, said, page = predicted("--only", "m12_multicast_pair")
        self.assertEqual((status, table), (1, ""))
        self.assertIn("wait for each other", said)
        self.assertRegex(page, r"Not predicted:\n\n\* M12, `m12_multicast_pair`: ")

    def test_rows(self):
        row = predict_micro.Row("M1", "a.b", 1.05, 1.0, "clk")
        self.assertTrue(row.is_near)
        self.assertFalse(predict_micro.Row("M1", "a.b", 1.05, 0.9, "clk").is_near)
        self.assertTrue(predict_micro.Row("M8", "a.b", 0.0, 0.0, "B/clk").is_near)
        self.assertFalse(predict_micro.Row("M8", "a.b", 0.1, 0.0, "B/clk").is_near)

    def test_the_page_is_of_the_figures_that_there_are(self):
        measured = json.loads(sorted((GPU / "results").glob("*.json"))[-1].read_text())["constants"]
        page = sorted((GPU.parent / "docs" / "results").glob("timing-micro-*.md"))[-1].read_text()
        found = set(re.findall(r"^\| M\d+ \| `([^`]+)` \|", page, re.MULTILINE))
        missing = set(measured) - found
        # What belongs to variants that could not be predicted, and what no micro-kernel measures.
        self.assertLessEqual(missing, {"cluster.multicast.pair.rate", "cluster.multicast.all.rate"})

    def test_results_are_right_as_well(self):
        m, v = ALL["M5"], ALL["M5"].variants()[0]
        with tempfile.TemporaryDirectory() as folder:
            text = pathlib.Path(folder, "m5.ptx")
            text.write_text(ptx.module(m.entries()))
            device, setup = ModelDevice(tile_run(), "sm_90", 132), predict_micro.Setup(132, True)
            launch = v.launch(setup, 16)
            outcome = device.run(Image(ptx=text), launch)
            self.assertIsNone(v.check(setup, 16, launch, outcome.arrays))
            self.assertFalse(device.measures)
