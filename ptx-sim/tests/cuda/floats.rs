//! Single and double precision.

use rustc_apfloat::ieee::{Double, Single};
use rustc_apfloat::{Float, FloatConvert, Round};

use super::harness::{Element, Random, run, special_floats};

const RN: Round = Round::NearestTiesToEven;
const RZ: Round = Round::TowardZero;
const RU: Round = Round::TowardPositive;
const RD: Round = Round::TowardNegative;

/// Single-precision operands: special values paired with a permutation of them, then random ones.
fn operands() -> (Vec<f32>, Vec<f32>) {
    let mut a = special_floats();
    let mut b: Vec<f32> = (0..a.len()).map(|i| a[(i * 7 + 3) % a.len()]).collect();
    let mut random = Random::new(11);
    a.extend(random.words(32, |x| f32::from_bits(x as u32)));
    b.extend(random.words(32, |x| f32::from_bits((x >> 13) as u32)));
    (a, b)
}

/// NaN results are canonical.
fn canonical(x: f32) -> u32 {
    if x.is_nan() { 0x7fff_ffff } else { x.to_bits() }
}

fn single(x: Single) -> u32 {
    canonical(f32::from_bits(x.to_bits() as u32))
}

#[test]
fn directed_rounding() {
    run("float_rounding", |k| {
        let (a, b) = operands();
        k.input(&a);
        k.input(&b);
        let out = k.output::<u32>(14 * 64);
        k.launch(1, 64);
        let expected: Vec<u32> = a
            .iter()
            .zip(&b)
            .flat_map(|(&fx, &fy)| {
                let (x, y) = (Single::from_bits(fx.to_bits().into()), Single::from_bits(fy.to_bits().into()));
                let root = fx.abs().sqrt();
                // The root's residual, exact in double precision, determines the direction.
                let residual = f64::from(root) * f64::from(root) - f64::from(fx.abs());
                let up = if residual < 0.0 && root.is_finite() { root.next_up() } else { root };
                [
                    single(x.add_r(y, RZ).value),
                    single(x.add_r(y, RU).value),
                    single(x.add_r(y, RD).value),
                    single(x.mul_r(y, RZ).value),
                    single(x.mul_r(y, RU).value),
                    single(x.mul_r(y, RD).value),
                    single(x.mul_add_r(y, x, RZ).value),
                    single(x.mul_add_r(y, x, RU).value),
                    single(x.mul_add_r(y, x, RD).value),
                    single(x.div_r(y, RN).value),
                    single(x.div_r(y, RZ).value),
                    canonical(root),
                    canonical(up),
                    single(Single::from_bits(0x3f80_0000).div_r(y, RD).value),
                ]
            })
            .collect();
        k.expect(out, &expected);
    });
}

#[test]
fn directed_rounding_in_double() {
    run("double_rounding", |k| {
        let mut random = Random::new(12);
        let mut a = random.words(30, |x| f64::from_bits(x & 0xbfff_ffff_ffff_ffff | 1 << 61));
        let mut b = random.words(30, |x| f64::from_bits(x & 0xbfff_ffff_ffff_ffff | 3 << 60));
        a.extend([1.0, 1e300]);
        b.extend([3.0, 1e300]);
        k.input(&a);
        k.input(&b);
        let out = k.output::<u64>(320);
        k.launch(1, 32);
        let expected: Vec<u64> = a
            .iter()
            .zip(&b)
            .flat_map(|(&fx, &fy)| {
                let (x, y) = (Double::from_bits(fx.to_bits().into()), Double::from_bits(fy.to_bits().into()));
                let one = Double::from_bits(1f64.to_bits().into());
                [
                    x.add_r(y, RZ).value,
                    x.add_r(y, RU).value,
                    x.mul_r(y, RD).value,
                    x.mul_r(y, RU).value,
                    x.mul_add_r(y, -x, RN).value,
                    x.mul_add_r(y, -x, RZ).value,
                    x.div_r(y, RN).value,
                    x.div_r(y, RU).value,
                    Double::from_bits(fx.abs().sqrt().to_bits().into()),
                    one.div_r(y, RZ).value,
                ]
                .map(|r| r.to_bits() as u64)
            })
            .collect();
        k.expect(out, &expected);
    });
}

