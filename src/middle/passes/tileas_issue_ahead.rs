//! `tileas-issue-ahead` issues the first dots of an iteration before the last dots of the previous one.
//!
//! In a loop such as attention's, the agent `matrix` issues the dots of scores, waits for the weights that consumers
//! compute from them, and issues the dots of results:
//!
//! ```text
//! for i { acquire s; dot q, k[i] into s; commit s;    wait p;  dot p, v[i] into o;  release p }
//! ```
//!
//! The tensor cores are idle while the consumers compute. The pass issues the next scores before the wait:
//!
//! ```text
//! for i {
//!   if i is the first iteration { acquire s;  dot q, k[i] into s;  commit s }
//!   if i is not the last one { acquire s;  dot q, k[i + 1] into s;  commit s }
//!   wait p;  dot p, v[i] into o;  release p
//! }
//! ```
//!
//! The memory of the scores is free again once consumers have read the previous ones, so `acquire s` does not wait for
//! the weights. The plan gives the weights columns of their own (`issue_ahead`), since the next scores overwrite the
//! columns of the previous ones. Consumers that scale the results first acquire the memory of the weights, so the
//! previous dots of results are complete.
//!
//! # Several warpgroups
//!
//! If each warpgroup of the consumers has barriers of its own (`tileas-separate-warpgroups`), the dots of one warpgroup
//! are issued before the next one's. The tensor cores then work for one while the other computes, also without
//! columns for the weights: the next scores of a warpgroup then follow its results in the same iteration.
//!
//! ```text
//! for i {
//!   if i is the first iteration { for each warpgroup { acquire s;  dot q, k[i] into s;  commit s } }
//!   for each warpgroup {
//!     wait p;  dot p, v[i] into o
//!     if i is not the last one { acquire s;  dot q, k[i + 1] into s;  commit s }
//!   }
//! }
//! ```
//!
//! The first warpgroup's dots wait for the tiles that all warpgroups use, and the last one's dots release them.
//!
//! # Conditions
//!
//! * The ops up to the commit of the first dots, the *early* ops, are flat and wait for no operand of consumers.
//! * The other ops add to no accumulator of the early dots, and read none if these are issued first. They use no result
//!   of an early op but of pure ones.
//! * The values that the loop carries are computed by pure ops, as iterators are.
//! * The tiles of the other ops of an iteration fit into their rings, together with the tiles of the next early ops if
//!   they share a ring. The producer fills stages in program order, so it would otherwise wait for the other ops.
//!
//! # Bound on the work
//!
//! Each op of a loop is visited a constant number of times per use.

use crate::{
    analysis::clones::{ValueMap, clone_op, mapped},
    dialect::{
        arith::IntPredicate,
        behaviour::is_pure,
        dot_plan::{Agent, DotPlan, MATRIX},
        loops::new_if,
        nv_tileaa,
        nv_tileas::{AgentSwitchOp, AsyncDotOp, ConsumerWaitOp, PipelineType, ProducerCommitOp, TmemFenceOp},
        pass::{Failed, PassContext, RustPass, descriptors, fail},
        phases::{self, Handover},
        rt::*,
        shared_memory::root_of,
        upstream::Scf,
    },
    pass_descriptor,
};
use melior::Context;
use rustc_hash::FxHashSet;
use std::ops::Range;

#[derive(Clone, Default)]
pub struct IssueAhead;

impl RustPass for IssueAhead {
    pass_descriptor!(tileas_issue_ahead);
    fn run<'c>(&mut self, op: OpRef<'c>, context: &'c Context, cx: &PassContext) -> Result<(), Failed> {
        use descriptors::tileas_issue_ahead::stat;
        for function in collect_ops(op, nv_tileaa::FuncOp::cast) {
            let Some(plan) = DotPlan::of(function.op()) else { continue };
            for switch in collect_ops(function.op(), AgentSwitchOp::cast) {
                let Some(number) = Agent::of_switch(switch).iter().position(|agent| agent.name == MATRIX) else {
                    continue;
                };
                let blocks = [0, number].map(|i| entry_block(region(switch.op(), i)));
                let [Some(consumers), Some(program)] = blocks else { continue };
                let groups = warpgroups_in(program);
                if !plan.issue_ahead && groups == 1 {
                    continue;
                }
                let order = Order { is_ahead: plan.issue_ahead, groups };
                let by_consumers = filled_in(consumers);
                let mut loops = vec![];
                for o in ops_of(program) {
                    walk(o, &mut |inner| loops.extend((Scf::of(inner) == Some(Scf::For)).then_some(inner)));
                }
                for found in loops.into_iter().filter_map(|o| Loop::of(o, order, &by_consumers)) {
                    found.rewrite(context)?;
                    cx.stat_add(stat::NUM_LOOPS, 1);
                }
            }
        }
        Ok(())
    }
}

