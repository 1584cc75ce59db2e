//! Sides of branches.

use crate::dialect::{rt::*, upstream::Scf};

/// The innermost block that all ops are in, counted from the block `home` and going into branches only: what stands in
/// a loop stands in another iteration's program as well.
pub fn innermost_block<'c>(mut home: Blk<'c>, ops: &[OpRef<'c>]) -> Blk<'c> {
    loop {
        // The side of a branch of this block that an op is in.
        let side = |op: &OpRef<'c>| {
            let mut inner = *op;
            while block_of(inner) != block_key(home) {
                let outer = parent_op(inner)?;
                if block_of(outer) == block_key(home) {
                    return block_around(inner).filter(|_| Scf::of(outer) == Some(Scf::If));
                }
                inner = outer;
            }
            None
        };
        let mut sides = ops.iter().map(side);
        match sides.next().flatten() {
            Some(block) if sides.all(|s| s.is_some_and(|s| block_key(s) == block_key(block))) => home = block,
            _ => return home,
        }
    }
}
