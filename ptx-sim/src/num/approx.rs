//! The approximate instructions: `ex2`, `lg2`, `sin`, `cos`, `tanh`, `rcp`, `rsqrt`, `sqrt` and the two approximate
//! divisions.
//!
//! PTX bounds their error and specifies their special values; the exact bits depend on the hardware. Here each result
//! is the correctly rounded value of a double-precision evaluation, which is within every documented bound. The
//! evaluation uses a portable math library, so results do not depend on the host.

use super::arith;
use super::convert::{CvtOpts, convert};
use super::format::Format;
use super::rounding::Rounding;

/// `ex2.approx{.ftz}.f32`.
pub fn f32_ex2(a: u32, ftz: bool) -> u32 {
    f32_unary(a, ftz, libm::exp2)
}

/// `lg2.approx{.ftz}.f32`; zeros of both signs give minus infinity.
pub fn f32_lg2(a: u32, ftz: bool) -> u32 {
    f32_unary(a, ftz, |x| if x == 0.0 { f64::NEG_INFINITY } else { libm::log2(x) })
}

/// `sin.approx{.ftz}.f32`, radians.
pub fn f32_sin(a: u32, ftz: bool) -> u32 {
    f32_unary(a, ftz, libm::sin)
}

/// `cos.approx{.ftz}.f32`, radians.
pub fn f32_cos(a: u32, ftz: bool) -> u32 {
    f32_unary(a, ftz, libm::cos)
}

/// `tanh.approx.f32`.
pub fn f32_tanh(a: u32) -> u32 {
    f32_unary(a, false, libm::tanh)
}

/// `rcp.approx{.ftz}.f32`.
pub fn f32_rcp_approx(a: u32, ftz: bool) -> u32 {
    arith::f32_rcp(a, Rounding::NearestEven, ftz)
}

/// `rsqrt.approx{.ftz}.f32`.
pub fn f32_rsqrt(a: u32, ftz: bool) -> u32 {
    f32_unary(a, ftz, reciprocal_root)
}

/// `sqrt.approx{.ftz}.f32`.
pub fn f32_sqrt_approx(a: u32, ftz: bool) -> u32 {
    arith::f32_sqrt(a, Rounding::NearestEven, ftz)
}

/// `div.approx{.ftz}.f32`: a divisor above 2^126 acts as infinity.
pub fn f32_div_approx(a: u32, b: u32, ftz: bool) -> u32 {
    const TWO_TO_126: u32 = 0x7e80_0000;
    let magnitude = b & 0x7fff_ffff;
    let divisor = if magnitude > TWO_TO_126 && magnitude < 0x7f80_0000 { b & 1 << 31 | 0x7f80_0000 } else { b };
    arith::f32_div(a, divisor, Rounding::NearestEven, ftz)
}

/// `div.full{.ftz}.f32`.
pub fn f32_div_full(a: u32, b: u32, ftz: bool) -> u32 {
    arith::f32_div(a, b, Rounding::NearestEven, ftz)
}

/// `rcp.approx.ftz.f64`: the reciprocal of the upper 32 bits of `a`. The lower 32 bits of the result are zero.
pub fn f64_rcp_approx_ftz(a: u64) -> u64 {
    upper_word(a, |x| 1.0 / x)
}

/// `rsqrt.approx.ftz.f64`: like [`f64_rcp_approx_ftz`], for the reciprocal square root.
pub fn f64_rsqrt_approx_ftz(a: u64) -> u64 {
    upper_word(a, reciprocal_root)
}

/// `rsqrt.approx.f64`.
pub fn f64_rsqrt_approx(a: u64) -> u64 {
    let result = reciprocal_root(f64::from_bits(a));
    if result.is_nan() { arith::f64_sqrt(a, Rounding::NearestEven) } else { result.to_bits() }
}

/// `tanh.approx.f16`.
pub fn f16_tanh(a: u16) -> u16 {
    unary(Format::F16, a.into(), false, libm::tanh) as u16
}

/// `tanh.approx.bf16`.
pub fn bf16_tanh(a: u16) -> u16 {
    unary(Format::Bf16, a.into(), false, libm::tanh) as u16
}

/// `ex2.approx.f16`.
pub fn f16_ex2(a: u16) -> u16 {
    unary(Format::F16, a.into(), false, libm::exp2) as u16
}

/// `ex2.approx.ftz.bf16`.
pub fn bf16_ex2(a: u16) -> u16 {
    unary(Format::Bf16, a.into(), true, libm::exp2) as u16
}

fn f32_unary(a: u32, ftz: bool, f: impl Fn(f64) -> f64) -> u32 {
    unary(Format::F32, a.into(), ftz, f) as u32
}

/// Evaluates `f` in double precision and rounds once.
fn unary(format: Format, a: u64, ftz: bool, f: impl Fn(f64) -> f64) -> u64 {
    let widened = convert(format, if ftz { format.flush(a) } else { a }, Format::F64, &CvtOpts::default());
    let result = f(f64::from_bits(widened));
    let rounded = convert(Format::F64, result.to_bits(), format, &CvtOpts::default());
    if ftz { format.flush(rounded) } else { rounded }
}

/// The square root of a zero keeps its sign, so -0 gives minus infinity.
fn reciprocal_root(x: f64) -> f64 {
    1.0 / x.sqrt()
}

/// Applies `f` to the number with its low word cleared, flushing subnormals, and rounds the result to the upper word.
fn upper_word(a: u64, f: impl Fn(f64) -> f64) -> u64 {
    const NAN: u64 = 0x7fff_ffff_0000_0000;
    let a = a & 0xffff_ffff_0000_0000;
    // Subnormal operands count as zeros, so a negative one gives minus infinity.
    let input = if a & 0x7ff0_0000_0000_0000 == 0 { a & 1 << 63 } else { a };
    let result = f(f64::from_bits(input));
    if result.is_nan() {
        return NAN;
    }
    let bits = result.to_bits();
    // Nearest even at bit 32; a carry out of the fraction reaches the next binade.
    let rounded = bits + 0x7fff_ffff + (bits >> 32 & 1);
    let bits = rounded & 0xffff_ffff_0000_0000;
    if bits & 0x7ff0_0000_0000_0000 == 0 { bits & 1 << 63 } else { bits }
}
