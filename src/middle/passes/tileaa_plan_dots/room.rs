//! Divides shared memory among rings, conversions of layouts and other uses.

use super::{Found, Loads};
use crate::{
    analysis::{access::View, facts::Facts, operand_stages::stage_of, tensor_maps},
    dialect::{
        behaviour::{self, LayoutRelation},
        dots::TileDot,
        layouts::{Tensor, storage_bits},
        loops::is_in_loop,
        nv_tileaa::{Ordering, TiledLoadOp, TiledStoreOp},
        pass::Obstacle,
        rt::*,
        shared_memory::{SCRATCH_BYTES, memdesc_bytes},
    },
};
use tile_plan::DotLoop;

/// The shared memory of a CTA, which rings and layout conversions divide.
pub(super) struct Room {
    pub available: u32,
    /// The most stages of a ring, and the bytes of a stage.
    pub stages: u32,
    pub stage: u32,
    pub rings: u32,
    /// The agents that convert layouts, each in its own memory.
    pub movers: u32,
    /// Bytes for barriers, tensor maps under construction and the partial results that warps exchange.
    pub other: u32,
}

/// The obstacle if [`Room::divide`] fails.
pub(super) const NO_ROOM: &str = "two stages of the operands do not fit shared memory";

impl Room {
    /// The number of stages of each ring next to `scratch` bytes for the conversions of an agent. Returns `None` if
    /// fewer than two fit.
    fn stages_beside(&self, scratch: u32) -> Option<u32> {
        let room = self.available.checked_sub(scratch * self.movers + self.other)?;
        let fit = room / self.rings / self.stage.next_multiple_of(1024);
        Some(self.stages.min(fit)).filter(|s| *s >= 2)
    }

    /// The number of stages, and the bytes for conversions: `scratch`, or fewer if rings would be too short. Results
    /// then move through shared memory in parts, rather than wait for loads in each iteration.
    pub fn divide(&self, mut scratch: u32) -> Option<(u32, u32)> {
        let is_short = |stages: u32| stages < self.stages.min(HIDING_STAGES);
        while scratch > SCRATCH_BYTES as u32 && self.stages_beside(scratch).is_none_or(is_short) {
            scratch /= 2;
        }
        Some((self.stages_beside(scratch)?, scratch))
    }
}

/// Returns the bytes of shared memory for layout conversions, in addition to the rings. If tensors are computed only
/// after all dots, they reuse the memory of the rings. In a loop over tiles, a whole result should fit.
/// `in_stages` are the ops that are computed in the stages of operands.
pub(super) fn scratch(function: OpRef<'_>, dot_loop: &DotLoop, found: &[Found<'_>], in_stages: &[OpRef<'_>]) -> u32 {
    let outermost = |op: OpRef<'_>| -> usize {
        let ancestors = std::iter::successors(Some(op), |o| parent_op(*o).filter(|p| op_key(*p) != op_key(function)));
        ancestors.last().map_or(0, op_key)
    };
    let of_dots: Vec<usize> = found.iter().map(|p| outermost(p.op)).collect();
    let body = entry_block(region(function, 0));
    let mut before = true;
    let mut computes = false;
    for op in body.into_iter().flat_map(ops_of) {
        let holds = of_dots.contains(&op_key(op));
        walk(op, &mut |o| {
            let of_dot = TileDot::cast(o).is_some() || TiledLoadOp::cast(o).is_some() || in_stages.contains(&o);
            let moves = behaviour::layout_relation(o) != LayoutRelation::Leaf && !of_dot && region_count(o) == 0;
            let shape = matches!(behaviour::layout_relation(o), LayoutRelation::Reshape | LayoutRelation::Permute);
            let has_tensors = results(o).any(|r| Tensor::of_value(r).is_some());
            let stores = result_count(o) > 0 && TiledStoreOp::cast(o).is_some();
            computes |= (before || holds) && (moves && !shape && has_tensors || stores);
        });
        before &= !holds;
    }
    if dot_loop.over_tiles {
        dot_loop.result_bytes().max(SCRATCH_BYTES as u32)
    } else if computes {
        SCRATCH_BYTES as u32
    } else {
        0
    }
}

/// The smallest number of stages that hides the latency of loads.
pub(super) const HIDING_STAGES: u32 = 3;

/// Returns the smallest scratch size: one element of eight bytes for each thread of `groups` warpgroups. Larger
/// tensors are converted in parts, and each thread moves at least one element of each part.
pub(super) fn least_scratch(groups: u32) -> u32 {
    groups * 128 * 8
}

/// Bytes for barriers, tensor maps under construction and the partial results of reductions that warps exchange.
pub(super) const OTHER_BYTES: u32 = 4096;

/// The bytes of the tiles that TMA stores in loops, in each of which it may read a tile at any time.
///
/// Errors: rows of a tile may end within a unit, so that threads store it in some launches, and convert its layout in
/// memory of their own.
pub(super) fn stored_in_loops<'c>(function: OpRef<'c>, facts: &Facts) -> Result<u32, Obstacle<'c>> {
    let mut bytes = 0;
    for store in collect_ops(function, TiledStoreOp::cast).into_iter().filter(|s| is_in_loop(s.op())) {
        let Some(view) = View::of(store.view()) else { continue };
        // Threads store 32-bit elements, and tiles that are ordered with other accesses.
        if store.ordering() != Ordering::Weak || storage_bits(view.memref.element_type()) >= 32 {
            continue;
        }
        let Ok(storage) = stage_of(store.op(), &view, view.memref.element_type(), false) else { continue };
        let indices: Vec<Val<'c>> = store.indices().collect();
        match tensor_maps::plan_store(store.op(), (&view, &indices), storage, facts) {
            Ok(planned) if planned.whole.is_some() => {
                return Err((store.op(), "its rows may end within a unit of TMA stores".into()));
            }
            Ok(_) => bytes += memdesc_bytes(storage) as u32,
            Err(_) => {}
        }
    }
    Ok(bytes)
}

impl<'c> Loads<'c> {
    /// The largest element size in bits among the stored tiles of a function that have at least `elements` elements.
    pub(super) fn stored_bits(&self, function: OpRef<'c>, elements: i64) -> Option<u32> {
        let stored = self.stored.get_or_init(|| {
            collect_ops(function, |o| {
                let tile = TiledStoreOp::cast(o).and_then(|s| Tensor::of_value(s.value()))?;
                Some((tile.elements(), storage_bits(tile.element)))
            })
        });
        stored.iter().filter(|(tile, _)| *tile >= elements).map(|(_, bits)| *bits).max()
    }
}
