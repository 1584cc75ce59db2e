//! `tileas-keep-addresses-in-loops`: loops that multiply tiles compute their addresses themselves.
//!
//! LLVM moves what does not change out of loops, however many registers that takes: one or two for every address of a
//! tile. Around matrix products there are none to spare, and a sum an iteration costs nothing there. Nor have warps
//! that change stages for products registers for more than what they hold of one. Loops with a product in them, or with
//! such a change, get the unit attribute `nv_tileas.addresses_in_loop`, with which `convert-tileas-to-llvm` hides the
//! part of an address that depends on the thread behind an empty instruction that LLVM cannot see through. Loops inside
//! such a loop need no attribute of their own.

use crate::{
    dialect::{
        dots::AnyDot,
        loops::{ADDRESSES_IN_LOOP, loops_around},
        nv_tileas::ProducerCommitOp,
        pass::{Failed, PassContext, RustPass, descriptors},
        rt::*,
    },
    pass_descriptor,
};
use melior::{Context, ir::Attribute};

#[derive(Clone, Default)]
pub struct KeepAddressesInLoops;

impl RustPass for KeepAddressesInLoops {
    pass_descriptor!(tileas_keep_addresses_in_loops);

    fn run<'c>(&mut self, op: OpRef<'c>, context: &'c Context, cx: &PassContext) -> Result<(), Failed> {
        use descriptors::tileas_keep_addresses_in_loops::stat;
        let converts = |o| ProducerCommitOp::cast(o).is_some_and(|c| c.converted());
        for inside in collect_ops(op, |o| (AnyDot::cast(o).is_some() || converts(o)).then_some(o)) {
            let Some(outermost) = loops_around(inside).last() else { continue };
            if discardable_attr(outermost, ADDRESSES_IN_LOOP).is_none() {
                set_discardable_attr(outermost, ADDRESSES_IN_LOOP, Attribute::unit(context));
                cx.stat_add(stat::NUM_LOOPS, 1);
            }
        }
        Ok(())
    }
}
