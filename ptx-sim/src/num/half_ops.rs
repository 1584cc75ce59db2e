//! Half-precision arithmetic: `.f16`, `.bf16` and their packed pairs.

use super::arith;
use super::format::Format;
use super::rounding::{Flags, Rounding};

macro_rules! half {
    ($format:expr, $add:ident, $sub:ident, $mul:ident, $fma:ident) => {
        /// Sum, rounded to nearest even.
        pub fn $add(a: u16, b: u16, flags: Flags) -> u16 {
            arith::add($format, a.into(), b.into(), Rounding::NearestEven, flags) as u16
        }
        /// Difference, rounded to nearest even.
        pub fn $sub(a: u16, b: u16, flags: Flags) -> u16 {
            arith::sub($format, a.into(), b.into(), Rounding::NearestEven, flags) as u16
        }
        /// Product, rounded to nearest even.
        pub fn $mul(a: u16, b: u16, flags: Flags) -> u16 {
            arith::mul($format, a.into(), b.into(), Rounding::NearestEven, flags) as u16
        }
        /// Fused multiply-add, rounded once. With `oob` the result is +0 if `a` or `b` is the out-of-bounds NaN
        /// `0xffff`.
        pub fn $fma(a: u16, b: u16, c: u16, flags: Flags, oob: bool) -> u16 {
            if oob && (a == OOB_NAN || b == OOB_NAN) {
                return 0;
            }
            arith::fma($format, a.into(), b.into(), c.into(), Rounding::NearestEven, flags) as u16
        }
    };
}

/// The NaN that `.oob` instructions treat as out of bounds in half types.
const OOB_NAN: u16 = 0xffff;

half!(Format::F16, f16_add, f16_sub, f16_mul, f16_fma);
half!(Format::Bf16, bf16_add, bf16_sub, bf16_mul, bf16_fma);

/// Applies `f` to both halves; the low half is element 0.
pub fn map1_x2(a: u32, f: impl Fn(u16) -> u16) -> u32 {
    u32::from(f(a as u16)) | u32::from(f((a >> 16) as u16)) << 16
}

/// Applies `f` to both halves of two packed operands.
pub fn map2_x2(a: u32, b: u32, f: impl Fn(u16, u16) -> u16) -> u32 {
    u32::from(f(a as u16, b as u16)) | u32::from(f((a >> 16) as u16, (b >> 16) as u16)) << 16
}

/// Applies `f` to both halves of three packed operands.
pub fn map3_x2(a: u32, b: u32, c: u32, f: impl Fn(u16, u16, u16) -> u16) -> u32 {
    let low = f(a as u16, b as u16, c as u16);
    let high = f((a >> 16) as u16, (b >> 16) as u16, (c >> 16) as u16);
    u32::from(low) | u32::from(high) << 16
}
