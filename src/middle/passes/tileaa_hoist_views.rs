//! `tileaa-hoist-views`: views of memory that are made in branches and loops are made in front of them.
//!
//! ```text
//! if row < length {                              %base = addptr %q, %start * %stride
//!   %base = addptr %q, %start * %stride    =>    %view = make_memref %base, ..
//!   %view = make_memref %base, ..                if row < length {
//! ```
//!
//! A tensor map of a view that stands there is made once, before everything else; of one that a loop makes it is
//! looked up again for each loop of copies. Kernels over sequences of their own lengths make views in the branch of
//! blocks that have rows.
//!
//! Only what can be computed anywhere moves: the ops between values of the function's outermost block and the view, if
//! none of them loads, divides by what may be zero, or takes what differs from iteration to iteration. Promises move
//! too. They are facts about accesses, which stay where they are, and no code is made of them.
//!
//! Functions without products, and targets whose products take no copies, stay as they are.

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
use tile_mma::{Unit, has_unit};

#[derive(Clone, Default)]
pub struct HoistViews;

impl RustPass for HoistViews {
    pass_descriptor!(tileaa_hoist_views);
    fn run<'c>(&mut self, op: OpRef<'c>, _: &'c Context, cx: &PassContext) -> Result<(), Failed> {
        use descriptors::tileaa_hoist_views::{Options, stat};
        if !has_unit(Unit::Warpgroup, target(op, Options(cx).compute_capability())?) {
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

/// Moves what views inside of an op need in front of it, with the views; says how many views these are.
fn hoist_from(outermost: OpRef<'_>) -> i64 {
    // Ops inside that can be computed in front, in their order: an operand is a result of one, or comes from outside.
    let (mut free, mut inside, mut arguments) = (vec![], FxHashSet::default(), FxHashSet::default());
    let mut is_free = FxHashSet::default();
    walk(outermost, &mut |op| {
        inside.insert(op_key(op));
        for r in 0..region_count(op) {
            // An argument is another value each time.
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
