//! Chooses the number of warps of a CTA with dots.
//!
//! The tile of a warp should be large, because a warp reads `(m + n) k` elements for `m n k` multiplications. This
//! favors few warps. But accumulators, and all values that are live as long, must stay in registers. The estimate per
//! thread for a loop is the sum of
//!
//! * all accumulators, and left operands that are computed in the loop or defined outside it;
//! * twice the operand slices of one step along K, because one step is multiplied while the next is read, and once
//!   more if the operands are converted on the way;
//! * [`OVERHEAD`] for addresses, predicates and counters, and [`NESTING`] for each enclosing loop.
//!
//! *Worked example.* A 128x128 f32 accumulator, f16 operands, one loop, four warps: the accumulator takes 128
//! registers. Each warp has a 64x64 part with slices of 64x16 and 16x64, which take 2 * 32 registers. With 40 for the
//! overhead, the total is 232 of 255. In a persistent kernel, the same dot exceeds the limit of 240
//! (`estimated_registers` of the target) and gets eight warps.

use crate::dialect::{
    behaviour::{self, LayoutRelation},
    dots::{Instruction, element_of},
    layouts::{Tensor, memory_bits, storage_bits},
    nv_tileaa::{BitcastOp, DotScaledOp, FpCastOp},
    rt::*,
    types::is_float,
    upstream::Arith,
};
use melior::ir::Type;
use tile_layout::{DotShape, Multiplier};
use tile_mma::{Element, Unit};
use tile_targets::Target;

const OVERHEAD: u64 = 40;
const NESTING: u64 = 24;
/// With more warps than this, a thread has only half of the registers.
const MOST: i64 = 8;

/// Returns the number of warps per CTA on `target` if nothing else determines it: `least`, or more if dots need the
/// registers.
pub fn for_products(function: OpRef<'_>, target: Option<&Target>, least: i64) -> i64 {
    let budget = target.unwrap_or(Target::default_target()).limits.estimated_registers.into();
    let mut warps = least;
    while warps < MOST && worst(function, target, 0, warps as u64) > budget {
        warps *= 2;
    }
    warps
}

/// Returns the largest estimate over `op` and the loops in it.
fn worst(op: OpRef<'_>, target: Option<&Target>, depth: u64, warps: u64) -> u64 {
    let mut dots = vec![];
    let mut inner = 0;
    collect(op, &mut |o| {
        if behaviour::is_loop(o) {
            inner = inner.max(worst(o, target, depth + 1, warps));
            return false;
        }
        if behaviour::layout_relation(o) == LayoutRelation::Dot {
            dots.push(o);
        }
        true
    });
    let own = estimate(op, &dots, target, warps);
    inner.max(if own == 0 { 0 } else { own + OVERHEAD + NESTING * depth.saturating_sub(1) })
}

/// Visits the ops in `op`, without entering those for which `f` returns false.
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
        // A dot that accumulates onto another dot reuses its registers.
        let continues = defining_op(operand(dot, 2)).is_some_and(|d| dots.contains(&d));
        bits += if continues { 0 } else { size(&acc) };
        if stays(operand(dot, 0), parent) {
            bits += size(&lhs);
        }
        let scaled = DotScaledOp::cast(dot).zip(target).and_then(|(scaled, target)| {
            let scale = Tensor::of_value(scaled.lhs_scale())?;
            Instruction::block_scaled(lhs.element, scale.element, target)
        });
        // 4-bit elements are packed into words.
        let joined = scaled.is_some() && memory_bits(lhs.element) < storage_bits(lhs.element);
        let converted = joined || [0, 1].into_iter().any(|i| is_converted(operand(dot, i)));
        let copies = if converted { 3 } else { 2 };
        slices = slices.max(copies * slice(&lhs, &rhs, &acc, scaled, warps));
    }
    registers(bits) + slices
}

/// Whether an operand is resident in registers throughout the loop or computed in it, rather than loaded in it.
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

/// Whether an operand is converted in registers, word by word, before the dot.
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

/// Returns the registers per thread for one step of both operands along K; `scaled` is the block-scaled instruction,
/// if the target has one.
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
    // A 4-bit element takes a byte in memory, but not in the registers of an instruction.
    let width = if scaled.is_some() { memory_bits(lhs.element) } else { storage_bits(lhs.element) };
    let bits = elements * depth.min(1 << k) * u64::from(width);
    match multiplier {
        // Narrow elements are widened in registers if the hardware does not multiply them.
        Multiplier::Matrix(_) if storage_bits(lhs.element) == 8 && is_float(lhs.element) && scaled.is_none() => {
            bits * 2 / (32 * 32)
        }
        Multiplier::Matrix(_) => bits / (32 * 32),
        // Scalars: the rows and columns of a warp are split over eight by four lanes.
        Multiplier::Scalar => bits / (32 * 4),
    }
}

/// Returns the multiplier for elements of a type and the depth of one step if the target is unknown: the deepest
/// instruction that the compiler emits. Narrow floats count as f8, because they are padded to it.
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
