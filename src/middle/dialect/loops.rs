//! Loops of structured control flow, and what passes say of them.

use super::{behaviour::is_loop, rt::*};
use melior::ir::{Region, RegionLike, Type, TypeLike};
use mlir_sys::*;

/// Discardable attribute of a loop: addresses of accesses inside are computed inside.
pub const ADDRESSES_IN_LOOP: &str = "nv_tileas.addresses_in_loop";

/// The loops around `op`, from the inside.
pub fn loops_around<'c>(op: OpRef<'c>) -> impl Iterator<Item = OpRef<'c>> {
    std::iter::successors(parent_op(op), |o| parent_op(*o)).filter(|o| is_loop(*o))
}

/// Whether the op may run many times in one run of its function.
pub fn is_in_loop(op: OpRef<'_>) -> bool {
    loops_around(op).next().is_some()
}

/// `scf.for` with more carried values, `inits` before the first iteration, and the values that they are inside. The
/// terminator still lacks theirs ([`extend_yield`]). The loop is replaced; its results keep their numbers.
pub fn extend_for<'c>(
    b: &Builder<'c>,
    op: OpRef<'c>,
    inits: &[Val<'c>],
) -> Result<(OpRef<'c>, Vec<Val<'c>>), BuildError> {
    b.set_before(op);
    b.set_location(op.location());
    let carried = arg_count(entry_block(region(op, 0)).expect("a loop has a body"));
    let all: Vec<Val<'c>> = operands(op).chain(inits.iter().copied()).collect();
    let types: Vec<_> = results(op).chain(inits.iter().copied()).map(ty).collect();
    let mut state = b.state("scf.for");
    state.results(&types);
    state.operands(&all);
    if attr(op, "unsignedCmp").is_some() {
        state.attr("unsignedCmp", b.unit());
    }
    state.region(take_body(op));
    let new = b.insert(state)?;
    let body = entry_block(region(new, 0)).expect("a loop has a body");
    for v in inits {
        // SAFETY: block, type and location are alive.
        unsafe { mlirBlockAddArgument(body.to_raw(), ty(*v).to_raw(), op.location().to_raw()) };
    }
    for (old, new) in results(op).zip(results(new)) {
        replace_all_uses(old, new);
    }
    erase(op);
    let inside = args(body).skip(carried).collect();
    Ok((new, inside))
}

/// `scf.while` with more carried values, `inits` before the first iteration: the loop, and the values that they are in
/// its first region and in its second one. Both terminators still lack theirs ([`extend_yield`]). The loop is replaced;
/// its results keep their numbers.
pub fn extend_while<'c>(
    b: &Builder<'c>,
    op: OpRef<'c>,
    inits: &[Val<'c>],
) -> Result<(OpRef<'c>, [Vec<Val<'c>>; 2]), BuildError> {
    b.set_before(op);
    b.set_location(op.location());
    let all: Vec<Val<'c>> = operands(op).chain(inits.iter().copied()).collect();
    let types: Vec<_> = results(op).chain(inits.iter().copied()).map(ty).collect();
    let mut state = b.state("scf.while");
    state.results(&types);
    state.operands(&all);
    let mut carried = [0; 2];
    for (i, carried) in carried.iter_mut().enumerate() {
        *carried = arg_count(entry_block(region(op, i)).expect("a loop has both regions"));
        let part = Region::new();
        // SAFETY: both regions are alive; the blocks change their owner.
        unsafe { mlirRegionTakeBody(part.to_raw(), region(op, i).to_raw()) };
        state.region(part);
    }
    let new = b.insert(state)?;
    let inside = [0, 1].map(|i| {
        let block = entry_block(region(new, i)).expect("a loop has both regions");
        for v in inits {
            // SAFETY: block, type and location are alive.
            unsafe { mlirBlockAddArgument(block.to_raw(), ty(*v).to_raw(), op.location().to_raw()) };
        }
        args(block).skip(carried[i]).collect()
    });
    for (old, new) in results(op).zip(results(new)) {
        replace_all_uses(old, new);
    }
    erase(op);
    Ok((new, inside))
}

/// `scf.if` that gives values of `types`, with the blocks of its two sides, which lack their terminators.
pub fn new_if<'c>(
    b: &Builder<'c>,
    condition: Val<'c>,
    types: &[Type<'c>],
) -> Result<(OpRef<'c>, [Blk<'c>; 2]), BuildError> {
    let mut state = b.state("scf.if");
    state.results(types);
    state.operands(&[condition]);
    let regions = [Region::new(), Region::new()];
    let blocks = [0, 1].map(|i| append_block(&regions[i], &[], b.location()));
    regions.into_iter().for_each(|side| state.region(side));
    Ok((b.insert(state)?, blocks))
}

/// `scf.if` with more results; the terminators still lack theirs. A branch that is missing is added.
pub fn extend_if<'c>(b: &Builder<'c>, op: OpRef<'c>, more: &[Type<'c>]) -> Result<OpRef<'c>, BuildError> {
    b.set_before(op);
    b.set_location(op.location());
    let types: Vec<_> = results(op).map(ty).chain(more.iter().copied()).collect();
    let mut state = b.state("scf.if");
    state.results(&types);
    state.operands(&[operand(op, 0)]);
    for i in 0..2 {
        let branch = Region::new();
        if entry_block(region(op, i)).is_some() {
            // SAFETY: both regions are alive; the blocks change their owner.
            unsafe { mlirRegionTakeBody(branch.to_raw(), region(op, i).to_raw()) };
        } else {
            let block = append_block(&branch, &[], op.location());
            let inside = Builder::at_end(b.context(), block, op.location());
            inside.insert(inside.state("scf.yield"))?;
        }
        state.region(branch);
    }
    let new = b.insert(state)?;
    for (old, new) in results(op).zip(results(new)) {
        replace_all_uses(old, new);
    }
    erase(op);
    Ok(new)
}

/// A terminator with more operands.
pub fn extend_yield<'c>(b: &Builder<'c>, block: Blk<'c>, more: &[Val<'c>]) -> Result<(), BuildError> {
    let last = ops_of(block).last().expect("a terminator");
    b.set_before(last);
    b.set_location(last.location());
    let all: Vec<Val<'c>> = operands(last).chain(more.iter().copied()).collect();
    let mut state = b.state(op_name(last));
    state.operands(&all);
    b.insert(state)?;
    erase(last);
    Ok(())
}
