//! Floating-point ops on one element.
//!
//! The four IEEE roundings are exact: see [`crate::format`]. Elementary functions are evaluated in double precision and
//! rounded once; their results are [`State::Near`] by what the language lets an implementation be off ([`accuracy`]).
//!
//! # Operands that are known approximately
//!
//! Where an operand is [`State::Near`], sums, products, sign changes, maxima and conversions pass the uncertainty on,
//! by first-order error bounds that are rounded up. The result of everything else that could amplify it is unknown, as
//! is that of a comparison that the uncertainty could turn over. Operands are never unknown here: see the callers.

use crate::format::{self, Encoded, Real, Round, add, decode, div, encode, format, mul, sqrt};
use crate::program::{FloatMode, OpKind, Predicate, Rounding};
use crate::scalar::{Scalar, State, last_place, power};
use crate::types::Number;
use std::cmp::Ordering;

/// The IEEE rounding; nearest even for the modes that are none.
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

/// A subnormal number becomes the zero of its sign.
fn flushed(bits: u64, n: Number, flush: bool) -> u64 {
    match format(n) {
        Some(f) if flush && is_subnormal(bits, n) => bits & f.sign_bit(),
        _ => bits,
    }
}

/// How far an element may be from its number, in absolute terms.
fn error(x: Scalar, n: Number) -> f64 {
    match x.state {
        State::Near(ulps) => f64::from(ulps) * power(last_place(decode(x.bits, n), n)),
        _ => 0.0,
    }
}

/// An element that is off by at most `error` and then rounded.
fn near(bits: u64, n: Number, error: f64) -> Scalar {
    let x = decode(bits, n);
    let Some(f) = format(n) else { return Scalar::unknown(bits) };
    let largest = decode(f.largest(), n).to_f64();
    let value = x.to_f64();
    if !error.is_finite() || x.is_nan() || value.is_infinite() || value.abs() + error >= largest {
        return Scalar::unknown(bits);
    }
    // The compiled program rounds its own operand, which may fall on the other side.
    let ulps = error / power(last_place(x, n)) * (1.0 + 1e-6) + 1.0;
    Scalar { bits, state: State::Near(ulps as f32 * 1.000_001) }
}

/// The result of an op that is rounded once from exact operands, or the propagated error.
fn rounded(n: Number, mode: FloatMode, exact: Real, loose: Option<f64>) -> Scalar {
    let Encoded { bits, grew_normal, .. } = encode(exact, n, round_of(mode.rounding));
    if decode(bits, n).is_nan() {
        return Scalar::nan(n);
    }
    // Whether a result is subnormal is decided before rounding by some and after it by others.
    if mode.flush && grew_normal {
        return Scalar::unknown(bits);
    }
    let out = flushed(bits, n, mode.flush);
    match loose {
        None => Scalar::exact(out),
        Some(e) => {
            let edge = format(n).map_or(0.0, |f| power(f.smallest_exponent() + f.mantissa_bits as i32));
            if mode.flush && exact.to_f64().abs() - e < edge { Scalar::unknown(out) } else { near(out, n, e) }
        }
    }
}

/// What becomes of an approximate operand where no bound is known.
fn amplified(loose: bool, x: Scalar) -> Scalar {
    if loose { Scalar::unknown(x.bits) } else { x }
}

fn loose(operands: &[Scalar], n: Number) -> bool {
    operands.iter().any(|x| x.is_loose(n))
}

/// Operands as numbers, subnormal ones flushed where the op says so, and their errors.
fn take<const N: usize>(n: Number, flush: bool, x: [Scalar; N]) -> ([Real; N], [f64; N]) {
    (x.map(|x| decode(flushed(x.bits, n, flush), n)), x.map(|x| if x.is_loose(n) { error(x, n) } else { 0.0 }))
}

