//! The program of the GPU in a module, and what its kernels say of themselves until LLVM's attributes do.

use super::{
    rt::*,
    upstream::{is_gpu_module, is_llvm_func},
};

/// Discardable attribute of a kernel: warps of a block, i64.
pub const NUM_WARPS: &str = "nv_tileas.num_warps";

/// Discardable attribute of a kernel: thread blocks that share a tile block, as a cluster, i64. Left out, each has one
/// for itself.
pub const NUM_CTAS: &str = "nv_tileas.num_ctas";

/// Attribute of a kernel in LLVM IR: its launch counts clusters. LLVM 21 does not know it, later releases do.
pub const BLOCKS_ARE_CLUSTERS: &str = "nvvm.blocksareclusters";

/// Discardable attribute of a kernel: registers of each thread at launch, i64. Left out, ptxas chooses.
pub const MAX_REGISTERS: &str = "nv_tileas.max_registers";

/// Discardable attribute of a kernel that has products of tiles.
pub const MULTIPLIES: &str = "nv_tileas.multiplies";

/// Discardable attribute of a kernel: blocks that a multiprocessor should have room for at once, i64.
pub const MIN_BLOCKS: &str = "nv_tileas.min_blocks";

/// Discardable attribute of a program whose tiles take more shared memory than a block has: bytes, i64.
pub const SHARED_EXCEEDED: &str = "nv_tileas.shared_exceeded";

pub fn gpu_modules<'c>(root: OpRef<'c>) -> Vec<OpRef<'c>> {
    collect_ops(root, |o| is_gpu_module(o).then_some(o))
}

/// The functions of the GPU's program in terms of LLVM, declared ones too.
pub fn functions<'c>(root: OpRef<'c>) -> Vec<OpRef<'c>> {
    let is_function = |o: OpRef<'c>| is_llvm_func(o) && parent_op(o).is_some_and(is_gpu_module);
    collect_ops(root, |o| is_function(o).then_some(o))
}
