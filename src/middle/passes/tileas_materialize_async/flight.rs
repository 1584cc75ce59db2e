//! Dots in flight: which dots may be in flight at the end of an iteration, and which at a use.

use super::{DotGroup, is_promoted};
use crate::{
    analysis::producers::skip_conversions,
    dialect::{
        behaviour::{LayoutRelation, layout_relation},
        dots::{AnyDot, is_zero},
        nv_tileas::{AsyncDotOp, AsyncDotWaitOp, PromotedDotOp},
        rt::*,
    },
};
use rustc_hash::FxHashSet;

/// A dot group that is in flight at the end of its iteration.
pub(super) struct Flight<'c> {
    pub place: OpRef<'c>,
    /// The positions of the accumulators among the loop's results.
    pub indices: Vec<usize>,
    /// The accumulators as arguments of the loop's body.
    pub accs: Vec<Val<'c>>,
    /// Whether the next dots add to the accumulators unchanged.
    pub adds_on: bool,
    /// The iterator of the stage that the previous group reads, and whether there was a previous group.
    pub last: Option<(Val<'c>, Val<'c>)>,
}

impl<'c> Flight<'c> {
    /// Returns the state of a group that can be in flight at the end of an iteration: the loop carries its
    /// accumulators, and nothing else uses the results. Several dots must all be pure accumulations.
    pub fn of(group: &DotGroup<'c>, around: OpRef<'c>, body: Blk<'c>) -> Option<Self> {
        let last = ops_of(body).last()?;
        let (mut indices, mut accs, mut adds_on) = (vec![], vec![], true);
        for dot in &group.dots {
            let (user, index) = match uses(dot.result())[..] {
                [one] => one,
                _ => return None,
            };
            // The end of the iteration overwrites the registers of loop-carried operands, which a dot in flight may
            // still read.
            let lhs = skip_conversions(dot.lhs());
            let reads_carried = defining_op(lhs).is_none() && home_of(lhs) == block_key(body);
            if is_promoted(*dot) || reads_carried || user != last || index >= result_count(around) {
                return None;
            }
            let acc = arg(body, index + 1);
            let this_adds_on = dot.acc() == acc && uses(acc).len() == 1;
            // A loop as the first user has its own registers for the accumulator, which would be copied to them while
            // the dot is in flight.
            let used_before = || {
                let first = first_user(body, acc).filter(|user| region_count(*user) == 0);
                group.dots.len() == 1 && first.is_some() && shares_registers(*dot, acc, body)
            };
            if !this_adds_on && !used_before() {
                return None;
            }
            adds_on &= this_adds_on;
            indices.push(index);
            accs.push(acc);
        }
        Some(Self { place: group.place(), indices, accs, adds_on, last: None })
    }
}

/// Whether a dot's result can share the registers of `old`, the accumulator that the loop carries. It must: otherwise
/// the end of the iteration copies the result while the dot is in flight. Nothing may read `old` once its
/// registers are overwritten: by the dot, if it adds to zero or to a loop invariant, otherwise by the first op of the
/// element-wise computation from `old` to the value to which the dot adds.
fn shares_registers<'c>(dot: AnyDot<'c>, old: Val<'c>, body: Blk<'c>) -> bool {
    let users = uses(old);
    let is_before = |user: OpRef<'c>| {
        let at = std::iter::successors(Some(user), |o| parent_op(*o)).find(|o| block_of(*o) == block_key(body));
        at.is_some_and(|at| ops_after(at).any(|o| o == dot.op()))
    };
    if !users.iter().all(|(user, _)| is_before(*user)) {
        return false;
    }
    let acc = dot.acc();
    let starts = is_zero(acc) || home_of(acc) != block_key(body);
    starts || users.iter().all(|(user, _)| *user == users[0].0) && is_computed_from(acc, old)
}

/// Whether each element of `v` is computed from the same element of `acc`, including by dots, which add in place.
fn is_computed_from<'c>(v: Val<'c>, acc: Val<'c>) -> bool {
    let (mut work, mut seen) = (vec![v], FxHashSet::default());
    while let Some(v) = work.pop() {
        if v == acc {
            return true;
        }
        let Some(op) = defining_op(v).filter(|_| seen.insert(key(v))) else { continue };
        if let Some(dot) = AnyDot::cast(op) {
            work.push(dot.acc());
        } else if let Some(dot) = AsyncDotOp::cast(op) {
            work.push(dot.acc());
        } else if let Some(dot) = PromotedDotOp::cast(op) {
            work.push(dot.acc());
        } else if let Some(wait) = AsyncDotWaitOp::cast(op) {
            work.extend(results(op).zip(wait.sources()).filter(|(r, _)| *r == v).map(|(_, source)| source));
        } else if layout_relation(op) == LayoutRelation::Same {
            work.extend(operands(op));
        }
    }
    false
}

/// Returns the dots between `dot` and `user` that may be in flight at `user`: those after the last one that is awaited
/// before `user`, since dots complete in order. Dots in loops and branches do not count, as control may bypass them.
pub(super) fn dots_in_flight<'c>(dot: OpRef<'c>, user: OpRef<'c>) -> Vec<OpRef<'c>> {
    let mut dots: Vec<OpRef<'c>> = vec![];
    for op in ops_after(dot).take_while(|o| *o != user) {
        // A use waits for the dot.
        let used = dots.iter().rposition(|g| operands_within(op).any(|v| defining_op(v) == Some(*g)));
        dots.drain(..used.map_or(0, |last| last + 1));
        if PromotedDotOp::cast(op).is_some() || AnyDot::cast(op).is_some_and(is_promoted) {
            dots.clear();
        } else if AnyDot::cast(op).is_some() || AsyncDotOp::cast(op).is_some() {
            dots.push(op);
        }
    }
    dots
}

/// Returns the operands of an op and of the ops in its regions.
fn operands_within<'c>(op: OpRef<'c>) -> impl Iterator<Item = Val<'c>> {
    let mut all = vec![];
    walk(op, &mut |o| all.extend(operands(o)));
    all.into_iter()
}

/// Returns the ops after one in its block.
pub(super) fn ops_after<'c>(op: OpRef<'c>) -> impl Iterator<Item = OpRef<'c>> {
    block_around(op).into_iter().flat_map(ops_of).skip_while(move |o| *o != op).skip(1)
}

/// Returns the first op of a block that uses a value, itself or in its regions.
pub(super) fn first_user<'c>(block: Blk<'c>, v: Val<'c>) -> Option<OpRef<'c>> {
    let home = block_key(block);
    let in_block = |user| std::iter::successors(Some(user), |o| parent_op(*o)).find(|o| block_of(*o) == home);
    let users: Vec<OpRef<'c>> = uses(v).into_iter().filter_map(|(user, _)| in_block(user)).collect();
    ops_of(block).find(|o| users.contains(o))
}