/// The pipelines whose stages a program fills.
fn filled_in(program: Blk<'_>) -> FxHashSet<usize> {
    let mut filled = FxHashSet::default();
    for op in ops_of(program) {
        walk(op, &mut |o| filled.extend(ProducerCommitOp::cast(o).map(|commit| key(commit.pipeline()))));
    }
    filled
}

/// The most warpgroups that have barriers of their own in a pipeline of a program.
fn warpgroups_in(program: Blk<'_>) -> i64 {
    let mut most = 1;
    for op in ops_of(program) {
        walk(op, &mut |o| {
            let own = Handover::cast(o).and_then(|x| phases::warpgroups(x.pipeline()));
            most = most.max(own.unwrap_or(1));
        });
    }
    most
}

/// The order of the dots of an iteration.
#[derive(Clone, Copy)]
struct Order {
    /// Whether the next first dots precede the last dots of a warpgroup.
    is_ahead: bool,
    /// The warpgroups that have barriers of their own.
    groups: i64,
}

/// The warpgroups whose dots an op belongs to.
enum Share {
    Of(i64),
    /// The first one, because the op waits for what all of them use.
    First,
    /// The last one, because the op releases what all of them use.
    Last,
    Each,
}

impl Share {
    /// Returns `None` for ops that cannot be divided.
    fn of(op: OpRef<'_>) -> Option<Self> {
        if let Some(dot) = AsyncDotOp::cast(op) {
            return dot.row_block().map(Self::Of);
        }
        if let Some(x) = Handover::cast(op) {
            let shared = match x {
                Handover::Acquire(_) | Handover::Wait(_) => Self::First,
                Handover::Commit(_) | Handover::Release(_) => Self::Last,
                Handover::Next(_) => return None,
            };
            return Some(x.warpgroup().map_or(shared, Self::Of));
        }
        (TmemFenceOp::cast(op).is_some() || is_pure(op) && region_count(op) == 0).then_some(Self::Each)
    }

    fn includes(&self, group: i64, groups: i64) -> bool {
        match self {
            Self::Of(own) => *own == group,
            Self::First => group == 0,
            Self::Last => group + 1 == groups,
            Self::Each => true,
        }
    }
}

/// A loop whose first dots can be issued ahead.
struct Loop<'c> {
    op: OpRef<'c>,
    order: Order,
    body: Blk<'c>,
    /// The ops up to the commit of the first dots, in program order.
    early: Vec<OpRef<'c>>,
    /// The ops after them that are not pure, in program order.
    late: Vec<OpRef<'c>>,
    /// The pure ops after them that compute what the loop carries, in program order.
    carried: Vec<OpRef<'c>>,
}

impl<'c> Loop<'c> {
    fn of(op: OpRef<'c>, order: Order, by_consumers: &FxHashSet<usize>) -> Option<Self> {
        let body = entry_block(region(op, 0))?;
        let ops: Vec<OpRef<'c>> = ops_of(body).collect();
        let (last, ops) = ops.split_last()?;
        let waits = |o: &OpRef<'c>| ConsumerWaitOp::cast(*o).map(|wait| wait.pipeline());
        let is_from_consumers = |o: &OpRef<'c>| waits(o).is_some_and(|pipeline| by_consumers.contains(&key(pipeline)));
        let first = ops.iter().position(is_from_consumers)?;
        let commits = |o: &OpRef<'c>| ProducerCommitOp::cast(*o).is_some_and(|commit| commit.dots());
        let end = ops[..first].iter().rposition(commits)? + 1;
        let (early, late) = ops.split_at(end);
        let dots = |list: &[OpRef<'c>]| list.iter().filter_map(|o| AsyncDotOp::cast(*o)).collect::<Vec<_>>();
        let (early_dots, late_dots) = (dots(early), dots(late));
        let written: FxHashSet<usize> = early_dots.iter().map(|dot| key(root_of(dot.acc()))).collect();
        let is_written = |v: Val<'c>| written.contains(&key(root_of(v)));
        let touches = |dot: &AsyncDotOp<'c>| is_written(dot.acc()) || order.is_ahead && is_written(dot.lhs());
        // The producer fills stages in the order of iterations.
        let tiles = |list: &[OpRef<'c>], of: Val<'c>| list.iter().filter(|o| waits(o) == Some(of)).count() as i64;
        let is_short = |o: &OpRef<'c>| {
            let ring = waits(o).filter(|pipeline| !by_consumers.contains(&key(*pipeline)));
            let stages = |pipeline| PipelineType::cast(ty(pipeline)).map_or(0, PipelineType::stages);
            ring.is_some_and(|ring| tiles(early, ring) + tiles(late, ring) > stages(ring))
        };
        let is_nested = |o: &OpRef<'c>| {
            let mut inside = false;
            walk(*o, &mut |inner| inside |= inner != *o && waits(&inner).is_some());
            inside
        };
        let flat = early.iter().all(|o| region_count(*o) == 0);
        if early_dots.is_empty()
            || late_dots.iter().any(touches)
            || !flat
            || late.iter().any(|o| is_short(o) || is_nested(o))
        {
            return None;
        }
        // Nothing else uses the results of early ops, unless they are pure.
        let mut others = early.iter().filter(|o| !is_pure(**o));
        if others.any(|o| results(*o).flat_map(uses).any(|(user, _)| !early.contains(&user))) {
            return None;
        }
        let is_divided = |o: &OpRef<'c>| Share::of(*o).is_some();
        let not_pure: Vec<OpRef<'c>> = late.iter().copied().filter(|o| !is_pure(*o)).collect();
        if order.groups > 1 && !(ops.iter().all(is_divided) && not_pure.iter().all(|o| !results(*o).any(has_uses))) {
            return None;
        }
        let mut needed = FxHashSet::default();
        let mut work: Vec<Val<'c>> = operands(*last).collect();
        while let Some(v) = work.pop() {
            let Some(o) = defining_op(v).filter(|o| block_of(*o) == block_key(body)) else { continue };
            (is_pure(o) && region_count(o) == 0).then_some(())?;
            if needed.insert(op_key(o)) {
                work.extend(operands(o));
            }
        }
        let carried = late.iter().copied().filter(|o| needed.contains(&op_key(*o))).collect();
        Some(Self { op, order, body, early: early.to_vec(), late: not_pure, carried })
    }

