//! The GPU program in a module, and the properties of its kernels before they become LLVM attributes.

use super::{
    rt::*,
    upstream::{is_gpu_module, is_llvm_func},
};

/// Discardable i64 attribute of a kernel: the number of warps per CTA.
pub const NUM_WARPS: &str = "nv_tileas.num_warps";

/// Discardable i64 attribute of a kernel: the number of CTAs per tile block, which form a cluster. One if absent.
pub const NUM_CTAS: &str = "nv_tileas.num_ctas";

/// Attribute of a kernel in LLVM IR: its launch counts clusters. Releases after LLVM 21 know it.
pub const BLOCKS_ARE_CLUSTERS: &str = "nvvm.blocksareclusters";

/// Discardable i64 attribute of a kernel: the registers per thread at launch. If absent, ptxas chooses.
pub const MAX_REGISTERS: &str = "nv_tileas.max_registers";

/// Discardable attribute of a kernel with dots.
pub const MULTIPLIES: &str = "nv_tileas.multiplies";

/// Discardable i64 attribute of a kernel: the number of CTAs that an SM should be able to hold at once.
pub const MIN_BLOCKS: &str = "nv_tileas.min_blocks";

/// Discardable i64 attribute of a program whose tiles exceed the shared memory of a CTA: the size in bytes.
pub const SHARED_EXCEEDED: &str = "nv_tileas.shared_exceeded";

pub fn gpu_modules<'c>(root: OpRef<'c>) -> Vec<OpRef<'c>> {
    collect_ops(root, |o| is_gpu_module(o).then_some(o))
}

/// Returns the LLVM functions of the GPU program, including declarations.
pub fn functions<'c>(root: OpRef<'c>) -> Vec<OpRef<'c>> {
    let is_function = |o: OpRef<'c>| is_llvm_func(o) && parent_op(o).is_some_and(is_gpu_module);
    collect_ops(root, |o| is_function(o).then_some(o))
}
