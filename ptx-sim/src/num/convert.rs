//! The `cvt` family between floats and integers, element by element.
//!
//! The caller handles packed forms: it splits a register into elements, converts each here, and packs the results (the
//! first source operand goes to the upper part).

use super::arith::one;
use super::format::{FloatClass, Format, PackOpts, Unpacked, round_to_quantum};
use super::rounding::Rounding;

/// Modifiers of a float-to-float conversion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct CvtOpts {
    pub rounding: Rounding,
    /// Subnormal f32 inputs and results become zeros of the same sign.
    pub ftz: bool,
    /// Clamp to [0, 1], NaN to +0.
    pub sat: bool,
    /// Clamp magnitudes to the largest finite value.
    pub satfinite: bool,
    /// Negative results become +0.
    pub relu: bool,
}

/// An integer type of 1 to 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct IntType {
    pub bits: u32,
    pub signed: bool,
}

impl IntType {
    pub const U8: Self = Self { bits: 8, signed: false };
    pub const S8: Self = Self { bits: 8, signed: true };
    pub const U16: Self = Self { bits: 16, signed: false };
    pub const S16: Self = Self { bits: 16, signed: true };
    pub const U32: Self = Self { bits: 32, signed: false };
    pub const S32: Self = Self { bits: 32, signed: true };
    pub const U64: Self = Self { bits: 64, signed: false };
    pub const S64: Self = Self { bits: 64, signed: true };

    pub const fn min(self) -> i128 {
        if self.signed { -(1 << (self.bits - 1)) } else { 0 }
    }
    pub const fn max(self) -> i128 {
        if self.signed { (1 << (self.bits - 1)) - 1 } else { (1 << self.bits) - 1 }
    }
    /// The value of the low bits of `raw`.
    pub const fn value(self, raw: u64) -> i128 {
        let low = raw as i128 & ((1 << self.bits) - 1);
        if self.signed && low >> (self.bits - 1) & 1 == 1 { low - (1 << self.bits) } else { low }
    }
    /// The low bits of `value`; higher bits of the result are zero.
    pub const fn raw(self, value: i128) -> u64 {
        (value & ((1 << self.bits) - 1)) as u64
    }
}

/// Converts one element between float formats.
///
/// A conversion to a wider format is exact and ignores the rounding mode. NaN gives the destination's NaN (f64 to f64
/// keeps the payload); formats without NaN return their largest positive value.
pub fn convert(source: Format, bits: u64, destination: Format, opts: &CvtOpts) -> u64 {
    if let Some(result) = common(source, bits, destination, opts) {
        return result;
    }
    convert_exactly(source, bits, destination, opts)
}

/// Fast paths for the most frequent conversions: f32 to bfloat16 with rounding to nearest even, and widening of both
/// half formats.
fn common(source: Format, bits: u64, destination: Format, opts: &CvtOpts) -> Option<u64> {
    if *opts != CvtOpts::default() {
        return None;
    }
    match (source, destination) {
        (Format::F32, Format::Bf16) => {
            let word = bits & 0xffff_ffff;
            // Adding just under half, or half for an odd result, carries exactly when rounding up.
            let rounded = (word + 0x7fff + (word >> 16 & 1)) >> 16;
            Some(if word & 0x7fff_ffff > 0x7f80_0000 { 0x7fff } else { rounded })
        }
        (Format::Bf16, Format::F32) => {
            Some(if bits & 0x7fff > 0x7f80 { Format::F32.nan() } else { (bits & 0xffff) << 16 })
        }
        (Format::F16, Format::F32) => {
            let magnitude = bits & 0x7fff;
            // For normal numbers, shifts the fraction and adjusts the bias.
            ((0x0400..0x7c00).contains(&magnitude)).then(|| (bits & 0x8000) << 16 | ((magnitude << 13) + (112 << 23)))
        }
        _ => None,
    }
}

/// [`convert`] by decoding and encoding, without fast paths.
pub(super) fn convert_exactly(source: Format, bits: u64, destination: Format, opts: &CvtOpts) -> u64 {
    let ftz_in = opts.ftz && source == Format::F32;
    let ftz_out = opts.ftz && destination == Format::F32;
    let value = source.unpack(if ftz_in { source.flush(bits) } else { bits });
    convert_unpacked(&value, destination, opts, ftz_out).unwrap_or_else(|| {
        if source == Format::F64 && destination == Format::F64 { bits | 1 << 51 } else { destination.nan() }
    })
}

