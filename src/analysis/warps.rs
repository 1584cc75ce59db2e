//! How many warps run a function.

use crate::dialect::{
    nv_tileaa,
    pass::{Failed, fail},
    rt::OpView,
};

/// Warps of a block, set by `convert-tileaa-to-tileas`.
pub fn warps_of(function: nv_tileaa::FuncOp<'_>) -> Result<u64, Failed> {
    function
        .num_warps()
        .map(|w| w as u64)
        .ok_or_else(|| fail(function.op(), "function has no numWarps; run convert-tileaa-to-tileas first"))
}
