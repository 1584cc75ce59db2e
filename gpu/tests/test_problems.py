"""The competitors' cases and variants: what fits what, and how it is launched."""
import unittest

from . import GPU  # noqa: F401
from kit.peers import problems, triton_peers
from kit.peers.problems import Problem
from packer import variants


def entry(name):
    e = next(e for e in variants.entries() if e.name == name)
    return {**e.fields(), "who": "vendor", "block": [256, 1, 1], "same_as": None}


class Cases(unittest.TestCase):
    def test_names_are_unique(self):
        for names in ([p.name for p in problems.problems()], [e.name for e in variants.entries()]):
            self.assertEqual(len(names), len(set(names)))

    def test_every_case_but_copies_has_images_and_options_of_triton(self):
        entries = [entry(e.name) for e in variants.entries()]
        for p in problems.problems():
            if p.kind != "copy":
                self.assertTrue(any(problems.fits(e, p) for e in entries), p.name)
                self.assertTrue(triton_peers.options(p), p.name)

    def test_rates(self):
        mm = Problem("mm", "bf16", (8192, 8192, 8192), 1)
        # 2 * 8192^3 operations in 1.4 ms.
        self.assertAlmostEqual(mm.rate(1400), 785.37, places=1)
        self.assertEqual(mm.unit, "TFLOP/s")
        self.assertEqual(Problem("attention", "bf16", (2, 16, 8192, 128), 1, causal=True).flop, 0.5 * 4 * 2 * 16 * 8192 ** 2 * 128)
        self.assertAlmostEqual(Problem("vadd", "f32", (1 << 28,), 1).rate(1000), 3221.2, places=1)

    def test_promises_are_kept(self):
        odd, even = Problem("mm", "bf16", (1000, 3000, 4096), 3), Problem("mm", "bf16", (4096, 4096, 4096), 2)
        table = [("mm_bf16_nt_128x128x64", odd, False), ("mm_bf16_nt_128x128x64_any", odd, True), ("mm_bf16_nt_128x128x64", even, True),
                 ("mm_bf16_nt_128x128x64_any", even, False), ("mm_bf16_nn_128x128x64", even, False), ("mm_fp16_nt_128x256x64", even, False),
                 ("attention_128_causal_128x64", Problem("attention", "bf16", (1, 1, 1024, 128), 1, causal=True), True),
                 ("attention_128_causal_128x64", Problem("attention", "bf16", (1, 1, 1024, 128), 1), False),
                 ("attention_64_128x128", Problem("attention", "bf16", (1, 1, 1000, 64), 1), False),
                 ("softmax_4096", Problem("softmax", "bf16", (10, 4096), 1), True), ("softmax_4096", Problem("layernorm", "bf16", (10, 4096), 1), False)]
        for name, problem, good in table:
            self.assertEqual(problems.fits(entry(name), problem), good, (name, problem.name))
        self.assertFalse(problems.fits({**entry("mm_bf16_nt_128x128x64"), "same_as": "other"}, even))

    def test_grids(self):
        p = Problem("mm", "bf16", (1000, 3000, 64), 1)
        table = [("mm_bf16_nt_128x128x64_any", p, [(8 * 24, 1, 1)]), ("mm_bf16_nt_128x256x64_p", p, [(96, 1, 1)]),
                 ("mm_bf16_nt_64x256x64_p", p, [(132, 1, 1)]), ("mm_bf16_nt_128x256x64_c2", p, [(96, 1, 1), (192, 1, 1)]),
                 ("mm_bf16_nt_128x256x64_p_c2", p, [(66, 1, 1), (132, 1, 1)]),
                 ("attention_64_128x64", Problem("attention", "bf16", (2, 16, 1024, 64), 1), [(8, 32, 1)]),
                 ("vadd_2048", Problem("vadd", "f32", (1 << 20,), 1), [(512, 1, 1)]), ("softmax_1024", Problem("softmax", "bf16", (7, 1024), 1), [(7, 1, 1)])]
        for name, problem, want in table:
            self.assertEqual(problems.grids(entry(name), problem, 132), want, name)

    def test_blocks(self):
        e = entry("vadd_1024")
        self.assertEqual(problems.blocks(e), [(1, 1, 1), (256, 1, 1)])
        self.assertEqual(problems.blocks({**e, "who": "ours"}), [(256, 1, 1)])
