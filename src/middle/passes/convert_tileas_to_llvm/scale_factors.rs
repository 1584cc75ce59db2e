//! Applies block scales in registers, to the sum over a block.
//!
//! A sum becomes `sum * left * right + accumulator`, where `left` and `right` are the scales of its row and its
//! column. Scales of e8m0 range from 2^-127 to 2^127, and neither order of the two multiplications works for them. A
//! sum of 4 times 2^127 overflows, although a scale of 2^-127 on the other side would bring it back to 4. Multiplying
//! by 2^-127 first may lose significant bits. The product of both scales ranges from 2^-254 to 2^254 and does not fit
//! f32 either.
//!
//! The scale 2^e of one side is therefore split into 2^c and 2^(e - c), where c is e clamped to [-36, 36]. The sum is
//! multiplied by the first part, then by the scale of the other side; `fma` multiplies by the second part and adds. A
//! sum over 32 products of 8-bit elements is zero or between 2^-32 and 2^37, so this is correct:
//!
//! * If e < -36, the sum times 2^-36 is below 2, and no scale on the other side makes it overflow. The value that the
//!   second part then scales down has all its bits, unless the result is too small for them.
//! * If e > 36, the lowest bit of the sum times 2^36 is worth at least 16, and no scale on the other side loses it.
//!   If the product overflows, the result overflows too.
//! * Otherwise the second part is one.
//!
//! Worked example: 4 with scales 2^127 and 2^-127. The parts are 2^36 and 2^91; 4 * 2^36 * 2^-127 * 2^91 is 4, and
//! each intermediate product is a normal number.
//!
//! Other scale formats have few bits and small exponents: f32 holds the product of two scales exactly, and `fma`
//! multiplies by that.

use super::{Lower, llvm::Cmp};
use crate::dialect::{dots::scale_of, pass::Failed, rt::*};
use tile_layout::Layout;
use tile_mma::Element;

/// The position of the f32 exponent.
const MANTISSA_BITS: i64 = 23;
const BIAS: i64 = 127;
/// The NaN code of e8m0. Any other code is an exponent of two, with the f32 bias.
const NAN: i64 = 255;
/// The largest exponent of the first part of a scale.
const LIMIT: i64 = 36;

/// The scales of both operands, one value for each register.
pub(super) struct Scales<'c> {
    pub layouts: [Layout; 2],
    /// The scales in f32; for the operand whose scales are split, the first parts.
    values: [Vec<Val<'c>>; 2],
    /// The operand whose scales are split, if any, and the second parts.
    second: Option<(usize, Vec<Val<'c>>)>,
}

impl<'c> Lower<'c, '_> {
    pub(super) fn scales(&self, op: OpRef<'c>, sides: [Val<'c>; 2]) -> Result<Scales<'c>, Failed> {
        let [left, right] = sides;
        let layouts = [self.layout(op, left)?, self.layout(op, right)?];
        let element = self.tensor(op, left)?.element;
        let mut values = [self.fragment(op, left)?, self.fragment(op, right)?];
        let mut second = None;
        if scale_of(element) == Some(Element::Ue8m0) {
            // Split the operand with fewer scales, because the parts take registers.
            let side = usize::from(values[1].len() < values[0].len());
            let (first, rest) = values[side].iter().map(|code| self.parts_of_e8m0(*code)).unzip();
            values[side] = first;
            second = Some((side, rest));
        }
        for (side, values) in values.iter_mut().enumerate() {
            if second.as_ref().is_none_or(|(split, _)| *split != side) {
                for value in values {
                    *value = self.widened(op, *value, element)?;
                }
            }
        }
        Ok(Scales { layouts, values, second })
    }

    /// Returns two powers of two whose product is the scale; the second is NaN if the scale is.
    fn parts_of_e8m0(&self, code: Val<'c>) -> (Val<'c>, Val<'c>) {
        let l = &self.l;
        let power = |exponent| l.cast("bitcast", l.bin("shl", exponent, l.i32c(MANTISSA_BITS)), l.f32);
        let code = l.cast("zext", code, l.i32);
        let first = l.bin("intr.umax", l.bin("intr.umin", code, l.i32c(BIAS + LIMIT)), l.i32c(BIAS - LIMIT));
        let second = l.add(l.bin("sub", code, first), l.i32c(BIAS));
        let is_nan = l.icmp(Cmp::Eq, code, l.i32c(NAN));
        (power(first), l.select(is_nan, l.float(l.f32, f64::NAN), power(second)))
    }

    /// Computes `sum` times the scales in these registers, plus `accumulator`.
    pub(super) fn scaled(
        &self,
        sum: Val<'c>,
        scales: &Scales<'c>,
        registers: [u32; 2],
        accumulator: Val<'c>,
    ) -> Val<'c> {
        let l = &self.l;
        let value = |side: usize| scales.values[side][registers[side] as usize];
        let (product, last) = match &scales.second {
            Some((side, second)) => {
                let first = l.bin("fmul", sum, value(*side));
                (l.bin("fmul", first, value(1 - side)), second[registers[*side] as usize])
            }
            None => (sum, l.bin("fmul", value(0), value(1))),
        };
        l.b.value("llvm.intr.fma", l.f32, &[product, last, accumulator], &[])
    }
}
