//! Compares the exact arithmetic with independent oracles: an arbitrary-precision soft-float library, brute-force
//! nearest-value search for the small formats, and literal values from the tables of the PTX ISA.

use proptest::prelude::*;
use rustc_apfloat::ieee::{BFloat, Double, Float8E4M3FN, Float8E5M2, Half, Single};
use rustc_apfloat::{Float, FloatConvert, Round};

use super::*;

const MODES: [(Rounding, Round); 5] = [
    (Rounding::NearestEven, Round::NearestTiesToEven),
    (Rounding::NearestAway, Round::NearestTiesToAway),
    (Rounding::TowardZero, Round::TowardZero),
    (Rounding::Down, Round::TowardNegative),
    (Rounding::Up, Round::TowardPositive),
];

/// Equal patterns, or both NaN.
fn same(format: Format, ours: u64, oracle: u64) -> bool {
    ours == oracle || format.is_nan(ours) && format.is_nan(oracle)
}

fn check_binary<F: Float>(format: Format, a: u64, b: u64, c: u64) {
    let (x, y, z) = (F::from_bits(a.into()), F::from_bits(b.into()), F::from_bits(c.into()));
    let flags = Flags::default();
    for (mode, round) in MODES {
        let cases = [
            ("add", add(format, a, b, mode, flags), x.add_r(y, round).value.to_bits()),
            ("sub", sub(format, a, b, mode, flags), x.sub_r(y, round).value.to_bits()),
            ("mul", mul(format, a, b, mode, flags), x.mul_r(y, round).value.to_bits()),
            ("div", div(format, a, b, mode, flags), x.div_r(y, round).value.to_bits()),
            ("fma", fma(format, a, b, c, mode, flags), x.mul_add_r(y, z, round).value.to_bits()),
        ];
        for (name, ours, oracle) in cases {
            assert!(
                same(format, ours, oracle as u64),
                "{format:?} {name} {mode:?} {a:#x} {b:#x} {c:#x}: {ours:#x}, oracle {oracle:#x}"
            );
        }
    }
}

