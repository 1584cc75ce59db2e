//! `tileas-prepare-for-scheduling`: loops that the modulo scheduler will see hold what each iteration has to do.
//!
//! A tensor that is computed from values of before the loop alone is the same in each iteration. The scheduler would
//! count its instructions every time, and LLVM moves them out in the end. So it is computed in front of the loop, from
//! inner loops to outer ones. What is computed again at next to no cost stays, since it would hold registers all the
//! time.
//!
//! Kernels with a plan of products stay as they are: the plan says where each operand comes from.

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

/// Whether an op of a loop's body gives the same tensors in each iteration, and may be done where there is none.
fn is_the_same_each_time<'c>(op: OpRef<'c>, around: OpRef<'c>) -> bool {
    let from_outside = |v: Val<'c>| {
        let place = defining_op(v).or_else(|| parent_of_block(owner_of(v)));
        !std::iter::successors(place, |o| parent_op(*o)).any(|o| o == around)
    };
    let computes = region_count(op) == 0 && behaviour::is_pure(op) && !behaviour::is_cheap(op);
    computes && results(op).any(|v| Tensor::of_value(v).is_some()) && operands(op).all(from_outside)
}
