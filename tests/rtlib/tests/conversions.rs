//! Compares conversions and directed arithmetic with the definitions of the formats: exhaustively if the source has 8
//! or 16 bits, otherwise at every rounding boundary of the target (and one step to both sides) and on samples.

use tile_rtlib::{Arithmetic, Direction, Float, Format, Function, Half, Number, Overflow, Wide};
use tile_rtlib_tests::formats::{Layout, layout, scale_factor};
use tile_rtlib_tests::{Stream, binary, ternary, unary};

const NARROW: [Format; 6] = [Format::F16, Format::Bf16, Format::Tf32, Format::E4m3, Format::E5m2, Format::E2m1];

/// The result of a conversion as a code of the format, with tf32 extracted from its word.
fn narrow<A: tile_rtlib_tests::Value + Copy + 'static>(function: Function, to: Format) -> Box<dyn Fn(A) -> u32> {
    match to {
        Format::F16 | Format::Bf16 => {
            let call = unary::<A, u16>(function);
            Box::new(move |x| u32::from(call(x)))
        }
        Format::Tf32 => {
            let call = unary::<A, u32>(function);
            Box::new(move |x| {
                let word = call(x);
                assert_eq!(word & 0x1fff, 0, "bits below tf32 are set");
                word >> 13
            })
        }
        _ => {
            let call = unary::<A, u8>(function);
            Box::new(move |x| u32::from(call(x)))
        }
    }
}

fn is_nan(to: Format, shape: Layout, code: u32) -> bool {
    // e2m1 lacks NaN, and hardware gives its largest number instead.
    if to == Format::E2m1 { code == shape.largest() } else { shape.value(code).is_nan() }
}

fn assert_code(function: Function, to: Format, x: f64, got: u32, wanted: Option<u32>) {
    let shape = layout(to);
    let right = match wanted {
        Some(code) => got == code || (shape.value(code).is_nan() && shape.value(got).is_nan()),
        None => is_nan(to, shape, got),
    };
    assert!(right, "{function} of {x:e}: {got:#x}, not {wanted:#x?}");
}

/// Every representable magnitude of the format, every midpoint between two, and values beyond the largest, with both
/// signs.
fn boundaries(to: Format) -> Vec<f64> {
    let shape = layout(to);
    let mut points = Vec::new();
    let step = if to == Format::Tf32 { 257 } else { 1 };
    for code in (0..=shape.largest() + 1).step_by(step) {
        points.push(shape.magnitude(code));
        points.push((shape.magnitude(code) + shape.magnitude(code + 1)) / 2.0);
    }
    points.extend([shape.magnitude(shape.largest()) * 1.5, f64::from(f32::MAX), 1e-45, 3e-45, f64::INFINITY, f64::NAN]);
    let negative: Vec<f64> = points.iter().map(|x| -x).collect();
    points.extend(negative);
    points
}

fn overflows(from: Number, to: Format) -> Vec<(Function, Overflow)> {
    [Overflow::Infinite, Overflow::Saturate]
        .into_iter()
        .map(|overflow| (Function::Narrow { from, to, overflow }, overflow))
        .filter(|(function, _)| function.exists())
        .collect()
}

#[test]
fn narrowing_from_f32() {
    for to in NARROW {
        let shape = layout(to);
        for (function, overflow) in overflows(Number::F32, to) {
            let call = narrow::<f32>(function, to);
            let check = |x: f32| {
                assert_code(function, to, f64::from(x), call(x), shape.nearest(f64::from(x), overflow));
            };
            for point in boundaries(to) {
                let bits = (point as f32).to_bits();
                (0..=2u32).for_each(|i| check(f32::from_bits(bits.wrapping_add(i).wrapping_sub(1))));
            }
            let stride = if tile_rtlib_tests::full() { 97 } else { 20_011 };
            (0..=u32::MAX).step_by(stride).for_each(|bits| check(f32::from_bits(bits)));
        }
    }
}

#[test]
fn narrowing_from_f64() {
    for to in NARROW {
        let shape = layout(to);
        for (function, overflow) in overflows(Number::F64, to) {
            let call = narrow::<f64>(function, to);
            let check = |x: f64| assert_code(function, to, x, call(x), shape.nearest(x, overflow));
            for point in boundaries(to) {
                // One f64 step from a tie is far below f32 precision: double rounding would fail here.
                (0..=2u64).for_each(|i| check(f64::from_bits(point.to_bits().wrapping_add(i).wrapping_sub(1))));
            }
            let mut stream = Stream::new(5);
            (0..40_000).for_each(|_| check(stream.spread(-1074, 1024)));
            (0..40_000).for_each(|_| check(stream.spread(-20, 20)));
        }
    }
}