/// Like [`convert`], with the input first multiplied by `2^exponent`, for the `.scaled::n2::ue8m0` forms.
///
/// The instruction converts to the destination type and then multiplies. For the narrow sources with this form, both
/// steps are exact unless the product leaves the destination's range. A single rounding therefore gives the same
/// value.
pub fn scaled_from(source: Format, bits: u64, exponent: i32, destination: Format, opts: &CvtOpts) -> u64 {
    let mut value = source.unpack(bits);
    value.exponent += exponent;
    convert_unpacked(&value, destination, opts, false).unwrap_or(destination.nan())
}

/// Returns `None` for a NaN that stays a NaN.
fn convert_unpacked(value: &Unpacked, destination: Format, opts: &CvtOpts, ftz_out: bool) -> Option<u64> {
    if value.is_nan() {
        return if opts.sat { Some(destination.zero(false)) } else { None };
    }
    // UE8M0 has no sign, so the magnitude is converted.
    if value.negative && (opts.sat || opts.relu) && destination.spec().signed {
        return Some(destination.zero(false));
    }
    let result = destination.pack(value, opts.rounding, PackOpts { ftz: ftz_out, satfinite: opts.satfinite });
    Some(if opts.sat { result.min(one(destination)) } else { result })
}

/// Rounds to an integral value in the same format (`cvt.rni.f32.f32` and so on). A zero result has the sign of the
/// input.
pub fn round_to_integral(format: Format, bits: u64, rounding: Rounding, opts: &CvtOpts) -> u64 {
    let value = format.unpack(if opts.ftz { format.flush(bits) } else { bits });
    let integral = if value.class == FloatClass::Finite && value.exponent < 0 {
        Unpacked::finite(value.negative, round_to_quantum(&value, 0, rounding).into(), 0)
    } else {
        value
    };
    let opts = CvtOpts { rounding: Rounding::TowardZero, ..*opts };
    convert_unpacked(&integral, format, &opts, false).unwrap_or(if format == Format::F64 {
        bits | 1 << 51
    } else {
        format.nan()
    })
}

/// Converts a float to an integer; values out of range are clamped.
///
/// NaN gives 0, except from f64 or to a 64-bit integer, where it gives the pattern with only the top bit set.
pub fn float_to_int(source: Format, bits: u64, destination: IntType, rounding: Rounding, ftz: bool) -> u64 {
    let value = source.unpack(if ftz { source.flush(bits) } else { bits });
    let clamp = |negative: bool| destination.raw(if negative { destination.min() } else { destination.max() });
    match value.class {
        FloatClass::Nan if source != Format::F64 && destination.bits != 64 => 0,
        FloatClass::Nan => 1 << (destination.bits - 1),
        FloatClass::Infinity => clamp(value.negative),
        FloatClass::Zero => 0,
        FloatClass::Finite => {
            let length = 128 - value.significand.leading_zeros() as i32;
            if value.exponent + length > 64 {
                return clamp(value.negative);
            }
            let magnitude = i128::from(round_to_quantum(&value, 0, rounding));
            let rounded = if value.negative { -magnitude } else { magnitude };
            destination.raw(rounded.clamp(destination.min(), destination.max()))
        }
    }
}

/// Converts an integer (the low bits of `raw`) to a float.
pub fn int_to_float(source: IntType, raw: u64, destination: Format, opts: &CvtOpts) -> u64 {
    let integer = source.value(raw);
    let value = Unpacked::finite(integer < 0, integer.unsigned_abs(), 0);
    convert_unpacked(&value, destination, opts, false).unwrap_or(destination.nan())
}

/// Converts between integers: truncates or extends, or clamps with `sat`. The result occupies the low bits of the
/// destination's width.
pub fn int_to_int(source: IntType, raw: u64, destination: IntType, sat: bool) -> u64 {
    let value = source.value(raw);
    destination.raw(if sat { value.clamp(destination.min(), destination.max()) } else { value })
}

/// `cvt.pack.sat`: clamps `a` and `b` to `element`; `b` goes to the lowest position, `a` to the next, and `c` is
/// shifted above them.
pub fn cvt_pack(element: IntType, a: u32, b: u32, c: u32) -> u32 {
    let clamp = |x: u32| int_to_int(IntType::S32, x.into(), element, true);
    let pair = clamp(b) | clamp(a) << element.bits;
    if element.bits == 16 { pair as u32 } else { (pair | u64::from(c) << (2 * element.bits)) as u32 }
}
