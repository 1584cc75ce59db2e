//! `tileas-check-synchronization` proves that barriers separate conflicting shared-memory accesses.
//!
//! The pass runs on the final program of a CTA, after storage has its offsets. It proves that no two threads access
//! the same byte, at least one of them writing, without a barrier in between, on any path and around any loop (see
//! [`Races`]). Each pair without such a proof is an error at the later access with a note at the earlier one.
//!
//! Pipeline stages are ordered by their own barriers. Agents' use of stages is checked separately, for all
//! interleavings and small trip counts (`analysis::pipelines`).
//!
//! A function at the last level of fallback (`dialect::fallback`) is not rejected. Instead, the pass inserts a
//! barrier before each access that conflicts with an earlier one.
//!
//! With `remove-redundant-barriers`, the pass erases barriers that only guard the reuse of storage (attribute
//! `nv_tileas.reuse`) if the proof succeeds without them. Other barriers stay, because they may order accesses of
//! global memory. Barriers are tried in program order, each against the program without the barriers already erased.

use crate::{
    analysis::{
        pipelines,
        synchronization::{Conflict, Races, Work},
    },
    dialect::{
        attributes::REUSE,
        fallback::Fallback,
        nv_tileaa,
        nv_tileas::BarrierOp,
        pass::{Failed, PassContext, RustPass, descriptors, fail, fail_with_note},
        rt::*,
    },
    pass_descriptor,
};
use melior::Context;
use rustc_hash::FxHashSet;

#[derive(Clone, Default)]
pub struct CheckSynchronization;

impl RustPass for CheckSynchronization {
    pass_descriptor!(tileas_check_synchronization);
    fn run<'c>(&mut self, op: OpRef<'c>, context: &'c Context, cx: &PassContext) -> Result<(), Failed> {
        use descriptors::tileas_check_synchronization::{Options, stat};
        for function in collect_ops(op, nv_tileaa::FuncOp::cast) {
            if Fallback::within(function.op()) == Fallback::Synchronous {
                separate(function.op(), context)?;
                continue;
            }
            let mut races = Races::of(function.op());
            cx.stat_add(stat::NUM_ACCESSES, races.accesses().len() as i64);
            cx.stat_add(stat::NUM_FACTS, races.work() as i64);
            let mut failed = None;
            for conflict in races.conflicts() {
                failed = Some(report(conflict));
            }
            if let Some(failed) = failed {
                return Err(failed);
            }
            pipelines::check(function.op()).map_err(|(at, reason)| fail(at, reason))?;
            if Options(cx).remove_redundant() {
                cx.stat_add(stat::NUM_REMOVED, remove_redundant(function.op(), &mut races) as i64);
            }
        }
        Ok(())
    }
}

/// Inserts a barrier before each access that conflicts with an earlier one, until no conflict is left. Inserts at
/// most one barrier per access, so the loop ends, and the last fallback is never rejected.
fn separate<'c>(function: OpRef<'c>, context: &'c Context) -> Result<(), Failed> {
    let mut separated = FxHashSet::default();
    loop {
        let races = Races::of(function);
        let later = races.conflicts().filter_map(|c| match c {
            Conflict::Accesses { later, .. } => Some(later.op),
            Conflict::Wait { .. } => None,
        });
        let ops: Vec<OpRef<'c>> = later.filter(|op| separated.insert(op_key(*op))).collect();
        if ops.is_empty() {
            return Ok(());
        }
        for op in ops {
            let b = Builder::before(context, op);
            BarrierOp::build(&b, None, None).map_err(|e| fail(op, e.to_string()))?;
        }
    }
}

fn report(conflict: &Conflict<'_>) -> Failed {
    let (earlier, later, around_loop, between_agents, in_flight) = match conflict {
        Conflict::Wait { wait, pending } => {
            return fail(
                *wait,
                format!("leaves {pending} groups pending, which may include a group that it waits for"),
            );
        }
        Conflict::Accesses { earlier, later, around_loop, between_agents, in_flight } => {
            (earlier, later, around_loop, between_agents, in_flight)
        }
    };
    let when = if *around_loop && !between_agents { " of an earlier iteration" } else { "" };
    let kind = if earlier.write { "write" } else { "read" };
    let (by, missing) = match (between_agents, in_flight) {
        (_, true) if earlier.work == Some(Work::Dot) => (" by a dot", "no wait and barrier separate them"),
        (_, true) => (" by an asynchronous copy", "no wait and barrier separate them"),
        (true, false) => (" by another agent", "nothing separates them"),
        (false, false) => (" by other threads", "no barrier separates them"),
    };
    let message = format!("{} conflicts with a {kind}{by}{when}: {missing}", later.describe());
    fail_with_note(later.op, &message, earlier.op, &format!("the earlier access: {}", earlier.describe()))
}

/// Erases the barriers that guard nothing. Returns how many.
fn remove_redundant<'c>(function: OpRef<'c>, races: &mut Races<'c>) -> usize {
    let guards_reuse = |o| BarrierOp::cast(o).filter(|_| REUSE.is_on(o)).map(|b| b.op());
    let mut removed = 0;
    for barrier in collect_ops(function, guards_reuse) {
        if races.is_redundant(barrier) {
            erase(barrier);
            removed += 1;
        }
    }
    removed
}
