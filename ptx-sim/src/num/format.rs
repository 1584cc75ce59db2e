//! Floating-point formats: one table of parameters, one decoder, one encoder.

use super::rounding::Rounding;

/// A floating-point format of the PTX instruction set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    F64,
    F32,
    F16,
    Bf16,
    /// f32's container with an 11-bit significand. The low 13 bits of the container are ignored on input and zero on
    /// output.
    Tf32,
    /// 4 exponent bits, 3 fraction bits, no infinity, one NaN magnitude.
    E4m3,
    E5m2,
    /// 6-bit formats, in the low bits of a byte; without infinity or NaN.
    E3m2,
    E2m3,
    /// 4-bit format, in the low bits of a byte; without infinity or NaN.
    E2m1,
    /// A power of two, `2^(x-127)`, without sign or zero; `0xff` is NaN.
    Ue8m0,
    /// E4M3 without its sign bit (the block scale of `kind::mxf4nvf4`).
    Ue4m3,
}

/// How a format uses the top of its exponent range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Specials {
    /// All-ones exponent: infinity, or NaN if the fraction is not zero.
    Ieee,
    /// Only the all-ones pattern is NaN; without infinity.
    NanOnly,
    /// Every pattern is a number.
    None,
}

/// The parameters of one format.
#[derive(Clone, Copy, Debug)]
pub struct Spec {
    /// Width of the value in bits, sign included.
    pub bits: u32,
    pub exponent_bits: u32,
    /// Explicit fraction bits.
    pub fraction_bits: u32,
    pub bias: i32,
    pub specials: Specials,
    pub signed: bool,
    /// Low bits of the container below the value (tf32: 13).
    pub low_padding: u32,
    /// The bit pattern used for NaN results, if the format has NaN.
    pub nan: Option<u64>,
}

const fn spec(bits: u32, exponent_bits: u32, fraction_bits: u32, specials: Specials, nan: Option<u64>) -> Spec {
    Spec {
        bits,
        exponent_bits,
        fraction_bits,
        bias: (1 << (exponent_bits - 1)) - 1,
        specials,
        signed: true,
        low_padding: 0,
        nan,
    }
}

const F64: Spec = spec(64, 11, 52, Specials::Ieee, Some(0xfff8_0000_0000_0000));
const F32: Spec = spec(32, 8, 23, Specials::Ieee, Some(0x7fff_ffff));
const F16: Spec = spec(16, 5, 10, Specials::Ieee, Some(0x7fff));
const BF16: Spec = spec(16, 8, 7, Specials::Ieee, Some(0x7fff));
const TF32: Spec = Spec { low_padding: 13, ..spec(19, 8, 10, Specials::Ieee, Some(0x7fff_ffff)) };
const E4M3: Spec = spec(8, 4, 3, Specials::NanOnly, Some(0x7f));
const E5M2: Spec = spec(8, 5, 2, Specials::Ieee, Some(0x7f));
const E3M2: Spec = spec(6, 3, 2, Specials::None, None);
const E2M3: Spec = spec(6, 2, 3, Specials::None, None);
const E2M1: Spec = spec(4, 2, 1, Specials::None, None);
const UE8M0: Spec = Spec { signed: false, bias: 127, ..spec(8, 8, 0, Specials::NanOnly, Some(0xff)) };
const UE4M3: Spec = Spec { signed: false, ..spec(7, 4, 3, Specials::NanOnly, Some(0x7f)) };

/// The class of a bit pattern's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FloatClass {
    Zero,
    Finite,
    Infinity,
    Nan,
}

/// A decoded value: `(-1)^negative * significand * 2^exponent`.
///
/// The significand is non-zero exactly for [`FloatClass::Finite`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unpacked {
    pub class: FloatClass,
    pub negative: bool,
    pub significand: u128,
    pub exponent: i32,
    /// Whether a positive amount smaller than one unit of `significand` was cut off.
    pub sticky: bool,
}