/// Integers near every boundary and of every size. An f64 and its rounding error give the exact value.
#[test]
fn narrowing_from_integers() {
    for to in NARROW {
        let shape = layout(to);
        for from in [Number::I32, Number::U32, Number::I64, Number::U64] {
            for (function, overflow) in overflows(from, to) {
                let call: Box<dyn Fn(i128) -> u32> = match from {
                    Number::I32 | Number::U32 => {
                        let call = narrow::<u32>(function, to);
                        Box::new(move |x| call(x as u32))
                    }
                    _ => {
                        let call = narrow::<u64>(function, to);
                        Box::new(move |x| call(x as u64))
                    }
                };
                let (low, high) = match from {
                    Number::I32 => (i128::from(i32::MIN), i128::from(i32::MAX)),
                    Number::U32 => (0, i128::from(u32::MAX)),
                    Number::I64 => (i128::from(i64::MIN), i128::from(i64::MAX)),
                    _ => (0, i128::from(u64::MAX)),
                };
                let check = |x: i128| {
                    if (low..=high).contains(&x) {
                        let near = x as f64;
                        let rest = (x - near as i128) as f64;
                        // Zero is unsigned here.
                        let wanted = shape.nearest_with(near, rest, overflow);
                        assert_code(function, to, near, call(x), wanted);
                    }
                };
                for point in boundaries(to).into_iter().filter(|p| p.is_finite() && p.abs() < 2e19) {
                    (-2..=2).for_each(|i| check(point as i128 + i));
                }
                let mut stream = Stream::new(7);
                for _ in 0..40_000 {
                    let shift = stream.word() % 64;
                    check(i128::from(stream.word() >> shift));
                    check(-i128::from(stream.word() >> shift));
                }
                [low, high].into_iter().for_each(&check);
            }
        }
    }
}

#[test]
fn tf32_ties_away() {
    let call = unary::<f32, u32>(Function::NarrowTiesAway);
    let shape = layout(Format::Tf32);
    for bits in (0..=u32::MAX).step_by(4093).chain((0..1 << 19).step_by(61).map(|code: u32| (code << 13) | 0x1000)) {
        let x = f32::from_bits(bits);
        let got = call(x);
        if x.is_nan() {
            assert!(f32::from_bits(got).is_nan());
            continue;
        }
        assert_eq!(got & 0x1fff, 0);
        // Ties to even differs from ties away only at ties, where the code is the next one.
        let even = shape.nearest(f64::from(x), Overflow::Infinite);
        let wanted = if bits & 0x1fff == 0x1000 { (bits >> 13) + 1 } else { even.unwrap_or(0) };
        assert_eq!(got >> 13, wanted, "{x:e}");
    }
}

#[test]
fn scale_factors() {
    for overflow in [Overflow::Infinite, Overflow::Saturate] {
        for direction in [Direction::Zero, Direction::Up] {
            let from_f32 = Function::Scale { from: Float::F32, direction, overflow };
            let from_f64 = Function::Scale { from: Float::F64, direction, overflow };
            let (narrow, wide) = (unary::<f32, u8>(from_f32), unary::<f64, u8>(from_f64));
            let check_wide = |x: f64| {
                for x in [x, -x] {
                    assert_eq!(wide(x), scale_factor(x, direction, overflow), "{from_f64} of {x:e}");
                }
            };
            let check = |x: f32| {
                for x in [x, -x] {
                    assert_eq!(narrow(x), scale_factor(f64::from(x), direction, overflow), "{from_f32} of {x:e}");
                }
            };
            for exponent in 0..=255u32 {
                for offset in 0..5u32 {
                    check(f32::from_bits((exponent << 23).wrapping_add(offset).wrapping_sub(2)));
                    check(f32::from_bits((exponent << 23) + 0x0040_0000 + offset - 2));
                    let x = f64::from(f32::from_bits(exponent << 23));
                    check_wide(f64::from_bits(x.to_bits().wrapping_add(u64::from(offset)).wrapping_sub(2)));
                }
            }
            let mut stream = Stream::new(11);
            for _ in 0..2000 {
                check(stream.spread(-150, 128) as f32);
                check_wide(stream.spread(-1074, 1024));
            }
            check_wide(f64::INFINITY);
            check_wide(f64::NAN);
        }
    }
}

