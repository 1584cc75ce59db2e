//! Floating-point ops on one element.
//!
//! The four IEEE rounding modes are exact: see [`crate::format`]. Elementary functions are evaluated in double
//! precision and rounded once. Their results are [`Certainty::Near`] with the error that the language permits
//! ([`accuracy`]).
//!
//! # Approximate operands
//!
//! If an operand is [`Certainty::Near`], sums, products, quotients, sign changes, extrema and conversions propagate its
//! error, with bounds that are rounded up. So do roots and monotone functions. Any other op could amplify the error,
//! so its result is unknown. A comparison whose outcome the error could change is unknown too. Callers handle unknown
//! operands, so these functions never see one.

use crate::format::{self, Encoded, Real, Round, add, decode, div, encode, format, mul, sqrt};
use crate::program::{FloatMode, OpKind, Predicate, Rounding};
use crate::scalar::{Certainty, Scalar, last_place, power};
use crate::types::Number;
use std::cmp::Ordering;

/// The IEEE rounding mode; nearest even for the other modes.
pub fn round_of(r: Rounding) -> Round {
    match r {
        Rounding::Zero | Rounding::NearestIntToZero => Round::Zero,
        Rounding::NearestAway => Round::NearestAway,
        Rounding::NegativeInf => Round::Down,
        Rounding::PositiveInf => Round::Up,
        Rounding::NearestEven | Rounding::Approx | Rounding::Full => Round::NearestEven,
    }
}

pub fn is_subnormal(bits: u64, n: Number) -> bool {
    format(n).is_some_and(|f| {
        let magnitude = bits & f.magnitude_mask();
        magnitude != 0 && magnitude >> f.mantissa_bits == 0
    })
}

/// Flushes a subnormal number to the zero of its sign.
fn flushed(bits: u64, n: Number, flush: bool) -> u64 {
    match format(n) {
        Some(f) if flush && is_subnormal(bits, n) => bits & f.sign_bit(),
        _ => bits,
    }
}

/// The absolute error bound of an element.
fn error(x: Scalar, n: Number) -> f64 {
    match x.certainty {
        Certainty::Near(ulps) => ulps * power(last_place(decode(x.bits, n), n)),
        _ => 0.0,
    }
}

/// An element with an absolute error of at most `error` before rounding.
fn near(bits: u64, n: Number, error: f64) -> Scalar {
    let x = decode(bits, n);
    let Some(f) = format(n) else { return Scalar::unknown(bits) };
    let largest = decode(f.largest(), n).to_f64();
    let value = x.to_f64();
    if !error.is_finite() || x.is_nan() || value.is_infinite() || value.abs() + error >= largest {
        return Scalar::unknown(bits);
    }
    // The compiled program rounds its own operand, possibly in the other direction.
    let ulps = error / power(last_place(x, n)) * (1.0 + 1e-6) + 1.0;
    Scalar { bits, certainty: Certainty::Near(ulps * 1.000_001) }
}

/// As [`near`], for results that may be flushed if subnormal. Flushing adds less than the smallest normal number.
fn near_or_flushed(n: Number, flush: bool, bits: u64, error: f64) -> Scalar {
    let edge = format(n).map_or(0.0, |f| power(f.smallest_exponent() + f.mantissa_bits as i32));
    let may_be_flushed = flush && decode(bits, n).to_f64().abs() - error < edge;
    near(bits, n, if may_be_flushed { error + edge } else { error })
}

/// The result of an op that is rounded once from exact operands, or the propagated error.
fn rounded(n: Number, mode: FloatMode, exact: Real, loose: Option<f64>) -> Scalar {
    let Encoded { bits, grew_normal, .. } = encode(exact, n, round_of(mode.rounding));
    if decode(bits, n).is_nan() {
        return Scalar::nan(n);
    }
    // Implementations may detect a subnormal result before or after rounding.
    if mode.flush && grew_normal {
        return Scalar::unknown(bits);
    }
    let out = flushed(bits, n, mode.flush);
    match loose {
        None => Scalar::exact(out),
        Some(e) => near_or_flushed(n, mode.flush, out, e),
    }
}