impl Unpacked {
    pub const fn zero(negative: bool) -> Self {
        Self { class: FloatClass::Zero, negative, significand: 0, exponent: 0, sticky: false }
    }
    pub const fn infinity(negative: bool) -> Self {
        Self { class: FloatClass::Infinity, negative, significand: 0, exponent: 0, sticky: false }
    }
    pub const fn nan() -> Self {
        Self { class: FloatClass::Nan, negative: false, significand: 0, exponent: 0, sticky: false }
    }
    /// A finite value, or zero if the significand is zero.
    pub const fn finite(negative: bool, significand: u128, exponent: i32) -> Self {
        let class = if significand == 0 { FloatClass::Zero } else { FloatClass::Finite };
        Self { class, negative, significand, exponent, sticky: false }
    }
    pub fn is_nan(&self) -> bool {
        self.class == FloatClass::Nan
    }
    pub fn is_zero(&self) -> bool {
        self.class == FloatClass::Zero
    }
    pub fn is_infinite(&self) -> bool {
        self.class == FloatClass::Infinity
    }
    /// The significand shifted so that its top bit is bit `top`; exact if the significand is not longer than that.
    pub(super) fn normalized(&self, top: u32) -> (u128, i32) {
        let length = 128 - self.significand.leading_zeros();
        debug_assert!(length <= top + 1, "normalization must not drop bits");
        let shift = top + 1 - length;
        (self.significand << shift, self.exponent - shift as i32)
    }
}

/// Options of the encoder in addition to rounding.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PackOpts {
    pub ftz: bool,
    /// Overflow and infinity become the largest finite magnitude.
    pub satfinite: bool,
}

impl Format {
    /// The parameters of the format.
    pub const fn spec(self) -> Spec {
        match self {
            Format::F64 => F64,
            Format::F32 => F32,
            Format::F16 => F16,
            Format::Bf16 => BF16,
            Format::Tf32 => TF32,
            Format::E4m3 => E4M3,
            Format::E5m2 => E5M2,
            Format::E3m2 => E3M2,
            Format::E2m3 => E2M3,
            Format::E2m1 => E2M1,
            Format::Ue8m0 => UE8M0,
            Format::Ue4m3 => UE4M3,
        }
    }

    /// Bits that one element occupies in a densely packed register or memory: 4 for E2M1, 8 for the 6-bit formats, 32
    /// for tf32.
    pub const fn container_bits(self) -> u32 {
        match self {
            Format::F64 => 64,
            Format::F32 | Format::Tf32 => 32,
            Format::F16 | Format::Bf16 => 16,
            Format::E2m1 => 4,
            _ => 8,
        }
    }

    /// The pattern of the largest finite magnitude, without sign or padding.
    const fn max_magnitude(self) -> u64 {
        let s = self.spec();
        let magnitude_bits = s.exponent_bits + s.fraction_bits;
        let all = if magnitude_bits == 64 { u64::MAX } else { (1 << magnitude_bits) - 1 };
        match s.specials {
            Specials::None => all,
            Specials::NanOnly => all - 1,
            Specials::Ieee => (all >> s.fraction_bits << s.fraction_bits) - 1,
        }
    }

    /// The largest finite value of the given sign.
    pub const fn max_finite(self, negative: bool) -> u64 {
        self.assemble(negative, self.max_magnitude())
    }

    /// The pattern of a zero; the smallest value of a format without zero.
    pub const fn zero(self, negative: bool) -> u64 {
        self.assemble(negative, 0)
    }

    /// The pattern of an infinity. Formats without infinity return their NaN, or their largest magnitude if they lack
    /// NaN too.
    pub const fn infinity(self, negative: bool) -> u64 {
        let s = self.spec();
        match (s.specials, s.nan) {
            (Specials::Ieee, _) => self.assemble(negative, self.max_magnitude() + 1),
            (Specials::NanOnly, Some(nan)) => {
                if s.signed && negative {
                    nan | 1 << (s.bits - 1)
                } else {
                    nan
                }
            }
            _ => self.max_finite(negative),
        }
    }

