//! Floating-point formats and exact arithmetic.
//!
//! [`decode`] splits a number into sign, significand and exponent. Arithmetic on these is exact, and [`encode`]
//! rounds the result once. 128 bits suffice for exact results, because bits far below the result's last place only
//! matter by being nonzero. [`Finite::sticky`] records that: the true magnitude is strictly between `significand` and
//! `significand + 1`, in units of `2^exponent`.
//!
//! ```text
//! f32: 1.5 + 2^-100      significand 3 << 124, sticky    rounds down to 1.5, rounds up to 1.5 + 2^-23
//! f32: 1 / 3             significand of 64 bits, sticky  the quotient never ends
//! ```
//!
//! A sticky significand always has many more bits than any format keeps, so a half is never mistaken for less or
//! more.

use crate::types::Number;

/// A binary format with an exponent and a mantissa.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    pub is_signed: bool,
    pub exponent_bits: u32,
    pub mantissa_bits: u32,
    pub specials: Specials,
}

/// The meaning of the largest codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Specials {
    /// The top exponent encodes infinity and NaNs.
    Ieee,
    /// The code with all bits set is NaN; there is no infinity.
    NanOnly,
    /// Every code is a finite number.
    None,
}

/// The format of a float type; `None` for integers and for e8m0, which lacks sign and mantissa.
pub fn format(n: Number) -> Option<Format> {
    let make = |exponent_bits, mantissa_bits, specials| {
        Some(Format { is_signed: n != Number::E5m3, exponent_bits, mantissa_bits, specials })
    };
    match n {
        Number::F16 => make(5, 10, Specials::Ieee),
        Number::Bf16 => make(8, 7, Specials::Ieee),
        Number::Tf32 => make(8, 10, Specials::Ieee),
        Number::F32 => make(8, 23, Specials::Ieee),
        Number::F64 => make(11, 52, Specials::Ieee),
        Number::E4m3 => make(4, 3, Specials::NanOnly),
        Number::E5m2 => make(5, 2, Specials::Ieee),
        Number::E5m3 => make(5, 3, Specials::NanOnly),
        Number::E2m1 => make(2, 1, Specials::None),
        _ => None,
    }
}

impl Format {
    fn bias(self) -> i32 {
        (1 << (self.exponent_bits - 1)) - 1
    }

    /// The mask of the sign bit; zero for an unsigned format.
    pub fn sign_bit(self) -> u64 {
        if self.is_signed { self.magnitude_mask() + 1 } else { 0 }
    }

    /// The mask of exponent and mantissa.
    pub fn magnitude_mask(self) -> u64 {
        (1 << (self.exponent_bits + self.mantissa_bits)) - 1
    }

    /// The code of the largest finite magnitude.
    pub fn largest(self) -> u64 {
        match self.specials {
            Specials::Ieee => (((1 << self.exponent_bits) - 1) << self.mantissa_bits) - 1,
            Specials::NanOnly => self.magnitude_mask() - 1,
            Specials::None => self.magnitude_mask(),
        }
    }

    /// The exponent of the last place of subnormal numbers and of the smallest normal numbers.
    pub fn smallest_exponent(self) -> i32 {
        1 - self.bias() - self.mantissa_bits as i32
    }
}

/// Rounding modes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Round {
    NearestEven,
    NearestAway,
    Zero,
    Down,
    Up,
}

/// A decoded number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Real {
    Nan,
    Infinite { negative: bool },
    Zero { negative: bool },
    Finite(Finite),
}

/// The magnitude is `significand * 2^exponent`, or slightly more if `sticky`. The significand is not zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Finite {
    pub negative: bool,
    pub significand: u128,
    pub exponent: i32,
    pub sticky: bool,
}

impl Finite {
    /// The exponent of the leading bit.
    pub fn magnitude(self) -> i32 {
        self.exponent + 127 - self.significand.leading_zeros() as i32
    }
}

