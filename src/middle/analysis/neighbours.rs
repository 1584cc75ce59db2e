//! How the values of a program differ between tile blocks whose ids are neighbours.
//!
//! Ids are often divided into a slow and a fast part, for example by `id / n` and `id % n`. Neighbours agree in the
//! slow part, except at a multiple of `n`.
//!
//! # Bound on the work
//!
//! Each op is visited once.

use crate::dialect::{
    behaviour,
    rt::*,
    types::is_integer,
    upstream::{Arith, Scf},
};
use rustc_hash::FxHashMap;

/// How a value differs between a tile block and its neighbour. Later variants say less.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Change {
    /// It does not depend on the id.
    Never,
    /// It is the same for most pairs of neighbours.
    Seldom,
    /// It differs by a constant for most pairs of neighbours.
    Step,
    Unknown,
}

/// The changes of the values of a function from a tile block to the next one along a dimension of the grid.
pub struct Neighbours(FxHashMap<usize, Change>);

impl Neighbours {
    /// `id` is the coordinate of the tile block along the dimension.
    pub fn of<'c>(function: OpRef<'c>, id: Val<'c>) -> Self {
        let mut all = Self(FxHashMap::from_iter([(key(id), Change::Step)]));
        walk(function, &mut |op| {
            let change = all.of_op(op);
            results(op).for_each(|r| all.record(r, change));
            // Arguments of the regions of an op, such as the number of an iteration.
            let inside =
                if operands(op).all(|v| all.change(v) == Change::Never) { Change::Never } else { Change::Unknown };
            let is_loop = Scf::of(op) == Some(Scf::For);
            for block in (0..region_count(op)).filter_map(|i| entry_block(region(op, i))).filter(|_| op != function) {
                for (i, v) in args(block).enumerate() {
                    // What a loop carries depends on its body.
                    all.record(v, if is_loop && i == 0 { inside } else { Change::Unknown });
                }
            }
        });
        all
    }

    pub fn change(&self, v: Val<'_>) -> Change {
        self.0.get(&key(v)).copied().unwrap_or(Change::Never)
    }

    /// Records a change, unless it is that of the id.
    fn record(&mut self, v: Val<'_>, change: Change) {
        if change != Change::Never {
            self.0.entry(key(v)).or_insert(change);
        }
    }

    /// The change of the results of an op.
    fn of_op(&self, op: OpRef<'_>) -> Change {
        let changes: Vec<Change> = operands(op).map(|v| self.change(v)).collect();
        let most = changes.iter().copied().max().unwrap_or(Change::Never);
        if region_count(op) > 0 {
            return Change::Unknown;
        }
        // Ops that repeat what they do for equal operands.
        let repeats = behaviour::effects(op).is_some_and(|list| list.is_empty());
        if most <= Change::Seldom && (repeats || most == Change::Never) {
            return most;
        }
        let is_scalar = results(op).all(|r| is_integer(ty(r)));
        if !repeats || !is_scalar || most == Change::Unknown {
            return Change::Unknown;
        }
        let seldom = |i: usize| changes[i] <= Change::Seldom;
        match Arith::of(op) {
            Some(Arith::DivSI | Arith::DivUI | Arith::FloorDivSI | Arith::CeilDivSI | Arith::CeilDivUI)
            | Some(Arith::ShRSI | Arith::ShRUI)
                if seldom(1) && !is_one(op) =>
            {
                Change::Seldom
            }
            Some(Arith::RemSI | Arith::RemUI | Arith::ShLI) if seldom(1) => Change::Step,
            Some(Arith::AddI | Arith::MulI | Arith::MinSI | Arith::MinUI | Arith::MaxSI | Arith::MaxUI)
                if seldom(0) || seldom(1) =>
            {
                Change::Step
            }
            Some(Arith::SubI) if seldom(0) || seldom(1) => Change::Step,
            Some(Arith::ExtSI | Arith::ExtUI | Arith::TruncI) => Change::Step,
            // A bound on an id has few ids at it.
            Some(Arith::CmpI) if seldom(0) || seldom(1) => Change::Seldom,
            Some(Arith::Select) if seldom(0) => Change::Step,
            // Promises about a value return it.
            None if operand_count(op) == 1 && result_count(op) == 1 => Change::Step,
            _ => Change::Unknown,
        }
    }
}

/// Whether the second operand is such a constant that neighbours differ in each quotient.
fn is_one(op: OpRef<'_>) -> bool {
    let shifts = matches!(Arith::of(op), Some(Arith::ShRSI | Arith::ShRUI));
    behaviour::int_constant(operand(op, 1)) == Some(i64::from(!shifts))
}
