//! `tileas-prepare-for-scheduling` hoists invariant tensor computations before the modulo scheduler sees a loop.
//!
//! A tensor computed only from values defined outside the loop is the same in each iteration. The scheduler would
//! count its instructions in each iteration, although LLVM hoists them later. The pass therefore moves such
//! computations before the loop, from inner loops to outer ones. Ops that are almost free to recompute stay in the
//! loop, because their results would occupy registers across it.
//!
//! Kernels with a dot plan do not change: the plan says where each operand comes from.

use crate::{
    analysis::schedule,
    dialect::{
        behaviour,
        layouts::Tensor,
        pass::{Failed, PassContext, RustPass, descriptors},
        rt::*,
        target::target,
    },
    pass_descriptor,
};
use melior::Context;

#[derive(Clone, Default)]
pub struct PrepareForScheduling;

impl RustPass for PrepareForScheduling {
    pass_descriptor!(tileas_prepare_for_scheduling);
    fn run<'c>(&mut self, op: OpRef<'c>, _: &'c Context, cx: &PassContext) -> Result<(), Failed> {
        use descriptors::tileas_prepare_for_scheduling::{Options, stat};
        let target = target(op, Options(cx).compute_capability())?;
        for around in schedule::loops_to_shape(op, target).into_iter().rev() {
            let body: Vec<OpRef<'c>> = entry_block(region(around, 0)).into_iter().flat_map(ops_of).collect();
            for inner in body {
                if is_the_same_each_time(inner, around) {
                    move_before(inner, around);
                    cx.stat_add(stat::NUM_MOVED, 1);
                }
            }
        }
        Ok(())
    }
}

/// Whether an op of a loop's body computes the same tensors in each iteration and may run even if the loop has no
/// iterations.
fn is_the_same_each_time<'c>(op: OpRef<'c>, around: OpRef<'c>) -> bool {
    let from_outside = |v: Val<'c>| {
        let place = defining_op(v).or_else(|| parent_of_block(owner_of(v)));
        !std::iter::successors(place, |o| parent_op(*o)).any(|o| o == around)
    };
    let computes = region_count(op) == 0 && behaviour::is_pure(op) && !behaviour::is_cheap(op);
    computes && results(op).any(|v| Tensor::of_value(v).is_some()) && operands(op).all(from_outside)
}
