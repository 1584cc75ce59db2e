//! Finds the loops and branches that several agents have in common.
//!
//! An agent lacks the loops in which it has nothing to do:
//!
//! ```text
//! for i in 0..n { dot of rings a, b };  for j in 0..m { dot of rings c, d }     // agent matrix
//!                                       for j in 0..m { negate a tile into c }  // a converter
//! ```
//!
//! A loop of one agent is a loop of another if the loops around both are the same and their bounds are computed alike.
//! If several loops have such bounds, the first one that shares a pipeline is taken, or else the first one. The loop
//! has one parameter, which all its agents share. The same holds for branches and their conditions.
//!
//! If no loop of another agent is like it, a loop has a parameter of its own. Then the check covers all pairs of trip
//! counts, and rejects a protocol that relies on their equality.
//!
//! # Bound on the work
//!
//! Agents with more loops come first. Then the loop after the one that was found last is usually the next one, and the
//! work is linear in ops times nesting depth. Otherwise a loop is compared with all loops of other agents.

use super::{Extract, Fault, computed_alike, loops::most_trips, loops::part_of_loop};
use crate::{
    analysis::{producers::condition, tensor_map_ops::readiness},
    dialect::{loops::always_runs, nv_tileas::PipelineType, rt::*, upstream::Scf},
};
use rustc_hash::{FxHashMap, FxHashSet};
use tile_protocol::Expr;

/// A loop or branch of one agent or several.
pub(super) struct Common<'c> {
    /// The op of the first agent that has it.
    op: OpRef<'c>,
    /// The loop or branch around it.
    around: Option<usize>,
    /// Its pipelines in all agents.
    pipelines: FxHashSet<usize>,
    agents: Vec<usize>,
    /// The inner loop with which a loop is joined.
    pub joined: Option<usize>,
    /// For a `while` loop, it counts the trips after the first.
    pub parameter: Expr,
}

/// The loops and branches of all agents.
#[derive(Default)]
pub(super) struct Commons<'c> {
    pub all: Vec<Common<'c>>,
    /// The indices in `all`, by op.
    numbers: FxHashMap<usize, usize>,
}

impl<'c> Commons<'c> {
    /// Looks for a loop or branch in other agents, from `first` on. Otherwise adds it.
    fn find(&mut self, op: OpRef<'c>, around: Option<usize>, agent: usize, first: usize) -> usize {
        let mut pipelines = FxHashSet::default();
        walk(op, &mut |o| {
            pipelines.extend(operands(o).filter(|v| PipelineType::cast(ty(*v)).is_some()).map(key));
        });
        let mut found = None;
        for i in (first..self.all.len()).chain(0..first) {
            let other = &self.all[i];
            if other.agents.contains(&agent) || other.around != around || !decided_alike(op, other.op) {
                continue;
            }
            let shares = !other.pipelines.is_disjoint(&pipelines);
            if shares || found.is_none() {
                found = Some(i);
            }
            if shares {
                break;
            }
        }
        let number = found.unwrap_or(self.all.len());
        match found {
            Some(i) => {
                self.all[i].pipelines.extend(pipelines);
                self.all[i].agents.push(agent);
            }
            None => {
                let parameter = Expr::from(0);
                self.all.push(Common { op, around, pipelines, agents: vec![agent], joined: None, parameter });
            }
        }
        self.numbers.insert(op_key(op), number);
        number
    }
}

