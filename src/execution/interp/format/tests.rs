//! Compares the arithmetic with an independent implementation, and enumerates the codes of each format.

use super::*;
use rustc_apfloat::ieee::{BFloat, Double, Float8E4M3FN, Float8E5M2, Half, Single};
use rustc_apfloat::{Float, FloatConvert};

const ROUNDS: [(Round, rustc_apfloat::Round); 4] = [
    (Round::NearestEven, rustc_apfloat::Round::NearestTiesToEven),
    (Round::Zero, rustc_apfloat::Round::TowardZero),
    (Round::Down, rustc_apfloat::Round::TowardNegative),
    (Round::Up, rustc_apfloat::Round::TowardPositive),
];

/// Codes at the edges of the format, and some pseudorandom ones.
fn samples(n: Number, count: usize) -> Vec<u64> {
    let f = format(n).unwrap();
    let mut codes = vec![];
    for magnitude in [
        0,
        1,
        2,
        3,
        1 << f.mantissa_bits,
        (1 << f.mantissa_bits) - 1,
        (1 << f.mantissa_bits) + 1,
        f.largest(),
        f.largest() - 1,
        f.largest() + 1,
        nan(n),
        (f.bias() as u64) << f.mantissa_bits,
        ((f.bias() as u64) << f.mantissa_bits) + 1,
        ((f.bias() as u64 + 1) << f.mantissa_bits) - 1,
    ] {
        codes.extend([magnitude, magnitude | f.sign_bit()]);
    }
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    for i in 0..count {
        let mut code = next() & n.mask();
        if i % 3 == 0 {
            // Close exponents make sums interesting.
            let exponent = f.bias() as u64 - 2 + next() % 5;
            code = (code & !((f.largest() + 1 - (1 << f.mantissa_bits)) | (1 << f.mantissa_bits)))
                | (exponent << f.mantissa_bits);
            code &= n.mask();
        }
        codes.push(code);
    }
    codes
}

fn same(n: Number, got: u64, want: u128, what: &str) {
    let want = want as u64;
    let both_nan = decode(got, n).is_nan() && decode(want, n).is_nan();
    assert!(both_nan || got == want, "{what}: {got:#x}, expected {want:#x}");
}

fn arithmetic<F: Float>(n: Number, count: usize) {
    let codes = samples(n, count);
    let of = |bits: u64| F::from_bits(bits.into());
    for (i, a) in codes.iter().copied().enumerate() {
        for b in codes.iter().copied() {
            // A varying third operand.
            let c = codes[(i * 7 + b as usize) % codes.len()];
            let (x, y, z) = (decode(a, n), decode(b, n), decode(c, n));
            for (round, theirs) in ROUNDS {
                let get = |r: Real| encode(r, n, round).bits;
                let text = |op: &str| format!("{n} {a:#x} {op} {b:#x} ({c:#x}) {round:?}");
                same(n, get(add(x, y, round)), of(a).add_r(of(b), theirs).value.to_bits(), &text("+"));
                same(n, get(mul(x, y)), of(a).mul_r(of(b), theirs).value.to_bits(), &text("*"));
                same(n, get(div(x, y)), of(a).div_r(of(b), theirs).value.to_bits(), &text("/"));
                let fused = add(mul(x, y), z, round);
                same(n, get(fused), of(a).mul_add_r(of(b), of(c), theirs).value.to_bits(), &text("fma"));
            }
        }
    }
}

#[test]
fn arithmetic_is_exact() {
    arithmetic::<Half>(Number::F16, 60);
    arithmetic::<BFloat>(Number::Bf16, 50);
    arithmetic::<Single>(Number::F32, 60);
    arithmetic::<Double>(Number::F64, 60);
}

#[test]
fn square_roots() {
    for a in samples(Number::F64, 3000) {
        let got = encode(sqrt(decode(a, Number::F64)), Number::F64, Round::NearestEven).bits;
        same(Number::F64, got, f64::from_bits(a).sqrt().to_bits().into(), "sqrt");
    }
    // For formats with fewer than 26 bits, rounding the root in double precision once more gives the correctly
    // rounded root.
    for n in [Number::F16, Number::Bf16, Number::F32] {
        for a in samples(n, 3000) {
            let x = decode(a, n);
            let want = encode(Real::from_f64(x.to_f64().sqrt()), n, Round::NearestEven).bits;
            same(n, encode(sqrt(x), n, Round::NearestEven).bits, want.into(), "sqrt");
            let (down, up) = (encode(sqrt(x), n, Round::Down), encode(sqrt(x), n, Round::Up));
            assert_eq!(down.inexact, up.inexact);
            assert_eq!(up.bits - down.bits, u64::from(up.inexact), "{n} {a:#x}");
        }
    }
}

