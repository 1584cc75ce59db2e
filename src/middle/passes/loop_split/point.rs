//! Computes the point at which a loop is split. The arithmetic is independent of MLIR; the test runs it on 8-bit
//! numbers.
//!
//! The split point is the first value of the induction variable, `lower + k*step`, at which the condition changes:
//!
//! | condition | before the split | first value after it |
//! |---|---|---|
//! | `i < bound` | true | bound |
//! | `i <= bound` | true | bound + 1 |
//! | `i > bound` | false | bound + 1 |
//! | `i >= bound` | false | bound |
//!
//! This value is rounded up to a value that the induction variable takes. The two loops are `[lower, min(point,
//! upper))` and `[max(point, lower), upper)`.
//!
//! `bound + 1` and the rounding can overflow and would then assign iterations to the wrong loop. If all inputs are
//! constants, the ranges are checked at compile time and the plain formulas are used. Otherwise the same point is
//! computed within [lower, upper], where nothing overflows:
//!
//! * `bound + 1` as `min(bound, upper - 1) + 1`;
//! * with `s` clamped to [lower, upper] and `r = (s - lower) mod step`, unsigned, the next value is `s` if r is 0,
//!   and otherwise `s + min(step - r, upper - s)`.
//!
//! For an empty loop (upper <= lower) both formulas are meaningless, but the loops stay empty: the `min` with `upper`
//! and the `max` with `lower` leave both without iterations.

/// Arithmetic on integers of one width: builds operations, or computes numbers.
pub trait Arithmetic {
    type Value: Copy;
    type Error;
    fn constant(&self, v: i64) -> Result<Self::Value, Self::Error>;
    fn add(&self, a: Self::Value, b: Self::Value) -> Result<Self::Value, Self::Error>;
    fn sub(&self, a: Self::Value, b: Self::Value) -> Result<Self::Value, Self::Error>;
    fn mul(&self, a: Self::Value, b: Self::Value) -> Result<Self::Value, Self::Error>;
    fn min(&self, a: Self::Value, b: Self::Value, signed: bool) -> Result<Self::Value, Self::Error>;
    fn max(&self, a: Self::Value, b: Self::Value, signed: bool) -> Result<Self::Value, Self::Error>;
    /// Divides, rounding up.
    fn ceil_div(&self, a: Self::Value, b: Self::Value, signed: bool) -> Result<Self::Value, Self::Error>;
    fn unsigned_rem(&self, a: Self::Value, b: Self::Value) -> Result<Self::Value, Self::Error>;
    /// Returns 0 if `test` is 0, and `other` otherwise.
    fn unless_zero(&self, test: Self::Value, other: Self::Value) -> Result<Self::Value, Self::Error>;
}

/// A loop and the bound at which its condition changes.
pub struct Bounds<V> {
    pub lower: V,
    pub upper: V,
    pub step: V,
    pub bound: V,
    /// Whether the condition changes after the bound instead of at it.
    pub after: bool,
    pub signed: bool,
}

/// The values of [`Bounds`] that are constants, with the signedness of the loop's comparison, and the width of their
/// type.
#[derive(Clone, Copy)]
pub struct Known {
    pub lower: Option<i128>,
    pub step: Option<i128>,
    pub bound: Option<i128>,
    pub width: u32,
}

impl<V: Copy> Bounds<V> {
    /// Returns the greatest number of the type.
    fn most(&self, known: &Known) -> i128 {
        (1 << (known.width - u32::from(self.signed))) - 1
    }

    /// Whether the condition never changes in any loop.
    pub fn never_changes(&self, known: &Known) -> bool {
        self.after && known.bound == Some(self.most(known))
    }

    /// Whether the plain formulas stay within the type.
    fn is_plain(&self, known: &Known) -> bool {
        let (after, most) = (i128::from(self.after), self.most(known));
        match (known.step, known.bound, known.lower) {
            (Some(1), Some(bound), _) => bound + after <= most,
            (Some(1), None, _) => !self.after,
            (Some(step), Some(bound), Some(lower)) => {
                let distance = bound + after - lower;
                // The product exceeds the distance by at most `step`. A negative distance is only correct with signed
                // division.
                let fits = distance + step <= most && lower + distance + step <= most;
                fits && if self.signed { distance >= -most } else { distance >= 0 }
            }
            _ => false,
        }
    }

