//! `tileas-recompute-for-scheduling` recomputes cheap values next to each user.
//!
//! A value used in several stages of a schedule occupies registers from the first stage to the last, once for each
//! iteration in flight. If the value is a splat, or a broadcast row or column, each user gets a separate copy
//! directly before it, and the scheduler can place each copy next to its user. Cleanups cannot merge the copies,
//! because `tileas-generate-schedule-constraints` numbers each op.
//!
//! Kernels with a dot plan do not change: the plan says which values each agent computes.

use crate::{
    analysis::{clones::clone_op, schedule},
    dialect::{
        behaviour,
        pass::{Failed, PassContext, RustPass, descriptors},
        rt::*,
        target::target,
    },
    pass_descriptor,
};
use melior::Context;
use rustc_hash::FxHashMap;

#[derive(Clone, Default)]
pub struct RecomputeForScheduling;

impl RustPass for RecomputeForScheduling {
    pass_descriptor!(tileas_recompute_for_scheduling);
    fn run<'c>(&mut self, op: OpRef<'c>, context: &'c Context, cx: &PassContext) -> Result<(), Failed> {
        use descriptors::tileas_recompute_for_scheduling::{Options, stat};
        let target = target(op, Options(cx).compute_capability())?;
        for around in schedule::loops_to_shape(op, target) {
            let body: Vec<OpRef<'c>> = entry_block(region(around, 0)).into_iter().flat_map(ops_of).collect();
            // Visit users first, so that the operands of a copy are copied for it too.
            for cheap in body.into_iter().rev().filter(|o| behaviour::is_cheap(*o)) {
                cx.stat_add(stat::NUM_COPIES, one_for_each_user(cheap, context));
            }
        }
        Ok(())
    }
}

/// Gives each user of a cheap op except the first a copy of it. Returns the number of copies.
fn one_for_each_user<'c>(cheap: OpRef<'c>, context: &'c Context) -> i64 {
    let home = block_of(cheap);
    // A use inside a region counts as a use by the region's op.
    let here = |user| std::iter::successors(Some(user), |o| parent_op(*o)).find(|o| block_of(*o) == home);
    let mut users: Vec<(OpRef<'c>, Vec<(OpRef<'c>, usize)>)> = vec![];
    for (user, at) in uses(result(cheap, 0)) {
        let Some(place) = here(user) else { continue };
        match users.iter_mut().find(|(o, _)| *o == place) {
            Some((_, all)) => all.push((user, at)),
            None => users.push((place, vec![(user, at)])),
        }
    }
    let order: FxHashMap<usize, usize> =
        block_around(cheap).into_iter().flat_map(ops_of).enumerate().map(|(i, o)| (op_key(o), i)).collect();
    users.sort_by_key(|(place, _)| order.get(&op_key(*place)).copied());
    let mut copies = 0;
    for (i, (place, all)) in users.into_iter().enumerate() {
        if i == 0 {
            move_before(cheap, place);
            continue;
        }
        let b = Builder::before(context, place);
        b.set_location(cheap.location());
        let copy = clone_op(&b, cheap, &mut FxHashMap::default());
        for (user, at) in all {
            set_operand(user, at, result(copy, 0));
        }
        copies += 1;
    }
    copies
}
