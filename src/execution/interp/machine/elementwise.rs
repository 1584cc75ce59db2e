//! Ops that compute each element of the result from the operands' elements with the same index.

use super::{Cause, Elements, Executor, Outcome, malformed, number_of, one};
use crate::float::{self, change_sign, compare, extremum};
use crate::format;
use crate::int;
use crate::portable;
use crate::program::{FloatMode, Op, OpKind, Rounding, Signedness};
use crate::scalar::{Certainty, Scalar, power};
use crate::types::{Element, Number};

impl Executor<'_> {
    pub(super) fn elementwise(&mut self, op: &Op) -> Outcome {
        let mut operands: Vec<Elements> = vec![];
        for v in &op.operands {
            operands.push(self.elements(*v)?);
        }
        let result = self.tile_type(*op.results.first().ok_or_else(|| malformed("the op has a result"))?)?;
        let source = self.tile_type(*op.operands.first().ok_or_else(|| malformed("the op has an operand"))?)?;
        let count = result.count();
        if operands.iter().any(|o| o.len() != count) {
            return Err(malformed("operands and result differ in shape"));
        }
        // The op computes in the type of its first operand, or of its second operand after a condition.
        let (from, to) = (source.element, result.element);
        let mut out = Vec::with_capacity(count);
        let mut arguments = vec![Scalar::unknown(0); operands.len()];
        for i in 0..count {
            for (a, o) in arguments.iter_mut().zip(&operands) {
                *a = o[i];
            }
            let number = from.number().filter(|_| self.limits.portable);
            let result = match number.and_then(|n| portable::exact(&op.kind, n, &arguments)) {
                Some(result) => result,
                None => element(&op.kind, from, to, &arguments)?,
            };
            if self.rounded == Some(false) {
                self.rounded = Some(rounds(&op.kind, from, to, &arguments, result));
            }
            out.push(result);
        }
        one(out)
    }
}

/// One element of an elementwise op. `from` is the type of the first operand, `to` that of the result.
///
/// If an operand is unknown, the result has the bits for the operand's bits, but is unknown. Undefined behavior is
/// not an error then, because another value might not cause it.
fn element(kind: &OpKind, from: Element, to: Element, x: &[Scalar]) -> Result<Scalar, Cause> {
    if *kind == OpKind::Select {
        let chosen = x[if x[0].bits != 0 { 1 } else { 2 }];
        return Ok(if x[0].is_unknown() { Scalar::unknown(chosen.bits) } else { chosen });
    }
    if !x.iter().any(|x| x.is_unknown()) {
        return compute(kind, from, to, x);
    }
    let assumed: Vec<Scalar> = x.iter().map(|x| x.assumed()).collect();
    match compute(kind, from, to, &assumed) {
        Ok(x) => Ok(Scalar::unknown(x.bits)),
        Err(Cause::Undefined(_)) => Ok(Scalar::unknown(0)),
        Err(other) => Err(other),
    }
}

/// Whether the result of an op differs from that of exact arithmetic.
fn rounds(kind: &OpKind, from: Element, to: Element, x: &[Scalar], result: Scalar) -> bool {
    let towards = |rounding| {
        let with = |m: &FloatMode| FloatMode { rounding, ..*m };
        let kind = match kind {
            OpKind::AddF(m) => OpKind::AddF(with(m)),
            OpKind::SubF(m) => OpKind::SubF(with(m)),
            OpKind::MulF(m) => OpKind::MulF(with(m)),
            OpKind::DivF(m) => OpKind::DivF(with(m)),
            OpKind::Fma(m) => OpKind::Fma(with(m)),
            OpKind::Sqrt(m) => OpKind::Sqrt(with(m)),
            OpKind::FToF { .. } => OpKind::FToF { rounding },
            _ => return None,
        };
        element(&kind, from, to, x).ok().map(|x| x.bits)
    };
    let n = match to {
        Element::Number(n) if n.is_float() => n,
        _ => return false,
    };
    let whole = |x: u64| format::decode(x, n).to_f64().abs() < power(53);
    match kind {
        _ if result.is_approximate(n) => true,
        // Results from 2^53 on count as rounded.
        OpKind::IToF(s) => {
            let value = from.number().map_or(0, |from| int::value(x[0].bits, from, *s));
            !whole(result.bits) || format::decode(result.bits, n).to_f64() != value as f64
        }
        // The sign of a zero depends on the rounding direction.
        _ => match (towards(Rounding::NegativeInf), towards(Rounding::PositiveInf)) {
            (Some(low), Some(high)) => {
                let (low, high) = (format::decode(low, n), format::decode(high, n));
                !(low.is_nan() && high.is_nan()) && low.to_f64() != high.to_f64()
            }
            _ => false,
        },
    }
}