    fn rewrite(&self, context: &'c Context) -> Result<(), Failed> {
        let op = self.op;
        let [lower, upper, step] = [0, 1, 2].map(|i| operand(op, i));
        let counter = arg(self.body, 0);
        let start = *self.early.first().ok_or_else(|| fail(op, "it has no early ops"))?;
        let b = Builder::before(context, start);
        b.set_location(op.location());
        let is_first = b.cmpi(IntPredicate::Eq, counter, lower);
        self.copy_early(&b, is_first, ValueMap::default(), 0..self.order.groups)?;
        // The difference does not overflow as an unsigned number.
        let is_followed = b.cmpi(IntPredicate::Ugt, b.subi(upper, counter), step);
        let last = ops_of(self.body).last().ok_or_else(|| fail(op, "loop has no terminator"))?;
        let mut now = ValueMap::default();
        for o in self.early.iter().filter(|o| is_pure(**o)).chain(&self.carried) {
            clone_op(&b, *o, &mut now);
        }
        let mut next = ValueMap::default();
        next.insert(key(counter), b.addi(counter, step));
        for (i, v) in operands(last).enumerate() {
            next.insert(key(arg(self.body, i + 1)), mapped(&now, v));
        }
        if self.order.groups == 1 {
            self.copy_early(&b, is_followed, next, 0..1)?;
        } else {
            let b = Builder::before(context, last);
            for group in 0..self.order.groups {
                if self.order.is_ahead {
                    self.copy_early(&b, is_followed, next.clone(), group..group + 1)?;
                }
                for o in self.late.iter().filter(|o| self.is_of(**o, group)) {
                    b.set_location(o.location());
                    clone_op(&b, *o, &mut ValueMap::default());
                }
                if !self.order.is_ahead {
                    self.copy_early(&b, is_followed, next.clone(), group..group + 1)?;
                }
            }
            self.late.iter().for_each(|o| erase(*o));
        }
        // Pure ops whose results the late ops use stay.
        for o in self.early.iter().rev() {
            if !results(*o).any(has_uses) {
                erase(*o);
            }
        }
        Ok(())
    }

    /// Whether an op belongs to the dots of a warpgroup.
    fn is_of(&self, op: OpRef<'c>, group: i64) -> bool {
        let groups = self.order.groups;
        groups == 1 || Share::of(op).is_some_and(|share| share.includes(group, groups))
    }

    /// Copies the early ops of some warpgroups into a branch that is taken if `condition` holds.
    fn copy_early(
        &self,
        b: &Builder<'c>,
        condition: Val<'c>,
        mut map: ValueMap<'c>,
        groups: Range<i64>,
    ) -> Result<(), Failed> {
        let error = |e: BuildError| fail(self.op, e.to_string());
        b.set_location(self.op.location());
        let (_, blocks) = new_if(b, condition, &[]).map_err(error)?;
        for (block, copies) in blocks.into_iter().zip([true, false]) {
            let inside = Builder::at_end(b.context(), block, self.op.location());
            for group in groups.clone().filter(|_| copies) {
                for o in self.early.iter().filter(|o| self.is_of(**o, group)) {
                    clone_op(&inside, *o, &mut map);
                }
            }
            inside.insert(inside.state("scf.yield")).map_err(error)?;
        }
        Ok(())
    }
}
