"""Compilations in this process, by the C library in the package or next to the programs in `TILEIRAS_BIN`."""
from __future__ import annotations

import pathlib
import threading
import unittest

import tileiras
from tileiras._library import load_library

ROOT = pathlib.Path(__file__).resolve().parents[2]
RELU, VADD = ROOT / "examples" / "relu_f32.mlir", ROOT / "tests" / "corpus" / "vadd_f32.13.1.tileirbc"


class Library(unittest.TestCase):
    def test_both_ways_give_the_same(self):
        self.assertIsNotNone(load_library())
        for source in (RELU, RELU.read_text(), VADD.read_bytes()):
            for emit in ("cuda-tile", "tileaa", "tileas", "llvm", "ptx", "cubin"):
                for more in ({}, {"remarks": True}, {"numerics": "pinned", "opt_level": 1}, {"numerics": "portable"}):
                    with self.subTest(emit=emit, more=more):
                        here = tileiras.compile(source, target="sm_90", emit=emit, child=False, **more)
                        self.assertEqual(here, tileiras.compile(source, target="sm_90", emit=emit, child=True, **more))
        self.assertEqual(len(tileiras.compile(RELU, target="sm_90", remarks=True, child=False).remarks), 2)
        self.assertGreater(tileiras.compile(RELU, target="sm_90", child=False).kernels["relu_f32"].registers, 0)

    def test_errors_have_the_same_types(self):
        bad = "cuda_tile.module @m {\n  nonsense\n}\n"
        table = [
            (bad, {}, tileiras.InputError, "input.mlir:2:3: error: custom op 'nonsense' is unknown"),
            (b"hello", {}, tileiras.InputError, "input does not correspond to Tile IR bytecode"),
            (VADD.read_bytes()[:300], {}, tileiras.InputError, "error at offset 184: section length"),
            (RELU, {"target": "sm_1"}, tileiras.ConfigurationError, "the target is sm_1, but must be one of 80, 86, "),
            (RELU, {"target": "gpu"}, tileiras.ConfigurationError, "target 'gpu' is unknown"),
            (RELU, {"emit": "sass"}, tileiras.ConfigurationError, "level 'sass' is unknown"),
            (RELU, {"opt_level": 4}, tileiras.ConfigurationError, "opt_level is 4, but must be from 0 to 3"),
            (RELU, {"numerics": "exact"}, tileiras.ConfigurationError, "numerics 'exact' is unknown"),
            (RELU, {"ptxas": "/no/such/ptxas"}, tileiras.ToolError, "looked for '/no/such/ptxas' (the argument ptxas)"),
        ]
        for source, more, kind, message in table:
            with self.subTest(message), self.assertRaises(kind) as caught:
                tileiras.compile(source, child=False, **{"target": "sm_90", **more})
            self.assertIn(message, str(caught.exception))
            self.assertNotRegex(str(caught.exception), "tileirasProgram|--ptxas|--emit")
            with self.assertRaises((kind, tileiras.InputError)):
                tileiras.compile(source, child=True, **{"target": "sm_90", **more})

    def test_what_only_the_command_does(self):
        for more in ({"emit": "obj"}, {"options": ["--lineinfo"]}):
            with self.assertRaisesRegex(tileiras.ToolError, "cannot run in this process"):
                tileiras.compile(RELU, target="sm_90", child=False, **more)
            self.assertTrue(tileiras.compile(RELU, target="sm_90", **more).data.startswith(b"\x7fELF"))

    def test_threads_hear_their_own_messages(self):
        heard: dict[int, str] = {}

        def compile_bad(n: int) -> None:
            try:
                tileiras.compile(f"cuda_tile.module @m {{\n  bad{n}\n}}\n", child=False)
            except tileiras.InputError as error:
                heard[n] = str(error)

        threads = [threading.Thread(target=compile_bad, args=[n]) for n in range(16)]
        [t.start() for t in threads]
        [t.join() for t in threads]
        for n in range(16):
            self.assertIn(f"'bad{n}' is unknown", heard[n])
            self.assertEqual(heard[n].count("is unknown"), 1)


if __name__ == "__main__":
    unittest.main()
