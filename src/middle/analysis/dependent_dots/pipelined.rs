//! Software-pipelines a loop of dependent dots.
//!
//! The loop is split at the late dot: the first iteration runs before the loop without its late dot, each iteration of
//! the new loop runs the late dot of the previous one after its own early dot, and the last late dot follows the loop.

use super::DependentDots;
use crate::{
    analysis::clones::{ValueMap, mapped},
    dialect::{
        arith::IntPredicate,
        attributes::{CLOCK, STAGE, copy_schedule},
        behaviour::{int_constant, is_pure},
        pass::{Failed, fail},
        rt::*,
    },
};
use melior::{
    Context,
    ir::{Region, operation::OperationLike},
};
use rustc_hash::FxHashSet;

impl<'c> DependentDots<'c> {
    /// Software-pipelines the loop. Returns the new loop.
    pub fn pipeline(self, context: &'c Context) -> Result<OpRef<'c>, Failed> {
        let op = self.around;
        let location = op.location();
        let error = |e: BuildError| fail(op, e.to_string());
        let [first, end, step] = [operand(op, 0), operand(op, 1), operand(op, 2)];
        let inits: Vec<Val<'c>> = operands(op).skip(3).collect();
        let number = inits.len();
        let yielded = ops_of(self.body).last().ok_or_else(|| fail(op, "loop has no terminator"))?;

        // if first < end { ... } else { what was carried }
        let b = Builder::before(context, op);
        b.set_location(location);
        let some = b.cmpi(IntPredicate::less(attr(op, "unsignedCmp").is_some()), first, end);
        let types: Vec<_> = results(op).map(ty).collect();
        let mut state = b.state("scf.if");
        state.results(&types);
        state.operands(&[some]);
        let (yes, no) = (Region::new(), Region::new());
        let inside = append_block(&yes, &[], location);
        let otherwise = append_block(&no, &[], location);
        state.region(yes);
        state.region(no);
        let branch = b.insert(state).map_err(error)?;
        give(&Builder::at_end(context, otherwise, location), &inits).map_err(error)?;

        // The first iteration, without its late dot.
        let b = Builder::at_end(context, inside, location);
        let last = self.last(&b, (first, end, step));
        let mut map = ValueMap::default();
        map.insert(key(arg(self.body, 0)), first);
        map.extend((0..number).map(|i| (key(arg(self.body, i + 1)), inits[i])));
        self.iteration(&b, &mut map, &mut |_| None);
        let mut carried = self.carried(yielded, &map);

        // All other iterations, each with the late dot of the previous one.
        let mut types: Vec<_> = carried.iter().map(|v| ty(*v)).collect();
        let mut state = b.state("scf.for");
        state.results(&types);
        state.operands(&[&[first, last, step], &carried[..]].concat());
        if attr(op, "unsignedCmp").is_some() {
            state.attr("unsignedCmp", b.unit());
        }
        let region = Region::new();
        types.insert(0, ty(first));
        let body = append_block(&region, &types, location);
        state.region(region);
        let new = b.insert(state).map_err(error)?;
        let within = Builder::at_end(context, body, location);
        let counter = arg(body, 0);
        let now = within.addi(counter, step);
        let mut map = ValueMap::default();
        map.insert(key(arg(self.body, 0)), now);
        map.extend((0..number).map(|i| (key(arg(self.body, i + 1)), arg(body, i + 1))));
        let (lhs, acc) = (arg(body, number + 1), arg(body, self.index + 1));
        self.iteration(&within, &mut map, &mut |b| Some(self.late_dot(b, counter, lhs, acc)));
        give(&within, &self.carried(yielded, &map)).map_err(error)?;

        carried = results(new).collect();
        let lhs = carried.pop().ok_or_else(|| fail(op, "loop carries nothing"))?;
        carried[self.index] = self.late_dot(&b, last, lhs, carried[self.index]);
        give(&b, &carried).map_err(error)?;
        for (old, new) in results(op).zip(results(branch)) {
            replace_all_uses(old, new);
        }
        copy_schedule(op, new);
        // Copies outside of the loop belong to no stage.
        for outside in ops_of(inside).filter(|o| *o != new) {
            [STAGE, CLOCK].iter().for_each(|key| key.remove(outside));
        }
        erase(op);
        Ok(new)
    }

    /// Copies the body without the late dot; the value returned by `after_early` replaces the incoming accumulator.
    /// Ops that need the accumulator come last, so that everything else is done before the wait.
    fn iteration(
        &self,
        b: &Builder<'c>,
        map: &mut ValueMap<'c>,
        after_early: &mut dyn FnMut(&Builder<'c>) -> Option<Val<'c>>,
    ) {
        let sum = arg(self.body, self.index + 1);
        let mut dependent: FxHashSet<usize> = [key(sum)].into_iter().collect();
        let mut at_last = vec![];
        let ops: Vec<OpRef<'c>> = ops_of(self.body).collect();
        for &op in &ops[..ops.len() - 1] {
            if op == self.late.op() || self.exclusive.contains(&op_key(op)) {
                continue;
            }
            let mut needs = false;
            walk(op, &mut |inner| needs |= operands(inner).any(|v| dependent.contains(&key(v))));
            if needs && is_pure(op) {
                dependent.extend(results(op).map(key));
                at_last.push(op);
                continue;
            }
            // An access stays in place, and so do the ops that it depends on.
            if needs {
                at_last.drain(..).for_each(|op| copy(b, op, map));
            }
            copy(b, op, map);
            if op == self.early.op()
                && let Some(sum) = after_early(b)
            {
                map.insert(key(arg(self.body, self.index + 1)), sum);
            }
        }
        at_last.into_iter().for_each(|op| copy(b, op, map));
    }

    /// Returns the values carried to the next iteration: the late dot's accumulator operand instead of its result,
    /// and its left operand.
    fn carried(&self, yielded: OpRef<'c>, map: &ValueMap<'c>) -> Vec<Val<'c>> {
        let value = |(i, v)| if i == self.index { self.late.acc() } else { v };
        operands(yielded).enumerate().map(value).chain([self.late.lhs()]).map(|v| mapped(map, v)).collect()
    }

    /// Builds the late dot of the iteration with induction variable `at`.
    fn late_dot(&self, b: &Builder<'c>, at: Val<'c>, lhs: Val<'c>, acc: Val<'c>) -> Val<'c> {
        let mut map = ValueMap::default();
        map.insert(key(arg(self.body, 0)), at);
        for op in &self.needed {
            copy(b, *op, &mut map);
        }
        map.insert(key(self.late.lhs()), lhs);
        map.insert(key(self.late.acc()), acc);
        copy(b, self.late.op(), &mut map);
        mapped(&map, self.late.result())
    }

