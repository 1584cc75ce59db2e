//! Structured loops: queries, and rewrites that add loop-carried values.

use super::{
    behaviour::is_loop,
    elements,
    location::unnamed,
    pass::{Failed, fail},
    rt::*,
    upstream::Scf,
};
use melior::{
    Context,
    ir::{Region, RegionLike, Type},
};
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
    let carried = arg_count(entry_block(region(op, 0)).expect("a loop has a body"));
    let all: Vec<Val<'c>> = operands(op).chain(inits.iter().copied()).collect();
    let (new, body) = move_body(b, op, &all)?;
    for v in inits {
        add_argument(body, ty(*v), unnamed(op.location()));
    }
    for (old, new) in results(op).zip(results(new)) {
        replace_all_uses(old, new);
    }
    erase(op);
    let inside = args(body).skip(carried).collect();
    Ok((new, inside))
}

/// Builds an `scf.for` with other operands before a loop, and moves the loop's body into it. Returns the new loop and
/// the body, whose arguments and terminator the caller changes.
fn move_body<'c>(b: &Builder<'c>, op: OpRef<'c>, all: &[Val<'c>]) -> Result<(OpRef<'c>, Blk<'c>), BuildError> {
    b.set_before(op);
    b.set_location(op.location());
    let types: Vec<_> = all[FIRST_INIT..].iter().copied().map(ty).collect();
    let mut state = b.state("scf.for");
    state.results(&types);
    state.operands(all);
    if attr(op, "unsignedCmp").is_some() {
        state.attr("unsignedCmp", b.unit());
    }
    state.region(take_body(op));
    let new = b.insert(state)?;
    Ok((new, entry_block(region(new, 0)).expect("a loop has a body")))
}

/// Removes a loop-carried value of an `scf.for`, by its number among the results. In the body, its initial value takes
/// its place. The old loop is replaced; the result must have no uses.
pub fn drop_carried<'c>(b: &Builder<'c>, op: OpRef<'c>, index: usize) -> Result<(), BuildError> {
    let init = operand(op, FIRST_INIT + index);
    let without = |at: usize| move |(i, v): (usize, Val<'c>)| (i != at).then_some(v);
    let rest: Vec<Val<'c>> = operands(op).enumerate().filter_map(without(FIRST_INIT + index)).collect();
    let (new, body) = move_body(b, op, &rest)?;
    replace_all_uses(arg(body, index + 1), init);
    erase_argument(body, index + 1);
    let last = ops_of(body).last().expect("a terminator");
    let yielded: Vec<Val<'c>> = operands(last).enumerate().filter_map(without(index)).collect();
    set_operands(last, &yielded);
    for (old, new) in results(op).enumerate().filter_map(without(index)).zip(results(new)) {
        replace_all_uses(old, new);
    }
    erase(op);
    Ok(())
}

/// The operand of an `scf.for` that is the first initial value, after the bounds and the step.
pub const FIRST_INIT: usize = 3;

/// Whether the bounds of an `scf.for` are constants with which it runs.
pub fn always_runs(op: OpRef<'_>) -> bool {
    let bound = |i| defining_op(operand(op, i)).and_then(|c| attr(c, "value")).and_then(elements::integer);
    matches!((bound(0), bound(1)), (Some(first), Some(end)) if 0 <= first && first < end)
}

/// The number of times that an op runs, if the bounds of the only loop around it are constants; 1 outside of loops.
pub fn known_trips(op: OpRef<'_>) -> Option<u32> {
    match loops_around(op).collect::<Vec<_>>()[..] {
        [] => Some(1),
        [only] => constant_trips(only),
        _ => None,
    }
}

