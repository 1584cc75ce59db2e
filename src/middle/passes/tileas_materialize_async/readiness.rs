//! The run-time test whether a tensor map can describe the tested views.

use super::{DotGroup, FilledBy, TiledCopy};
use crate::{
    analysis::access::View,
    dialect::{
        nv_tileas::TmaReadyOp,
        pass::{Failed, fail},
        rt::*,
    },
};
use melior::{
    Context,
    ir::{attribute::TypeAttribute, r#type::IntegerType},
};

/// Builds one test of all views with the option of a TMA load, or returns `None` if there are none. The test follows
/// the last of these views and precedes all dots. Views that are created later are not tested: their operands lose the
/// option.
pub(super) fn test<'c>(
    context: &'c Context,
    entry: Blk<'c>,
    groups: &mut [DotGroup<'c>],
) -> Result<Option<Val<'c>>, Failed> {
    let place = |op: OpRef<'c>| {
        let mut outwards = std::iter::successors(Some(op), |o| parent_op(*o));
        let outermost = outwards.find(|o| block_of(*o) == block_key(entry))?;
        ops_of(entry).position(|o| o == outermost)
    };
    let first = groups.iter().filter_map(|p| place(p.place())).min();
    let mut tests: Vec<(usize, OpRef<'c>, TiledCopy<'c>)> = vec![];
    for side in groups.iter_mut().flat_map(|p| &mut p.sides) {
        let FilledBy::ProducerComputed(tile) = &mut side.from else { continue };
        let Some(copy) = tile.if_ready else { continue };
        let make = View::of(copy.load.view()).map(|view| view.make.op());
        let make = make.filter(|make| block_of(*make) == block_key(entry));
        match make.and_then(|make| Some((place(make)?, make))).filter(|(at, _)| Some(*at) < first) {
            Some((at, make)) => tests.push((at, make, copy)),
            None => tile.if_ready = None,
        }
    }
    tests.sort_by_key(|(at, ..)| *at);
    let Some(&(_, last, _)) = tests.last() else { return Ok(None) };
    let b = Builder::before(context, last);
    b.set_after(last);
    let truth = IntegerType::new(context, 1).into();
    let mut ready: Option<Val<'c>> = None;
    for (_, _, copy) in tests {
        let op = copy.load.op();
        let view = defining_op(copy.load.view()).ok_or_else(|| fail(op, "its view is not created in this function"))?;
        let view = clone_detached(view);
        b.set_location(op.location());
        b.insert_op(view);
        let map = copy.map.ok_or_else(|| fail(op, "a bulk copy depends on no test"))?;
        let desc = TypeAttribute::new(map.into()).into();
        let test = TmaReadyOp::build(&b, truth, result(view, 0), desc).map_err(|e| fail(op, e.to_string()))?;
        let one = test.ready();
        ready = Some(ready.map_or(one, |all| b.andi(all, one)));
    }
    Ok(ready)
}
