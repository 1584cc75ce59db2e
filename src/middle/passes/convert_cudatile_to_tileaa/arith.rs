//! Elementwise arithmetic.
//!
//! `arith` and `math` ops have the same semantics as the public ones, with these exceptions:
//!
//! * Rounding modes other than nearest even, flushing of subnormals, and approximations use `nv_tileaa.fp`.
//! * `maxf` and `minf` order -0 below +0. `arith.maximumf` does too, but `arith.maxnumf` leaves the choice open, so
//!   the form that prefers numbers over NaN is `nv_tileaa.fp <max>`.
//! * Signed `remi` is undefined only for a zero divisor, whereas `arith.remsi` is also undefined for the minimum
//!   integer and -1. The remainder by -1 equals the remainder by 1, so -1 is replaced by 1 unless the divisor is a
//!   constant.

use super::{Translator, by_sign, ct, types};
use crate::dialect::{
    arith::{FloatPredicate, IntPredicate},
    behaviour, elements, nv_tileaa as aa,
    pass::Failed,
    rt::*,
};
use ct::{ComparisonOrdering, ComparisonPredicate, IntegerOverflow, RoundingMode, Signedness};
use melior::ir::Attribute;

/// Returns the predicate of `arith.cmpi`.
fn int_predicate(p: ComparisonPredicate, s: Signedness) -> IntPredicate {
    use IntPredicate::{Eq, Ne, Sge, Sgt, Sle, Slt, Uge, Ugt, Ule, Ult};
    let of = |signed, unsigned| if s == Signedness::Signed { signed } else { unsigned };
    match p {
        ComparisonPredicate::Equal => Eq,
        ComparisonPredicate::NotEqual => Ne,
        ComparisonPredicate::LessThan => of(Slt, Ult),
        ComparisonPredicate::LessThanOrEqual => of(Sle, Ule),
        ComparisonPredicate::GreaterThan => of(Sgt, Ugt),
        ComparisonPredicate::GreaterThanOrEqual => of(Sge, Uge),
    }
}

/// Returns the predicate of `arith.cmpf`.
fn float_predicate(p: ComparisonPredicate, o: ComparisonOrdering) -> FloatPredicate {
    use FloatPredicate::{Oeq, Oge, Ogt, Ole, Olt, One, Ueq, Uge, Ugt, Ule, Ult, Une};
    let of = |ordered, unordered| if o == ComparisonOrdering::Ordered { ordered } else { unordered };
    match p {
        ComparisonPredicate::Equal => of(Oeq, Ueq),
        ComparisonPredicate::GreaterThan => of(Ogt, Ugt),
        ComparisonPredicate::GreaterThanOrEqual => of(Oge, Uge),
        ComparisonPredicate::LessThan => of(Olt, Ult),
        ComparisonPredicate::LessThanOrEqual => of(Ole, Ule),
        ComparisonPredicate::NotEqual => of(One, Une),
    }
}

impl<'c> Translator<'c> {
    //===-- floating point --------------------------------------------------//

