//! Exact values of the elementary functions: in f64 arithmetic for f32 results, in arbitrary precision for f64
//! results.

use astro_float::{BigFloat, Consts, RoundingMode, Sign};
use tile_rtlib::Math;

/// The function in f64, accurate to about one unit in the last place: 2^29 times finer than f32.
pub fn exact_f32(operation: Math, x: f64, y: f64) -> f64 {
    match operation {
        Math::Exp => x.exp(),
        Math::Exp2 => x.exp2(),
        Math::Log => x.ln(),
        Math::Log2 => x.log2(),
        Math::Sin => x.sin(),
        Math::Cos => x.cos(),
        Math::Tan => x.tan(),
        Math::Sinh => x.sinh(),
        Math::Cosh => x.cosh(),
        Math::Tanh => x.tanh(),
        Math::Pow => x.powf(y),
        Math::Atan2 => x.atan2(y),
        Math::Remf => x % y,
        Math::Rsqrt => 1.0 / x.sqrt(),
        Math::Sqrt => x.sqrt(),
        Math::Div => x / y,
    }
}

/// The oracle for f64 results. Holds the constants of the arbitrary-precision functions.
pub struct Oracle {
    constants: Consts,
}

const PRECISION: usize = 192;
const ROUNDING: RoundingMode = RoundingMode::None;

impl Oracle {
    pub fn new() -> Result<Self, astro_float::Error> {
        Ok(Oracle { constants: Consts::new()? })
    }

    /// The error of `got` at finite arguments, in units in the last place. Infinite for a NaN, or for an infinity
    /// where the value is well inside the range.
    pub fn error(&mut self, operation: Math, x: f64, y: f64, got: f64) -> f64 {
        let exact = self.value(operation, x, y);
        if exact.is_nan() || got.is_nan() {
            return if exact.is_nan() && got.is_nan() { 0.0 } else { f64::INFINITY };
        }
        let sign = if exact.sign() == Some(Sign::Neg) { -1.0 } else { 1.0 };
        // The exponent e of the value: 2^(e-1) <= |value| < 2^e.
        let exponent = exact.exponent().unwrap_or(0);
        if exact.is_inf() || (got.is_infinite() && got != sign * f64::INFINITY) {
            return if got == sign * f64::INFINITY { 0.0 } else { f64::INFINITY };
        }
        let exponent = if exact.is_zero() { -1021 } else { exponent };
        let difference = if got.is_infinite() || exponent > 1024 {
            // 2^1024 represents infinity, after the largest number, and every value beyond it.
            let beyond = big(2f64.powi(1023)).mul(&big(2.0), PRECISION, ROUNDING);
            let limit = |value: BigFloat| if value.abs() > beyond { beyond.clone() } else { value.abs() };
            let got = if got.is_infinite() { beyond.clone() } else { limit(big(got)) };
            got.sub(&limit(exact.clone()), PRECISION, ROUNDING)
        } else {
            big(got).sub(&exact, PRECISION, ROUNDING)
        };
        scaled(&difference, 53 - exponent.clamp(-1021, 1024))
    }

    fn value(&mut self, operation: Math, x: f64, y: f64) -> BigFloat {
        let (p, rm, cc) = (PRECISION, ROUNDING, &mut self.constants);
        let (a, b, one) = (big(x), big(y), big(1.0));
        match operation {
            Math::Exp => a.exp(p, rm, cc),
            Math::Exp2 => big(2.0).pow(&a, p, rm, cc),
            Math::Log => a.ln(p, rm, cc),
            Math::Log2 => a.log2(p, rm, cc),
            Math::Sin => a.sin(p, rm, cc),
            Math::Cos => a.cos(p, rm, cc),
            Math::Tan => a.tan(p, rm, cc),
            Math::Sinh => a.sinh(p, rm, cc),
            Math::Cosh => a.cosh(p, rm, cc),
            Math::Tanh => a.tanh(p, rm, cc),
            Math::Pow => {
                // The magnitude only; the tables of special values cover negative bases.
                a.abs().pow(&b, p, rm, cc)
            }
            Math::Atan2 => {
                let angle = a.div(&b, p, rm).atan(p, rm, cc);
                match (y < 0.0, x < 0.0) {
                    (false, _) => angle,
                    (true, false) => angle.add(&cc.pi(p, rm), p, rm),
                    (true, true) => angle.sub(&cc.pi(p, rm), p, rm),
                }
            }
            Math::Remf => big(x % y),
            Math::Rsqrt => one.div(&a.sqrt(p, rm), p, rm),
            Math::Sqrt => a.sqrt(p, rm),
            Math::Div => a.div(&b, p, rm),
        }
    }
}

/// Converts a number. Subnormals are scaled first, because the conversion takes their exponent field literally.
fn big(x: f64) -> BigFloat {
    if x != 0.0 && x.abs() < f64::MIN_POSITIVE {
        let mut value = BigFloat::from_f64(x * 2f64.powi(200), PRECISION);
        if let Some(exponent) = value.exponent() {
            value.set_exponent(exponent - 200);
        }
        value
    } else {
        BigFloat::from_f64(x, PRECISION)
    }
}

/// |value| * 2^shift as an f64, from the leading word of the significand.
fn scaled(value: &BigFloat, shift: i32) -> f64 {
    let Some((words, _, _, exponent, _)) = value.as_raw_parts() else { return f64::INFINITY };
    let Some(top) = words.last() else { return 0.0 };
    let power = exponent + shift;
    if power < -1000 {
        return 0.0;
    }
    (*top as f64) * 2f64.powi(-64) * 2f64.powi(power.min(1000))
}
