//! The format fnv8E5M3FNU: five exponent bits with bias 15, three mantissa bits, no sign, and one NaN, with all bits
//! set.
//!
//! Neither MLIR nor LLVM has this type, and no supported target has instructions for it. Its elements are bytes from
//! this pass on, and their values are represented in f32, which holds all of them.

use super::{Translator, ct, types};
use crate::dialect::{
    arith::{FloatPredicate, IntPredicate},
    nv_tileaa as aa,
    rt::*,
};
use melior::ir::Type;

/// The mantissa bits of f32 that the format lacks.
const DROPPED: i64 = 20;
/// The difference between the exponent biases of f32 and of this format.
const BIAS: i64 = 127 - 15;
const NAN: i64 = 0xFF;

pub(super) fn is(element: Type<'_>) -> bool {
    ct::FloatNV8E5M3FNUType::cast(element).is_some()
}

/// Whether a tile has elements of this format.
pub(super) fn is_tile(t: Type<'_>) -> bool {
    ct::TileType::cast(t).is_some_and(|t| is(t.element_type()))
}

/// Returns the padding value of a view of this format, which has neither infinities nor negative numbers.
pub(super) fn padding(p: ct::PaddingValue) -> aa::Padding {
    match p {
        ct::PaddingValue::Zero | ct::PaddingValue::NegZero | ct::PaddingValue::NegInf => aa::Padding::Zero,
        ct::PaddingValue::Nan | ct::PaddingValue::PosInf => aa::Padding::Ones,
    }
}

impl<'c> Translator<'c> {
    /// Returns the value of a tile, converted to f32 if its elements have this format.
    pub(super) fn get_number(&mut self, v: Val<'c>) -> Val<'c> {
        let new = self.get(v);
        if is_tile(ty(v)) { self.e5m3_to_f32(new) } else { new }
    }

    fn e5m3_to_f32(&self, code: Val<'c>) -> Val<'c> {
        let t = ty(code);
        let b = &self.b;
        let i32 = types::with_element(t, types::int(self.context, 32));
        let f32 = types::with_element(t, types::f32(self.context));
        // An f32 with this exponent and mantissa in place is too small by the difference of the biases.
        let wide = b.extui(code, i32);
        let placed = b.shli(wide, b.int_constant(i32, DROPPED));
        let small = b.bitcast(placed, f32);
        let number = b.mulf(small, b.float_constant(f32, (BIAS as f64).exp2()));
        let is_nan = b.cmpi(IntPredicate::Eq, wide, b.int_constant(i32, NAN));
        b.select(is_nan, b.float_constant(f32, f64::NAN), number)
    }

    /// Rounds to nearest even. Values above the largest number become NaN; negative values, which the language leaves
    /// undefined, become zero.
    pub(super) fn f32_to_e5m3(&self, source: Val<'c>) -> Val<'c> {
        let f32 = ty(source);
        let b = &self.b;
        let [i8, i32] = [8, 32].map(|width| types::with_element(f32, types::int(self.context, width)));
        let constant = |v| b.int_constant(i32, v);
        // Normal numbers: a mantissa carry propagates to the exponent. Infinities, NaNs and values that are too large
        // end up above the code of NaN or below zero, which an unsigned comparison treats alike.
        let bits = b.bitcast(source, i32);
        let last = b.andi(b.shrui(bits, constant(DROPPED)), constant(1));
        let half = b.addi(last, constant((1 << (DROPPED - 1)) - 1));
        let rounded = b.shrui(b.addi(bits, half), constant(DROPPED));
        let normal = b.minui(b.subi(rounded, constant(BIAS << 3)), constant(NAN));
        // Subnormal numbers: they have the same unit in the last place as f32 numbers from 64 to 128.
        let base = b.float_constant(f32, 64.0);
        let positive = b.maxnumf(source, b.float_constant(f32, 0.0));
        let sum = b.bitcast(b.addf(positive, base), i32);
        let subnormal = b.subi(sum, b.bitcast(base, i32));
        let is_small = b.cmpf(FloatPredicate::Olt, source, b.float_constant(f32, f64::exp2(-14.0)));
        b.trunci(b.select(is_small, subnormal, normal), i8)
    }
}
