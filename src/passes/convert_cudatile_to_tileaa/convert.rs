//! Conversions between element types.
//!
//! `arith` converts between integers, f16, bf16, f32 and f64. The other formats (tf32, f8, f4, e8m0) exist in memory
//! and in matrix products only; `nv_tileaa.fp_cast` converts between floats when one of them is such a format. A
//! conversion between a narrow format and integers goes through a wider float, in such a way that it rounds once:
//!
//! * From a narrow format: f32 holds every value of each of them.
//! * From i1, i8, i16: f32 holds every value. From i32: f64 does.
//! * From i64 to f8 and f4, whose values stay below 2^16: values are first limited to 2^20 in magnitude, which changes
//!   only some that overflow into others that do, and then fit f32.
//! * From i64 to tf32, which has 11 significant bits: when the magnitude needs more than 53 bits, the lowest 11 bits
//!   are replaced by one sticky bit above them (round to odd), so that f64 holds the value and rounding it gives
//!   the same as rounding the original.

use super::{
    Translator,
    arith::{float_predicate, rounding_attr},
    by_sign, ct, types,
};
use crate::dialect::{nv_tileaa as aa, pass::Failed, rt::*};
use ct::{RoundingMode, Signedness};
use melior::ir::{Attribute, Type, TypeLike};

