//! Where a program holds most at a time.
//!
//! A value is held from the op that defines it to its last use; what is used in a loop, and defined before it, to the
//! end of the loop. Callers say what each value weighs.

use crate::dialect::rt::*;
use rustc_hash::FxHashMap;

/// Places of the program's ops in their order, and the weights that come and go there.
struct Timeline {
    /// First and last place of each op: all of a loop or branch.
    places: FxHashMap<usize, (usize, usize)>,
    /// What is held more, or less, from a place on.
    changes: Vec<i64>,
}

/// The weight of all values of `function` that are held at its fullest place. `stay` are values that are held to the
/// end of the block in which they are defined, and from its beginning on if that is a loop's: an asynchronous op reads
/// them.
pub fn fullest<'c>(function: OpRef<'c>, weight: &dyn Fn(Val<'c>) -> u32, stay: &[Val<'c>]) -> u32 {
    let mut time = Timeline { places: FxHashMap::default(), changes: vec![] };
    let mut next = 0;
    number(function, &mut next, &mut time.places);
    time.changes = vec![0; next + 2];
    walk(function, &mut |op| {
        let (first, last) = time.places[&op_key(op)];
        for v in results(op) {
            // Of a loop they are there when it is done.
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

    /// The place up to which a value is held: it is free again where its last user is.
    fn last_use<'c>(&self, v: Val<'c>, home: Option<Blk<'c>>) -> Option<usize> {
        let home = home.map(block_key)?;
        let place = |user: OpRef<'c>| {
            // The user itself, or what it is in.
            let outermost = std::iter::successors(Some(user), |o| parent_op(*o)).find(|o| block_of(*o) == home)?;
            let (first, last) = *self.places.get(&op_key(outermost))?;
            Some(if outermost == user { first } else { last })
        };
        uses(v).into_iter().filter_map(|(user, _)| place(user)).max()
    }
}
