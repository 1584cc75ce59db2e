//! `tileas-skip-rescale` skips the rescale of attention's accumulators when the factor is one.
//!
//! An online softmax rescales its accumulators by the growth of the row maximum:
//!
//! ```text
//! for .. (top, sum) { next = max(top, ..);  factor = exp2(top - next);  sum' = dot p, v, sum * factor }
//! ```
//!
//! Maxima grow often at first and rarely later. If a maximum does not grow, the factor is one. The pass marks the
//! multiplication with the unit attribute `nv_tileas.often_one`. `convert-tileas-to-llvm` then makes each warp test
//! whether all its factors are one and skip the multiplications if so. The result is bit-identical: `x * 1` is `x`,
//! also for infinities, signed zeros and subnormals.
//!
//! The test pays off where a warp has many elements per factor and where other warps need its issue slots. The pass
//! therefore handles only functions with a dot plan (`dialect::dot_plan`), whose consumers compute while dots are in
//! flight. It leaves out plans whose warps read fragments of stages: the branch would separate the computation from the
//! `ldmatrix` and `mma.sync` of the next dot, with which it interleaves otherwise.

use crate::{
    analysis::producers::skip_conversions,
    dialect::{
        attributes::OFTEN_ONE,
        dot_plan::DotPlan,
        layouts::Tensor,
        loops::is_in_loop,
        nv_tileaa::{self, FpKind, FpOp},
        nv_tileas::{BroadcastOp, ViewOp},
        pass::{Failed, PassContext, RustPass, descriptors},
        rt::*,
        upstream::{Arith, Math},
    },
    pass_descriptor,
};
use melior::Context;

/// The minimum number of elements per factor in a thread: the test of a factor must be cheap in comparison.
const ELEMENTS: usize = 8;

#[derive(Clone, Default)]
pub struct SkipRescale;

impl RustPass for SkipRescale {
    pass_descriptor!(tileas_skip_rescale);

    fn run<'c>(&mut self, op: OpRef<'c>, _: &'c Context, cx: &PassContext) -> Result<(), Failed> {
        use descriptors::tileas_skip_rescale::stat;
        for function in collect_ops(op, nv_tileaa::FuncOp::cast) {
            if DotPlan::of(function.op()).is_none_or(|plan| plan.reads_fragments()) {
                continue;
            }
            for product in collect_ops(function.op(), |o| (Arith::of(o) == Some(Arith::MulF)).then_some(o)) {
                if let Some(at) = (0..2).find(|at| is_in_loop(product) && is_growth(operand(product, *at), product)) {
                    if at == 0 {
                        let [factor, sum] = [operand(product, 0), operand(product, 1)];
                        set_operand(product, 0, sum);
                        set_operand(product, 1, factor);
                    }
                    OFTEN_ONE.mark(product);
                    cx.stat_add(stat::NUM_SKIPPED, 1);
                }
            }
        }
        Ok(())
    }
}

/// Whether a value, broadcast to many elements, is the growth of a maximum: `exp(a - max(a, b))`, or the exponential
/// of a multiple of the difference.
fn is_growth(factor: Val<'_>, product: OpRef<'_>) -> bool {
    let registers = |v: Val<'_>| Some(Tensor::of_value(v)?.layout()?.register().len());
    let Some(broadcast) = defining_op(factor).and_then(BroadcastOp::cast) else { return false };
    let (Some(few), Some(many)) = (registers(broadcast.source()), registers(result(product, 0))) else { return false };
    if many < few + ELEMENTS.ilog2() as usize {
        return false;
    }
    let Some(exponent) = through(broadcast.source()).filter(|o| is_exponential(*o)).map(|o| operand(o, 0)) else {
        return false;
    };
    let scaled = through(exponent).filter(|o| Arith::of(*o) == Some(Arith::MulF));
    let differences = scaled.map_or_else(|| vec![exponent], |o| operands(o).collect());
    differences.into_iter().filter_map(through).any(|o| {
        Arith::of(o) == Some(Arith::SubF)
            && through(operand(o, 1)).is_some_and(|max| {
                is_maximum(max) && operands(max).any(|v| skip_conversions(v) == skip_conversions(operand(o, 0)))
            })
    })
}

/// Returns the op that computes a value, looking through layout conversions and views.
fn through(v: Val<'_>) -> Option<OpRef<'_>> {
    let op = defining_op(skip_conversions(v))?;
    match ViewOp::cast(op) {
        Some(view) => through(view.source()),
        None => Some(op),
    }
}

fn is_exponential(op: OpRef<'_>) -> bool {
    matches!(Math::of(op), Some(Math::Exp | Math::Exp2))
        || FpOp::cast(op).is_some_and(|o| matches!(o.kind(), FpKind::Exp | FpKind::Exp2))
}

fn is_maximum(op: OpRef<'_>) -> bool {
    matches!(Arith::of(op), Some(Arith::MaximumF | Arith::MaxNumF))
        || FpOp::cast(op).is_some_and(|o| matches!(o.kind(), FpKind::Max | FpKind::MaxNan))
}