/// The result for an approximate operand when no bound is known.
fn amplified(loose: bool, x: Scalar) -> Scalar {
    if loose { Scalar::unknown(x.bits) } else { x }
}

fn any_approximate(operands: &[Scalar], n: Number) -> bool {
    operands.iter().any(|x| x.is_approximate(n))
}

/// The error of a sum of approximate operands. If one of them is certainly infinite, the others do not matter.
fn off(n: Number, sum: Real, operands: &[Scalar], e: f64) -> Option<f64> {
    let is_sure = |x: &Scalar| matches!(x.certainty, Certainty::Exact | Certainty::Near(0.0));
    let infinite = |x: &Scalar| matches!(decode(x.bits, n), Real::Infinite { .. }) && is_sure(x);
    let settled = matches!(sum, Real::Infinite { .. }) && operands.iter().any(infinite);
    (any_approximate(operands, n) && !settled).then_some(e)
}

/// Operands as numbers, with subnormal ones flushed if the op does so, and their errors.
fn take<const N: usize>(n: Number, flush: bool, x: [Scalar; N]) -> ([Real; N], [f64; N]) {
    let edge = format(n).map_or(0.0, |f| power(f.smallest_exponent() + f.mantissa_bits as i32));
    let errors = x.map(|x| {
        let error = if x.is_approximate(n) { error(x, n) } else { 0.0 };
        let may_be_flushed = flush && error > 0.0 && decode(x.bits, n).to_f64().abs() - error < edge;
        if may_be_flushed { error + edge } else { error }
    });
    (x.map(|x| decode(flushed(x.bits, n, flush), n)), errors)
}

/// `a + b`.
pub fn sum(n: Number, mode: FloatMode, a: Scalar, b: Scalar) -> Scalar {
    let ([x, y], [ex, ey]) = take(n, mode.flush, [a, b]);
    let exact = add(x, y, round_of(mode.rounding));
    rounded(n, mode, exact, off(n, exact, &[a, b], ex + ey))
}

/// `a - b`.
pub fn difference(n: Number, mode: FloatMode, a: Scalar, b: Scalar) -> Scalar {
    let ([x, y], [ex, ey]) = take(n, mode.flush, [a, b]);
    let exact = add(x, y.negate(), round_of(mode.rounding));
    rounded(n, mode, exact, off(n, exact, &[a, b], ex + ey))
}

/// `a * b`.
pub fn product(n: Number, mode: FloatMode, a: Scalar, b: Scalar) -> Scalar {
    let ([x, y], [ex, ey]) = take(n, mode.flush, [a, b]);
    let e = x.to_f64().abs() * ey + y.to_f64().abs() * ex + ex * ey;
    rounded(n, mode, mul(x, y), any_approximate(&[a, b], n).then_some(e))
}

/// `a * b + c`, rounded once.
pub fn fused(n: Number, mode: FloatMode, a: Scalar, b: Scalar, c: Scalar) -> Scalar {
    let ([x, y, z], [ex, ey, ez]) = take(n, mode.flush, [a, b, c]);
    let e = x.to_f64().abs() * ey + y.to_f64().abs() * ex + ex * ey + ez;
    rounded(n, mode, add(mul(x, y), z, round_of(mode.rounding)), any_approximate(&[a, b, c], n).then_some(e))
}

/// `a / b`.
pub fn quotient(n: Number, mode: FloatMode, a: Scalar, b: Scalar) -> Scalar {
    let ([x, y], [ex, ey]) = take(n, mode.flush, [a, b]);
    let ulps = accuracy(Accuracy::Quotient, n);
    let (dividend, divisor) = (x.to_f64().abs(), y.to_f64().abs());
    let e = (dividend * ey + divisor * ex) / (divisor * (divisor - ey));
    // If the divisor may be zero, the quotient can be anything. The same holds at the limits of the range in which
    // the approximation works.
    let ordinary = mode.rounding != Rounding::Approx || (divisor - ey > power(-126) && divisor + ey < power(126));
    let e = if divisor > ey && ordinary { e } else { f64::INFINITY };
    let result = match mode.rounding {
        Rounding::Approx => {
            // The reciprocal of a divisor above 2^126 is zero, so the quotient of a finite dividend is zero.
            let magnitude = y.to_f64().abs();
            let tiny = magnitude != 0.0 && magnitude < power(-126);
            if magnitude > power(126) && magnitude.is_finite() {
                match x {
                    Real::Nan | Real::Infinite { .. } => Scalar::nan(n),
                    _ => Scalar { bits: 0, certainty: Certainty::Near(0.0) },
                }
            } else {
                amplified(tiny, approximate(n, mode.flush, div(x, y), ulps))
            }
        }
        Rounding::Full => approximate(n, mode.flush, div(x, y), ulps),
        _ => rounded(n, mode, div(x, y), None),
    };
    if any_approximate(&[a, b], n) { further(n, mode.flush, result, e) } else { result }
}