#[test]
fn widening_every_code() {
    let same = |got: f64, wanted: f64| {
        if wanted.is_nan() {
            got.is_nan()
        } else {
            got == wanted && got.is_sign_negative() == wanted.is_sign_negative()
        }
    };
    for from in Format::ALL {
        let value = |code: u32| match from {
            Format::E8m0 if code == 255 => f64::NAN,
            Format::E8m0 => 2f64.powi(code as i32 - 127),
            _ => layout(from).value(code),
        };
        for to in [Wide::F16, Wide::Bf16, Wide::F32] {
            let function = Function::Widen { from, to };
            if !function.exists() {
                continue;
            }
            let call: Box<dyn Fn(u32) -> f64> = match (from, to) {
                (Format::Tf32, _) => {
                    let call = unary::<u32, f32>(function);
                    Box::new(move |code| f64::from(call(code << 13)))
                }
                (Format::F16 | Format::Bf16, _) => {
                    let call = unary::<u16, f32>(function);
                    Box::new(move |code| f64::from(call(code as u16)))
                }
                (_, Wide::F32) => {
                    let call = unary::<u8, f32>(function);
                    Box::new(move |code| f64::from(call(code as u8)))
                }
                (_, Wide::F16) => {
                    let call = unary::<u8, u16>(function);
                    Box::new(move |code| layout(Format::F16).value(u32::from(call(code as u8))))
                }
                (_, Wide::Bf16) => {
                    let call = unary::<u8, u16>(function);
                    Box::new(move |code| layout(Format::Bf16).value(u32::from(call(code as u8))))
                }
            };
            let codes: u32 = match from {
                Format::Tf32 => 1 << 19,
                Format::F16 | Format::Bf16 => 1 << 16,
                Format::E2m1 => 1 << 4,
                _ => 1 << 8,
            };
            for code in 0..codes {
                assert!(
                    same(call(code), value(code)),
                    "{function} of {code:#x}: {:e}, not {:e}",
                    call(code),
                    value(code)
                );
            }
        }
    }
}

/// Pairs equal two single conversions, with element 0 in the low bits.
#[test]
fn pairs_are_two_singles() {
    for from in [Format::E4m3, Format::E5m2] {
        let pair = unary::<u16, u32>(Function::WidenPair { from });
        let single = unary::<u8, u16>(Function::Widen { from, to: Wide::F16 });
        for code in 0..=u16::MAX {
            let wanted = u32::from(single(code as u8)) | u32::from(single((code >> 8) as u8)) << 16;
            assert_eq!(pair(code), wanted, "{from:?} {code:#x}");
        }
    }
    let pair = unary::<u8, u32>(Function::WidenPair { from: Format::E2m1 });
    let single = unary::<u8, u16>(Function::Widen { from: Format::E2m1, to: Wide::F16 });
    for code in 0..=u8::MAX {
        assert_eq!(pair(code), u32::from(single(code & 15)) | u32::from(single(code >> 4)) << 16);
    }
    let mut stream = Stream::new(13);
    for to in [Format::E4m3, Format::E5m2, Format::E2m1, Format::Bf16] {
        for (single, overflow) in overflows(Number::F32, to) {
            let one = narrow::<f32>(single, to);
            let function = Function::NarrowPair { to, overflow };
            for _ in 0..20_000 {
                let (lo, hi) = (stream.spread(-20, 18) as f32, stream.spread(-20, 18) as f32);
                let (got, width) = match to {
                    Format::E2m1 => (u32::from(binary::<f32, u8>(function)(lo, hi)), 4),
                    Format::Bf16 => (binary::<f32, u32>(function)(lo, hi), 16),
                    _ => (u32::from(binary::<f32, u16>(function)(lo, hi)), 8),
                };
                assert_eq!(got, one(lo) | one(hi) << width, "{function} of {lo:e}, {hi:e}");
            }
        }
    }
}

fn format_of(half: Half) -> Format {
    match half {
        Half::F16 => Format::F16,
        Half::Bf16 => Format::Bf16,
    }
}

#[test]
fn directed_narrowing() {
    for half in [Half::F16, Half::Bf16] {
        for direction in Direction::ALL {
            let function = Function::NarrowDirected { to: half, direction };
            let call = unary::<f32, u16>(function);
            let shape = layout(format_of(half));
            let check = |x: f32| {
                let wanted = directed(shape, f64::from(x), 0.0, direction);
                assert_code(function, format_of(half), f64::from(x), u32::from(call(x)), wanted);
            };
            for point in boundaries(format_of(half)) {
                let bits = (point as f32).to_bits();
                (0..=2u32).for_each(|i| check(f32::from_bits(bits.wrapping_add(i).wrapping_sub(1))));
            }
            (0..=u32::MAX).step_by(40_009).for_each(|bits| check(f32::from_bits(bits)));
        }
    }
}

