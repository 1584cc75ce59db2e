//! Integer ops on one element.
//!
//! Values are the low bits of a word. Undefined behavior is an error with the reason.

use crate::program::{Overflow, Predicate, Rounding, Signedness};
use crate::types::Number;

/// Why an op is undefined for its operands.
pub type Undefined = String;

/// The value as a signed or unsigned number.
pub fn value(bits: u64, n: Number, signedness: Signedness) -> i128 {
    let bits = bits & n.mask();
    match signedness {
        Signedness::Unsigned => bits.into(),
        Signedness::Signed => {
            let unused = 64 - n.width();
            (((bits << unused) as i64) >> unused).into()
        }
    }
}

fn signed(bits: u64, n: Number) -> i128 {
    value(bits, n, Signedness::Signed)
}

fn unsigned(bits: u64, n: Number) -> i128 {
    value(bits, n, Signedness::Unsigned)
}

/// The low bits of a result.
pub fn wrap(v: i128, n: Number) -> u64 {
    v as u64 & n.mask()
}

/// Applies `f` to both operands and wraps the result, after checking the promises.
pub fn wrapping(
    n: Number,
    promises: Overflow,
    a: u64,
    b: u64,
    f: impl Fn(i128, i128) -> Option<i128>,
) -> Result<u64, Undefined> {
    let s = f(signed(a, n), signed(b, n));
    let u = f(unsigned(a, n), unsigned(b, n));
    keep(n, promises, s, u)?;
    // The signed and unsigned results agree in the low bits. A product of 64-bit numbers may overflow in one of them.
    Ok(wrap(s.or(u).unwrap_or(0), n))
}

fn keep(n: Number, promises: Overflow, s: Option<i128>, u: Option<i128>) -> Result<(), Undefined> {
    let fits = |v: Option<i128>, low: i128, high: i128| v.is_some_and(|v| (low..=high).contains(&v));
    let width = n.width();
    let top = 1i128 << (width - 1);
    if promises.no_signed_wrap && !fits(s, -top, top - 1) {
        return Err("the result wraps, which breaks the promise no_signed_wrap".into());
    }
    if promises.no_unsigned_wrap && !fits(u, 0, (top << 1) - 1) {
        return Err("the result wraps, which breaks the promise no_unsigned_wrap".into());
    }
    Ok(())
}

pub fn add(n: Number, promises: Overflow, a: u64, b: u64) -> Result<u64, Undefined> {
    wrapping(n, promises, a, b, |x, y| Some(x + y))
}

pub fn sub(n: Number, promises: Overflow, a: u64, b: u64) -> Result<u64, Undefined> {
    wrapping(n, promises, a, b, |x, y| Some(x - y))
}

pub fn mul(n: Number, promises: Overflow, a: u64, b: u64) -> Result<u64, Undefined> {
    // The product of two unsigned 64-bit numbers may exceed i128; the signed product never does.
    wrapping(n, promises, a, b, |x, y| x.checked_mul(y))
}

/// Shifts in zeros from the right, also if the amount is at least the width.
pub fn shl(n: Number, promises: Overflow, a: u64, amount: u64) -> Result<u64, Undefined> {
    let shifted = |v: i128| match amount {
        0..64 => v.checked_mul(1 << amount),
        // Beyond every width, only zero keeps its value.
        _ => (v == 0).then_some(0),
    };
    keep(n, promises, shifted(signed(a, n)), shifted(unsigned(a, n)))?;
    Ok(if amount >= u64::from(n.width()) { 0 } else { a << amount & n.mask() })
}

/// Shifts in zeros or copies of the sign from the left, also if the amount is at least the width.
pub fn shr(n: Number, signedness: Signedness, a: u64, amount: u64) -> u64 {
    wrap(value(a, n, signedness) >> amount.min(127), n)
}

pub fn mulhi(n: Number, a: u64, b: u64) -> u64 {
    ((u128::from(a) * u128::from(b)) >> n.width()) as u64 & n.mask()
}

fn divisible(n: Number, signedness: Signedness, a: u64, b: u64) -> Result<(i128, i128), Undefined> {
    let (x, y) = (value(a, n, signedness), value(b, n, signedness));
    if y == 0 { Err("division by zero".into()) } else { Ok((x, y)) }
}

