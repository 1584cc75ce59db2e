"""Attributes of cubins, on images that ptxas makes here."""
import pathlib
import tempfile
import unittest

from . import GPU  # noqa: F401
from kit import launch_abi
from packer import elf, tools


class Attributes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as folder:
            text, cubin = pathlib.Path(folder, "probe.ptx"), pathlib.Path(folder, "probe.cubin")
            text.write_text(launch_abi.probe_ptx(launch_abi.PROBES["reqntid_clusters"][0]))
            tools.assemble(text, cubin)
            cls.image = cubin.read_bytes()

    def test_what_ptxas_writes(self):
        self.assertEqual(elf.language(self.image, "probe"), elf.PTX)
        self.assertEqual(elf.extents(self.image, "probe", elf.REQNTID), (128, 1, 1))
        self.assertEqual(elf.extents(self.image, "probe", elf.CLUSTER), (1, 1, 1))
        self.assertIn(".text.probe", [s.name for s in elf.sections(self.image)])

    def test_another_language_and_nothing_else(self):
        patched = elf.with_language(self.image, "probe", elf.TILEIR)
        self.assertEqual(elf.language(patched, "probe"), elf.TILEIR)
        self.assertEqual([i for i, (a, b) in enumerate(zip(self.image, patched)) if a != b],
                         [next(a.offset for a in elf.attributes(self.image, "probe") if a.code == elf.LANGUAGE)])
        self.assertEqual(elf.code_of(patched), elf.code_of(self.image))

    def test_cuobjdump_reads_what_was_written(self):
        with tempfile.TemporaryDirectory() as folder:
            for value, name in ((elf.PTX, "PTX"), (elf.TILEIR, "TILEIR")):
                cubin = pathlib.Path(folder, "x.cubin")
                cubin.write_bytes(elf.with_language(self.image, "probe", value))
                self.assertRegex(tools.run(tools.find("cuobjdump"), "-elf", cubin).stdout, rf"EIATTR_LANGUAGE\s+Format:\s+\w+\s+Value:\s+Language:\s+{name}\s")

    def test_what_is_no_cubin(self):
        for image in (b"", b"hello", self.image[:40], b"\x7fELF\x02" + bytes(100), self.image[:len(self.image) // 2]):
            with self.assertRaises(elf.BadCubin):
                elf.language(image, "probe")
        with self.assertRaisesRegex(elf.BadCubin, "no attributes of a kernel 'other'"):
            elf.language(self.image, "other")
