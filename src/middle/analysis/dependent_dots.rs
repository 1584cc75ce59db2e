//! Loops of two products, of which the second can be done an iteration later.
//!
//! In a loop such as attention's the *late* product multiplies what is computed from the result of the *early* one. Its
//! sums are not needed before the next iteration has computed with its scores, so it can be done beside the early
//! product of that: `tileas-pipeline-dots` has the picture.
//!
//! That is not so if the loop has other products, if the late product's right operand depends on anything that the loop
//! carries but its counter, or is loaded in order with other accesses, if its result is used in the same iteration, or
//! if the early product depends on it.

use super::producers::{Source, comes_from_product};
use crate::dialect::{
    behaviour::is_pure,
    nv_tileaa,
    nv_tileas::{DotOp, TiledLoadOp},
    rt::*,
};
use rustc_hash::FxHashSet;

/// A loop, and what changes places in it.
pub struct DependentDots<'c> {
    pub around: OpRef<'c>,
    pub body: Blk<'c>,
    pub early: DotOp<'c>,
    pub late: DotOp<'c>,
    /// The number of the value that carries the late product's result.
    pub index: usize,
    /// Ops of the body that the late product's right operand needs, in their order.
    pub needed: Vec<OpRef<'c>>,
    /// Those that nothing else needs.
    pub exclusive: FxHashSet<usize>,
}

impl<'c> DependentDots<'c> {
    /// None where nothing can change places.
    pub fn of(around: OpRef<'c>) -> Option<Self> {
        let body = entry_block(region(around, 0))?;
        let last = ops_of(body).last()?;
        let dots: Vec<DotOp<'c>> = ops_of(body).filter_map(DotOp::cast).collect();
        let [early, late] = dots[..] else { return None };
        // No other products, in inner loops or branches.
        let mut products = 0;
        walk(around, &mut |o| products += usize::from(DotOp::cast(o).is_some()));
        let [(user, index)] = uses(late.result())[..] else { return None };
        let is_late = products == 2
            && user == last
            && matches!(Source::of(late.lhs(), late.op()), Source::Computed)
            && comes_from_product(late.lhs());
        if !is_late {
            return None;
        }
        // What uses the result of the iteration before comes behind the early product.
        let sum = arg(body, index + 1);
        let mut up_to_early = ops_of(body).take_while(|o| *o != early.op()).chain([early.op()]);
        if up_to_early.any(|o| uses_inside(o, sum)) {
            return None;
        }
        let (needed, exclusive) = needed_by(late, body)?;
        Some(Self { around, body, early, late, index, needed, exclusive })
    }

    /// What is computed with the sums that the late product has left, in order. It can come last in an iteration.
    pub fn users_of_sums(&self) -> Vec<OpRef<'c>> {
        let mut dependent: FxHashSet<usize> = [key(arg(self.body, self.index + 1))].into_iter().collect();
        let mut users = vec![];
        for op in ops_of(self.body).filter(|o| *o != self.late.op() && is_pure(*o)) {
            let mut needs = false;
            walk(op, &mut |inner| needs |= operands(inner).any(|v| dependent.contains(&key(v))));
            if needs {
                dependent.extend(results(op).map(key));
                users.push(op);
            }
        }
        users
    }
}

/// The ops of the loop's body that the right operand of a product needs, in their order, and which of them nothing else
/// needs; none if another iteration's cannot be computed in this one.
fn needed_by<'c>(late: DotOp<'c>, body: Blk<'c>) -> Option<(Vec<OpRef<'c>>, FxHashSet<usize>)> {
    let mut needed = FxHashSet::default();
    let mut work: Vec<Val<'c>> = vec![late.rhs()];
    while let Some(v) = work.pop() {
        let Some(op) = defining_op(v) else {
            if block_key(owner_of(v)) == block_key(body) && v != arg(body, 0) {
                return None;
            }
            continue;
        };
        if block_of(op) != block_key(body) {
            continue;
        }
        let loads = TiledLoadOp::cast(op)
            .is_some_and(|l| l.ordering() == nv_tileaa::Ordering::Weak && !has_uses(l.result_token()));
        if region_count(op) > 0 || !(loads || is_pure(op)) {
            return None;
        }
        if needed.insert(op_key(op)) {
            work.extend(operands(op));
        }
    }
    let list: Vec<OpRef<'c>> = ops_of(body).filter(|o| needed.contains(&op_key(*o))).collect();
    let mut exclusive = FxHashSet::default();
    for o in list.iter().rev() {
        let mut users = results(*o).flat_map(uses).map(|(user, _)| user);
        if users.all(|user| user == late.op() || exclusive.contains(&op_key(user))) {
            exclusive.insert(op_key(*o));
        }
    }
    Some((list, exclusive))
}

/// Whether an op, or one in it, uses a value.
fn uses_inside<'c>(op: OpRef<'c>, v: Val<'c>) -> bool {
    let mut found = false;
    walk(op, &mut |inner| found |= operands(inner).any(|o| o == v));
    found
}
