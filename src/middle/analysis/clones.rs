//! Clones ops with remapped operands.

use crate::dialect::{nv_tileaa::MemTokenType, rt::*};
use rustc_hash::FxHashMap;

/// The values that stand for others in a copy of code, by [`key`] of the original.
pub type ValueMap<'c> = FxHashMap<usize, Val<'c>>;

/// Returns the value for `v`, which is `v` itself if the map lacks it.
pub fn mapped<'c>(map: &ValueMap<'c>, v: Val<'c>) -> Val<'c> {
    map.get(&key(v)).copied().unwrap_or(v)
}

/// Clones `op` at the insertion point, with its operands replaced as `map` says, and adds its results to `map`.
///
/// Regions of `op` must not use values defined outside of it. A token that is not in `map` is replaced by a new one,
/// so the clone is not ordered after any other access.
pub fn clone_op<'c>(b: &Builder<'c>, op: OpRef<'c>, map: &mut ValueMap<'c>) -> OpRef<'c> {
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
