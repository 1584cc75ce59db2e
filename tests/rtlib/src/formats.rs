//! Narrow floating-point formats by their definition: the value of every code, and rounding by search among the
//! values.

use tile_rtlib::{Direction, Format, Overflow};

/// The parameters of a sign-magnitude format. e8m0 has separate functions.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    pub exponent_bits: u32,
    pub mantissa_bits: u32,
    /// Whether the top exponent holds only infinity and NaNs.
    pub ieee: bool,
    /// Whether the code with all bits set is a NaN (in formats that are not `ieee`).
    pub has_nan: bool,
}

pub fn layout(format: Format) -> Layout {
    let make = |exponent_bits, mantissa_bits, ieee, has_nan| Layout { exponent_bits, mantissa_bits, ieee, has_nan };
    match format {
        Format::F16 => make(5, 10, true, true),
        Format::Bf16 => make(8, 7, true, true),
        Format::Tf32 => make(8, 10, true, true),
        Format::E4m3 => make(4, 3, false, true),
        Format::E5m2 => make(5, 2, true, true),
        Format::E2m1 => make(2, 1, false, false),
        Format::E8m0 => make(8, 0, false, true),
    }
}

impl Layout {
    fn bias(&self) -> i32 {
        (1 << (self.exponent_bits - 1)) - 1
    }

    pub fn sign_bit(&self) -> u32 {
        1 << (self.exponent_bits + self.mantissa_bits)
    }

    /// The code of the largest finite magnitude.
    pub fn largest(&self) -> u32 {
        if self.ieee {
            (((1 << self.exponent_bits) - 1) << self.mantissa_bits) - 1
        } else {
            self.sign_bit() - 1 - u32::from(self.has_nan)
        }
    }

    /// The value of a magnitude code, ignoring special values; also for codes above `largest`.
    pub fn magnitude(&self, code: u32) -> f64 {
        let mantissa = f64::from(code & ((1 << self.mantissa_bits) - 1)) / f64::from(1u32 << self.mantissa_bits);
        let exponent = (code >> self.mantissa_bits) as i32;
        if exponent == 0 {
            mantissa * 2f64.powi(1 - self.bias())
        } else {
            (1.0 + mantissa) * 2f64.powi(exponent - self.bias())
        }
    }

    /// The value of a code of the format.
    pub fn value(&self, code: u32) -> f64 {
        let magnitude = code & (self.sign_bit() - 1);
        let value = if magnitude <= self.largest() {
            self.magnitude(magnitude)
        } else if self.ieee && magnitude == self.largest() + 1 {
            f64::INFINITY
        } else {
            f64::NAN
        };
        if code & self.sign_bit() != 0 { -value } else { value }
    }

    /// The largest magnitude code at or below |x| (x finite), and whether |x| is greater than its value.
    fn below(&self, x: f64) -> (u32, bool) {
        let magnitude = x.abs();
        let (mut low, mut high) = (0, self.largest() + 1);
        // Invariant: magnitude(low) <= |x|, and |x| < magnitude(high) or high is beyond the format.
        while high - low > 1 {
            let middle = (low + high) / 2;
            if self.magnitude(middle) <= magnitude { low = middle } else { high = middle }
        }
        (low, self.magnitude(low) < magnitude)
    }

    fn finish(&self, x: f64, code: u32, overflow: Overflow) -> u32 {
        let code = if code <= self.largest() {
            code
        } else if overflow == Overflow::Saturate || !self.has_nan {
            self.largest()
        } else {
            self.largest() + 1
        };
        if x.is_sign_negative() { code | self.sign_bit() } else { code }
    }

    /// Rounds an f64 to nearest, ties to even; `None` for NaN.
    pub fn nearest(&self, x: f64, overflow: Overflow) -> Option<u32> {
        self.nearest_with(x, 0.0, overflow)
    }

    /// The same for x + rest, with rest far below the last place of x: the rounding error of an integer conversion to
    /// f64.
    pub fn nearest_with(&self, x: f64, rest: f64, overflow: Overflow) -> Option<u32> {
        if x.is_nan() {
            return None;
        }
        if x.is_infinite() {
            return Some(self.finish(x, self.largest() + 1, overflow));
        }
        let (low, _) = self.below(x);
        let middle = (self.magnitude(low) + self.magnitude(low + 1)) / 2.0;
        let beyond = (x.abs() - middle) + if x < 0.0 { -rest } else { rest };
        let up = beyond > 0.0 || (beyond == 0.0 && low & 1 == 1);
        Some(self.finish(x, low + u32::from(up), overflow))
    }

    /// Rounds in one direction; `None` for NaN. The direction determines the result of an overflow.
    pub fn directed(&self, x: f64, direction: Direction) -> Option<u32> {
        if x.is_nan() {
            return None;
        }
        let negative = x.is_sign_negative();
        let away = match direction {
            Direction::Zero => false,
            Direction::Down => negative,
            Direction::Up => !negative,
        };
        if x.is_infinite() {
            return Some(self.finish(x, self.largest() + 1, Overflow::Infinite));
        }
        let (low, inexact) = self.below(x);
        Some(self.finish(x, low + u32::from(inexact && away), Overflow::Infinite))
    }
}

/// The magnitude of x as a power of two by definition: code k is 2^(k - 127), and 255 is NaN.
pub fn scale_factor(x: f64, direction: Direction, overflow: Overflow) -> u8 {
    if x.is_nan() {
        return 255;
    }
    let magnitude = x.abs();
    let over = if overflow == Overflow::Saturate { 254 } else { 255 };
    let value = |k: i32| 2f64.powi(k - 127);
    if direction == Direction::Up {
        (0..=254).find(|k| value(*k) >= magnitude).map_or(over, |k| k as u8)
    } else if magnitude.is_infinite() {
        over
    } else {
        // Towards zero, finite numbers do not overflow.
        (0..=254).rev().find(|k| value(*k) <= magnitude).map_or(0, |k| k as u8)
    }
}
