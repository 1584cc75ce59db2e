//! Addition, multiplication, fused multiply-add, division and square root with a single rounding, in every format and
//! rounding mode.

use std::cmp::Ordering;

use super::format::{FloatClass, Format, PackOpts, Unpacked};
use super::rounding::{Flags, Rounding};

/// f32 `add`.
pub fn f32_add(a: u32, b: u32, rounding: Rounding, ftz: bool, sat: bool) -> u32 {
    if rounding == Rounding::NearestEven {
        let [a, b] = [a, b].map(|x| f32_input(x, ftz));
        return f32_output(a + b, ftz, sat);
    }
    add(Format::F32, a.into(), b.into(), rounding, Flags { ftz, sat, relu: false }) as u32
}

/// f32 `sub`.
pub fn f32_sub(a: u32, b: u32, rounding: Rounding, ftz: bool, sat: bool) -> u32 {
    f32_add(a, b ^ 1 << 31, rounding, ftz, sat)
}

/// f32 `mul`.
pub fn f32_mul(a: u32, b: u32, rounding: Rounding, ftz: bool, sat: bool) -> u32 {
    if rounding == Rounding::NearestEven {
        let [a, b] = [a, b].map(|x| f32_input(x, ftz));
        return f32_output(a * b, ftz, sat);
    }
    mul(Format::F32, a.into(), b.into(), rounding, Flags { ftz, sat, relu: false }) as u32
}

/// f32 `fma`.
pub fn f32_fma(a: u32, b: u32, c: u32, rounding: Rounding, ftz: bool, sat: bool) -> u32 {
    if rounding == Rounding::NearestEven {
        let [a, b, c] = [a, b, c].map(|x| f32_input(x, ftz));
        return f32_output(a.mul_add(b, c), ftz, sat);
    }
    fma(Format::F32, a.into(), b.into(), c.into(), rounding, Flags { ftz, sat, relu: false }) as u32
}

/// f32 `div` with IEEE rounding.
pub fn f32_div(a: u32, b: u32, rounding: Rounding, ftz: bool) -> u32 {
    if rounding == Rounding::NearestEven {
        let [a, b] = [a, b].map(|x| f32_input(x, ftz));
        return f32_output(a / b, ftz, false);
    }
    div(Format::F32, a.into(), b.into(), rounding, Flags { ftz, ..Flags::default() }) as u32
}

/// f32 `rcp` with IEEE rounding.
pub fn f32_rcp(a: u32, rounding: Rounding, ftz: bool) -> u32 {
    f32_div(1f32.to_bits(), a, rounding, ftz)
}

/// f32 `sqrt` with IEEE rounding.
pub fn f32_sqrt(a: u32, rounding: Rounding, ftz: bool) -> u32 {
    if rounding == Rounding::NearestEven {
        return f32_output(f32_input(a, ftz).sqrt(), ftz, false);
    }
    sqrt(Format::F32, a.into(), rounding, Flags { ftz, ..Flags::default() }) as u32
}

/// f64 `add`.
pub fn f64_add(a: u64, b: u64, rounding: Rounding) -> u64 {
    if rounding == Rounding::NearestEven {
        return f64_output(f64::from_bits(a) + f64::from_bits(b), &[a, b]);
    }
    add(Format::F64, a, b, rounding, Flags::default())
}

/// f64 `sub`.
pub fn f64_sub(a: u64, b: u64, rounding: Rounding) -> u64 {
    if rounding == Rounding::NearestEven {
        return f64_output(f64::from_bits(a) - f64::from_bits(b), &[a, b]);
    }
    sub(Format::F64, a, b, rounding, Flags::default())
}

/// f64 `mul`.
pub fn f64_mul(a: u64, b: u64, rounding: Rounding) -> u64 {
    if rounding == Rounding::NearestEven {
        return f64_output(f64::from_bits(a) * f64::from_bits(b), &[a, b]);
    }
    mul(Format::F64, a, b, rounding, Flags::default())
}

