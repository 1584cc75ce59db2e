//! Gives a loop the form of its schedule: dots in other iterations, rings, and the order of its operations.
//!
//! ```text
//! a = load(i)       stage 0, clock 0        ring[i + 2] <- load(i + 2)
//! x = dot a, c      stage 2, clock 0        a = ring[i];  x = dot a, c
//! y = f(i)          stage 0, clock 9   =>   z = g(x)
//! z = g(x)          stage 2, clock 4        y = f(i)
//! ```
//!
//! The threads of a loop without agents issue one operation at a time, so only copies overlap other iterations: an
//! operation of a later stage stays in its iteration. Operations begin in the order of their clocks, as far as they
//! have their operands. Scalar operations, which the schedule does not contain, precede their first user.

use crate::{
    analysis::{
        dependent_dots::DependentDots,
        ring_loads::{Candidates, Depths, expand},
        schedule,
    },
    dialect::{
        attributes::{AHEAD, MATERIALIZED, STAGE},
        behaviour,
        dot_plan::DotPlan,
        nv_tileaa,
        nv_tileas::AsyncWaitOp,
        pass::{Failed, fail},
        rt::*,
        upstream::Scf,
    },
};
use melior::Context;
use rustc_hash::{FxHashMap, FxHashSet};
use tile_targets::Target;

/// A loop with a schedule.
pub(super) struct Form<'c> {
    pub around: OpRef<'c>,
    pub target: &'static Target,
    /// Bytes of shared memory of a CTA.
    pub shared: u64,
    pub has_agents: bool,
}

impl<'c> Form<'c> {
    /// Rewrites the loop.
    pub fn give(self, context: &'c Context) -> Result<(), Failed> {
        if self.has_agents { self.move_dots(context) } else { self.build_rings(context) }
    }

    /// Moves the late dot to the next iteration if its schedule does.
    fn move_dots(&self, context: &'c Context) -> Result<(), Failed> {
        MATERIALIZED.mark(self.around);
        let function =
            std::iter::successors(parent_op(self.around), |o| parent_op(*o)).find_map(nv_tileaa::FuncOp::cast);
        if !function.is_some_and(|f| DependentDots::may_be_in_flight(f.op())) {
            return Ok(());
        }
        let dots = DependentDots::of(self.around).filter(|d| d.moves_in_schedule() == Some(true));
        let Some(dots) = dots else { return Ok(()) };
        // Stages are counted from the iteration in which an operation executes.
        let moved = dots.needed.iter().filter(|o| dots.exclusive.contains(&op_key(**o))).copied();
        for op in moved.chain([dots.late.op()]) {
            if let Some(stage) = STAGE.get(op) {
                STAGE.set(op, (stage - 1).max(0));
            }
        }
        dots.pipeline(context).map(drop)
    }

    /// Orders the operations, and turns loads into copies that start ahead.
    fn build_rings(&self, context: &'c Context) -> Result<(), Failed> {
        let Some(found) = Candidates::of(self.around, self.target) else { return Ok(()) };
        let follows = found.loads.iter().any(|l| AHEAD.is_on(l.op));
        if !follows || DotPlan::around(self.around).is_some() {
            return Ok(());
        }
        order(self.around)?;
        // The order changes the list of loads.
        let Some(found) = Candidates::of(self.around, self.target) else { return Ok(()) };
        let Some(depths) = Depths::scheduled(&found, self.shared)? else { return Ok(()) };
        found.loads.iter().for_each(|l| AHEAD.remove(l.op));
        MATERIALIZED.mark(self.around);
        expand(&found, &depths, context).map(drop)
    }
}

