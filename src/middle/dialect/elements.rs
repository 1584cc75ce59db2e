//! Attributes of constants: scalars and dense elements, without raw handles.

use super::{
    nv_tileaa::Padding,
    rt::*,
    types::{is_e2m1, is_e4m3, is_e5m2, is_e8m0, is_tensor, is_tf32},
};
use melior::ir::{Attribute, AttributeLike, Type, TypeLike};
use mlir_sys::*;

/// Returns the value of an integer attribute, or `None` for other attributes.
pub fn integer(a: Attribute<'_>) -> Option<i64> {
    // SAFETY: `a` is alive.
    unsafe { mlirAttributeIsAInteger(a.to_raw()) }.then(|| int_attr(a))
}

/// Returns the values of a dense array of i64, or `None` for other attributes.
pub fn integers(a: Attribute<'_>) -> Option<Vec<i64>> {
    // SAFETY: `a` is alive.
    unsafe { mlirAttributeIsADenseI64Array(a.to_raw()) }.then(|| i64s_attr(a))
}

/// Returns the values of a dense array of i32, or `None` for other attributes.
pub fn integers32(a: Attribute<'_>) -> Option<Vec<i32>> {
    // SAFETY: `a` is alive.
    unsafe { mlirAttributeIsADenseI32Array(a.to_raw()) }.then(|| i32s_attr(a))
}

/// Returns the value of a string attribute, or `None` for other attributes.
pub fn string<'c>(a: Attribute<'c>) -> Option<&'c str> {
    // SAFETY: `a` is alive.
    unsafe { mlirAttributeIsAString(a.to_raw()) }.then(|| string_attr(a))
}

/// Returns the value of a boolean attribute, or `None` for other attributes.
pub fn boolean(a: Attribute<'_>) -> Option<bool> {
    // SAFETY: `a` is alive.
    unsafe { mlirAttributeIsABool(a.to_raw()) }.then(|| bool_attr(a))
}

/// Returns the value of a float attribute, or `None` for other attributes.
pub fn float(a: Attribute<'_>) -> Option<f64> {
    // SAFETY: `a` is alive.
    unsafe { mlirAttributeIsAFloat(a.to_raw()) }.then(|| float_attr(a))
}

/// Returns the element that all elements of a dense attribute equal, or `None` for other attributes.
pub fn splat<'c>(a: Attribute<'c>) -> Option<Attribute<'c>> {
    let raw = a.to_raw();
    // SAFETY: `a` is alive, and its kind is checked before its elements are read.
    unsafe {
        let is_splat = mlirAttributeIsADenseElements(raw) && mlirDenseElementsAttrIsSplat(raw);
        is_splat.then(|| Attribute::from_raw(mlirDenseElementsAttrGetSplatValue(raw)))
    }
}

/// Returns the integer that a scalar has, or that all elements of a dense attribute equal.
pub fn splat_integer(a: Attribute<'_>) -> Option<i64> {
    integer(a).or_else(|| splat(a).and_then(integer))
}

/// Whether a scalar, or all elements of a dense attribute, are zero. Negative zero is not zero.
pub fn is_zero(a: Attribute<'_>) -> bool {
    let element = splat(a).unwrap_or(a);
    integer(element) == Some(0) || float(element).is_some_and(|v| v.to_bits() == 0)
}

/// Returns the integer `value` of type `t`, truncated to the width of `t`.
pub fn integer_of<'c>(t: Type<'c>, value: i64) -> Attribute<'c> {
    // SAFETY: `t` is alive.
    unsafe { Attribute::from_raw(mlirIntegerAttrGet(t.to_raw(), value)) }
}

/// Returns the float `value` rounded to the float type `t`.
pub fn float_of<'c>(t: Type<'c>, value: f64) -> Attribute<'c> {
    // SAFETY: `t` is alive.
    unsafe { Attribute::from_raw(mlirFloatAttrDoubleGet(mlirTypeGetContext(t.to_raw()), t.to_raw(), value)) }
}

/// Returns a dense attribute of the shaped type `t` whose elements all equal `element`, which has its element type.
pub fn dense<'c>(t: Type<'c>, element: Attribute<'c>) -> Attribute<'c> {
    // SAFETY: both are alive.
    unsafe { Attribute::from_raw(mlirDenseElementsAttrSplatGet(t.to_raw(), element.to_raw())) }
}

/// Returns `scalar` for a scalar type, and the dense attribute of that scalar for a tensor type.
pub fn filled<'c>(t: Type<'c>, scalar: Attribute<'c>) -> Attribute<'c> {
    if is_tensor(t) { dense(t, scalar) } else { scalar }
}

