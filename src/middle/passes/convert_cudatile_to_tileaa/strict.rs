//! Rejects the types that NVIDIA's compiler rejects for a target, if the caller requests this check.

use crate::dialect::{
    cuda_tile::GlobalOp,
    pass::{Failed, fail},
    rt::*,
};
use melior::ir::TypeLike;
use rustc_hash::FxHashSet;
use tile_targets::Target;

/// Reports an error at the first op with such a type. Checks the types of results, of block arguments in the op's
/// regions, and of attributes, which hold the types of globals.
pub fn check(root: OpRef<'_>, target: &Target) -> Result<(), Failed> {
    // Types are uniqued in a context; check each only once.
    let mut sound: FxHashSet<usize> = FxHashSet::default();
    let mut refused = None;
    walk(root, &mut |op| {
        if refused.is_some() {
            return;
        }
        let mut types: Vec<_> = results(op).map(ty).collect();
        for i in 0..region_count(op) {
            let mut block = entry_block(region(op, i));
            while let Some(b) = block {
                types.extend(args(b).map(ty));
                block = next_block(b);
            }
        }
        types.extend(attr(op, "value").map(attr_type));
        types.extend(GlobalOp::cast(op).and_then(GlobalOp::element_type).map(held_type));
        for t in types {
            if sound.insert(t.to_raw().ptr as usize) {
                refused = refused.or(target.refused_type(&t.to_string()).map(|name| (op, name)));
            }
        }
    });
    match refused {
        Some((op, name)) => {
            let text = format!("Incompatibility with architecture '{}': unsupported type '{name}'", target.name);
            Err(fail(op, text))
        }
        None => Ok(()),
    }
}