pub fn div(n: Number, signedness: Signedness, rounding: Rounding, a: u64, b: u64) -> Result<u64, Undefined> {
    let (x, y) = divisible(n, signedness, a, b)?;
    if signedness == Signedness::Signed && y == -1 && x == -(1i128 << (n.width() - 1)) {
        return Err("the quotient of the lowest integer and -1 overflows".into());
    }
    let (q, r) = (x / y, x % y);
    let below_zero = (x < 0) != (y < 0);
    let q = match rounding {
        Rounding::NegativeInf if r != 0 && below_zero => q - 1,
        Rounding::PositiveInf if r != 0 && !below_zero => q + 1,
        _ => q,
    };
    Ok(wrap(q, n))
}

/// The remainder of the truncated quotient.
pub fn rem(n: Number, signedness: Signedness, a: u64, b: u64) -> Result<u64, Undefined> {
    let (x, y) = divisible(n, signedness, a, b)?;
    Ok(wrap(x % y, n))
}

pub fn extremum(n: Number, signedness: Signedness, largest: bool, a: u64, b: u64) -> u64 {
    let (x, y) = (value(a, n, signedness), value(b, n, signedness));
    if (x > y) == largest { a } else { b }
}

pub fn compare(n: Number, signedness: Signedness, predicate: Predicate, a: u64, b: u64) -> bool {
    predicate.holds(value(a, n, signedness).cmp(&value(b, n, signedness)))
}

/// `-a`. The operand is signed, so only the signed promise can be broken.
pub fn neg(n: Number, promises: Overflow, a: u64) -> Result<u64, Undefined> {
    let signed_only = Overflow { no_unsigned_wrap: false, ..promises };
    sub(n, signed_only, 0, a)
}

/// The magnitude, as an unsigned number.
pub fn abs(n: Number, a: u64) -> u64 {
    wrap(signed(a, n).abs(), n)
}

/// Extends to a wider type.
pub fn ext(from: Number, to: Number, signedness: Signedness, a: u64) -> u64 {
    wrap(value(a, from, signedness), to)
}