/// Puts the operations of a loop's body into the order of their start times.
fn order(around: OpRef<'_>) -> Result<(), Failed> {
    let body = entry_block(region(around, 0)).ok_or_else(|| fail(around, "loop has no body"))?;
    let ops: Vec<OpRef<'_>> = ops_of(body).collect();
    let Some((last, ops)) = ops.split_last() else { return Ok(()) };
    let place: FxHashMap<usize, usize> = ops.iter().enumerate().map(|(i, o)| (op_key(*o), i)).collect();
    // The operations of the same block that each one needs, itself or in its regions.
    let mut needs: Vec<Vec<usize>> = ops
        .iter()
        .map(|op| {
            let mut all = vec![];
            walk(*op, &mut |inner| {
                let of = operands(inner).filter_map(defining_op).filter_map(|d| place.get(&op_key(d)).copied());
                all.extend(of);
            });
            all
        })
        .collect();
    let times: Vec<Option<i64>> = ops.iter().map(|op| schedule::time(*op, around)).collect();
    lead_inner_loops(ops, &times, &mut needs);
    // The wait behind an inner loop, until its copies are complete.
    let mut waits: FxHashMap<usize, Vec<usize>> = FxHashMap::default();
    for (i, needed) in needs.iter().enumerate().filter(|(i, _)| AsyncWaitOp::cast(ops[*i]).is_some()) {
        if let Some(first) = needed.first().filter(|first| needed.iter().all(|other| other == *first)) {
            waits.entry(*first).or_default().push(i);
        }
    }
    let mut timed: Vec<(i64, usize)> = (0..ops.len()).filter_map(|i| Some((times[i]?, i))).collect();
    timed.sort_unstable();
    let mut ordered: Vec<usize> = vec![];
    let mut done: FxHashSet<usize> = FxHashSet::default();
    for i in timed.into_iter().map(|(_, i)| i).chain(0..ops.len()) {
        // An operation follows the operations that it needs. Regions refer to their own operation too.
        let mut work = vec![(i, false)];
        while let Some((op, is_ready)) = work.pop() {
            if is_ready {
                ordered.push(op);
                let waits = waits.get(&op).into_iter().flatten();
                ordered.extend(waits.filter(|wait| done.insert(**wait)));
            } else if done.insert(op) {
                work.push((op, true));
                work.extend(needs[op].iter().filter(|n| !done.contains(n)).rev().map(|n| (*n, false)));
            }
        }
    }
    for i in ordered {
        move_before(ops[i], *last);
    }
    Ok(())
}

/// Lets inner loops need the operations that [`expand`] has put before them: a barrier, the stores of resident tiles,
/// and copies. The schedule does not contain these operations. They stay together and in order, so that between the
/// barrier and the loop, nothing else uses the shared memory of the rings.
fn lead_inner_loops(ops: &[OpRef<'_>], times: &[Option<i64>], needs: &mut [Vec<usize>]) {
    let mut lead: Vec<usize> = vec![];
    for (i, op) in ops.iter().enumerate() {
        if Scf::of(*op) != Some(Scf::For) {
            let acts = result_count(*op) == 0 || behaviour::uses_shared_memory(*op);
            let leads = times[i].is_none() && acts && AsyncWaitOp::cast(*op).is_none();
            lead.extend(leads.then_some(i));
            continue;
        }
        let (Some(&first), Some(&end)) = (lead.first(), lead.last()) else { continue };
        // What they need comes before the first of them.
        let operands: Vec<usize> = lead.iter().flat_map(|l| &needs[*l]).copied().collect();
        for pair in lead.windows(2) {
            needs[pair[1]].push(pair[0]);
        }
        let before: Vec<usize> =
            operands.into_iter().filter(|n| *n < first || !follows_any(needs, *n, &lead)).collect();
        needs[first].extend(before);
        needs[i].push(end);
        lead.clear();
    }
}

/// Whether an operation is one of `others`, or needs one of them, directly or not. All are behind the first of them.
fn follows_any(needs: &[Vec<usize>], op: usize, others: &[usize]) -> bool {
    let (mut seen, mut work) = (FxHashSet::default(), vec![op]);
    while let Some(op) = work.pop() {
        if others.contains(&op) {
            return true;
        }
        if op > others[0] && seen.insert(op) {
            work.extend(&needs[op]);
        }
    }
    false
}
