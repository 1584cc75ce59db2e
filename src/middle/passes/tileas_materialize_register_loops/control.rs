//! Structured control flow: loop-carried and yielded big tensors become arrays.
//!
//! An op with big results is rebuilt without them and takes over the regions of the old op. The values that it would
//! pass on are copied to an array before each terminator. The old op and the block arguments stay until the end, so
//! that uses of tensors can be counted as in the original program.

use super::{RegisterLoops, TensorState, arrays::Array};
use crate::dialect::{
    pass::{Failed, fail},
    rt::*,
};
use melior::ir::{Attribute, Region, Type};

/// Arrays of some of a list of values, by position in the list.
type Arrays<'c> = Vec<(usize, Array<'c>)>;

impl<'c> RegisterLoops<'c> {
    /// Creates an array for each big tensor of `values`.
    fn arrays(&mut self, op: OpRef<'c>, values: impl Iterator<Item = Val<'c>>) -> Result<Arrays<'c>, Failed> {
        let b = Builder::before(self.context, op);
        let mut list = vec![];
        for (i, v) in values.enumerate().filter(|(_, v)| self.limit.is_exceeded(*v)).collect::<Vec<_>>() {
            list.push((i, self.new_array(&b, op, v)?));
        }
        Ok(list)
    }

    /// Copies the operands of `at`, starting with `first`, to their arrays.
    fn pass_on(&mut self, at: OpRef<'c>, first: usize, arrays: &Arrays<'c>) -> Result<(), Failed> {
        let pairs: Vec<_> = arrays.iter().map(|&(i, array)| (operand(at, first + i), array)).collect();
        self.copy(&Builder::before(self.context, at), at, &pairs)
    }

    fn bind_arrays(&mut self, values: impl Iterator<Item = Val<'c>>, arrays: &Arrays<'c>) {
        let values: Vec<Val<'c>> = values.collect();
        for &(i, array) in arrays {
            // Block arguments only borrow arrays; the parent op passes them on as its results.
            let array = if defining_op(values[i]).is_some() { array } else { array.lent() };
            self.values.insert(key(values[i]), TensorState::Array(array));
        }
    }

    /// Removes operands that have arrays from a terminator. The block arguments are removed at the end of the pass.
    fn shrink(&mut self, terminator: OpRef<'c>, first: usize, arrays: &Arrays<'c>) {
        if arrays.is_empty() {
            return;
        }
        let rest: Vec<Val<'c>> = without(operands(terminator), first, arrays);
        set_operands(terminator, &rest);
    }

    /// Rebuilds `op` without the results that have arrays and without the corresponding operands, which start at
    /// `first`. The new op takes over the regions.
    fn rebuilt(
        &mut self,
        op: OpRef<'c>,
        first: usize,
        carried: &Arrays<'c>,
        results_in: &Arrays<'c>,
    ) -> Result<OpRef<'c>, Failed> {
        let b = Builder::before(self.context, op);
        let mut state = b.state(op_name(op));
        state.operands(&without(operands(op), first, carried));
        state.results(&without(results(op), 0, results_in).into_iter().map(ty).collect::<Vec<Type<'c>>>());
        for _ in 0..region_count(op) {
            state.region(Region::new());
        }
        for (name, value) in attributes(op) {
            state.attr(name, value);
        }
        let new = b.insert(state).map_err(|e| fail(op, e.to_string()))?;
        for i in 0..region_count(op) {
            take_blocks(region(new, i), region(op, i));
        }
        for (old, new) in without(results(op), 0, results_in).into_iter().zip(results(new)) {
            replace_all_uses(old, new);
        }
        self.dead.push(op);
        self.rebuilt.insert(op_key(op), new);
        Ok(new)
    }

    /// Returns body number `i` of `op` and its terminator.
    fn body(&self, op: OpRef<'c>, i: usize) -> Result<(Blk<'c>, OpRef<'c>), Failed> {
        let block = entry_block(region(op, i)).ok_or_else(|| fail(op, "loop has no body"))?;
        Ok((block, ops_of(block).last().ok_or_else(|| fail(op, "body has no terminator"))?))
    }

    pub(super) fn scf_for(&mut self, op: OpRef<'c>) -> Result<(), Failed> {
        let (block, end) = self.body(op, 0)?;
        let arrays = self.arrays(op, results(op))?;
        self.pass_on(op, 3, &arrays)?;
        if !arrays.is_empty() {
            self.rebuilt(op, 3, &arrays, &arrays)?;
            self.dead_arguments.push((block, arrays.iter().map(|(i, _)| 1 + i).collect()));
        }
        self.bind_arrays(args(block).skip(1), &arrays);
        self.block(block)?;
        self.pass_on(end, 0, &arrays)?;
        self.release(end);
        self.shrink(end, 0, &arrays);
        self.bind_arrays(results(op), &arrays);
        Ok(())
    }

    pub(super) fn scf_if(&mut self, op: OpRef<'c>) -> Result<(), Failed> {
        let arrays = self.arrays(op, results(op))?;
        let now = if arrays.is_empty() { op } else { self.rebuilt(op, 1, &vec![], &arrays)? };
        for i in 0..2 {
            if entry_block(region(now, i)).is_none() {
                continue;
            }
            let (block, end) = self.body(now, i)?;
            self.block(block)?;
            self.pass_on(end, 0, &arrays)?;
            self.release(end);
            self.shrink(end, 0, &arrays);
        }
        self.bind_arrays(results(op), &arrays);
        Ok(())
    }

    pub(super) fn scf_while(&mut self, op: OpRef<'c>) -> Result<(), Failed> {
        let ((before, condition), (after, end)) = (self.body(op, 0)?, self.body(op, 1)?);
        let (carried, found) = (self.arrays(op, args(before))?, self.arrays(op, results(op))?);
        self.pass_on(op, 0, &carried)?;
        if !carried.is_empty() || !found.is_empty() {
            self.rebuilt(op, 0, &carried, &found)?;
            for (block, arrays) in [(before, &carried), (after, &found)] {
                self.dead_arguments.push((block, arrays.iter().map(|(i, _)| *i).collect()));
            }
        }
        self.bind_arrays(args(before), &carried);
        self.block(before)?;
        self.pass_on(condition, 1, &found)?;
        self.release(condition);
        self.shrink(condition, 1, &found);
        self.bind_arrays(args(after), &found);
        self.block(after)?;
        self.pass_on(end, 0, &carried)?;
        self.release(end);
        self.shrink(end, 0, &carried);
        carried.into_iter().for_each(|(_, array)| self.free_array(array));
        self.bind_arrays(results(op), &found);
        Ok(())
    }
}

/// Returns `values` without the values that have arrays; positions count from `first`.
fn without<'c>(values: impl Iterator<Item = Val<'c>>, first: usize, arrays: &Arrays<'c>) -> Vec<Val<'c>> {
    let kept = |i: usize| i < first || !arrays.iter().any(|(position, _)| first + position == i);
    values.enumerate().filter(|(i, _)| kept(*i)).map(|(_, v)| v).collect()
}

/// Returns all attributes of an op, by name.
fn attributes<'c>(op: OpRef<'c>) -> Vec<(&'c str, Attribute<'c>)> {
    named_attrs(op)
}
