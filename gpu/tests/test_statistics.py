"""Statistics of measurements."""
import unittest

from . import GPU  # noqa: F401
from kit import stats


class Summaries(unittest.TestCase):
    def test_known_samples(self):
        table = [
            ([5], (5, 5, 5, 5, 5)),
            ([1, 2], (1.5, 1, 2, 1.25, 1.75)),
            ([3, 1, 2], (2, 1, 3, 1.5, 2.5)),
            ([1, 2, 3, 100], (2.5, 1, 100, 1.75, 27.25)),
        ]
        for values, want in table:
            s = stats.summary(values)
            self.assertEqual((s.median, s.low, s.high, s.q1, s.q3), want, values)
            self.assertEqual(s.n, len(values))

    def test_what_is_no_sample(self):
        for values in ([], [1, float("nan")], [float("inf")]):
            with self.assertRaises(ValueError):
                stats.summary(values)

    def test_rates_turn_the_ends_round(self):
        s = stats.summary([1, 2, 4]).map(lambda us: 8 / us)
        self.assertEqual((s.low, s.q1, s.median, s.q3, s.high), (2, 8 / 3, 4, 16 / 3, 8))

    def test_spread_is_the_quartiles_share(self):
        self.assertEqual(stats.summary([1, 2, 3]).spread, 0.5)
        self.assertEqual(stats.summary([0, 0]).spread, 0)


class Lines(unittest.TestCase):
    def test_slope_and_intercept(self):
        fitted = stats.line([(16, 60 + 32 * 16), (64, 60 + 32 * 64), (256, 60 + 32 * 256)])
        self.assertAlmostEqual(fitted.slope, 32)
        self.assertAlmostEqual(fitted.intercept, 60)
        self.assertLess(fitted.residual, 1e-6)

    def test_a_bend_shows_in_the_residual(self):
        self.assertGreater(stats.line([(1, 1), (2, 2), (3, 9)]).residual, 1)

    def test_one_length_is_no_line(self):
        with self.assertRaises(ValueError):
            stats.line([(4, 1), (4, 2)])


class Comparisons(unittest.TestCase):
    def test_noise_is_not_a_difference(self):
        a, b = stats.summary([10, 11, 12, 13]), stats.summary([11, 12, 13, 14])
        self.assertFalse(stats.distinguishable(a, b))
        self.assertTrue(stats.distinguishable(a, stats.summary([20, 21, 22])))

    def test_interleaved_ratios_cancel_what_both_meet(self):
        clocks = [1.0, 0.9, 0.7, 0.95]
        ours, theirs = [100 / c for c in clocks], [110 / c for c in clocks]
        s = stats.paired_ratio(theirs, ours)
        self.assertAlmostEqual(s.low, 1.1)
        self.assertAlmostEqual(s.high, 1.1)
        with self.assertRaises(ValueError):
            stats.paired_ratio([1], [1, 2])
