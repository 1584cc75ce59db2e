"""The results file, and what becomes of one that was cut off."""
import pathlib
import tempfile
import unittest

from . import GPU  # noqa: F401
from kit import records

GOOD = {"record": "measurement", "part": "micro", "name": "x", "impl": "v", "unit": "clk", "median": 2, "low": 1, "high": 3, "n": 3}


class Log(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name, "results.jsonl")
        self.log = records.Log(self.path, "sim")
        self.addCleanup(self.log.close)

    def test_every_record_is_there_at_once(self):
        self.log.write({"record": "case", "part": "p", "name": "a", "status": "pass"})
        found, bad = records.read(self.path)
        self.assertEqual((len(found), bad), (1, 0))
        self.assertEqual(found[0]["device"], "sim")
        self.log.write(GOOD)
        self.assertEqual(len(records.read(self.path)[0]), 2)
        self.assertEqual(self.log.counts, {"pass": 1, "measurement": 1})

    def test_a_line_that_was_cut_off_is_dropped(self):
        self.log.write(GOOD)
        with open(self.path, "a") as file:
            file.write('{"record":"case","na')
        self.assertEqual([len(x) if isinstance(x, list) else x for x in records.read(self.path)], [1, 1])

    def test_records_that_do_not_say_enough(self):
        table = [
            ({"record": "nonsense"}, "unknown kind"),
            ({"record": "case", "part": "p", "name": "a"}, "'status' is missing"),
            ({"record": "case", "part": "p", "name": "a", "status": "fine"}, "status 'fine'"),
            ({"record": "case", "part": "p", "name": "a", "status": "fail"}, "without 'what'"),
            ({**GOOD, "median": 5}, "outside its range"),
        ]
        for record, message in table:
            with self.assertRaisesRegex(records.BadRecord, message):
                self.log.write(record)
        self.assertEqual(records.read(self.path)[0], [])
