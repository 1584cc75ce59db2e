//! Converts types of the public language to types of `nv_tileaa`, and classifies the latter.

use super::e5m3;
use crate::dialect::types::bit_width;
pub use crate::dialect::types::{
    element, f32, f64, int, is_base_float, is_e8m0 as is_scale, is_f32, is_float, is_signless as is_int, is_tensor,
    is_tf32, shape, tensor, with_element,
};
use crate::dialect::{
    cuda_tile as ct, nv_tileaa as aa,
    rt::{Val, ty},
};
use melior::{
    Context,
    ir::{Location, Type},
};

/// Returns the `nv_tileaa` type for `t`, or `None` if it is not supported.
///
/// | `cuda_tile` | result |
/// |---|---|
/// | `tile<f32>` | `f32` |
/// | `tile<4x8xf32>` | `tensor<4x8xf32>` |
/// | `tile<4xptr<f32>>` | `tensor<4x!nv_tileaa.ptr<f32>>` |
/// | `tensor_view` | `!nv_tileaa.memref` |
/// | `partition_view`, `strided_view`, `gather_scatter_view` | `!nv_tileaa.tiled_view` |
/// | `token` | `!nv_tileaa.mem_token` |
/// | `f32`, `i32` and the like | themselves |
/// | `fnv8E5M3FNU` | `i8`, its bits |
pub fn convert<'c>(context: &'c Context, t: Type<'c>) -> Option<Type<'c>> {
    let at = Location::unknown(context);
    if let Some(tile) = ct::TileType::cast(t) {
        let element = convert(context, tile.element_type())?;
        return Some(if tile.shape().is_empty() { element } else { tensor(tile.shape(), element) });
    }
    if let Some(pointer) = ct::PointerType::cast(t) {
        return Some(aa::PtrType::get(at, convert(context, pointer.pointee_type())?)?.into());
    }
    if let Some(view) = ct::TensorViewType::cast(t) {
        let element = convert(context, view.element_type())?;
        return Some(aa::StridedMemRefType::get(at, view.shape(), view.strides(), element)?.into());
    }
    let wide = |list: &[i32]| list.iter().map(|d| i64::from(*d)).collect::<Vec<_>>();
    let padding = |p: Option<ct::PaddingValue>, view: Type<'c>| {
        let is_e5m3 = ct::TensorViewType::cast(view).is_some_and(|v| e5m3::is(v.element_type()));
        p.and_then(|p| if is_e5m3 { Some(e5m3::padding(p)) } else { aa::Padding::from_i64(p as i64) })
    };
    if let Some(v) = ct::PartitionViewType::cast(t) {
        let (tile, memref) = (wide(v.tile_shape()), convert(context, v.tensor_view())?);
        let view = aa::TiledViewType::get(
            at,
            &tile,
            memref,
            &wide(v.dim_map()),
            &tile,
            padding(v.padding_value(), v.tensor_view()),
            None,
        );
        return Some(view?.into());
    }
    if let Some(v) = ct::StridedViewType::cast(t) {
        let (tile, memref) = (wide(v.tile_shape()), convert(context, v.tensor_view())?);
        let steps = wide(v.traversal_strides());
        let view = aa::TiledViewType::get(
            at,
            &tile,
            memref,
            &wide(v.dim_map()),
            &steps,
            padding(v.padding_value(), v.tensor_view()),
            None,
        );
        return Some(view?.into());
    }
    if let Some(v) = ct::GatherScatterViewType::cast(t) {
        let (tile, memref) = (wide(v.tile_shape()), convert(context, v.tensor_view())?);
        let identity: Vec<i64> = (0..tile.len() as i64).collect();
        // All indices count elements, also those of dense dimensions.
        let steps = vec![1; tile.len()];
        let (padding, sparse) = (padding(v.padding_value(), v.tensor_view()), Some(v.sparse_dim()));
        return Some(aa::TiledViewType::get(at, &tile, memref, &identity, &steps, padding, sparse)?.into());
    }
    if ct::TokenType::cast(t).is_some() {
        return Some(token(context));
    }
    if e5m3::is(t) {
        return Some(int(context, 8));
    }
    (is_int(t) || is_float(t)).then_some(t)
}

pub fn token<'c>(context: &'c Context) -> Type<'c> {
    aa::MemTokenType::get(Location::unknown(context)).expect("a type without parameters").into()
}

/// Returns the element type of a value.
pub fn element_of<'c>(v: Val<'c>) -> Type<'c> {
    element(ty(v))
}
/// Returns the width of an integer or float type in bits.
pub fn width(t: Type<'_>) -> u32 {
    bit_width(t).expect("an integer or float type")
}
pub fn is_token(t: Type<'_>) -> bool {
    aa::MemTokenType::cast(t).is_some()
}