/// Adds the error `e` that comes from the operands to a result.
fn further(n: Number, flush: bool, result: Scalar, e: f64) -> Scalar {
    let own = error(result, n);
    if result.is_unknown() { result } else { near_or_flushed(n, flush, result.bits, e + own) }
}

/// The error of a monotone function if the error of its argument is at most `e`.
fn spread(f: impl Fn(f64) -> f64, x: f64, e: f64) -> f64 {
    let (low, middle, high) = (f(x - e), f(x), f(x + e));
    let most = (middle - low).abs().max((high - middle).abs());
    // If the function is undefined or has a pole in the interval, nothing is known.
    if most.is_nan() || low.is_nan() || high.is_nan() { f64::INFINITY } else { most + middle.abs() * power(-50) }
}

/// The square root.
pub fn square_root(n: Number, mode: FloatMode, a: Scalar) -> Scalar {
    let ([x], [e]) = take(n, mode.flush, [a]);
    let result = match mode.rounding {
        Rounding::Approx => approximate(n, mode.flush, sqrt(x), accuracy(Accuracy::Root, n)),
        _ => rounded(n, mode, sqrt(x), None),
    };
    if a.is_approximate(n) { further(n, mode.flush, result, spread(libm::sqrt, x.to_f64(), e)) } else { result }
}

/// A result in which an implementation may be off by `ulps`.
fn approximate(n: Number, flush: bool, x: Real, ulps: f64) -> Scalar {
    let bits = encode(x, n, Round::NearestEven).bits;
    if decode(bits, n).is_nan() {
        return Scalar::nan(n);
    }
    if flush && let Some(f) = format(n) {
        // Results near the smallest normal number may or may not be flushed.
        let edge = power(f.smallest_exponent() + f.mantissa_bits as i32);
        if (x.to_f64().abs() / edge - 1.0).abs() < (ulps + 1.0) * power(-(f.mantissa_bits as i32)) {
            return Scalar::unknown(bits);
        }
    }
    Scalar { bits: flushed(bits, n, flush), certainty: Certainty::Near(ulps) }
}

/// Kinds of results that the language does not define to the last bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accuracy {
    /// Functions of one or two arguments at full accuracy.
    Elementary,
    Quotient,
    Root,
    TanhApprox,
}

/// Maximum error of a result in units in the last place: the bound in `docs/math.md` plus the interpreter's own
/// error. f16 and bf16 results are rounded from f32, so only the final rounding can differ.
pub fn accuracy(what: Accuracy, n: Number) -> f64 {
    match (what, n) {
        (Accuracy::TanhApprox, Number::F32) => 8194.0,
        (_, Number::F16 | Number::Bf16) => 1.0,
        (Accuracy::Root, _) => 2.0,
        (_, Number::F64) => 3.0,
        _ => 3.0,
    }
}

/// An elementary function of one argument; `f` computes its value in double precision.
pub fn unary(n: Number, flush: bool, a: Scalar, ulps: f64, f: impl Fn(f64) -> f64) -> Scalar {
    let ([x], _) = take(n, flush, [a]);
    amplified(a.is_approximate(n), approximate(n, flush, Real::from_f64(f(x.to_f64())), ulps))
}

/// As [`unary`], for a function that is monotone between any two arguments for which it is defined. The result for an
/// approximate argument is between the values at the ends of its interval.
pub fn monotone(n: Number, flush: bool, a: Scalar, ulps: f64, f: impl Fn(f64) -> f64) -> Scalar {
    let ([x], [e]) = take(n, flush, [a]);
    let result = approximate(n, flush, Real::from_f64(f(x.to_f64())), ulps);
    if a.is_approximate(n) { further(n, flush, result, spread(f, x.to_f64(), e)) } else { result }
}

