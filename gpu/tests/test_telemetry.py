"""Samples of clocks and power."""
import math
import json
import pathlib
import tempfile
import unittest

from . import GPU  # noqa: F401
from kit.telemetry import Telemetry, digest, parse_sample


class Samples(unittest.TestCase):
    def test_lines_of_nvidia_smi(self):
        self.assertEqual(parse_sample("1980, 2619, 345.12, 45, 0x0000000000000004\n"),
                         {"sm_mhz": 1980, "memory_mhz": 2619, "watt": 345.12, "celsius": 45, "reasons": 4})
        self.assertEqual(parse_sample("1980, [N/A], 345.12, 45, Not Active"), {"sm_mhz": 1980, "watt": 345.12, "celsius": 45})
        for line in ("", "No devices were found", "a, b, c, d, e"):
            self.assertIsNone(parse_sample(line))

    def test_digest(self):
        d = digest([{"at": 1, "sm_mhz": 1000, "reasons": 1}, {"at": 2, "sm_mhz": 2000, "reasons": 4}, {"at": 3, "watt": 5}])
        self.assertEqual(d, {"n": 3, "sm_mhz": {"low": 1000, "median": 1500, "high": 2000}, "watt": {"low": 5, "median": 5, "high": 5}, "reasons": 5})

    def test_samples_since_a_time(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "telemetry.jsonl")
            t = Telemetry(path, gpu=False)
            self.assertEqual(t.whole(), {})
            t.add({"sm_mhz": 100})
            first = t._samples[0]["at"]
            t.add({"sm_mhz": 300})
            self.assertEqual(t.since(math.nextafter(first, math.inf))["clocks"]["sm_mhz"]["low"], 300)
            self.assertEqual(t.whole()["clocks"]["n"], 2)
            t.close()
            self.assertEqual(len([json.loads(line) for line in path.read_text().splitlines()]), 2)

    def test_without_a_gpu_there_are_facts_and_no_samples(self):
        with tempfile.TemporaryDirectory() as folder:
            t = Telemetry(pathlib.Path(folder, "t.jsonl"), gpu=True)
            t.close()
            self.assertIsInstance(t.facts(), dict)