    /// Returns the end of the first loop and the start of the second.
    pub fn split<A: Arithmetic<Value = V>>(&self, a: &A, known: &Known) -> Result<(V, V), A::Error> {
        let Bounds { lower, upper, step, bound, after, signed } = *self;
        let mut point = bound;
        if self.is_plain(known) {
            if after {
                point = a.add(point, a.constant(1)?)?;
            }
            if known.step != Some(1) {
                let steps = a.ceil_div(a.sub(point, lower)?, step, signed)?;
                point = a.add(lower, a.mul(steps, step)?)?;
            }
        } else {
            if after {
                let one = a.constant(1)?;
                point = a.add(a.min(point, a.sub(upper, one)?, signed)?, one)?;
            }
            if known.step != Some(1) {
                let clamped = a.min(a.max(point, lower, signed)?, upper, signed)?;
                let rest = a.unsigned_rem(a.sub(clamped, lower)?, step)?;
                let missing = a.min(a.sub(step, rest)?, a.sub(upper, clamped)?, false)?;
                point = a.add(clamped, a.unless_zero(rest, missing)?)?;
            }
        }
        Ok((a.min(point, upper, signed)?, a.max(point, lower, signed)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    /// 8-bit numbers, which wrap.
    struct Bits;

    fn compare(a: u8, b: u8, signed: bool) -> std::cmp::Ordering {
        if signed { (a as i8).cmp(&(b as i8)) } else { a.cmp(&b) }
    }

    impl Arithmetic for Bits {
        type Value = u8;
        type Error = Infallible;
        fn constant(&self, v: i64) -> Result<u8, Infallible> {
            Ok(v as u8)
        }
        fn add(&self, a: u8, b: u8) -> Result<u8, Infallible> {
            Ok(a.wrapping_add(b))
        }
        fn sub(&self, a: u8, b: u8) -> Result<u8, Infallible> {
            Ok(a.wrapping_sub(b))
        }
        fn mul(&self, a: u8, b: u8) -> Result<u8, Infallible> {
            Ok(a.wrapping_mul(b))
        }
        fn min(&self, a: u8, b: u8, signed: bool) -> Result<u8, Infallible> {
            Ok(if compare(a, b, signed).is_lt() { a } else { b })
        }
        fn max(&self, a: u8, b: u8, signed: bool) -> Result<u8, Infallible> {
            Ok(if compare(a, b, signed).is_gt() { a } else { b })
        }
        fn ceil_div(&self, a: u8, b: u8, signed: bool) -> Result<u8, Infallible> {
            let (x, y) = (value(a, signed), value(b, signed));
            Ok((x.div_euclid(y) + i128::from(x.rem_euclid(y) != 0)) as u8)
        }
        fn unsigned_rem(&self, a: u8, b: u8) -> Result<u8, Infallible> {
            Ok(a % b)
        }
        fn unless_zero(&self, test: u8, other: u8) -> Result<u8, Infallible> {
            Ok(if test == 0 { 0 } else { other })
        }
    }

    fn value(v: u8, signed: bool) -> i128 {
        if signed { i128::from(v as i8) } else { v.into() }
    }

    /// Returns the values of the induction variable. The variable does not overflow, as in any defined program.
    fn values(lower: u8, upper: u8, step: u8, signed: bool) -> Vec<i128> {
        (value(lower, signed)..value(upper, signed)).step_by(step.into()).collect()
    }

    /// Returns interesting 8-bit numbers: around the ends of both ranges, and some in between.
    fn corners() -> Vec<u8> {
        let mut list: Vec<u8> =
            [0u8, 128].iter().flat_map(|m| (0..6).flat_map(|d| [m.wrapping_add(d), m.wrapping_sub(d)])).collect();
        list.extend((0..=255).step_by(17));
        list.sort_unstable();
        list.dedup();
        list
    }

    /// Checks all bounds with `TILEIRAS_TEST_FULL`, and otherwise the corners and the values near the loop's ends.
    #[test]
    fn every_iteration_is_in_its_loop() {
        let corners = corners();
        let full = std::env::var_os("TILEIRAS_TEST_FULL").is_some_and(|v| v != "0");
        let mut checked = 0u64;
        for signed in [false, true] {
            for step in [1, 2, 3, 7, 64, 127] {
                for (&lower, &upper) in corners.iter().flat_map(|l| corners.iter().map(move |u| (l, u))) {
                    let all = values(lower, upper, step, signed);
                    let near = |end: u8| [0, 1, 2, step, step + 1].map(|d| [end.wrapping_add(d), end.wrapping_sub(d)]);
                    let ends = [lower, upper].into_iter().flat_map(near).flatten();
                    let mut bounds: Vec<u8> = ends.chain(corners.iter().copied()).collect();
                    if full {
                        bounds = (0..=255).collect();
                    }
                    bounds.sort_unstable();
                    bounds.dedup();
                    for bound in bounds {
                        for after in [false, true] {
                            let bounds = Bounds { lower, upper, step, bound, after, signed };
                            // The constants select the formula but never change the result.
                            for what in 0..8 {
                                let known = Known {
                                    lower: (what & 1 != 0).then(|| value(lower, signed)),
                                    step: (what & 2 != 0).then(|| value(step, signed)),
                                    bound: (what & 4 != 0).then(|| value(bound, signed)),
                                    width: 8,
                                };
                                if bounds.never_changes(&known) {
                                    continue;
                                }
                                let Ok((end, start)) = bounds.split(&Bits, &known);
                                let first = values(lower, end, step, signed);
                                let second = values(start, upper, step, signed);
                                let is_first = |i: &&i128| **i < value(bound, signed) + i128::from(after);
                                let n = all.iter().take_while(is_first).count();
                                assert!(
                                    first == all[..n] && second == all[n..],
                                    "[{lower}, {upper}) by {step}, bound {bound}, after {after}, signed {signed}, known {what:03b}"
                                );
                                checked += 1;
                            }
                        }
                    }
                }
            }
        }
        assert!(checked > 1_000_000);
    }
}
