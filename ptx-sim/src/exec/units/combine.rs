//! Arithmetic of atomics, and bank conflicts of shared-memory accesses.

use crate::exec::state::lanes::Lanes64;
use crate::ir::*;
use crate::num::{self, Flags, Format, MinMax, Rounding};

/// The new value of a read-modify-write. f32 addition in global memory flushes subnormals, as the PTX ISA specifies.
pub(crate) fn combine(op: AtomOp, ty: Type, old: u64, b: u64, global: bool) -> u64 {
    let bits = ty.bits();
    let cut = |v: u64| if bits >= 64 { v } else { v & ((1 << bits) - 1) };
    let (old, b) = (cut(old), cut(b));
    let element = |fmt: Format, x: u64, y: u64| match op {
        AtomOp::Min => num::min(fmt, x, y, MinMax::default()),
        AtomOp::Max => num::max(fmt, x, y, MinMax::default()),
        _ => num::add(fmt, x, y, Rounding::NearestEven, Flags::default()),
    };
    let pair = |fmt: Format| {
        element(fmt, old & 0xffff, b & 0xffff) & 0xffff | (element(fmt, old >> 16, b >> 16) & 0xffff) << 16
    };
    let signed = |v: u64| ((v << (64 - bits)) as i64) >> (64 - bits);
    match ty {
        Type::F16 => element(Format::F16, old, b),
        Type::BF16 => element(Format::Bf16, old, b),
        Type::F16x2 => pair(Format::F16),
        Type::BF16x2 => pair(Format::Bf16),
        Type::F32 if op == AtomOp::Add => {
            u64::from(num::f32_add(old as u32, b as u32, Rounding::NearestEven, global, false))
        }
        Type::F32 => element(Format::F32, old, b),
        Type::F64 => element(Format::F64, old, b),
        _ => cut(match op {
            AtomOp::Add => old.wrapping_add(b),
            AtomOp::Min if ty.is_signed() => signed(old).min(signed(b)) as u64,
            AtomOp::Max if ty.is_signed() => signed(old).max(signed(b)) as u64,
            AtomOp::Min => old.min(b),
            AtomOp::Max => old.max(b),
            AtomOp::Inc => {
                if old >= b {
                    0
                } else {
                    old + 1
                }
            }
            AtomOp::Dec => {
                if old == 0 || old > b {
                    b
                } else {
                    old - 1
                }
            }
            AtomOp::And => old & b,
            AtomOp::Or => old | b,
            AtomOp::Xor => old ^ b,
            AtomOp::Exch | AtomOp::Cas => b,
        }),
    }
}

/// The number of passes beyond the first that a shared-memory access takes. There are 32 banks of four bytes; 8-byte
/// accesses proceed by half warps and 16-byte accesses by quarter warps.
pub(crate) fn bank_conflicts(address: &Lanes64, mask: u32, bytes: u32) -> u64 {
    let words = u64::from(bytes.div_ceil(4).max(1));
    let group = (32 / words.clamp(1, 8)) as usize;
    let mut extra = 0u64;
    for start in (0..32).step_by(group) {
        let mut banks: [smallvec::SmallVec<[u64; 4]>; 32] = std::array::from_fn(|_| smallvec::SmallVec::new());
        for lane in (start..start + group).filter(|l| mask >> l & 1 != 0) {
            for k in 0..words {
                let word = address[lane] / 4 + k;
                let bank = &mut banks[(word % 32) as usize];
                if !bank.contains(&word) {
                    bank.push(word);
                }
            }
        }
        let worst = banks.iter().map(|b| b.len() as u64).max().unwrap_or(0);
        extra += worst.saturating_sub(1);
    }
    extra
}
