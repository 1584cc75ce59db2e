"""The competitors' cases and variants: what fits what, and how it is launched."""
import unittest

from . import GPU  # noqa: F401
import numpy as np

from kit.peers import libraries, problems, triton_peers
from kit.peers.attention import Attention, Packed, Split, Window
from kit.peers.products import Gathered, Lists, Product, Ragged, SplitK, Weights4
from kit.peers.rows import LayerNorm, Softmax, VectorAdd
from packer import variants


ENTRIES = {e.name: e for e in variants.entries()}


def entry(name):
    return {**ENTRIES[name].fields(), "who": "vendor", "block": [256, 1, 1], "same_as": None}


class Cases(unittest.TestCase):
    def test_names_are_unique(self):
        for names in ([p.name for p in problems.problems()], [e.name for e in variants.entries()]):
            self.assertEqual(len(names), len(set(names)))

    def test_every_case_but_copies_has_images_a_library_and_options_of_triton(self):
        entries = [entry(name) for name in ENTRIES]
        for p in problems.problems():
            self.assertIn(p.kind, libraries.WAYS)
            if p.kind != "copy":
                self.assertTrue(any(problems.fits(e, p) for e in entries), p.name)
                self.assertTrue(triton_peers.options(p), p.name)

    def test_every_image_has_a_case(self):
        """Or follows one that has."""
        cases = problems.problems()
        behind = {e.then for e in ENTRIES.values()}
        for name in ENTRIES:
            self.assertTrue(name in behind or any(problems.fits(entry(name), p) for p in cases), name)

    def test_rates(self):
        mm = Product("bf16", 1, 8192, 8192, 8192)
        # 2 * 8192^3 operations in 1.4 ms.
        self.assertAlmostEqual(mm.rate(1400), 785.37, places=1)
        self.assertEqual(mm.unit, "TFLOP/s")
        self.assertEqual(Attention("bf16", 1, 2, 16, 8192, 128, causal=True).flop, 0.5 * 4 * 2 * 16 * 8192 ** 2 * 128)
        self.assertAlmostEqual(VectorAdd("f32", 1, 1 << 28).rate(1000), 3221.2, places=1)
        # Rows see 1, 2, 3 and then 4 keys; on the left side of the band as under a diagonal, half of those of the
        # triangle's edge count.
        self.assertEqual(Window("bf16", 1, 1, 1, 8, 16, group=1, window=4).pairs, 24)

    def test_names_are_those_of_earlier_runs(self):
        """Results are found again by them."""
        names = {p.name for p in problems.problems()}
        for name in ("copy u8 4294967296", "mm bf16 8192x8192x8192 nt", "mm bf16 8192x8192x8192 nn",
                     "attention bf16 b2 h16 d128 s8192",
                     "attention bf16 b1 h16 d128 s16384 causal", "softmax bf16 65536x4096",
                     "layernorm bf16 16384x16384", "vadd f32 268435456"):
            self.assertIn(name, names)

    def test_promises_are_kept(self):
        odd, even = Product("bf16", 3, 1000, 3000, 4096), Product("bf16", 2, 4096, 4096, 4096)
        table = [("mm_bf16_nt_128x128x64", odd, False), ("mm_bf16_nt_128x128x64_any", odd, True),
                 ("mm_bf16_nt_128x128x64", even, True),
                 ("mm_bf16_nt_128x128x64_any", even, False), ("mm_bf16_nn_128x128x64", even, False),
                 ("mm_fp16_nt_128x256x64", even, False),
                 ("attention_128_causal_128x64", Attention("bf16", 1, 1, 1, 1024, 128, True), True),
                 ("attention_128_causal_128x64", Attention("bf16", 1, 1, 1, 1024, 128), False),
                 ("attention_64_128x128", Attention("bf16", 1, 1, 1, 1000, 64), False),
                 ("softmax_4096", Softmax("bf16", 1, 10, 4096), True),
                 ("softmax_4096", LayerNorm("bf16", 1, 10, 4096), False),
                 ("softmax_4096", Softmax("bf16", 1, 10, 1024), False),
                 ("mm_w4_16x128x128", Weights4("bf16", 1, 16, 256, 256), True),
                 ("mm_w4_16x128x128", Weights4("bf16", 1, 256, 256, 256), False)]
        for name, problem, good in table:
            self.assertEqual(problems.fits(entry(name), problem), good, (name, problem.name))
        self.assertFalse(problems.fits({**entry("mm_bf16_nt_128x128x64"), "same_as": "other"}, even))

    def test_grids(self):
        p = Product("bf16", 1, 1000, 3000, 64)
        table = [("mm_bf16_nt_128x128x64_any", p, [(8 * 24, 1, 1)]), ("mm_bf16_nt_128x256x64_p", p, [(96, 1, 1)]),
                 ("mm_bf16_nt_64x256x64_p", p, [(132, 1, 1)]),
                 ("mm_bf16_nt_128x256x64_c2", p, [(96, 1, 1), (192, 1, 1)]),
                 ("mm_bf16_nt_128x256x64_p_c2", p, [(66, 1, 1), (132, 1, 1)]),
                 ("attention_64_128x64", Attention("bf16", 1, 2, 16, 1024, 64), [(8, 32, 1)]),
                 ("vadd_2048", VectorAdd("f32", 1, 1 << 20), [(512, 1, 1)]),
                 ("softmax_1024", Softmax("bf16", 1, 7, 1024), [(7, 1, 1)]),
                 ("mm_splitk_128x128x64", SplitK("bf16", 1, 128, 512, 1024, 4), [(4, 4, 1)]),
                 ("mm_lists_128x128x64", Lists("bf16", 1, ((200, 128, 64), (64, 256, 64))), [(4, 1, 1)])]
        for name, problem, want in table:
            self.assertEqual(problem.grids(entry(name), 132), want, name)

    def test_a_launch_behind_another(self):
        first, second = Split("bf16", 1, 1, 8, 8, 4096).steps(entry("attention_split_16x64"), 132)
        self.assertEqual((first.entry, first.grids), ("attention_split_16x64", [(8, 32, 1)]))
        self.assertEqual((second.entry, second.grids, second.parameters),
                         ("attention_combine", [(8, 8, 1)], ("part", "sums", "out")))

    def test_rows_that_are_shared_out(self):
        """All rows belong to somebody, once."""
        packed, ragged, gathered = Packed("bf16", 1, 5, 4, 1000, 64, group=2), Ragged("bf16", 1, 1000, 64, 64,
                                                                                      7), Gathered("bf16", 1, 1000, 64,
                                                                                                   64, 7, 2)
        self.assertEqual((packed.lengths.sum(), len(packed.starts), packed.starts[-1]), (1000, 6, 1000))
        self.assertEqual((ragged.counts.sum(), ragged.ends[-1]), (1000, 1000))
        slots, real = gathered.rows_of_slots, gathered.rows_of_slots < gathered.tokens
        self.assertEqual(len(slots), gathered.SLOTS * len(gathered.experts_of_blocks))
        self.assertEqual(real.sum(), 1000)
        # Each of 500 tokens has two experts.
        tokens, times = np.unique(slots[real], return_counts=True)
        self.assertEqual((len(tokens), set(times)), (500, {2}))
        chosen = {(token, gathered.experts_of_blocks[slot // gathered.SLOTS]) for slot,
                  token in enumerate(slots) if token < gathered.tokens}
        self.assertEqual(len(chosen), 1000)

    def test_blocks(self):
        e = entry("vadd_1024")
        self.assertEqual(problems.blocks(e), [(1, 1, 1), (256, 1, 1)])
        self.assertEqual(problems.blocks({**e, "who": "ours"}), [(256, 1, 1)])
