//! Merges round trips through shared memory: all stores, one barrier, all loads.
//!
//! ```text
//! barrier            store a, m                       barrier            store a, m
//! store a, m         barrier                          store a, m         store b, n
//! barrier      ...   load m             becomes       store b, n         barrier
//! x = load m         barrier (reuse)                  barrier            x = load m
//!                    store b, n                       x = load m         y = load n
//!                    barrier                          y = load n
//!                    y = load n
//! ```
//!
//! Both operands of a dot make such round trips. Merging leaves two of four barriers, and the first operand does not
//! occupy registers while the second is moved: values computed from `x` between the round trips, such as widened
//! elements, move down with it.
//!
//! Merged round trips need their storage at the same time. They may use the shared memory that the target's table
//! grants to exchanges (`exchange_shared_per_block`) minus the rings of pipelined loops. If the rings take more than
//! that, they may use at most the size of the largest single round trip, which the rings leave free.

use crate::dialect::{
    attributes::REUSE,
    behaviour::{self, LayoutRelation},
    nv_tileas::{AllocTensorOp, BarrierOp, LocalLoadOp, LocalStoreOp, MemDescType},
    rt::*,
    shared_memory::{memdesc_bytes, padded_bytes},
};
use tile_targets::Target;

/// The round trips merged so far.
struct Open<'c> {
    /// The barrier between the stores and the loads.
    barrier: OpRef<'c>,
    /// The value stored by the last round trip.
    source: Val<'c>,
    /// The loads and values computed from them, which move down to the loads of the next round trip.
    late: Vec<OpRef<'c>>,
    bytes: u64,
}

impl<'c> Open<'c> {
    fn is_late(&self, v: Val<'c>) -> bool {
        defining_op(v).is_some_and(|d| self.late.contains(&d))
    }
}

/// Merges the round trips of every block in `function`.
pub fn merge(function: OpRef<'_>, target: &Target) {
    let mut blocks = vec![];
    let (mut rings, mut largest) = (0, 0);
    walk(function, &mut |o| {
        if let Some(desc) = AllocTensorOp::cast(o).and_then(|a| MemDescType::cast(ty(a.result()))) {
            if desc.stages() > 1 { rings += padded_bytes(desc) } else { largest = largest.max(memdesc_bytes(desc)) }
        }
        for i in 0..region_count(o) {
            blocks.extend(entry_block(region(o, i)));
        }
    });
    let most = u64::from(target.limits.exchange_shared_per_block).saturating_sub(rings).max(largest);
    blocks.into_iter().for_each(|b| merge_in(b, most));
}

fn merge_in(block: Blk<'_>, most: u64) {
    let ops: Vec<OpRef<'_>> = ops_of(block).collect();
    let mut open: Option<Open<'_>> = None;
    let mut i = 0;
    while i < ops.len() {
        let op = ops[i];
        match round_trip(&ops[i..]) {
            Some((reuse, trip, length)) => {
                open = Some(match open.take() {
                    Some(before)
                        if reuse.is_some() && before.bytes + trip.bytes <= most && !before.is_late(trip.source) =>
                    {
                        join(before, reuse, trip)
                    }
                    _ => trip,
                });
                i += length;
                continue;
            }
            // An op that does not touch shared memory may stay between the stores and the loads, or move after the
            // loads if it computes with loaded values.
            None => match &mut open {
                Some(o) if operands(op).any(|v| o.is_late(v)) => {
                    if behaviour::computes_locally(op) {
                        o.late.push(op)
                    } else {
                        open = None
                    }
                }
                _ if !stands_between(op) => open = None,
                _ => {}
            },
        }
        i += 1;
    }
}

/// Matches a round trip at the start of `ops`. Returns the preceding barrier if it only guards reuse, the round trip,
/// and its length.
fn round_trip<'c>(ops: &[OpRef<'c>]) -> Option<(Option<OpRef<'c>>, Open<'c>, usize)> {
    let reuse = BarrierOp::cast(ops[0]).is_some() && REUSE.is_on(ops[0]);
    let at = usize::from(reuse);
    let [store, barrier, load] = *ops.get(at..at + 3)? else { return None };
    let (store, load) = (LocalStoreOp::cast(store)?, LocalLoadOp::cast(load)?);
    let plain = BarrierOp::cast(barrier).is_some() && !REUSE.is_on(barrier);
    let same = store.dest() == load.source() && defining_op(store.dest()).and_then(AllocTensorOp::cast).is_some();
    let bytes = MemDescType::cast(ty(store.dest())).map(memdesc_bytes)?;
    let open = Open { barrier, source: store.source(), late: vec![load.op()], bytes };
    (plain && same).then_some((reuse.then_some(ops[0]), open, at + 3))
}

/// Merges two round trips.
fn join<'c>(before: Open<'c>, reuse: Option<OpRef<'c>>, after: Open<'c>) -> Open<'c> {
    let first = after.late[0];
    for &op in &before.late {
        move_before(op, first);
    }
    reuse.into_iter().for_each(erase);
    erase(before.barrier);
    let late = before.late.into_iter().chain(after.late).collect();
    Open { barrier: after.barrier, source: after.source, late, bytes: before.bytes + after.bytes }
}

/// Whether the op may stay between the stores and the loads of merged round trips.
fn stands_between(op: OpRef<'_>) -> bool {
    let keeps_memory = || behaviour::effects(op).is_some_and(|list| list.iter().all(|e| !e.writes()));
    let relation = behaviour::layout_relation(op);
    behaviour::computes_locally(op)
        || matches!(relation, LayoutRelation::Access | LayoutRelation::Leaf)
            && region_count(op) == 0
            && !behaviour::uses_shared_memory(op)
            && keeps_memory()
}
