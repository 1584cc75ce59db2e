//! The part of a kernel that a CTA repeats if it runs several tile blocks.

use crate::dialect::{
    behaviour,
    nv_tileaa::{FuncOp, GetProgramIdOp},
    pass::{Failed, fail},
    rt::*,
};
use rustc_hash::FxHashSet;

/// The ops of a kernel's entry block that a CTA repeats for each tile block, in order, and the terminator. Ops without
/// effects that do not depend on the tile block are not repeated.
pub fn tile_block_program(function: FuncOp<'_>) -> Result<(Vec<OpRef<'_>>, OpRef<'_>), Failed> {
    let op = function.op();
    let entry = entry_block(function.body()).ok_or_else(|| fail(op, "function has no body"))?;
    let last = ops_of(entry).last().ok_or_else(|| fail(op, "function has no terminator"))?;
    let (mut moved, mut depends) = (vec![], FxHashSet::default());
    for op in ops_of(entry).take_while(|op| *op != last) {
        let stays = behaviour::is_pure(op)
            && region_count(op) == 0
            && GetProgramIdOp::cast(op).is_none()
            && operands(op).all(|v| !depends.contains(&key(v)));
        if !stays {
            moved.push(op);
            depends.extend(results(op).map(key));
        }
    }
    Ok((moved, last))
}

/// Replaces the coordinates of the tile block in a program.
pub fn set_tile_block<'c>(program: &[OpRef<'c>], coordinates: [Val<'c>; 3]) {
    let mut ids = vec![];
    program.iter().for_each(|op| walk(*op, &mut |inner| ids.extend(GetProgramIdOp::cast(inner))));
    for id in ids {
        results(id.op()).zip(coordinates).for_each(|(old, new)| replace_all_uses(old, new));
        erase(id.op());
    }
}
