//! `tileaa-hoist-views` hoists views of memory out of branches and loops.
//!
//! ```text
//! if row < length {                              %base = addptr %q, %start * %stride
//!   %base = addptr %q, %start * %stride    =>    %view = make_memref %base, ..
//!   %view = make_memref %base, ..                if row < length {
//! ```
//!
//! The tensor map of a hoisted view is created once, at the start of the kernel. The tensor map of a view created in
//! a loop is looked up again for each loop of copies. For example, kernels over sequences of different lengths create
//! views in the branch taken by CTAs that have rows.
//!
//! The pass moves only computations that are safe to speculate: the ops between values of the function's outermost
//! block and the view, if none of them loads, divides by a value that may be zero, or depends on a loop-carried
//! value. Assumptions move too. They are facts about accesses, which stay in place, and emit no code.
//!
//! Functions without dots, and targets whose dots do not read copied tiles, do not change.

use crate::{
    dialect::{
        behaviour::is_pure,
        fallback::Fallback,
        nv_tileaa::{self, DotOp, MakeMemRefOp},
        pass::{Failed, PassContext, RustPass, descriptors},
        rt::*,
        target::target,
    },
    pass_descriptor,
};
use melior::Context;
use rustc_hash::FxHashSet;
use tile_mma::agent_unit;

#[derive(Clone, Default)]
pub struct HoistViews;

impl RustPass for HoistViews {
    pass_descriptor!(tileaa_hoist_views);
    fn run<'c>(&mut self, op: OpRef<'c>, _: &'c Context, cx: &PassContext) -> Result<(), Failed> {
        use descriptors::tileaa_hoist_views::{Options, stat};
        if agent_unit(target(op, Options(cx).compute_capability())?).is_none() {
            return Ok(());
        }
        for function in collect_ops(op, nv_tileaa::FuncOp::cast) {
            let multiplies = !collect_ops(function.op(), DotOp::cast).is_empty();
            if !multiplies || !Fallback::within(function.op()).allows_agents() {
                continue;
            }
            let Some(body) = entry_block(function.body()) else { continue };
            for outermost in ops_of(body).filter(|o| region_count(*o) > 0).collect::<Vec<_>>() {
                cx.stat_add(stat::NUM_HOISTED, hoist_from(outermost));
            }
        }
        Ok(())
    }
}

/// Moves views inside an op before it, with the ops that they need. Returns the number of views.
fn hoist_from(outermost: OpRef<'_>) -> i64 {
    // Speculatable ops in program order: each operand is the result of such an op or is defined outside.
    let (mut free, mut inside, mut arguments) = (vec![], FxHashSet::default(), FxHashSet::default());
    let mut is_free = FxHashSet::default();
    walk(outermost, &mut |op| {
        inside.insert(op_key(op));
        for r in 0..region_count(op) {
            // An argument's value differs at each entry of its block.
            arguments.extend(entry_block(region(op, r)).into_iter().flat_map(args).map(key));
        }
        let is_known = |v: Val<'_>| match defining_op(v) {
            Some(source) => is_free.contains(&op_key(source)) || !inside.contains(&op_key(source)),
            None => !arguments.contains(&key(v)),
        };
        if region_count(op) == 0 && is_pure(op) && operands(op).all(is_known) {
            is_free.insert(op_key(op));
            free.push(op);
        }
    });
    let mut needed = FxHashSet::default();
    let mut views = 0;
    for op in free.iter().rev() {
        let is_view = MakeMemRefOp::cast(*op).is_some();
        views += i64::from(is_view);
        if is_view || needed.contains(&op_key(*op)) {
            needed.insert(op_key(*op));
            needed.extend(operands(*op).filter_map(defining_op).map(op_key));
        }
    }
    free.into_iter().filter(|op| needed.contains(&op_key(*op))).for_each(|op| move_before(op, outermost));
    views
}
