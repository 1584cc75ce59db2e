//! One element: its bits, and how far the language determines them.
//!
//! A legal compiler may produce other bits than the interpreter: a NaN with another payload, a sine that is off in
//! its last place, or anything for a masked-off element. To make results comparable anyway, every element carries a
//! [`Certainty`], which ops propagate. If an op could amplify the difference without a known bound (such as a
//! comparison of two values that may be equal), its result is unknown.
//!
//! The bits are always one legal result, even for an unknown element, so callers that only run a program can ignore
//! the certainty.

use crate::format::{self, Real, Specials, decode};
use crate::types::{Element, Number};

/// How much is known about an element.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Certainty {
    /// Exactly these bits.
    Exact,
    /// This number within the given error in units of its last place; zeros of either sign; any NaN for a NaN. Around
    /// zero the units are tiny: terms that cancel can have an error of more than 2^128 units.
    Near(f64),
    /// These bits or any others.
    Unknown,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scalar {
    pub bits: u64,
    pub certainty: Certainty,
}

impl Scalar {
    pub fn exact(bits: u64) -> Scalar {
        Scalar { bits, certainty: Certainty::Exact }
    }

    /// An element whose bits are one of many possible results.
    pub fn unknown(bits: u64) -> Scalar {
        Scalar { bits, certainty: Certainty::Unknown }
    }

    pub fn bool(b: bool) -> Scalar {
        Scalar::exact(b.into())
    }

    /// A NaN, whose bits the language does not define. In a format without NaN the result is unknown.
    pub fn nan(n: Number) -> Scalar {
        match format::format(n) {
            Some(f) if f.specials == Specials::None => Scalar::unknown(0),
            _ => Scalar { bits: format::nan(n), certainty: Certainty::Near(0.0) },
        }
    }

    pub fn is_unknown(self) -> bool {
        self.certainty == Certainty::Unknown
    }

    /// The same bits, treated as exact.
    pub fn assumed(self) -> Scalar {
        Scalar::exact(self.bits)
    }

    /// Whether the number is known only approximately. A NaN counts as known, whatever its bits.
    pub fn is_approximate(self, n: Number) -> bool {
        matches!(self.certainty, Certainty::Near(_)) && !decode(self.bits, n).is_nan()
    }

    /// Whether a correct implementation may have computed `got` for this element.
    pub fn admits(self, got: u64, element: Element) -> bool {
        match (self.certainty, element) {
            (Certainty::Unknown, _) => true,
            (Certainty::Near(ulps), Element::Number(n)) if n.is_float() => near(self.bits, got, n, ulps),
            _ => self.bits == got,
        }
    }
}

/// The distance to a number's neighbors, as a power of two. For zero, that of the smallest numbers.
pub fn last_place(x: Real, n: Number) -> i32 {
    let Some(f) = format::format(n) else { return -127 };
    match x {
        Real::Finite(x) => (x.magnitude() - f.mantissa_bits as i32).max(f.smallest_exponent()),
        Real::Infinite { .. } => decode(f.largest(), n).magnitude_or(0) - f.mantissa_bits as i32,
        Real::Zero { .. } | Real::Nan => f.smallest_exponent(),
    }
}

impl Real {
    fn magnitude_or(self, other: i32) -> i32 {
        match self {
            Real::Finite(x) => x.magnitude(),
            _ => other,
        }
    }
}

/// Whether `got` is within `ulps` units in the last place of `want`. Infinity is one unit above the largest number.
fn near(want: u64, got: u64, n: Number, ulps: f64) -> bool {
    let (w, g) = (decode(want, n), decode(got, n));
    if w.is_nan() || g.is_nan() {
        return w.is_nan() && g.is_nan();
    }
    let Some(f) = format::format(n) else { return want == got };
    // The rank among all numbers of the format.
    let rank = |bits: u64| {
        let magnitude = (bits & f.magnitude_mask()) as i128;
        if bits & f.sign_bit() != 0 { -magnitude } else { magnitude }
    };
    if (rank(want) - rank(got)).unsigned_abs() as f64 <= ulps {
        return true;
    }
    if matches!(w, Real::Infinite { .. }) || matches!(g, Real::Infinite { .. }) {
        return false;
    }
    // Across powers of two the unit is that of the expected number.
    let difference = format::add(g, w.negate(), format::Round::NearestEven).to_f64();
    difference.abs() <= ulps * power(last_place(w, n))
}

/// `2^e`, including subnormal results.
pub fn power(e: i32) -> f64 {
    Real::finite(false, 1, e).to_f64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_states_admit() {
        let f = |x: f32| u64::from(x.to_bits());
        let e = Element::Number(Number::F32);
        let near = |x: f32, ulps: f64| Scalar { bits: f(x), certainty: Certainty::Near(ulps) };
        let table = [
            (Scalar::exact(f(1.0)), f(1.0), true),
            (Scalar::exact(f(0.0)), f(-0.0), false),
            (near(0.0, 0.0), f(-0.0), true),
            (near(1.0, 1.0), f(1.0).wrapping_add(1), true),
            (near(1.0, 1.0), f(1.0) - 1, true),
            // Below a power of two, numbers are half as far apart.
            (near(1.0, 1.0), f(1.0) - 2, true),
            (near(1.0, 1.0), f(1.0) - 3, false),
            (near(1.0, 1.0), f(1.0) + 2, false),
            (near(f32::NAN, 0.0), 0xff80_0001, true),
            (near(f32::NAN, 9.0), f(1.0), false),
            (near(1.0, 9.0), f(f32::NAN), false),
            (near(f32::INFINITY, 1.0), f(f32::MAX), true),
            (near(f32::INFINITY, 1.0), f(-f32::MAX), false),
            (near(f32::MAX, 1.0), f(f32::INFINITY), true),
            (near(f32::from_bits(1), 1.0), 0x8000_0000, true),
            (Scalar::unknown(0), 77, true),
        ];
        for (scalar, got, good) in table {
            assert_eq!(scalar.admits(got, e), good, "{scalar:?} {got:#x}");
        }
    }
}
