//! How many warps a block with matrix products gets.
//!
//! A warp's tile of a matrix product should be large, since it reads `(m + n) k` elements for `m n k` products; so few
//! warps. But accumulators, and what else lives as long as they do, have to stay in registers. The estimate for a loop,
//! a thread:
//!
//! * all accumulators, and left operands that are computed in the loop or come from outside of it;
//! * twice the slice of the operands that one step along K takes: one is multiplied while the next is read; and once
//!   more when the operands are converted on the way;
//! * [`OVERHEAD`] for addresses, predicates and counters, and [`NESTING`] more for each loop around.
//!
//! *Worked example.* 128x128 of f32 by slices of f16, in one loop, by four warps: 128 registers of accumulators, parts
//! of 64x64 with slices of 64x16 and 16x64, hence 2 * 32 registers, and 40: 232 of 255. The same in a persistent kernel
//! is more than the 240 that an estimate may reach (`estimated_registers` of the target) and gets eight warps.

use crate::dialect::{
    behaviour::{self, LayoutRelation},
    dots::{Instruction, element_of},
    layouts::{Tensor, memory_bits, storage_bits},
    nv_tileaa::{BitcastOp, DotScaledOp, FpCastOp},
    rt::*,
    upstream::Arith,
};
use melior::ir::{Type, TypeLike};
use mlir_sys::*;
use tile_layout::{DotShape, Multiplier};
use tile_mma::{Element, Unit};
use tile_targets::Target;

const OVERHEAD: u64 = 40;
const NESTING: u64 = 24;
/// More warps than these leave a thread half of its registers.
const MOST: i64 = 8;

/// Warps of a block on `target` when nothing else says their number: `least`, or more if products need their registers.
pub fn for_products(function: OpRef<'_>, target: Option<&Target>, least: i64) -> i64 {
    let budget = target.unwrap_or(Target::default_target()).limits.estimated_registers.into();
    let mut warps = least;
    while warps < MOST && worst(function, target, 0, warps as u64) > budget {
        warps *= 2;
    }
    warps
}

/// The largest estimate over `op` and the loops in it.
fn worst(op: OpRef<'_>, target: Option<&Target>, depth: u64, warps: u64) -> u64 {
    let mut dots = vec![];
    let mut inner = 0;
    collect(op, &mut |o| {
        if behaviour::is_loop(o) {
            inner = inner.max(worst(o, target, depth + 1, warps));
            return false;
        }
        if behaviour::layout_relation(o) == LayoutRelation::Product {
            dots.push(o);
        }
        true
    });
    let own = estimate(op, &dots, target, warps);
    inner.max(if own == 0 { 0 } else { own + OVERHEAD + NESTING * depth.saturating_sub(1) })
}

/// Visits the ops inside; those for which `f` is false are not entered.
fn collect<'c>(op: OpRef<'c>, f: &mut impl FnMut(OpRef<'c>) -> bool) {
    for i in 0..region_count(op) {
        for o in entry_block(region(op, i)).into_iter().flat_map(ops_of) {
            if f(o) {
                collect(o, f);
            }
        }
    }
}

fn estimate(parent: OpRef<'_>, dots: &[OpRef<'_>], target: Option<&Target>, warps: u64) -> u64 {
    let threads = warps * 32;
    let registers = |bits: u64| bits.div_ceil(32 * threads);
    let (mut bits, mut slices) = (0, 0);
    for &dot in dots {
        let [Some(lhs), Some(rhs), Some(acc)] = [0, 1, 2].map(|i| Tensor::of_value(operand(dot, i))) else { continue };
        let size = |t: &Tensor<'_>| t.elements().unsigned_abs() * u64::from(storage_bits(t.element));
        // A product that adds to another one takes over its registers.
        let continues = defining_op(operand(dot, 2)).is_some_and(|d| dots.contains(&d));
        bits += if continues { 0 } else { size(&acc) };
        if stays(operand(dot, 0), parent) {
            bits += size(&lhs);
        }
        let scaled = DotScaledOp::cast(dot).zip(target).and_then(|(scaled, target)| {
            let scale = Tensor::of_value(scaled.lhs_scale())?;
            Instruction::block_scaled(lhs.element, scale.element, target)
        });
        // Elements of four bits are joined to words.
        let joined = scaled.is_some() && memory_bits(lhs.element) < storage_bits(lhs.element);
        let converted = joined || [0, 1].into_iter().any(|i| is_converted(operand(dot, i)));
        let copies = if converted { 3 } else { 2 };
        slices = slices.max(copies * slice(&lhs, &rhs, &acc, scaled, warps));
    }
    registers(bits) + slices
}

