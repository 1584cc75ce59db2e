//! Where a loop is split, as arithmetic that knows nothing of MLIR: the test runs it on all numbers of eight bits.
//!
//! The split point is the first value of the induction variable, `lower + k*step`, for which the condition has its
//! second value:
//!
//! | condition | before the split | first value after it |
//! |---|---|---|
//! | `i < bound` | true | bound |
//! | `i <= bound` | true | bound + 1 |
//! | `i > bound` | false | bound + 1 |
//! | `i >= bound` | false | bound |
//!
//! rounded up to a value that the induction variable takes. The loops are `[lower, min(point, upper))` and
//! `[max(point, lower), upper)`.
//!
//! `bound + 1` and the rounding can leave the range of the type, and would then send iterations to the wrong loop. When
//! all that takes part is known, the numbers are checked here and the plain formulas are used. Otherwise the same point
//! is computed inside of [lower, upper], where nothing overflows:
//!
//! * `bound + 1` as `min(bound, upper - 1) + 1`;
//! * with `s` clamped to [lower, upper] and `r = (s - lower) mod step`, unsigned, the next value is `s` if r is 0, else
//!   `s + min(step - r, upper - s)`.
//!
//! An empty loop (upper <= lower) makes nonsense of both, and stays empty: the `min` with `upper` and the `max` with
//! `lower` leave nothing in either loop.

/// Where integers of one width come from: operations that are built, or numbers that are computed.
pub trait Arithmetic {
    type Value: Copy;
    type Error;
    fn constant(&self, v: i64) -> Result<Self::Value, Self::Error>;
    fn add(&self, a: Self::Value, b: Self::Value) -> Result<Self::Value, Self::Error>;
    fn sub(&self, a: Self::Value, b: Self::Value) -> Result<Self::Value, Self::Error>;
    fn mul(&self, a: Self::Value, b: Self::Value) -> Result<Self::Value, Self::Error>;
    fn min(&self, a: Self::Value, b: Self::Value, signed: bool) -> Result<Self::Value, Self::Error>;
    fn max(&self, a: Self::Value, b: Self::Value, signed: bool) -> Result<Self::Value, Self::Error>;
    /// Quotient, rounded up.
    fn ceil_div(&self, a: Self::Value, b: Self::Value, signed: bool) -> Result<Self::Value, Self::Error>;
    fn unsigned_rem(&self, a: Self::Value, b: Self::Value) -> Result<Self::Value, Self::Error>;
    /// 0 if the first is 0, else the second.
    fn unless_zero(&self, test: Self::Value, other: Self::Value) -> Result<Self::Value, Self::Error>;
}

/// A loop, and where its condition changes.
pub struct Bounds<V> {
    pub lower: V,
    pub upper: V,
    pub step: V,
    pub bound: V,
    /// The condition changes after the bound and not at it.
    pub after: bool,
    pub signed: bool,
}

/// The values of [`Bounds`] that are constants, as the loop compares them, and the width of their type.
#[derive(Clone, Copy)]
pub struct Known {
    pub lower: Option<i128>,
    pub step: Option<i128>,
    pub bound: Option<i128>,
    pub width: u32,
}

impl<V: Copy> Bounds<V> {
    /// Greatest number of the type.
    fn most(&self, known: &Known) -> i128 {
        (1 << (known.width - u32::from(self.signed))) - 1
    }

    /// Whether the condition never has its second value, whatever the loop.
    pub fn never_changes(&self, known: &Known) -> bool {
        self.after && known.bound == Some(self.most(known))
    }

    /// Whether the plain formulas stay inside of the type.
    fn is_plain(&self, known: &Known) -> bool {
        let (after, most) = (i128::from(self.after), self.most(known));
        match (known.step, known.bound, known.lower) {
            (Some(1), Some(bound), _) => bound + after <= most,
            (Some(1), None, _) => !self.after,
            (Some(step), Some(bound), Some(lower)) => {
                let distance = bound + after - lower;
                // The product is at most `step` more than the distance; a negative distance is only right where
                // division is signed.
                let fits = distance + step <= most && lower + distance + step <= most;
                fits && if self.signed { distance >= -most } else { distance >= 0 }
            }
            _ => false,
        }
    }

    /// Ends of the first loop and start of the second.
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

    /// Numbers of eight bits, which wrap.
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

    /// Values of the induction variable; the variable itself does not overflow, as in a program that is defined.
    fn values(lower: u8, upper: u8, step: u8, signed: bool) -> Vec<i128> {
        (value(lower, signed)..value(upper, signed)).step_by(step.into()).collect()
    }

    /// Interesting numbers of eight bits: around the ends of both ranges, and some between.
    fn corners() -> Vec<u8> {
        let mut list: Vec<u8> =
            [0u8, 128].iter().flat_map(|m| (0..6).flat_map(|d| [m.wrapping_add(d), m.wrapping_sub(d)])).collect();
        list.extend((0..=255).step_by(17));
        list.sort_unstable();
        list.dedup();
        list
    }

    /// With `TILEIRAS_TEST_FULL` each bound there is, otherwise the corners and what lies about the loop's ends.
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
                            // The constants decide on the formula, never on the result.
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
