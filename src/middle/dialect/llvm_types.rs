//! The LLVM dialect types of tile elements.

use super::{nv_tileaa::PtrType, nv_tileas::PipelineIteratorType};
use melior::{
    Context,
    dialect::llvm,
    ir::{Type, TypeLike, r#type::IntegerType},
};
use mlir_sys::*;

/// NVPTX address spaces.
pub const GLOBAL: u32 = 1;
pub const SHARED: u32 = 3;

/// Returns the type of a scalar in registers. Formats narrower than 16 bits are bytes; `tf32` is an `f32` whose low
/// bits are zero.
pub fn element_type<'c>(context: &'c Context, t: Type<'c>) -> Option<Type<'c>> {
    // SAFETY: the type is alive.
    unsafe {
        let raw = t.to_raw();
        if PtrType::cast(t).is_some() {
            return Some(llvm::r#type::pointer(context, GLOBAL));
        }
        if PipelineIteratorType::cast(t).is_some() {
            return Some(IntegerType::new(context, 32).into());
        }
        if mlirTypeIsAInteger(raw)
            || mlirTypeIsAF16(raw)
            || mlirTypeIsABF16(raw)
            || mlirTypeIsAF32(raw)
            || mlirTypeIsAF64(raw)
        {
            return Some(t);
        }
        if mlirTypeIsATF32(raw) {
            return Some(Type::float32(context));
        }
        if mlirTypeIsAFloat(raw) && mlirFloatTypeGetWidth(raw) <= 8 {
            return Some(IntegerType::new(context, 8).into());
        }
        None
    }
}
