//! `tileas-keep-addresses-in-loops` keeps address arithmetic inside loops that contain dots.
//!
//! LLVM hoists invariant code out of loops regardless of register pressure: one or two registers for each address of
//! a tile. Loops around dots cannot spare these registers, while one addition per iteration is almost free there.
//! Converter warps, which rewrite pipeline stages in place, have the same problem: they have few registers beyond the
//! part of a stage that they hold.
//!
//! The pass sets the unit attribute `nv_tileas.addresses_in_loop` on the outermost loop around a dot or an in-place
//! conversion. `convert-tileas-to-llvm` then hides the thread-dependent part of an address with an empty instruction
//! that is opaque to LLVM. The attribute covers nested loops.

use crate::{
    dialect::{
        attributes::ADDRESSES_IN_LOOP,
        dot_plan::DotPlan,
        dots::AnyDot,
        loops::loops_around,
        nv_tileas::ProducerCommitOp,
        pass::{Failed, PassContext, RustPass, descriptors},
        rt::*,
    },
    pass_descriptor,
};
use melior::Context;

#[derive(Clone, Default)]
pub struct KeepAddressesInLoops;

impl RustPass for KeepAddressesInLoops {
    pass_descriptor!(tileas_keep_addresses_in_loops);

    fn run<'c>(&mut self, op: OpRef<'c>, _: &'c Context, cx: &PassContext) -> Result<(), Failed> {
        use descriptors::tileas_keep_addresses_in_loops::stat;
        let converts = |o| ProducerCommitOp::cast(o).is_some_and(|c| c.phase().is_some());
        let needs = |o| AnyDot::cast(o).is_some() && !has_registers(o) || converts(o);
        for inside in collect_ops(op, |o| needs(o).then_some(o)) {
            let Some(outermost) = loops_around(inside).last() else { continue };
            if !ADDRESSES_IN_LOOP.is_on(outermost) {
                ADDRESSES_IN_LOOP.mark(outermost);
                cx.stat_add(stat::NUM_LOOPS, 1);
            }
        }
        Ok(())
    }
}

/// Whether the loops around a dot can spare the registers: warps read fragments from stages that others fill, and have
/// enough registers without `setmaxnreg`.
fn has_registers(dot: OpRef<'_>) -> bool {
    DotPlan::around(dot).is_some_and(|plan| plan.reads_fragments() && !plan.divides())
}
