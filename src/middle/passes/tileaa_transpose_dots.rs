//! `tileaa-transpose-dots` transposes dots whose right operand warps must compute, on targets with `tcgen05.mma` or
//! `wgmma`.
//!
//! These read the right operand from shared memory only, and the left one from tensor memory or registers too. Warps
//! that compute an operand, such as dequantized weights, would store it to shared memory and compete with the loads
//! there. As the left operand it goes to tensor memory, or stays in registers:
//!
//! ```text
//! %r = for .. iter_args(%c = 0 : 32x128) { %w = convert load W;  dot load X, transpose %w, %c }
//! ```
//!
//! becomes
//!
//! ```text
//! %t = for .. iter_args(%c = 0 : 128x32) { %w = convert load W;  dot %w, transpose load X, %c };  %r = transpose %t
//! ```
//!
//! Each element of the result is the sum of the same products in the same order. A tile with too few rows for the
//! instruction, as in decoding, often has enough columns.
//!
//! # Conditions
//!
//! * All dots of the function qualify: a loop only adds to their accumulators, which start at zero; the left operand is
//!   a tile that TMA may load; and the columns become the rows of one instruction.
//! * The right operand is computed from a tile that is contiguous along K, as threads that hold whole rows of the new
//!   left operand read it.

use crate::{
    analysis::{
        facts::Facts,
        producers::{LoadedOperand, accumulation, accumulation_chain},
        tile_programs::TileProgram,
    },
    dialect::{
        dots::is_zero,
        fallback::Fallback,
        layouts::{Tensor, tensor_type},
        loops::FIRST_INIT,
        nv_tileaa::{self, DotOp, DotScaledOp, PermuteOp},
        pass::{Failed, PassContext, RustPass, descriptors, fail},
        rt::*,
        target::target,
        types::{element, is_float},
    },
    pass_descriptor,
};
use melior::{
    Context,
    ir::{Attribute, attribute::DenseI32ArrayAttribute},
};
use rustc_hash::FxHashSet;
use std::ops::RangeInclusive;
use tile_mma::{Unit, agent_unit};

/// The rows of an instruction, which the columns of the program's tile become.
const ROWS: i64 = 128;
/// The rows of the program's tile, which become columns.
const COLUMNS: RangeInclusive<i64> = 8..=256;

#[derive(Clone, Default)]
pub struct TransposeDots;

impl RustPass for TransposeDots {
    pass_descriptor!(tileaa_transpose_dots);
    fn run<'c>(&mut self, op: OpRef<'c>, context: &'c Context, cx: &PassContext) -> Result<(), Failed> {
        use descriptors::tileaa_transpose_dots::{Options, stat};
        if agent_unit(target(op, Options(cx).compute_capability())?).is_none_or(|unit| unit == Unit::Sync) {
            return Ok(());
        }
        for function in collect_ops(op, nv_tileaa::FuncOp::cast) {
            let dots = collect_ops(function.op(), DotOp::cast);
            let is_scaled = !collect_ops(function.op(), DotScaledOp::cast).is_empty();
            if is_scaled || Fallback::within(function.op()) != Fallback::None {
                continue;
            }
            let facts = Facts::of(function.op());
            if !dots.iter().all(|dot| is_wanted(*dot, function.op(), &facts)) {
                continue;
            }
            let mut done = FxHashSet::default();
            for dot in dots {
                if !done.contains(&op_key(dot.op())) {
                    let chain = accumulation_chain(dot.op());
                    done.extend(chain.iter().map(|dot| op_key(*dot)));
                    cx.stat_add(stat::NUM_TRANSPOSED, chain.len() as i64);
                    transpose(&chain, context)?;
                }
            }
        }
        Ok(())
    }
}

