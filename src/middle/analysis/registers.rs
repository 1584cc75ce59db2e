//! Tensors that do not fit into the registers of a thread.

use super::carried::{carried_by_argument, carried_by_operand, carried_by_result};
use crate::dialect::{
    dots::AnyDot,
    layouts::{Tensor, storage_bits},
    nv_tileas::{InsertSliceOp, LayoutAttr, MemDescType},
    rt::*,
    upstream::Scf,
};
use melior::ir::{Type, TypeLike};
use rustc_hash::FxHashSet;

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

/// The most that a thread's part of a tensor may take. What is more is worked on in passes.
///
/// Products need their operands and results in registers, however many that takes: layouts give threads copies, of
/// parts of a tile that is small itself. So a tensor may take as much as the products do that it is *connected* to, by
/// way of tensors above the usual limit and of storage in shared memory; an epilogue on the result of a product and a
/// conversion of its operand are worked on as a whole. A large tensor that products have nothing to do with is worked
/// on in passes, in the same function and the same loop.
///
/// What is put together slice by slice is an array that loops fill, whatever becomes of it.
///
/// The answer follows from the program as it stands and is not kept: passes change layouts, and with them how much of a
/// tensor a thread has.
#[derive(Clone, Copy, Debug)]
pub struct Limit {
    /// The largest part of an operand or a result of a product in the function.
    products: u32,
}

impl Limit {
    /// Products set no limit: before they have their instructions, what their layouts ask for says nothing.
    pub const USUAL: Self = Self { products: MAX_REGISTER_BITS };

    /// The limits of the tensors of a function.
    pub fn of(function: OpRef<'_>) -> Self {
        let mut products = MAX_REGISTER_BITS;
        walk(function, &mut |op| products = products.max(AnyDot::cast(op).map_or(0, most_bits)));
        Self { products }
    }

    /// Whether a thread's part of `v` is worked on in passes.
    pub fn is_exceeded(self, v: Val<'_>) -> bool {
        register_bits(v).is_some_and(|bits| bits > MAX_REGISTER_BITS && (bits > self.products || !is_held(v, bits)))
    }
}

/// The largest part of an operand or the result of a product.
fn most_bits(dot: AnyDot<'_>) -> u32 {
    operands(dot.op()).chain(results(dot.op())).filter_map(register_bits).max().unwrap_or(0)
}

/// Whether `v`, of `bits`, is connected to a product that has as much of a tensor in registers.
fn is_held(v: Val<'_>, bits: u32) -> bool {
    let connects = |v: Val<'_>| register_bits(v).map_or_else(|| is_storage(v), |b| b > MAX_REGISTER_BITS);
    let (mut seen, mut work) = (FxHashSet::default(), vec![v]);
    while let Some(v) = work.pop() {
        if !connects(v) || !seen.insert(key(v)) || is_put_together(v) {
            continue;
        }
        let around = defining_op(v).into_iter().chain(uses(v).into_iter().map(|(user, _)| user));
        for op in around.filter(|op| !is_structured(*op)) {
            if AnyDot::cast(op).is_some_and(|dot| most_bits(dot) >= bits) {
                return true;
            }
            work.extend(operands(op).chain(results(op)));
        }
        carried_with(v, |other| work.push(other));
    }
    false
}

fn is_storage(v: Val<'_>) -> bool {
    MemDescType::cast(ty(v)).is_some()
}

/// Whether the op hands values on to others by their position.
fn is_structured(op: OpRef<'_>) -> bool {
    Scf::of(op).is_some()
}

/// Visits what a loop or a condition ties to `v`.
fn carried_with<'c>(v: Val<'c>, mut visit: impl FnMut(Val<'c>)) {
    match defining_op(v) {
        Some(op) if is_structured(op) => {
            let i = results(op).position(|r| r == v).expect("a result of its op");
            carried_by_result(op, i, &mut visit);
        }
        Some(_) => {}
        None => carried_by_argument(v, &mut visit),
    }
    for (user, i) in uses(v) {
        carried_by_operand(user, i, &mut visit);
    }
}

/// Whether a loop inserts slices into the tensor.
fn is_put_together(v: Val<'_>) -> bool {
    let (mut seen, mut work) = (FxHashSet::default(), vec![v]);
    while let Some(v) = work.pop() {
        if defining_op(v).is_some_and(|op| InsertSliceOp::cast(op).is_some()) {
            return true;
        }
        if seen.insert(key(v)) {
            carried_with(v, |other| work.push(other));
        }
    }
    false
}
