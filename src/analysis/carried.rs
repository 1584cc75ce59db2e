//! What loops and conditions carry as one: initial values, arguments of regions, what they yield, and results.
//!
//! Each function visits the values that a structured op ties to the one it is asked about, in no order that matters.

use crate::dialect::{rt::*, upstream::Scf};
use melior::ir::ValueLike;

fn last<'c>(op: OpRef<'c>, i: usize) -> Option<OpRef<'c>> {
    ops_of(entry_block(region(op, i))?).last()
}

/// Values that are carried as result `i` of a structured op is, with that result.
pub fn carried_by_result<'c>(op: OpRef<'c>, i: usize, mut visit: impl FnMut(Val<'c>)) {
    match Scf::of(op) {
        Some(Scf::For) => {
            visit(operand(op, 3 + i));
            visit(result(op, i));
            entry_block(region(op, 0)).into_iter().for_each(|b| visit(arg(b, i + 1)));
            last(op, 0).into_iter().for_each(|y| visit(operand(y, i)));
        }
        Some(Scf::If) => {
            visit(result(op, i));
            (0..2).filter_map(|r| last(op, r)).for_each(|y| visit(operand(y, i)));
        }
        Some(Scf::While) => {
            visit(result(op, i));
            last(op, 0).into_iter().for_each(|c| visit(operand(c, i + 1)));
            entry_block(region(op, 1)).into_iter().for_each(|b| visit(arg(b, i)));
        }
        _ => {}
    }
}

/// Values that are carried as the argument `v` of a region of a structured op is.
pub fn carried_by_argument<'c>(v: Val<'c>, mut visit: impl FnMut(Val<'c>)) {
    // SAFETY: `v` is a block argument of live IR.
    let (block, parent) = unsafe {
        let block = mlir_sys::mlirBlockArgumentGetOwner(v.to_raw());
        (Blk::from_raw(block), op_ref(mlir_sys::mlirBlockGetParentOperation(block)))
    };
    let Some(i) = args(block).position(|a| a == v) else { return };
    match Scf::of(parent) {
        Some(Scf::For) if i > 0 => carried_by_result(parent, i - 1, visit),
        Some(Scf::While) if entry_block(region(parent, 0)) == Some(block) => {
            visit(operand(parent, i));
            last(parent, 1).into_iter().for_each(|y| visit(operand(y, i)));
        }
        Some(Scf::While) => carried_by_result(parent, i, visit),
        _ => {}
    }
}

/// Values that are carried as operand `i` of a structured op, or of the end of one of its regions, is.
pub fn carried_by_operand<'c>(op: OpRef<'c>, i: usize, visit: impl FnMut(Val<'c>)) {
    let argument = |parent: OpRef<'c>, r: usize, i: usize| entry_block(region(parent, r)).map(|b| arg(b, i));
    match (Scf::of(op), parent_op(op)) {
        (Some(Scf::For), _) if i >= 3 => carried_by_result(op, i - 3, visit),
        (Some(Scf::While), _) => argument(op, 0, i).into_iter().for_each(visit),
        (Some(Scf::Condition), Some(parent)) if i > 0 => carried_by_result(parent, i - 1, visit),
        (Some(Scf::Yield), Some(parent)) if Scf::of(parent) == Some(Scf::While) => {
            argument(parent, 0, i).into_iter().for_each(visit);
        }
        (Some(Scf::Yield), Some(parent)) => carried_by_result(parent, i, visit),
        _ => {}
    }
}
