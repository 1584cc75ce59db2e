//! Scales that are applied in registers, to the sum of a block's products.
//!
//! A sum becomes `sum * left * right + accumulator`, where `left` and `right` are the scales of its row and its column.
//! Scales of e8m0 go from 2^-127 to 2^127, and neither order of the two multiplications works for them: a sum of 4
//! times 2^127 overflows, although a scale of 2^-127 on the other side makes a 4 of it, and times 2^-127 first it may
//! lose bits that do count. Nor does f32 hold the product of both scales, which goes from 2^-254 to 2^254.
//!
//! So the scale 2^e of one side is split into 2^c and 2^(e - c), where c is the number next to e between -36 and 36.
//! The sum is multiplied by the first part, then by the scale of the other side, and `fma` multiplies by the second
//! part and adds. Sums of 32 products of eight bits are zero or between 2^-32 and 2^37, which decides that this is
//! right:
//!
//! * If e is below -36, the sum times 2^-36 is below 2, and no scale on the other side makes it overflow. What the
//!   second part then makes smaller has all its bits, unless the whole is too small for them.
//! * If e is above 36, the lowest bit of the sum times 2^36 is worth 16 or more, and no scale on the other side loses
//!   it. Where the product overflows, the whole does so all the more.
//! * In between the second part is one.
//!
//! Worked example: 4 under scales of 2^127 and 2^-127. The parts are 2^36 and 2^91: 4 * 2^36 * 2^-127 * 2^91 is 4, and
//! each product on the way is an ordinary number.
//!
//! Other scales have few bits and small exponents: f32 holds the product of two exactly, and `fma` multiplies by that.

use super::{Lower, llvm::Cmp};
use crate::dialect::{
    dots::scale_of,
    layouts::Tensor,
    pass::{Failed, fail},
    rt::*,
};
use tile_layout::Layout;
use tile_mma::Element;

/// Places of f32.
const MANTISSA_BITS: i64 = 23;
const BIAS: i64 = 127;
/// The code of e8m0 that is no number. Any other is an exponent of two, with the same bias.
const NAN: i64 = 255;
/// The largest exponent of the first part of a scale.
const LIMIT: i64 = 36;

/// The scales of both operands: one of each for each register.
pub(super) struct Scales<'c> {
    pub layouts: [Layout; 2],
    /// In f32; of the operand whose scales are split, the first parts.
    values: [Vec<Val<'c>>; 2],
    /// The operand whose scales are split, if one is, and the second parts.
    second: Option<(usize, Vec<Val<'c>>)>,
}

impl<'c> Lower<'c, '_> {
    pub(super) fn scales(&self, op: OpRef<'c>, sides: [Val<'c>; 2]) -> Result<Scales<'c>, Failed> {
        let [left, right] = sides;
        let layouts = [self.layout(op, left)?, self.layout(op, right)?];
        let element = Tensor::of_value(left).ok_or_else(|| fail(op, "scales are no tensor"))?.element;
        let mut values = [self.fragment(op, left)?, self.fragment(op, right)?];
        let mut second = None;
        if scale_of(element) == Some(Element::Ue8m0) {
            // Parts take registers: fewer for the operand with fewer scales.
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

    /// Two powers of two whose product is a scale; the second one is NaN if the scale is.
    fn parts_of_e8m0(&self, code: Val<'c>) -> (Val<'c>, Val<'c>) {
        let l = &self.l;
        let power = |exponent| l.cast("bitcast", l.bin("shl", exponent, l.i32c(MANTISSA_BITS)), l.f32);
        let code = l.cast("zext", code, l.i32);
        let first = l.bin("intr.umax", l.bin("intr.umin", code, l.i32c(BIAS + LIMIT)), l.i32c(BIAS - LIMIT));
        let second = l.add(l.bin("sub", code, first), l.i32c(BIAS));
        let is_nan = l.icmp(Cmp::Eq, code, l.i32c(NAN));
        (power(first), l.select(is_nan, l.float(l.f32, f64::NAN), power(second)))
    }

    /// `sum` times the scales in these registers, plus `accumulator`.
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
