//! Read-modify-write on memory: `red`, `atom` and the reductions of bulk copies.

use crate::num::{self, Flags, Format, MinMax, Rounding};

/// The operation of a reduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReduceOp {
    Add,
    Min,
    Max,
    /// `old >= new ? 0 : old + 1`.
    Inc,
    /// `old == 0 || old > new ? new : old - 1`.
    Dec,
    And,
    Or,
    Xor,
}

/// The type of one element in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReduceType {
    U8,
    U16,
    U32,
    S32,
    U64,
    S64,
    F16,
    Bf16,
    F32,
    /// Like F32, with subnormals flushed.
    F32Ftz,
    F64,
}

impl ReduceType {
    /// Bytes per element.
    pub const fn size(self) -> usize {
        match self {
            ReduceType::U8 => 1,
            ReduceType::U16 | ReduceType::F16 | ReduceType::Bf16 => 2,
            ReduceType::U32 | ReduceType::S32 | ReduceType::F32 | ReduceType::F32Ftz => 4,
            ReduceType::U64 | ReduceType::S64 | ReduceType::F64 => 8,
        }
    }

    const fn format(self) -> Option<Format> {
        Some(match self {
            ReduceType::F16 => Format::F16,
            ReduceType::Bf16 => Format::Bf16,
            ReduceType::F32 | ReduceType::F32Ftz => Format::F32,
            ReduceType::F64 => Format::F64,
            _ => return None,
        })
    }
}

impl ReduceOp {
    /// The new value of an element, or `None` if the type does not support the operation. Values are bit patterns in
    /// the low bits. Float addition rounds to nearest even; in `min` and `max` a number wins over a NaN.
    pub fn apply(self, ty: ReduceType, old: u64, new: u64) -> Option<u64> {
        let bits = 8 * ty.size() as u32;
        let mask = u64::MAX >> (64 - bits);
        if let Some(format) = ty.format() {
            let flags = Flags { ftz: ty == ReduceType::F32Ftz, ..Flags::default() };
            return match self {
                ReduceOp::Add => Some(num::add(format, old, new, Rounding::NearestEven, flags)),
                ReduceOp::Min => Some(num::min(format, old, new, MinMax::default())),
                ReduceOp::Max => Some(num::max(format, old, new, MinMax::default())),
                _ => None,
            };
        }
        let signed = matches!(ty, ReduceType::S32 | ReduceType::S64);
        let value = |raw: u64| if signed { (raw << (64 - bits)) as i64 >> (64 - bits) } else { raw as i64 };
        let less = if signed { value(old) < value(new) } else { old & mask < new & mask };
        let (old, new) = (old & mask, new & mask);
        Some(
            mask & match self {
                ReduceOp::Add => old.wrapping_add(new),
                ReduceOp::Min => {
                    if less {
                        old
                    } else {
                        new
                    }
                }
                ReduceOp::Max => {
                    if less {
                        new
                    } else {
                        old
                    }
                }
                ReduceOp::Inc => {
                    if old >= new {
                        0
                    } else {
                        old + 1
                    }
                }
                ReduceOp::Dec => {
                    if old == 0 || old > new {
                        new
                    } else {
                        old - 1
                    }
                }
                ReduceOp::And => old & new,
                ReduceOp::Or => old | new,
                ReduceOp::Xor => old ^ new,
            },
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literal_results() {
        let rows = [
            (ReduceOp::Add, ReduceType::U32, 0xffff_ffff, 2, Some(1)),
            (ReduceOp::Min, ReduceType::S32, 0xffff_ffff, 2, Some(0xffff_ffff)),
            (ReduceOp::Min, ReduceType::U32, 0xffff_ffff, 2, Some(2)),
            (ReduceOp::Max, ReduceType::S64, u64::MAX, 2, Some(2)),
            (ReduceOp::Inc, ReduceType::U32, 5, 5, Some(0)),
            (ReduceOp::Inc, ReduceType::U32, 4, 5, Some(5)),
            (ReduceOp::Dec, ReduceType::U32, 0, 5, Some(5)),
            (ReduceOp::Dec, ReduceType::U32, 6, 5, Some(5)),
            (ReduceOp::Dec, ReduceType::U32, 3, 5, Some(2)),
            (ReduceOp::Xor, ReduceType::U64, 6, 3, Some(5)),
            (ReduceOp::Add, ReduceType::F16, 0x3c00, 0x4000, Some(0x4200)),
            (ReduceOp::Max, ReduceType::Bf16, 0x7fff, 0x3f80, Some(0x3f80)),
            (ReduceOp::Add, ReduceType::F32Ftz, 1, 1, Some(0)),
            (ReduceOp::And, ReduceType::F32, 1, 1, None),
        ];
        for (op, ty, old, new, expected) in rows {
            assert_eq!(op.apply(ty, old, new), expected, "{op:?} {ty:?}");
        }
    }
}