    /// Computes the induction variable of the last iteration: `first + (end - first - 1) / step * step`. The loop has
    /// at least one iteration, so the difference is correct as an unsigned number for both signednesses.
    fn last(&self, b: &Builder<'c>, (first, end, step): (Val<'c>, Val<'c>, Val<'c>)) -> Val<'c> {
        let one = b.int_constant(ty(first), 1);
        if int_constant(step) == Some(1) {
            return b.subi(end, one);
        }
        let most = b.subi(b.subi(end, first), one);
        b.addi(first, b.muli(b.divui(most, step), step))
    }
}

fn give<'c>(b: &Builder<'c>, values: &[Val<'c>]) -> Result<(), BuildError> {
    let mut state = b.state("scf.yield");
    state.operands(values);
    b.insert(state).map(drop)
}

/// Copies an op with its regions to the insertion point.
fn copy<'c>(b: &Builder<'c>, op: OpRef<'c>, map: &mut ValueMap<'c>) {
    let new = clone_detached(op);
    walk(new, &mut |inner| {
        for i in 0..operand_count(inner) {
            if let Some(&v) = map.get(&key(operand(inner, i))) {
                set_operand(inner, i, v);
            }
        }
    });
    b.insert_op(new);
    for (old, new) in results(op).zip(results(new)) {
        map.insert(key(old), new);
    }
}
