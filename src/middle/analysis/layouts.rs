//! Layouts that are derived from other layouts, or from a shape alone.

use crate::dialect::{
    behaviour::{self, LayoutRelation},
    layouts::Tensor,
    nv_tileaa::TiledViewType,
    rt::*,
};
use tile_layout::{Layout, LayoutError, Shape};

/// Returns the row-major layout with at most four elements per thread and lanes along the last dimension.
pub fn default_layout(shape: &Shape, warps: u64) -> Layout {
    let order: Vec<usize> = (0..shape.rank()).rev().collect();
    Layout::coalesced(shape, 32, &order, 4, warps).expect("a tile has a coalesced layout")
}

/// Returns the layouts of source and result of a change of element width: default for the side with fewer elements.
pub fn default_packing(from: &Tensor<'_>, to: &Tensor<'_>, warps: u64) -> (Layout, Layout) {
    let ratio = packing_log2(from, to);
    if from.elements() < to.elements() {
        let source = default_layout(&from.tile_shape(), warps);
        let result = source.split_elements(ratio);
        (source, result)
    } else {
        let result = default_layout(&to.tile_shape(), warps);
        (result.split_elements(ratio), result)
    }
}

/// Returns log2 of the ratio of element counts in a change of element width.
pub fn packing_log2(from: &Tensor<'_>, to: &Tensor<'_>) -> u32 {
    let (a, b) = (from.elements().max(1), to.elements().max(1));
    (a.max(b) / a.min(b)).ilog2()
}

/// Returns the layout of a broadcast's source of shape `from` if its result of shape `to` has `layout`: every basis
/// loses the coordinates of the repeated dimensions.
pub fn project(layout: &Layout, to: &[i64], from: &[i64]) -> Layout {
    let map = |index: &u64| -> u64 {
        let (mut rest, mut out, mut scale) = (*index, 0, 1);
        for d in (0..to.len()).rev() {
            let coordinate = rest % to[d] as u64;
            rest /= to[d] as u64;
            if from[d] != 1 {
                out += coordinate * scale;
            }
            scale *= from[d] as u64;
        }
        out
    };
    let all = |bases: &[u64]| bases.iter().map(map).collect();
    Layout::new(all(layout.register()), all(layout.lane()), all(layout.warp()), all(layout.block()))
        .expect("a projection of a layout")
}

/// Returns the layout of the index of a view's sparse dimension if a tile has `layout`: each register holds the
/// coordinate of its element.
pub fn index_layout(layout: &Layout, tile: &[i64], dim: usize) -> Layout {
    let line: Vec<i64> = tile.iter().enumerate().map(|(d, &extent)| if d == dim { extent } else { 1 }).collect();
    project(layout, tile, &line)
}

/// Returns the dimension whose index is a tensor.
pub fn sparse_dimension(view: Val<'_>) -> Option<usize> {
    TiledViewType::cast(ty(view))?.sparse_dim().map(|d| d as usize)
}

/// Returns the layout of the whole tensor if slice `k` is in block number `k`, where it has the layout `slice`.
pub fn slice_over_blocks(slice: &Layout, part: &Tensor<'_>, whole: &Tensor<'_>) -> Result<Layout, LayoutError> {
    let order: Vec<usize> = (0..whole.shape.len()).collect();
    slice.over_blocks(&part.tile_shape(), &whole.tile_shape(), &order)
}

/// Returns the source register of each result register, if nothing moves between threads. For an extraction, the
/// slice number occupies the bits above the result's register bits.
pub fn kept_in_registers(
    from: &Layout,
    to: &Layout,
    part: &Tensor<'_>,
    whole: &Tensor<'_>,
) -> Result<Option<Vec<u32>>, LayoutError> {
    let all = to.over_registers(&part.tile_shape(), &whole.tile_shape())?;
    Ok(tile_layout::register_permutation(from, &all))
}

/// Whether shuffles within warps can copy every element from its owner to all holders: no warp bit is free, free lane
/// bits select plain copies, and every register is owned by its thread or repeats an owned register.
pub fn within_warps(layout: &Layout) -> bool {
    let (free, zero) = (layout.free_variables(), layout.zero_bits());
    let (owned, _) = layout.owned();
    free.warp == 0 && free.lane & !zero.lane == 0 && layout.squeeze_registers().0.registers() == owned.registers()
}

/// The dimension in which elements of dimension `fast` are adjacent after the ops `moved` have permuted and reshaped
/// the tile, if there is one.
pub fn moved_dimension<'c>(mut shape: Shape, fast: usize, moved: &[OpRef<'c>]) -> Option<usize> {
    // The bit of the row-major index that moves by one element.
    let mut bit = shape.field(fast).ok()?.0;
    let dim_of = |shape: &Shape, bit: u32| {
        (0..shape.rank()).find(|&d| shape.field(d).is_ok_and(|(low, width)| low == bit && width > 0))
    };
    for op in moved {
        let to = Tensor::of_value(result(*op, 0))?.tile_shape();
        if behaviour::layout_relation(*op) == LayoutRelation::Permute {
            let dim = dim_of(&shape, bit)?;
            let order = attr(*op, "order").map(i32s_attr)?;
            let moved = order.iter().position(|&d| d as usize == dim)?;
            bit = to.field(moved).ok()?.0;
        }
        shape = to;
    }
    dim_of(&shape, bit)
}
