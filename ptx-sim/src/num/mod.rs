//! Exact floating point for the simulator.
//!
//! Every arithmetic result of a PTX instruction is a function of bit patterns,
//! a rounding mode and a few flags, and nothing else: no host rounding mode, no
//! host NaN payload, no host math library. Values travel as bit patterns in the
//! low bits of an integer, because that is what a register holds.
//!
//! # How a result is made
//!
//! 1. [`Format::unpack`] turns bits into a class, a sign and an integer
//!    significand times a power of two;
//! 2. the operation is carried out on integers of 128 bits, keeping one
//!    *sticky* fact: whether anything non-zero was cut off below;
//! 3. [`Format::pack`] rounds once and applies overflow and saturation.
//!
//! Worked example, `1.0 + 2^-30` toward plus infinity in f32. The operands are
//! `2^23 * 2^-23` and `2^23 * 2^-53`. After both are moved to a common exponent
//! the sum is `(2^53 + 2^23) * 2^-53`; 24 bits are kept, the rest is not zero,
//! so rounding up gives `0x3f800001`.
//!
//! Round-to-nearest-even f32 and f64 arithmetic takes the host's instructions
//! instead, which IEEE 754 makes bit-identical apart from NaNs; NaN results are
//! put into the canonical form here.
//!
//! # NaN
//!
//! A NaN result of an f32, f16 or bf16 operation is the canonical one
//! (`0x7fffffff`, `0x7fff`, `0x7fff`). Double precision keeps the payload of the
//! first NaN operand, made quiet; an invalid operation gives
//! `0xfff8000000000000`.
//!
//! # Flushing
//!
//! With `ftz` a subnormal input counts as a zero of its sign, and a result that
//! is subnormal after rounding becomes a zero of its sign.

mod approx;
mod arith;
mod convert;
mod fixed;
mod format;
mod half_ops;
mod minmax;

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
pub use format::{Class, Format, Spec, Unpacked};
pub use half_ops::{
    bf16_add, bf16_fma, bf16_mul, bf16_sub, f16_add, f16_fma, f16_mul, f16_sub, map1_x2, map2_x2, map3_x2,
};
pub use minmax::{MinMax, max, max3, min, min3};

/// How a value between two representable neighbours is rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Rounding {
    /// To nearest, ties to the even significand (`.rn`, `.rni`).
    #[default]
    NearestEven,
    /// To nearest, ties away from zero (`.rna`).
    NearestAway,
    /// Toward zero (`.rz`, `.rzi`).
    TowardZero,
    /// Toward minus infinity (`.rm`, `.rmi`).
    Down,
    /// Toward plus infinity (`.rp`, `.rpi`).
    Up,
    /// Stochastic (`.rs`): the top `width` discarded bits plus `bits`; a carry
    /// rounds away from zero. `width` is 1..=32.
    Stochastic { bits: u32, width: u8 },
}

/// Modifiers of an arithmetic instruction, apart from its rounding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Flags {
    /// Subnormal inputs and results become zeros of their sign.
    pub ftz: bool,
    /// The result is clamped to [0, 1]; NaN becomes +0.
    pub sat: bool,
    /// A negative result becomes +0; NaN becomes the canonical NaN.
    pub relu: bool,
}
