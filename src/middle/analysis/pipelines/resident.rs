//! Extracts loops of resident dots: loops without pipeline ops whose dots add to one stage of tensor memory.
//!
//! ```text
//! acquire q;  for j in 0..n { dot a, b into acc };  commit q           // agent matrix
//! wait q;  if n <= 0 { store zeros to acc };  load acc;  release q     // consumers
//! ```
//!
//! Only one agent contains the loop, so it is not among the loops that all agents execute. Its trip count is a
//! parameter of its own. The consumers' branch depends on the same parameter, because it compares the same bounds.
//!
//! All iterations access the same stages, so the count is 0, 1 or 2: more dots change nothing. If a loop around it
//! computes the bounds, the count differs from iteration to iteration: the loop runs never, always, in odd iterations,
//! or in even iterations.
//!
//! # Bounds of two agents
//!
//! Within an agent, equal bounds are the same values. In two agents they are clones. The first loop of the second agent
//! whose bounds are computed like those of an unused parameter gets this parameter. If bounds are taken to differ, each
//! has a parameter of its own, and a protocol that relies on their equality is rejected.

use super::{Extract, Fault, computed_alike};
use crate::{
    analysis::ring_loads::is_inside,
    dialect::{
        arith::IntPredicate,
        loops::{always_runs, loops_around},
        rt::*,
        upstream::{Arith, Scf},
    },
};
use rustc_hash::{FxHashMap, FxHashSet};
use tile_protocol::{Expr, Op};

/// The loops of resident dots of all agents, and the trip counts of the current agent's loops.
#[derive(Default)]
pub(super) struct Residents<'c> {
    all: Vec<Resident<'c>>,
    /// The trip counts of the loops that the agent has run so far, by the first and the last bound.
    known: FxHashMap<[usize; 2], Expr>,
    /// The loops of `all` that the agent has.
    used: FxHashSet<usize>,
}

/// A loop of resident dots.
struct Resident<'c> {
    bounds: [Val<'c>; 2],
    /// The trip count of the loop around it.
    around: Option<Expr>,
    parameter: Expr,
    /// The loop that computes the bounds, counted from the innermost. If there is one, the parameter is a pattern of
    /// its iterations. Otherwise it is the trip count.
    varies_in: Option<usize>,
}

impl<'c> Residents<'c> {
    /// Starts with the next agent.
    pub fn next_agent(&mut self) {
        self.known.clear();
        self.used.clear();
    }

    /// Records the trip count of a loop that all agents execute.
    pub fn counted(&mut self, op: OpRef<'c>, trips: &Expr) {
        self.known.insert([key(operand(op, 0)), key(operand(op, 1))], trips.clone());
    }
}

impl<'c> Extract<'_, 'c> {
    pub(super) fn resident(&mut self, op: OpRef<'c>, out: &mut Vec<Op>) -> Result<(), Fault<'c>> {
        let body = entry_block(region(op, 0)).ok_or((op, "loop has no body".to_string()))?;
        let trips = if always_runs(op) { Expr::from(1) } else { self.trips_of(op, [operand(op, 0), operand(op, 1)]) };
        let var = self.program.variable();
        let body = self.block(body)?;
        out.push(Op::Loop { var, trips, body });
        Ok(())
    }

    /// Extracts a branch that sets an accumulator if the loop that adds to it does not run.
    pub(super) fn store_unless_run(&mut self, op: OpRef<'c>, out: &mut Vec<Op>) -> Result<(), Fault<'c>> {
        let test = defining_op(operand(op, 0)).filter(|o| Arith::of(*o) == Some(Arith::CmpI));
        let test = test.filter(|o| matches!(IntPredicate::of(*o), Some(IntPredicate::Sle | IntPredicate::Ule)));
        let unknown = || (op, "it sets an accumulator under a condition other than that its loop does not run".into());
        let test = test.ok_or_else(unknown)?;
        let trips = self.trips_of(op, [operand(test, 1), operand(test, 0)]);
        let then = entry_block(region(op, 0)).ok_or((op, "branch has no block".to_string()))?;
        let then = self.block(then)?;
        out.push(Op::If { condition: trips.less(1), then, otherwise: vec![] });
        Ok(())
    }

    /// The trip count of the loop with these bounds. `op` is the loop, or another op of the same block.
    fn trips_of(&mut self, op: OpRef<'c>, bounds: [Val<'c>; 2]) -> Expr {
        let ids = bounds.map(key);
        if let Some(trips) = self.residents.known.get(&ids) {
            return trips.clone();
        }
        if let Some(trips) = self.trips_elsewhere(op, bounds) {
            self.residents.known.insert(ids, trips.clone());
            return trips;
        }
        let around = self.trips.last();
        let found = self.residents.all.iter().enumerate().position(|(i, other)| {
            let alike = || other.bounds.iter().zip(bounds).all(|(a, b)| computed_alike(*a, b, 0));
            !self.residents.used.contains(&i) && other.around.as_ref() == around && alike()
        });
        let number = found.unwrap_or(self.residents.all.len());
        if found.is_none() {
            let loops = loops_around(op).filter(|o| self.relevant.contains(&op_key(*o)) && Scf::of(*o).is_some());
            let varies_in =
                loops.take(self.counters.len()).position(|around| bounds.iter().any(|v| is_inside(*v, around)));
            let parameter =
                self.program.parameter(&format!("resident{number}"), if varies_in.is_some() { 3 } else { 2 });
            self.residents.all.push(Resident { bounds, around: around.cloned(), parameter, varies_in });
        }
        self.residents.used.insert(number);
        let Resident { parameter, varies_in, .. } = &self.residents.all[number];
        let counter = varies_in.and_then(|i| self.counters.iter().rev().nth(i));
        let trips = match counter {
            // Two iterations, since they do all that one does.
            Some(counter) => in_iterations(parameter, (*counter).into()) * 2,
            None => parameter.clone(),
        };
        self.residents.known.insert(ids, trips.clone());
        trips
    }
}

/// Whether a pattern includes an iteration. The patterns are: never, always, in odd iterations, in even iterations.
pub(super) fn in_iterations(pattern: &Expr, iteration: Expr) -> Expr {
    let is = |n: i64| !(pattern.clone() - n);
    is(1) + is(2) * (iteration.clone() % 2) + is(3) * ((iteration + 1) % 2)
}