/// Bit patterns concentrated around the interesting exponents.
fn pattern(bits: u32) -> impl Strategy<Value = u64> {
    let mask = if bits == 64 { u64::MAX } else { (1 << bits) - 1 };
    prop_oneof![
        4 => any::<u64>().prop_map(move |x| x & mask),
        // Few significant bits: ties and exact results.
        2 => any::<(u64, u64)>().prop_map(move |(x, y)| x & y & mask),
        2 => any::<(u64, u32)>().prop_map(move |(x, s)| (x << (s % bits)) & mask),
        // Near zero, near the top, and near one another.
        1 => (0u64..64).prop_map(move |x| x & mask),
        1 => (0u64..64).prop_map(move |x| (mask >> 1) - x),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn f64_matches_the_oracle(a in pattern(64), b in pattern(64), c in pattern(64)) {
        check_binary::<Double>(Format::F64, a, b, c);
    }

    #[test]
    fn f32_matches_the_oracle(a in pattern(32), b in pattern(32), c in pattern(32)) {
        check_binary::<Single>(Format::F32, a, b, c);
    }

    #[test]
    fn halves_match_the_oracle(a in pattern(16), b in pattern(16), c in pattern(16)) {
        check_binary::<Half>(Format::F16, a, b, c);
        check_binary::<BFloat>(Format::Bf16, a, b, c);
    }

    /// Close exponents and opposite signs: cancellation with a tail.
    #[test]
    fn fused_cancellation(a in any::<u64>(), b in any::<u64>(), d in -4i64..4, e in 0u32..3) {
        let (x, y) = (f64::from_bits(a), f64::from_bits(b));
        let c = (-(x * y)).to_bits().wrapping_add_signed(d) ^ u64::from(e) << 52;
        check_binary::<Double>(Format::F64, a, b, c);
    }

    #[test]
    fn fast_paths_agree_with_the_exact_ones(a in pattern(32), b in pattern(32), c in pattern(32)) {
        let (x, y, z) = (a as u32, b as u32, c as u32);
        let rn = Rounding::NearestEven;
        for ftz in [false, true] {
            for sat in [false, true] {
                let flags = Flags { ftz, sat, relu: false };
                prop_assert_eq!(u64::from(f32_add(x, y, rn, ftz, sat)), add(Format::F32, a, b, rn, flags));
                prop_assert_eq!(u64::from(f32_mul(x, y, rn, ftz, sat)), mul(Format::F32, a, b, rn, flags));
                prop_assert_eq!(u64::from(f32_fma(x, y, z, rn, ftz, sat)), fma(Format::F32, a, b, c, rn, flags));
            }
            let flags = Flags { ftz, ..Flags::default() };
            prop_assert_eq!(u64::from(f32_div(x, y, rn, ftz)), div(Format::F32, a, b, rn, flags));
            prop_assert_eq!(u64::from(f32_sqrt(x, rn, ftz)), sqrt(Format::F32, a, rn, flags));
        }
    }

    #[test]
    fn fast_paths_agree_in_double(a in pattern(64), b in pattern(64), c in pattern(64)) {
        let (rn, flags) = (Rounding::NearestEven, Flags::default());
        prop_assert_eq!(f64_add(a, b, rn), add(Format::F64, a, b, rn, flags));
        prop_assert_eq!(f64_sub(a, b, rn), sub(Format::F64, a, b, rn, flags));
        prop_assert_eq!(f64_mul(a, b, rn), mul(Format::F64, a, b, rn, flags));
        prop_assert_eq!(f64_fma(a, b, c, rn), fma(Format::F64, a, b, c, rn, flags));
        prop_assert_eq!(f64_div(a, b, rn), div(Format::F64, a, b, rn, flags));
        prop_assert_eq!(f64_sqrt(a, rn), sqrt(Format::F64, a, rn, flags));
    }

    /// The sign of the residual of the nearest root determines the directed roots.
    #[test]
    fn directed_square_roots(bits in pattern(64)) {
        // An exponent field of 256..1792 keeps the residual away from underflow.
        let exponent = 256 + (bits >> 52) % 1536;
        let x = f64::from_bits(bits & 0x000f_ffff_ffff_ffff | exponent << 52);
        let root = x.sqrt();
        let residual = root.mul_add(root, -x);
        let down = if residual > 0.0 { root.next_down() } else { root };
        let up = if residual < 0.0 { root.next_up() } else { root };
        prop_assert_eq!(f64_sqrt(x.to_bits(), Rounding::Down), down.to_bits());
        prop_assert_eq!(f64_sqrt(x.to_bits(), Rounding::TowardZero), down.to_bits());
        prop_assert_eq!(f64_sqrt(x.to_bits(), Rounding::Up), up.to_bits());
    }

    #[test]
    fn float_to_float_matches_the_oracle(bits in pattern(64)) {
        check_narrowing::<Double, Single>(Format::F64, Format::F32, bits);
        check_narrowing::<Double, Half>(Format::F64, Format::F16, bits);
        check_narrowing::<Single, Half>(Format::F32, Format::F16, bits & 0xffff_ffff);
        check_narrowing::<Single, BFloat>(Format::F32, Format::Bf16, bits & 0xffff_ffff);
        check_narrowing::<Single, Double>(Format::F32, Format::F64, bits & 0xffff_ffff);
    }

    #[test]
    fn common_conversions_are_the_exact_ones(bits in pattern(32)) {
        let opts = CvtOpts::default();
        for (from, to) in [(Format::F32, Format::Bf16), (Format::Bf16, Format::F32), (Format::F16, Format::F32)] {
            prop_assert_eq!(convert(from, bits, to, &opts), convert::convert_exactly(from, bits, to, &opts));
        }
    }

    #[test]
    fn integers_match_the_oracle(bits in pattern(64), raw in any::<u64>(), shift in 0u32..64) {
        let raw = raw >> shift;
        for (mode, round) in MODES {
            for ty in [IntType::S32, IntType::U32, IntType::S64, IntType::U64, IntType::S8, IntType::U16] {
                let ours = float_to_int(Format::F64, bits, ty, mode, false);
                let oracle = int_oracle(Double::from_bits(bits.into()), ty, round);
                prop_assert_eq!(ours, oracle, "{:#x} to {:?} {:?}", bits, ty, mode);
                let narrow = bits & 0xffff_ffff;
                let ours = float_to_int(Format::F32, narrow, ty, mode, false);
                if !Format::F32.is_nan(narrow) {
                    prop_assert_eq!(ours, int_oracle(Single::from_bits(narrow.into()), ty, round));
                }
                let opts = CvtOpts { rounding: mode, ..CvtOpts::default() };
                let value = ty.value(raw);
                let oracle = Single::from_i128_r(value, round).value.to_bits();
                prop_assert_eq!(u128::from(int_to_float(ty, raw, Format::F32, &opts)), oracle);
                let oracle = Double::from_i128_r(value, round).value.to_bits();
                prop_assert_eq!(u128::from(int_to_float(ty, raw, Format::F64, &opts)), oracle);
                let oracle = Half::from_i128_r(value, round).value.to_bits();
                prop_assert_eq!(u128::from(int_to_float(ty, raw, Format::F16, &opts)), oracle);
            }
        }
    }

    #[test]
    fn integral_rounding_matches_the_oracle(bits in pattern(64)) {
        for (mode, round) in MODES {
            let ours = round_to_integral(Format::F64, bits, mode, &CvtOpts::default());
            let oracle = Double::from_bits(bits.into()).round_to_integral(round).value.to_bits() as u64;
            prop_assert!(same(Format::F64, ours, oracle), "{:#x} {:?}: {:#x} {:#x}", bits, mode, ours, oracle);
            let narrow = bits & 0xffff_ffff;
            let ours = round_to_integral(Format::F32, narrow, mode, &CvtOpts::default());
            let oracle = Single::from_bits(narrow.into()).round_to_integral(round).value.to_bits() as u64;
            prop_assert!(same(Format::F32, ours, oracle));
        }
    }

    #[test]
    fn comparison_is_the_host_s(a in pattern(32), b in pattern(32)) {
        let (x, y) = (f32::from_bits(a as u32), f32::from_bits(b as u32));
        prop_assert_eq!(compare(Format::F32, a, b, false), x.partial_cmp(&y));
    }
}

fn check_narrowing<A: Float + FloatConvert<B>, B: Float>(from: Format, to: Format, bits: u64) {
    for (mode, round) in MODES {
        let opts = CvtOpts { rounding: mode, ..CvtOpts::default() };
        let ours = convert(from, bits, to, &opts);
        let oracle = A::from_bits(bits.into()).convert_r(round, &mut false).value.to_bits() as u64;
        assert!(same(to, ours, oracle), "{from:?} {bits:#x} to {to:?} {mode:?}: {ours:#x}, oracle {oracle:#x}");
    }
}

fn int_oracle<F: Float>(value: F, ty: IntType, round: Round) -> u64 {
    if value.is_nan() {
        return 1 << (ty.bits - 1);
    }
    let wide = value.to_i128_r(128, round, &mut false).value;
    ty.raw(wide.clamp(ty.min(), ty.max()))
}

/// Every pair of 8-bit values in every rounding mode.
#[test]
fn eight_bit_formats_exhaustively() {
    for a in 0..256 {
        for b in 0..256 {
            let c = (a * 7 + b * 13) & 0xff;
            check_binary::<Float8E5M2>(Format::E5m2, a, b, c);
            // The oracle lacks directed overflow for this format, so only results within range are compared.
            let (x, y) = (Float8E4M3FN::from_bits(a.into()), Float8E4M3FN::from_bits(b.into()));
            for (mode, round) in MODES {
                let oracle = x.mul_r(y, round).value.to_bits() as u64;
                let ours = mul(Format::E4m3, a, b, mode, Flags::default());
                if !Format::E4m3.is_nan(oracle) && !Format::E4m3.is_nan(ours) {
                    assert_eq!(ours, oracle, "{a:#x} * {b:#x} {mode:?}");
                }
            }
        }
    }
}

#[test]
fn half_precision_decodes_like_the_half_crate() {
    for bits in 0..=u16::MAX {
        let ours = convert(Format::F16, bits.into(), Format::F32, &CvtOpts::default());
        let oracle = half::f16::from_bits(bits).to_f32();
        assert!(same(Format::F32, ours, oracle.to_bits().into()), "{bits:#x}");
        let ours = convert(Format::Bf16, bits.into(), Format::F32, &CvtOpts::default());
        let oracle = half::bf16::from_bits(bits).to_f32();
        assert!(same(Format::F32, ours, oracle.to_bits().into()), "{bits:#x}");
    }
}

/// The value of a small format, by the textbook formula.
fn textbook(format: Format, bits: u64) -> f64 {
    let s = format.spec();
    let sign = if s.signed && bits >> (s.bits - 1) & 1 == 1 { -1.0 } else { 1.0 };
    let exponent = (bits >> s.fraction_bits & ((1 << s.exponent_bits) - 1)) as i32;
    let fraction = (bits & ((1 << s.fraction_bits) - 1)) as f64 / f64::from(1 << s.fraction_bits);
    let magnitude =
        if exponent == 0 { fraction * 2f64.powi(1 - s.bias) } else { (1.0 + fraction) * 2f64.powi(exponent - s.bias) };
    sign * magnitude
}

/// Every f16 into every small format: the oracle searches the finite values.
#[test]
fn small_formats_by_search() {
    for format in [Format::E4m3, Format::E5m2, Format::E3m2, Format::E2m3, Format::E2m1] {
        let s = format.spec();
        let mut values: Vec<(f64, u64)> = (0..1 << (s.bits - 1))
            .filter(|&b| !format.is_nan(b) && !format.unpack(b).is_infinite())
            .map(|b| (textbook(format, b), b))
            .collect();
        values.sort_by(|a, b| a.0.total_cmp(&b.0));
        let sign_bit = 1u64 << (s.bits - 1);
        for source in (0..0x8000u64).step_by(3).chain((0..0x8000).step_by(256)) {
            let value = half::f16::from_bits(source as u16).to_f64();
            for (mode, _) in MODES {
                for negative in [false, true] {
                    let bits = source | u64::from(negative) << 15;
                    let opts = CvtOpts { rounding: mode, satfinite: true, ..CvtOpts::default() };
                    let ours = convert(Format::F16, bits, format, &opts);
                    let expected = if value.is_nan() {
                        format.nan()
                    } else {
                        let toward_zero = match mode {
                            Rounding::TowardZero => true,
                            Rounding::Down => !negative,
                            Rounding::Up => negative,
                            _ => false,
                        };
                        let nearest = matches!(mode, Rounding::NearestEven | Rounding::NearestAway);
                        let above = values.partition_point(|v| v.0 < value);
                        let magnitude = if above == values.len() {
                            values[above - 1].1
                        } else if values[above].0 == value {
                            values[above].1
                        } else {
                            let (low, high) = (values[above - 1], values[above]);
                            let (below_gap, above_gap) = (value - low.0, high.0 - value);
                            let take_high = if nearest {
                                above_gap < below_gap
                                    || above_gap == below_gap && (mode == Rounding::NearestAway || high.1 & 1 == 0)
                            } else {
                                !toward_zero
                            };
                            if take_high { high.1 } else { low.1 }
                        };
                        magnitude | if negative { sign_bit } else { 0 }
                    };
                    assert_eq!(ours, expected, "{format:?} {mode:?} {bits:#x}");
                }
            }
        }
    }
}

/// Every value of every narrow format survives conversion to f32 and back.
#[test]
fn round_trips() {
    for format in [
        Format::F16,
        Format::Bf16,
        Format::E4m3,
        Format::E5m2,
        Format::E3m2,
        Format::E2m3,
        Format::E2m1,
        Format::Ue8m0,
        Format::Ue4m3,
    ] {
        for bits in 0..1u64 << format.spec().bits {
            let wide = convert(format, bits, Format::F32, &CvtOpts::default());
            let back = convert(Format::F32, wide, format, &CvtOpts::default());
            assert!(same(format, back, bits), "{format:?} {bits:#x} {wide:#x} {back:#x}");
        }
    }
}

#[test]
fn literal_conversions() {
    let f = |x: f32| u64::from(x.to_bits());
    let rn = CvtOpts::default();
    let sat = CvtOpts { satfinite: true, ..rn };
    let up = CvtOpts { rounding: Rounding::Up, satfinite: true, ..rn };
    let rz = CvtOpts { rounding: Rounding::TowardZero, ..rn };
    let rna = CvtOpts { rounding: Rounding::NearestAway, ..rn };
    let relu = CvtOpts { relu: true, ..rn };
    let inf = f32::INFINITY;
    let rows: [(Format, u64, Format, CvtOpts, u64); 24] = [
        (Format::F32, f(448.0), Format::E4m3, sat, 0x7e),
        (Format::F32, f(1e9), Format::E4m3, sat, 0x7e),
        (Format::F32, f(-inf), Format::E4m3, sat, 0xfe),
        (Format::F32, f(f32::NAN), Format::E4m3, sat, 0x7f),
        (Format::F32, f(f32::NAN), Format::E2m1, sat, 0x7),
        (Format::F32, f(6.0), Format::E2m1, sat, 0x7),
        (Format::F32, f(2.5), Format::E2m1, sat, 0x4),
        (Format::F32, f(5.0), Format::E2m1, sat, 0x6),
        (Format::F32, f(57344.0), Format::E5m2, sat, 0x7b),
        (Format::F32, f(1e6), Format::E5m2, sat, 0x7b),
        (Format::F32, f(65504.0), Format::F16, rn, 0x7bff),
        (Format::F32, f(65520.0), Format::F16, rn, 0x7c00),
        (Format::F32, f(65520.0), Format::F16, rz, 0x7bff),
        (Format::F32, f(inf), Format::F16, sat, 0x7bff),
        (Format::F32, f(-3.0), Format::Bf16, relu, 0),
        (Format::F32, 0x3f80_1000, Format::Tf32, rna, 0x3f80_2000),
        (Format::F32, 0x3f80_1000, Format::Tf32, rn, 0x3f80_0000),
        (Format::F32, f(1.0), Format::Ue8m0, up, 127),
        (Format::F32, f(1.5), Format::Ue8m0, up, 128),
        (Format::F32, f(-1.5), Format::Ue8m0, rz, 127),
        (Format::F32, f(0.0), Format::Ue8m0, up, 0),
        (Format::F32, f(inf), Format::Ue8m0, up, 0xfe),
        (Format::Ue8m0, 0, Format::Bf16, rn, 0x0040),
        (Format::Ue8m0, 0xff, Format::Bf16, rn, 0x7fff),
    ];
    for (from, bits, to, opts, expected) in rows {
        assert_eq!(convert(from, bits, to, &opts), expected, "{from:?} {bits:#x} to {to:?} {opts:?}");
    }
}

#[test]
fn stochastic_rounding_carries_out_of_the_discarded_bits() {
    // 1 + 2^-10 + 2^-11 in f16 discards 13 bits, of which the top one is set.
    let bits = u64::from((1.0f32 + 0.000_976_562_5 + 0.000_488_281_25).to_bits());
    for (random, expected) in [(0, 0x3c01), (0x0fff, 0x3c01), (0x1000, 0x3c02), (0x1fff, 0x3c02)] {
        let opts = CvtOpts { rounding: Rounding::Stochastic { bits: random, width: 13 }, ..CvtOpts::default() };
        assert_eq!(convert(Format::F32, bits, Format::F16, &opts), expected, "{random:#x}");
    }
}

#[test]
fn integer_conversions() {
    let f = |x: f32| u64::from(x.to_bits());
    let to = |x: u64, ty, r| float_to_int(Format::F32, x, ty, r, false);
    assert_eq!(to(f(f32::NAN), IntType::S32, Rounding::TowardZero), 0);
    assert_eq!(to(f(f32::NAN), IntType::U64, Rounding::TowardZero), 1 << 63);
    assert_eq!(float_to_int(Format::F64, f64::NAN.to_bits(), IntType::U32, Rounding::TowardZero, false), 1 << 31);
    assert_eq!(to(f(-1.0), IntType::U32, Rounding::TowardZero), 0);
    assert_eq!(to(f(300.0), IntType::U8, Rounding::TowardZero), 255);
    assert_eq!(to(f(-300.0), IntType::S8, Rounding::TowardZero), 0x80);
    assert_eq!(to(f(2.5), IntType::S32, Rounding::NearestEven), 2);
    assert_eq!(to(f(-2.5), IntType::S32, Rounding::Down), 0xffff_fffd);
    assert_eq!(to(1, IntType::S32, Rounding::Up), 1);
    assert_eq!(float_to_int(Format::F32, 1, IntType::S32, Rounding::Up, true), 0);
    assert_eq!(int_to_int(IntType::S32, 0xffff_ffff, IntType::U8, true), 0);
    assert_eq!(int_to_int(IntType::S32, 0xffff_ffff, IntType::U64, false), u64::MAX);
    assert_eq!(int_to_int(IntType::U32, 0xffff_ffff, IntType::S32, true), 0x7fff_ffff);
    assert_eq!(cvt_pack(IntType::S16, 70000, -70000i32 as u32, 0), 0x7fff_8000);
    assert_eq!(cvt_pack(IntType::U8, 1, 300, 0xabcd), 0xabcd_01ff);
    assert_eq!(cvt_pack(IntType { bits: 4, signed: true }, -9i32 as u32, 3, 0x12), 0x1283);
}

#[test]
fn s2f6_is_a_byte_of_sixty_fourths() {
    let from = |x: f32, scale| s2f6_from_float(Format::F32, x.to_bits().into(), scale, false);
    assert_eq!(from(1.0, 0), 64);
    assert_eq!(from(-2.0, 0), 0x80);
    assert_eq!(from(5.0, 0), 127);
    assert_eq!(from(4.0, 2), 64);
    assert_eq!(from(f32::NAN, 0), 127);
    for byte in 0..=255u8 {
        let wide = s2f6_to_float(byte, 0, Format::Bf16, false, false);
        assert_eq!(s2f6_from_float(Format::Bf16, wide, 0, false), byte);
    }
}

#[test]
fn flags_and_canonical_nans() {
    let one = 1f32.to_bits();
    let rn = Rounding::NearestEven;
    assert_eq!(f32_add(0x7fa0_0001, one, rn, false, false), 0x7fff_ffff);
    assert_eq!(f32_add(0xff80_0000, 0x7f80_0000, rn, false, false), 0x7fff_ffff);
    assert_eq!(f32_add(0x7fa0_0001, one, rn, false, true), 0);
    assert_eq!(f32_mul(3f32.to_bits(), one, rn, false, true), one);
    assert_eq!(f32_mul((-3f32).to_bits(), one, rn, false, true), 0);
    assert_eq!(f32_add(0x8000_0001, 0x8000_0000, rn, true, false), 0x8000_0000);
    // Half of the smallest normal number is subnormal and therefore flushed.
    assert_eq!(f32_mul(0x8080_0000, 0.5f32.to_bits(), rn, true, false), 0x8000_0000);
    assert_eq!(f64_add(0x7ff0_0000_0000_0001, 0, rn), 0x7ff8_0000_0000_0001);
    assert_eq!(f64_mul(0, f64::INFINITY.to_bits(), rn), 0xfff8_0000_0000_0000);
    let relu = Flags { relu: true, ..Flags::default() };
    assert_eq!(f16_fma(0xbc00, 0x3c00, 0, relu, false), 0);
    assert_eq!(f16_fma(0x7e01, 0x3c00, 0, relu, false), 0x7fff);
    assert_eq!(bf16_fma(0xffff, 0x3f80, 0x3f80, Flags::default(), true), 0);
    assert_eq!(bf16_fma(0xffff, 0x3f80, 0x3f80, Flags::default(), false), 0x7fff);
    assert_eq!(map2_x2(0x3c00_4000, 0x3c00_3c00, |a, b| f16_add(a, b, Flags::default())), 0x4000_4200);
    // x - x is +0 except when rounding down.
    assert_eq!(f32_sub(one, one, Rounding::Down, false, false), 0x8000_0000);
    assert_eq!(f32_sub(one, one, Rounding::Up, false, false), 0);
}

#[test]
fn minimum_and_maximum() {
    let f = |x: f32| u64::from(x.to_bits());
    let plain = MinMax::default();
    let nan = MinMax { nan: true, ..plain };
    let xorsign = MinMax { xorsign: true, abs: true, ..plain };
    assert_eq!(min(Format::F32, f(0.0), f(-0.0), plain), f(-0.0));
    assert_eq!(max(Format::F32, f(-0.0), f(0.0), plain), f(0.0));
    assert_eq!(min(Format::F32, f(f32::NAN), f(2.0), plain), f(2.0));
    assert_eq!(min(Format::F32, f(f32::NAN), f(2.0), nan), 0x7fff_ffff);
    assert_eq!(max(Format::F32, f(f32::NAN), f(f32::NAN), plain), 0x7fff_ffff);
    assert_eq!(min(Format::F32, f(-3.0), f(2.0), xorsign), f(-2.0));
    assert_eq!(max(Format::F32, f(-3.0), f(-2.0), xorsign), f(3.0));
    assert_eq!(min3(Format::F32, f(3.0), f(-1.0), f(2.0), plain), f(-1.0));
    assert_eq!(max3(Format::F32, f(3.0), f(-7.0), f(2.0), MinMax { abs: true, ..plain }), f(7.0));
    assert_eq!(max(Format::F16, 0x3c00, 0xbc00, plain), 0x3c00);
    assert_eq!(min(Format::F32, 0x8000_0001, 1, MinMax { ftz: true, ..plain }), 0x8000_0000);
}

/// The special-value tables of the approximate instructions.
#[test]
fn special_values_of_the_approximations() {
    let (inf, nan) = (0x7f80_0000u32, 0x7fff_ffffu32);
    let (ninf, nzero, one) = (0xff80_0000u32, 0x8000_0000u32, 0x3f80_0000u32);
    type Unary = fn(u32, bool) -> u32;
    // Results for -inf, -0, +0, +inf, NaN.
    let rows: [(&str, Unary, [u32; 5]); 8] = [
        ("rcp", f32_rcp_approx, [nzero, ninf, inf, 0, nan]),
        ("sqrt", f32_sqrt_approx, [nan, nzero, 0, inf, nan]),
        ("rsqrt", f32_rsqrt, [nan, ninf, inf, 0, nan]),
        ("sin", f32_sin, [nan, nzero, 0, nan, nan]),
        ("cos", f32_cos, [nan, one, one, nan, nan]),
        ("lg2", f32_lg2, [nan, ninf, ninf, inf, nan]),
        ("ex2", f32_ex2, [0, one, one, inf, nan]),
        ("tanh", |x, _| f32_tanh(x), [0xbf80_0000, nzero, 0, one, nan]),
    ];
    for (name, f, expected) in rows {
        for ftz in [false, true] {
            for (input, want) in [ninf, nzero, 0, inf, nan].into_iter().zip(expected) {
                assert_eq!(f(input, ftz), want, "{name} of {input:#x}, ftz {ftz}");
            }
        }
    }
    assert_eq!(f32_lg2(0xbf80_0000, false), nan);
    assert_eq!(f32_lg2(1, true), ninf);
    assert_eq!(f32_lg2(1, false), (-149f32).to_bits());
    assert_eq!(f32_ex2((-149f32).to_bits(), false), 1);
    assert_eq!(f32_ex2((-149f32).to_bits(), true), 0);
    assert_eq!(f32_ex2(10f32.to_bits(), true), 1024f32.to_bits());
    assert_eq!(f32_rsqrt(4f32.to_bits(), false), 0.5f32.to_bits());
    assert_eq!(f32_div_approx(inf, 0x7e80_0001, false), nan);
    assert_eq!(f32_div_approx(one, 0xfe80_0001, false), nzero);
    assert_eq!(f32_div_full(6f32.to_bits(), 3f32.to_bits(), true), 2f32.to_bits());
    assert_eq!(f64_rcp_approx_ftz(4f64.to_bits()), 0.25f64.to_bits());
    assert_eq!(f64_rcp_approx_ftz(f64::NAN.to_bits()), 0x7fff_ffff_0000_0000);
    assert_eq!(f64_rcp_approx_ftz(0x8000_0001_0000_0000), f64::NEG_INFINITY.to_bits());
    assert_eq!(f64_rcp_approx_ftz(3f64.to_bits()) & 0xffff_ffff, 0);
    assert_eq!(f64_rsqrt_approx_ftz(16f64.to_bits()), 0.25f64.to_bits());
    assert_eq!(f64_rsqrt_approx_ftz(0x8000_0001_0000_0000), f64::NEG_INFINITY.to_bits());
    assert_eq!(f16_tanh(0xfc00), 0xbc00);
    assert_eq!(f16_ex2(0x4000), 0x4400);
    assert_eq!(bf16_ex2(0x0001), 0x3f80);
    assert_eq!(bf16_tanh(0x7fff), 0x7fff);
}
