//! What loops and conditions carry in one layout: initial values, arguments of regions, what they yield, and results.

use crate::dialect::{rt::*, upstream::Scf};
use melior::ir::ValueLike;
use tile_layout::Layout;

fn last<'c>(op: OpRef<'c>, i: usize) -> Option<OpRef<'c>> {
    ops_of(entry_block(region(op, i))?).last()
}

/// Values that lie as result `i` of a structured op does.
pub(super) fn carried_by_result<'c>(op: OpRef<'c>, i: usize, layout: &Layout, work: &mut Vec<(Val<'c>, Layout)>) {
    let mut push = |v: Val<'c>| work.push((v, layout.clone()));
    match Scf::of(op) {
        Some(Scf::For) => {
            push(operand(op, 3 + i));
            push(result(op, i));
            entry_block(region(op, 0)).into_iter().for_each(|b| push(arg(b, i + 1)));
            last(op, 0).into_iter().for_each(|y| push(operand(y, i)));
        }
        Some(Scf::If) => {
            push(result(op, i));
            (0..2).filter_map(|r| last(op, r)).for_each(|y| push(operand(y, i)));
        }
        Some(Scf::While) => {
            push(result(op, i));
            last(op, 0).into_iter().for_each(|c| push(operand(c, i + 1)));
            entry_block(region(op, 1)).into_iter().for_each(|b| push(arg(b, i)));
        }
        _ => {}
    }
}

/// Values that lie as the argument `v` of a region of a structured op does.
pub(super) fn carried_by_argument<'c>(v: Val<'c>, layout: &Layout, work: &mut Vec<(Val<'c>, Layout)>) {
    // SAFETY: `v` is a block argument of live IR.
    let (block, parent) = unsafe {
        let block = mlir_sys::mlirBlockArgumentGetOwner(v.to_raw());
        (Blk::from_raw(block), op_ref(mlir_sys::mlirBlockGetParentOperation(block)))
    };
    let Some(i) = args(block).position(|a| a == v) else { return };
    match Scf::of(parent) {
        Some(Scf::For) if i > 0 => carried_by_result(parent, i - 1, layout, work),
        Some(Scf::While) if entry_block(region(parent, 0)) == Some(block) => {
            work.push((operand(parent, i), layout.clone()));
            work.extend(last(parent, 1).map(|y| (operand(y, i), layout.clone())));
        }
        Some(Scf::While) => carried_by_result(parent, i, layout, work),
        _ => {}
    }
}

/// Values that lie as operand `i` of a structured op, or of the end of one of its regions, does.
pub(super) fn carried_by_operand<'c>(op: OpRef<'c>, i: usize, layout: &Layout, work: &mut Vec<(Val<'c>, Layout)>) {
    let argument =
        |parent: OpRef<'c>, r: usize, i: usize| entry_block(region(parent, r)).map(|b| (arg(b, i), layout.clone()));
    match (Scf::of(op), parent_op(op)) {
        (Some(Scf::For), _) if i >= 3 => carried_by_result(op, i - 3, layout, work),
        (Some(Scf::While), _) => work.extend(argument(op, 0, i)),
        (Some(Scf::Condition), Some(parent)) if i > 0 => carried_by_result(parent, i - 1, layout, work),
        (Some(Scf::Yield), Some(parent)) if Scf::of(parent) == Some(Scf::While) => work.extend(argument(parent, 0, i)),
        (Some(Scf::Yield), Some(parent)) => carried_by_result(parent, i, layout, work),
        _ => {}
    }
}
