//! `tileir-gpu-module-prepare` translates a kernel's launch parameters to NVVM attributes.
//!
//! `convert-tileas-to-llvm` leaves launch parameters as attributes on the kernel. This pass translates them to the
//! attributes that LLVM prints as directives.
//!
//! ```text
//! nv_tileas.num_warps = 4     nvvm.reqntid = [128, 1, 1]     .reqntid 128, 1, 1
//! nv_tileas.multiplies        nvvm.minctasm = 1              .minnctapersm 1
//! nv_tileas.min_blocks = 2    nvvm.minctasm = 2              .minnctapersm 2
//! nv_tileas.num_ctas = 2      nvvm.cluster_dim = [2, 1, 1]   .reqnctapercluster 2, 1, 1
//!                             nvvm.blocksareclusters         .blocksareclusters
//! ```
//!
//! Functions that are not kernels become internal to the module, so that LLVM may change or drop them.

use crate::{
    dialect::{
        gpu_module::{BLOCKS_ARE_CLUSTERS, MAX_REGISTERS, MIN_BLOCKS, MULTIPLIES, NUM_CTAS, NUM_WARPS, functions},
        pass::{Failed, PassContext, RustPass, descriptors, fail},
        rt::*,
    },
    pass_descriptor,
};
use melior::{
    Context,
    ir::{Attribute, attribute::DenseI32ArrayAttribute},
};

#[derive(Clone, Default)]
pub struct GpuModulePrepare;

impl RustPass for GpuModulePrepare {
    pass_descriptor!(tileir_gpu_module_prepare);

    fn run<'c>(&mut self, op: OpRef<'c>, context: &'c Context, cx: &PassContext) -> Result<(), Failed> {
        use descriptors::tileir_gpu_module_prepare::stat;
        for function in functions(op) {
            if discardable_attr(function, "nvvm.kernel").is_some() {
                kernel(function, context)?;
                cx.stat_add(stat::NUM_KERNELS, 1);
            } else if entry_block(region(function, 0)).is_some() {
                let internal = Attribute::parse(context, "#llvm.linkage<internal>");
                set_attr(function, "linkage", internal.ok_or_else(|| fail(op, "the llvm dialect is not loaded"))?);
                cx.stat_add(stat::NUM_INTERNAL, 1);
            }
        }
        Ok(())
    }
}

fn kernel<'c>(function: OpRef<'c>, context: &'c Context) -> Result<(), Failed> {
    if let Some(warps) = discardable_attr(function, NUM_WARPS) {
        let threads = int_attr(warps) as i32 * 32;
        let block = DenseI32ArrayAttribute::new(context, &[threads, 1, 1]);
        set_discardable_attr(function, "nvvm.reqntid", block.into());
        remove_discardable_attr(function, NUM_WARPS);
    } else if discardable_attr(function, "nvvm.reqntid").is_none() {
        return Err(fail(
            function,
            "the kernel has neither 'nv_tileas.num_warps' nor 'nvvm.reqntid', so its block size is unknown",
        ));
    }
    if let Some(blocks) = discardable_attr(function, NUM_CTAS) {
        // The grid of a launch counts tiles, and each tile is a cluster here.
        let cluster = DenseI32ArrayAttribute::new(context, &[int_attr(blocks) as i32, 1, 1]);
        set_discardable_attr(function, "nvvm.cluster_dim", cluster.into());
        let counted = Attribute::parse(context, &format!("[\"{BLOCKS_ARE_CLUSTERS}\"]"));
        set_attr(function, "passthrough", counted.expect("a well-formed attribute"));
        remove_discardable_attr(function, NUM_CTAS);
    }
    if let Some(registers) = discardable_attr(function, MAX_REGISTERS) {
        set_discardable_attr(function, "nvvm.maxnreg", i32_attr(context, int_attr(registers) as i32));
        remove_discardable_attr(function, MAX_REGISTERS);
        remove_discardable_attr(function, MULTIPLIES);
        // The kernel's plan already accounts for the CTAs per SM that these registers allow.
        remove_discardable_attr(function, MIN_BLOCKS);
    }
    if let Some(blocks) = discardable_attr(function, MIN_BLOCKS) {
        set_discardable_attr(function, "nvvm.minctasm", i32_attr(context, int_attr(blocks) as i32));
        remove_discardable_attr(function, MIN_BLOCKS);
        remove_discardable_attr(function, MULTIPLIES);
    }
    if discardable_attr(function, MULTIPLIES).is_some() {
        // Otherwise ptxas may spill accumulators to fit more CTAs on an SM.
        set_discardable_attr(function, "nvvm.minctasm", i32_attr(context, 1));
        remove_discardable_attr(function, MULTIPLIES);
    }
    Ok(())
}