/// `a + b`.
pub fn sum(n: Number, mode: FloatMode, a: Scalar, b: Scalar) -> Scalar {
    let ([x, y], [ex, ey]) = take(n, mode.flush, [a, b]);
    rounded(n, mode, add(x, y, round_of(mode.rounding)), loose(&[a, b], n).then_some(ex + ey))
}

/// `a - b`.
pub fn difference(n: Number, mode: FloatMode, a: Scalar, b: Scalar) -> Scalar {
    let ([x, y], [ex, ey]) = take(n, mode.flush, [a, b]);
    rounded(n, mode, add(x, y.negate(), round_of(mode.rounding)), loose(&[a, b], n).then_some(ex + ey))
}

/// `a * b`.
pub fn product(n: Number, mode: FloatMode, a: Scalar, b: Scalar) -> Scalar {
    let ([x, y], [ex, ey]) = take(n, mode.flush, [a, b]);
    let e = x.to_f64().abs() * ey + y.to_f64().abs() * ex + ex * ey;
    rounded(n, mode, mul(x, y), loose(&[a, b], n).then_some(e))
}

/// `a * b + c`, rounded once.
pub fn fused(n: Number, mode: FloatMode, a: Scalar, b: Scalar, c: Scalar) -> Scalar {
    let ([x, y, z], [ex, ey, ez]) = take(n, mode.flush, [a, b, c]);
    let e = x.to_f64().abs() * ey + y.to_f64().abs() * ex + ex * ey + ez;
    rounded(n, mode, add(mul(x, y), z, round_of(mode.rounding)), loose(&[a, b, c], n).then_some(e))
}

/// `a / b`.
pub fn quotient(n: Number, mode: FloatMode, a: Scalar, b: Scalar) -> Scalar {
    let ([x, y], _) = take(n, mode.flush, [a, b]);
    let ulps = accuracy(Accuracy::Quotient, n);
    let result = match mode.rounding {
        Rounding::Approx => {
            // The reciprocal of a divisor beyond 2^126 is zero, which a finite dividend does not change.
            let magnitude = y.to_f64().abs();
            let tiny = magnitude != 0.0 && magnitude < power(-126);
            if magnitude > power(126) && magnitude.is_finite() {
                match x {
                    Real::Nan | Real::Infinite { .. } => Scalar::nan(n),
                    _ => Scalar { bits: 0, state: State::Near(0.0) },
                }
            } else {
                amplified(tiny, approximate(n, mode.flush, div(x, y), ulps))
            }
        }
        Rounding::Full => approximate(n, mode.flush, div(x, y), ulps),
        _ => rounded(n, mode, div(x, y), None),
    };
    amplified(loose(&[a, b], n), result)
}

/// The square root.
pub fn square_root(n: Number, mode: FloatMode, a: Scalar) -> Scalar {
    let ([x], _) = take(n, mode.flush, [a]);
    let result = match mode.rounding {
        Rounding::Approx => approximate(n, mode.flush, sqrt(x), accuracy(Accuracy::Root, n)),
        _ => rounded(n, mode, sqrt(x), None),
    };
    amplified(a.is_loose(n), result)
}

/// A result that an implementation may miss by `ulps`.
fn approximate(n: Number, flush: bool, x: Real, ulps: f32) -> Scalar {
    let bits = encode(x, n, Round::NearestEven).bits;
    if decode(bits, n).is_nan() {
        return Scalar::nan(n);
    }
    if flush && let Some(f) = format(n) {
        // Results at the edge may be flushed or not.
        let edge = power(f.smallest_exponent() + f.mantissa_bits as i32);
        if (x.to_f64().abs() / edge - 1.0).abs() < f64::from(ulps + 1.0) * power(-(f.mantissa_bits as i32)) {
            return Scalar::unknown(bits);
        }
    }
    Scalar { bits: flushed(bits, n, flush), state: State::Near(ulps) }
}

/// Kinds of results that the language does not fix to the last bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accuracy {
    /// Functions of one or two arguments, at their full accuracy.
    Elementary,
    Quotient,
    Root,
    TanhApprox,
}

