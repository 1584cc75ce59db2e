//! Finds loops of two dependent dots that can be software-pipelined.
//!
//! In a loop such as attention's, the left operand of the *late* dot is computed from the result of the *early* one:
//!
//! ```text
//! for i:
//!   scores = dot(q, k[i], 0)            // early
//!   weights = exp(scores - max)
//!   acc = dot(weights, v[i], acc)       // late
//! ```
//!
//! The next iteration needs the late dot's accumulator only after its own early dot. The late dot of iteration i can
//! therefore run concurrently with the early dot of iteration i + 1. `tileas-pipeline-dots` shows the resulting
//! loop, and [`DependentDots::pipeline`] builds it.
//!
//! # Conditions
//!
//! * The loop has exactly these two dots, including inner loops and branches.
//! * The late dot's right operand depends only on the loop counter and on values from outside of the loop. Its loads
//!   are not ordered with other accesses.
//! * The iteration does not use the late dot's result but only passes it to the next.
//! * The early dot, and the ops before it, do not depend on the late dot's result of the previous iteration.
//!
//! # Bound on the work
//!
//! Each op of the body is visited a constant number of times per use.

mod pipelined;

use super::{
    producers::{Source, is_computed_from_dot},
    schedule,
};
use crate::dialect::{
    attributes::INTERVAL,
    behaviour::is_pure,
    dot_plan::DotPlan,
    nv_tileaa,
    nv_tileas::{DotOp, TiledLoadOp},
    rt::*,
};
use rustc_hash::FxHashSet;

/// A loop of two dependent dots, and the ops to move.
pub struct DependentDots<'c> {
    /// The loop.
    pub around: OpRef<'c>,
    pub body: Blk<'c>,
    pub early: DotOp<'c>,
    pub late: DotOp<'c>,
    /// The index of the iteration argument that carries the late dot's result.
    pub index: usize,
    /// Ops of the body that the late dot's right operand needs, in program order.
    pub needed: Vec<OpRef<'c>>,
    /// The subset of `needed` without other users.
    pub exclusive: FxHashSet<usize>,
}

impl<'c> DependentDots<'c> {
    /// Whether the dots of a function may be in flight while their warpgroup computes. One thread issues dots into
    /// tensor memory, in program order and ahead of the consumers. Dots of `mma.sync` are never in flight: the warps of
    /// a scheduler overlap by themselves.
    pub fn may_be_in_flight(function: OpRef<'_>) -> bool {
        DotPlan::of(function).is_some_and(|plan| !plan.accumulates_in_memory() && !plan.reads_fragments())
    }

    /// Returns `None` if the dots of the loop cannot be software-pipelined.
    pub fn of(around: OpRef<'c>) -> Option<Self> {
        let body = entry_block(region(around, 0))?;
        let last = ops_of(body).last()?;
        let dots: Vec<DotOp<'c>> = ops_of(body).filter_map(DotOp::cast).collect();
        let [early, late] = dots[..] else { return None };
        // There must be no other dots in inner loops or branches.
        let mut products = 0;
        walk(around, &mut |o| products += usize::from(DotOp::cast(o).is_some()));
        let [(user, index)] = uses(late.result())[..] else { return None };
        let is_late = products == 2
            && user == last
            && matches!(Source::of(late.lhs(), late.op()), Source::Computed)
            && is_computed_from_dot(late.lhs());
        if !is_late {
            return None;
        }
        // Users of the late dot's previous result must follow the early dot.
        let accumulator = arg(body, index + 1);
        let mut up_to_early = ops_of(body).take_while(|o| *o != early.op()).chain([early.op()]);
        if up_to_early.any(|o| uses_inside(o, accumulator)) {
            return None;
        }
        let (needed, exclusive) = needed_by(late, body)?;
        Some(Self { around, body, early, late, index, needed, exclusive })
    }

    /// Whether the loop's schedule places the late dot after the early dot of the next iteration; `None` without a
    /// schedule.
    pub fn moves_in_schedule(&self) -> Option<bool> {
        let [early, late] = [self.early, self.late].map(|dot| schedule::time(dot.op(), self.around));
        Some(late? >= early? + INTERVAL.get(self.around)?)
    }

    /// The pure ops computed from the late dot's previous result, in program order. They may move to the end of the
    /// iteration.
    pub fn users_of_accumulators(&self) -> Vec<OpRef<'c>> {
        let mut dependent: FxHashSet<usize> = [key(arg(self.body, self.index + 1))].into_iter().collect();
        let mut users = vec![];
        for op in ops_of(self.body).filter(|o| *o != self.late.op() && is_pure(*o)) {
            let mut needs = false;
            walk(op, &mut |inner| needs |= operands(inner).any(|v| dependent.contains(&key(v))));
            if needs {
                dependent.extend(results(op).map(key));
                users.push(op);
            }
        }
        users
    }
}

/// The ops of the loop body that the late dot's right operand needs, in program order, and the subset without other
/// users. Returns `None` if the operand of another iteration cannot be computed in this one.
fn needed_by<'c>(late: DotOp<'c>, body: Blk<'c>) -> Option<(Vec<OpRef<'c>>, FxHashSet<usize>)> {
    let mut needed = FxHashSet::default();
    let mut work: Vec<Val<'c>> = vec![late.rhs()];
    while let Some(v) = work.pop() {
        let Some(op) = defining_op(v) else {
            if block_key(owner_of(v)) == block_key(body) && v != arg(body, 0) {
                return None;
            }
            continue;
        };
        if block_of(op) != block_key(body) {
            continue;
        }
        let loads = TiledLoadOp::cast(op)
            .is_some_and(|l| l.ordering() == nv_tileaa::Ordering::Weak && !has_uses(l.result_token()));
        if region_count(op) > 0 || !(loads || is_pure(op)) {
            return None;
        }
        if needed.insert(op_key(op)) {
            work.extend(operands(op));
        }
    }
    let list: Vec<OpRef<'c>> = ops_of(body).filter(|o| needed.contains(&op_key(*o))).collect();
    let mut exclusive = FxHashSet::default();
    for o in list.iter().rev() {
        let mut users = results(*o).flat_map(uses).map(|(user, _)| user);
        if users.all(|user| user == late.op() || exclusive.contains(&op_key(user))) {
            exclusive.insert(op_key(*o));
        }
    }
    Some((list, exclusive))
}

/// Whether `op`, or an op nested in it, uses `v`.
fn uses_inside<'c>(op: OpRef<'c>, v: Val<'c>) -> bool {
    let mut found = false;
    walk(op, &mut |inner| found |= operands(inner).any(|o| o == v));
    found
}
