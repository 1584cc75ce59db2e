//! `fuse-fma` fuses multiplications with the additions and subtractions that use them.
//!
//! Over the reals, `a*b + c = fma(a, b, c)`. In floating point the fused form rounds once and the separate form
//! twice, so results differ and users must request the pass. Two conditions limit the difference to that rounding:
//!
//! * Both operations have the same rounding mode and the same subnormal flushing.
//! * The product has no other use; otherwise it would be computed twice, once rounded and once not.
//!
//! `c - a*b` is not fused: it would need a negated product, which takes an additional operation.

use crate::{
    dialect::{
        cuda_tile::{AddFOp, FmaOp, MulFOp, NegFOp, SubFOp},
        pass::{Failed, PassContext, RustPass, fail},
        rt::*,
    },
    pass_descriptor,
};
use melior::Context;

#[derive(Clone, Default)]
pub struct FuseFMA;

impl RustPass for FuseFMA {
    pass_descriptor!(fuse_fma);

    fn run<'c>(&mut self, op: OpRef<'c>, context: &'c Context, cx: &PassContext) -> Result<(), Failed> {
        let mut sums = vec![];
        walk(op, &mut |op| sums.extend(Sum::of(op)));
        let mut fused = 0;
        // In program order. A fusion does not produce a multiplication, so it never enables another fusion.
        for sum in sums {
            let Some((product, addend)) = sum.product() else { continue };
            let b = Builder::before(context, sum.op);
            let built = (|| {
                let addend = if sum.subtract { NegFOp::build(&b, ty(addend), addend)?.result() } else { addend };
                let result = result(sum.op, 0);
                FmaOp::build(&b, ty(result), product.lhs(), product.rhs(), addend, sum.rounding, sum.flush)
            })();
            let fma = built.map_err(|e: BuildError| fail(sum.op, e.to_string()))?;
            replace_all_uses(result(sum.op, 0), fma.result());
            erase(sum.op);
            erase(product.op());
            fused += 1;
        }
        cx.stat_add(0, fused);
        Ok(())
    }
}

/// An addition or subtraction.
struct Sum<'c> {
    op: OpRef<'c>,
    subtract: bool,
    rounding: crate::dialect::cuda_tile::RoundingMode,
    flush: bool,
}

impl<'c> Sum<'c> {
    fn of(op: OpRef<'c>) -> Option<Self> {
        if let Some(add) = AddFOp::cast(op) {
            return Some(Sum { op, subtract: false, rounding: add.rounding_mode(), flush: add.flush_to_zero() });
        }
        let sub = SubFOp::cast(op)?;
        Some(Sum { op, subtract: true, rounding: sub.rounding_mode(), flush: sub.flush_to_zero() })
    }

    /// Returns the multiplication to fuse and the other operand.
    fn product(&self) -> Option<(MulFOp<'c>, Val<'c>)> {
        let (lhs, rhs) = (operand(self.op, 0), operand(self.op, 1));
        let fits = |v: Val<'c>| {
            let mul = MulFOp::cast(defining_op(v)?)?;
            let same = mul.rounding_mode() == self.rounding && mul.flush_to_zero() == self.flush;
            (same && uses(v).len() == 1).then_some(mul)
        };
        match fits(lhs) {
            Some(mul) => Some((mul, rhs)),
            // If the left operand is a product too, the sum keeps its order, as canonicalization leaves it.
            None if !self.subtract && !is_product(lhs) => fits(rhs).map(|mul| (mul, lhs)),
            None => None,
        }
    }
}

fn is_product(v: Val<'_>) -> bool {
    defining_op(v).and_then(MulFOp::cast).is_some()
}
