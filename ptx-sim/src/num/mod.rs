//! Exact floating-point arithmetic for the simulator.
//!
//! Every arithmetic result of a PTX instruction depends only on bit patterns, a rounding mode and a few flags: not on
//! the host's rounding mode, NaN payloads or math library. Values are passed as bit patterns in the low bits of an
//! integer, as in a register.
//!
//! # Computing a result
//!
//! 1. [`Format::unpack`] splits bits into a class, a sign and an integer significand times a power of two;
//! 2. the operation works on 128-bit integers, with a *sticky* flag that records whether anything non-zero was cut
//!    off;
//! 3. `Format::pack` rounds once and applies overflow and saturation.
//!
//! For example, `1.0 + 2^-30` toward plus infinity in f32. The operands are `2^23 * 2^-23` and `2^23 * 2^-53`. With a
//! common exponent the sum is `(2^53 + 2^23) * 2^-53`. The upper 24 bits are kept and the rest is not zero, so
//! rounding up gives `0x3f800001`.
//!
//! Round-to-nearest-even f32 and f64 arithmetic uses the host's instructions instead. IEEE 754 makes them
//! bit-identical except for NaNs, which are made canonical here.
//!
//! # NaN
//!
//! A NaN result of an f32, f16 or bf16 operation is canonical (`0x7fffffff`, `0x7fff`, `0x7fff`). Double precision
//! keeps the payload of the first NaN operand, made quiet; an invalid operation gives `0xfff8000000000000`.
//!
//! # Flushing
//!
//! With `ftz`, a subnormal input counts as a zero of its sign, and a result that is subnormal after rounding becomes a
//! zero of its sign.

mod approx;
mod arith;
mod convert;
mod fixed;
mod format;
mod half_ops;
mod minmax;
mod rounding;

#[cfg(test)]
mod tests;

pub use approx::{
    bf16_ex2, bf16_tanh, f16_ex2, f16_tanh, f32_cos, f32_div_approx, f32_div_full, f32_ex2, f32_lg2, f32_rcp_approx,
    f32_rsqrt, f32_sin, f32_sqrt_approx, f32_tanh, f64_rcp_approx_ftz, f64_rsqrt_approx, f64_rsqrt_approx_ftz,
};
pub use arith::{
    abs, add, compare, copysign, div, f32_add, f32_div, f32_fma, f32_mul, f32_rcp, f32_sqrt, f32_sub, f64_add, f64_div,
    f64_fma, f64_mul, f64_rcp, f64_sqrt, f64_sub, fma, mul, neg, sqrt, sub,
};
pub use convert::{
    CvtOpts, IntType, convert, cvt_pack, float_to_int, int_to_float, int_to_int, round_to_integral, scaled_from,
};
pub use fixed::{s2f6_from_float, s2f6_to_float};
pub use format::{FloatClass, Format, Spec, Unpacked};
pub use half_ops::{
    bf16_add, bf16_fma, bf16_mul, bf16_sub, f16_add, f16_fma, f16_mul, f16_sub, map1_x2, map2_x2, map3_x2,
};
pub use minmax::{MinMax, max, max3, min, min3};
pub use rounding::{Flags, Rounding};
