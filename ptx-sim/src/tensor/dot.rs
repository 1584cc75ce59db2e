//! The arithmetic of one output element, `d = sum over k of a[k] * b[k], plus c`.
//!
//! # Numeric contract
//!
//! PTX leaves the order and the internal precision of floating-point accumulation unspecified. The simulator uses the
//! following rules for `mma.sync`, `wgmma` and `tcgen05.mma`:
//!
//! * products are exact (at most 24 significant bits; block scales are part of the factors and stay exact);
//! * the sum is computed in double precision in increasing `k`, and `c` is added last;
//! * the result is rounded once to the accumulator's type, to nearest even;
//! * NaN results are canonical.
//!
//! Integer sums are exact and then wrap, or clamp with `.satfinite`. f64 is a chain of fused multiply-adds from `c` in
//! increasing `k`.
//!
//! Compare floating-point results with a tolerance: a kernel that needs exactly these bits relies on more than PTX
//! guarantees.

use crate::num::{self, CvtOpts, Format};

/// The type of C and D, with the overflow rule for integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Accumulator {
    F32,
    F16,
    F64,
    /// Wraps, or clamps when `saturate` is set.
    S32 {
        saturate: bool,
    },
}

/// How two bit matrices are combined before counting bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MmaBitOp {
    And,
    Xor,
}

impl Accumulator {
    /// Width of one element in bits.
    pub const fn bits(self) -> u32 {
        match self {
            Accumulator::F32 | Accumulator::S32 { .. } => 32,
            Accumulator::F16 => 16,
            Accumulator::F64 => 64,
        }
    }

    /// Computes `c + sum a[k] * b[k]`; `c` and the result are bit patterns.
    pub fn dot(self, a: &[f64], b: &[f64], c: u64) -> u64 {
        if self == Accumulator::F64 {
            let sum = a.iter().zip(b).fold(f64::from_bits(c), |sum, (x, y)| x.mul_add(*y, sum));
            return if sum.is_nan() { Format::F64.nan() } else { sum.to_bits() };
        }
        let sum: f64 = a.iter().zip(b).fold(0.0, |sum, (x, y)| sum + x * y);
        self.finish(sum, c)
    }

    /// Like [`Accumulator::dot`], for bit matrices.
    pub fn dot_bits(self, op: MmaBitOp, a: &[f64], b: &[f64], c: u64) -> u64 {
        let count = a.iter().zip(b).filter(|(x, y)| match op {
            MmaBitOp::And => **x != 0.0 && **y != 0.0,
            MmaBitOp::Xor => x != y,
        });
        self.finish(count.count() as f64, c)
    }

    /// Adds `c` and rounds. Integer sums are below 2^53 and therefore exact in `sum`.
    fn finish(self, sum: f64, c: u64) -> u64 {
        match self {
            Accumulator::F64 => (sum + f64::from_bits(c)).to_bits(),
            Accumulator::F32 => {
                let total = (sum + f64::from(f32::from_bits(c as u32))) as f32;
                if total.is_nan() { Format::F32.nan() } else { total.to_bits().into() }
            }
            Accumulator::F16 => {
                let total = sum + f64::from(half::f16::from_bits(c as u16));
                num::convert(Format::F64, total.to_bits(), Format::F16, &CvtOpts::default())
            }
            Accumulator::S32 { saturate } => {
                let total = sum as i64 + i64::from(c as u32 as i32);
                let kept = if saturate { total.clamp(i32::MIN.into(), i32::MAX.into()) } else { total };
                u64::from(kept as u32)
            }
        }
    }
}
