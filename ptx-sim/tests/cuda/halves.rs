//! Half precision and smaller formats.

use half::{bf16, f16};
use rustc_apfloat::ieee::{BFloat, Float8E4M3FN, Float8E5M2, Half, Single};
use rustc_apfloat::{Float, FloatConvert, Round};

use super::harness::{Element, Random, run, special_floats};

const RN: Round = Round::NearestTiesToEven;

fn patterns(n: usize, seed: u64) -> Vec<u16> {
    let mut all = Random::new(seed).words(n - 8, |x| x as u16);
    all.extend([0, 0x8000, 0x3c00, 0xbc00, 0x7c00, 0xfc00, 0x7e00, 0x0001]);
    all
}

/// Computes one element with an independent soft-float library.
fn op<F: Float>(x: u16, y: u16, z: u16, which: usize) -> u16 {
    let (a, b, c) = (F::from_bits(x.into()), F::from_bits(y.into()), F::from_bits(z.into()));
    let result = match which {
        0 => a.add_r(b, RN).value,
        1 => a.mul_r(b, RN).value,
        _ => a.mul_add_r(b, c, RN).value,
    };
    if result.is_nan() { 0x7fff } else { result.to_bits() as u16 }
}

#[test]
fn half_pairs() {
    run("half_arithmetic", |k| {
        let (a, b) = (patterns(64, 1), patterns(64, 2));
        k.input(&a);
        k.input(&b);
        let out = k.output::<u16>(6 * 64);
        k.launch(1, 32);
        let nan = |x: u16| f16::from_bits(x).is_nan();
        let element = |x: u16, y: u16, which: usize| match which {
            0 => op::<Half>(x, y, 0, 0),
            1 => op::<Half>(x, y, 0, 1),
            2 => op::<Half>(x, y, x, 2),
            3 => {
                let r = op::<Half>(x, y, y, 2);
                if r >> 15 == 1 { 0 } else { r }
            }
            4 => match f16::from_bits(op::<Half>(x, y, 0, 0)).to_f32() {
                s if s.is_nan() || s <= 0.0 => 0,
                s => f16::from_f32(s.min(1.0)).to_bits(),
            },
            _ if nan(x) || nan(y) => 0x7fff,
            _ if f16::from_bits(x).total_cmp(&f16::from_bits(y)).is_lt() => x,
            _ => y,
        };
        let expected: Vec<u16> = (0..32)
            .flat_map(|i| (0..6).flat_map(move |w| [(2 * i, w), (2 * i + 1, w)]))
            .map(|(i, w)| element(a[i], b[i], w))
            .collect();
        k.expect(out, &expected);
    });
}

#[test]
fn bfloat_pairs() {
    run("bf16_arithmetic", |k| {
        let (a, b) = (patterns(64, 3), patterns(64, 4));
        k.input(&a);
        k.input(&b);
        let out = k.output::<u16>(5 * 64);
        k.launch(1, 32);
        let element = |x: u16, y: u16, which: usize| match which {
            0 => op::<BFloat>(x, y, 0, 0),
            1 => op::<BFloat>(x, y, 0, 1),
            2 => op::<BFloat>(x, y, x, 2),
            3 => match (bf16::from_bits(x).is_nan(), bf16::from_bits(y).is_nan()) {
                (true, true) => 0x7fff,
                (true, false) => y,
                (false, true) => x,
                _ if bf16::from_bits(x).total_cmp(&bf16::from_bits(y)).is_gt() => x,
                _ => y,
            },
            _ => x | 0x8000,
        };
        let expected: Vec<u16> = (0..32)
            .flat_map(|i| (0..5).flat_map(move |w| [(2 * i, w), (2 * i + 1, w)]))
            .map(|(i, w)| element(a[i], b[i], w))
            .collect();
        k.expect_bits_or_nan(out, &expected, Element::Bf16);
        for (i, (f, e)) in k.read::<u16>(out).iter().zip(&expected).enumerate() {
            // abs and neg keep a NaN, whose payload is unspecified.
            assert!(f == e || i / 2 % 5 == 4, "element {i}: {f:#x}, expected {e:#x}");
        }
    });
}

fn narrow<F: Float>(x: f32, round: Round) -> u16
where
    Single: FloatConvert<F>,
{
    if x.is_nan() {
        return 0x7fff;
    }
    let value: F = Single::from_bits(x.to_bits().into()).convert_r(round, &mut false).value;
    value.to_bits() as u16
}

