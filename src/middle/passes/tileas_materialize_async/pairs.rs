//! Right operands of dots that two CTAs run together.
//!
//! Each CTA of the pair loads half of the columns, those with the number of its rank:
//!
//! ```text
//! b = tiled_load B[k, j] : 64x256            b = tiled_load B'[k, 2 * j + rank] : 64x128
//! dot a, b, c : 128x256                  =>  dot a, b, c : 128x256
//! ```
//!
//! `B'` is the same view in tiles of 128 columns. The dot then has an operand of half of its columns, which is valid
//! only for the asynchronous dots that replace it.

use super::stream::erase_users;
use crate::{
    analysis::{
        access::View,
        clones::clone_op,
        facts::Facts,
        producers::LoadedOperand,
        tile_parts::{index_of_part, view_of_parts},
        tokens,
    },
    dialect::{
        dots::{AnyDot, RHS},
        layouts::Tensor,
        nv_tileaa::{GetCtaRankOp, MakeTiledViewOp},
        nv_tileas::TiledLoadOp,
        pass::{Failed, fail},
        rt::*,
    },
};
use melior::{Context, ir::r#type::IntegerType};
use rustc_hash::FxHashMap;

/// The number of CTAs of a pair.
pub(super) const CTAS: i64 = 2;
/// The dimension of the right operand that the CTAs divide.
const COLUMNS: usize = 1;

/// Replaces the right operands of the dots of a function by the halves that each CTA loads.
pub(super) fn halve<'c>(dots: &[AnyDot<'c>], facts: &Facts, context: &'c Context) -> Result<(), Failed> {
    let mut loads: FxHashMap<usize, (OpRef<'c>, Val<'c>)> = FxHashMap::default();
    for dot in dots {
        let op = dot.op();
        let operand = LoadedOperand::of(dot.rhs()).ok_or_else(|| fail(op, "a pair must load the right operand"))?;
        let load = TiledLoadOp::cast(operand.load).ok_or_else(|| fail(op, "operand is not loaded from a view"))?;
        let view = View::of(load.view()).ok_or_else(|| fail(load.op(), "its view is not created in this function"))?;
        let d = operand.dimension(&view, COLUMNS);
        let d = d.ok_or_else(|| fail(load.op(), "its columns are not a dimension of the view"))?;
        let half = match loads.get(&op_key(load.op())) {
            Some((_, half)) => *half,
            None => {
                let half = load_half(load, &view, d, facts, context)?;
                loads.insert(op_key(load.op()), (load.op(), half));
                half
            }
        };
        // The ops on the way to the dot.
        let mut map = FxHashMap::from_iter([(key(load.result()), half)]);
        let mut last = half;
        let b = Builder::before(context, op);
        for step in operand.rounded.iter().chain(&operand.moved) {
            map.insert(key(self::operand(*step, 0)), last);
            b.set_location(step.location());
            let copy = clone_op(&b, *step, &mut map);
            let of = Tensor::of_value(result(copy, 0)).ok_or_else(|| fail(*step, "result is not a tensor"))?;
            let through = operand.moved.iter().position(|o| o == step).map_or(0, |i| i + 1);
            let at = operand.dimension_after(&view, d, through).filter(|at| of.shape[*at] % CTAS == 0);
            let at = at.ok_or_else(|| fail(*step, "the columns of the operand are not a dimension here"))?;
            last = result(copy, 0);
            set_ty(last, halved(of, at).ty());
        }
        set_operand(op, RHS, last);
    }
    for (load, _) in loads.into_values() {
        erase_users(result(load, 0));
        tokens::pass_over(context, load).map_err(|e| fail(load, e.to_string()))?;
        erase(load);
    }
    Ok(())
}

/// Builds the load of this CTA's half of a tile along dimension `d`.
fn load_half<'c>(
    load: TiledLoadOp<'c>,
    view: &View<'c>,
    d: usize,
    facts: &Facts,
    context: &'c Context,
) -> Result<Val<'c>, Failed> {
    let op = load.op();
    let error = |e: BuildError| fail(op, e.to_string());
    let whole = defining_op(load.view()).and_then(MakeTiledViewOp::cast);
    let whole = whole.ok_or_else(|| fail(op, "its view is not created in this function"))?;
    let b = Builder::before(context, whole.op());
    b.set_location(whole.op().location());
    let half = view_of_parts(&b, view.ty, whole.memref(), (d, CTAS));
    let half = half.ok_or_else(|| fail(op, "cannot build a view of half tiles"))?.map_err(error)?;
    let rank = GetCtaRankOp::build(&b, IntegerType::new(context, 32).into()).map_err(error)?.result();
    b.set_before(op);
    b.set_location(op.location());
    let index = load.indices().nth(d).ok_or_else(|| fail(op, "it has too few indices"))?;
    let index = index_of_part(&b, (index, index), (rank, CTAS), facts);
    let copy = clone_op(&b, op, &mut FxHashMap::default());
    set_operand(copy, VIEW, half);
    set_operand(copy, VIEW + 1 + d, index);
    let of = Tensor::of_value(load.result()).ok_or_else(|| fail(op, "result is not a tensor"))?;
    set_ty(result(copy, 0), halved(of, d).ty());
    Ok(result(copy, 0))
}

/// The operand number of a load's view, which its indices follow.
const VIEW: usize = 0;

/// The type of half of a tensor. It has no layout, since the tensor is never in registers.
fn halved(mut of: Tensor<'_>, d: usize) -> Tensor<'_> {
    of.shape[d] /= CTAS;
    Tensor { encoding: None, ..of }
}
