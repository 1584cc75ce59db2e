"""Pages, summaries and constants, from lines that were made up for this: gpu/tests/samples/invented-results.jsonl."""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

from . import GPU
from kit import records, summary
from reporting import page, plots, series

SAMPLE = GPU / "tests" / "samples" / "invented-results.jsonl"


class Pages(unittest.TestCase):
    def setUp(self):
        self.found, self.bad = records.read(SAMPLE)
        self.text = page.page(self.found, self.bad, {}, SAMPLE.name)

    def test_the_sample_is_made_of_good_records(self):
        self.assertEqual([p for r in self.found for p in records.problems(r)], [])
        self.assertEqual(self.bad, 1)

    def test_it_says_on_what_and_how(self):
        for text in ("Sample GPU (invented), 10 multiprocessors", "0.0 (API 0)", "`run.py all (invented sample)`", "`0000sample0000`",
                     "SM 1100 MHz (1000 to 1200)", "38 in `invented-results.jsonl`, 1 of them damaged"):
            self.assertIn(text, self.text)
        self.assertNotIn("simulated device", self.text)

    def test_each_figure_has_its_line_and_binary(self):
        row = next(line for line in self.text.splitlines() if "4096x4096x4096" in line and "tileiras-vendor" in line)
        self.assertEqual(row, "| mm bf16 4096x4096x4096 nt | tileiras-vendor | 190 TFLOP/s | 171 to 209 | 0.950 | sample_w8 | 0.001 | `dddd1111` | 1100 | 16 |")
        # The quick figure of the other variant is higher, and is not what counts.
        self.assertNotIn("sample_w4", self.text)

    def test_failures_and_what_is_missing_are_listed(self):
        self.assertIn("1 of 2 programs of the corpus are right.", self.text)
        self.assertIn("| program | -O3 |\n|---|---|\n| sample_a | pass |\n| sample_b | **fail** |\n", self.text)
        self.assertIn("| sample_b -O3 | fail | result | argument 1[0, 3]: 2.0, expected 3.0; 1 of 8 are wrong | `cccc0000` | 7 |", self.text)
        self.assertIn("| sample_hang | timeout | run | WATCHDOG not done after 20 s |  | 8 |", self.text)
        self.assertIn("| peers: mm bf16 1000x1000x1000 nt | skipped | budget", self.text)

    def test_predictions_that_failed_say_why_they_were_made(self):
        self.assertIn("9 constants; 2 are not as predicted.", self.text)
        self.assertIn("* `sync.mbarrier.edge`: an invented reason for a prediction that failed.", self.text)

    def test_tensor_copies_are_listed_by_kind(self):
        rows = [{"record": "tensor_copy", "op": "store", "element": "u8", "at": at, "aligned": at[0] % 16 == 0, "outcome": outcome, "code_name": code, "line": n}
                for n, (at, outcome, code) in enumerate([([0, 0], "right", ""), ([-16, 0], "refused", "ILLEGAL"), ([16, 0], "right", ""), ([1, 0], "refused", "ILLEGAL")], 40)]
        text = page.page(self.found + rows, 0, {}, "x")
        self.assertIn("| store | u8 | yes | 2 right; 1 refused at [[-16, 0]] | ILLEGAL | 40 to 42 |\n| store | u8 | no | 1 refused | ILLEGAL | 43 to 43 |", text)

    def test_simulated_results_say_so(self):
        found = [{**r, "device": "sim"} for r in self.found]
        self.assertIn("Nothing here is a measurement", page.page(found, 0, {}, "x"))

    def test_curves(self):
        curves = series.curves(self.found)
        self.assertEqual(sorted(curves), ["micro.load_latency", "micro.roof", "peers.mm", "peers.softmax"])
        self.assertEqual([(p.x, p.y) for p in curves["peers.mm"]["ours"]], [(2048, 50), (4096, 100), (8192, 150)])
        self.assertEqual(series.peer_place("mm bf16 8192x8192x1024 nt"), ("peers.mm_depth", 1024))
        self.assertEqual(series.peer_place("attention bf16 b2 h16 d128 s8192 causal"), ("peers.attention_causal", 8192))
        self.assertIsNone(series.peer_place("mm bf16 1000x3000x4096 nt"))
        self.assertEqual(set(series.TITLES), set(series.AXES))

    def test_the_command_writes_a_page_and_pictures_if_it_can(self):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder, "page.md")
            done = subprocess.run([sys.executable, GPU / "report.py", SAMPLE, "--out", out], capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            text = out.read_text()
            drawn = sorted(p.name for p in out.with_suffix("").glob("*.png")) if out.with_suffix("").is_dir() else []
            if drawn:
                self.assertEqual(drawn, ["micro-load_latency.png", "micro-roof.png", "peers-mm.png", "peers-softmax.png"])
                self.assertIn("](page/peers-mm.png)", text)
                self.assertEqual((out.with_suffix("") / "peers-mm.png").read_bytes()[:8], b"\x89PNG\r\n\x1a\n")
            else:
                self.assertIn("matplotlib is missing", done.stderr)
                self.assertNotIn("](page/", text)

    def test_a_file_without_a_run_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "x.jsonl")
            path.write_text('{"record":"end"}\n')
            done = subprocess.run([sys.executable, GPU / "report.py", path], capture_output=True, text=True)
            self.assertEqual(done.returncode, 1)
            self.assertIn("does not begin with a run", done.stderr)


class Summaries(unittest.TestCase):
    def test_the_text(self):
        found, _ = records.read(SAMPLE)
        text = summary.table(found)
        for line in ("reqntid              1      refused (CUDA_ERROR_INVALID_VALUE)", "micro: 9 figures, 2 outside the predicted range",
                     "FAIL     correctness/sample_b -O3  result  argument 1[0, 3]: 2.0, expected 3.0; 1 of 8 are wrong",
                     "correctness: 1 fail, 1 pass; ptx: 1 timeout; peers: 1 skipped; 20 s"):
            self.assertIn(line, text)
        self.assertIn("cut off", summary.table([r for r in found if r["record"] != "end"]))

    def test_constants_are_of_a_gpu_only(self):
        found, _ = records.read(SAMPLE)
        with tempfile.TemporaryDirectory() as folder:
            path = summary.write_constants(found, pathlib.Path(folder))
            self.assertEqual(path.name, "sample-gpu-invented-2000-01-01.json")
            data = json.loads(path.read_text())
            self.assertEqual(len(data["constants"]), 9)
            constant = data["constants"]["sync.mbarrier.edge"]
            self.assertEqual((constant["value"], constant["unit"], constant["predicted"], constant["as_predicted"], constant["by"], constant["binary"]),
                             (200, "clk", 60, False, "M5", "ffff0000"))
            self.assertEqual(data["clocks"]["sm_mhz"]["median"], 1100)
            simulated = [{**r, "device": "sim"} for r in found]
            self.assertIsNone(summary.write_constants(simulated, pathlib.Path(folder)))


class Pictures(unittest.TestCase):
    def test_the_same_results_make_the_same_bytes(self):
        found, _ = records.read(SAMPLE)
        with tempfile.TemporaryDirectory() as a, tempfile.TemporaryDirectory() as b:
            drawn = plots.draw(series.curves(found), pathlib.Path(a))
            if not drawn:
                self.skipTest("matplotlib is not installed")
            plots.draw(series.curves(found), pathlib.Path(b))
            for file in drawn.values():
                self.assertEqual(pathlib.Path(a, file).read_bytes(), pathlib.Path(b, file).read_bytes())
