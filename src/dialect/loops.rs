//! Loops of structured control flow, and what passes say of them.

use super::{behaviour::is_loop, rt::*};

/// Discardable attribute of a loop: addresses of accesses inside are computed inside.
pub const ADDRESSES_IN_LOOP: &str = "nv_tileas.addresses_in_loop";

/// The loops around `op`, from the inside.
pub fn loops_around<'c>(op: OpRef<'c>) -> impl Iterator<Item = OpRef<'c>> {
    std::iter::successors(parent_op(op), |o| parent_op(*o)).filter(|o| is_loop(*o))
}
