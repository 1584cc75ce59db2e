//! fnv8E5M3FNU: five bits of exponent with bias 15, three of mantissa, no sign, and one NaN, of all bits.
//!
//! Neither MLIR nor LLVM has such a type, and no target of this compiler an instruction for it. Its elements are bytes
//! from here on, and their numbers f32, which holds all of them.

use super::{
    Translator,
    arith::{float_predicate, int_predicate},
    ct, types,
};
use crate::dialect::{nv_tileaa as aa, rt::*};
use ct::{ComparisonOrdering, ComparisonPredicate, Signedness};
use melior::ir::Type;

/// Bits of an f32's mantissa that the format has not.
const DROPPED: i64 = 20;
/// What the exponents of f32 have more in their bias.
const BIAS: i64 = 127 - 15;
const NAN: i64 = 0xFF;

pub(super) fn is(element: Type<'_>) -> bool {
    ct::FloatNV8E5M3FNUType::cast(element).is_some()
}

/// Whether a tile has such elements.
pub(super) fn is_tile(t: Type<'_>) -> bool {
    ct::TileType::cast(t).is_some_and(|t| is(t.element_type()))
}

/// What its views read outside of their tensors. There is no infinity, and nothing below zero.
pub(super) fn padding(p: ct::PaddingValue) -> aa::Padding {
    match p {
        ct::PaddingValue::Zero | ct::PaddingValue::NegZero | ct::PaddingValue::NegInf => aa::Padding::Zero,
        ct::PaddingValue::Nan | ct::PaddingValue::PosInf => aa::Padding::Ones,
    }
}

impl<'c> Translator<'c> {
    /// The value of a tile; its numbers as f32 if it has elements of this format.
    pub(super) fn get_number(&mut self, v: Val<'c>) -> Val<'c> {
        let new = self.get(v);
        if is_tile(ty(v)) { self.e5m3_to_f32(new) } else { new }
    }

    fn e5m3_to_f32(&self, code: Val<'c>) -> Val<'c> {
        let t = ty(code);
        let [i1, i32] = [1, 32].map(|width| types::with_element(t, types::int(self.context, width)));
        let f32 = types::with_element(t, types::f32(self.context));
        let value = |name: &str, t, args: &[Val<'c>]| self.b.value(name, t, args, &[]);
        // With its exponent and mantissa at their places an f32 is too small by the difference of the two biases.
        let wide = value("arith.extui", i32, &[code]);
        let placed = value("arith.shli", i32, &[wide, self.int_constant(i32, DROPPED)]);
        let small = value("arith.bitcast", f32, &[placed]);
        let number = value("arith.mulf", f32, &[small, self.float_constant(f32, (BIAS as f64).exp2())]);
        let equal = self.i64_attr(int_predicate(ComparisonPredicate::Equal, Signedness::Unsigned));
        let is_nan = self.b.value("arith.cmpi", i1, &[wide, self.int_constant(i32, NAN)], &[("predicate", equal)]);
        value("arith.select", f32, &[is_nan, self.float_constant(f32, f64::NAN), number])
    }

    /// Rounds to the nearest, of two to the even one. What rounds to more than the largest number becomes NaN, and what
    /// is below zero, for which there is no rule, zero.
    pub(super) fn f32_to_e5m3(&self, source: Val<'c>) -> Val<'c> {
        let f32 = ty(source);
        let [i1, i8, i32] = [1, 8, 32].map(|width| types::with_element(f32, types::int(self.context, width)));
        let value = |name: &str, t, args: &[Val<'c>]| self.b.value(name, t, args, &[]);
        let int = |name: &str, a, b| value(name, i32, &[a, b]);
        let constant = |v| self.int_constant(i32, v);
        // Normal numbers: a carry of the mantissa goes to the exponent by itself. Infinities, NaNs and what is too
        // large end above the code of NaN, or below zero, which is the same to an unsigned comparison.
        let bits = value("arith.bitcast", i32, &[source]);
        let last = int("arith.andi", int("arith.shrui", bits, constant(DROPPED)), constant(1));
        let half = int("arith.addi", last, constant((1 << (DROPPED - 1)) - 1));
        let rounded = int("arith.shrui", int("arith.addi", bits, half), constant(DROPPED));
        let normal = int("arith.minui", int("arith.subi", rounded, constant(BIAS << 3)), constant(NAN));
        // Subnormal ones: the last place of numbers from 64 to 128 is worth as much as theirs.
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
