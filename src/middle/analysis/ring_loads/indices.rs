//! Values of index loads, which the addresses of copies depend on.
//!
//! If a copy starts `a` iterations ahead, its address needs the index of the iteration `i + a`. An iteration loads the
//! index that the next one needs, so that the latency of the load passes between the two. The loop carries the value:
//!
//! ```text
//! first = indices of iterations 0 .. a                                   if the loop runs at all
//! copies of iterations 0 .. a-1                                          with first[0 .. a-1]
//! for i, index = first[a] {
//!   if i + a < n { ring[(i + a) % S] <- load(i + a, index) }
//!   next = index of iteration i + a + 1, or of i if there is none
//!   ..
//!   yield next
//! }
//! ```
//!
//! An iteration that does not exist has no index that may be loaded, so that one that exists replaces it. The copy that
//! the index is for is not done.

use super::{
    IndexLoad,
    expansion::{Batch, Expansion},
};
use crate::{
    analysis::clones::ValueMap,
    dialect::{arith::IntPredicate, elements, loops::new_if, pass::Failed, rt::*, types},
};

impl<'a, 'c> Batch<'a, 'c> {
    /// The index loads on which the copies depend, each once.
    pub fn indices(&self) -> Vec<&'a IndexLoad<'c>> {
        let mut found: Vec<&'a IndexLoad<'c>> = vec![];
        for index in self.loads.iter().flat_map(|(load, _)| &load.slice.indices) {
            if found.iter().all(|other| other.op != index.op) {
                found.push(index);
            }
        }
        found
    }

    /// Names the values of the index loads.
    pub fn indices_as(&self, values: &[Val<'c>]) -> ValueMap<'c> {
        self.indices().iter().zip(values).map(|(index, v)| (key(index.value()), *v)).collect()
    }
}

impl<'c> Expansion<'_, 'c> {
    /// Loads the indices of the first iterations, up to number `last`, if the loop has any. Returns the values for each
    /// iteration.
    pub fn first_indices(&self, batch: &Batch<'_, 'c>, last: i64) -> Result<Vec<Vec<Val<'c>>>, Failed> {
        let (b, indices) = (self.b, batch.indices());
        if indices.is_empty() {
            return Ok(vec![vec![]; last as usize + 1]);
        }
        let (first, counter) = (operand(self.op, 0), arg(self.body(self.op)?, 0));
        let any = b.cmpi(IntPredicate::less(self.unsigned), self.lower, self.upper);
        let types: Vec<_> = (0..=last).flat_map(|_| indices.iter().map(|index| ty(index.value()))).collect();
        let (branch, [loads, none]) = new_if(b, any, &types).map_err(self.error())?;
        let inside = Builder::at_end(b.context(), loads, b.location());
        let mut values = vec![];
        for number in 0..=last {
            let distance = inside.muli(self.step, inside.i64_constant(number));
            let ahead = inside.resized(inside.addi(self.lower, distance), ty(first), self.unsigned);
            let exists = inside.cmpi(IntPredicate::Ult, distance, inside.subi(self.upper, self.lower));
            let at = if number == 0 { first } else { inside.select(exists, ahead, first) };
            values.extend(load(&inside, &indices, (counter, at)));
        }
        self.yield_values(&inside, &values)?;
        let outside = Builder::at_end(b.context(), none, b.location());
        let zero = |t| {
            let zero = elements::filled(t, elements::integer_of(types::element(t), 0));
            outside.constant(t, zero)
        };
        let zeros: Vec<Val<'c>> = types.iter().map(|t| zero(*t)).collect();
        self.yield_values(&outside, &zeros)?;
        Ok(results(branch).collect::<Vec<_>>().chunks(indices.len()).map(<[_]>::to_vec).collect())
    }

    /// Loads the indices of the iteration that is `iterations` later, or of the current one if that does not exist.
    pub fn next_indices(&self, batch: &Batch<'_, 'c>, counter: Val<'c>, iterations: i64) -> Vec<Val<'c>> {
        let (b, indices) = (self.b, batch.indices());
        if indices.is_empty() {
            return vec![];
        }
        let here = b.resized(counter, ty(self.lower), self.unsigned);
        let distance = b.muli(self.step, b.i64_constant(iterations));
        let ahead = b.resized(b.addi(here, distance), ty(counter), self.unsigned);
        let at = b.select(self.exists(here, distance), ahead, counter);
        load(b, &indices, (counter, at))
    }

    fn yield_values(&self, b: &Builder<'c>, values: &[Val<'c>]) -> Result<(), Failed> {
        let mut state = b.state("scf.yield");
        state.operands(values);
        b.insert(state).map(drop).map_err(self.error())
    }
}

/// Copies index loads for an iteration, whose counter is the second of the two.
fn load<'c>(b: &Builder<'c>, indices: &[&IndexLoad<'c>], (counter, at): (Val<'c>, Val<'c>)) -> Vec<Val<'c>> {
    let mut map: ValueMap<'c> = [(key(counter), at)].into_iter().collect();
    for index in indices {
        b.set_location(index.op.location());
        clone_missing(b, &index.slice, &mut map);
        clone_missing(b, &[index.op], &mut map);
    }
    indices.iter().map(|index| map[&key(index.value())]).collect()
}

/// Clones the ops that have results outside of the map, and adds the results of the clones to it.
pub(super) fn clone_missing<'c>(b: &Builder<'c>, ops: &[OpRef<'c>], map: &mut ValueMap<'c>) {
    for &op in ops {
        if results(op).all(|r| map.contains_key(&key(r))) {
            continue;
        }
        let copy = clone_detached(op);
        for (i, v) in operands(op).enumerate() {
            if let Some(new) = map.get(&key(v)) {
                set_operand(copy, i, *new);
            }
        }
        b.insert_op(copy);
        for (old, new) in results(op).zip(results(copy)) {
            map.insert(key(old), new);
        }
    }
}