    /// Translates an op with one result to `nv_tileaa.fp`.
    fn fp(
        &mut self,
        kind: aa::FpKind,
        operands: &[Val<'c>],
        rounding: RoundingMode,
        ftz: bool,
        result: Val<'c>,
    ) -> Result<(), Failed> {
        let (t, operands) = (self.result_type(result)?, self.get_all(operands.iter().copied()));
        let built = aa::FpOp::build(&self.b, t, &operands, kind, rounding_attr(rounding), ftz);
        let new = self.built(built)?;
        self.set(result, new.result());
        Ok(())
    }

    /// Translates to an op of `arith` or `math` if the op rounds to nearest even and keeps subnormals, and to
    /// `nv_tileaa.fp` otherwise.
    pub(super) fn rounded(
        &mut self,
        name: &str,
        kind: aa::FpKind,
        operands: &[Val<'c>],
        (rounding, ftz): (RoundingMode, bool),
        result: Val<'c>,
    ) -> Result<(), Failed> {
        let ftz = ftz || self.flushes(result);
        let rounding = match kind {
            aa::FpKind::Div | aa::FpKind::Sqrt => self.relaxed_rounding(rounding, RoundingMode::NearestEven, result),
            _ => rounding,
        };
        match (rounding, ftz) {
            (RoundingMode::NearestEven, false) if matches!(kind, aa::FpKind::Exp2 | aa::FpKind::Rsqrt) => {
                self.function(name, operands, result)
            }
            (RoundingMode::NearestEven, false) => self.plain(name, operands, &[], result),
            _ => self.fp(kind, operands, rounding, ftz, result),
        }
    }
    pub(super) fn flushing(
        &mut self,
        name: &str,
        kind: aa::FpKind,
        source: Val<'c>,
        ftz: bool,
        result: Val<'c>,
    ) -> Result<(), Failed> {
        self.rounded(name, kind, &[source], (RoundingMode::NearestEven, ftz), result)
    }
    pub(super) fn approximable(
        &mut self,
        name: &str,
        kind: aa::FpKind,
        source: Val<'c>,
        rounding: RoundingMode,
        result: Val<'c>,
    ) -> Result<(), Failed> {
        match self.relaxed_rounding(rounding, RoundingMode::Full, result) {
            approximate @ RoundingMode::Approx => self.fp(kind, &[source], approximate, false, result),
            _ => self.function(name, &[source], result),
        }
    }
    pub(super) fn max_min(
        &mut self,
        max: bool,
        lhs: Val<'c>,
        rhs: Val<'c>,
        propagate_nan: bool,
        ftz: bool,
        result: Val<'c>,
    ) -> Result<(), Failed> {
        let ftz = ftz || self.flushes(result);
        let kind = match (max, propagate_nan, ftz) {
            (true, true, false) => return self.plain("arith.maximumf", &[lhs, rhs], &[], result),
            (false, true, false) => return self.plain("arith.minimumf", &[lhs, rhs], &[], result),
            (true, true, true) => aa::FpKind::MaxNan,
            (false, true, true) => aa::FpKind::MinNan,
            (true, false, _) => aa::FpKind::Max,
            (false, false, _) => aa::FpKind::Min,
        };
        self.fp(kind, &[lhs, rhs], RoundingMode::NearestEven, ftz, result)
    }
    /// Translates `atan2`. MLIR folds `math.atan2` of two constant zeros to NaN, but the language requires an angle
    /// based on the signs. A maximum of the operand with itself hides the constant from MLIR, and LLVM removes it.
    pub(super) fn angle(&mut self, o: ct::Atan2Op<'c>) -> Result<(), Failed> {
        let (t, y) = (self.result_type(o.result())?, self.get(o.y()));
        let built = aa::FpOp::build(&self.b, t, &[y, y], aa::FpKind::Max, None, false);
        let y = self.built(built)?.result();
        let x = self.get(o.x());
        let new = self.b.value("math.atan2", t, &[x, y], &[]);
        self.set(o.result(), new);
        Ok(())
    }
    /// Translates a power with an integer exponent. Some constant exponents become products. Otherwise the exponent
    /// becomes a float and its parity determines the result's sign.
    pub(super) fn integer_power(&mut self, o: ct::FPowIOp<'c>) -> Result<(), Failed> {
        let (source, exponent) = (self.get(o.source()), self.get(o.exponent()));
        let own = ty(source);
        let is_small = types::width(types::element(own)) == 16;
        let t = if is_small { types::with_element(own, types::f32(self.context)) } else { own };
        let x = if is_small { self.b.value("arith.extf", t, &[source], &[]) } else { source };
        let times = |a, b| self.b.mulf(a, b);
        let new = match splat_constant(exponent) {
            Some(0) => self.b.float_constant(t, 1.0),
            Some(1) => x,
            Some(2) => times(x, x),
            Some(3) => times(times(x, x), x),
            Some(4) => times(times(x, x), times(x, x)),
            Some(-1) => self.b.value("arith.divf", t, &[self.b.float_constant(t, 1.0), x], &[]),
            // With a hidden base no pass of MLIR evaluates the power.
            _ => self.general_power(self.hidden(x)?, exponent),
        };
        let new = if is_small { self.b.value("arith.truncf", own, &[new], &[]) } else { new };
        self.set(o.result(), new);
        Ok(())
    }

    /// Raises `x`, f32 or f64, to an integer power of up to 32 bits.
    fn general_power(&self, x: Val<'c>, exponent: Val<'c>) -> Val<'c> {
        let t = ty(x);
        let i1 = types::with_element(t, types::int(self.context, 1));
        let i32 = types::with_element(t, types::int(self.context, 32));
        let float = |name: &str, args: &[Val<'c>]| self.b.value(name, t, args, &[]);
        let to_float = |v: Val<'c>| float("arith.sitofp", &[v]);
        let narrow = types::width(types::element_of(exponent)) < 32;
        let n = if narrow { self.b.extsi(exponent, i32) } else { exponent };
        let power = to_float(n);
        if types::width(types::element(t)) == 64 {
            return float("math.powf", &[x, power]);
        }
        let compare = |p, a: Val<'c>, b: f64| self.b.cmpf(p, a, self.b.float_constant(t, b));
        let both = |a, b| self.b.andi(a, b);
        let magnitude = float("math.absf", &[x]);
        let mut result = float("math.powf", &[magnitude, power]);
        if !narrow {
            // Above 2^24 the float differs from the exponent by a small number. Only bases close to one have a power
            // that is neither zero nor infinite; their power with the missing part as exponent is 1 + part * (base -
            // 1).
            let masked = |mask| self.b.andi(n, self.b.int_constant(i32, mask));
            let (high, low) = (to_float(masked(!0xFF)), to_float(masked(0xFF)));
            let part = float("arith.subf", &[low, float("arith.subf", &[power, high])]);
            let one = self.b.float_constant(t, 1.0);
            let beyond = float("arith.subf", &[magnitude, one]);
            let corrected = float("arith.mulf", &[result, float("math.fma", &[part, beyond, one])]);
            let is_between =
                both(compare(FloatPredicate::Ogt, result, 0.0), compare(FloatPredicate::Olt, result, f64::INFINITY));
            let is_lacking = both(compare(FloatPredicate::One, part, 0.0), is_between);
            result = self.b.select(is_lacking, corrected, result);
        }
        // Test the sign bit, since zero may be negative too.
        let bits = self.b.bitcast(x, i32);
        let is_negative = self.b.cmpi(IntPredicate::Slt, bits, self.b.int_constant(i32, 0));
        let is_odd = self.b.trunci(n, i1);
        let minus = float("arith.negf", &[result]);
        self.b.select(both(is_negative, is_odd), minus, result)
    }

    /// Whether the module's relaxation makes an operation with this result flush subnormals.
    fn flushes(&self, result: Val<'c>) -> bool {
        self.relaxed.ftz && self.is_f32(result)
    }
    /// Returns the rounding of an operation with an approximate form; an explicit rounding mode is kept.
    fn relaxed_rounding(&self, rounding: RoundingMode, default: RoundingMode, result: Val<'c>) -> RoundingMode {
        if self.relaxed.approx && rounding == default && self.is_f32(result) { RoundingMode::Approx } else { rounding }
    }
    fn is_f32(&self, result: Val<'c>) -> bool {
        self.result_type(result).is_ok_and(|t| types::is_f32(types::element(t)))
    }
    pub(super) fn compare_float(&mut self, o: ct::CmpFOp<'c>) -> Result<(), Failed> {
        let predicate = float_predicate(o.comparison_predicate(), o.comparison_ordering());
        let new = self.b.cmpf(predicate, self.get(o.lhs()), self.get(o.rhs()));
        self.set(o.result(), new);
        Ok(())
    }

    //===-- integers --------------------------------------------------------//

    /// Returns the attribute list for overflow flags; empty for none.
    pub(super) fn overflow_flags(&self, overflow: IntegerOverflow) -> Vec<(&'static str, Attribute<'c>)> {
        self.overflow[overflow as usize].map(|a| ("overflowFlags", a)).into_iter().collect()
    }
    pub(super) fn wrapping(
        &mut self,
        name: &str,
        lhs: Val<'c>,
        rhs: Val<'c>,
        overflow: IntegerOverflow,
        result: Val<'c>,
    ) -> Result<(), Failed> {
        let flags = self.overflow_flags(overflow);
        self.plain(name, &[lhs, rhs], &flags, result)
    }
    pub(super) fn compare_int(&mut self, o: ct::CmpIOp<'c>) -> Result<(), Failed> {
        let predicate = int_predicate(o.comparison_predicate(), o.signedness());
        let new = self.b.cmpi(predicate, self.get(o.lhs()), self.get(o.rhs()));
        self.set(o.result(), new);
        Ok(())
    }
    /// Translates to `0 - x`. The operand is signed, so only the signed overflow flag applies.
    pub(super) fn negate(&mut self, o: ct::NegIOp<'c>) -> Result<(), Failed> {
        let t = self.result_type(o.result())?;
        let zero = self.b.int_constant(t, 0);
        let flags = match o.overflow() {
            IntegerOverflow::NoSignedWrap | IntegerOverflow::NoWrap => {
                self.overflow_flags(IntegerOverflow::NoSignedWrap)
            }
            IntegerOverflow::None | IntegerOverflow::NoUnsignedWrap => vec![],
        };
        let new = self.b.value("arith.subi", t, &[zero, self.get(o.source())], &flags);
        self.set(o.result(), new);
        Ok(())
    }
    /// For i1, with values 0 and -1, the result 1 has the same bits as -1.
    pub(super) fn absolute(&mut self, o: ct::AbsIOp<'c>) -> Result<(), Failed> {
        let source = self.get(o.source());
        if types::width(types::element_of(source)) == 1 {
            self.set(o.result(), source);
            return Ok(());
        }
        self.plain("math.absi", &[o.source()], &[], o.result())
    }
    pub(super) fn high_product(&mut self, o: ct::MulhiIOp<'c>) -> Result<(), Failed> {
        let t = self.result_type(o.result())?;
        let operands = [self.get(o.x()), self.get(o.y())];
        let product = self.b.create("arith.mului_extended", &[t, t], &operands, &[]);
        self.set(o.result(), result(product, 1));
        Ok(())
    }
    pub(super) fn divide(&mut self, o: ct::DivIOp<'c>) -> Result<(), Failed> {
        let name = match o.rounding() {
            RoundingMode::NegativeInf => by_sign(o.signedness(), "arith.floordivsi", "arith.divui"),
            RoundingMode::PositiveInf => by_sign(o.signedness(), "arith.ceildivsi", "arith.ceildivui"),
            _ => by_sign(o.signedness(), "arith.divsi", "arith.divui"),
        };
        self.plain(name, &[o.lhs(), o.rhs()], &[], o.result())
    }
    pub(super) fn remainder(&mut self, o: ct::RemIOp<'c>) -> Result<(), Failed> {
        let (lhs, mut rhs) = (self.get(o.lhs()), self.get(o.rhs()));
        let t = ty(rhs);
        if o.signedness() == Signedness::Unsigned {
            return self.plain("arith.remui", &[o.lhs(), o.rhs()], &[], o.result());
        }
        if types::width(types::element(t)) == 1 {
            // The only divisor is -1, which divides every value.
            let zero = self.b.int_constant(t, 0);
            self.set(o.result(), zero);
            return Ok(());
        }
        if splat_constant(rhs).is_none_or(|v| v == -1) {
            let (ones, one) = (self.b.int_constant(t, -1), self.b.int_constant(t, 1));
            rhs = self.b.select(self.b.cmpi(IntPredicate::Eq, rhs, ones), one, rhs);
        }
        let new = self.b.value("arith.remsi", t, &[lhs, rhs], &[]);
        self.set(o.result(), new);
        Ok(())
    }
}

/// Returns the `nv_tileaa` rounding mode; `None` is the default.
pub(super) fn rounding_attr(r: RoundingMode) -> Option<aa::Rounding> {
    match r {
        RoundingMode::NearestEven | RoundingMode::NearestIntToZero | RoundingMode::NearestAway => None,
        RoundingMode::Zero => Some(aa::Rounding::Zero),
        RoundingMode::NegativeInf => Some(aa::Rounding::NegativeInf),
        RoundingMode::PositiveInf => Some(aa::Rounding::PositiveInf),
        RoundingMode::Approx => Some(aa::Rounding::Approx),
        RoundingMode::Full => Some(aa::Rounding::Full),
    }
}

/// Returns the value of a new integer constant with equal elements, sign-extended.
pub(super) fn splat_constant(v: Val<'_>) -> Option<i64> {
    let op = defining_op(v).filter(|op| behaviour::is_constant(*op))?;
    let value = attr(op, "value")?;
    elements::splat_integer(value)
}