fn conversion<F: Float>(n: Number)
where
    Double: FloatConvert<F>,
{
    for a in samples(Number::F64, 20_000).into_iter().chain(samples(Number::F32, 20_000).into_iter().map(widen)) {
        // The language converts to 8-bit formats with round-to-nearest only, and the result of overflow in other
        // modes is not defined.
        let rounds = if n.width() == 8 { &ROUNDS[..1] } else { &ROUNDS[..] };
        for (round, theirs) in rounds.iter().copied() {
            let want: F = Double::from_bits(a.into()).convert_r(theirs, &mut false).value;
            let got = encode(decode(a, Number::F64), n, round);
            same(n, got.bits, want.to_bits(), &format!("{a:#x} to {n} {round:?}"));
            let back = decode(got.bits, n);
            assert!(back.is_nan() || got.inexact == (back.to_f64() != f64::from_bits(a)), "{a:#x} to {n}");
        }
    }
}

fn widen(bits: u64) -> u64 {
    f64::from(f32::from_bits(bits as u32)).to_bits()
}

#[test]
fn conversions_round_once() {
    conversion::<Half>(Number::F16);
    conversion::<BFloat>(Number::Bf16);
    conversion::<Single>(Number::F32);
    conversion::<Float8E4M3FN>(Number::E4m3);
    conversion::<Float8E5M2>(Number::E5m2);
}

/// Every code of a small format decodes and encodes to itself, and codes are in the order of their numbers.
#[test]
fn small_formats() {
    for n in [Number::E4m3, Number::E5m2, Number::E2m1, Number::F16, Number::Bf16, Number::Tf32] {
        let f = format(n).unwrap();
        let mut last = f64::NEG_INFINITY;
        for code in 0..=f.largest() {
            let x = decode(code, n);
            assert!(x.to_f64() > last, "{n} {code:#x}");
            last = x.to_f64();
            for round in [Round::NearestEven, Round::Zero, Round::Down, Round::Up] {
                assert_eq!(encode(x, n, round), Encoded { bits: code, inexact: false, grew_normal: false }, "{n}");
                assert_eq!(encode(x.negate(), n, round).bits, code | f.sign_bit(), "{n}");
            }
        }
    }
    let largest = |n: Number| decode(format(n).unwrap().largest(), n).to_f64();
    assert_eq!(largest(Number::E4m3), 448.0);
    assert_eq!(largest(Number::E5m2), 57344.0);
    assert_eq!(largest(Number::E2m1), 6.0);
    assert_eq!(decode(1, Number::E2m1).to_f64(), 0.5);
    assert_eq!(decode(1, Number::E4m3).to_f64(), 2f64.powi(-9));
    assert_eq!(encode(Real::from_f64(464.0), Number::E4m3, Round::NearestEven).bits, 0x7e);
    assert_eq!(encode(Real::from_f64(464.1), Number::E4m3, Round::NearestEven).bits, 0x7f);
    assert_eq!(encode(Real::from_f64(-1e9), Number::E2m1, Round::NearestEven).bits, 0xf);
}

#[test]
fn scales() {
    let table: &[(f64, Round, u64)] = &[
        (1.0, Round::Zero, 127),
        (1.5, Round::Zero, 127),
        (1.5, Round::Up, 128),
        (2f64.powi(-127), Round::Zero, 0),
        (2f64.powi(-130), Round::Zero, 0),
        (2f64.powi(-130), Round::Up, 0),
        (2f64.powi(127), Round::Up, 254),
        (1.5 * 2f64.powi(127), Round::Up, 255),
        (f64::NAN, Round::Up, 255),
    ];
    for (x, round, code) in table {
        assert_eq!(encode(Real::from_f64(*x), Number::E8m0, *round).bits, *code, "{x} {round:?}");
    }
    assert_eq!(decode(0, Number::E8m0).to_f64(), 2f64.powi(-127));
    assert_eq!(decode(254, Number::E8m0).to_f64(), 2f64.powi(127));
}
