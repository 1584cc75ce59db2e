//! Conversions between element types.
//!
//! `arith` converts between integers, f16, bf16, f32 and f64. The other formats (tf32, f8, f4, e8m0) exist only in
//! memory and in dots; `nv_tileaa.fp_cast` converts between floats if one of them has such a format. fnv8E5M3FNU is
//! an exception, since it is represented as bytes. A conversion between a narrow format and an integer goes through a
//! wider float chosen so that it rounds once:
//!
//! * From a narrow format: f32 holds every value of all of them.
//! * From i1, i8, i16: f32 holds every value. From i32: f64 does.
//! * From i64 to f8 and f4, whose values stay below 2^17: values are first clamped to a magnitude of 2^20, which only
//!   changes values that overflow in any case, and then fit f32.
//! * From i64 to tf32, which has 11 significant bits: if the magnitude needs more than 53 bits, the lowest 11 bits
//!   are replaced by one sticky bit above them (round to odd). f64 then holds the value, and rounding it gives the
//!   same result as rounding the original.

use super::{Translator, arith::rounding_attr, by_sign, ct, e5m3, types};
use crate::dialect::{
    arith::{FloatPredicate, IntPredicate},
    nv_tileaa as aa,
    pass::Failed,
    rt::*,
};
use ct::{RoundingMode, Signedness};
use melior::ir::Type;

