//! Which threads run an op: all of the block's, or those of an agent.
//!
//! Ops with `ThreadScopeOpInterface` have regions that groups of warps run. Inside, warps, threads and barriers are
//! numbered within the group, and "uniform" means equal in all of its threads.

use super::{
    nv_tileaa::FuncOp,
    nv_tileas::{AgentSwitchOp, ProduceOneOp},
    rt::*,
};

/// The innermost region with threads of its own around an op.
#[derive(Clone, Copy)]
pub struct ThreadScope<'c> {
    pub op: OpRef<'c>,
    /// Number of the region in `op`.
    pub region: usize,
    /// The block's number of the first warp.
    pub first_warp: i64,
    /// None where the number of warps has not been decided.
    pub warps: Option<i64>,
    /// Whether other regions of the op run at the same time.
    pub is_concurrent: bool,
}

impl<'c> ThreadScope<'c> {
    /// The scope of region `region` of `op`; none for an op whose regions are run by the threads around it.
    pub fn of_region(op: OpRef<'c>, region: usize) -> Option<Self> {
        if let Some(function) = FuncOp::cast(op) {
            return Some(Self { op, region, first_warp: 0, warps: function.num_warps(), is_concurrent: false });
        }
        if let Some(producer) = ProduceOneOp::cast(op) {
            return Some(Self { op, region, first_warp: 0, warps: Some(producer.warps()), is_concurrent: false });
        }
        let warps = AgentSwitchOp::cast(op)?.warps();
        let first_warp = warps[..region].iter().sum();
        Some(Self { op, region, first_warp, warps: Some(warps[region]), is_concurrent: true })
    }

    /// None for an op outside of any function.
    pub fn of(op: OpRef<'c>) -> Option<Self> {
        let mut inner = op;
        while let Some(outer) = parent_op(inner) {
            if let Some(scope) = (0..region_count(outer))
                .find(|&i| contains(region(outer, i), inner))
                .and_then(|i| Self::of_region(outer, i))
            {
                return Some(scope);
            }
            inner = outer;
        }
        None
    }
}

/// Whether `op` stands directly in the region.
fn contains(region: Rgn<'_>, op: OpRef<'_>) -> bool {
    let mut block = entry_block(region);
    while let Some(b) = block {
        if block_key(b) == block_of(op) {
            return true;
        }
        block = next_block(b);
    }
    false
}