impl<'c> Extract<'_, 'c> {
    /// The loop or branch, with its parameter.
    pub(super) fn common(&self, op: OpRef<'c>) -> Result<&Common<'c>, Fault<'c>> {
        let number = self.commons.numbers.get(&op_key(op));
        let number = number.ok_or((op, "pipeline ops in this loop or branch are not supported".to_string()))?;
        Ok(&self.commons.all[*number])
    }

    /// The trip count of a loop that the current agent lacks, with these bounds, in the loops and branches around `op`.
    pub(super) fn trips_elsewhere(&self, op: OpRef<'c>, bounds: [Val<'c>; 2]) -> Option<Expr> {
        let Commons { all, numbers } = &self.commons;
        let mut outer = std::iter::successors(parent_op(op), |o| parent_op(*o));
        let around = outer.find_map(|o| numbers.get(&op_key(o)).copied());
        let found = all.iter().find(|other| {
            let has_bounds = || (0..2).all(|i| computed_alike(operand(other.op, i), bounds[i], 0));
            let is_loop = Scf::of(other.op) == Some(Scf::For) && other.around == around;
            is_loop && other.joined.is_none() && !other.agents.contains(&self.agent) && has_bounds()
        });
        found.map(|other| other.parameter.clone())
    }

    /// Finds the loops and branches of all agents, and gives them parameters. If `joins` is set, a loop that only runs
    /// another loop, the same in each of its agents, is joined with it.
    pub(super) fn match_agents(&mut self, agents: &[Blk<'c>], joins: bool) {
        let found: Vec<_> = agents
            .iter()
            .map(|block| {
                let mut found = vec![];
                self.decisions_in(*block, None, &mut found);
                found
            })
            .collect();
        let mut order: Vec<usize> = (0..agents.len()).collect();
        order.sort_by_key(|&agent| std::cmp::Reverse(found[agent].len()));
        for agent in order {
            let mut numbers: Vec<usize> = vec![];
            for &(op, around) in &found[agent] {
                let around = around.map(|i| numbers[i]);
                let first = numbers.last().map_or(0, |last| last + 1);
                numbers.push(self.commons.find(op, around, agent, first));
            }
        }
        if joins {
            self.join(&found.concat().into_iter().map(|(op, _)| op).collect::<Vec<_>>());
        }
        self.add_parameters();
    }

    /// The loops and branches of a block in program order, each with the index of the one around it.
    fn decisions_in(&self, block: Blk<'c>, around: Option<usize>, found: &mut Vec<(OpRef<'c>, Option<usize>)>) {
        for op in ops_of(block).filter(|o| self.relevant.contains(&op_key(*o))) {
            let (number, regions) = match readiness(op) {
                Some(_) => (around, usize::from(!self.ready)..usize::from(!self.ready) + 1),
                None if Scf::of(op).is_some() && part_of_loop(op).is_none() => {
                    found.push((op, around));
                    (Some(found.len() - 1), 0..region_count(op))
                }
                None => (around, 0..region_count(op)),
            };
            for block in regions.filter_map(|i| entry_block(region(op, i))) {
                self.decisions_in(block, number, found);
            }
        }
    }

    fn join(&mut self, ops: &[OpRef<'c>]) {
        // The inner loop in all agents so far, or none if an agent cannot join the loop.
        let mut inner_loops: FxHashMap<usize, Option<usize>> = FxHashMap::default();
        for &op in ops.iter().filter(|op| Scf::of(**op) != Some(Scf::If)) {
            let numbers = &self.commons.numbers;
            let inner = self.hands_on(op).and_then(|inner| numbers.get(&op_key(inner))).copied();
            let all = inner_loops.entry(numbers[&op_key(op)]).or_insert(inner);
            *all = all.filter(|all| Some(*all) == inner);
        }
        for (number, inner) in inner_loops {
            self.commons.all[number].joined = inner;
        }
    }

    fn add_parameters(&mut self) {
        let stages = self.pipelines.values().map(|p| p.stages).max().unwrap_or(1);
        let (mut loops, mut branches) = (0, 0);
        for number in 0..self.commons.all.len() {
            let Common { op, around, joined, .. } = self.commons.all[number];
            let (name, most, count) = match Scf::of(op) {
                Some(Scf::If) => ("branch", 3, &mut branches),
                _ => ("trips", 2 * stages + 2, &mut loops),
            };
            let most = most_trips(op, self.facts).map_or(most, |known| known.min(most));
            // A joined loop runs if any of its inner loops does.
            let is_joined = joined.is_some() || around.is_some_and(|i| self.commons.all[i].joined.is_some());
            let least = i64::from(Scf::of(op) == Some(Scf::For) && !is_joined && always_runs(op));
            let parameter = self.program.parameter(&format!("{name}{count}"), most - least) + least;
            *count += 1;
            self.commons.all[number].parameter = parameter;
        }
    }
}

/// Whether the bounds of two loops, or the conditions of two branches, are computed alike.
fn decided_alike<'c>(a: OpRef<'c>, b: OpRef<'c>) -> bool {
    let decides = |op| match Scf::of(op) {
        Some(Scf::While) => condition(op).map(|last| operand(last, 0)).into_iter().collect(),
        Some(Scf::For) => operands(op).take(3).collect(),
        _ => operands(op).take(1).collect::<Vec<_>>(),
    };
    let (here, there) = (decides(a), decides(b));
    Scf::of(a) == Scf::of(b)
        && here.len() == there.len()
        && here.into_iter().zip(there).all(|(a, b)| computed_alike(a, b, 0))
}