/// f64 `fma`.
pub fn f64_fma(a: u64, b: u64, c: u64, rounding: Rounding) -> u64 {
    if rounding == Rounding::NearestEven {
        return f64_output(f64::from_bits(a).mul_add(f64::from_bits(b), f64::from_bits(c)), &[a, b, c]);
    }
    fma(Format::F64, a, b, c, rounding, Flags::default())
}

/// f64 `div`.
pub fn f64_div(a: u64, b: u64, rounding: Rounding) -> u64 {
    if rounding == Rounding::NearestEven {
        return f64_output(f64::from_bits(a) / f64::from_bits(b), &[a, b]);
    }
    div(Format::F64, a, b, rounding, Flags::default())
}

/// f64 `rcp` with IEEE rounding.
pub fn f64_rcp(a: u64, rounding: Rounding) -> u64 {
    f64_div(1f64.to_bits(), a, rounding)
}

/// f64 `sqrt`.
pub fn f64_sqrt(a: u64, rounding: Rounding) -> u64 {
    if rounding == Rounding::NearestEven {
        return f64_output(f64::from_bits(a).sqrt(), &[a]);
    }
    sqrt(Format::F64, a, rounding, Flags::default())
}

/// `a + b` in any format.
pub fn add(format: Format, a: u64, b: u64, rounding: Rounding, flags: Flags) -> u64 {
    let [x, y] = inputs(format, [a, b], flags);
    finish(format, &add_unpacked(&x, &y, rounding), &[a, b], rounding, flags)
}

/// `a - b` in any format.
pub fn sub(format: Format, a: u64, b: u64, rounding: Rounding, flags: Flags) -> u64 {
    let [x, mut y] = inputs(format, [a, b], flags);
    y.negative = !y.negative;
    finish(format, &add_unpacked(&x, &y, rounding), &[a, b], rounding, flags)
}

/// `a * b` in any format.
pub fn mul(format: Format, a: u64, b: u64, rounding: Rounding, flags: Flags) -> u64 {
    let [x, y] = inputs(format, [a, b], flags);
    finish(format, &mul_unpacked(&x, &y), &[a, b], rounding, flags)
}

/// `a * b + c` in any format, rounded once.
pub fn fma(format: Format, a: u64, b: u64, c: u64, rounding: Rounding, flags: Flags) -> u64 {
    let [x, y, z] = inputs(format, [a, b, c], flags);
    finish(format, &add_unpacked(&mul_unpacked(&x, &y), &z, rounding), &[a, b, c], rounding, flags)
}

/// `a / b` in any format.
pub fn div(format: Format, a: u64, b: u64, rounding: Rounding, flags: Flags) -> u64 {
    let [x, y] = inputs(format, [a, b], flags);
    finish(format, &div_unpacked(&x, &y), &[a, b], rounding, flags)
}

/// The square root of `a` in any format.
pub fn sqrt(format: Format, a: u64, rounding: Rounding, flags: Flags) -> u64 {
    let [x] = inputs(format, [a], flags);
    finish(format, &sqrt_unpacked(&x), &[a], rounding, flags)
}

/// `abs`: clears the sign bit, after flushing with `ftz`. A NaN keeps its payload.
pub fn abs(format: Format, a: u64, ftz: bool) -> u64 {
    let a = if ftz { format.flush(a) } else { a };
    a & !sign_bit(format)
}

/// `neg`: inverts the sign bit, after flushing with `ftz`.
pub fn neg(format: Format, a: u64, ftz: bool) -> u64 {
    let a = if ftz { format.flush(a) } else { a };
    a ^ sign_bit(format)
}

/// `copysign d, a, b`: the magnitude of `b` with the sign of `a`.
pub fn copysign(format: Format, a: u64, b: u64) -> u64 {
    let sign = sign_bit(format);
    a & sign | b & !sign
}

