//! Extracts the loops of a protocol: their trip counts and loop-carried iterators.
//!
//! A loop that only runs another loop, and passes the inner loop's iterators on unchanged, is *joined* with it: the
//! protocol then depends only on the total number of inner iterations. Persistent kernels over lists of arrays have
//! such nests:
//!
//! ```text
//! for array: for tile: wait;  dot;  release
//! ```
//!
//! Without joining, each trip count of one loop would have to be checked with each of the other.

use super::{Extract, Fault, is_followed, is_iterator};
use crate::analysis::facts::Facts;
use crate::dialect::{
    arith::IntPredicate,
    rt::*,
    upstream::{Arith, Scf},
};
use tile_protocol::{Expr, MOST_COMBINATIONS, Op, Program, Var};

/// The number of combinations of trip counts above which the ranges are reduced, outer loops first.
const MANY_RUNS: u64 = 4000;

/// The same for the operations of all combinations, if each were as long as the longest. Loops three deep have long
/// runs. For rings
/// of up to eight stages, the outermost of three loops keeps four trips or more.
const MANY_OPERATIONS: u64 = 4_000_000;

impl<'c> Extract<'_, 'c> {
    pub(super) fn counted(&mut self, op: OpRef<'c>, out: &mut Vec<Op>) -> Result<(), Fault<'c>> {
        let body = entry_block(region(op, 0)).ok_or((op, "loop has no body".to_string()))?;
        let common = self.common(op)?;
        let (trips, joined) = (common.parameter.clone(), common.joined);
        self.residents.counted(op, &trips);
        // Loop-carried values that the protocol depends on become variables.
        let carried: Vec<(usize, Var)> = (0..result_count(op))
            .filter(|&i| is_followed(result(op, i)))
            .map(|i| (i, self.program.variable()))
            .collect();
        for &(i, var) in &carried {
            let Ok(init) = self.value(op, operand(op, 3 + i)) else { continue };
            out.push(Op::Set(var, init));
            self.values.insert(key(arg(body, i + 1)), var.into());
            self.values.insert(key(result(op, i)), var.into());
        }
        let counter = self.program.variable();
        self.counters.push(counter);
        self.trips.push(trips.clone());
        let mut inside = self.block(body)?;
        self.trips.pop();
        self.counters.pop();
        // All new values are computed before any variable is set.
        let last = ops_of(body).last().ok_or((op, "loop has no terminator".to_string()))?;
        let mut sets = vec![];
        for &(i, var) in carried.iter().filter(|(i, _)| self.values.contains_key(&key(result(op, *i)))) {
            let next = self.program.variable();
            inside.push(Op::Set(next, self.value(last, operand(last, i))?));
            sets.push(Op::Set(var, next.into()));
        }
        inside.extend(sets);
        let Some(inner) = joined else {
            out.push(Op::Loop { var: counter, trips, body: inside });
            return Ok(());
        };
        for inside in inside {
            out.push(match inside {
                Op::Loop { var, body, .. } => Op::Loop { var, trips: trips.clone(), body },
                Op::Set(..) => inside,
                _ => return Err((op, "this loop does more than run its inner loop".into())),
            });
        }
        // Only the total number of iterations matters, so the inner loop's parameter is fixed.
        if let Expr::Parameter(number) = self.commons.all[inner].parameter {
            self.program.parameters[number].max = 0;
        }
        Ok(())
    }

    /// Extracts a `while` loop whose body is empty after its condition. Its first region runs any number of times.
    pub(super) fn conditional(&mut self, op: OpRef<'c>, out: &mut Vec<Op>) -> Result<(), Fault<'c>> {
        if !only_asks(op) {
            return Err((op, "pipeline ops after the condition of a loop are not supported".into()));
        }
        let trips = self.common(op)?.parameter.clone();
        let no_block = || (op, "loop has no block".to_string());
        let [before, after] = [0, 1].map(|i| entry_block(region(op, i)).ok_or_else(no_block));
        let (before, after) = (before?, after?);
        let last = |block: Blk<'c>| ops_of(block).last().ok_or((op, "loop has no terminator".to_string()));
        let (asks, again) = (last(before)?, last(after)?);
        // The variables of the loop-carried iterators, by the index of the argument.
        let mut carried = vec![];
        for i in (0..arg_count(before)).filter(|&i| is_iterator(arg(before, i))) {
            let var = self.program.variable();
            out.push(Op::Set(var, self.value(op, operand(op, i))?));
            self.values.insert(key(arg(before, i)), var.into());
            carried.push((i, var));
        }
        // The first region runs at least once, unless the loop is joined with an outer one. Then it may pass on its
        // initial values.
        let handed = carries(op);
        let given: Vec<(usize, Var)> = (0..result_count(op))
            .filter(|&i| is_iterator(result(op, i)))
            .map(|i| (i, self.program.variable()))
            .collect();
        for &(i, var) in &given {
            let init = handed.iter().find(|(_, to)| *to == result(op, i)).map(|(from, _)| self.value(op, *from));
            out.push(Op::Set(var, init.transpose()?.unwrap_or(Expr::from(0))));
            self.values.insert(key(result(op, i)), var.into());
            self.values.insert(key(arg(after, i)), var.into());
        }
        let counter = self.program.variable();
        self.counters.push(counter);
        self.trips.push(trips.clone() + 1);
        let mut inside = self.block(before)?;
        self.trips.pop();
        self.counters.pop();
        for &(i, var) in &given {
            inside.push(Op::Set(var, self.value(asks, operand(asks, i + 1))?));
        }
        for &(i, var) in &carried {
            inside.push(Op::Set(var, self.value(again, operand(again, i))?));
        }
        out.push(Op::Loop { var: counter, trips: trips + 1, body: inside });
        Ok(())
    }

    /// The inner loop of a loop that only runs it, if its initial iterators are those with which it last ended.
    pub(super) fn hands_on(&self, op: OpRef<'c>) -> Option<OpRef<'c>> {
        let body = entry_block(region(op, 0)).filter(|_| Scf::of(op) == Some(Scf::For))?;
        let mut inside = ops_of(body).filter(|o| self.relevant.contains(&op_key(*o)));
        let (Some(inner), None) = (inside.next(), inside.next()) else { return None };
        let is_loop = Scf::of(inner) == Some(Scf::For) || only_asks(inner);
        // Iterations of a joined loop have no place in one of the inner loops.
        let mut parts = false;
        walk(inner, &mut |o| parts |= part_of_loop(o).is_some());
        let last = ops_of(body).last().filter(|_| is_loop && !parts)?;
        let followed: Vec<usize> = (0..result_count(op)).filter(|&i| is_followed(result(op, i))).collect();
        let handed = carries(inner);
        let passes = |i: &usize| handed.contains(&(arg(body, i + 1), operand(last, *i)));
        (handed.len() == followed.len() && followed.iter().all(passes)).then_some(inner)
    }

    /// Reduces the ranges of trip counts, outer loops first, until all combinations can be checked. If there are
    /// still too many, the ranges stay unchanged and the checker samples the combinations.
    pub(super) fn limit_runs(&mut self) {
        let whole = self.program.parameters.clone();
        let is_much = |program: &Program| {
            let runs = program.combinations();
            runs > MANY_RUNS || runs.saturating_mul(program.longest_run()) > MANY_OPERATIONS
        };
        for i in 0..whole.len() {
            while is_much(&self.program) && self.program.parameters[i].max > 2 {
                self.program.parameters[i].max -= 1;
            }
        }
        if self.program.combinations() > MOST_COMBINATIONS {
            self.program.parameters = whole;
        }
    }
}

/// The largest trip count of an `scf.for` that the ranges of its bounds allow, if they are known.
pub(super) fn most_trips(op: OpRef<'_>, facts: &Facts) -> Option<i64> {
    if Scf::of(op) != Some(Scf::For) {
        return None;
    }
    let range = |i| facts.get(operand(op, i)).range;
    let ((first, _), (_, end), (step, _)) = (range(0)?, range(1)?, range(2)?);
    // Bounds that are not negative compare alike with and without a sign.
    (first >= 0 && step > 0).then(|| end.saturating_sub(first).max(0).saturating_add(step - 1) / step)
}

/// The iterations in which a branch of a counted loop runs.
pub(super) enum LoopPart {
    First,
    AllButLast,
}

/// The iterations of the loop around it in which a branch runs, if its condition compares the counter with a bound in
/// the form of `tileas-issue-ahead`.
pub(super) fn part_of_loop(op: OpRef<'_>) -> Option<LoopPart> {
    let around = parent_op(op).filter(|o| Scf::of(op) == Some(Scf::If) && Scf::of(*o) == Some(Scf::For))?;
    let counter = arg(entry_block(region(around, 0))?, 0);
    let compared = defining_op(operand(op, 0)).filter(|o| Arith::of(*o) == Some(Arith::CmpI))?;
    let (a, b) = (operand(compared, 0), operand(compared, 1));
    match IntPredicate::of(compared)? {
        IntPredicate::Eq if (a, b) == (counter, operand(around, 0)) => Some(LoopPart::First),
        IntPredicate::Ugt if b == operand(around, 2) => {
            let left = defining_op(a).filter(|o| Arith::of(*o) == Some(Arith::SubI))?;
            let is_rest = (operand(left, 0), operand(left, 1)) == (operand(around, 1), counter);
            is_rest.then_some(LoopPart::AllButLast)
        }
        _ => None,
    }
}

/// Pairs of the initial and final value of each iterator that a loop carries. Empty if a final value cannot be
/// determined.
fn carries<'c>(op: OpRef<'c>) -> Vec<(Val<'c>, Val<'c>)> {
    if Scf::of(op) == Some(Scf::For) {
        let followed = (0..result_count(op)).filter(|&i| is_followed(result(op, i)));
        return followed.map(|i| (operand(op, 3 + i), result(op, i))).collect();
    }
    let (Some(before), Some(after)) = (entry_block(region(op, 0)), entry_block(region(op, 1))) else { return vec![] };
    let Some(again) = ops_of(after).last() else { return vec![] };
    let iterators = (0..arg_count(before)).filter(|&i| is_iterator(arg(before, i)));
    let ends = |i: usize| (0..arg_count(after)).find(|&j| arg(after, j) == operand(again, i));
    iterators.map(|i| Some((operand(op, i), result(op, ends(i)?)))).collect::<Option<_>>().unwrap_or_default()
}

/// Whether all ops of a `while` loop precede its condition, as in loops of Tile IR. Agents can run other loops, but
/// their protocol cannot be extracted.
pub fn only_asks(op: OpRef<'_>) -> bool {
    Scf::of(op) == Some(Scf::While) && entry_block(region(op, 1)).is_some_and(|after| ops_of(after).count() == 1)
}
