//! Structured loops: queries, and rewrites that add loop-carried values.

use super::{behaviour::is_loop, rt::*};
use melior::ir::{Region, RegionLike, Type};
use mlir_sys::*;

/// Returns the loops that contain `op`, from the inside out.
pub fn loops_around<'c>(op: OpRef<'c>) -> impl Iterator<Item = OpRef<'c>> {
    std::iter::successors(parent_op(op), |o| parent_op(*o)).filter(|o| is_loop(*o))
}

/// Whether the op may run several times in one run of its function.
pub fn is_in_loop(op: OpRef<'_>) -> bool {
    loops_around(op).next().is_some()
}

/// Adds loop-carried values with the initial values `inits` to an `scf.for`, and returns the new loop and the new
/// block arguments. The caller extends the terminator ([`extend_yield`]). The old loop is replaced; its results keep
/// their numbers.
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
        add_argument(body, ty(*v), op.location());
    }
    for (old, new) in results(op).zip(results(new)) {
        replace_all_uses(old, new);
    }
    erase(op);
    let inside = args(body).skip(carried).collect();
    Ok((new, inside))
}

/// Adds loop-carried values with the initial values `inits` to an `scf.while`. Returns the new loop and the new block
/// arguments of its first and second regions. The caller extends both terminators ([`extend_yield`]). The old loop is
/// replaced; its results keep their numbers.
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
            add_argument(block, ty(*v), op.location());
        }
        args(block).skip(carried[i]).collect()
    });
    for (old, new) in results(op).zip(results(new)) {
        replace_all_uses(old, new);
    }
    erase(op);
    Ok((new, inside))
}

/// Creates an `scf.if` with results of `types`, and returns it with the blocks of its two branches, which lack
/// terminators.
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

/// Adds results to an `scf.if`, whose terminators the caller extends. A missing branch is created.
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

/// Adds operands to a terminator.
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
