//! Tiles that TMA loads to stages, from which warps read their elements to registers.

use super::{
    access::{View, memory_order},
    operand_stages::stage_of,
    producers::{Source, is_computed_from, is_computed_from_dot},
};
use crate::dialect::{
    attributes::OWN_STAGES,
    dots::{AnyDot, LHS},
    nv_tileas::MemDescType,
    rt::*,
    shared_memory::{ALIGNMENT, aligned_storage_type},
};
use tile_layout::{Shape, SharedLayout};

/// The type of the stage of a loaded tile of `view`: the panels of an operand, or for a tile of one dimension, the
/// order of memory.
///
/// Errors: the reason why no layout fits.
pub fn stage<'c>(load: OpRef<'c>, view: &View<'c>) -> Result<MemDescType<'c>, String> {
    let shape = Shape::new(view.ty.tile()).map_err(|e| e.to_string())?;
    if shape.log2().iter().filter(|bits| **bits > 0).count() > 1 {
        return stage_of(load, view, view.memref.element_type(), false);
    }
    let dense = SharedLayout::strided(&shape, &memory_order(view)).map_err(|e| e.to_string())?;
    aligned_storage_type(load, view.ty.tile(), view.memref.element_type(), dense.bases(), ALIGNMENT)
        .map_err(|e| e.to_string())
}

/// Whether consumers compute an operand of a dot from a tile in a stage, which they can read in any layout. A value
/// that is computed from another dot has the layout of that dot.
pub fn computes_fragments(dot: AnyDot<'_>, i: usize) -> bool {
    let v = operand(dot.op(), i);
    let computed = || matches!(Source::of(v, dot.op()), Source::Computed) && !is_computed_from_dot(v);
    i == LHS && computed() && is_computed_from(v, &|op| OWN_STAGES.is_on(op))
}
