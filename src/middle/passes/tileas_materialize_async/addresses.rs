//! Addresses of copies in two steps: `p + (x + y)` is `(p + x) + y`, and where `x` is the same in all iterations the
//! first step is done in front of the loop. A thread then keeps its pointers where it kept their offsets, and adds
//! once.

use crate::{
    analysis::tile_programs::may_leave_loops,
    dialect::{behaviour, layouts::Tensor, nv_tileaa::AddPtrOp, rt::*, upstream::Arith},
};
use melior::ir::r#type::IntegerType;
use rustc_hash::{FxHashMap, FxHashSet};

/// Writes what `op` does in two steps, if it adds offsets of 64 bits to pointers and one part of these does not change
/// in the loop `around`; whether it has. Offsets that are narrower are extended as a sum.
pub(super) fn split<'c>(
    b: &Builder<'c>,
    op: OpRef<'c>,
    around: Option<OpRef<'c>>,
    map: &mut FxHashMap<usize, Val<'c>>,
) -> Result<bool, BuildError> {
    let found = AddPtrOp::cast(op).zip(around).and_then(|(add, around)| {
        let sum = defining_op(operand(op, 1)).filter(|o| Arith::of(*o) == Some(Arith::AddI))?;
        let wide = IntegerType::new(b.context(), 64).into();
        Tensor::of_value(result(sum, 0)).filter(|t| t.element == wide)?;
        let (x, y) = (operand(sum, 0), operand(sum, 1));
        match (changes(x, around), changes(y, around)) {
            (false, true) => Some((add, x, y)),
            (true, false) => Some((add, y, x)),
            _ => None,
        }
    });
    let Some((add, stays, moves)) = found else { return Ok(false) };
    let of = |v: Val<'c>| map.get(&key(v)).copied().unwrap_or(v);
    let first = AddPtrOp::build(b, ty(add.result()), of(add.ptr()), of(stays))?.result();
    let both = AddPtrOp::build(b, ty(add.result()), first, of(moves))?.result();
    map.insert(key(add.result()), both);
    Ok(true)
}

/// Whether a value may differ from iteration to iteration of a loop.
fn changes<'c>(v: Val<'c>, around: OpRef<'c>) -> bool {
    let inside = |op: OpRef<'c>| std::iter::successors(parent_op(op), |o| parent_op(*o)).any(|o| o == around);
    let (mut work, mut seen) = (vec![v], FxHashSet::default());
    while let Some(v) = work.pop() {
        let Some(op) = defining_op(v) else {
            let owner = parent_of_block(owner_of(v));
            if owner.is_some_and(|o| o == around || inside(o)) {
                return true;
            }
            continue;
        };
        if !inside(op) || !seen.insert(op_key(op)) {
            continue;
        }
        if region_count(op) > 0 || !(behaviour::is_pure(op) || may_leave_loops(op)) {
            return true;
        }
        work.extend(operands(op));
    }
    false
}