fn flush(x: f32) -> f32 {
    if x.is_subnormal() { 0f32.copysign(x) } else { x }
}

#[test]
fn flushing_and_saturation() {
    run("flush_saturate", |k| {
        let (a, b) = operands();
        k.input(&a);
        k.input(&b);
        let out = k.output::<u32>(6 * 64);
        k.launch(1, 64);
        let expected: Vec<u32> = a
            .iter()
            .zip(&b)
            .flat_map(|(&x, &y)| {
                let (fx, fy) = (flush(x), flush(y));
                let clamp = |v: f32| if v.is_nan() || v <= 0.0 { 0.0 } else { v.min(1.0) };
                let (sx, sy) = (Single::from_bits(fx.to_bits().into()), Single::from_bits(fy.to_bits().into()));
                let fused = f32::from_bits(sx.mul_add_r(sy, sx, RZ).value.to_bits() as u32);
                [
                    canonical(flush(fx + fy)),
                    canonical(flush(fx * fy)),
                    clamp(x + y).to_bits(),
                    clamp(flush(fused)).to_bits(),
                    fx.abs().to_bits(),
                    (-fy).to_bits(),
                ]
            })
            .collect();
        // abs and neg leave a NaN's payload unspecified, so only NaNs may differ.
        k.expect_bits_or_nan(out, &expected, Element::F32);
        for (i, (f, e)) in k.read::<u32>(out).iter().zip(&expected).enumerate() {
            assert!(f == e || i % 6 >= 4, "element {i}: {f:#x}, expected {e:#x}");
        }
    });
}

#[test]
fn approximations() {
    run("fast_math", |k| {
        let a: Vec<f32> = (0..64).map(|i| 0.05 + i as f32 * 0.11).collect();
        k.input(&a);
        let out = k.output::<f32>(7 * 64);
        let rough = k.output::<f32>(64);
        k.launch(1, 64);
        let expected: Vec<f64> = a
            .iter()
            .flat_map(|&x| {
                let x = f64::from(x);
                [x.exp2(), x.log2(), x.sin(), x.cos(), x.sqrt().recip(), 1.5 / x, x.sqrt()]
            })
            .collect();
        k.expect_near(out, &expected, 2e-6);
        // PTX guarantees 2^-11 for this instruction, and GPUs make use of it.
        let expected: Vec<f64> = a.iter().map(|&x| f64::from(x).tanh()).collect();
        k.expect_near(rough, &expected, 2f64.powi(-11));
    });
}

#[test]
fn minimum_and_maximum() {
    run("float_minmax", |k| {
        let (a, b) = operands();
        k.input(&a);
        k.input(&b);
        let out = k.output::<u32>(256);
        k.launch(1, 64);
        let pick = |x: f32, y: f32, larger: bool| match (x.is_nan(), y.is_nan()) {
            (true, true) => 0x7fff_ffff,
            (true, false) => y.to_bits(),
            (false, true) => x.to_bits(),
            _ => if (x.total_cmp(&y).is_gt()) == larger { x } else { y }.to_bits(),
        };
        let expected: Vec<u32> = a
            .iter()
            .zip(&b)
            .flat_map(|(&x, &y)| {
                let nan = x.is_nan() || y.is_nan();
                [
                    pick(x, y, false),
                    pick(x, y, true),
                    if nan { 0x7fff_ffff } else { pick(x, y, false) },
                    pick(flush(x), flush(y), true),
                ]
            })
            .collect();
        k.expect(out, &expected);
    });
}

/// Rounds and clamps like `cvt`; NaN gives `nan`.
fn to_int(x: Double, low: i128, high: i128, round: Round, nan: i64) -> i64 {
    if x.is_nan() {
        return nan;
    }
    x.to_i128_r(128, round, &mut false).value.clamp(low, high) as i64
}