/// The trip count of an `scf.for` whose bounds and step are constants.
fn constant_trips(op: OpRef<'_>) -> Option<u32> {
    if Scf::of(op) != Some(Scf::For) {
        return None;
    }
    let constant = |i| defining_op(operand(op, i)).and_then(|c| attr(c, "value")).and_then(elements::integer);
    let (first, end, step) = (constant(0)?, constant(1)?, constant(2)?);
    // Bounds that are not negative compare alike with and without a sign.
    if first < 0 || end < 0 || step <= 0 {
        return None;
    }
    u32::try_from((end - first).max(0).unsigned_abs().div_ceil(step.unsigned_abs())).ok()
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
            add_argument(block, ty(*v), unnamed(op.location()));
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

/// Carries a value through the loops and branches of `block` that contain `place`. `at` takes the value at the place,
/// which it may rewrite, and returns the value after it. Returns the value at the end of the block.
pub fn carry_through<'c>(
    context: &'c Context,
    block: Blk<'c>,
    place: OpRef<'c>,
    value: Val<'c>,
    at: &mut dyn FnMut(Val<'c>) -> Result<Val<'c>, Failed>,
) -> Result<Val<'c>, Failed> {
    carry_through_all(context, block, &[place], value, &mut |_, value| at(value))
}

/// The same for several places, none of which contains another. `at` also takes the number of the place.
pub fn carry_through_all<'c>(
    context: &'c Context,
    block: Blk<'c>,
    places: &[OpRef<'c>],
    value: Val<'c>,
    at: &mut dyn FnMut(usize, Val<'c>) -> Result<Val<'c>, Failed>,
) -> Result<Val<'c>, Failed> {
    // `at` may erase a place, so everything around the places must be found before.
    let around = |place: &OpRef<'c>| std::iter::successors(Some(*place), |o| parent_op(*o)).map(op_key).collect();
    let mut carry = Carry { context, left: places.iter().map(around).enumerate().collect(), at };
    carry.through(block, value)
}

/// A value on its way through a program.
struct Carry<'c, 'a> {
    context: &'c Context,
    /// The numbers of the places that are still to come, each with the place and the ops around it.
    left: Vec<(usize, Vec<usize>)>,
    #[allow(clippy::type_complexity)]
    at: &'a mut dyn FnMut(usize, Val<'c>) -> Result<Val<'c>, Failed>,
}

impl<'c> Carry<'c, '_> {
    fn holds(&self, op: OpRef<'c>) -> bool {
        self.left.iter().any(|(_, around)| around.contains(&op_key(op)))
    }

    fn through(&mut self, block: Blk<'c>, mut value: Val<'c>) -> Result<Val<'c>, Failed> {
        for op in ops_of(block).filter(|op| self.holds(*op)).collect::<Vec<_>>() {
            value = match self.left.iter().position(|(_, around)| around.first() == Some(&op_key(op))) {
                Some(place) => {
                    let (number, _) = self.left.remove(place);
                    (self.at)(number, value)?
                }
                None => self.through_regions(op, value)?,
            };
        }
        Ok(value)
    }

    /// Carries a value through a loop or a branch.
    fn through_regions(&mut self, op: OpRef<'c>, value: Val<'c>) -> Result<Val<'c>, Failed> {
        let error = |e: BuildError| fail(op, e.to_string());
        let number = result_count(op);
        let b = Builder::before(self.context, op);
        let (new, inside) = match Scf::of(op) {
            Some(Scf::For) => {
                let (new, inside) = extend_for(&b, op, &[value]).map_err(error)?;
                (new, vec![inside[0]])
            }
            Some(Scf::While) => {
                let (new, inside) = extend_while(&b, op, &[value]).map_err(error)?;
                (new, inside.into_iter().map(|args| args[0]).collect())
            }
            Some(Scf::If) => (extend_if(&b, op, &[ty(value)]).map_err(error)?, vec![value, value]),
            _ => return Err(fail(op, "a value cannot be carried through this op")),
        };
        let blocks: Vec<Blk<'c>> = (0..inside.len()).filter_map(|i| entry_block(region(new, i))).collect();
        for (block, value) in blocks.into_iter().zip(inside) {
            let after = self.through(block, value)?;
            extend_yield(&b, block, &[after]).map_err(|e| fail(new, e.to_string()))?;
        }
        Ok(result(new, number))
    }
}
