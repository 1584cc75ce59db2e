//! Dots whose accumulators and left operands are in tensor memory.
//!
//! A loop such as attention's multiplies each row of an accumulator by a factor before its dot adds to it:
//!
//! ```text
//! for i (o) { s = dot q, k[i], 0;  p, shrink = softmax s;  o' = dot p, v[i], o * shrink;  yield o' }
//! ```
//!
//! The accumulator can then stay in tensor memory, where consumers scale its rows ([`ScaledAccumulation`]). The dot
//! that computes `s` runs in each iteration before them, and one thread issues all dots in order. Once `s` is complete,
//! so are the dots of earlier iterations, and no further wait is needed before the accumulator is scaled.
//!
//! Dots of loops that run one after another can share the memory of their accumulators ([`shared_accumulators`]).
//!
//! `p` becomes a left operand in tensor memory. Consumers compute it from `s` in registers, so it may take the columns
//! of `s` ([`replaced_accumulator`]).

use super::producers::{accumulation, carried_number, skip_conversions};
use crate::dialect::{
    behaviour::{LayoutRelation, layout_relation},
    dots::ACC,
    layouts::{Tensor, storage_bits},
    nv_tileaa,
    nv_tileas::{self, ConvertLayoutOp},
    rt::*,
    upstream::{Arith, Scf},
};
use rustc_hash::FxHashSet;

/// An accumulator that a loop carries and whose rows it multiplies by factors before each dot.
#[derive(Clone, Copy)]
pub struct ScaledAccumulation<'c> {
    /// The loop, and the number of the accumulator among its results.
    pub around: OpRef<'c>,
    pub number: usize,
    /// The multiplication, and the op that spreads one factor for each row over the columns.
    pub scale: OpRef<'c>,
    pub spread: OpRef<'c>,
    /// The op after which the factors are known and the dots of earlier iterations are complete.
    pub ready: OpRef<'c>,
}

impl<'c> ScaledAccumulation<'c> {
    /// Returns `None` if a loop does anything else with the accumulator, or if the scores of the iteration are not
    /// complete before: the left operand must be computed from a dot of the same iteration that precedes the
    /// multiplication.
    pub fn of(dot: OpRef<'c>) -> Option<Self> {
        let around = parent_op(dot).filter(|o| Scf::of(*o) == Some(Scf::For))?;
        let body = entry_block(region(around, 0))?;
        let number = carried_number(dot, around)?;
        let scale = defining_op(only_used(operand(dot, ACC))?).filter(|o| Arith::of(*o) == Some(Arith::MulF))?;
        let carried = args(body).nth(number + 1)?;
        let is_carried = |v: Val<'c>| only_used(v) == Some(carried) && uses(carried).len() == 1;
        let at = (0..2).find(|at| is_carried(operand(scale, *at)))?;
        let spread = defining_op(skip_conversions(operand(scale, 1 - at)))?;
        let factor =
            Some(spread).filter(|o| layout_relation(*o) == LayoutRelation::Broadcast).map(|o| operand(o, 0))?;
        let is_column = Tensor::of_value(factor)
            .zip(Tensor::of_value(carried))
            .is_some_and(|(factor, whole)| factor.shape[..] == [whole.shape[0], 1]);
        let first = source_dots(operand(dot, 0)).first().copied()?;
        let follows = |op: OpRef<'c>| ops_of(body).skip_while(|o| *o != first).any(|o| o == op);
        let known = defining_op(factor).filter(|op| follows(*op));
        (is_column && follows(scale)).then_some(Self { around, number, scale, spread, ready: known.unwrap_or(first) })
    }
}

/// Returns the value below layout conversions, if each of them has one use.
fn only_used(mut v: Val<'_>) -> Option<Val<'_>> {
    while uses(v).len() == 1 {
        match defining_op(v).and_then(ConvertLayoutOp::cast) {
            Some(convert) => v = convert.source(),
            None => return Some(v),
        }
    }
    None
}

/// The dots of the block of `v` from whose results `v` is computed, in program order.
fn source_dots<'c>(v: Val<'c>) -> Vec<OpRef<'c>> {
    let (mut work, mut seen) = (vec![v], FxHashSet::default());
    let (home, mut dots) = (home_of(v), vec![]);
    while let Some(v) = work.pop() {
        let Some(op) = defining_op(v).filter(|op| block_of(*op) == home && seen.insert(op_key(*op))) else { continue };
        if nv_tileaa::DotOp::cast(op).is_some() || nv_tileas::DotOp::cast(op).is_some() {
            dots.push(op);
        } else {
            work.extend(operands(op));
        }
    }
    let block = defining_op(v).and_then(block_around);
    block.into_iter().flat_map(ops_of).filter(|o| dots.contains(o)).collect()
}

/// The dot whose accumulator the left operand of `dot` can replace in tensor memory: the operand is computed from it,
/// and consumers have read it to registers. It must have the same rows and enough columns. `is_free` tells whether no
/// other operand replaces it.
pub fn replaced_accumulator<'c>(dot: OpRef<'c>, is_free: impl Fn(OpRef<'c>) -> bool) -> Option<OpRef<'c>> {
    let left = Tensor::of_value(operand(dot, 0))?;
    let fits = |from: &OpRef<'c>| {
        let whole = Tensor::of_value(result(*from, 0));
        let bits = |t: &Tensor<'c>| t.shape[1] * i64::from(storage_bits(t.element));
        whole.is_some_and(|t| t.shape[0] == left.shape[0] && bits(&left) <= bits(&t))
    };
    let is_read = |from: &OpRef<'c>| accumulation(*from).is_none() && ScaledAccumulation::of(*from).is_none();
    source_dots(operand(dot, 0)).into_iter().rev().find(|from| is_read(from) && fits(from) && is_free(*from))
}

/// Groups dots, by index, whose accumulators can take the same memory: accumulators of one shape and type, each of a
/// loop or branch of its own that contains none of the others. What a loop leaves in an accumulator is read at its end,
/// and an operand that replaces an accumulator is multiplied in the same iteration.
pub fn shared_accumulators<'c>(dots: &[OpRef<'c>]) -> Vec<Vec<usize>> {
    let is_carried = |dot: OpRef<'c>| accumulation(dot).is_some() || ScaledAccumulation::of(dot).is_some();
    let kind = |dot: OpRef<'c>| Tensor::of_value(result(dot, 0)).map(|t| (t.shape, t.element, is_carried(dot)));
    let is_around = |a: OpRef<'c>, b: OpRef<'c>| {
        let parent = parent_op(a);
        std::iter::successors(parent_op(b), |o| parent_op(*o)).any(|o| Some(o) == parent)
    };
    let alike = |a: OpRef<'c>, b: OpRef<'c>| kind(a) == kind(b) && !is_around(a, b) && !is_around(b, a);
    let mut groups: Vec<Vec<usize>> = vec![];
    for (i, dot) in dots.iter().enumerate() {
        match groups.iter_mut().find(|group| group.iter().all(|other| alike(dots[*other], *dot))) {
            Some(group) => group.push(i),
            None => groups.push(vec![i]),
        }
    }
    groups
}
