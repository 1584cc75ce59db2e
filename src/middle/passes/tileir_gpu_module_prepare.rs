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
        attributes::{
            CLUSTER_DIM, MAX_REGISTERS, MAXNREG, MIN_BLOCKS, MINCTASM, MULTIPLIES, NUM_CTAS, NUM_WARPS, NVVM_KERNEL,
            REQNTID,
        },
        gpu_module::{BLOCKS_ARE_CLUSTERS, functions},
        pass::{Failed, PassContext, RustPass, descriptors, fail},
        rt::*,
    },
    pass_descriptor,
};
use melior::{Context, ir::Attribute};

#[derive(Clone, Default)]
pub struct GpuModulePrepare;

impl RustPass for GpuModulePrepare {
    pass_descriptor!(tileir_gpu_module_prepare);

    fn run<'c>(&mut self, op: OpRef<'c>, context: &'c Context, cx: &PassContext) -> Result<(), Failed> {
        use descriptors::tileir_gpu_module_prepare::stat;
        for function in functions(op) {
            if NVVM_KERNEL.is_on(function) {
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
    if let Some(warps) = NUM_WARPS.take(function) {
        REQNTID.set(function, vec![warps as i32 * 32, 1, 1]);
    } else if !REQNTID.is_on(function) {
        let text = format!("the kernel has neither '{NUM_WARPS}' nor '{REQNTID}', so its block size is unknown");
        return Err(fail(function, text));
    }
    if let Some(blocks) = NUM_CTAS.take(function) {
        // The grid of a launch counts tiles, and each tile is a cluster here.
        CLUSTER_DIM.set(function, vec![blocks as i32, 1, 1]);
        let counted = Attribute::parse(context, &format!("[\"{BLOCKS_ARE_CLUSTERS}\"]"));
        set_attr(function, "passthrough", counted.expect("a well-formed attribute"));
    }
    let multiplies = MULTIPLIES.take(function).is_some();
    let blocks = MIN_BLOCKS.take(function);
    if let Some(registers) = MAX_REGISTERS.take(function) {
        // The kernel's plan already accounts for the CTAs per SM that these registers allow.
        MAXNREG.set(function, registers);
    } else if let Some(blocks) = blocks {
        MINCTASM.set(function, blocks);
    } else if multiplies {
        // Otherwise ptxas may spill accumulators to fit more CTAs on an SM.
        MINCTASM.set(function, 1);
    }
    Ok(())
}
