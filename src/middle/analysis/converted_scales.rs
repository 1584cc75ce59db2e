//! Scale factors that TMA loads as they are stored, and warps rearrange in their stage.
//!
//! The stage first has the order of memory, dense and without a swizzle. The bytes of a tile are the same before and
//! after, so it is converted in place to the blocks that the hardware copies.
//!
//! *Example.* 128 rows of 16 scale factors: TMA writes 16 bytes for each row. Of the same 2048 bytes, each thread reads
//! some words and stores them to the words of other rows.

use super::{
    access::{View, memory_order, places},
    bulk_copies::{before, loaded_operand},
    facts::Facts,
    producers::LoadedOperand,
    tensor_maps,
};
use crate::dialect::{
    nv_tileas::MemDescType,
    rt::*,
    shared_memory::{ALIGNMENT, aligned_storage_type},
};
use tile_layout::{Shape, SharedLayout};

/// An operand of a dot that TMA loads and warps rearrange.
pub struct ConvertedScales<'c> {
    pub operand: LoadedOperand<'c>,
    /// The storage of the tile that TMA fills, and the same after its conversion.
    pub stage: MemDescType<'c>,
    pub converted: MemDescType<'c>,
}

impl<'c> ConvertedScales<'c> {
    /// The scale factors `v` of `dot`, which must have the layout of `storage` in shared memory.
    ///
    /// Errors: the reason why TMA cannot load them.
    pub fn of(v: Val<'c>, dot: OpRef<'c>, storage: MemDescType<'c>, facts: &Facts) -> Result<Self, String> {
        let (operand, view) = loaded_operand(v, dot, storage)?;
        let tile = view.ty.tile();
        let (load, element) = (operand.load, view.memref.element_type());
        let of = |bases: &[u64]| aligned_storage_type(load, tile, element, bases, ALIGNMENT).map_err(|e| e.to_string());
        let dense = Shape::new(tile).and_then(|shape| SharedLayout::strided(&shape, &memory_order(&view)));
        let stage = of(dense.map_err(|e| e.to_string())?.bases())?;
        let converted = of(&before(&operand, storage).ok_or("its storage has no layout")?)?;
        let indices = indices_of(load, &view);
        let planned = tensor_maps::plan_copy(&view, &indices, &places(load), stage, facts)?;
        match planned.unproved.into_iter().next() {
            Some(reason) => Err(reason),
            None => Ok(Self { operand, stage, converted }),
        }
    }
}

/// The indices of a load of a view.
pub fn indices_of<'c>(load: OpRef<'c>, view: &View<'c>) -> Vec<Val<'c>> {
    operands(load).skip(1).take(view.ty.tile().len()).collect()
}