/// As [`element`], for operands that are not unknown.
fn compute(kind: &OpKind, from: Element, to: Element, x: &[Scalar]) -> Result<Scalar, Cause> {
    if matches!(kind, OpKind::PtrToInt | OpKind::IntToPtr | OpKind::PtrToPtr) {
        return Ok(x[0]);
    }
    let (n, target) = (number_of(from)?, number_of(to)?);
    let bits = |i: usize| x[i].bits;
    let exact = |r: Result<u64, int::Undefined>| r.map(Scalar::exact).map_err(Cause::Undefined);
    let plain = FloatMode::default();
    Ok(match kind {
        OpKind::AbsF => change_sign(n, x[0], |b, sign| b & !sign),
        OpKind::NegF => change_sign(n, x[0], |b, sign| b ^ sign),
        OpKind::Ceil => float::integral(n, true, x[0]),
        OpKind::Floor => float::integral(n, false, x[0]),
        OpKind::AddF(m) => float::sum(n, *m, x[0], x[1]),
        OpKind::SubF(m) => float::difference(n, *m, x[0], x[1]),
        OpKind::MulF(m) => float::product(n, *m, x[0], x[1]),
        OpKind::DivF(m) => float::quotient(n, *m, x[0], x[1]),
        OpKind::Fma(m) => float::fused(n, *m, x[0], x[1], x[2]),
        OpKind::Sqrt(m) => float::square_root(n, *m, x[0]),
        OpKind::Rsqrt { .. }
        | OpKind::Exp2 { .. }
        | OpKind::Exp { .. }
        | OpKind::Tanh { .. }
        | OpKind::Log
        | OpKind::Log2
        | OpKind::Sin
        | OpKind::Cos
        | OpKind::Tan
        | OpKind::Sinh
        | OpKind::Cosh => float::elementary(kind, n, x[0]),
        OpKind::Pow => float::pow(n, x[0], x[1]),
        OpKind::PowI { exponent } => float::integer_power(n, x[0], int::value(bits(1), *exponent, Signedness::Signed)),
        OpKind::Atan2 => float::binary(n, x[0], x[1], float::accuracy(float::Accuracy::Elementary, n), libm::atan2),
        OpKind::RemF => float::remainder(n, x[0], x[1]),
        OpKind::MaxF { propagate_nan, flush } => extremum(n, true, *propagate_nan, *flush, x[0], x[1]),
        OpKind::MinF { propagate_nan, flush } => extremum(n, false, *propagate_nan, *flush, x[0], x[1]),
        OpKind::CmpF { predicate, ordered } => compare(n, *predicate, *ordered, x[0], x[1]),

        OpKind::AbsI => Scalar::exact(int::abs(n, bits(0))),
        OpKind::NegI(p) => exact(int::neg(n, *p, bits(0)))?,
        OpKind::AddI(p) => exact(int::add(n, *p, bits(0), bits(1)))?,
        OpKind::SubI(p) => exact(int::sub(n, *p, bits(0), bits(1)))?,
        OpKind::MulI(p) => exact(int::mul(n, *p, bits(0), bits(1)))?,
        OpKind::ShlI(p) => exact(int::shl(n, *p, bits(0), bits(1)))?,
        OpKind::ShrI(s) => Scalar::exact(int::shr(n, *s, bits(0), bits(1))),
        OpKind::MulhiI => Scalar::exact(int::mulhi(n, bits(0), bits(1))),
        OpKind::DivI { signedness, rounding } => exact(int::div(n, *signedness, *rounding, bits(0), bits(1)))?,
        OpKind::RemI(s) => exact(int::rem(n, *s, bits(0), bits(1)))?,
        OpKind::MaxI(s) => Scalar::exact(int::extremum(n, *s, true, bits(0), bits(1))),
        OpKind::MinI(s) => Scalar::exact(int::extremum(n, *s, false, bits(0), bits(1))),
        OpKind::AndI => Scalar::exact(bits(0) & bits(1)),
        OpKind::OrI => Scalar::exact(bits(0) | bits(1)),
        OpKind::XorI => Scalar::exact(bits(0) ^ bits(1)),
        OpKind::CmpI { predicate, signedness } => {
            Scalar::bool(int::compare(n, *signedness, *predicate, bits(0), bits(1)))
        }

        OpKind::ExtI(s) => Scalar::exact(int::ext(n, target, *s, bits(0))),
        OpKind::TruncI(p) => exact(int::trunc(n, target, *p, bits(0)))?,
        OpKind::FToF { rounding } => float::convert(n, target, *rounding, x[0]),
        OpKind::FToI { signedness, saturating } => float_to_int(n, target, *signedness, *saturating, x[0]),
        OpKind::IToF(s) => {
            let value = int::value(bits(0), n, *s);
            let real = crate::format::Real::finite(value < 0, value.unsigned_abs(), 0);
            if float::is_below(real, target) {
                return Ok(Scalar::unknown(0));
            }
            match crate::format::encode(real, target, float::round_of(plain.rounding)).bits {
                b if crate::format::decode(b, target).is_nan() => Scalar::nan(target),
                b => Scalar::exact(b),
            }
        }
        // Another type reinterprets the bits, which are not known exactly.
        OpKind::Bitcast if x[0].certainty == Certainty::Exact || n == target => x[0],
        OpKind::Bitcast => Scalar::unknown(bits(0)),
        _ => return Err(malformed("the op is not elementwise")),
    })
}

