//! `s2f6`: a signed fixed-point byte in units of 1/64.

use super::format::{FloatClass, Format, Unpacked, round_to_quantum};
use super::rounding::Rounding;

/// Divides by `2^scale_exponent`, rounds to nearest even in units of 1/64 and clamps to -2..=127/64. NaN gives the
/// largest positive value; `relu` turns a negative result into zero.
pub fn s2f6_from_float(source: Format, bits: u64, scale_exponent: i32, relu: bool) -> u8 {
    let mut value = source.unpack(bits);
    value.exponent -= scale_exponent;
    let negative = value.negative && !value.is_nan();
    if negative && relu {
        return 0;
    }
    let limit: u64 = if negative { 128 } else { 127 };
    let magnitude = match value.class {
        FloatClass::Nan | FloatClass::Infinity => limit,
        FloatClass::Zero => 0,
        FloatClass::Finite => {
            let length = 128 - value.significand.leading_zeros() as i32;
            if value.exponent + length > 16 {
                limit
            } else {
                round_to_quantum(&value, -6, Rounding::NearestEven).min(limit)
            }
        }
    };
    if negative { (magnitude as u8).wrapping_neg() } else { magnitude as u8 }
}

/// The value of an `s2f6` byte times `2^scale_exponent`, in `destination`.
pub fn s2f6_to_float(byte: u8, scale_exponent: i32, destination: Format, satfinite: bool, relu: bool) -> u64 {
    let integer = i32::from(byte as i8);
    if relu && integer < 0 {
        return destination.zero(false);
    }
    let value = Unpacked::finite(integer < 0, integer.unsigned_abs().into(), scale_exponent - 6);
    let opts = super::format::PackOpts { ftz: false, satfinite };
    destination.pack(&value, Rounding::NearestEven, opts)
}
