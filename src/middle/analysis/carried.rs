//! Values that loops and conditionals carry together: initial values, region arguments, yielded values, and results.
//!
//! Each function visits the values that a structured op ties to a given one, in no particular order.

use crate::dialect::{rt::*, upstream::Scf};

fn last<'c>(op: OpRef<'c>, i: usize) -> Option<OpRef<'c>> {
    ops_of(entry_block(region(op, i))?).last()
}

/// Visits the values that are carried together with result `i` of a structured op, including the result.
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

/// Visits the values that are carried together with the argument `v` of a region of a structured op.
pub fn carried_by_argument<'c>(v: Val<'c>, mut visit: impl FnMut(Val<'c>)) {
    let block = owner_of(v);
    let Some(parent) = parent_of_block(block) else { return };
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

/// Visits the values that are carried together with operand `i` of a structured op or of a terminator of its regions.
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

/// Returns the loop argument that must have the type of the result `v`, or the result that must have the type of the
/// argument `v`. The other values carried with them may be converted to that type.
pub fn of_one_type<'c>(v: Val<'c>) -> Option<Val<'c>> {
    if let Some(op) = defining_op(v) {
        let i = results(op).position(|r| r == v)?;
        return match Scf::of(op)? {
            Scf::For => Some(arg(entry_block(region(op, 0))?, i + 1)),
            Scf::While => Some(arg(entry_block(region(op, 1))?, i)),
            _ => None,
        };
    }
    let block = owner_of(v);
    let parent = parent_of_block(block)?;
    let i = args(block).position(|a| a == v)?;
    match Scf::of(parent)? {
        Scf::For if i > 0 => Some(result(parent, i - 1)),
        Scf::While if entry_block(region(parent, 1)) == Some(block) => Some(result(parent, i)),
        _ => None,
    }
}

/// Returns the values that may become `v`, a region argument or a result of a structured op: the initial value first,
/// if there is one, then the yielded values.
pub fn sources<'c>(v: Val<'c>) -> Vec<Val<'c>> {
    let (parent, at, block) = match defining_op(v) {
        Some(made) => (made, results(made).position(|r| r == v), None),
        None => {
            let block = owner_of(v);
            let Some(parent) = parent_of_block(block) else { return vec![] };
            (parent, args(block).position(|a| a == v), Some(block))
        }
    };
    let Some(at) = at else { return vec![] };
    // While a loop is being extended, its body may lack some yielded values.
    let yielded = |r: usize, i: usize| last(parent, r).filter(|y| operand_count(*y) > i).map(|y| operand(y, i));
    match Scf::of(parent) {
        // The induction variable precedes the carried values.
        Some(Scf::For) if block.is_some() && at == 0 => vec![],
        Some(Scf::For) => {
            let at = at - usize::from(block.is_some());
            [Some(operand(parent, 3 + at)), yielded(0, at)].into_iter().flatten().collect()
        }
        // The first region receives the carried values and passes its condition's operands on.
        Some(Scf::While) if block.is_some() && block == entry_block(region(parent, 0)) => {
            [Some(operand(parent, at)), yielded(1, at)].into_iter().flatten().collect()
        }
        Some(Scf::While) => yielded(0, at + 1).into_iter().collect(),
        Some(Scf::If) => (0..2).filter_map(|r| yielded(r, at)).collect(),
        _ => vec![],
    }
}