#[test]
fn conversions_to_integers() {
    run("float_to_int", |k| {
        let (a, b) = operands();
        let wide: Vec<f64> = b.iter().map(|x| f64::from(*x) * 1.37).collect();
        k.input(&a);
        k.input(&wide);
        let out = k.output::<i64>(12 * 64);
        k.launch(1, 64);
        let (s32, u32_) = ((i32::MIN.into(), i32::MAX.into()), (0, u32::MAX.into()));
        let (s64, u64_) = ((i64::MIN.into(), i64::MAX.into()), (0, u64::MAX.into()));
        let top = i64::MIN;
        let expected: Vec<i64> = a
            .iter()
            .zip(&wide)
            .flat_map(|(&f, &d)| {
                let x = Double::from_bits(f64::from(f).to_bits().into());
                let y = Double::from_bits(d.to_bits().into());
                let int = |v: Double, (low, high): (i128, i128), round, nan| to_int(v, low, high, round, nan);
                [
                    int(x, s32, RN, 0),
                    int(x, s32, RZ, 0),
                    int(x, s32, RU, 0),
                    int(x, s32, RD, 0),
                    int(x, u32_, RZ, 0),
                    int(x, s64, RN, top),
                    int(x, u64_, RZ, top),
                    int(y, s32, RN, i32::MIN.into()),
                    int(y, u32_, RZ, 1 << 31),
                    int(y, s64, RD, top),
                    int(x, (i16::MIN.into(), i16::MAX.into()), RZ, 0),
                    int(x, (0, 255), RN, 0),
                ]
            })
            .collect();
        k.expect(out, &expected);
    });
}

#[test]
fn conversions_from_integers() {
    run("int_to_float", |k| {
        let mut a = Random::new(14).words(58, |x| x as i64 >> (x % 60));
        a.extend([0, 16_777_217, -16_777_219, i64::MAX, i64::MIN, 0xffff_ffff]);
        k.input(&a);
        let out = k.output::<u32>(7 * 64);
        let wide = k.output::<f64>(128);
        k.launch(1, 64);
        let from = |v: i128, round| single(Single::from_i128_r(v, round).value);
        let narrow = |v: f64, round| {
            let d = Double::from_bits(v.to_bits().into());
            let s: Single = d.convert_r(round, &mut false).value;
            single(s)
        };
        let expected: Vec<u32> = a
            .iter()
            .flat_map(|&v| {
                [
                    from((v as i32).into(), RN),
                    from((v as i32).into(), RZ),
                    from((v as u32).into(), RU),
                    from(v.into(), RD),
                    from((v as u64).into(), RN),
                    narrow(v as f64 * 1.1, RU),
                    narrow(v as f64 * 1.1, RZ),
                ]
            })
            .collect();
        k.expect(out, &expected);
        let expected: Vec<f64> = a
            .iter()
            .flat_map(|&v| {
                let exact = Double::from_i128_r(v.into(), RZ).value;
                [f64::from_bits(exact.to_bits() as u64), f64::from(v as i32)]
            })
            .collect();
        k.expect(wide, &expected);
    });
}

#[test]
fn integral_values() {
    run("integral_rounding", |k| {
        let (a, _) = operands();
        k.input(&a);
        let out = k.output::<u32>(5 * 64);
        k.launch(1, 64);
        let expected: Vec<u32> = a
            .iter()
            .flat_map(|x| [x.round_ties_even(), x.trunc(), x.floor(), x.ceil(), x.round()].map(canonical))
            .collect();
        k.expect_bits_or_nan(out, &expected, Element::F32);
    });
}

#[test]
fn classification_and_scaling() {
    run("float_bits", |k| {
        let (a, b) = operands();
        let (a, b) = (&a[..32], &b[..32]);
        k.input(a);
        k.input(b);
        let out = k.output::<f32>(128);
        let kinds = k.output::<i32>(32);
        k.launch(1, 32);
        let expected: Vec<i32> = a
            .iter()
            .map(|x| {
                i32::from(x.is_nan())
                    + 2 * i32::from(x.is_infinite())
                    + 4 * i32::from(x.is_sign_negative())
                    + 8 * i32::from(x.is_normal() || *x == 0.0)
                    + 16 * i32::from(x.is_subnormal())
            })
            .collect();
        k.expect(kinds, &expected);
        k.note("argument 2 holds copysign, ldexp, frexp and fabs of the inputs, checked in the test");
        let found = k.read::<f32>(out);
        for (i, x) in a.iter().enumerate() {
            let scaled = (f64::from(*x) * 2f64.powi(i as i32 - 16)) as f32;
            let same = |f: f32, e: f32| f.to_bits() == e.to_bits() || f.is_nan() && e.is_nan();
            assert!(same(found[4 * i], x.copysign(b[i])), "copysign {i}");
            assert!(same(found[4 * i + 1], scaled), "ldexp {i}: {} expected {scaled}", found[4 * i + 1]);
            let m = found[4 * i + 2];
            assert!(!x.is_finite() || *x == 0.0 || (0.5..1.0).contains(&m.abs()), "frexp {i}: {m}");
            assert!(same(found[4 * i + 3], x.abs()), "fabs {i}");
        }
    });
}

