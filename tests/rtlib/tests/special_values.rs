//! Special arguments of the elementary functions: the values of IEEE 754 and C99 Annex F, and of the Tile IR
//! specification for `remf`. NaN matches any NaN; zeros are compared with their sign.

use tile_rtlib::{Float, Function, Math, Mode};
use tile_rtlib_tests::{MODELS, binary, set_model, unary};

const INF: f64 = f64::INFINITY;
const NAN: f64 = f64::NAN;

fn same(got: f64, wanted: f64) -> bool {
    if wanted.is_nan() { got.is_nan() } else { got == wanted && got.is_sign_negative() == wanted.is_sign_negative() }
}

/// Calls the f32 or f64 version on arguments that both types can represent.
fn call(operation: Math, float: Float, mode: Mode, x: f64, y: f64) -> f64 {
    let function = Function::Math { operation, float, mode };
    match (float, function.signature().parameters.len()) {
        (Float::F32, 1) => f64::from(unary::<f32, f32>(function)(x as f32)),
        (Float::F32, _) => f64::from(binary::<f32, f32>(function)(x as f32, y as f32)),
        (Float::F64, 1) => unary::<f64, f64>(function)(x),
        (Float::F64, _) => binary::<f64, f64>(function)(x, y),
    }
}

fn check(table: &[(Math, f64, f64, f64)]) {
    for model in MODELS {
        set_model(model);
        for &(operation, x, y, wanted) in table {
            for float in [Float::F32, Float::F64] {
                for mode in [Mode::Full, Mode::Polynomial, Mode::FullFlush, Mode::Portable, Mode::PortableFlush] {
                    if (Function::Math { operation, float, mode }).exists() {
                        let got = call(operation, float, mode, x, y);
                        assert!(
                            same(got, wanted),
                            "{operation:?} {float:?} {mode:?} of {x:e}, {y:e}: {got:e}, not {wanted:e}"
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn one_argument() {
    use Math::*;
    let mut table = Vec::new();
    for (operation, at_zero, at_minus_zero, at_inf, at_minus_inf) in [
        (Exp, 1.0, 1.0, INF, 0.0),
        (Exp2, 1.0, 1.0, INF, 0.0),
        (Log, -INF, -INF, INF, NAN),
        (Log2, -INF, -INF, INF, NAN),
        (Sin, 0.0, -0.0, NAN, NAN),
        (Cos, 1.0, 1.0, NAN, NAN),
        (Tan, 0.0, -0.0, NAN, NAN),
        (Sinh, 0.0, -0.0, INF, -INF),
        (Cosh, 1.0, 1.0, INF, INF),
        (Tanh, 0.0, -0.0, 1.0, -1.0),
        (Rsqrt, INF, -INF, 0.0, NAN),
    ] {
        table.extend([
            (operation, 0.0, 0.0, at_zero),
            (operation, -0.0, 0.0, at_minus_zero),
            (operation, INF, 0.0, at_inf),
            (operation, -INF, 0.0, at_minus_inf),
            (operation, NAN, 0.0, NAN),
            (operation, -NAN, 0.0, NAN),
        ]);
    }
    table.extend([
        (Log, 1.0, 0.0, 0.0),
        (Log2, 1.0, 0.0, 0.0),
        (Log2, 8.0, 0.0, 3.0),
        (Log2, 0.125, 0.0, -3.0),
        (Log, -1.0, 0.0, NAN),
        (Log2, -1e-30, 0.0, NAN),
        (Rsqrt, -1.0, 0.0, NAN),
        (Exp, 1000.0, 0.0, INF),
        (Exp, -1000.0, 0.0, 0.0),
        (Exp, 3e38, 0.0, INF),
        (Exp, -3e38, 0.0, 0.0),
        (Exp2, 2000.0, 0.0, INF),
        (Exp2, -2000.0, 0.0, 0.0),
        (Sinh, 1000.0, 0.0, INF),
        (Sinh, -3e38, 0.0, -INF),
        (Cosh, -1000.0, 0.0, INF),
        (Cosh, 3e38, 0.0, INF),
        (Tanh, 1e30, 0.0, 1.0),
        (Tanh, -50.0, 0.0, -1.0),
    ]);
    check(&table);
    // Exact powers of two, down into the subnormals.
    set_model(MODELS[0]);
    for exponent in -1074..1024 {
        let got = call(Math::Exp2, Float::F64, Mode::Full, f64::from(exponent), 0.0);
        assert!(same(got, 2f64.powi(exponent / 2) * 2f64.powi(exponent - exponent / 2)), "2^{exponent}: {got:e}");
    }
}

#[test]
fn powers() {
    let mut table = vec![(Math::Pow, 0.0, 0.0, 1.0)];
    let mut row = |x: f64, y: f64, wanted: f64| table.push((Math::Pow, x, y, wanted));
    for zero in [0.0, -0.0] {
        for x in [0.0, -0.0, 1.0, -1.0, 2.5, INF, -INF, NAN] {
            row(x, zero, 1.0);
        }
    }
    for y in [1.0, -3.5, INF, -INF, NAN, 1e30] {
        row(1.0, y, 1.0);
    }
    for y in [INF, -INF] {
        row(-1.0, y, 1.0);
    }
    for (y, odd) in [(1.0, true), (3.0, true), (2.0, false), (0.5, false), (1e30, false), (16777215.0, true)] {
        let signed = |magnitude: f64| if odd { -magnitude } else { magnitude };
        row(0.0, y, 0.0);
        row(-0.0, y, signed(0.0));
        row(0.0, -y, INF);
        row(-0.0, -y, signed(INF));
        row(INF, y, INF);
        row(INF, -y, 0.0);
        row(-INF, y, signed(INF));
        row(-INF, -y, signed(0.0));
    }
    for x in [0.0, -0.0, 0.5, -0.5] {
        row(x, INF, 0.0);
        row(x, -INF, INF);
    }
    for x in [1.5, -1.5, INF, -INF] {
        row(x, INF, INF);
        row(x, -INF, 0.0);
    }
    for x in [-1.0, -2.5, -1e-3] {
        row(x, 0.5, NAN);
        row(x, -1.25, NAN);
    }
    for other in [0.5, -2.0, INF, -INF] {
        row(NAN, other, NAN);
    }
    for other in [0.5, -2.0, 0.0, INF, -INF] {
        row(other, NAN, NAN);
    }
    row(-2.0, 3.0, -8.0);
    row(-2.0, 4.0, 16.0);
    row(-2.0, -1.0, -0.5);
    row(2.0, 5000.0, INF);
    row(-2.0, 5001.0, -INF);
    row(2.0, -5000.0, 0.0);
    row(-2.0, -5001.0, -0.0);
    row(-1.0, 16777215.0, -1.0);
    row(-1.0, 1e30, 1.0);
    check(&table);
}

#[test]
fn angles() {
    use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, PI};
    // The numerator comes first. Multiples of pi/4 are compared after rounding to each type.
    let table = [
        (0.0, 1.0, 0.0),
        (-0.0, 1.0, -0.0),
        (0.0, -1.0, PI),
        (-0.0, -1.0, -PI),
        (0.0, 0.0, 0.0),
        (-0.0, 0.0, -0.0),
        (0.0, -0.0, PI),
        (-0.0, -0.0, -PI),
        (1.0, 0.0, FRAC_PI_2),
        (1.0, -0.0, FRAC_PI_2),
        (-1.0, 0.0, -FRAC_PI_2),
        (-1.0, -0.0, -FRAC_PI_2),
        (1.0, 1.0, FRAC_PI_4),
        (1.0, INF, 0.0),
        (-1.0, INF, -0.0),
        (1.0, -INF, PI),
        (-1.0, -INF, -PI),
        (INF, 1.0, FRAC_PI_2),
        (-INF, -1.0, -FRAC_PI_2),
        (INF, INF, FRAC_PI_4),
        (INF, -INF, 3.0 * FRAC_PI_4),
        (-INF, INF, -FRAC_PI_4),
        (-INF, -INF, -3.0 * FRAC_PI_4),
        (NAN, 1.0, NAN),
        (1.0, NAN, NAN),
        (NAN, INF, NAN),
        (0.0, NAN, NAN),
    ];
    for (above, below, wanted) in table {
        for (float, tolerance) in [(Float::F32, 2e-7), (Float::F64, 2e-16)] {
            let got = call(Math::Atan2, float, Mode::Full, above, below);
            let near = (got - wanted).abs() <= tolerance * wanted.abs() && wanted != 0.0;
            assert!(near || same(got, wanted), "{float:?} {above:e} over {below:e}: {got:e}, not {wanted:e}");
        }
    }
}

#[test]
fn remainders() {
    let mut table = Vec::new();
    let tiny = f64::from(f32::from_bits(1));
    for (a, b, wanted) in [
        (5.0, 3.0, 2.0),
        (-5.0, 3.0, -2.0),
        (5.0, -3.0, 2.0),
        (6.0, 3.0, 0.0),
        (-6.0, 3.0, -0.0),
        (0.0, 3.0, 0.0),
        (-0.0, 3.0, -0.0),
        (1.0, 0.0, NAN),
        (1.0, -0.0, NAN),
        (0.0, 0.0, NAN),
        (INF, 3.0, NAN),
        (-INF, 3.0, NAN),
        (INF, INF, NAN),
        (3.0, INF, 3.0),
        (-3.0, -INF, -3.0),
        (0.0, INF, 0.0),
        (NAN, 3.0, NAN),
        (3.0, NAN, NAN),
        (NAN, INF, NAN),
        (INF, NAN, NAN),
        (f64::from(f32::MAX), tiny, 0.0),
        (f64::from(f32::MAX), 3.0 * tiny, f64::from(f32::MAX) % (3.0 * tiny)),
        (tiny, f64::from(f32::MAX), tiny),
        (tiny, tiny, 0.0),
    ] {
        table.push((Math::Remf, a, b, wanted));
    }
    check(&table);
}

#[test]
fn approximations() {
    for (operation, x, y, wanted) in [
        (Math::Div, 1.0, 3e38, 0.0),
        (Math::Div, INF, 3e38, NAN),
        (Math::Div, -6.0, 3.0, -2.0),
        (Math::Exp, -1000.0, 0.0, 0.0),
        (Math::Exp, INF, 0.0, INF),
        (Math::Tanh, INF, 0.0, 1.0),
        (Math::Sqrt, 4.0, 0.0, 2.0),
    ] {
        set_model(MODELS[0]);
        let got = call(operation, Float::F32, Mode::Approximate, x, y);
        assert!(same(got, wanted), "{operation:?} of {x:e}, {y:e}: {got:e}");
    }
    // A subnormal passes the ordinary forms and is flushed by the others, keeping its sign.
    let subnormal = -1e-40;
    for (operation, mode, wanted) in [
        (Math::Exp, Mode::ApproximateFlush, 1.0),
        (Math::Exp2, Mode::FullFlush, 1.0),
        (Math::Sqrt, Mode::ApproximateFlush, -0.0),
        (Math::Rsqrt, Mode::FullFlush, -INF),
        (Math::Exp, Mode::PortableFlush, 1.0),
        (Math::Exp2, Mode::PortableFlush, 1.0),
        (Math::Sqrt, Mode::PortableFlush, -0.0),
        (Math::Rsqrt, Mode::PortableFlush, -INF),
    ] {
        let got = call(operation, Float::F32, mode, subnormal, 0.0);
        assert!(same(got, wanted), "{operation:?} {mode:?}: {got:e}");
    }
    for mode in [Mode::FullFlush, Mode::PortableFlush] {
        assert!(same(call(Math::Div, Float::F32, mode, subnormal, 1.0), -0.0));
        assert!(same(call(Math::Div, Float::F32, mode, -1e-30, 1e30), -0.0));
    }
    // The results are subnormal before they are flushed.
    assert!(same(call(Math::Exp, Float::F32, Mode::PortableFlush, -90.0, 0.0), 0.0));
    assert!(same(call(Math::Exp2, Float::F32, Mode::PortableFlush, -127.0, 0.0), 0.0));
    assert!(!same(call(Math::Div, Float::F32, Mode::Full, subnormal, 1.0), -0.0));
}