/// Converts with truncation. A value out of range is undefined behavior.
fn float_to_int(from: Number, to: Number, signedness: Signedness, saturating: bool, x: Scalar) -> Scalar {
    let value = crate::format::decode(x.bits, from).to_f64();
    let width = to.width() as i32;
    if width == 1 && !saturating {
        // A conversion to i1 is false for zero only. Clients and NVIDIA's assembler agree on this.
        let bits = (value != 0.0).into();
        return if x.is_approximate(from) { Scalar::unknown(bits) } else { Scalar::exact(bits) };
    }
    let (low, high) = match signedness {
        Signedness::Unsigned => (0.0, libm::ldexp(1.0, width)),
        Signedness::Signed => (-libm::ldexp(1.0, width - 1), libm::ldexp(1.0, width - 1)),
    };
    let whole = libm::trunc(value);
    let whole = match saturating {
        true if whole.is_nan() => 0.0,
        // The end of the range may not be representable in this precision: it is one below.
        true if whole >= high => return from_approximate(x, from, Scalar::exact(int::wrap(high as i128 - 1, to))),
        true => whole.max(low),
        false => whole,
    };
    if !(whole >= low && whole < high) {
        return Scalar::unknown(0);
    }
    from_approximate(x, from, Scalar::exact(int::wrap(whole as i128, to)))
}

/// A result that was computed from a possibly approximate number.
fn from_approximate(x: Scalar, from: Number, made: Scalar) -> Scalar {
    if x.is_approximate(from) { Scalar::unknown(made.bits) } else { made }
}

/// An address plus a sign-extended number of elements. Leaving the address space is undefined behavior.
fn advance(pointee: Number, p: Scalar, o: Scalar, n: Number) -> Result<Scalar, Cause> {
    let bits = int::value(o.bits, n, Signedness::Signed) * i128::from(pointee.stored_bits());
    if bits % 8 != 0 {
        return Err(Cause::Undefined("the offset is not a whole number of bytes".into()));
    }
    let bytes = bits / 8;
    let sum = i128::from(p.bits) + bytes;
    let fits = i64::try_from(bytes).is_ok() && u64::try_from(sum).is_ok();
    let known = fits && !p.is_unknown() && !o.is_unknown();
    Ok(if known { Scalar::exact(sum as u64) } else { Scalar::unknown(sum as u64) })
}

impl Executor<'_> {
    pub(super) fn offset(&mut self, op: &Op) -> Outcome {
        let Element::Pointer(pointee) = self.tile_type(op.operands[0])?.element else {
            return Err(malformed("'offset' starts at pointers"));
        };
        let n = self.number(op.operands[1])?;
        let (p, o) = (self.elements(op.operands[0])?, self.elements(op.operands[1])?);
        one(p.iter().zip(o.iter()).map(|(p, o)| advance(pointee, *p, *o, n)).collect::<Result<_, _>>()?)
    }
}