#[test]
fn conversions() {
    run("half_convert", |k| {
        let mut a = special_floats();
        a.extend(Random::new(5).floats(32, 70_000.0));
        k.input(&a);
        let out = k.output::<u16>(8 * 64);
        let back = k.output::<u32>(128);
        let ints = k.output::<i32>(64);
        k.launch(1, 64);
        let (rz, ru) = (Round::TowardZero, Round::TowardPositive);
        let expected: Vec<u16> = a
            .iter()
            .flat_map(|&x| {
                let relu = narrow::<BFloat>(x, RN);
                let clamped = match narrow::<Half>(x, rz) {
                    0x7c00 => 0x7bff,
                    0xfc00 => 0xfbff,
                    other => other,
                };
                [
                    narrow::<Half>(x, RN),
                    narrow::<Half>(x, rz),
                    narrow::<Half>(x, ru),
                    narrow::<BFloat>(x, RN),
                    narrow::<BFloat>(x, rz),
                    narrow::<Half>(-x, RN),
                    if x < 0.0 || relu == 0x8000 { 0 } else { relu },
                    clamped,
                ]
            })
            .collect();
        k.expect(out, &expected);
        let wide = |x: f32| if x.is_nan() { 0x7fff_ffff } else { x.to_bits() };
        let half = |i: usize| f16::from_bits(expected[8 * i]).to_f32();
        let bfloat = |i: usize| bf16::from_bits(expected[8 * i + 3]).to_f32();
        // A bfloat16 NaN widens to an unspecified NaN.
        let widened: Vec<u32> = (0..64).flat_map(|i| [wide(half(i)), wide(bfloat(i))]).collect();
        k.expect_bits_or_nan(back, &widened, Element::F32);
        for (i, found) in k.read::<u32>(back).iter().step_by(2).enumerate() {
            assert_eq!(*found, wide(half(i)), "half {i}");
        }
        k.expect(ints, &(0..64).map(|i| half(i) as i32).collect::<Vec<_>>());
    });
}

#[test]
fn approximate_functions() {
    run("half_math", |k| {
        let a: Vec<u16> = (0..64).map(|i| f16::from_f32(-3.0 + i as f32 * 0.1).to_bits()).collect();
        k.input(&a);
        let out = k.output::<u16>(256);
        k.launch(1, 64);
        k.note("results are approximate, half and bfloat16 by turns");
        for (i, found) in k.read::<u16>(out).chunks(4).enumerate() {
            let (h, b) = (f64::from(f16::from_bits(a[i])), f64::from(bf16::from_bits(a[i])));
            let f = |x: u16| f64::from(f16::from_bits(x));
            let g = |x: u16| f64::from(bf16::from_bits(x));
            let near = |x: f64, e: f64, tolerance: f64| (x - e).abs() <= tolerance * e.abs().max(1e-3);
            assert!(near(f(found[0]), h.exp2(), 1e-3), "ex2 {i}");
            assert!((f(found[1]) - h.tanh()).abs() < 5e-4, "tanh {i}");
            assert!(near(g(found[2]), b.exp2(), 8e-3), "ex2 bf16 {i}");
            assert!((g(found[3]) - b.tanh()).abs() < 4e-3, "tanh bf16 {i}");
        }
    });
}

/// Overflow becomes the largest magnitude.
fn fp8<F: Float>(x: F, max: u8, relu: bool) -> u16 {
    if x.is_nan() {
        return 0x7f;
    }
    if relu && x.is_negative() {
        return 0;
    }
    let sign = if x.is_negative() { 0x80 } else { 0 };
    let bits = x.to_bits() as u16;
    if x.is_finite() && (bits & 0x7f) <= u16::from(max) { bits } else { sign | u16::from(max) }
}

fn to_fp8<S, F: Float>(x: S, max: u8, relu: bool) -> u16
where
    S: Float + FloatConvert<F>,
{
    if x.is_nan() {
        return 0x7f;
    }
    let sign = if x.is_negative() { 0x80 } else { 0 };
    let narrowed: F = x.convert_r(RN, &mut false).value;
    // A finite or infinite value that became NaN has overflowed.
    if narrowed.is_nan() {
        return if relu && sign != 0 { 0 } else { sign | u16::from(max) };
    }
    fp8(narrowed, max, relu)
}

#[test]
fn eight_bit_pairs() {
    run("fp8_convert", |k| {
        let mut a = Random::new(6).floats(96, 500.0);
        a.extend(special_floats());
        k.input(&a);
        let out = k.output::<u16>(4 * 64);
        let wide = k.output::<u32>(128);
        k.launch(1, 64);
        let single = |x: f32| Single::from_bits(x.to_bits().into());
        let halved = |x: f32| -> Half {
            let h: Half = single(x).convert_r(RN, &mut false).value;
            h
        };
        let e4m3 = |x: f32| to_fp8::<Single, Float8E4M3FN>(single(x), 0x7e, false);
        let e5m2 = |x: f32| to_fp8::<Single, Float8E5M2>(single(x), 0x7b, true);
        let pair = |f: &dyn Fn(f32) -> u16, i: usize| f(a[2 * i + 1]) << 8 | f(a[2 * i]);
        let expected: Vec<u16> = (0..64)
            .flat_map(|i| {
                [
                    pair(&e4m3, i),
                    pair(&e5m2, i),
                    pair(&|x| to_fp8::<Half, Float8E4M3FN>(halved(x), 0x7e, false), i),
                    pair(&|x| to_fp8::<Half, Float8E5M2>(halved(x), 0x7b, false), i),
                ]
            })
            .collect();
        k.expect(out, &expected);
        let up = |bits: u16, e4m3: bool| -> u32 {
            let h: Half = if e4m3 {
                Float8E4M3FN::from_bits(bits.into()).convert_r(RN, &mut false).value
            } else {
                Float8E5M2::from_bits(bits.into()).convert_r(RN, &mut false).value
            };
            if h.is_nan() { 0x7fff } else { h.to_bits() as u32 }
        };
        let widened: Vec<u32> = (0..64)
            .flat_map(|i| {
                [(expected[4 * i], true), (expected[4 * i + 1], false)]
                    .map(|(p, e)| up(p >> 8, e) << 16 | up(p & 0xff, e))
            })
            .collect();
        k.expect(wide, &widened);
    });
}