/// Whether an operand lives in registers all through the loop, or is computed there: it is no load of the same loop.
fn stays(v: Val<'_>, parent: OpRef<'_>) -> bool {
    let Some(op) = defining_op(v) else { return true };
    match behaviour::layout_relation(op) {
        LayoutRelation::Access => {
            let mut at = parent_op(op);
            while let Some(p) = at {
                if p == parent {
                    return false;
                }
                at = parent_op(p);
            }
            true
        }
        LayoutRelation::Reshape | LayoutRelation::Permute => stays(operand(op, 0), parent),
        _ if changes_float_format(op) || BitcastOp::cast(op).is_some() => stays(operand(op, 0), parent),
        _ => true,
    }
}

/// Whether an operand is converted in registers, word by word, before it is multiplied.
fn is_converted(v: Val<'_>) -> bool {
    let Some(op) = defining_op(v) else { return false };
    match behaviour::layout_relation(op) {
        LayoutRelation::Reshape | LayoutRelation::Permute => is_converted(operand(op, 0)),
        _ if BitcastOp::cast(op).is_some() => is_converted(operand(op, 0)),
        _ => changes_float_format(op),
    }
}

/// Whether the op converts between float formats.
fn changes_float_format(op: OpRef<'_>) -> bool {
    FpCastOp::cast(op).is_some() || matches!(Arith::of(op), Some(Arith::ExtF | Arith::TruncF))
}

/// Registers of a thread for one step of both operands along K; `scaled` multiplies if the target has an instruction
/// that scales.
fn slice(lhs: &Tensor<'_>, rhs: &Tensor<'_>, acc: &Tensor<'_>, scaled: Option<Instruction>, warps: u64) -> u64 {
    let Ok(product) = DotShape::new(&lhs.tile_shape(), &rhs.tile_shape(), &acc.tile_shape()) else { return 0 };
    let (multiplier, depth) = match scaled {
        Some(instruction) => instruction.multiplier(lhs.element).map(|m| (m, u64::from(instruction.shape[2]))),
        None => Some(step(lhs.element)),
    }
    .unwrap_or((Multiplier::Scalar, 4));
    let grid = product.arrange(multiplier, warps.ilog2(), false);
    let (_, m, n, k) = product.log2();
    let elements = (1u64 << m.saturating_sub(grid.m)) + (1u64 << n.saturating_sub(grid.n));
    // Four bits have a byte in memory, not in the words of an instruction.
    let width = if scaled.is_some() { memory_bits(lhs.element) } else { storage_bits(lhs.element) };
    let bits = elements * depth.min(1 << k) * u64::from(width);
    match multiplier {
        // Narrow elements are widened in registers where the machine does not multiply them itself.
        Multiplier::Matrix(_) if storage_bits(lhs.element) == 8 && is_float(lhs.element) && scaled.is_none() => {
            bits * 2 / (32 * 32)
        }
        Multiplier::Matrix(_) => bits / (32 * 32),
        // Scalars: eight by four lanes share a warp's rows and columns.
        Multiplier::Scalar => bits / (32 * 4),
    }
}

/// What multiplies elements of a type, and the depth of one step, where nothing is known of the target: the deepest of
/// the instructions that are generated. Narrow floats count as f8, which the others are padded to.
fn step(element: Type<'_>) -> (Multiplier, u64) {
    let format = match storage_bits(element) {
        8 if is_float(element) => Some(Element::E4m3),
        _ => element_of(element, false),
    };
    let rows = tile_mma::ROWS.iter().filter(|r| r.unit == Unit::Sync && format.is_some_and(|f| r.is_lowered(f, f)));
    match rows.max_by_key(|r| r.k).and_then(|row| Some((Multiplier::Matrix(row.fragments(8)?), row.k.into()))) {
        Some(step) => step,
        None => (Multiplier::Scalar, 4),
    }
}

fn is_float(element: Type<'_>) -> bool {
    // SAFETY: the type is alive.
    unsafe { mlirTypeIsAFloat(element.to_raw()) }
}
