//! Splits address computations of copies into an invariant and a varying part.
//!
//! ```text
//! p + (x + y)   becomes   (p + x) + y      if x is invariant in the loop; p + x is then hoisted
//! ```
//!
//! A thread keeps `p + x` in the registers that held `x`, and needs one addition per iteration.

use crate::{
    analysis::{clones::mapped, tile_programs::may_leave_loops},
    dialect::{behaviour, layouts::Tensor, nv_tileaa::AddPtrOp, rt::*, upstream::Arith},
};
use melior::ir::r#type::IntegerType;
use rustc_hash::{FxHashMap, FxHashSet};

/// Writes `op` as two additions if it adds 64-bit offsets to pointers and exactly one part of the offsets is invariant
/// in the loop `around`. Returns whether it did. Narrower offsets are excluded: their sum is extended, not the parts.
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
    let Some((add, invariant, varying)) = found else { return Ok(false) };
    let of = |v: Val<'c>| mapped(map, v);
    let first = AddPtrOp::build(b, ty(add.result()), of(add.ptr()), of(invariant))?.result();
    let both = AddPtrOp::build(b, ty(add.result()), first, of(varying))?.result();
    map.insert(key(add.result()), both);
    Ok(true)
}

/// Whether a value may differ between iterations of a loop.
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