/// Finds the nearest value of a small format by search; ties go to the even code.
fn nearest(x: f32, values: &[f32]) -> u32 {
    if x.is_nan() {
        return values.len() as u32 - 1;
    }
    // Clamped first, so that differences from the table's values are exact.
    let magnitude = x.abs().min(2.0 * values[values.len() - 1]);
    let mut best = 0;
    for (i, v) in values.iter().enumerate() {
        let (new, old) = ((magnitude - v).abs(), (magnitude - values[best]).abs());
        if new < old || new == old && i % 2 == 0 {
            best = i;
        }
    }
    best as u32 | if x.is_sign_negative() { values.len() as u32 } else { 0 }
}

/// The non-negative values of a format with `e` exponent and `m` fraction bits.
fn table(e: u32, m: u32) -> Vec<f32> {
    let bias = (1 << (e - 1)) - 1;
    (0..1 << (e + m))
        .map(|code: i32| {
            let (exponent, fraction) = (code >> m, (code & ((1 << m) - 1)) as f32 / (1 << m) as f32);
            if exponent == 0 { fraction * 2f32.powi(1 - bias) } else { (1.0 + fraction) * 2f32.powi(exponent - bias) }
        })
        .collect()
}

#[test]
fn six_and_four_bit_pairs() {
    run("fp4_convert", |k| {
        let mut a = Random::new(7).floats(96, 9.0);
        a.extend(special_floats());
        k.input(&a);
        let out = k.output::<u32>(6 * 64);
        k.launch(1, 64);
        let (e2m1, e2m3, e3m2) = (table(2, 1), table(2, 3), table(3, 2));
        let scale = |x: f32| -> u32 {
            match x.abs() {
                _ if x.is_nan() => 0xff,
                m if m.is_infinite() => 0xfe,
                m => {
                    let exponent = (0..255).find(|e| f64::from(m) <= 2f64.powi(e - 127)).unwrap_or(254);
                    exponent as u32
                }
            }
        };
        let expected: Vec<u32> = (0..64)
            .flat_map(|i| {
                let (x, y) = (a[2 * i], a[2 * i + 1]);
                let pair = |t: &[f32], shift: u32| nearest(y, t) << shift | nearest(x, t);
                let small = pair(&e2m3, 8);
                let half = |code: u32| {
                    let v = e2m3[(code & 31) as usize];
                    u32::from(f16::from_f32(if code >> 5 == 1 { -v } else { v }).to_bits())
                };
                let relu = |v: f32| if v.is_sign_negative() && !v.is_nan() { 0 } else { nearest(v, &e3m2) };
                let power = |code: u32| match code {
                    0xff => 0x7fff,
                    0 => 0x0040,
                    c => c << 7,
                };
                let (sx, sy) = (scale(x), scale(y));
                [
                    pair(&e2m1, 4),
                    small,
                    half(small >> 8) << 16 | half(small & 0xff),
                    relu(y) << 8 | relu(x),
                    sy << 8 | sx,
                    power(sy) << 16 | power(sx),
                ]
            })
            .collect();
        k.expect(out, &expected);
    });
}

#[test]
fn stochastic_rounding() {
    run("stochastic_convert", |k| {
        let a = Random::new(8).floats(128, 100.0);
        let random = Random::new(9).words(64, |x| x as u32);
        k.input(&a);
        k.input(&random);
        let out = k.output::<u32>(128);
        k.launch(1, 64);
        // The random bits are added below the kept bits, and the rest is truncated.
        let half = |x: f32, bits: u32| {
            let moved = f32::from_bits(x.to_bits() + (bits & 0x1fff));
            u32::from(narrow::<Half>(moved, Round::TowardZero))
        };
        let bfloat = |x: f32, bits: u32| (x.to_bits() + (bits & 0xffff)) >> 16;
        let expected: Vec<u32> = (0..64)
            .flat_map(|i| {
                let (x, y, r) = (a[2 * i], a[2 * i + 1], random[i]);
                [half(y, r >> 16) << 16 | half(x, r), bfloat(y, r >> 16) << 16 | bfloat(x, r)]
            })
            .collect();
        k.expect(out, &expected);
    });
}
