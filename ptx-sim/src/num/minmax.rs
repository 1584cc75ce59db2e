//! `min` and `max` with their NaN rule, `.xorsign.abs` and three operands.

use std::cmp::Ordering;

use super::arith;
use super::format::Format;

/// Modifiers of `min` and `max`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct MinMax {
    pub ftz: bool,
    /// A NaN operand makes the result NaN; otherwise the other operand wins.
    pub nan: bool,
    /// Magnitudes are compared and returned.
    pub abs: bool,
    /// The sign of the result is the XOR of the operands' signs (two operands only).
    pub xorsign: bool,
}

/// `min d, a, b`; -0 is smaller than +0.
pub fn min(format: Format, a: u64, b: u64, opts: MinMax) -> u64 {
    two(format, a, b, opts, Ordering::Less)
}

/// `max d, a, b`; +0 is larger than -0.
pub fn max(format: Format, a: u64, b: u64, opts: MinMax) -> u64 {
    two(format, a, b, opts, Ordering::Greater)
}

/// `min d, a, b, c`; ignores `xorsign`, which this form lacks.
pub fn min3(format: Format, a: u64, b: u64, c: u64, opts: MinMax) -> u64 {
    let opts = MinMax { xorsign: false, ..opts };
    min(format, min(format, a, b, opts), c, opts)
}

/// `max d, a, b, c`.
pub fn max3(format: Format, a: u64, b: u64, c: u64, opts: MinMax) -> u64 {
    let opts = MinMax { xorsign: false, ..opts };
    max(format, max(format, a, b, opts), c, opts)
}

fn two(format: Format, a: u64, b: u64, opts: MinMax, wanted: Ordering) -> u64 {
    let negative = |x: u64| format.unpack(x).negative;
    let [mut a, mut b] = if opts.ftz { [format.flush(a), format.flush(b)] } else { [a, b] };
    let sign = negative(a) != negative(b);
    if opts.abs {
        a = arith::abs(format, a, false);
        b = arith::abs(format, b, false);
    }
    let result = match (format.is_nan(a), format.is_nan(b)) {
        (true, true) => return format.nan(),
        (true, false) | (false, true) if opts.nan => return format.nan(),
        (true, false) => b,
        (false, true) => a,
        (false, false) => {
            let order = arith::compare(format, a, b, false).unwrap_or(Ordering::Equal);
            // Equal values differ at most in the sign of zero, where -0 is smaller.
            let order = order.then_with(|| negative(b).cmp(&negative(a)));
            if order == wanted { a } else { b }
        }
    };
    if opts.xorsign {
        let magnitude = arith::abs(format, result, false);
        return if sign { arith::neg(format, magnitude, false) } else { magnitude };
    }
    result
}