    /// The NaN used for results; for formats without NaN the largest positive value, as `cvt` requires.
    pub const fn nan(self) -> u64 {
        match self.spec().nan {
            Some(nan) => nan,
            None => self.max_finite(false),
        }
    }

    const fn assemble(self, negative: bool, magnitude: u64) -> u64 {
        let s = self.spec();
        let sign = if negative && s.signed { 1 << (s.bits - 1) } else { 0 };
        (sign | magnitude) << s.low_padding
    }

    /// Decodes the low bits of `bits`; higher bits are ignored.
    pub fn unpack(self, bits: u64) -> Unpacked {
        let s = self.spec();
        let value = bits >> s.low_padding;
        let fraction = value & ((1 << s.fraction_bits) - 1);
        let exponent_mask = (1u64 << s.exponent_bits) - 1;
        let exponent = value >> s.fraction_bits & exponent_mask;
        let negative = s.signed && value >> (s.bits - 1) & 1 == 1;
        let mut result = Unpacked::zero(negative);
        match s.specials {
            Specials::Ieee if exponent == exponent_mask => {
                // tf32 examines the whole container: a payload in the padding still makes a NaN.
                let padding = bits & ((1 << s.low_padding) - 1);
                result.class = if fraction == 0 && padding == 0 { FloatClass::Infinity } else { FloatClass::Nan };
                return result;
            }
            Specials::NanOnly if exponent == exponent_mask && fraction == (1 << s.fraction_bits) - 1 => {
                result.class = FloatClass::Nan;
                return result;
            }
            _ => {}
        }
        if self == Format::Ue8m0 {
            return Unpacked::finite(false, 1, exponent as i32 - s.bias);
        }
        let lowest = 1 - s.bias - s.fraction_bits as i32;
        if exponent == 0 {
            return Unpacked::finite(negative, fraction.into(), lowest);
        }
        Unpacked::finite(negative, (fraction | 1 << s.fraction_bits).into(), lowest + exponent as i32 - 1)
    }

    /// Whether the pattern is a subnormal number of this format.
    pub fn is_subnormal(self, bits: u64) -> bool {
        let s = self.spec();
        let value = bits >> s.low_padding;
        self != Format::Ue8m0
            && value >> s.fraction_bits & ((1 << s.exponent_bits) - 1) == 0
            && value & ((1 << s.fraction_bits) - 1) != 0
    }

    /// Replaces a subnormal pattern by the zero of its sign.
    pub fn flush(self, bits: u64) -> u64 {
        if self.is_subnormal(bits) { self.zero(self.unpack(bits).negative) } else { bits }
    }

    pub fn is_nan(self, bits: u64) -> bool {
        self.unpack(bits).is_nan()
    }

