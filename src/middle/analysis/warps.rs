//! The number of warps that run a function or op.

use crate::dialect::{
    nv_tileaa,
    pass::{Failed, fail},
    rt::{OpRef, OpView},
    thread_scope::ThreadScope,
};

/// Returns the number of warps that run `op`: the agent's, or else the CTA's.
pub fn warps_at(op: OpRef<'_>) -> Result<u64, Failed> {
    let warps = ThreadScope::of(op).and_then(|s| s.warps);
    let undecided = || fail(op, "the number of warps is not decided; run convert-tileaa-to-tileas first");
    warps.map(|w| w as u64).ok_or_else(undecided)
}

/// Returns the number of warps of a CTA, set by `convert-tileaa-to-tileas`.
pub fn warps_of(function: nv_tileaa::FuncOp<'_>) -> Result<u64, Failed> {
    function
        .num_warps()
        .map(|w| w as u64)
        .ok_or_else(|| fail(function.op(), "function has no numWarps; run convert-tileaa-to-tileas first"))
}
