//! Element types: names, sizes, and decoding.

use half::{bf16, f16};

/// Type of an array's elements or of a scalar argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Element {
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    F16,
    Bf16,
    F32,
    F64,
    /// Eight bits: 4 exponent bits, 3 mantissa bits; no infinities.
    E4m3,
    /// Eight bits: 5 exponent bits, 2 mantissa bits.
    E5m2,
    /// Eight bits, unsigned: 5 exponent bits, 3 mantissa bits; no infinities.
    E5m3,
    /// A power of two, stored as its biased exponent.
    E8m0,
}

/// A decoded element.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// Wide enough for every integer type.
    Int(i128),
    Float(f64),
}

impl Number {
    pub fn to_f64(self) -> f64 {
        match self {
            Number::Int(v) => v as f64,
            Number::Float(v) => v,
        }
    }
}

impl std::fmt::Display for Number {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Number::Int(v) => write!(f, "{v}"),
            Number::Float(v) => write!(f, "{v:?}"),
        }
    }
}

impl Element {
    pub const ALL: [(Element, &'static str); 16] = [
        (Element::I8, "i8"),
        (Element::I16, "i16"),
        (Element::I32, "i32"),
        (Element::I64, "i64"),
        (Element::U8, "u8"),
        (Element::U16, "u16"),
        (Element::U32, "u32"),
        (Element::U64, "u64"),
        (Element::F16, "f16"),
        (Element::Bf16, "bf16"),
        (Element::F32, "f32"),
        (Element::F64, "f64"),
        (Element::E4m3, "e4m3"),
        (Element::E5m2, "e5m2"),
        (Element::E5m3, "e5m3"),
        (Element::E8m0, "e8m0"),
    ];

    pub fn by_name(name: &str) -> Option<Element> {
        Self::ALL.iter().find(|(_, n)| *n == name).map(|(e, _)| *e)
    }

    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(e, _)| *e == self).map_or("", |(_, n)| n)
    }

    /// All names, for messages.
    pub fn names() -> String {
        Self::ALL.map(|(_, n)| n).join(", ")
    }

    /// Size in bytes.
    pub fn size(self) -> usize {
        match self {
            Element::I8 | Element::U8 | Element::E4m3 | Element::E5m2 | Element::E5m3 | Element::E8m0 => 1,
            Element::I16 | Element::U16 | Element::F16 | Element::Bf16 => 2,
            Element::I32 | Element::U32 | Element::F32 => 4,
            Element::I64 | Element::U64 | Element::F64 => 8,
        }
    }

    /// The NumPy type that stores it: kind and size.
    pub fn descr(self) -> &'static str {
        match self {
            Element::I8 => "i1",
            Element::I16 => "i2",
            Element::I32 => "i4",
            Element::I64 => "i8",
            Element::U8 | Element::E4m3 | Element::E5m2 | Element::E5m3 | Element::E8m0 => "u1",
            Element::U16 | Element::Bf16 => "u2",
            Element::U32 => "u4",
            Element::U64 => "u8",
            Element::F16 => "f2",
            Element::F32 => "f4",
            Element::F64 => "f8",
        }
    }

    /// The type in the reference interpreter, whose integer types are signless.
    pub fn number(self) -> tile_interp::types::Number {
        use tile_interp::types::Number::*;
        match self {
            Element::I8 | Element::U8 => I8,
            Element::I16 | Element::U16 => I16,
            Element::I32 | Element::U32 => I32,
            Element::I64 | Element::U64 => I64,
            Element::F16 => F16,
            Element::Bf16 => Bf16,
            Element::F32 => F32,
            Element::F64 => F64,
            Element::E4m3 => E4m3,
            Element::E5m2 => E5m2,
            Element::E5m3 => E5m3,
            Element::E8m0 => E8m0,
        }
    }

    pub fn is_integer(self) -> bool {
        use Element::*;
        matches!(self, I8 | I16 | I32 | I64 | U8 | U16 | U32 | U64)
    }

    /// A mask of the fraction bits; zero for types without a fraction.
    pub fn fraction(self) -> u64 {
        match self {
            Element::F16 => (1 << 10) - 1,
            Element::Bf16 => (1 << 7) - 1,
            Element::F32 => (1 << 23) - 1,
            Element::F64 => (1 << 52) - 1,
            Element::E4m3 | Element::E5m3 => (1 << 3) - 1,
            Element::E5m2 => (1 << 2) - 1,
            _ => 0,
        }
    }

    /// The number in little-endian `bytes`, of which there should be [`Element::size`]. Missing bytes count as zero.
    pub fn decode(self, bytes: &[u8]) -> Number {
        let mut word = [0; 8];
        let n = bytes.len().min(self.size());
        word[..n].copy_from_slice(&bytes[..n]);
        let bits = u64::from_le_bytes(word);
        let int = |v: i64| Number::Int(v.into());
        match self {
            Element::I8 => int((bits as i8).into()),
            Element::I16 => int((bits as i16).into()),
            Element::I32 => int((bits as i32).into()),
            Element::I64 => int(bits as i64),
            Element::U8 | Element::U16 | Element::U32 | Element::U64 => Number::Int(bits.into()),
            Element::F16 => Number::Float(f16::from_bits(bits as u16).to_f64()),
            Element::Bf16 => Number::Float(bf16::from_bits(bits as u16).to_f64()),
            Element::F32 => Number::Float(f32::from_bits(bits as u32).into()),
            Element::F64 => Number::Float(f64::from_bits(bits)),
            Element::E4m3 => Number::Float(fp8(bits as u8, 3, 7)),
            Element::E5m2 => Number::Float(fp8(bits as u8, 2, 15)),
            Element::E5m3 => Number::Float(e5m3(bits as u8)),
            Element::E8m0 => Number::Float(if bits == 255 { f64::NAN } else { 2f64.powi(bits as i32 - 127) }),
        }
    }

    /// Parses a scalar into its bytes: decimal, `0x` followed by the bits, `inf`, `-inf` and `nan` for floats.
    pub fn parse(self, text: &str) -> Result<Vec<u8>, String> {
        let bad = |why: String| format!("'{text}' is not a value of type {}: {why}", self.name());
        let size = self.size();
        let bits: u64 = if let Some(hex) = text.strip_prefix("0x") {
            let bits = u64::from_str_radix(hex, 16).map_err(|e| bad(e.to_string()))?;
            if size < 8 && bits >> (8 * size) != 0 {
                return Err(bad(format!("more than {size} bytes")));
            }
            bits
        } else if self.is_integer() {
            let v: i128 = text.parse().map_err(|e: std::num::ParseIntError| bad(e.to_string()))?;
            let signed = matches!(self, Element::I8 | Element::I16 | Element::I32 | Element::I64);
            let bits = 8 * size as u32;
            // Signed and unsigned values are both accepted: i8:-1 and i8:255.
            let low = if signed { -(1i128 << (bits - 1)) } else { 0 };
            if v < low || v >= 1i128 << bits {
                return Err(bad(format!("out of the range of {bits} bits")));
            }
            v as u64
        } else {
            let v: f64 = text.parse().map_err(|e: std::num::ParseFloatError| bad(e.to_string()))?;
            match self {
                Element::F16 => f16::from_f64(v).to_bits().into(),
                Element::Bf16 => bf16::from_f64(v).to_bits().into(),
                // Parse as f32 directly, so the value is rounded only once.
                Element::F32 => {
                    text.parse::<f32>().map_err(|e: std::num::ParseFloatError| bad(e.to_string()))?.to_bits().into()
                }
                Element::F64 => v.to_bits(),
                _ => return Err(bad("specify the bits, as in e4m3:0x38".into())),
            }
        };
        Ok(bits.to_le_bytes()[..size].to_vec())
    }
}