    /// Rounds `value` into this format.
    pub(super) fn pack(self, value: &Unpacked, rounding: Rounding, opts: PackOpts) -> u64 {
        match value.class {
            FloatClass::Nan => return self.nan(),
            FloatClass::Infinity if opts.satfinite => return self.max_finite(value.negative),
            FloatClass::Infinity => return self.infinity(value.negative),
            FloatClass::Zero => return self.zero(value.negative),
            FloatClass::Finite => {}
        }
        if self == Format::Ue8m0 {
            return pack_power_of_two(value, rounding, opts);
        }
        let s = self.spec();
        let length = (128 - value.significand.leading_zeros()) as i32;
        let top = value.exponent + length - 1;
        let lowest = 1 - s.bias - s.fraction_bits as i32;
        let quantum = (top - s.fraction_bits as i32).max(lowest);
        let mut kept = round_to_quantum(value, quantum, rounding);
        let mut quantum = quantum;
        if kept >> (s.fraction_bits + 1) != 0 {
            // Rounding carried into a new top bit, so the low bit is zero.
            kept >>= 1;
            quantum += 1;
        }
        let normal = kept >> s.fraction_bits != 0;
        if !normal && (opts.ftz || kept == 0) {
            return self.zero(value.negative);
        }
        let biased = if normal { (quantum - lowest + 1) as u64 } else { 0 };
        let magnitude = (biased << s.fraction_bits) + (kept & ((1 << s.fraction_bits) - 1));
        if biased >> s.exponent_bits != 0 || magnitude > self.max_magnitude() {
            let saturates = opts.satfinite
                || match rounding {
                    Rounding::NearestEven | Rounding::NearestAway => false,
                    Rounding::TowardZero | Rounding::Stochastic { .. } => true,
                    Rounding::Down => !value.negative,
                    Rounding::Up => value.negative,
                };
            return if saturates { self.max_finite(value.negative) } else { self.infinity(value.negative) };
        }
        self.assemble(value.negative, magnitude)
    }
}

/// Rounds `|value| / 2^quantum` to an integer, in the direction given by `rounding` and the sign of `value`.
///
/// The result must fit 64 bits, which holds for every format, and for integer conversions after their range check.
pub(super) fn round_to_quantum(value: &Unpacked, quantum: i32, rounding: Rounding) -> u64 {
    let shift = quantum - value.exponent;
    if shift <= 0 {
        debug_assert!(!value.sticky, "a value with a cut-off tail needs more bits than the result");
        return (value.significand << -shift) as u64;
    }
    let shift = shift as u32;
    let kept = if shift >= 128 { 0 } else { (value.significand >> shift) as u64 };
    let lost = if shift >= 128 { value.significand } else { value.significand & ((1 << shift) - 1) };
    let inexact = lost != 0 || value.sticky;
    let half = shift <= 128 && lost >> (shift - 1) & 1 == 1;
    let beyond_half = half && (lost & ((1u128 << (shift - 1)) - 1) != 0 || value.sticky);
    let up = match rounding {
        Rounding::NearestEven => beyond_half || half && kept & 1 == 1,
        Rounding::NearestAway => half,
        Rounding::TowardZero => false,
        Rounding::Down => inexact && value.negative,
        Rounding::Up => inexact && !value.negative,
        Rounding::Stochastic { bits, width } => {
            let width = u32::from(width);
            let top = if shift >= width {
                let down = shift - width;
                if down >= 128 { 0 } else { (lost >> down) as u64 }
            } else {
                (lost as u64) << (width - shift)
            };
            let random = u64::from(bits) & ((1 << width) - 1);
            (top + random) >> width != 0
        }
    };
    kept + u64::from(up)
}

/// UE8M0 ignores the sign and has two roundings: down to the next lower power of two, and up to the next higher one.
fn pack_power_of_two(value: &Unpacked, rounding: Rounding, opts: PackOpts) -> u64 {
    let length = 128 - value.significand.leading_zeros();
    let below = value.exponent + length as i32 - 1;
    let exact = value.significand.is_power_of_two() && !value.sticky;
    let up = match rounding {
        Rounding::Up => !exact,
        // The midpoint of a binade is 1.5; ties go to the even exponent code.
        Rounding::NearestEven | Rounding::NearestAway => {
            let half = length >= 2 && value.significand >> (length - 2) & 1 == 1;
            let tail = length >= 2 && (value.significand & ((1 << (length - 2)) - 1) != 0 || value.sticky);
            half && (tail || rounding == Rounding::NearestAway || (below + 127) & 1 == 1)
        }
        _ => false,
    };
    let code = below + i32::from(up) + 127;
    match code {
        i32::MIN..=-1 => 0,
        0..=254 => code as u64,
        _ if opts.satfinite || rounding == Rounding::TowardZero => 0xfe,
        _ => 0xff,
    }
}