/// Units in the last place that a result may be off: the bound that `docs/math.md` states, and the interpreter's own
/// error. f16 and bf16 results come from f32 ones, so that only the final rounding may differ.
pub fn accuracy(what: Accuracy, n: Number) -> f32 {
    match (what, n) {
        (Accuracy::TanhApprox, Number::F32) => 8194.0,
        (_, Number::F16 | Number::Bf16) => 1.0,
        (Accuracy::Root, _) => 2.0,
        (_, Number::F64) => 3.0,
        _ => 3.0,
    }
}

/// An elementary function of one argument; `f` is its value in double precision.
pub fn unary(n: Number, flush: bool, a: Scalar, ulps: f32, f: impl Fn(f64) -> f64) -> Scalar {
    let ([x], _) = take(n, flush, [a]);
    amplified(a.is_loose(n), approximate(n, flush, Real::from_f64(f(x.to_f64())), ulps))
}

/// An elementary function of two arguments.
pub fn binary(n: Number, a: Scalar, b: Scalar, ulps: f32, f: impl Fn(f64, f64) -> f64) -> Scalar {
    let ([x, y], _) = take(n, false, [a, b]);
    amplified(loose(&[a, b], n), approximate(n, false, Real::from_f64(f(x.to_f64(), y.to_f64())), ulps))
}

/// A number to the power of an integer.
pub fn integer_power(n: Number, a: Scalar, exponent: i128) -> Scalar {
    let ([x], _) = take(n, false, [a]);
    // Every exponent of the language fits.
    let value = libm::pow(x.to_f64(), exponent as f64);
    amplified(a.is_loose(n), approximate(n, false, Real::from_f64(value), accuracy(Accuracy::Elementary, n)))
}

/// The elementary functions of one argument.
pub fn elementary(kind: &OpKind, n: Number, a: Scalar) -> Scalar {
    let full = accuracy(Accuracy::Elementary, n);
    let f = |f: fn(f64) -> f64| unary(n, false, a, full, f);
    match kind {
        OpKind::Log => f(libm::log),
        OpKind::Log2 => f(libm::log2),
        OpKind::Sin => f(libm::sin),
        OpKind::Cos => f(libm::cos),
        OpKind::Tan => f(libm::tan),
        OpKind::Sinh => f(libm::sinh),
        OpKind::Cosh => f(libm::cosh),
        OpKind::Tanh { rounding: Rounding::Approx } => {
            unary(n, false, a, accuracy(Accuracy::TanhApprox, n), libm::tanh)
        }
        OpKind::Tanh { .. } => f(libm::tanh),
        OpKind::Exp { rounding: Rounding::Approx } => {
            // The argument times log2(e), itself rounded, is rounded before the power is taken: a relative error of
            // 7.3e-8, which the power multiplies by the argument, and which is 1.225 units where the significand is
            // next to 2.
            let x = decode(a.bits, n).to_f64().abs().min(1e3);
            unary(n, false, a, full + 1.225 * x as f32, libm::exp)
        }
        OpKind::Exp { .. } => f(libm::exp),
        OpKind::Exp2 { flush } => unary(n, *flush, a, full, libm::exp2),
        OpKind::Rsqrt { flush } => unary(n, *flush, a, full, |x| 1.0 / libm::sqrt(x)),
        _ => Scalar::unknown(a.bits),
    }
}

/// The remainder of the truncated quotient, which is always exact.
pub fn remainder(n: Number, a: Scalar, b: Scalar) -> Scalar {
    let ([x, y], _) = take(n, false, [a, b]);
    let result = rounded(n, FloatMode::default(), Real::from_f64(libm::fmod(x.to_f64(), y.to_f64())), None);
    amplified(loose(&[a, b], n), result)
}