#[test]
fn comparisons() {
    run("set_compare", |k| {
        let (a, b) = operands();
        k.input(&a);
        k.input(&b);
        let out = k.output::<u32>(64);
        k.launch(1, 64);
        let expected: Vec<u32> = a
            .iter()
            .zip(&b)
            .map(|(&x, &y)| {
                let nan = x.is_nan() || y.is_nan();
                let row = [
                    x == y,
                    !nan && x != y,
                    x < y,
                    x >= y,
                    nan || x == y,
                    x != y,
                    nan || x < y,
                    nan || x >= y,
                    !nan,
                    nan,
                ];
                let bits = row.iter().enumerate().fold(0u32, |r, (i, b)| r | u32::from(*b) << i);
                let positive = x > 0.0;
                let less = x < y;
                let (q, r) = (less && positive, !less && positive);
                bits | (if q { 1 } else { 2 } + if r { 4 } else { 0 }) << 16
            })
            .collect();
        k.expect(out, &expected);
    });
}

#[test]
fn pairs_in_a_register() {
    run("packed_f32", |k| {
        let (a, b) = operands();
        k.input(&a);
        k.input(&b);
        let out = k.output::<u32>(6 * 32);
        k.launch(1, 32);
        let expected: Vec<u32> = (0..32)
            .flat_map(|i| {
                let at = |j: usize| (a[2 * i + j], b[2 * i + j]);
                let product = |j: usize| {
                    let (x, y) = at(j);
                    let (x, y) = (Single::from_bits(x.to_bits().into()), Single::from_bits(y.to_bits().into()));
                    single(x.mul_r(y, RZ).value)
                };
                let fused = |j: usize| {
                    let (x, y) = (flush(at(j).0), flush(at(j).1));
                    canonical(flush(x.mul_add(y, x)))
                };
                let sum = |j: usize| canonical(at(j).0 + at(j).1);
                [sum(0), sum(1), product(0), product(1), fused(0), fused(1)]
            })
            .collect();
        k.expect(out, &expected);
    });
}

#[test]
fn tf32_and_packed_integers() {
    run("tf32_pack", |k| {
        let (a, _) = operands();
        let b = Random::new(15).words(64, |x| x as i32 >> (x >> 40 & 31));
        k.input(&a);
        k.input(&b);
        let tf32 = k.output::<u32>(64);
        let out = k.output::<u32>(3 * 64);
        k.launch(1, 64);
        let rounded = a.iter().map(|x| match x.to_bits() {
            _ if x.is_nan() => 0x7fff_ffff,
            bits if x.is_infinite() => bits,
            // Adding half a unit of the kept bits to the magnitude rounds ties away from zero.
            bits => (bits + 0x1000) & 0xffff_e000,
        });
        k.expect_bits_or_nan(tf32, &rounded.collect::<Vec<u32>>(), Element::F32);
        let expected: Vec<u32> = b
            .iter()
            .flat_map(|&n| {
                let s16 = |v: i32| v.clamp(-32768, 32767) as u16 as u32;
                let u8_ = |v: i32| v.clamp(0, 255) as u32;
                let minus = n.wrapping_neg();
                [s16(n) << 16 | s16(minus), u8_(n) << 8 | u8_(minus) | 0x1234 << 16, n.clamp(-128, 127) as u32]
            })
            .collect();
        k.expect(out, &expected);
    });
}
