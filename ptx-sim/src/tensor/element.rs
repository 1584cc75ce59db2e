//! Element types of the multiplicands.

use std::sync::LazyLock;

use crate::num::{CvtOpts, Format, convert};

/// The type of one element of A or B.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Element {
    F16,
    Bf16,
    Tf32,
    F64,
    E4m3,
    E5m2,
    E3m2,
    E2m3,
    E2m1,
    S8,
    U8,
    S4,
    U4,
    B1,
}

impl Element {
    /// Width of the value in bits, without padding.
    pub const fn bits(self) -> u32 {
        match self {
            Element::F64 => 64,
            Element::Tf32 => 32,
            Element::F16 | Element::Bf16 => 16,
            Element::E4m3 | Element::E5m2 | Element::S8 | Element::U8 => 8,
            Element::E3m2 | Element::E2m3 => 6,
            Element::E2m1 | Element::S4 | Element::U4 => 4,
            Element::B1 => 1,
        }
    }

    /// The floating-point format; `None` for integers and bits.
    pub const fn format(self) -> Option<Format> {
        Some(match self {
            Element::F16 => Format::F16,
            Element::Bf16 => Format::Bf16,
            Element::Tf32 => Format::Tf32,
            Element::F64 => Format::F64,
            Element::E4m3 => Format::E4m3,
            Element::E5m2 => Format::E5m2,
            Element::E3m2 => Format::E3m2,
            Element::E2m3 => Format::E2m3,
            Element::E2m1 => Format::E2m1,
            _ => return None,
        })
    }

    pub const fn is_float(self) -> bool {
        self.format().is_some()
    }

    /// Whether the type is one of the 8-, 6- and 4-bit floats, which `f8f6f4` kinds can mix.
    pub const fn is_f8f6f4(self) -> bool {
        matches!(self, Element::E4m3 | Element::E5m2 | Element::E3m2 | Element::E2m3 | Element::E2m1)
    }

    /// The exact value of the low bits of `raw` (of the whole word for tf32).
    pub fn value(self, raw: u64) -> f64 {
        match self {
            Element::F64 => f64::from_bits(raw),
            // tf32 ignores the low bits of its container.
            Element::Tf32 => f64::from(f32::from_bits(raw as u32 & 0xffff_e000)),
            Element::Bf16 => f64::from(f32::from_bits((raw as u32) << 16)),
            Element::F16 => f64::from(half::f16::from_bits(raw as u16)),
            Element::S8 => f64::from(raw as u8 as i8),
            Element::U8 => f64::from(raw as u8),
            Element::S4 => f64::from(((raw as u8) << 4) as i8 >> 4),
            Element::U4 => f64::from(raw as u8 & 15),
            Element::B1 => (raw & 1) as f64,
            small => small_float(small, raw as u8),
        }
    }
}

/// The value of every code of the five small float formats.
static SMALL: LazyLock<[[f64; 256]; 5]> = LazyLock::new(|| {
    [Format::E4m3, Format::E5m2, Format::E3m2, Format::E2m3, Format::E2m1].map(|format| {
        std::array::from_fn(|code| f64::from_bits(convert(format, code as u64, Format::F64, &CvtOpts::default())))
    })
});

fn small_float(element: Element, raw: u8) -> f64 {
    let table = match element {
        Element::E5m2 => 1,
        Element::E3m2 => 2,
        Element::E2m3 => 3,
        Element::E2m1 => 4,
        _ => 0,
    };
    SMALL[table][usize::from(raw)]
}
