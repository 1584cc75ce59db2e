//! Tensor types and layouts: conversions between MLIR's types and attributes and the algebra of `tile_layout`.

use super::{
    nv_tileas::{ConvertLayoutOp, LayoutAttr},
    pass::{Failed, fail},
    rt::*,
    types::is_e2m1,
};
use melior::{
    Context,
    ir::{Attribute, AttributeLike, Location, Type, TypeLike},
};
use mlir_sys::*;
use tile_layout::{Layout, Shape};

/// The components of a ranked tensor type.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor<'c> {
    /// The extents, which are powers of two for tiles.
    pub shape: Vec<i64>,
    pub element: Type<'c>,
    pub encoding: Option<Attribute<'c>>,
}

impl<'c> Tensor<'c> {
    /// Returns `None` if `t` is not a ranked tensor.
    pub fn of(t: Type<'c>) -> Option<Self> {
        // SAFETY: `t` is alive; the accessors are called on a ranked tensor only.
        unsafe {
            let raw = t.to_raw();
            if !mlirTypeIsARankedTensor(raw) {
                return None;
            }
            let rank = mlirShapedTypeGetRank(raw);
            let shape = (0..rank).map(|d| mlirShapedTypeGetDimSize(raw, d as isize)).collect();
            let element = Type::from_raw(mlirShapedTypeGetElementType(raw));
            let encoding = Attribute::from_option_raw(mlirRankedTensorTypeGetEncoding(raw));
            Some(Tensor { shape, element, encoding })
        }
    }
    pub fn of_value(v: Val<'c>) -> Option<Self> {
        Self::of(ty(v))
    }
    /// Converts back to a type.
    pub fn ty(&self) -> Type<'c> {
        tensor_type(&self.shape, self.element, self.encoding)
    }
    /// Returns the type with `layout` as its encoding.
    pub fn with_layout(&self, context: &'c Context, layout: &Layout) -> Type<'c> {
        tensor_type(&self.shape, self.element, Some(layout_attr(context, layout)))
    }
    pub fn layout(&self) -> Option<Layout> {
        to_layout(LayoutAttr::cast(self.encoding?)?)
    }
    /// Returns the algebra's shape; every tile has one.
    pub fn tile_shape(&self) -> Shape {
        Shape::new(&self.shape).expect("tile extents are powers of two")
    }
    pub fn elements(&self) -> i64 {
        self.shape.iter().product()
    }
}

pub fn tensor_type<'c>(shape: &[i64], element: Type<'c>, encoding: Option<Attribute<'c>>) -> Type<'c> {
    // SAFETY: the element type is alive; a null encoding means none.
    unsafe {
        let encoding = encoding.map_or(mlirAttributeGetNull(), |a| a.to_raw());
        Type::from_raw(mlirRankedTensorTypeGet(shape.len() as isize, shape.as_ptr(), element.to_raw(), encoding))
    }
}

fn signed(bases: &[u64]) -> Vec<i64> {
    bases.iter().map(|&b| b as i64).collect()
}

pub fn layout_attr<'c>(context: &'c Context, layout: &Layout) -> Attribute<'c> {
    LayoutAttr::get(
        Location::unknown(context),
        &signed(layout.register()),
        &signed(layout.lane()),
        &signed(layout.warp()),
        &signed(layout.block()),
    )
    .expect("layouts of the algebra verify")
    .into()
}

/// Returns `None` if the attribute's bases do not fit the algebra (more than 32 element bits).
pub fn to_layout(a: LayoutAttr<'_>) -> Option<Layout> {
    let unsigned = |b: &[i64]| b.iter().map(|&x| x as u64).collect();
    Layout::new(unsigned(a.registers()), unsigned(a.lanes()), unsigned(a.warps()), unsigned(a.blocks())).ok()
}

/// Converts `v` to `layout`, on behalf of `op`. Returns `v` itself if it already has the layout or is not a tensor.
pub fn converted<'c>(b: &Builder<'c>, op: OpRef<'c>, v: Val<'c>, layout: &Layout) -> Result<Val<'c>, Failed> {
    let Some(t) = Tensor::of_value(v) else { return Ok(v) };
    let to = t.with_layout(b.context(), layout);
    if to == ty(v) {
        return Ok(v);
    }
    ConvertLayoutOp::build(b, to, v).map(|c| c.result()).map_err(|e| fail(op, e.to_string()))
}

/// Changes the layout of result `r` of `op` and converts it back for its users, at the insertion point.
pub fn relayout_result<'c>(b: &Builder<'c>, op: OpRef<'c>, r: Val<'c>, layout: &Layout) -> Result<(), Failed> {
    let Some(t) = Tensor::of_value(r) else { return Ok(()) };
    let (old, new) = (ty(r), t.with_layout(b.context(), layout));
    if old == new {
        return Ok(());
    }
    set_ty(r, new);
    let users = uses(r);
    let back = ConvertLayoutOp::build(b, old, r).map_err(|e| fail(op, e.to_string()))?;
    users.into_iter().for_each(|(user, i)| set_operand(user, i, back.result()));
    Ok(())
}

/// Changes the type of an `arith.constant`'s value to the type of its result.
pub fn retype_constant(op: OpRef<'_>) {
    let Some(value) = attr(op, "value") else { return };
    let to = ty(result(op, 0));
    // SAFETY: the attribute is dense if the type is shaped; reshaping preserves the elements.
    unsafe {
        if mlirAttributeIsADenseElements(value.to_raw()) {
            let new = if mlirDenseElementsAttrIsSplat(value.to_raw()) {
                mlirDenseElementsAttrSplatGet(to.to_raw(), mlirDenseElementsAttrGetSplatValue(value.to_raw()))
            } else {
                mlirDenseElementsAttrReshapeGet(value.to_raw(), to.to_raw())
            };
            set_attr(op, "value", Attribute::from_raw(new));
        }
    }
}

/// Returns f32 in the context of another type.
pub fn f32_beside(t: Type<'_>) -> Type<'_> {
    // SAFETY: `t` and its context are alive.
    unsafe { Type::from_raw(mlirF32TypeGet(mlirTypeGetContext(t.to_raw()))) }
}

/// Returns tf32 in the context of another type.
pub fn tf32_beside(t: Type<'_>) -> Type<'_> {
    // SAFETY: `t` and its context are alive.
    unsafe { Type::from_raw(mlirTF32TypeGet(mlirTypeGetContext(t.to_raw()))) }
}

/// Returns the number of bits of an element in shared memory: `i1` and formats narrower than eight bits take a byte,
/// `tf32` four bytes. The same holds for global memory, except as [`memory_bits`] says.
pub fn storage_bits(element: Type<'_>) -> u32 {
    // SAFETY: `element` is alive.
    unsafe {
        let raw = element.to_raw();
        if super::nv_tileaa::PtrType::cast(element).is_some() {
            return 64;
        }
        if mlirTypeIsATF32(raw) {
            return 32;
        }
        if mlirTypeIsAInteger(raw) {
            return mlirIntegerTypeGetWidth(raw).max(8);
        }
        if mlirTypeIsAFloat(raw) {
            return mlirFloatTypeGetWidth(raw).max(8);
        }
        64
    }
}

/// Returns the number of bits of an element in global memory: two 4-bit elements share a byte.
pub fn memory_bits(element: Type<'_>) -> u32 {
    if is_e2m1(element) { 4 } else { storage_bits(element) }
}
