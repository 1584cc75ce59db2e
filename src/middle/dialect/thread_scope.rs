//! The threads that run an op: all threads of the CTA, or an agent's threads.
//!
//! Groups of warps run the regions of ops with `ThreadScopeOpInterface`. In such a region, warps, threads and
//! barriers are numbered within the group, and "uniform" means equal in all of its threads.

use super::{
    dot_plan::warps_of_agents,
    nv_tileaa::FuncOp,
    nv_tileas::{AgentSwitchOp, ProduceOneOp},
    rt::*,
};

/// The innermost region around an op that has its own threads.
#[derive(Clone, Copy)]
pub struct ThreadScope<'c> {
    pub op: OpRef<'c>,
    /// The number of the region in `op`.
    pub region: usize,
    /// The CTA-wide number of the first warp.
    pub first_warp: i64,
    /// `None` if the number of warps is undecided.
    pub warps: Option<i64>,
    /// Whether other regions of the op run concurrently.
    pub is_concurrent: bool,
}

impl<'c> ThreadScope<'c> {
    /// Returns the scope of a region of `op`, or `None` if the threads around `op` run it.
    pub fn of_region(op: OpRef<'c>, region: usize) -> Option<Self> {
        if let Some(function) = FuncOp::cast(op) {
            return Some(Self { op, region, first_warp: 0, warps: function.num_warps(), is_concurrent: false });
        }
        if let Some(producer) = ProduceOneOp::cast(op) {
            return Some(Self { op, region, first_warp: 0, warps: Some(producer.warps()), is_concurrent: false });
        }
        let warps = warps_of_agents(AgentSwitchOp::cast(op)?);
        let first_warp = warps[..region].iter().sum();
        Some(Self { op, region, first_warp, warps: Some(warps[region]), is_concurrent: true })
    }

    /// Returns `None` for an op outside of functions.
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

/// Whether `op` is directly in the region.
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
