//! Loops of a protocol: how often agents go through them, and what they carry.
//!
//! A loop that does nothing but go through another one, and hands on the iterators that it gets back, is one loop with
//! it: what agents do depends on the trips of both together. Persistent kernels over lists of arrays have such nests.
//! Taken one by one, each of their trip counts would have to be tried with each of the others.

use super::{Extract, Fault, computed_alike, is_followed, is_iterator};
use crate::analysis::{producers::condition, tensor_map_ops::readiness};
use crate::dialect::{rt::*, upstream::Scf};
use tile_protocol::{Expr, MOST_COMBINATIONS, Op, Var};

/// Combinations of trip counts for which those of outer loops are cut short.
const MANY_RUNS: u64 = 4000;

/// A loop or branch that all agents go through.
pub(super) struct Common<'c> {
    op: OpRef<'c>,
    parameter: Expr,
}

impl<'c> Extract<'c> {
    pub(super) fn counted(&mut self, op: OpRef<'c>, out: &mut Vec<Op>) -> Result<(), Fault<'c>> {
        let body = entry_block(region(op, 0)).ok_or((op, "loop has no body".to_string()))?;
        let joined = self.joined.get(self.loops_seen) == Some(&true);
        let trips = self.common(op, true)?;
        let inner = self.loops_seen;
        // Carried values that the protocol depends on have variables.
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
        let mut inside = self.block(body)?;
        self.counters.pop();
        // All new values are computed before any is set.
        let last = ops_of(body).last().ok_or((op, "loop has no terminator".to_string()))?;
        let mut sets = vec![];
        for &(i, var) in carried.iter().filter(|(i, _)| self.values.contains_key(&key(result(op, *i)))) {
            let next = self.program.variable();
            inside.push(Op::Set(next, self.value(last, operand(last, i))?));
            sets.push(Op::Set(var, next.into()));
        }
        inside.extend(sets);
        if !joined {
            out.push(Op::Loop { var: counter, trips, body: inside });
            return Ok(());
        }
        for inside in inside {
            out.push(match inside {
                Op::Loop { var, body, .. } => Op::Loop { var, trips: trips.clone(), body },
                Op::Set(..) => inside,
                _ => return Err((op, "a loop around another one does more".into())),
            });
        }
        // Nothing depends on how often the inner one is gone through at a time.
        if let Some(Common { parameter: Expr::Parameter(number), .. }) = self.loops.get(inner) {
            self.program.parameters[*number].max = 0;
        }
        Ok(())
    }

    /// A loop that asks each time whether it goes on: its first region is gone through any number of times, and nothing
    /// happens in the second one.
    pub(super) fn conditional(&mut self, op: OpRef<'c>, out: &mut Vec<Op>) -> Result<(), Fault<'c>> {
        if !only_asks(op) {
            return Err((op, "a pipeline behind the condition of a loop cannot be followed".into()));
        }
        let trips = self.common(op, true)?;
        let no_block = || (op, "loop has no block".to_string());
        let [before, after] = [0, 1].map(|i| entry_block(region(op, i)).ok_or_else(no_block));
        let (before, after) = (before?, after?);
        let last = |block: Blk<'c>| ops_of(block).last().ok_or((op, "loop has no terminator".to_string()));
        let (asks, again) = (last(before)?, last(after)?);
        // What is carried that the protocol depends on, by the number of the argument.
        let mut carried = vec![];
        for i in (0..arg_count(before)).filter(|&i| is_iterator(arg(before, i))) {
            let var = self.program.variable();
            out.push(Op::Set(var, self.value(op, operand(op, i))?));
            self.values.insert(key(arg(before, i)), var.into());
            carried.push((i, var));
        }
        // It is gone through at least once, unless it is joined to a loop around it: then it gives what it was given.
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
        let mut inside = self.block(before)?;
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

    /// Whether each loop of a block, in the order in which they are met, can be one with the loop in it.
    pub(super) fn joins_in(&self, block: Blk<'c>) -> Vec<bool> {
        let mut joins = vec![];
        for op in ops_of(block).filter(|o| self.relevant.contains(&op_key(*o))) {
            if matches!(Scf::of(op), Some(Scf::For | Scf::While)) {
                joins.push(self.hands_on(op));
            }
            let regions = match readiness(op) {
                Some(_) => usize::from(!self.ready)..usize::from(!self.ready) + 1,
                None => 0..region_count(op),
            };
            for block in regions.filter_map(|i| entry_block(region(op, i))) {
                joins.extend(self.joins_in(block));
            }
        }
        joins
    }

    /// Whether a loop goes through another one only, which starts each time with the iterators that it ended with.
    fn hands_on(&self, op: OpRef<'c>) -> bool {
        let Some(body) = entry_block(region(op, 0)).filter(|_| Scf::of(op) == Some(Scf::For)) else { return false };
        let mut inside = ops_of(body).filter(|o| self.relevant.contains(&op_key(*o)));
        let (Some(inner), None) = (inside.next(), inside.next()) else { return false };
        let is_loop = Scf::of(inner) == Some(Scf::For) || only_asks(inner);
        let Some(last) = ops_of(body).last().filter(|_| is_loop) else { return false };
        let followed: Vec<usize> = (0..result_count(op)).filter(|&i| is_followed(result(op, i))).collect();
        let handed = carries(inner);
        let passes = |i: &usize| handed.contains(&(arg(body, i + 1), operand(last, *i)));
        handed.len() == followed.len() && followed.iter().all(passes)
    }

    /// The parameter of a loop or branch, one for all agents: its trips, of a `while` those beyond the first.
    pub(super) fn common(&mut self, op: OpRef<'c>, is_loop: bool) -> Result<Expr, Fault<'c>> {
        let stages = self.pipelines.values().map(|p| p.stages).max().unwrap_or(1);
        let (list, seen) = if is_loop {
            (&mut self.loops, &mut self.loops_seen)
        } else {
            (&mut self.branches, &mut self.branches_seen)
        };
        *seen += 1;
        if let Some(other) = list.get(*seen - 1) {
            let decides = |op| match Scf::of(op) {
                Some(Scf::While) => condition(op).map(|last| operand(last, 0)).into_iter().collect(),
                Some(Scf::For) => operands(op).take(3).collect(),
                _ => operands(op).take(1).collect::<Vec<_>>(),
            };
            let (here, there) = (decides(op), decides(other.op));
            let same = Scf::of(op) == Scf::of(other.op)
                && here.len() == there.len()
                && here.into_iter().zip(there).all(|(a, b)| computed_alike(a, b, 0));
            let parameter = other.parameter.clone();
            return if same {
                Ok(parameter)
            } else {
                Err((op, "agents go through different loops or branches".into()))
            };
        }
        if self.number > 0 {
            return Err((op, "agents go through different loops or branches".into()));
        }
        let (name, most) = if is_loop { ("trips", 2 * stages + 2) } else { ("branch", 3) };
        let parameter = self.program.parameter(&format!("{name}{}", list.len()), most);
        list.push(Common { op, parameter: parameter.clone() });
        Ok(parameter)
    }

    /// Cuts trip counts short, those of outer loops first, until all combinations can be checked. If there are too many
    /// even so, the counts stay as they are, and the checker takes a sample of the combinations.
    pub(super) fn limit_runs(&mut self) {
        let whole = self.program.parameters.clone();
        for i in 0..whole.len() {
            while self.program.combinations() > MANY_RUNS && self.program.parameters[i].max > 2 {
                self.program.parameters[i].max -= 1;
            }
        }
        if self.program.combinations() > MOST_COMBINATIONS {
            self.program.parameters = whole;
        }
    }
}

/// What a loop starts with, and what it gives in its place in the end, of all that it carries and the protocol depends
/// on. Empty where the second is not simple to say.
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

/// Whether all that a `while` does stands before its condition, as in the loops of the public language: agents can go
/// through others, but their protocol cannot be followed.
pub fn only_asks(op: OpRef<'_>) -> bool {
    Scf::of(op) == Some(Scf::While) && entry_block(region(op, 1)).is_some_and(|after| ops_of(after).count() == 1)
}
