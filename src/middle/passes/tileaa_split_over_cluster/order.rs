//! Checks that accesses ordered by tokens stay ordered after the split.
//!
//! Ranks run concurrently, and a token only orders accesses of its own rank. If a token orders two accesses, at least
//! one of them a store, neither may touch elements that the other touches in another rank. This holds for tiles of
//! the same partition of a tensor that are sliced the same way, since each element belongs to one tile and one slice
//! of it. It also holds for stores that only rank 0 executes.

use super::demand::{Demands, Part};
use crate::dialect::pass::Obstacle;
use crate::{
    analysis::tokens,
    dialect::{
        loops::is_in_loop,
        nv_tileaa::{self, MakeTiledViewOp, MemTokenType, TiledLoadOp, TiledStoreOp, TiledViewType},
        rt::*,
    },
};
use rustc_hash::FxHashSet;

pub(super) fn check<'c>(function: nv_tileaa::FuncOp<'c>, demands: &Demands<'c>) -> Result<(), Obstacle<'c>> {
    if demands.stores().is_empty() {
        return Ok(());
    }
    for access in demands.accesses() {
        let name = op_name(access);
        for earlier in before(access, function.op())? {
            let is_store = |op: OpRef<'c>| demands.stored(op).is_some();
            let matters = demands.is_access(earlier) && (is_store(access) || is_store(earlier));
            if matters && !are_apart(access, earlier, demands) {
                return Err((access, format!("'{name}' is ordered after an access of another CTA")));
            }
        }
    }
    Ok(())
}

/// Returns all ops whose tokens order the access after them.
fn before<'c>(access: OpRef<'c>, function: OpRef<'c>) -> Result<Vec<OpRef<'c>>, Obstacle<'c>> {
    let (mut work, mut seen, mut found) = (vec![access], FxHashSet::default(), vec![]);
    while let Some(op) = work.pop() {
        for token in operands(op).filter(|v| MemTokenType::cast(ty(*v)).is_some()) {
            let unknown = || (access, format!("'{}' is ordered after an unknown access", op_name(access)));
            for source in tokens::sources(token).ok_or_else(unknown)? {
                if seen.insert(op_key(source)) && source != function {
                    found.push(source);
                    work.push(source);
                }
            }
        }
    }
    Ok(found)
}

/// Whether no rank accesses through `a` an element that another rank accesses through `b`.
fn are_apart<'c>(a: OpRef<'c>, b: OpRef<'c>, demands: &Demands<'c>) -> bool {
    let part = |op: OpRef<'c>| match TiledLoadOp::cast(op) {
        Some(load) => Some(demands.parts(load.result())).filter(|p| p.len() == 1).map(|p| p[0]),
        None => demands.stored(op),
    };
    match (part(a), part(b)) {
        (Some(Part::Whole), Some(Part::Whole)) => demands.stored(a).is_some() && demands.stored(b).is_some(),
        (Some(x @ Part::Slice(_)), Some(y)) if x == y => {
            let view = |op: OpRef<'c>| match (TiledLoadOp::cast(op), TiledStoreOp::cast(op)) {
                (Some(load), _) => Some(load.view()),
                (_, Some(store)) => Some(store.view()),
                _ => None,
            };
            let partition = |op| {
                let view = view(op)?;
                let t = TiledViewType::cast(ty(view)).filter(|t| t.steps() == t.tile() && t.sparse_dim().is_none())?;
                let memref = defining_op(view).and_then(MakeTiledViewOp::cast)?.memref();
                // In a loop, the tensor differs in each iteration.
                let stays = defining_op(memref).is_some_and(|make| !is_in_loop(make));
                stays.then_some((key(memref), t.tile(), t.dim_map()))
            };
            partition(a).is_some_and(|of_a| partition(b) == Some(of_a))
        }
        _ => false,
    }
}
