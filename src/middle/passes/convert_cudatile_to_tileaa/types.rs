//! Converts types of the public language to types of `nv_tileaa`, and classifies the latter.

use super::e5m3;
use crate::dialect::{
    cuda_tile as ct, nv_tileaa as aa,
    rt::{Val, ty},
};
use melior::{
    Context,
    ir::{Location, Type, TypeLike},
};
use mlir_sys::*;

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

pub fn tensor<'c>(shape: &[i64], element: Type<'c>) -> Type<'c> {
    // SAFETY: shape and element are alive; a null encoding is none.
    unsafe {
        let none = mlirAttributeGetNull();
        Type::from_raw(mlirRankedTensorTypeGet(shape.len() as isize, shape.as_ptr(), element.to_raw(), none))
    }
}
pub fn is_tensor(t: Type<'_>) -> bool {
    // SAFETY: `t` is alive.
    unsafe { mlirTypeIsARankedTensor(t.to_raw()) }
}
/// Returns the element type of a tensor, or a scalar's own type.
pub fn element<'c>(t: Type<'c>) -> Type<'c> {
    // SAFETY: `t` is alive.
    if is_tensor(t) { unsafe { Type::from_raw(mlirShapedTypeGetElementType(t.to_raw())) } } else { t }
}
pub fn shape(t: Type<'_>) -> Vec<i64> {
    if !is_tensor(t) {
        return vec![];
    }
    // SAFETY: `t` is a ranked tensor.
    unsafe {
        (0..mlirShapedTypeGetRank(t.to_raw())).map(|d| mlirShapedTypeGetDimSize(t.to_raw(), d as isize)).collect()
    }
}
/// Returns a type with the shape of `t` and another element type.
pub fn with_element<'c>(t: Type<'c>, element: Type<'c>) -> Type<'c> {
    if is_tensor(t) { tensor(&shape(t), element) } else { element }
}
/// Returns the element type of a value.
pub fn element_of<'c>(v: Val<'c>) -> Type<'c> {
    element(ty(v))
}

pub fn int<'c>(context: &'c Context, width: u32) -> Type<'c> {
    // SAFETY: the context is alive.
    unsafe { Type::from_raw(mlirIntegerTypeGet(context.to_raw(), width)) }
}
pub fn f32<'c>(context: &'c Context) -> Type<'c> {
    // SAFETY: the context is alive.
    unsafe { Type::from_raw(mlirF32TypeGet(context.to_raw())) }
}
pub fn f64<'c>(context: &'c Context) -> Type<'c> {
    // SAFETY: the context is alive.
    unsafe { Type::from_raw(mlirF64TypeGet(context.to_raw())) }
}
pub fn is_int(t: Type<'_>) -> bool {
    // SAFETY: `t` is alive.
    unsafe { mlirTypeIsAInteger(t.to_raw()) && mlirIntegerTypeIsSignless(t.to_raw()) }
}
pub fn is_float(t: Type<'_>) -> bool {
    // SAFETY: `t` is alive.
    unsafe { mlirTypeIsAFloat(t.to_raw()) }
}
/// Whether `t` is f16, bf16, f32 or f64, the formats that `arith` and the hardware compute in.
pub fn is_base_float(t: Type<'_>) -> bool {
    let t = t.to_raw();
    // SAFETY: `t` is alive.
    unsafe { mlirTypeIsAF16(t) || mlirTypeIsABF16(t) || mlirTypeIsAF32(t) || mlirTypeIsAF64(t) }
}
pub fn is_tf32(t: Type<'_>) -> bool {
    // SAFETY: `t` is alive.
    unsafe { mlirTypeIsATF32(t.to_raw()) }
}
/// Whether `t` is the scale format, which only has powers of two.
pub fn is_scale(t: Type<'_>) -> bool {
    // SAFETY: `t` is alive.
    unsafe { mlirTypeIsAFloat8E8M0FNU(t.to_raw()) }
}
pub fn is_token(t: Type<'_>) -> bool {
    aa::MemTokenType::cast(t).is_some()
}
/// Returns the width of an integer or float type in bits.
pub fn width(t: Type<'_>) -> u32 {
    // SAFETY: `t` is alive and of the class that each accessor requires.
    unsafe {
        if mlirTypeIsAInteger(t.to_raw()) {
            mlirIntegerTypeGetWidth(t.to_raw())
        } else {
            mlirFloatTypeGetWidth(t.to_raw())
        }
    }
}
