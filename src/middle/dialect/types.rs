//! Types of MLIR: predicates, widths and constructors, without raw handles.

use melior::{
    Context,
    ir::{Type, TypeLike},
};
use mlir_sys::*;

/// Whether `t` is a ranked tensor.
pub fn is_tensor(t: Type<'_>) -> bool {
    is(t, mlirTypeIsARankedTensor)
}
/// Whether `t` is an integer of any signedness.
pub fn is_integer(t: Type<'_>) -> bool {
    is(t, mlirTypeIsAInteger)
}
/// Whether `t` is i1.
pub fn is_bool(t: Type<'_>) -> bool {
    is_integer(t) && integer_width(t) == 1
}
/// Whether `t` is the type of indices.
pub fn is_index(t: Type<'_>) -> bool {
    is(t, mlirTypeIsAIndex)
}
/// Whether `t` is a signless integer.
pub fn is_signless(t: Type<'_>) -> bool {
    // SAFETY: `t` is alive, and its kind is checked first.
    is_integer(t) && unsafe { mlirIntegerTypeIsSignless(t.to_raw()) }
}
/// Whether `t` is a floating-point type.
pub fn is_float(t: Type<'_>) -> bool {
    is(t, mlirTypeIsAFloat)
}
pub fn is_f16(t: Type<'_>) -> bool {
    is(t, mlirTypeIsAF16)
}
pub fn is_bf16(t: Type<'_>) -> bool {
    is(t, mlirTypeIsABF16)
}
pub fn is_f32(t: Type<'_>) -> bool {
    is(t, mlirTypeIsAF32)
}
pub fn is_f64(t: Type<'_>) -> bool {
    is(t, mlirTypeIsAF64)
}
pub fn is_tf32(t: Type<'_>) -> bool {
    is(t, mlirTypeIsATF32)
}
pub fn is_e4m3(t: Type<'_>) -> bool {
    is(t, mlirTypeIsAFloat8E4M3FN)
}
pub fn is_e5m2(t: Type<'_>) -> bool {
    is(t, mlirTypeIsAFloat8E5M2)
}
/// Whether `t` is the scale format, which only has powers of two.
pub fn is_e8m0(t: Type<'_>) -> bool {
    is(t, mlirTypeIsAFloat8E8M0FNU)
}
pub fn is_e2m1(t: Type<'_>) -> bool {
    is(t, mlirTypeIsAFloat4E2M1FN)
}
/// Whether `t` is f16, bf16, f32 or f64, the formats that `arith` and the hardware compute in.
pub fn is_base_float(t: Type<'_>) -> bool {
    is_f16(t) || is_bf16(t) || is_f32(t) || is_f64(t)
}
/// Whether `t` is a pointer of the LLVM dialect.
pub fn is_llvm_pointer(t: Type<'_>) -> bool {
    is(t, mlirTypeIsALLVMPointerType)
}
/// Returns the address space of a pointer of the LLVM dialect.
pub fn address_space(t: Type<'_>) -> Option<u32> {
    // SAFETY: `t` is alive, and its kind is checked first.
    is_llvm_pointer(t).then(|| unsafe { mlirLLVMPointerTypeGetAddressSpace(t.to_raw()) })
}

/// Returns the width of an integer in bits.
///
/// # Panics
/// `t` is not an integer.
pub fn integer_width(t: Type<'_>) -> u32 {
    assert!(is_integer(t), "an integer type");
    // SAFETY: `t` is alive and an integer.
    unsafe { mlirIntegerTypeGetWidth(t.to_raw()) }
}
/// Returns the width of an integer or float in bits, or `None` for other types.
pub fn bit_width(t: Type<'_>) -> Option<u32> {
    if is_integer(t) {
        return Some(integer_width(t));
    }
    // SAFETY: `t` is alive, and its kind is checked first.
    is_float(t).then(|| unsafe { mlirFloatTypeGetWidth(t.to_raw()) })
}

/// Returns the element type of a tensor, or a scalar's own type.
pub fn element<'c>(t: Type<'c>) -> Type<'c> {
    // SAFETY: `t` is alive, and its kind is checked first.
    if is_tensor(t) { unsafe { Type::from_raw(mlirShapedTypeGetElementType(t.to_raw())) } } else { t }
}
/// Returns the extents of a tensor; a scalar has none.
pub fn shape(t: Type<'_>) -> Vec<i64> {
    if !is_tensor(t) {
        return vec![];
    }
    // SAFETY: `t` is a ranked tensor.
    unsafe {
        (0..mlirShapedTypeGetRank(t.to_raw())).map(|d| mlirShapedTypeGetDimSize(t.to_raw(), d as isize)).collect()
    }
}
/// Returns the type of a tensor.
pub fn tensor<'c>(shape: &[i64], element: Type<'c>) -> Type<'c> {
    // SAFETY: shape and element are alive; the null attribute means that the tensor has no encoding.
    unsafe {
        let none = mlirAttributeGetNull();
        Type::from_raw(mlirRankedTensorTypeGet(shape.len() as isize, shape.as_ptr(), element.to_raw(), none))
    }
}
/// Returns a type with the shape and encoding of `t` and another element type.
pub fn with_element<'c>(t: Type<'c>, element: Type<'c>) -> Type<'c> {
    if !is_tensor(t) {
        return element;
    }
    let shape = shape(t);
    // SAFETY: shape and element are alive, and `t` is a ranked tensor; its encoding may be null.
    unsafe {
        let encoding = mlirRankedTensorTypeGetEncoding(t.to_raw());
        Type::from_raw(mlirRankedTensorTypeGet(shape.len() as isize, shape.as_ptr(), element.to_raw(), encoding))
    }
}

/// Returns the signless integer type of a width in bits.
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

fn is(t: Type<'_>, kind: unsafe extern "C" fn(MlirType) -> bool) -> bool {
    // SAFETY: `t` is alive.
    unsafe { kind(t.to_raw()) }
}
