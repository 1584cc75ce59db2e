//! Tiles that TMA loads to stages, from which warps read their elements to registers.

use super::{
    access::{View, memory_order},
    producers::{LoadedOperand, Source, is_product},
};
use crate::dialect::{
    attributes::OWN_STAGES,
    dots::{AnyDot, LHS},
    nv_tileas::MemDescType,
    rt::*,
    shared_memory::{ALIGNMENT, aligned_storage_type},
};
use rustc_hash::FxHashSet;
use tile_layout::{Shape, SharedLayout};

/// The type of the stage of a loaded tile of `view`: the panels of an operand, or for a tile of one dimension, the
/// order of memory.
///
/// Errors: the reason why no layout fits.
pub fn stage<'c>(load: OpRef<'c>, view: &View<'c>) -> Result<MemDescType<'c>, String> {
    let shape = Shape::new(view.ty.tile()).map_err(|e| e.to_string())?;
    if shape.log2().iter().filter(|bits| **bits > 0).count() > 1 {
        return LoadedOperand::plain(load).stage(view);
    }
    let dense = SharedLayout::strided(&shape, &memory_order(view)).map_err(|e| e.to_string())?;
    aligned_storage_type(load, view.ty.tile(), view.memref.element_type(), dense.bases(), ALIGNMENT)
        .map_err(|e| e.to_string())
}

/// Whether consumers compute an operand of a dot from a tile in a stage, which they can read in any layout.
pub fn computes_fragments(dot: AnyDot<'_>, i: usize) -> bool {
    let v = operand(dot.op(), i);
    i == LHS && matches!(Source::of(v, dot.op()), Source::Computed) && is_computed_from_stage(v)
}

/// Whether a value is computed from a tile in a stage in the same block.
fn is_computed_from_stage(v: Val<'_>) -> bool {
    let (mut work, mut seen) = (vec![v], FxHashSet::default());
    let home = home_of(v);
    while let Some(v) = work.pop() {
        let Some(op) = defining_op(v).filter(|op| block_of(*op) == home && seen.insert(op_key(*op))) else { continue };
        if OWN_STAGES.is_on(op) {
            return true;
        }
        if !is_product(op) {
            work.extend(operands(op));
        }
    }
    false
}