/// Truncates to a narrower type.
pub fn trunc(from: Number, to: Number, promises: Overflow, a: u64) -> Result<u64, Undefined> {
    keep(to, promises, Some(signed(a, from)), Some(unsigned(a, from)))?;
    Ok(a & to.mask())
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: Overflow = Overflow { no_signed_wrap: false, no_unsigned_wrap: false };
    const SIGNED: Overflow = Overflow { no_signed_wrap: true, no_unsigned_wrap: false };
    const UNSIGNED: Overflow = Overflow { no_signed_wrap: false, no_unsigned_wrap: true };
    const I8: Number = Number::I8;

    /// All pairs of bytes, compared with 32-bit arithmetic.
    #[test]
    fn bytes() {
        for a in 0..=255u64 {
            for b in 0..=255u64 {
                let (s, t) = (a as i8 as i32, b as i8 as i32);
                let (u, v) = (a as i32, b as i32);
                let low = |x: i32| x as u8 as u64;
                assert_eq!(add(I8, NONE, a, b), Ok(low(s + t)));
                assert_eq!(add(I8, SIGNED, a, b).is_ok(), (-128..128).contains(&(s + t)));
                assert_eq!(add(I8, UNSIGNED, a, b).is_ok(), u + v < 256);
                assert_eq!(sub(I8, NONE, a, b), Ok(low(s - t)));
                assert_eq!(sub(I8, UNSIGNED, a, b).is_ok(), u >= v);
                assert_eq!(mul(I8, NONE, a, b), Ok(low(s * t)));
                assert_eq!(mul(I8, SIGNED, a, b).is_ok(), (-128..128).contains(&(s * t)));
                assert_eq!(mulhi(I8, a, b), low((u * v) >> 8));
                assert_eq!(extremum(I8, Signedness::Signed, true, a, b), low(s.max(t)));
                assert_eq!(extremum(I8, Signedness::Unsigned, false, a, b), low(u.min(v)));
                if b == 0 {
                    assert!(div(I8, Signedness::Signed, Rounding::Zero, a, b).is_err());
                    assert!(rem(I8, Signedness::Unsigned, a, b).is_err());
                    continue;
                }
                assert_eq!(div(I8, Signedness::Unsigned, Rounding::PositiveInf, a, b), Ok(low((u + v - 1) / v)));
                assert_eq!(rem(I8, Signedness::Signed, a, b), Ok(low(s % t)));
                let exact = f64::from(s) / f64::from(t);
                for (rounding, want) in [
                    (Rounding::Zero, exact.trunc()),
                    (Rounding::NegativeInf, exact.floor()),
                    (Rounding::PositiveInf, exact.ceil()),
                ] {
                    let got = div(I8, Signedness::Signed, rounding, a, b);
                    let overflow = (s, t) == (-128, -1);
                    assert_eq!(got.ok(), (!overflow).then_some(low(want as i32)), "{s} / {t}");
                }
            }
        }
    }

    #[test]
    fn shifts() {
        let table: &[(Number, u64, u64, u64, u64, u64)] = &[
            (Number::I8, 0x81, 1, 0x02, 0x40, 0xc0),
            (Number::I8, 0x81, 8, 0, 0, 0xff),
            (Number::I8, 0x41, 200, 0, 0, 0),
            (Number::I64, 1 << 63, 63, 0, 1, u64::MAX),
            (Number::I64, 1, 63, 1 << 63, 0, 0),
            (Number::I64, u64::MAX, u64::MAX, 0, 0, u64::MAX),
            (Number::I1, 1, 1, 0, 0, 1),
            (Number::I32, 0x8000_0001, 32, 0, 0, 0xffff_ffff),
        ];
        for (n, a, by, left, logical, arithmetic) in table.iter().copied() {
            assert_eq!(shl(n, NONE, a, by), Ok(left), "{n} {a:#x} << {by}");
            assert_eq!(shr(n, Signedness::Unsigned, a, by), logical, "{n} {a:#x} >> {by}");
            assert_eq!(shr(n, Signedness::Signed, a, by), arithmetic, "{n} {a:#x} >> {by}");
        }
        assert!(shl(I8, UNSIGNED, 0x81, 1).is_err());
        assert!(shl(I8, SIGNED, 0x40, 1).is_err());
        assert_eq!(shl(I8, SIGNED, 0xc0, 1), Ok(0x80));
        assert!(shl(I8, UNSIGNED, 1, 8).is_err());
        assert_eq!(shl(I8, UNSIGNED, 0, 300), Ok(0));
    }

    #[test]
    fn single_values() {
        assert_eq!(neg(I8, NONE, 0x80), Ok(0x80));
        assert!(neg(I8, SIGNED, 0x80).is_err());
        assert_eq!(neg(I8, UNSIGNED, 1), Ok(0xff));
        assert_eq!(abs(I8, 0x80), 0x80);
        assert_eq!(abs(Number::I1, 1), 1);
        assert_eq!(ext(Number::I1, I8, Signedness::Signed, 1), 0xff);
        assert_eq!(ext(Number::I4, I8, Signedness::Signed, 8), 0xf8);
        assert_eq!(ext(I8, Number::I64, Signedness::Unsigned, 0x80), 0x80);
        assert_eq!(trunc(Number::I32, I8, NONE, 0x1ff), Ok(0xff));
        assert!(trunc(Number::I32, I8, SIGNED, 0xff).is_err());
        assert_eq!(trunc(Number::I32, I8, SIGNED, 0xffff_ff80), Ok(0x80));
        assert_eq!(trunc(Number::I32, I8, UNSIGNED, 0xff), Ok(0xff));
        assert!(trunc(Number::I32, I8, UNSIGNED, 0x100).is_err());
        assert_eq!(mul(Number::I64, UNSIGNED, u64::MAX, 1), Ok(u64::MAX));
        assert!(mul(Number::I64, UNSIGNED, u64::MAX, 2).is_err());
        assert_eq!(mulhi(Number::I64, u64::MAX, u64::MAX), u64::MAX - 1);
        assert_eq!(mulhi(Number::I1, 1, 1), 0);
    }
}
