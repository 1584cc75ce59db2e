//! Tensors that do not fit into the registers of a thread.

use crate::dialect::{
    dots::AnyDot,
    layouts::{Tensor, storage_bits},
    nv_tileas::LayoutAttr,
    rt::*,
};
use melior::ir::{Type, TypeLike};

/// log2 of the elements that a thread may hold of one tensor in registers, unless matrix products need more. Elements
/// are counted, not bits, so that a chain of elementwise ops is worked on in passes as a whole or not at all.
pub const MAX_REGISTER_BITS: u32 = 7;
/// log2 of the registers of one chunk of such a tensor, unless it is worked on with others.
pub const PASS_REGISTERS: u32 = 5;

/// log2 of the elements that a thread holds of a tensor; none of anything else.
pub fn register_bits(v: Val<'_>) -> Option<u32> {
    Tensor::of_value(v).as_ref().and_then(bits_of)
}

fn bits_of(t: &Tensor<'_>) -> Option<u32> {
    Some(LayoutAttr::cast(t.encoding?)?.registers().len() as u32)
}

/// Registers of 32 bits that `2^bits` elements take; several narrow ones share one.
pub fn words(element: Type<'_>, bits: u32) -> u64 {
    // SAFETY: the type is alive.
    let predicate = unsafe {
        mlir_sys::mlirTypeIsAInteger(element.to_raw()) && mlir_sys::mlirIntegerTypeGetWidth(element.to_raw()) == 1
    };
    let width = if predicate { 32 } else { u64::from(storage_bits(element)) };
    (width << bits).div_ceil(32)
}

/// The most that a thread's part of one tensor may take in a function. What is more is worked on in passes.
#[derive(Clone, Copy, Debug)]
pub struct Limit(u32);

impl Limit {
    /// Operands and results of matrix products are in registers, however many that takes: layouts give threads copies,
    /// of parts of a tile that is small itself. Then nothing of that size is worked on in passes.
    pub fn of(function: OpRef<'_>) -> Self {
        let mut limit = MAX_REGISTER_BITS;
        walk(function, &mut |op| {
            if AnyDot::cast(op).is_some() {
                limit = operands(op).chain(results(op)).filter_map(register_bits).fold(limit, u32::max);
            }
        });
        Limit(limit)
    }

    /// Whether a thread's part of `v` is worked on in passes.
    pub fn is_exceeded(self, v: Val<'_>) -> bool {
        register_bits(v).is_some_and(|bits| bits > self.0)
    }
}
