//! Copies of ops.

use crate::dialect::{nv_tileaa::MemTokenType, rt::*};
use rustc_hash::FxHashMap;

/// Copies an op to the insertion point, with the operands that `map` gives, and adds its results to the map.
///
/// Regions of the op must use nothing from outside. A token that is not in the map is replaced by a new one: the copy
/// is ordered after nothing.
pub fn clone_op<'c>(b: &Builder<'c>, op: OpRef<'c>, map: &mut FxHashMap<usize, Val<'c>>) -> OpRef<'c> {
    let copy = clone_detached(op);
    for i in 0..operand_count(copy) {
        let v = operand(op, i);
        match map.get(&key(v)) {
            Some(&v) => set_operand(copy, i, v),
            None if MemTokenType::cast(ty(v)).is_some() => {
                set_operand(copy, i, b.value("nv_tileaa.create_mem_token", ty(v), &[], &[]));
            }
            None => {}
        }
    }
    b.insert_op(copy);
    for (old, new) in results(op).zip(results(copy)) {
        map.insert(key(old), new);
    }
    copy
}
