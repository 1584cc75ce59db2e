//! The largest total weight of simultaneously live values.
//!
//! A value is live from its defining op to its last use. If it is defined before a loop and used inside, it is live
//! until the end of the loop. The caller supplies the weight of each value.

use super::registers::{Limit, register_bits, words};
use crate::dialect::{behaviour::is_cheap, layouts::Tensor, rt::*};
use rustc_hash::FxHashMap;

/// The positions of ops in program order, and the changes of the live weight.
struct Timeline {
    /// The first and last position of each op, which span all of a loop or branch.
    places: FxHashMap<usize, (usize, usize)>,
    /// The change of the live weight at each position.
    changes: Vec<i64>,
}

/// Returns the largest weight of the live values of `function`. The values in `stay` are live until the end of the
/// block that defines them, and from its beginning if it is a loop body, because an asynchronous op reads them.
pub fn fullest<'c>(function: OpRef<'c>, weight: &dyn Fn(Val<'c>) -> u32, stay: &[Val<'c>]) -> u32 {
    let mut time = Timeline { places: FxHashMap::default(), changes: vec![] };
    let mut next = 0;
    number(function, &mut next, &mut time.places);
    time.changes = vec![0; next + 2];
    walk(function, &mut |op| {
        let (first, last) = time.places[&op_key(op)];
        for v in results(op) {
            // The results of a loop become live at its end.
            let start = if region_count(op) > 0 { last } else { first };
            time.hold(v, block_around(op), start, weight(v), stay.contains(&v));
        }
        for i in 0..region_count(op) {
            let Some(block) = entry_block(region(op, i)) else { continue };
            args(block).for_each(|v| time.hold(v, Some(block), first, weight(v), false));
        }
    });
    let mut held = 0;
    let sums = time.changes.iter().map(|change| {
        held += change;
        held
    });
    sums.max().and_then(|most| u32::try_from(most).ok()).unwrap_or(0)
}

/// Returns the registers that hold the tensors of a thread where there are most of them. Tensors that are recomputed at
/// each use, and tensors that are processed in passes, do not count.
pub fn registers_of_tensors(function: OpRef<'_>) -> u32 {
    let limit = Limit::of(function);
    let weight = |v: Val<'_>| {
        let held = !defining_op(v).is_some_and(is_cheap) && !limit.is_exceeded(v);
        let size = Tensor::of_value(v).filter(|_| held).zip(register_bits(v));
        size.map_or(0, |(t, bits)| u32::try_from(words(t.element, bits)).unwrap_or(u32::MAX))
    };
    fullest(function, &weight, &[])
}

fn number(op: OpRef<'_>, next: &mut usize, places: &mut FxHashMap<usize, (usize, usize)>) {
    let first = *next;
    *next += 1;
    for i in 0..region_count(op) {
        for inner in entry_block(region(op, i)).into_iter().flat_map(ops_of) {
            number(inner, next, places);
        }
    }
    if region_count(op) > 0 {
        *next += 1;
    }
    places.insert(op_key(op), (first, *next - 1));
}

impl Timeline {
    fn hold<'c>(&mut self, v: Val<'c>, home: Option<Blk<'c>>, start: usize, weight: u32, stays: bool) {
        if weight == 0 {
            return;
        }
        let around = home.and_then(parent_of_block).and_then(|op| self.places.get(&op_key(op)).copied());
        let (start, end) = match around.filter(|_| stays) {
            Some(whole) => whole,
            None => (start, self.last_use(v, home).unwrap_or(start)),
        };
        self.changes[start] += i64::from(weight);
        self.changes[end.max(start + 1)] -= i64::from(weight);
    }

    /// Returns the position of a value's last use, after which it is dead.
    fn last_use<'c>(&self, v: Val<'c>, home: Option<Blk<'c>>) -> Option<usize> {
        let home = home.map(block_key)?;
        let place = |user: OpRef<'c>| {
            // The user itself, or the op in the defining block that contains it.
            let outermost = std::iter::successors(Some(user), |o| parent_op(*o)).find(|o| block_of(*o) == home)?;
            let (first, last) = *self.places.get(&op_key(outermost))?;
            Some(if outermost == user { first } else { last })
        };
        uses(v).into_iter().filter_map(|(user, _)| place(user)).max()
    }
}
