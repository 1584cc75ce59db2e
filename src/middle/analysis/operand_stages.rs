//! The types of the stages of operands in shared memory.

use super::access::{View, fast_dimension};
use crate::dialect::{
    layouts::{Tensor, memory_bits, storage_bits},
    nv_tileas::MemDescType,
    rt::*,
    shared_memory::{ALIGNMENT, aligned_storage_type, packed_storage_type},
};
use melior::ir::Type;
use tile_layout::{HardwareError, HardwareLayout, Pairs, Shape};

/// The type of the stage that TMA fills with a tile of `view`, with elements of type `element`. Its layout needs the
/// fewest TMA boxes and, if the tile is contiguous along the right dimension, is one that `wgmma` reads, or `tcgen05`
/// if it is `in_units` of 32 bytes. Elements of 4 bits are packed. `op` gives the location.
///
/// Errors: the reason why no layout fits.
pub fn stage_of<'c>(
    op: OpRef<'c>,
    view: &View<'c>,
    element: Type<'c>,
    in_units: bool,
) -> Result<MemDescType<'c>, String> {
    let (fast, lines) = dimensions(view)?;
    if memory_bits(element) < 8 {
        let shape = Shape::new(view.ty.tile()).map_err(|e| e.to_string())?;
        let mut alignment = ALIGNMENT;
        let bases = Pairs::unpacked::<HardwareError>(&shape, fast, |pairs| {
            let layout = HardwareLayout::panels(pairs, (fast, lines), 8)?;
            alignment = alignment.max(layout.alignment().into());
            layout.shared_layout()
        });
        let bases = bases.map_err(|e| e.to_string())?;
        return packed_storage_type(op, view.ty.tile(), element, &bases, alignment).map_err(|e| e.to_string());
    }
    let layout = arrangement(view, fast, lines, in_units)?;
    // The stage must also fit the tile's transpose, which replaces it in place.
    let transposed =
        arrangement(view, lines, fast, false).ok().filter(|_| storage_bits(view.memref.element_type()) != 16);
    let alignment = layout.alignment().max(transposed.map_or(0, |t| t.alignment()));
    storage(op, view.ty.tile(), element, &layout, alignment.into())
}

/// The type of the stage to which threads store a tile that is contiguous along `fast`. `op` gives the location.
pub fn computed_stage<'c>(op: OpRef<'c>, tile: Val<'c>, fast: usize) -> Result<MemDescType<'c>, String> {
    let tensor = Tensor::of_value(tile).ok_or("the operand is not a tensor")?;
    let layout = HardwareLayout::panels(&tensor.tile_shape(), (fast, 1 - fast), storage_bits(tensor.element));
    let layout = layout.map_err(|e| e.to_string())?;
    storage(op, &tensor.shape, tensor.element, &layout, layout.alignment().into())
}

/// The type of the stage of [`stage_of`] after its conversion to elements of type `element` and, if `transposed`,
/// after its transpose.
pub fn converted_stage_of<'c>(
    op: OpRef<'c>,
    view: &View<'c>,
    element: Type<'c>,
    transposed: bool,
) -> Result<MemDescType<'c>, String> {
    let (fast, lines) = dimensions(view)?;
    let (fast, lines) = if transposed { (lines, fast) } else { (fast, lines) };
    let layout = arrangement(view, fast, lines, false)?;
    storage(op, view.ty.tile(), element, &layout, layout.alignment().into())
}

/// The dimension of a view's tile that is contiguous in memory, and the last other dimension of more than one
/// element.
fn dimensions(view: &View<'_>) -> Result<(usize, usize), String> {
    let shape = Shape::new(view.ty.tile()).map_err(|e| e.to_string())?;
    let fast = fast_dimension(view);
    let lines = (0..shape.rank()).rev().find(|&d| d != fast && shape.log2()[d] > 0);
    Ok((fast, lines.ok_or("the tile has only one dimension")?))
}

/// The arrangement of a tile that is contiguous along `fast`, in units of 32 bytes or in chunks.
fn arrangement(view: &View<'_>, fast: usize, lines: usize, in_units: bool) -> Result<HardwareLayout, String> {
    let shape = Shape::new(view.ty.tile()).map_err(|e| e.to_string())?;
    let bits = storage_bits(view.memref.element_type());
    let chunks = || HardwareLayout::panels(&shape, (fast, lines), bits);
    let layout = if in_units { HardwareLayout::panels_in_units(&shape, (fast, lines)) } else { chunks() };
    layout.map_err(|e| e.to_string())
}

fn storage<'c>(
    op: OpRef<'c>,
    shape: &[i64],
    element: Type<'c>,
    layout: &HardwareLayout,
    alignment: i64,
) -> Result<MemDescType<'c>, String> {
    let bases = layout.shared_layout().map_err(|e| e.to_string())?;
    let alignment = alignment.max(ALIGNMENT);
    aligned_storage_type(op, shape, element, bases.bases(), alignment).map_err(|e| e.to_string())
}
