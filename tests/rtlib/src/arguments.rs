//! Arguments for measuring functions.

use crate::Stream;
use tile_rtlib::Math;

/// Arguments of two-argument functions: of any size, of similar size, and for pow such that the result is in range.
pub fn pair(operation: Math, index: u32, stream: &mut Stream, low: i32, high: i32, bits: i32) -> (f64, f64) {
    if operation == Math::Pow {
        let x = match index % 4 {
            0 => stream.spread(low, high).abs(),
            1 => stream.between(0.5, 2.0),
            2 => 1.0 + stream.spread(-bits, -1),
            _ => stream.between(0.0, 20.0),
        };
        // Approach the limits of the range from both sides.
        let log = x.log2();
        let y = if log == 0.0 { 1.0 } else { stream.between(1.05 * f64::from(low), 1.05 * f64::from(high)) / log };
        return (x, y);
    }
    let x = stream.spread(low, high);
    match index % 3 {
        0 => (x, stream.spread(low, high)),
        1 => (x, x * stream.spread(-3, 4)),
        _ => (x, x * (1.0 + stream.spread(-bits, -1))),
    }
}

/// Arguments of one-argument f64 functions: half from the range in which the function varies, half of any size.
pub fn argument(operation: Math, index: u32, stream: &mut Stream) -> f64 {
    let positive = matches!(operation, Math::Log | Math::Log2 | Math::Rsqrt);
    let wide = match operation {
        // The oracle is slow for huge arguments.
        Math::Sin | Math::Cos | Math::Tan => (-40, if index.is_multiple_of(64) { 1023 } else { 80 }),
        Math::Exp | Math::Exp2 | Math::Sinh | Math::Cosh | Math::Tanh => (-60, 11),
        _ => (-1074, 1024),
    };
    let x = match (operation, index % 4) {
        (Math::Log | Math::Log2, 0) => stream.between(0.5, 2.0),
        (Math::Log | Math::Log2, 1) => 1.0 + stream.spread(-53, -2),
        (Math::Rsqrt, 0 | 1) => stream.between(0.25, 4.0),
        (Math::Sin | Math::Cos | Math::Tan, 0) => stream.between(-4.0, 4.0),
        (Math::Sin | Math::Cos | Math::Tan, 1) => {
            // The double nearest to a multiple of pi/2, where the reduction cancels the most.
            (stream.between(0.0, 600_000.0)).floor() * std::f64::consts::FRAC_PI_2
        }
        (Math::Exp | Math::Sinh | Math::Cosh, 0 | 1) => stream.between(-750.0, 720.0),
        (Math::Exp2, 0 | 1) => stream.between(-1080.0, 1030.0),
        (Math::Tanh, 0 | 1) => stream.between(-3.0, 3.0),
        _ => stream.spread(wide.0, wide.1),
    };
    if positive { x.abs() } else { x }
}