/// x + rest, rounded in one direction. rest is nonzero only if x was itself rounded, and is far below its last place.
fn directed(shape: Layout, x: f64, rest: f64, direction: Direction) -> Option<u32> {
    let on_grid = shape.directed(x, Direction::Zero).is_some_and(|code| shape.value(code) == x);
    // rest matters only next to a number of the format; between two numbers the direction decides.
    let adjusted = match rest {
        _ if rest == 0.0 || !x.is_finite() || !on_grid => x,
        _ if rest > 0.0 => x.next_up(),
        _ => x.next_down(),
    };
    let code = shape.directed(adjusted, direction)?;
    // A finite result that overflows becomes the largest number if the direction points inwards.
    let negative = adjusted.is_sign_negative();
    let inwards = match direction {
        Direction::Zero => true,
        Direction::Down => !negative,
        Direction::Up => negative,
    };
    let magnitude = code & (shape.sign_bit() - 1);
    if adjusted.is_finite() && magnitude > shape.largest() && inwards { Some(code - 1) } else { Some(code) }
}

/// The exact result as an f64, and the sign of its rounding error.
fn exact(operation: Arithmetic, a: f64, b: f64, c: f64, direction: Direction) -> (f64, f64) {
    let zero = if direction == Direction::Down { -0.0 } else { 0.0 };
    // The sum of two numbers, its rounding error, and the sign of an exact zero.
    let sum = |a: f64, b: f64| {
        let sum = a + b;
        let back = sum - a;
        let rest = (a - (sum - back)) + (b - back);
        let both = a == 0.0 && b == 0.0 && a.is_sign_negative() == b.is_sign_negative();
        if sum == 0.0 && !both { (zero, 0.0) } else { (sum, if rest.is_finite() { rest } else { 0.0 }) }
    };
    match operation {
        Arithmetic::Add => sum(a, b),
        Arithmetic::Sub => sum(a, -b),
        // Products of two numbers of at most 11 bits are exact in f64.
        Arithmetic::Mul => (a * b, 0.0),
        Arithmetic::Fma => sum(a * b, c),
        Arithmetic::Div => {
            let quotient = a / b;
            let rest = -f64::mul_add(quotient, b, -a) * b.signum();
            (quotient, if quotient.is_finite() && b.is_finite() { rest } else { 0.0 })
        }
        Arithmetic::Sqrt => {
            let root = a.sqrt();
            let rest = -f64::mul_add(root, root, -a);
            (root, if root.is_finite() { rest } else { 0.0 })
        }
    }
}

#[test]
fn directed_arithmetic() {
    let mut stream = Stream::new(19);
    for half in [Half::F16, Half::Bf16] {
        let shape = layout(format_of(half));
        for direction in Direction::ALL {
            for operation in Arithmetic::ALL {
                let function = Function::Directed { operation, half, direction };
                let call: Box<dyn Fn(u16, u16, u16) -> u16> = match operation {
                    Arithmetic::Sqrt => {
                        let call = unary::<u16, u16>(function);
                        Box::new(move |a, _, _| call(a))
                    }
                    Arithmetic::Fma => Box::new(ternary::<u16, u16>(function)),
                    _ => {
                        let call = binary::<u16, u16>(function);
                        Box::new(move |a, b, _| call(a, b))
                    }
                };
                let check = |a: u16, b: u16, c: u16| {
                    let [x, y, z] = [a, b, c].map(|code| shape.value(u32::from(code)));
                    let (value, rest) = exact(operation, x, y, z, direction);
                    let wanted = directed(shape, value, rest, direction);
                    let got = u32::from(call(a, b, c));
                    let right = match wanted {
                        Some(code) => got == code,
                        None => shape.value(got).is_nan(),
                    };
                    assert!(right, "{function} of {x:e}, {y:e}, {z:e}: {got:#x}, not {wanted:#x?}");
                };
                if operation == Arithmetic::Sqrt {
                    (0..=u16::MAX).for_each(|a| check(a, 0, 0));
                    continue;
                }
                let edges = [
                    0,
                    1,
                    shape.largest(),
                    shape.largest() + 1,
                    shape.largest() + 2,
                    1 << shape.mantissa_bits,
                    (1 << shape.mantissa_bits) - 1,
                ];
                let edges: Vec<u16> = edges.iter().flat_map(|e| [*e as u16, (*e | shape.sign_bit()) as u16]).collect();
                for &a in &edges {
                    for &b in &edges {
                        edges.iter().for_each(|&c| check(a, b, c));
                        check(a, stream.word() as u16, b);
                        check(stream.word() as u16, a, b);
                    }
                }
                for _ in 0..60_000 {
                    let word = stream.word();
                    let (a, b, c) = (word as u16, (word >> 16) as u16, (word >> 32) as u16);
                    check(a, b, c);
                    // Operands of similar size.
                    check(a, (a & 0xfc00) | (b & 0x03ff), (a & 0xf800) | (c & 0x07ff));
                }
            }
        }
    }
}