/// Returns the dense attribute `a` in the shape of the tensor `t`, which has as many elements; or its element, if `t`
/// is a scalar.
///
/// # Panics
/// `t` is a scalar and the elements of `a` differ.
pub fn reshaped<'c>(a: Attribute<'c>, t: Type<'c>) -> Attribute<'c> {
    if !is_tensor(t) {
        return splat(a).expect("a scalar constant has one element");
    }
    // SAFETY: both are alive, and the caller passes a dense attribute with the elements of `t`.
    unsafe { Attribute::from_raw(mlirDenseElementsAttrReshapeGet(a.to_raw(), t.to_raw())) }
}

/// Returns the symbol that a flat symbol reference names, or `None` for other attributes.
pub fn symbol<'c>(a: Attribute<'c>) -> Option<&'c str> {
    // SAFETY: `a` is alive, and its kind is checked before its name is read.
    unsafe { mlirAttributeIsAFlatSymbolRef(a.to_raw()).then(|| raw_to_str(mlirFlatSymbolRefAttrGetValue(a.to_raw()))) }
}

/// Returns the elements of a dense attribute as bits, in the in-memory form of
/// [`storage_bits`](super::layouts::storage_bits); a splat gives one. `None` for other attributes.
pub fn element_bits(value: Attribute<'_>) -> Option<Vec<u64>> {
    // SAFETY: the attribute is alive and checked to be dense elements of numbers; the raw data of `n` elements, or of
    // one for a splat, has `bytes` bytes per element, except for i1.
    unsafe {
        let raw = value.to_raw();
        if !mlirAttributeIsADenseElements(raw) {
            return None;
        }
        let splat = mlirDenseElementsAttrIsSplat(raw);
        let element = Type::from_raw(mlirShapedTypeGetElementType(mlirAttributeGetType(raw)));
        let n = if splat { 1 } else { mlirElementsAttrGetNumElements(raw) as usize };
        let width = if mlirTypeIsAInteger(element.to_raw()) {
            mlirIntegerTypeGetWidth(element.to_raw())
        } else {
            mlirFloatTypeGetWidth(element.to_raw())
        };
        if width == 1 {
            let bit = |i| {
                if splat {
                    mlirDenseElementsAttrGetBoolSplatValue(raw) != 0
                } else {
                    mlirDenseElementsAttrGetBoolValue(raw, i as isize)
                }
            };
            return Some((0..n).map(|i| u64::from(bit(i))).collect());
        }
        let bytes = width.div_ceil(8) as usize;
        let data = std::slice::from_raw_parts(mlirDenseElementsAttrGetRawData(raw) as *const u8, n * bytes);
        // In memory, tf32 is an f32 with zero low bits.
        let shift = if mlirTypeIsATF32(element.to_raw()) { 32 - width } else { 0 };
        let whole = |c: &[u8]| c.iter().rev().fold(0u64, |v, b| v << 8 | u64::from(*b)) << shift;
        Some(data.chunks(bytes).map(whole).collect())
    }
}

/// Returns the bits of a typed scalar attribute.
pub fn scalar_bits(value: Attribute<'_>) -> Option<u64> {
    let t = attr_type(value);
    element_bits(dense(super::layouts::tensor_type(&[1], t, None), value))?.first().copied()
}

/// Returns the bits of a special value in a format that LLVM does not know. The language does not define padding that
/// a format cannot represent. This function then substitutes: NaN for infinities in a format without infinities; the
/// largest value for infinities and zero for NaN in a format without NaN; zero for negative values in an unsigned
/// format.
pub fn padding_bits(element: Type<'_>, padding: Padding) -> Option<i64> {
    let [zero, negative_zero, nan, infinity, negative_infinity] = match element {
        t if is_e4m3(t) => [0, 0x80, 0x7f, 0x7f, 0xff],
        t if is_e5m2(t) => [0, 0x80, 0x7e, 0x7c, 0xfc],
        t if is_e8m0(t) => [0, 0, 0xff, 0xff, 0],
        t if is_e2m1(t) => [0, 0x8, 0, 0x7, 0xf],
        t if is_tf32(t) => [0, 0x8000_0000, 0x7fc0_0000, 0x7f80_0000, 0xff80_0000],
        // Integers do not have special values.
        _ => return None,
    };
    Some(match padding {
        Padding::Zero => zero,
        Padding::NegZero => negative_zero,
        Padding::Nan => nan,
        Padding::PosInf => infinity,
        Padding::NegInf => negative_infinity,
        Padding::Ones => return None,
    })
}