/// The order of two values, or `None` if either is NaN; zeros are equal.
pub fn compare(format: Format, a: u64, b: u64, ftz: bool) -> Option<Ordering> {
    let [x, y] = inputs(format, [a, b], Flags { ftz, ..Flags::default() });
    if x.is_nan() || y.is_nan() {
        return None;
    }
    // Patterns of one format order like their values once the sign is applied.
    let key = |bits: u64, value: &Unpacked| {
        let magnitude = if value.is_zero() { 0 } else { (bits & (sign_bit(format) - 1)) as i128 };
        if value.negative { -magnitude } else { magnitude }
    };
    Some(key(a, &x).cmp(&key(b, &y)))
}

fn sign_bit(format: Format) -> u64 {
    let s = format.spec();
    1 << (s.bits + s.low_padding - 1)
}

/// The exact sum. An exact zero, from two non-zero terms or from zeros of different signs, is -0 only when rounding
/// down.
pub(super) fn add_unpacked(a: &Unpacked, b: &Unpacked, rounding: Rounding) -> Unpacked {
    match (a.class, b.class) {
        (FloatClass::Nan, _) | (_, FloatClass::Nan) => return Unpacked::nan(),
        (FloatClass::Infinity, FloatClass::Infinity) if a.negative != b.negative => return Unpacked::nan(),
        (FloatClass::Infinity, _) => return *a,
        (_, FloatClass::Infinity) => return *b,
        (FloatClass::Zero, FloatClass::Zero) => {
            let negative = if a.negative == b.negative { a.negative } else { rounding == Rounding::Down };
            return Unpacked::zero(negative);
        }
        (FloatClass::Zero, _) => return *b,
        (_, FloatClass::Zero) => return *a,
        (FloatClass::Finite, FloatClass::Finite) => {}
    }
    // Both significands are normalized to bit 125, so that a sum stays below bit 127. Inputs have at most 106 bits (a
    // product of two doubles), so bits are lost from the smaller term only if the exponents differ by more than 19. A
    // subtraction then cancels at most one leading bit, which leaves far more bits above the sticky tail than any
    // format needs.
    const TOP: u32 = 125;
    let (ma, ea) = a.normalized(TOP);
    let (mb, eb) = b.normalized(TOP);
    let ((big, exponent, big_negative), (small, small_exponent, small_negative)) = if (ea, ma) >= (eb, mb) {
        ((ma, ea, a.negative), (mb, eb, b.negative))
    } else {
        ((mb, eb, b.negative), (ma, ea, a.negative))
    };
    let distance = (exponent - small_exponent) as u32;
    let (moved, sticky) =
        if distance >= 128 { (0, true) } else { (small >> distance, small & ((1u128 << distance) - 1) != 0) };
    let significand = if big_negative == small_negative { big + moved } else { big - moved - u128::from(sticky) };
    if significand == 0 {
        return Unpacked::zero(rounding == Rounding::Down);
    }
    Unpacked { class: FloatClass::Finite, negative: big_negative, significand, exponent, sticky }
}

/// The exact product. Significands have at most 53 bits each.
pub(super) fn mul_unpacked(a: &Unpacked, b: &Unpacked) -> Unpacked {
    let negative = a.negative != b.negative;
    match (a.class, b.class) {
        (FloatClass::Nan, _) | (_, FloatClass::Nan) => Unpacked::nan(),
        (FloatClass::Infinity, FloatClass::Zero) | (FloatClass::Zero, FloatClass::Infinity) => Unpacked::nan(),
        (FloatClass::Infinity, _) | (_, FloatClass::Infinity) => Unpacked::infinity(negative),
        (FloatClass::Zero, _) | (_, FloatClass::Zero) => Unpacked::zero(negative),
        (FloatClass::Finite, FloatClass::Finite) => {
            Unpacked::finite(negative, a.significand * b.significand, a.exponent + b.exponent)
        }
    }
}