/// An elementary function of two arguments.
pub fn binary(n: Number, a: Scalar, b: Scalar, ulps: f64, f: impl Fn(f64, f64) -> f64) -> Scalar {
    let ([x, y], _) = take(n, false, [a, b]);
    amplified(any_approximate(&[a, b], n), approximate(n, false, Real::from_f64(f(x.to_f64(), y.to_f64())), ulps))
}

/// A number to the power of another number.
pub fn pow(n: Number, a: Scalar, b: Scalar) -> Scalar {
    let full = accuracy(Accuracy::Elementary, n);
    if !a.is_approximate(n) || b.is_approximate(n) {
        return binary(n, a, b, full, libm::pow);
    }
    let exponent = decode(b.bits, n).to_f64();
    power_of_approximate(
        n,
        a,
        exponent,
        approximate(n, false, Real::from_f64(libm::pow(decode(a.bits, n).to_f64(), exponent)), full),
    )
}

/// Adds to `result`, a power of `a`, the error that comes from the approximate base `a`.
fn power_of_approximate(n: Number, a: Scalar, exponent: f64, result: Scalar) -> Scalar {
    let ([x], [e]) = take(n, false, [a]);
    let x = x.to_f64();
    // On either side of zero a power is monotone; at zero it may have an extremum or a pole.
    let off = if x.abs() > e { spread(|x| libm::pow(x, exponent), x, e) } else { f64::INFINITY };
    further(n, false, result, off)
}

/// A number to the power of an integer.
pub fn integer_power(n: Number, a: Scalar, exponent: i128) -> Scalar {
    // Exponents have at most 32 bits, so the conversion is exact.
    let exponent = exponent as f64;
    let value = libm::pow(decode(a.bits, n).to_f64(), exponent);
    let result = approximate(n, false, Real::from_f64(value), accuracy(Accuracy::Elementary, n));
    if a.is_approximate(n) { power_of_approximate(n, a, exponent, result) } else { result }
}

/// The elementary functions of one argument.
pub fn elementary(kind: &OpKind, n: Number, a: Scalar) -> Scalar {
    let full = accuracy(Accuracy::Elementary, n);
    let f = |f: fn(f64) -> f64| unary(n, false, a, full, f);
    let monotone = |flush, ulps, f: fn(f64) -> f64| monotone(n, flush, a, ulps, f);
    match kind {
        OpKind::Log => monotone(false, full, libm::log),
        OpKind::Log2 => monotone(false, full, libm::log2),
        OpKind::Sin => f(libm::sin),
        OpKind::Cos => f(libm::cos),
        OpKind::Tan => f(libm::tan),
        OpKind::Sinh => f(libm::sinh),
        OpKind::Cosh => f(libm::cosh),
        OpKind::Tanh { rounding: Rounding::Approx } => monotone(false, accuracy(Accuracy::TanhApprox, n), libm::tanh),
        OpKind::Tanh { .. } => monotone(false, full, libm::tanh),
        OpKind::Exp { rounding: Rounding::Approx } => {
            // The argument is multiplied by log2(e), which is itself rounded, and the product is rounded before the
            // power is computed. That is a relative error of 7.3e-8. The power multiplies it by the argument, which
            // gives 1.225 units for a significand close to 2.
            let x = decode(a.bits, n).to_f64().abs().min(1e3);
            monotone(false, full + 1.225 * x, libm::exp)
        }
        OpKind::Exp { .. } => monotone(false, full, libm::exp),
        OpKind::Exp2 { flush } => monotone(*flush, full, libm::exp2),
        OpKind::Rsqrt { flush } => monotone(*flush, full, |x| 1.0 / libm::sqrt(x)),
        _ => Scalar::unknown(a.bits),
    }
}

/// The remainder of the truncated quotient, which is always exact.
pub fn remainder(n: Number, a: Scalar, b: Scalar) -> Scalar {
    let ([x, y], _) = take(n, false, [a, b]);
    let result = rounded(n, FloatMode::default(), Real::from_f64(libm::fmod(x.to_f64(), y.to_f64())), None);
    amplified(any_approximate(&[a, b], n), result)
}