impl<'c> Translator<'c> {
    fn cast_op(&self, name: &str, element: Type<'c>, source: Val<'c>) -> Val<'c> {
        self.b.value(name, types::with_element(ty(source), element), &[source], &[])
    }
    fn fp_cast(&self, element: Type<'c>, source: Val<'c>, rounding: RoundingMode) -> Result<Val<'c>, Failed> {
        let t = types::with_element(ty(source), element);
        Ok(self.built(aa::FpCastOp::build(&self.b, t, source, rounding_attr(rounding)))?.result())
    }

    pub(super) fn float_to_float(&mut self, o: ct::FToFOp<'c>) -> Result<(), Failed> {
        let source = self.get(o.from());
        let (from, to) = (types::element_of(source), types::element(self.result_type(o.to())?));
        let new = if types::is_base_float(from) && types::is_base_float(to) {
            match types::width(from).cmp(&types::width(to)) {
                std::cmp::Ordering::Less => self.cast_op("arith.extf", to, source),
                std::cmp::Ordering::Greater => self.cast_op("arith.truncf", to, source),
                std::cmp::Ordering::Equal if from == to => source,
                // f16 and bf16: f32 holds both, so only the second step rounds.
                std::cmp::Ordering::Equal => {
                    let wide = self.cast_op("arith.extf", types::f32(self.context), source);
                    self.cast_op("arith.truncf", to, wide)
                }
            }
        } else {
            self.fp_cast(to, source, o.rounding_mode())?
        };
        self.set(o.to(), new);
        Ok(())
    }

    /// The language rounds to zero; NVIDIA's assembler and its clients take a conversion to i1 as one to a truth value,
    /// which is the same but for magnitudes below one.
    fn is_not_zero(&self, source: Val<'c>) -> Val<'c> {
        let t = ty(source);
        // SAFETY: the types are alive, and the element type is a float.
        let zero = unsafe {
            let scalar = mlir_sys::mlirFloatAttrDoubleGet(self.context.to_raw(), types::element(t).to_raw(), 0.0);
            Attribute::from_raw(if types::is_tensor(t) {
                mlir_sys::mlirDenseElementsAttrSplatGet(t.to_raw(), scalar)
            } else {
                scalar
            })
        };
        let zero = self.b.value("arith.constant", t, &[], &[("value", zero)]);
        let truth = types::with_element(t, types::int(self.context, 1));
        // NaN is no zero.
        let differs =
            self.i64_attr(float_predicate(ct::ComparisonPredicate::NotEqual, ct::ComparisonOrdering::Unordered));
        self.b.value("arith.cmpf", truth, &[source, zero], &[("predicate", differs)])
    }

    pub(super) fn float_to_int(&mut self, o: ct::FToIOp<'c>) -> Result<(), Failed> {
        let mut source = self.get(o.from());
        let to = types::element(self.result_type(o.to())?);
        if !types::is_base_float(types::element_of(source)) {
            source = self.fp_cast(types::f32(self.context), source, RoundingMode::NearestEven)?;
        }
        let new = if types::width(to) == 1 {
            self.is_not_zero(source)
        } else {
            self.cast_op(by_sign(o.signedness(), "arith.fptosi", "arith.fptoui"), to, source)
        };
        self.set(o.to(), new);
        Ok(())
    }

    pub(super) fn int_to_float(&mut self, o: ct::IToFOp<'c>) -> Result<(), Failed> {
        let mut source = self.get(o.from());
        let to = types::element(self.result_type(o.to())?);
        let sign = o.signedness();
        let convert = by_sign(sign, "arith.sitofp", "arith.uitofp");
        if types::width(types::element_of(source)) == 1 {
            source = self.cast_op(by_sign(sign, "arith.extsi", "arith.extui"), types::int(self.context, 32), source);
        }
        let new = if types::is_base_float(to) {
            self.cast_op(convert, to, source)
        } else {
            let width = types::width(types::element_of(source));
            let (wide, source) = match width {
                ..=16 => (types::f32(self.context), source),
                17..=32 => (types::f64(self.context), source),
                _ if types::is_tf32(to) => (types::f64(self.context), self.round_to_odd(source, sign)),
                _ => (types::f32(self.context), self.limit(source, sign)),
            };
            let exact = self.cast_op(convert, wide, source);
            self.fp_cast(to, exact, RoundingMode::NearestEven)?
        };
        self.set(o.to(), new);
        Ok(())
    }

    /// Limits integers to a magnitude of 2^20.
    fn limit(&self, v: Val<'c>, sign: Signedness) -> Val<'c> {
        let t = ty(v);
        let top = self.int_constant(t, 1 << 20);
        let v = self.b.value(by_sign(sign, "arith.minsi", "arith.minui"), t, &[v, top], &[]);
        match sign {
            Signedness::Unsigned => v,
            Signedness::Signed => self.b.value("arith.maxsi", t, &[v, self.int_constant(t, -(1 << 20))], &[]),
        }
    }

    /// 64-bit integers with at most 53 significant bits that round to 51 bits and fewer as the given ones do.
    fn round_to_odd(&self, v: Val<'c>, sign: Signedness) -> Val<'c> {
        let t = ty(v);
        let i1 = types::with_element(t, types::int(self.context, 1));
        let value = |name: &str, a: Val<'c>, b: Val<'c>| self.b.value(name, t, &[a, b], &[]);
        let compare = |p: i64, a: Val<'c>, b: Val<'c>| {
            self.b.value("arith.cmpi", i1, &[a, b], &[("predicate", self.i64_attr(p))])
        };
        let choose = |c: Val<'c>, a: Val<'c>, b: Val<'c>| self.b.value("arith.select", t, &[c, a, b], &[]);
        let constant = |n: i64| self.int_constant(t, n);
        let (ne, sgt, ugt) = (1, 4, 8);
        let lost = compare(ne, value("arith.andi", v, constant(0x7FF)), constant(0));
        let high = value("arith.andi", v, constant(!0x7FF));
        let odd = choose(lost, value("arith.ori", high, constant(0x800)), high);
        let exact = constant(1 << 53);
        match sign {
            Signedness::Unsigned => choose(compare(ugt, v, exact), odd, v),
            Signedness::Signed => {
                let magnitude = self.b.value("math.absi", t, &[v], &[]);
                // The magnitude of the lowest integer is negative; its low bits are zero, so either form will do.
                choose(compare(sgt, magnitude, exact), odd, v)
            }
        }
    }

    pub(super) fn bitcast(&mut self, o: ct::BitcastOp<'c>) -> Result<(), Failed> {
        let (source, t) = (self.get(o.source()), self.result_type(o.result())?);
        // Only tf32, 19 bits wide, has no integer of its width, and is then cast to itself.
        let new = if ty(source) == t { source } else { self.b.value("arith.bitcast", t, &[source], &[]) };
        self.set(o.result(), new);
        Ok(())
    }
}