impl Real {
    pub fn finite(negative: bool, significand: u128, exponent: i32) -> Real {
        match significand {
            0 => Real::Zero { negative },
            _ => Real::Finite(Finite { negative, significand, exponent, sticky: false }),
        }
    }

    pub fn is_nan(self) -> bool {
        self == Real::Nan
    }

    /// Whether the sign is set; NaN counts as positive.
    pub fn negative(self) -> bool {
        match self {
            Real::Nan => false,
            Real::Infinite { negative } | Real::Zero { negative } => negative,
            Real::Finite(f) => f.negative,
        }
    }

    pub fn negate(self) -> Real {
        match self {
            Real::Nan => Real::Nan,
            Real::Infinite { negative } => Real::Infinite { negative: !negative },
            Real::Zero { negative } => Real::Zero { negative: !negative },
            Real::Finite(f) => Real::Finite(Finite { negative: !f.negative, ..f }),
        }
    }

    /// Rounds to double precision, which represents every number of every format.
    pub fn to_f64(self) -> f64 {
        f64::from_bits(encode(self, Number::F64, Round::NearestEven).bits)
    }

    pub fn from_f64(x: f64) -> Real {
        decode(x.to_bits(), Number::F64)
    }
}

/// The number that a code represents. Integer types do not have codes; they decode to NaN.
pub fn decode(bits: u64, n: Number) -> Real {
    if n == Number::E8m0 {
        return if bits == 255 { Real::Nan } else { Real::finite(false, 1, bits as i32 - 127) };
    }
    let Some(f) = format(n) else { return Real::Nan };
    let negative = bits & f.sign_bit() != 0;
    let magnitude = bits & f.magnitude_mask();
    if magnitude > f.largest() {
        let infinite = f.specials == Specials::Ieee && magnitude == f.largest() + 1;
        return if infinite { Real::Infinite { negative } } else { Real::Nan };
    }
    let mantissa = magnitude & ((1 << f.mantissa_bits) - 1);
    let biased = (magnitude >> f.mantissa_bits) as i32;
    let (significand, steps) = if biased == 0 { (mantissa, 0) } else { (mantissa | 1 << f.mantissa_bits, biased - 1) };
    Real::finite(negative, significand.into(), f.smallest_exponent() + steps)
}

/// A code, and the information that rounding lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Encoded {
    pub bits: u64,
    /// Whether the code represents a number other than the operand.
    pub inexact: bool,
    /// Whether rounding increased the magnitude from below the smallest normal number to at least that number.
    pub grew_normal: bool,
}

/// The code of a quiet NaN, or of the largest number in a format without NaN.
pub fn nan(n: Number) -> u64 {
    match (n, format(n)) {
        (Number::E8m0, _) => 255,
        (_, Some(f)) => match f.specials {
            Specials::Ieee => f.largest() + 1 + (1 << (f.mantissa_bits - 1)),
            Specials::NanOnly | Specials::None => f.magnitude_mask(),
        },
        (_, None) => 0,
    }
}