impl<'c> Translator<'c> {
    fn cast_op(&self, name: &str, element: Type<'c>, source: Val<'c>) -> Val<'c> {
        self.b.value(name, types::with_element(ty(source), element), &[source], &[])
    }
    fn fp_cast(&self, element: Type<'c>, source: Val<'c>, rounding: RoundingMode) -> Result<Val<'c>, Failed> {
        let t = types::with_element(ty(source), element);
        Ok(self.built(aa::FpCastOp::build(&self.b, t, source, rounding_attr(rounding)))?.result())
    }

    pub(super) fn float_to_float(&mut self, o: ct::FToFOp<'c>) -> Result<(), Failed> {
        let source = self.get_number(o.from());
        if e5m3::is_tile(ty(o.to())) {
            let wide = self.odd_f32(source)?;
            let new = self.f32_to_e5m3(wide);
            self.set(o.to(), new);
            return Ok(());
        }
        let (from, to) = (types::element_of(source), types::element(self.result_type(o.to())?));
        let new = if types::is_base_float(from) && types::is_base_float(to) {
            match types::width(from).cmp(&types::width(to)) {
                std::cmp::Ordering::Less => self.cast_op("arith.extf", to, source),
                std::cmp::Ordering::Greater => self.narrowed(to, source, o.rounding_mode()),
                std::cmp::Ordering::Equal if from == to => source,
                // f16 and bf16: f32 holds both, so only the second step rounds.
                std::cmp::Ordering::Equal => {
                    let wide = self.cast_op("arith.extf", types::f32(self.context), source);
                    self.narrowed(to, wide, o.rounding_mode())
                }
            }
        } else {
            self.other_float(to, source, o.rounding_mode())?
        };
        self.set(o.to(), new);
        Ok(())
    }

    /// Converts to f32, rounding to odd. A later rounding to fewer bits then gives the correctly rounded result.
    fn odd_f32(&self, source: Val<'c>) -> Result<Val<'c>, Failed> {
        let f32 = types::f32(self.context);
        let from = types::element_of(source);
        if !types::is_base_float(from) {
            return self.fp_cast(f32, source, RoundingMode::NearestEven);
        }
        if types::width(from) != 64 {
            return Ok(if from == f32 { source } else { self.cast_op("arith.extf", f32, source) });
        }
        let t = ty(source);
        let narrow = self.narrowed(f32, source, RoundingMode::Zero);
        let back = self.cast_op("arith.extf", from, narrow);
        let i32 = types::with_element(t, types::int(self.context, 32));
        let inexact = self.b.cmpf(FloatPredicate::Une, back, source);
        let sticky = self.b.extui(inexact, i32);
        let bits = self.b.bitcast(narrow, i32);
        let odd = self.b.ori(bits, sticky);
        Ok(self.cast_op("arith.bitcast", f32, odd))
    }

    /// Converts between formats if `arith` lacks one of them.
    fn other_float(&mut self, to: Type<'c>, source: Val<'c>, mode: RoundingMode) -> Result<Val<'c>, Failed> {
        let f32 = types::f32(self.context);
        if mode == RoundingMode::NearestEven || types::is_scale(to) {
            return self.fp_cast(to, source, mode);
        }
        // f32 holds every value of the other formats except f64. Rounding f64 to zero twice equals rounding it to
        // zero once.
        let from = types::element_of(source);
        let wide = match types::is_base_float(from) {
            true if types::width(from) == 64 => self.narrowed(f32, source, RoundingMode::Zero),
            true if from != f32 => self.cast_op("arith.extf", f32, source),
            true => source,
            false => self.fp_cast(f32, source, RoundingMode::NearestEven)?,
        };
        if types::is_tf32(to) {
            let rounded = self.rounded_to_tf32(wide, mode);
            return self.fp_cast(to, rounded, RoundingMode::NearestEven);
        }
        Ok(match types::width(to) {
            64 => self.cast_op("arith.extf", to, wide),
            32 => wide,
            _ => self.narrowed(to, wide, mode),
        })
    }

    /// Narrows a float. If the nearest result is on the wrong side of the source, moves it by one unit in the last
    /// place: floats of one sign are ordered like their bits.
    fn narrowed(&self, to: Type<'c>, source: Val<'c>, mode: RoundingMode) -> Val<'c> {
        let nearest = self.cast_op("arith.truncf", to, source);
        if mode == RoundingMode::NearestEven {
            return nearest;
        }
        let t = ty(source);
        let back = self.cast_op("arith.extf", types::element(t), nearest);
        let int = types::with_element(t, types::int(self.context, types::width(to)));
        let bits = self.b.bitcast(nearest, int);
        let constant = |v| self.b.int_constant(int, v);
        // Adding one to the bits moves away from zero.
        let (wrong, step) = match mode {
            RoundingMode::Zero => {
                let magnitude = |v| self.b.value("math.absf", t, &[v], &[]);
                (self.b.cmpf(FloatPredicate::Ogt, magnitude(back), magnitude(source)), constant(-1))
            }
            _ => {
                let down = mode == RoundingMode::NegativeInf;
                let predicate = if down { FloatPredicate::Ogt } else { FloatPredicate::Olt };
                // -1 for negative numbers and 1 for others, or the reverse.
                let sign = self.b.shrsi(bits, constant(i64::from(types::width(to)) - 1));
                let up = self.b.ori(sign, constant(1));
                let step = if down { self.b.subi(constant(0), up) } else { up };
                (self.b.cmpf(predicate, back, source), step)
            }
        };
        let moved = self.b.addi(bits, step);
        let chosen = self.b.select(wrong, moved, bits);
        self.b.bitcast(chosen, types::with_element(t, to))
    }

    /// Rounds f32 to the 11 significant bits of tf32, toward zero or to nearest with ties away from zero.
    fn rounded_to_tf32(&self, source: Val<'c>, mode: RoundingMode) -> Val<'c> {
        const DROPPED: i64 = 13;
        let t = ty(source);
        let int = types::with_element(t, types::int(self.context, 32));
        let bits = self.b.bitcast(source, int);
        let half = if mode == RoundingMode::NearestAway { 1 << (DROPPED - 1) } else { 0 };
        let sum = self.b.addi(bits, self.b.int_constant(int, half));
        let kept = self.b.andi(sum, self.b.int_constant(int, -1 << DROPPED));
        let rounded = self.b.bitcast(kept, t);
        // The dropped bits may be the bits that distinguish a NaN from an infinity.
        let is_number = self.b.cmpf(FloatPredicate::Oeq, source, source);
        self.b.select(is_number, rounded, source)
    }

    /// Converts to i1 by comparing with zero. The language rounds toward zero, but NVIDIA's assembler and its
    /// clients treat a conversion to i1 as a conversion to a truth value. The two differ only for magnitudes below
    /// one.
    fn is_not_zero(&self, source: Val<'c>) -> Val<'c> {
        // NaN is not zero.
        self.b.cmpf(FloatPredicate::Une, source, self.b.float_constant(ty(source), 0.0))
    }

    pub(super) fn float_to_int(&mut self, o: ct::FToIOp<'c>) -> Result<(), Failed> {
        let mut source = self.get_number(o.from());
        let to = types::element(self.result_type(o.to())?);
        if !types::is_base_float(types::element_of(source)) {
            source = self.fp_cast(types::f32(self.context), source, RoundingMode::NearestEven)?;
        }
        let new = if o.saturating() {
            self.saturated(to, source, o.signedness())
        } else if types::width(to) == 1 {
            self.is_not_zero(source)
        } else {
            self.cast_op(by_sign(o.signedness(), "arith.fptosi", "arith.fptoui"), to, source)
        };
        self.set(o.to(), new);
        Ok(())
    }

    /// Converts to an integer; out-of-range values saturate and NaN becomes zero.
    fn saturated(&self, to: Type<'c>, source: Val<'c>, signedness: Signedness) -> Val<'c> {
        let t = ty(source);
        let int = types::with_element(t, to);
        let width = types::width(to);
        let (low, high) = match signedness {
            // One is the end of the range, and no value lies inside.
            Signedness::Unsigned if width == 1 => (0.0, 1.0),
            Signedness::Unsigned => (0.0, f64::from(width).exp2()),
            Signedness::Signed => (-(f64::from(width) - 1.0).exp2(), (f64::from(width) - 1.0).exp2()),
        };
        let compare = |predicate, limit: f64| self.b.cmpf(predicate, source, self.b.float_constant(t, limit));
        let top = match (signedness, width) {
            (Signedness::Unsigned, _) => -1,
            (Signedness::Signed, width) => ((1_u64 << (width - 1)) - 1) as i64,
        };
        let bottom = if signedness == Signedness::Unsigned { 0 } else { (-1_i64).wrapping_shl(width - 1) };
        let is_high = compare(FloatPredicate::Oge, high);
        let is_low = compare(FloatPredicate::Ole, low);
        let is_nan = self.b.cmpf(FloatPredicate::Une, source, source);
        // Out-of-range values may give any result here.
        let inside = if width == 1 {
            self.b.int_constant(int, 0)
        } else {
            self.cast_op(by_sign(signedness, "arith.fptosi", "arith.fptoui"), to, source)
        };
        let inside = self.b.select(is_high, self.b.int_constant(int, top), inside);
        let inside = self.b.select(is_low, self.b.int_constant(int, bottom), inside);
        self.b.select(is_nan, self.b.int_constant(int, 0), inside)
    }

    pub(super) fn int_to_float(&mut self, o: ct::IToFOp<'c>) -> Result<(), Failed> {
        let mut source = self.get(o.from());
        let is_e5m3 = e5m3::is_tile(ty(o.to()));
        let to = if is_e5m3 { types::f32(self.context) } else { types::element(self.result_type(o.to())?) };
        let sign = o.signedness();
        let convert = by_sign(sign, "arith.sitofp", "arith.uitofp");
        if types::width(types::element_of(source)) == 1 {
            source = self.cast_op(by_sign(sign, "arith.extsi", "arith.extui"), types::int(self.context, 32), source);
        }
        let new = if types::is_base_float(to) && !is_e5m3 {
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
            if is_e5m3 {
                let exact = self.odd_f32(exact)?;
                self.f32_to_e5m3(exact)
            } else {
                self.fp_cast(to, exact, RoundingMode::NearestEven)?
            }
        };
        self.set(o.to(), new);
        Ok(())
    }

    /// Clamps integers to a magnitude of 2^20.
    fn limit(&self, v: Val<'c>, sign: Signedness) -> Val<'c> {
        let t = ty(v);
        let top = self.b.int_constant(t, 1 << 20);
        match sign {
            Signedness::Unsigned => self.b.minui(v, top),
            Signedness::Signed => self.b.maxsi(self.b.minsi(v, top), self.b.int_constant(t, -(1 << 20))),
        }
    }

    /// Rounds 64-bit integers to at most 53 significant bits (round to odd), so that rounding the result to 51 or
    /// fewer bits equals rounding the original.
    fn round_to_odd(&self, v: Val<'c>, sign: Signedness) -> Val<'c> {
        let t = ty(v);
        let b = &self.b;
        let constant = |n: i64| b.int_constant(t, n);
        let lost = b.cmpi(IntPredicate::Ne, b.andi(v, constant(0x7FF)), constant(0));
        let high = b.andi(v, constant(!0x7FF));
        let odd = b.select(lost, b.ori(high, constant(0x800)), high);
        let exact = constant(1 << 53);
        match sign {
            Signedness::Unsigned => b.select(b.cmpi(IntPredicate::Ugt, v, exact), odd, v),
            Signedness::Signed => {
                let magnitude = b.value("math.absi", t, &[v], &[]);
                // The magnitude of the minimum integer is negative; its low bits are zero, so both forms are equal.
                b.select(b.cmpi(IntPredicate::Sgt, magnitude, exact), odd, v)
            }
        }
    }

    pub(super) fn bitcast(&mut self, o: ct::BitcastOp<'c>) -> Result<(), Failed> {
        let (source, t) = (self.get(o.source()), self.result_type(o.result())?);
        // Only tf32, which is 19 bits wide, lacks an integer type of the same width; it can only be cast to itself.
        let new = if ty(source) == t { source } else { self.b.bitcast(source, t) };
        self.set(o.result(), new);
        Ok(())
    }
}