fn div_unpacked(a: &Unpacked, b: &Unpacked) -> Unpacked {
    let negative = a.negative != b.negative;
    match (a.class, b.class) {
        (FloatClass::Nan, _) | (_, FloatClass::Nan) => Unpacked::nan(),
        (FloatClass::Infinity, FloatClass::Infinity) | (FloatClass::Zero, FloatClass::Zero) => Unpacked::nan(),
        (FloatClass::Infinity, _) | (_, FloatClass::Zero) => Unpacked::infinity(negative),
        (_, FloatClass::Infinity) | (FloatClass::Zero, _) => Unpacked::zero(negative),
        (FloatClass::Finite, FloatClass::Finite) => {
            // 128 bits divided by at most 53 bits leave a quotient of at least 75 bits.
            let (dividend, exponent) = a.normalized(127);
            let quotient = dividend / b.significand;
            Unpacked {
                class: FloatClass::Finite,
                negative,
                significand: quotient,
                exponent: exponent - b.exponent,
                sticky: dividend % b.significand != 0,
            }
        }
    }
}

fn sqrt_unpacked(a: &Unpacked) -> Unpacked {
    match a.class {
        FloatClass::Nan => Unpacked::nan(),
        FloatClass::Zero => *a,
        _ if a.negative => Unpacked::nan(),
        FloatClass::Infinity => *a,
        FloatClass::Finite => {
            // With an even exponent the root of the power of two is exact.
            let (mut significand, mut exponent) = a.normalized(126);
            if exponent & 1 != 0 {
                significand <<= 1;
                exponent -= 1;
            }
            let root = significand.isqrt();
            Unpacked {
                class: FloatClass::Finite,
                negative: false,
                significand: root,
                exponent: exponent / 2,
                sticky: root * root != significand,
            }
        }
    }
}

fn inputs<const N: usize>(format: Format, bits: [u64; N], flags: Flags) -> [Unpacked; N] {
    bits.map(|b| format.unpack(if flags.ftz { format.flush(b) } else { b }))
}

/// Rounds, saturates, and selects the NaN.
pub(super) fn finish(format: Format, value: &Unpacked, operands: &[u64], rounding: Rounding, flags: Flags) -> u64 {
    if value.is_nan() {
        if flags.sat {
            return format.zero(false);
        }
        return if format == Format::F64 { f64_nan(operands) } else { format.nan() };
    }
    if value.negative && (flags.sat || flags.relu) {
        return format.zero(false);
    }
    let bits = format.pack(value, rounding, PackOpts { ftz: flags.ftz, satfinite: false });
    if flags.sat { bits.min(one(format)) } else { bits }
}

/// The pattern of 1.0: positive patterns order like their values.
pub(super) fn one(format: Format) -> u64 {
    let s = format.spec();
    (s.bias as u64) << s.fraction_bits << s.low_padding
}

fn f32_input(bits: u32, ftz: bool) -> f32 {
    let subnormal = bits & 0x7f80_0000 == 0;
    f32::from_bits(if ftz && subnormal { bits & 1 << 31 } else { bits })
}

fn f32_output(value: f32, ftz: bool, sat: bool) -> u32 {
    if value.is_nan() {
        return if sat { 0 } else { 0x7fff_ffff };
    }
    let bits = value.to_bits();
    if sat && (value <= 0.0 || bits >> 31 == 1) {
        return 0;
    }
    if sat && value > 1.0 {
        return 1f32.to_bits();
    }
    if ftz && bits & 0x7f80_0000 == 0 { bits & 1 << 31 } else { bits }
}

fn f64_output(value: f64, operands: &[u64]) -> u64 {
    if value.is_nan() { f64_nan(operands) } else { value.to_bits() }
}

/// The first NaN operand, made quiet, or the NaN of an invalid operation.
fn f64_nan(operands: &[u64]) -> u64 {
    let nan = operands.iter().find(|&&bits| Format::F64.is_nan(bits));
    nan.map_or(Format::F64.nan(), |bits| bits | 1 << 51)
}