/// Rounds to an integer, up or down.
pub fn integral(n: Number, up: bool, a: Scalar) -> Scalar {
    let ([x], _) = take(n, false, [a]);
    let x = if up { libm::ceil(x.to_f64()) } else { libm::floor(x.to_f64()) };
    amplified(a.is_approximate(n), rounded(n, FloatMode::default(), Real::from_f64(x), None))
}

/// Changes or clears the sign. A NaN remains a NaN, with any bits.
pub fn change_sign(n: Number, a: Scalar, change: impl Fn(u64, u64) -> u64) -> Scalar {
    let Some(f) = format(n) else { return Scalar::unknown(a.bits) };
    if decode(a.bits, n).is_nan() {
        return Scalar::nan(n);
    }
    Scalar { bits: change(a.bits, f.sign_bit()), certainty: a.certainty }
}

/// Compares two numbers; `None` if one is NaN.
pub fn order(x: Real, y: Real) -> Option<Ordering> {
    // Double precision represents the numbers of every format.
    x.to_f64().partial_cmp(&y.to_f64())
}

/// The larger or the smaller of two numbers; -0 is below +0.
pub fn extremum(n: Number, largest: bool, propagate_nan: bool, flush: bool, a: Scalar, b: Scalar) -> Scalar {
    let ([x, y], [ex, ey]) = take(n, flush, [a, b]);
    let result = |s: Scalar| Scalar { bits: flushed(s.bits, n, flush), certainty: s.certainty };
    match (x.is_nan(), y.is_nan()) {
        (true, true) => return Scalar::nan(n),
        (true, false) | (false, true) if propagate_nan => return Scalar::nan(n),
        (true, false) => return result(b),
        (false, true) => return result(a),
        (false, false) => {}
    }
    let order = order(x, y).unwrap_or(Ordering::Equal).then(y.negative().cmp(&x.negative()));
    let chosen = if (order == Ordering::Greater) == largest { a } else { b };
    if any_approximate(&[a, b], n) {
        // If the operands are close, an implementation may choose the other one, which is then as close to the
        // result.
        return near_or_flushed(n, flush, chosen.bits, ex.max(ey));
    }
    result(chosen)
}

/// A comparison.
pub fn compare(n: Number, predicate: Predicate, ordered: bool, a: Scalar, b: Scalar) -> Scalar {
    let ([x, y], [ex, ey]) = take(n, false, [a, b]);
    let Some(order) = order(x, y) else { return Scalar::bool(!ordered) };
    let gap = (x.to_f64() - y.to_f64()).abs();
    let open = any_approximate(&[a, b], n) && (gap.is_nan() || gap <= (ex + ey) * 1.000_001);
    amplified(open, Scalar::bool(predicate.holds(order)))
}

/// Whether a number is below zero and the format is unsigned, so it cannot represent it.
pub fn is_below(x: Real, to: Number) -> bool {
    to == Number::E5m3 && x.negative() && !matches!(x, Real::Zero { .. })
}

/// Converts to another format.
pub fn convert(from: Number, to: Number, rounding: Rounding, a: Scalar) -> Scalar {
    let x = decode(a.bits, from);
    if x.is_nan() {
        return Scalar::nan(to);
    }
    if to == Number::E8m0 {
        // Powers of two are positive and nonzero.
        let no_scale = x.negative() || matches!(x, Real::Zero { .. }) || a.is_approximate(from);
        return amplified(no_scale, Scalar::exact(encode(x, to, round_of(rounding)).bits));
    }
    if is_below(x, to) {
        return Scalar::unknown(0);
    }
    let bits = encode(x, to, round_of(rounding)).bits;
    if decode(bits, to).is_nan() {
        return amplified(a.is_approximate(from), Scalar::nan(to));
    }
    if a.is_approximate(from) { near(bits, to, error(a, from)) } else { Scalar::exact(bits) }
}