/// Decodes an 8-bit float with `mantissa` mantissa bits. The format with three has one NaN pattern and no infinities.
fn fp8(bits: u8, mantissa: u32, bias: i32) -> f64 {
    let sign = if bits >> 7 == 1 { -1.0 } else { 1.0 };
    let fraction = f64::from(bits & ((1 << mantissa) - 1)) / f64::from(1u32 << mantissa);
    let top = (1i32 << (7 - mantissa)) - 1;
    let exponent = i32::from(bits & 0x7f) >> mantissa;
    if mantissa == 3 && bits & 0x7f == 0x7f {
        return f64::NAN;
    }
    if mantissa == 2 && exponent == top {
        return if fraction == 0.0 { sign * f64::INFINITY } else { f64::NAN };
    }
    if exponent == 0 {
        sign * fraction * 2f64.powi(1 - bias)
    } else {
        sign * (1.0 + fraction) * 2f64.powi(exponent - bias)
    }
}

/// Decodes an unsigned 8-bit float with three mantissa bits, one NaN pattern and no infinities.
fn e5m3(bits: u8) -> f64 {
    let (exponent, mantissa) = (i32::from(bits >> 3), f64::from(bits & 7));
    match (bits, exponent) {
        (0xff, _) => f64::NAN,
        (_, 0) => mantissa * 2f64.powi(-17),
        _ => (8.0 + mantissa) * 2f64.powi(exponent - 18),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eight_bit_floats() {
        let table = [
            (Element::E4m3, 0x38, 1.0),
            (Element::E4m3, 0x7e, 448.0),
            (Element::E4m3, 0x01, 2f64.powi(-9)),
            (Element::E4m3, 0xb8, -1.0),
            (Element::E5m2, 0x3c, 1.0),
            (Element::E5m2, 0x7b, 57344.0),
            (Element::E5m2, 0x7c, f64::INFINITY),
            (Element::E5m2, 0x01, 2f64.powi(-16)),
            (Element::E5m3, 0x78, 1.0),
            (Element::E5m3, 0x01, 2f64.powi(-17)),
            (Element::E5m3, 0x08, 2f64.powi(-14)),
            (Element::E5m3, 0xfe, 114688.0),
            (Element::E8m0, 127, 1.0),
            (Element::E8m0, 130, 8.0),
        ];
        for (e, bits, value) in table {
            assert_eq!(e.decode(&[bits]), Number::Float(value), "{} {bits:#x}", e.name());
        }
        assert!(Element::E4m3.decode(&[0x7f]).to_f64().is_nan());
        assert!(Element::E5m3.decode(&[0xff]).to_f64().is_nan());
        assert!(Element::E5m2.decode(&[0x7d]).to_f64().is_nan());
    }

    #[test]
    fn scalars() {
        let good: &[(Element, &str, &[u8])] = &[
            (Element::I8, "-1", &[255]),
            (Element::I8, "255", &[255]),
            (Element::I32, "5", &[5, 0, 0, 0]),
            (Element::U64, "18446744073709551615", &[255; 8]),
            (Element::F32, "1.5", &[0, 0, 0xc0, 0x3f]),
            (Element::F32, "-inf", &[0, 0, 0x80, 0xff]),
            (Element::F16, "1", &[0, 0x3c]),
            (Element::Bf16, "1", &[0x80, 0x3f]),
            (Element::E4m3, "0x38", &[0x38]),
        ];
        for (e, text, bytes) in good {
            assert_eq!(e.parse(text).as_deref(), Ok(*bytes), "{} {text}", e.name());
        }
        for (e, text) in [
            (Element::I8, "256"),
            (Element::U8, "-1"),
            (Element::I32, "1.5"),
            (Element::I32, ""),
            (Element::F32, "x"),
            (Element::E4m3, "1.0"),
            (Element::U16, "0x10000"),
            (Element::U64, "0x"),
        ] {
            assert!(e.parse(text).is_err(), "{} '{text}'", e.name());
        }
    }
}