/// To an integer, up or down.
pub fn integral(n: Number, up: bool, a: Scalar) -> Scalar {
    let ([x], _) = take(n, false, [a]);
    let x = if up { libm::ceil(x.to_f64()) } else { libm::floor(x.to_f64()) };
    amplified(a.is_loose(n), rounded(n, FloatMode::default(), Real::from_f64(x), None))
}

/// Without a sign, or with the other one. A NaN stays one, with any bits.
pub fn change_sign(n: Number, a: Scalar, change: impl Fn(u64, u64) -> u64) -> Scalar {
    let Some(f) = format(n) else { return Scalar::unknown(a.bits) };
    if decode(a.bits, n).is_nan() {
        return Scalar::nan(n);
    }
    Scalar { bits: change(a.bits, f.sign_bit()), state: a.state }
}

/// The order of two numbers; `None` when one is NaN.
pub fn order(x: Real, y: Real) -> Option<Ordering> {
    // Double precision holds the numbers of every format.
    x.to_f64().partial_cmp(&y.to_f64())
}

/// The larger or the smaller of two numbers, where -0 is below +0.
pub fn extremum(n: Number, largest: bool, propagate_nan: bool, flush: bool, a: Scalar, b: Scalar) -> Scalar {
    let ([x, y], [ex, ey]) = take(n, flush, [a, b]);
    let result = |s: Scalar| Scalar { bits: flushed(s.bits, n, flush), state: s.state };
    match (x.is_nan(), y.is_nan()) {
        (true, true) => return Scalar::nan(n),
        (true, false) | (false, true) if propagate_nan => return Scalar::nan(n),
        (true, false) => return result(b),
        (false, true) => return result(a),
        (false, false) => {}
    }
    let order = order(x, y).unwrap_or(Ordering::Equal).then(y.negative().cmp(&x.negative()));
    let chosen = if (order == Ordering::Greater) == largest { a } else { b };
    if loose(&[a, b], n) {
        // The other one may be chosen when they are close, and is then as close to the result.
        return if flush { Scalar::unknown(chosen.bits) } else { near(chosen.bits, n, ex.max(ey)) };
    }
    result(chosen)
}

/// A comparison.
pub fn compare(n: Number, predicate: Predicate, ordered: bool, a: Scalar, b: Scalar) -> Scalar {
    let ([x, y], [ex, ey]) = take(n, false, [a, b]);
    let Some(order) = order(x, y) else { return Scalar::bool(!ordered) };
    let gap = (x.to_f64() - y.to_f64()).abs();
    let open = loose(&[a, b], n) && (gap.is_nan() || gap <= (ex + ey) * 1.000_001);
    amplified(open, Scalar::bool(predicate.holds(order)))
}

/// Whether a number is below zero, and the format, which has no sign, has nothing for it.
pub fn is_below(x: Real, to: Number) -> bool {
    to == Number::E5m3 && x.negative() && !matches!(x, Real::Zero { .. })
}

/// To another format.
pub fn convert(from: Number, to: Number, rounding: Rounding, a: Scalar) -> Scalar {
    let x = decode(a.bits, from);
    if x.is_nan() {
        return Scalar::nan(to);
    }
    if to == Number::E8m0 {
        // A power of two has no sign, and none is zero.
        let no_scale = x.negative() || matches!(x, Real::Zero { .. }) || a.is_loose(from);
        return amplified(no_scale, Scalar::exact(encode(x, to, round_of(rounding)).bits));
    }
    if is_below(x, to) {
        return Scalar::unknown(0);
    }
    let bits = encode(x, to, round_of(rounding)).bits;
    if decode(bits, to).is_nan() {
        return amplified(a.is_loose(from), Scalar::nan(to));
    }
    if a.is_loose(from) { near(bits, to, error(a, from)) } else { Scalar::exact(bits) }
}

/// The largest magnitude that rounds to no overflow, for callers that want to stay inside.
pub fn largest(n: Number) -> f64 {
    format::format(n).map_or(f64::INFINITY, |f| decode(f.largest(), n).to_f64())
}
