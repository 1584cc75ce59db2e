//! `tileas-unspecialized-pipeline`: software-pipelines loads. Copies for later iterations are in flight during the
//! dots of the current one.
//!
//! A loop is pipelined if it contains loads whose only purpose is an operand of a dot. With `S` stages
//!
//! ```text
//! for i { a = load(i); x = convert_layout a; c = dot x, ..., c }
//! ```
//!
//! becomes, with a ring of `S` tiles in shared memory,
//!
//! ```text
//! for s in 0 .. S-1 { if s < n { ring[s] <- load(s) }; group }                   prologue: S-1 groups
//! for i {
//!   wait until at most S-2 groups are pending                                    the group of iteration i is complete
//!   barrier
//!   if i + S-1 < n { ring[(i + S-1) % S] <- load(i + S-1) }; group
//!   x = local_load ring[i % S]; c = dot x, ..., c
//! }
//! wait until no group is pending
//! ```
//!
//! One barrier per iteration suffices. After it, all threads see the tile of iteration `i`, and all have read the tile
//! of iteration `i - 1`, whose stage is filled next. The last iterations start no copies but close empty groups, so
//! the same count of pending groups is right in every iteration.
//!
//! All warps of the CTA issue the copies, instead of a producer. `tileas-materialize-async` has already replaced the
//! loads of `wgmma` dots. The rings must fit into shared memory next to the other uses of the loop, otherwise they have
//! fewer stages. A loop for which fewer than two stages fit is not changed. Remarks name these missed optimizations.
//!
//! The pass has three parts. [`Candidates`] finds the loads that may be pipelined, [`Depths`] chooses how many
//! iterations ahead each copy starts, and [`expand`] rewrites the loop accordingly and makes no decisions.
//! `tileas-materialize-schedule` has already rewritten loops that follow a schedule; they do not change.

use crate::{
    analysis::{
        ring_loads::{Candidates, Depths, expand},
        warps::warps_of,
    },
    dialect::{
        attributes::{MATERIALIZED, drop_schedules},
        fallback::Fallback,
        nv_tileaa,
        pass::{Failed, PassContext, RustPass, descriptors, fail},
        rt::*,
        target::{shared_limit, target},
        upstream::Scf,
    },
    pass_descriptor,
};
use melior::Context;

mod missed_remarks;

#[derive(Clone, Default)]
pub struct UnspecializedPipeline;

impl RustPass for UnspecializedPipeline {
    pass_descriptor!(tileas_unspecialized_pipeline);
    fn run<'c>(&mut self, op: OpRef<'c>, context: &'c Context, cx: &PassContext) -> Result<(), Failed> {
        use descriptors::tileas_unspecialized_pipeline::{Options, stat};
        let target = target(op, Options(cx).compute_capability())?;
        let shared = shared_limit(target, Options(cx).extended_smem());
        let most = Options(cx).num_stages();
        if most < 1 {
            return Err(fail(op, format!("unspecialized-pipeline-num-stages must be positive, got {most}")));
        }
        for function in collect_ops(op, nv_tileaa::FuncOp::cast) {
            warps_of(function)?;
            let mut loops = vec![];
            walk(function.op(), &mut |o| {
                if Scf::of(o) == Some(Scf::For) {
                    loops.push(o);
                }
            });
            // Inner loops first: outer loops must leave room for their rings.
            for op in loops.into_iter().rev() {
                let fallback = Fallback::around(op);
                if fallback == Fallback::Synchronous {
                    continue;
                }
                let most = fallback.stages(most);
                let found = Candidates::of(op, target);
                missed_remarks::remark_on_loads(op, found.as_ref());
                let Some(found) = found.filter(|_| !MATERIALIZED.is_on(op)) else { continue };
                let depths = Depths::choose(&found, shared, most)?;
                depths.remark_on_stages(&found, shared, most);
                if depths.is_pipelined() {
                    cx.stat_add(stat::NUM_LOOPS, 1);
                    cx.stat_add(stat::NUM_LOADS, depths.ahead.iter().filter(|&&a| a > 0).count() as i64);
                    expand(&found, &depths, context)?;
                }
            }
            // Rings and agents are built, so nothing reads the schedules of loops any more.
            drop_schedules(function.op());
        }
        Ok(())
    }
}
