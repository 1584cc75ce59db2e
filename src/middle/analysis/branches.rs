//! Blocks of branches.

use crate::dialect::{rt::*, upstream::Scf};

/// Returns the innermost block that contains all ops, starting from the block `home` and descending only into
/// branches: a loop body would repeat an op in other iterations.
pub fn innermost_block<'c>(mut home: Blk<'c>, ops: &[OpRef<'c>]) -> Blk<'c> {
    loop {
        // Returns the branch of this block's ops that contains an op.
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