/// Rounds to a format. A magnitude above the largest number becomes infinity, or NaN in a format without infinity,
/// unless it is rounded toward zero. e2m1, which has neither, returns its largest number. An unsigned format drops
/// the sign, so callers that care check it first.
pub fn encode(x: Real, n: Number, round: Round) -> Encoded {
    let exact = |bits| Encoded { bits, inexact: false, grew_normal: false };
    if n == Number::E8m0 {
        return scale(x, round);
    }
    let Some(f) = format(n) else { return exact(0) };
    let sign = |negative: bool| if negative { f.sign_bit() } else { 0 };
    let beyond = match f.specials {
        Specials::Ieee | Specials::NanOnly => f.largest() + 1,
        Specials::None => f.largest(),
    };
    let x = match x {
        Real::Nan => return exact(nan(n)),
        Real::Zero { negative } => return exact(sign(negative)),
        Real::Infinite { negative } => {
            let inexact = f.specials != Specials::Ieee;
            return Encoded { bits: beyond | sign(negative), inexact, grew_normal: false };
        }
        Real::Finite(x) => x,
    };
    let normal = f.smallest_exponent() + f.mantissa_bits as i32;
    // The exponent of the result's last place.
    let last = x.magnitude().max(normal) - f.mantissa_bits as i32;
    let dropped = last - x.exponent;
    let (mut kept, half, rest) = if dropped <= 0 {
        debug_assert!(!x.sticky && -dropped <= x.significand.leading_zeros() as i32);
        (x.significand << -dropped, false, x.sticky)
    } else if dropped > 128 {
        (0, false, true)
    } else {
        let shifted = |by: i32| if by >= 128 { 0 } else { x.significand >> by };
        let below = dropped - 1;
        let low = x.significand - (shifted(below) << below.min(127));
        (shifted(dropped), shifted(below) & 1 == 1, low != 0 || x.sticky)
    };
    let inexact = half || rest;
    let up = match round {
        Round::NearestEven => half && (rest || kept & 1 == 1),
        Round::NearestAway => half,
        Round::Zero => false,
        Round::Down => inexact && x.negative,
        Round::Up => inexact && !x.negative,
    };
    let was_subnormal = x.magnitude() < normal;
    kept += u128::from(up);
    // The leading bit of the significand carries into the exponent, as does the carry from rounding.
    let steps = (last - f.smallest_exponent()) as u64;
    let code = (steps << f.mantissa_bits) + kept as u64;
    let grew_normal = was_subnormal && code >> f.mantissa_bits != 0;
    if code <= f.largest() {
        return Encoded { bits: code | sign(x.negative), inexact, grew_normal };
    }
    let away = match round {
        Round::NearestEven | Round::NearestAway => true,
        Round::Zero => false,
        Round::Down => x.negative,
        Round::Up => !x.negative,
    };
    let code = if away { beyond } else { f.largest() };
    Encoded { bits: code | sign(x.negative), inexact: true, grew_normal: false }
}

/// A power of two as its biased exponent. The sign is dropped and zero becomes the smallest power; callers that care
/// check for them first.
fn scale(x: Real, round: Round) -> Encoded {
    let x = match x {
        Real::Nan | Real::Infinite { .. } => {
            return Encoded { bits: 255, inexact: !x.is_nan(), grew_normal: false };
        }
        Real::Zero { .. } => return Encoded { bits: 0, inexact: true, grew_normal: false },
        Real::Finite(x) => x,
    };
    let power = x.significand.is_power_of_two() && !x.sticky;
    let code = x.magnitude() + 127 + i32::from(!power && round == Round::Up);
    let inexact = !power || !(0..=254).contains(&code);
    let most = if round == Round::Zero { 254 } else { 255 };
    Encoded { bits: code.clamp(0, most) as u64, inexact, grew_normal: false }
}

/// The exact sum. The sign of a zero sum depends on the rounding mode.
pub fn add(a: Real, b: Real, round: Round) -> Real {
    match (a, b) {
        (Real::Nan, _) | (_, Real::Nan) => Real::Nan,
        (Real::Infinite { negative: x }, Real::Infinite { negative: y }) if x != y => Real::Nan,
        (Real::Infinite { .. }, _) => a,
        (_, Real::Infinite { .. }) => b,
        (Real::Zero { negative: x }, Real::Zero { negative: y }) => {
            Real::Zero { negative: if x == y { x } else { round == Round::Down } }
        }
        (Real::Zero { .. }, _) => b,
        (_, Real::Zero { .. }) => a,
        (Real::Finite(x), Real::Finite(y)) => sum(x, y, round),
    }
}