/// Whether a dot is better transposed.
fn is_wanted<'c>(dot: DotOp<'c>, function: OpRef<'c>, facts: &Facts) -> bool {
    let shape = |v| Tensor::of_value(v).map(|t| t.shape);
    let Some(([m, _], [_, n])) = shape(dot.lhs()).zip(shape(dot.rhs())).and_then(|(lhs, rhs)| {
        let (lhs, rhs): ([i64; 2], [i64; 2]) = (lhs.try_into().ok()?, rhs.try_into().ok()?);
        Some((lhs, rhs))
    }) else {
        return false;
    };
    let starts_at_zero =
        || accumulation(dot.op()).is_some_and(|(around, number)| is_zero(operand(around, FIRST_INIT + number)));
    let fits = n == ROWS && COLUMNS.contains(&m) && m.count_ones() == 1;
    let is_loaded = |v| LoadedOperand::of(v).filter(|loaded| loaded.computed.is_empty());
    fits && starts_at_zero()
        && is_loaded(dot.lhs()).is_some_and(|loaded| !loaded.shared)
        && is_loaded(dot.rhs()).is_none()
        && is_computed_along_depth(dot, function, facts)
}

/// Whether the right operand is computed from a tile that is contiguous along K.
fn is_computed_along_depth<'c>(dot: DotOp<'c>, function: OpRef<'c>, facts: &Facts) -> bool {
    let Ok(program) = TileProgram::of(dot.rhs(), dot.op(), function) else { return false };
    program.large_tiles().next().is_some() && program.contiguous_dimension(facts) == Some(0)
}

/// Transposes dots that add to one accumulator one after another.
fn transpose<'c>(chain: &[OpRef<'c>], context: &'c Context) -> Result<(), Failed> {
    let first = chain[0];
    let not_carried = || fail(first, "a dot does not add to an accumulator that a loop carries");
    let (around, number) = accumulation(first).ok_or_else(not_carried)?;
    let body = entry_block(region(around, 0)).ok_or_else(|| fail(around, "loop has no body"))?;
    let sum = result(around, number);
    let old = Tensor::of_value(sum).ok_or_else(|| fail(around, "an accumulator is not a tensor"))?;
    let t = tensor_type(&[old.shape[1], old.shape[0]], old.element, None);
    let b = Builder::before(context, around);
    b.set_location(around.location());
    let start = if is_float(element(t)) { b.float_constant(t, 0.0) } else { b.int_constant(t, 0) };
    set_operand(around, FIRST_INIT + number, start);
    set_ty(arg(body, number + 1), t);
    for op in chain {
        let dot = DotOp::cast(*op).ok_or_else(|| fail(*op, "not a dot without scales"))?;
        let b = Builder::before(context, *op);
        b.set_location(op.location());
        let [lhs, rhs] = [dot.rhs(), dot.lhs()].map(|v| transposed(&b, v));
        let (lhs, rhs) = (lhs.map_err(|e| fail(*op, e))?, rhs.map_err(|e| fail(*op, e))?);
        let unsigned = (dot.rhs_unsigned(), dot.lhs_unsigned());
        let new = DotOp::build(&b, t, lhs, rhs, dot.acc(), unsigned.0, unsigned.1, dot.fast_acc());
        replace_all_uses(dot.result(), new.map_err(|e| fail(*op, e.to_string()))?.result());
        let unused = [dot.lhs(), dot.rhs()];
        erase(*op);
        let permutes = unused.into_iter().filter_map(defining_op).filter(|o| PermuteOp::cast(*o).is_some());
        permutes.filter(|o| !has_uses(result(*o, 0))).for_each(erase);
    }
    set_ty(sum, t);
    let users = uses(sum);
    b.set_after(around);
    let back = PermuteOp::build(&b, old.ty(), sum, order(context)).map_err(|e| fail(around, e.to_string()))?.result();
    users.into_iter().for_each(|(user, at)| set_operand(user, at, back));
    Ok(())
}

/// The transpose of a matrix: the source if it is a transpose itself.
fn transposed<'c>(b: &Builder<'c>, v: Val<'c>) -> Result<Val<'c>, String> {
    if let Some(permute) = defining_op(v).and_then(PermuteOp::cast) {
        return Ok(permute.source());
    }
    let tensor = Tensor::of_value(v).ok_or("an operand is not a tensor")?;
    let t = tensor_type(&[tensor.shape[1], tensor.shape[0]], tensor.element, None);
    PermuteOp::build(b, t, v, order(b.context())).map(|p| p.result()).map_err(|e| e.to_string())
}

fn order(context: &Context) -> Attribute<'_> {
    DenseI32ArrayAttribute::new(context, &[1, 0]).into()
}
