//! The GPU program in a module.

use super::{
    rt::*,
    upstream::{is_gpu_module, is_llvm_func},
};

/// Attribute of a kernel in LLVM IR: its launch counts clusters. Releases after LLVM 21 know it.
pub const BLOCKS_ARE_CLUSTERS: &str = "nvvm.blocksareclusters";

pub fn gpu_modules<'c>(root: OpRef<'c>) -> Vec<OpRef<'c>> {
    collect_ops(root, |o| is_gpu_module(o).then_some(o))
}

/// Returns the LLVM functions of the GPU program, including declarations.
pub fn functions<'c>(root: OpRef<'c>) -> Vec<OpRef<'c>> {
    let is_function = |o: OpRef<'c>| is_llvm_func(o) && parent_op(o).is_some_and(is_gpu_module);
    collect_ops(root, |o| is_function(o).then_some(o))
}
