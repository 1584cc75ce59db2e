//! `tileas-recompute-for-scheduling`: what costs next to nothing is computed next to each user.
//!
//! A value that is used in several stages of a schedule holds its registers from the first to the last of them, and
//! once for each iteration under way. Where it is a number that is repeated, or a row or column of such, each user gets
//! one of its own, directly in front of it: the scheduler can then put each beside its user. The copies are apart for
//! cleanups, since `tileas-generate-schedule-constraints` gives each op a number.
//!
//! Kernels with a plan of products stay as they are: the plan says what each agent computes.

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
            // Users first: what a copy is computed from is copied for the copy.
            for cheap in body.into_iter().rev().filter(|o| behaviour::is_cheap(*o)) {
                cx.stat_add(stat::NUM_COPIES, one_for_each_user(cheap, context));
            }
        }
        Ok(())
    }
}

/// Gives each user of a cheap op but the first a copy of it; how many there are.
fn one_for_each_user<'c>(cheap: OpRef<'c>, context: &'c Context) -> i64 {
    let home = block_of(cheap);
    // What uses it in a region is a user where the region's op stands.
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
