//! The format fnv8E5M3FNU: five exponent bits with bias 15, three mantissa bits, no sign, and one NaN, with all bits
//! set.
//!
//! Neither MLIR nor LLVM has this type, and no supported target has instructions for it. Its elements are bytes from
//! this pass on, and their values are represented in f32, which holds all of them.

use super::{
    Translator,
    arith::{float_predicate, int_predicate},
    ct, types,
};
use crate::dialect::{nv_tileaa as aa, rt::*};
use ct::{ComparisonOrdering, ComparisonPredicate, Signedness};
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
        let [i1, i32] = [1, 32].map(|width| types::with_element(t, types::int(self.context, width)));
        let f32 = types::with_element(t, types::f32(self.context));
        let value = |name: &str, t, args: &[Val<'c>]| self.b.value(name, t, args, &[]);
        // An f32 with this exponent and mantissa in place is too small by the difference of the biases.
        let wide = value("arith.extui", i32, &[code]);
        let placed = value("arith.shli", i32, &[wide, self.int_constant(i32, DROPPED)]);
        let small = value("arith.bitcast", f32, &[placed]);
        let number = value("arith.mulf", f32, &[small, self.float_constant(f32, (BIAS as f64).exp2())]);
        let equal = self.i64_attr(int_predicate(ComparisonPredicate::Equal, Signedness::Unsigned));
        let is_nan = self.b.value("arith.cmpi", i1, &[wide, self.int_constant(i32, NAN)], &[("predicate", equal)]);
        value("arith.select", f32, &[is_nan, self.float_constant(f32, f64::NAN), number])
    }

    /// Rounds to nearest even. Values above the largest number become NaN; negative values, which the language leaves
    /// undefined, become zero.
    pub(super) fn f32_to_e5m3(&self, source: Val<'c>) -> Val<'c> {
        let f32 = ty(source);
        let [i1, i8, i32] = [1, 8, 32].map(|width| types::with_element(f32, types::int(self.context, width)));
        let value = |name: &str, t, args: &[Val<'c>]| self.b.value(name, t, args, &[]);
        let int = |name: &str, a, b| value(name, i32, &[a, b]);
        let constant = |v| self.int_constant(i32, v);
        // Normal numbers: a mantissa carry propagates to the exponent. Infinities, NaNs and values that are too large
        // end up above the code of NaN or below zero, which an unsigned comparison treats alike.
        let bits = value("arith.bitcast", i32, &[source]);
        let last = int("arith.andi", int("arith.shrui", bits, constant(DROPPED)), constant(1));
        let half = int("arith.addi", last, constant((1 << (DROPPED - 1)) - 1));
        let rounded = int("arith.shrui", int("arith.addi", bits, half), constant(DROPPED));
        let normal = int("arith.minui", int("arith.subi", rounded, constant(BIAS << 3)), constant(NAN));
        // Subnormal numbers: they have the same unit in the last place as f32 numbers from 64 to 128.
        let base = self.float_constant(f32, 64.0);
        let positive = value("arith.maxnumf", f32, &[source, self.float_constant(f32, 0.0)]);
        let sum = value("arith.bitcast", i32, &[value("arith.addf", f32, &[positive, base])]);
        let subnormal = int("arith.subi", sum, value("arith.bitcast", i32, &[base]));
        let below = self.i64_attr(float_predicate(ComparisonPredicate::LessThan, ComparisonOrdering::Ordered));
        let smallest = self.float_constant(f32, f64::exp2(-14.0));
        let is_small = self.b.value("arith.cmpf", i1, &[source, smallest], &[("predicate", below)]);
        value("arith.trunci", i8, &[value("arith.select", i32, &[is_small, subnormal, normal])])
    }
}
