//! Functions whose bits `--numerics=portable` defines (`docs/numerics.md`), as sequences of operations of IEEE 754.
//!
//! Each function takes and returns the type of the operand. f16 and bf16 are computed in f32 and rounded once more.
//! Functions that are missing here have the precision of the interpreter, and their results are approximate.

use crate::format::{Round, decode, encode};
use crate::program::{FloatMode, OpKind, Rounding};
use crate::scalar::Scalar;
use crate::types::Number;

/// The result of a function of exact operands in type `n`. `None` if portable numerics define no bits of this function,
/// or if an operand is approximate.
pub fn exact(kind: &OpKind, n: Number, x: &[Scalar]) -> Option<Scalar> {
    let narrow = matches!(n, Number::F32 | Number::F16 | Number::Bf16);
    if !narrow || x.iter().any(|x| x.is_unknown() || x.is_approximate(n)) {
        return None;
    }
    let is_open = |m: &FloatMode| matches!(m.rounding, Rounding::Approx | Rounding::Full);
    match kind {
        OpKind::DivF(m) if is_open(m) => Some(by_f32(n, m.flush, x, |x| x[0] / x[1])),
        OpKind::Sqrt(m) if is_open(m) => Some(by_f32(n, m.flush, x, |x| x[0].sqrt())),
        OpKind::Rsqrt { flush } => Some(by_f32(n, *flush, x, |x| 1.0 / x[0].sqrt())),
        OpKind::Exp { .. } => Some(by_f32(n, false, x, |x| exp(x[0]))),
        OpKind::Exp2 { flush } => Some(by_f32(n, *flush, x, |x| exp2(x[0]))),
        OpKind::Tanh { .. } => Some(by_f32(n, false, x, |x| tanh(x[0]))),
        _ => None,
    }
}

/// Applies a function of f32. Flushes its operands, and its result after rounding.
fn by_f32(n: Number, flush: bool, x: &[Scalar], f: impl Fn(&[f32]) -> f32) -> Scalar {
    let flushed = |x: f32| if flush && x.is_subnormal() { 0f32.copysign(x) } else { x };
    // Each number of the narrow formats is a number of f32.
    let wide = |x: &Scalar| encode(decode(x.bits, n), Number::F32, Round::NearestEven).bits as u32;
    let operands: Vec<f32> = x.iter().map(|x| flushed(f32::from_bits(wide(x)))).collect();
    let y = flushed(f(&operands));
    if y.is_nan() {
        return Scalar::nan(n);
    }
    let real = decode(y.to_bits().into(), Number::F32);
    Scalar::exact(encode(real, n, Round::NearestEven).bits)
}

/// log2(e), and log(2) as a sum of two.
const LOG2E: f32 = f32::from_bits(0x3fb8_aa3b);
const LN2: [f32; 2] = [f32::from_bits(0x3f31_7218), f32::from_bits(0xb102_e308)];
/// Adding it rounds to an integer.
const ROUND: f32 = 12_582_912.0;

/// (e^r - 1 - r) / r^2 for |r| up to log(2) / 2.
fn exp_tail(r: f32) -> f32 {
    const COEFFICIENTS: [u32; 4] = [0x3c09_1d6e, 0x3d2a_aa65, 0x3e2a_aa48, 0x3f00_0000];
    COEFFICIENTS.iter().fold(f32::from_bits(0x3ab6_b7a7), |p, c| p.mul_add(r, f32::from_bits(*c)))
}

/// `x * 2^n` for x near one, rounded once.
fn scaled(x: f32, n: f32) -> f32 {
    // Powers of two of this size are exact in f64, and so are their products with an f32.
    (f64::from(x) * 2f64.powi(n as i32)) as f32
}

fn exp(x: f32) -> f32 {
    let c = if x.is_nan() { x } else { x.clamp(-105.0, 90.0) };
    let n = c.mul_add(LOG2E, ROUND) - ROUND;
    let r = (-n).mul_add(LN2[1], (-n).mul_add(LN2[0], c));
    scaled(1.0 + (r * r).mul_add(exp_tail(r), r), n)
}

fn exp2(x: f32) -> f32 {
    let c = if x.is_nan() { x } else { x.clamp(-152.0, 130.0) };
    let n = (c + ROUND) - ROUND;
    let f = c - n;
    let r = f * LN2[0];
    let rest = f.mul_add(LN2[1], f.mul_add(LN2[0], -r));
    scaled(1.0 + (r + (r * r).mul_add(exp_tail(r), rest)), n)
}

fn tanh(x: f32) -> f32 {
    const COEFFICIENTS: [u32; 6] = [0x3b16_d28d, 0xbc02_3051, 0x3cb0_04da, 0xbd5c_b11d, 0x3e08_85f2, 0xbeaa_aa9e];
    let large = 1.0 - 2.0 / (exp(x.abs() * 2.0) + 1.0);
    let u = x * x;
    let p = COEFFICIENTS.iter().fold(f32::from_bits(0xb9bb_f189), |p, c| p.mul_add(u, f32::from_bits(*c)));
    (if x.abs() < 1.0 { (x * u).mul_add(p, x) } else { large }).copysign(x)
}