fn sum(x: Finite, y: Finite, round: Round) -> Real {
    let (large, small) = if x.magnitude() >= y.magnitude() { (x, y) } else { (y, x) };
    // The leading bit of the larger operand moves to bit 125. That leaves room for a carry, and many more bits below
    // than any format keeps.
    let up = large.significand.leading_zeros() as i32 - 2;
    let (wide, exponent) = if up >= 0 {
        (large.significand << up, large.exponent - up)
    } else {
        debug_assert!(false, "significands have at most 126 bits");
        (large.significand, large.exponent)
    };
    let down = exponent - small.exponent;
    let (narrow, lost) = match down {
        ..=0 => (small.significand << -down, false),
        1..=127 => (small.significand >> down, small.significand & ((1 << down) - 1) != 0),
        _ => (0, true),
    };
    let sticky = lost || small.sticky || large.sticky;
    if x.negative == y.negative {
        return Real::Finite(Finite { negative: large.negative, significand: wide + narrow, exponent, sticky });
    }
    // The lost bits belong to the subtrahend, so the difference is rounded down by one unit and marked sticky.
    let taken = narrow + u128::from(lost);
    let (negative, significand) =
        if wide >= taken { (large.negative, wide - taken) } else { (!large.negative, taken - wide) };
    match significand {
        0 if !sticky => Real::Zero { negative: round == Round::Down },
        _ => Real::Finite(Finite { negative, significand, exponent, sticky }),
    }
}

/// The exact product.
pub fn mul(a: Real, b: Real) -> Real {
    let negative = a.negative() != b.negative();
    match (a, b) {
        (Real::Nan, _) | (_, Real::Nan) => Real::Nan,
        (Real::Infinite { .. }, Real::Zero { .. }) | (Real::Zero { .. }, Real::Infinite { .. }) => Real::Nan,
        (Real::Infinite { .. }, _) | (_, Real::Infinite { .. }) => Real::Infinite { negative },
        (Real::Zero { .. }, _) | (_, Real::Zero { .. }) => Real::Zero { negative },
        // Significands of decoded numbers have at most 53 bits.
        (Real::Finite(x), Real::Finite(y)) => {
            Real::finite(negative, x.significand * y.significand, x.exponent + y.exponent)
        }
    }
}

/// The quotient with enough bits for rounding.
pub fn div(a: Real, b: Real) -> Real {
    let negative = a.negative() != b.negative();
    match (a, b) {
        (Real::Nan, _) | (_, Real::Nan) => Real::Nan,
        (Real::Infinite { .. }, Real::Infinite { .. }) | (Real::Zero { .. }, Real::Zero { .. }) => Real::Nan,
        (Real::Infinite { .. }, _) | (_, Real::Zero { .. }) => Real::Infinite { negative },
        (_, Real::Infinite { .. }) | (Real::Zero { .. }, _) => Real::Zero { negative },
        (Real::Finite(x), Real::Finite(y)) => {
            let (up_x, up_y) = (x.significand.leading_zeros() as i32, y.significand.leading_zeros() as i32 - 64);
            let (dividend, divisor) = (x.significand << up_x, y.significand << up_y);
            Real::Finite(Finite {
                negative,
                significand: dividend / divisor,
                exponent: (x.exponent - up_x) - (y.exponent - up_y),
                sticky: dividend % divisor != 0,
            })
        }
    }
}

/// The square root with enough bits for rounding.
pub fn sqrt(a: Real) -> Real {
    match a {
        Real::Zero { .. } | Real::Infinite { negative: false } => a,
        Real::Nan | Real::Infinite { .. } => Real::Nan,
        Real::Finite(x) if x.negative => Real::Nan,
        Real::Finite(x) => {
            // Make the exponent even, and the radicand 126 or 127 bits long.
            let up = x.significand.leading_zeros() as i32 - 1;
            let up = up - (x.exponent - up).rem_euclid(2);
            let radicand = x.significand << up;
            let root = radicand.isqrt();
            Real::Finite(Finite {
                negative: false,
                significand: root,
                exponent: (x.exponent - up) / 2,
                sticky: root * root != radicand,
            })
        }
    }
}

#[cfg(test)]
mod tests;
