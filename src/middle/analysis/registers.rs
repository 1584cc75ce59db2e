//! Tensors that do not fit in the registers of a thread.

use super::carried::{carried_by_argument, carried_by_operand, carried_by_result};
use crate::dialect::{
    dots::AnyDot,
    layouts::{Tensor, storage_bits},
    nv_tileas::{InsertSliceOp, LayoutAttr, MemDescType},
    rt::*,
    types::is_bool,
    upstream::Scf,
};
use melior::ir::Type;
use rustc_hash::FxHashSet;

/// log2 of the number of elements of a tensor that a thread may hold in registers, unless dots require more. The
/// limit counts elements, not bits, so that a chain of elementwise ops is processed in passes either entirely or not
/// at all.
pub const MAX_REGISTER_BITS: u32 = 7;
/// log2 of the registers per chunk of a larger tensor, unless it is processed together with others.
pub const PASS_REGISTERS: u32 = 5;

/// Returns log2 of the number of elements that a thread holds of a tensor, or `None` for other values.
pub fn register_bits(v: Val<'_>) -> Option<u32> {
    Tensor::of_value(v).as_ref().and_then(bits_of)
}

fn bits_of(t: &Tensor<'_>) -> Option<u32> {
    Some(LayoutAttr::cast(t.encoding?)?.registers().len() as u32)
}

/// Returns the number of 32-bit registers for `2^bits` elements; several narrow elements share one.
pub fn words(element: Type<'_>, bits: u32) -> u64 {
    let width = if is_bool(element) { 32 } else { u64::from(storage_bits(element)) };
    (width << bits).div_ceil(32)
}

/// The limit on a thread's part of a tensor. Larger tensors are processed in passes.
///
/// Dots need their operands and results in registers, however many that takes: their layouts replicate parts of a
/// tile, even of a small one. A tensor may therefore be as large as the operands and results of the dots that it is
/// *connected* to, through tensors above the usual limit and through shared memory. An epilogue on the result of a
/// dot and a conversion of its operand are thus processed as a whole. A large tensor without a connection to dots is
/// processed in passes, even in the same function and the same loop.
///
/// A tensor that is assembled slice by slice is an array that loops fill, whatever its uses.
///
/// The limit is recomputed from the current program and not cached: passes change layouts, and with them the size of
/// a thread's part.
#[derive(Clone, Copy, Debug)]
pub struct Limit {
    /// log2 of the largest part of a dot's operand or result in the function.
    products: u32,
}

impl Limit {
    /// The limit without dots. It applies before dots have instructions, when their layouts say nothing about
    /// register needs.
    pub const USUAL: Self = Self { products: MAX_REGISTER_BITS };

    /// Returns the limit for the tensors of a function.
    pub fn of(function: OpRef<'_>) -> Self {
        let mut products = MAX_REGISTER_BITS;
        walk(function, &mut |op| products = products.max(AnyDot::cast(op).map_or(0, most_bits)));
        Self { products }
    }

    /// Whether `v` is processed in passes.
    pub fn is_exceeded(self, v: Val<'_>) -> bool {
        register_bits(v).is_some_and(|bits| bits > MAX_REGISTER_BITS && (bits > self.products || !is_held(v, bits)))
    }
}

/// Returns log2 of the largest part of an operand or result of a dot.
fn most_bits(dot: AnyDot<'_>) -> u32 {
    operands(dot.op()).chain(results(dot.op())).filter_map(register_bits).max().unwrap_or(0)
}

/// Whether `v`, with `2^bits` elements per thread, is connected to a dot with at least as large a part of a tensor in
/// registers.
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

/// Whether the op passes values on by position.
fn is_structured(op: OpRef<'_>) -> bool {
    Scf::of(op).is_some()
}

/// Visits the values that a loop or a conditional ties to `v`.
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