/// The largest finite magnitude, for callers that must avoid overflow.
pub fn largest(n: Number) -> f64 {
    format::format(n).map_or(f64::INFINITY, |f| decode(f.largest(), n).to_f64())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::Element;

    /// The result for an approximate operand must admit the results for all operands within its error.
    #[test]
    fn approximate_operands_are_covered() {
        let n = Number::F32;
        let exact = FloatMode::default();
        let flushing = FloatMode { rounding: Rounding::Approx, flush: true };
        let number = |x: f32| Scalar::exact(x.to_bits().into());
        type Function = fn(Number, FloatMode, Scalar) -> Scalar;
        let functions: [(&str, Function); 12] = [
            ("x / 3", |n, m, x| quotient(n, m, x, Scalar::exact(3f32.to_bits().into()))),
            ("3 / x", |n, m, x| quotient(n, m, Scalar::exact(3f32.to_bits().into()), x)),
            ("x / x", |n, m, x| quotient(n, m, x, x)),
            ("sqrt", square_root),
            ("exp", |n, _, x| elementary(&OpKind::Exp { rounding: Rounding::NearestEven }, n, x)),
            ("exp2", |n, m, x| elementary(&OpKind::Exp2 { flush: m.flush }, n, x)),
            ("log", |n, _, x| elementary(&OpKind::Log, n, x)),
            ("rsqrt", |n, m, x| elementary(&OpKind::Rsqrt { flush: m.flush }, n, x)),
            ("tanh", |n, _, x| elementary(&OpKind::Tanh { rounding: Rounding::NearestEven }, n, x)),
            ("pow", |n, _, x| pow(n, x, Scalar::exact((-1.5f32).to_bits().into()))),
            ("powi", |n, _, x| integer_power(n, x, -3)),
            ("x + x", |n, m, x| sum(n, FloatMode { rounding: Rounding::NearestEven, ..m }, x, x)),
        ];
        let mut known = 0;
        for (name, f) in functions {
            for mode in [exact, flushing] {
                for x in [1.0f32, 1.5, 0.37, 88.0, -2.25, 1e-30, 1e-38, 3e-39, 1e30, 0.0] {
                    for ulps in [1.0, 40.0, 1e5] {
                        let approximate = Scalar { certainty: Certainty::Near(ulps), ..number(x) };
                        let result = f(n, mode, approximate);
                        known += usize::from(!result.is_unknown());
                        for part in [-1.0, -0.5, 0.5, 1.0] {
                            let other = x.to_bits() as i64 + (part * ulps) as i64;
                            let other = number(if other < 0 {
                                -f32::from_bits(-other as u32)
                            } else {
                                f32::from_bits(other as u32)
                            });
                            let got = f(n, mode, other);
                            let what = format!("{name} {mode:?} {x} {ulps} {part}: {got:?} and {result:?}");
                            assert!(got.is_unknown() || result.admits(got.bits, Element::Number(n)), "{what}");
                        }
                    }
                }
            }
        }
        assert!(known > 500, "{known} results are known");
    }

    #[test]
    fn infinities_stay_what_they_are() {
        let n = Number::F32;
        let infinity = Scalar::exact(f32::NEG_INFINITY.to_bits().into());
        let near = |x: f32, ulps| Scalar { bits: x.to_bits().into(), certainty: Certainty::Near(ulps) };
        let m = FloatMode::default();
        assert_eq!(sum(n, m, infinity, near(1.0, 3.0)), infinity);
        assert_eq!(difference(n, m, infinity, near(1.0, 3.0)), infinity);
        // A result that may have overflowed is not certain to be infinite.
        assert!(sum(n, m, near(f32::INFINITY, 3.0), near(1.0, 3.0)).is_unknown());
        // The divisor may be zero.
        assert!(quotient(n, m, near(1.0, 1.0), near(f32::from_bits(2), 3.0)).is_unknown());
        // The logarithm of a number that may be negative.
        assert!(elementary(&OpKind::Log, n, near(f32::from_bits(2), 3.0)).is_unknown());
        // Terms that cancel: near zero the error is more units than f32 can represent.
        let Certainty::Near(ulps) = difference(n, m, near(1e8, 4.0), near(1e8, 4.0)).certainty else {
            panic!("unknown")
        };
        assert!(ulps > f32::MAX.into() && ulps.is_finite());
    }
}
