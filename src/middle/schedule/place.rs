//! Placement at a given interval, by a variant of Rau's iterative modulo scheduling.
//!
//! Groups of operations are placed one at a time, the group with the greatest height first. Four *strategies* are
//! tried in order until one succeeds:
//!
//! 1. *permutation*: place the operations of the group one at a time, in every order, each where all placed
//!    operations allow it;
//! 2. *fusion*: remove a placed neighbor in the dependence graph, and place it together with the group;
//! 3. *ejection*: put the group at its earliest time, later each time it returns; eject the conflicting operations,
//!    which are placed again;
//! 4. *cost*: put a group that has been ejected often at the time that ejects the least.
//!
//! The total number of placements is bounded by a budget.

use crate::{
    bounds,
    graph::{Edge, Graph},
    lifetimes,
    table::{Conflict, Tables, Units},
};
use std::ops::RangeInclusive;

/// The ways to place a group, in the order in which they are tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    Permutation,
    Fusion,
    Ejection,
    Cost,
}

impl Strategy {
    /// All strategies, in the order in which they are tried.
    pub const ALL: [Self; 4] = [Self::Permutation, Self::Fusion, Self::Ejection, Self::Cost];

    pub fn name(self) -> &'static str {
        match self {
            Self::Permutation => "permutation",
            Self::Fusion => "fusion",
            Self::Ejection => "ejection",
            Self::Cost => "cost",
        }
    }
}

/// A complete placement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placement {
    pub interval: u32,
    /// The clock at which each node begins, counted through all stages of an iteration.
    pub times: Vec<i64>,
    pub agents: Vec<usize>,
    /// The units of each node, in the order of its footprint.
    pub units: Vec<Units>,
    /// The number of groups that each strategy placed, as in [`Strategy::ALL`].
    pub strategies: [u32; 4],
}

/// The reason why no placement was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlacementError {
    /// A node could not be placed within the budget. `conflict` is the last conflict.
    Node { node: usize, conflict: Option<Conflict> },
    /// An agent needs more registers than it has.
    Registers { agent: usize, held: u32 },
}

/// The number of ejections of a node after which the cost strategy replaces the ejection strategy.
const EJECTIONS: u32 = 3;
/// The most orders of a group that are tried.
const ORDERS: usize = 24;
/// The number of times among which the cost strategy chooses.
const CANDIDATE_TIMES: i64 = 24;
/// The most neighbors that fusion tries.
const NEIGHBOURS: usize = 6;

/// Places all nodes at an interval, with at most `budget` placements of nodes in all.
///
/// Errors: the node or the agent for which the first priority order failed.
pub fn place(graph: &Graph, interval: u32, budget: usize) -> Result<Placement, PlacementError> {
    let heights = bounds::heights(graph, interval);
    let mut first = None;
    // Nodes that occupy a unit for long are hard to place late. Nodes of great height should not be placed late. Both
    // orders are tried.
    let sizes: Vec<i64> = graph.nodes.iter().map(|n| n.footprint.iter().map(|u| i64::from(u.clocks)).sum()).collect();
    let by_height: Vec<(i64, i64)> = heights.iter().copied().zip(sizes.iter().copied()).collect();
    let by_size: Vec<(i64, i64)> = sizes.into_iter().zip(heights).collect();
    for priority in [by_height, by_size] {
        match Placer::new(graph, interval, priority).run(budget) {
            Ok(placement) => return Ok(placement),
            Err(refusal) => first = first.or(Some(refusal)),
        }
    }
    Err(first.unwrap_or(PlacementError::Node { node: 0, conflict: None }))
}

/// The time, agent and units of a placed node.
#[derive(Clone, Debug)]
struct Slot {
    time: i64,
    agent: usize,
    units: Units,
}

struct Placer<'a> {
    graph: &'a Graph,
    interval: i64,
    priority: Vec<(i64, i64)>,
    tables: Tables,
    slots: Vec<Option<Slot>>,
    /// The edges of each node, without self-edges, which the interval satisfies.
    edges: Vec<Vec<Edge>>,
    /// The last time to which a node was forced.
    forced: Vec<Option<i64>>,
    ejected: Vec<u32>,
    unplaced: std::collections::BTreeSet<((i64, i64), std::cmp::Reverse<usize>)>,
    conflict: Option<Conflict>,
    strategies: [u32; 4],
}

/// The first and last time at which a node may begin, as far as placed nodes restrict it.
#[derive(Clone, Copy)]
struct Window {
    first: Option<i64>,
    last: Option<i64>,
}

impl<'a> Placer<'a> {
    fn new(graph: &'a Graph, interval: u32, priority: Vec<(i64, i64)>) -> Self {
        let n = graph.nodes.len();
        let mut edges = vec![vec![]; n];
        for e in graph.edges.iter().filter(|e| e.from != e.to) {
            edges[e.from].push(*e);
            edges[e.to].push(*e);
        }
        Self {
            graph,
            interval: interval.into(),
            unplaced: (0..n).map(|i| (priority[i], std::cmp::Reverse(i))).collect(),
            priority,
            tables: Tables::new(graph, interval),
            slots: vec![None; n],
            edges,
            forced: vec![None; n],
            ejected: vec![0; n],
            conflict: None,
            strategies: [0; 4],
        }
    }

    fn run(mut self, budget: usize) -> Result<Placement, PlacementError> {
        let mut left = budget;
        while let Some(&(_, std::cmp::Reverse(node))) = self.unplaced.last() {
            let group = self.group_around(node);
            if left < group.len() {
                return Err(PlacementError::Node { node, conflict: self.conflict });
            }
            left -= group.len();
            let placed = Strategy::ALL.into_iter().position(|strategy| match strategy {
                Strategy::Permutation => self.permute(&group),
                Strategy::Fusion => self.fuse(&group),
                Strategy::Ejection => self.eject(&group),
                Strategy::Cost => self.cheapest(&group),
            });
            match placed {
                Some(strategy) => self.strategies[strategy] += 1,
                None => return Err(PlacementError::Node { node, conflict: self.conflict }),
            }
        }
        self.finish()
    }

    fn finish(mut self) -> Result<Placement, PlacementError> {
        let mut peaks = self.peaks();
        if lifetimes::over_budget(self.graph, &peaks).is_some() {
            self.shorten_lives();
            peaks = self.peaks();
        }
        if let Some((agent, held)) = lifetimes::over_budget(self.graph, &peaks) {
            return Err(PlacementError::Registers { agent, held });
        }
        // Stages count from 0. Shifting by whole intervals keeps every node in its row.
        let (mut times, agents) = self.times();
        let least = times.iter().map(|t| t.div_euclid(self.interval)).min().unwrap_or(0) * self.interval;
        times.iter_mut().for_each(|t| *t -= least);
        let units = self.slots.into_iter().map(|s| s.map(|s| s.units).unwrap_or_default()).collect();
        Ok(Placement { interval: self.interval as u32, times, agents, units, strategies: self.strategies })
    }

    fn times(&self) -> (Vec<i64>, Vec<usize>) {
        self.slots.iter().map(|s| s.as_ref().map_or((0, 0), |s| (s.time, s.agent))).unzip()
    }

    fn peaks(&self) -> Vec<u32> {
        let (times, agents) = self.times();
        lifetimes::peaks(self.graph, self.interval as u32, &times, &agents)
    }

    /// The unplaced nodes of the node's group, the most urgent first.
    fn group_around(&self, node: usize) -> Vec<usize> {
        let Some(group) = self.graph.nodes[node].group else { return vec![node] };
        let mut all: Vec<usize> = (0..self.slots.len())
            .filter(|n| self.slots[*n].is_none() && self.graph.nodes[*n].group == Some(group))
            .collect();
        all.sort_by_key(|n| std::cmp::Reverse((self.priority[*n], std::cmp::Reverse(*n))));
        all
    }

    fn insert(&mut self, node: usize, slot: Slot) {
        self.tables.commit(self.graph, node, slot.agent, slot.time, &slot.units);
        self.slots[node] = Some(slot);
        self.unplaced.remove(&(self.priority[node], std::cmp::Reverse(node)));
    }

    fn remove(&mut self, node: usize) -> Option<Slot> {
        let slot = self.slots[node].take()?;
        self.tables.release(self.graph, node, slot.agent, slot.time, &slot.units);
        self.unplaced.insert((self.priority[node], std::cmp::Reverse(node)));
        Some(slot)
    }

    fn eject_node(&mut self, node: usize) {
        if self.remove(node).is_some() {
            self.ejected[node] += 1;
        }
    }

    /// The stage of a placed node.
    fn stage(&self, node: usize) -> Option<i64> {
        self.slots[node].as_ref().map(|s| s.time.div_euclid(self.interval))
    }

    /// The first and last stage that each placed node of a related group allows a node.
    fn stages(&self, node: usize) -> Vec<(usize, i64, i64)> {
        let Some(group) = self.graph.nodes[node].group else { return vec![] };
        let mut bounds = vec![];
        for (other, n) in self.graph.nodes.iter().enumerate() {
            let (Some(stage), Some(its)) = (self.stage(other).filter(|_| other != node), n.group) else { continue };
            let depth = |g: usize| match self.graph.groups[g].max_depth {
                0 => i64::from(u32::MAX),
                most => most.into(),
            };
            if its == group {
                bounds.push((other, stage, stage));
            } else if self.graph.groups[group].leader == Some(its) {
                bounds.push((other, stage, stage + depth(group)));
            } else if self.graph.groups[its].leader == Some(group) {
                bounds.push((other, stage - depth(its), stage));
            }
        }
        bounds
    }

    /// The clocks from the start of `edge.from` to the start of `edge.to`, at least.
    fn gap(&self, edge: &Edge, from: usize, to: usize) -> i64 {
        let crossing = if from == to { 0 } else { edge.crossing };
        i64::from(edge.latency) + i64::from(crossing) - self.interval * i64::from(edge.distance)
    }

    fn window(&self, node: usize, agent: usize) -> Window {
        let mut w = Window { first: None, last: None };
        let mut after = |t: i64| w.first = Some(w.first.map_or(t, |f| f.max(t)));
        for e in self.edges[node].iter().filter(|e| e.to == node) {
            if let Some(s) = &self.slots[e.from] {
                after(s.time + self.gap(e, s.agent, agent));
            }
        }
        let stages = self.stages(node);
        stages.iter().for_each(|(_, first, _)| after(first * self.interval));
        let mut before = |t: i64| w.last = Some(w.last.map_or(t, |l| l.min(t)));
        for e in self.edges[node].iter().filter(|e| e.from == node) {
            if let Some(s) = &self.slots[e.to] {
                before(s.time - self.gap(e, agent, s.agent));
            }
        }
        stages.iter().for_each(|(_, _, last)| before(last * self.interval + self.interval - 1));
        w
    }

    /// The best free slot of a node: the earliest, or the latest if only later nodes are placed, on the best agent.
    fn free_slot(&mut self, node: usize) -> Option<Slot> {
        let mut best: Option<(i64, Slot)> = None;
        for agent in self.graph.agents_of(node) {
            let w = self.window(node, agent);
            let down = w.first.is_none() && w.last.is_some();
            let (first, last) = match (w.first, w.last) {
                (Some(f), l) => (f, l.map_or(f + self.interval - 1, |l| l.min(f + self.interval - 1))),
                (None, Some(l)) => (l - self.interval + 1, l),
                (None, None) => (0, self.interval - 1),
            };
            if let Some(slot) = self.scan(node, agent, first..=last, down) {
                let cost = if down { -slot.time } else { slot.time };
                if best.as_ref().is_none_or(|(c, _)| cost < *c) {
                    best = Some((cost, slot));
                }
            }
        }
        best.map(|(_, slot)| slot)
    }

    /// The first free slot in a span of times, or the last if `down`.
    fn scan(&mut self, node: usize, agent: usize, times: RangeInclusive<i64>, down: bool) -> Option<Slot> {
        let mut time = if down { *times.end() } else { *times.start() };
        while times.contains(&time) {
            match self.tables.probe(self.graph, node, agent, time) {
                Ok(units) => return Some(Slot { time, agent, units }),
                Err(conflict) => {
                    time += if down { -i64::from(conflict.sooner) } else { i64::from(conflict.later) };
                    self.conflict = Some(conflict);
                }
            }
        }
        None
    }

    /// Places nodes in the given order, or none of them if one has no slot.
    fn place_all(&mut self, nodes: &[usize]) -> bool {
        for (i, &node) in nodes.iter().enumerate() {
            match self.free_slot(node) {
                Some(slot) => self.insert(node, slot),
                None => {
                    for done in &nodes[..i] {
                        self.remove(*done);
                    }
                    return false;
                }
            }
        }
        true
    }

    fn permute(&mut self, group: &[usize]) -> bool {
        let mut order = group.to_vec();
        let mut tried = 0;
        self.permute_from(&mut order, 0, &mut tried)
    }

    fn permute_from(&mut self, order: &mut Vec<usize>, fixed: usize, tried: &mut usize) -> bool {
        if fixed + 1 >= order.len() {
            *tried += 1;
            return self.place_all(&order.clone());
        }
        for i in fixed..order.len() {
            if *tried >= ORDERS {
                return false;
            }
            order.swap(fixed, i);
            if self.permute_from(order, fixed + 1, tried) {
                return true;
            }
            order.swap(fixed, i);
        }
        false
    }

    fn fuse(&mut self, group: &[usize]) -> bool {
        let mut neighbours: Vec<usize> = vec![];
        for e in group.iter().flat_map(|n| &self.edges[*n]) {
            for other in [e.from, e.to] {
                if self.slots[other].is_some() && !group.contains(&other) && !neighbours.contains(&other) {
                    neighbours.push(other);
                }
            }
        }
        for other in neighbours.into_iter().take(NEIGHBOURS) {
            let Some(old) = self.remove(other) else { continue };
            let nodes = [group, &[other]].concat();
            if self.place_all(&nodes) {
                return true;
            }
            self.insert(other, old);
        }
        false
    }

    fn eject(&mut self, group: &[usize]) -> bool {
        if group.iter().any(|n| self.ejected[*n] >= EJECTIONS) {
            return false;
        }
        for &node in group {
            let agent = self.graph.agents_of(node)[0];
            let w = self.window(node, agent);
            let early = w.first.or(w.last.map(|l| l - self.interval + 1)).unwrap_or(0);
            let time = self.forced[node].map_or(early, |t| early.max(t + 1));
            self.force(node, agent, time);
        }
        true
    }

    /// Places a node at a time that is not free, and ejects the nodes in conflict.
    fn force(&mut self, node: usize, agent: usize, time: i64) {
        for other in self.tables.conflicting(self.graph, node, agent, time) {
            self.eject_node(other);
        }
        self.forced[node] = Some(time);
        for other in self.violated(node, agent, time) {
            self.eject_node(other);
        }
        // Once the conflicting nodes are gone, only the node's own reservations can conflict.
        if let Ok(units) = self.tables.probe(self.graph, node, agent, time) {
            self.insert(node, Slot { time, agent, units });
        }
    }

    /// The placed nodes with dependences or stages that are violated if a node begins at `time`. A node may occur
    /// several times.
    fn violated(&self, node: usize, agent: usize, time: i64) -> Vec<usize> {
        let mut found = vec![];
        for e in &self.edges[node] {
            let other = if e.from == node { e.to } else { e.from };
            let Some(s) = &self.slots[other] else { continue };
            let ahead = if e.from == node {
                s.time - time - self.gap(e, agent, s.agent)
            } else {
                time - s.time - self.gap(e, s.agent, agent)
            };
            if ahead < 0 {
                found.push(other);
            }
        }
        let stage = time.div_euclid(self.interval);
        found.extend(self.stages(node).into_iter().filter(|(_, f, l)| !(*f..=*l).contains(&stage)).map(|(o, _, _)| o));
        found
    }

    fn cheapest(&mut self, group: &[usize]) -> bool {
        for &node in group {
            let mut best: Option<(usize, i64, usize)> = None;
            for agent in self.graph.agents_of(node) {
                let w = self.window(node, agent);
                let early = w.first.or(w.last.map(|l| l - self.interval + 1)).unwrap_or(0);
                let early =
                    self.forced[node].filter(|t| *t < early + self.interval).map_or(early, |t| early.max(t + 1));
                // Many times are equivalent, so only some are tried.
                let step = (self.interval / CANDIDATE_TIMES).max(1) as usize;
                for time in (early..early + self.interval).step_by(step) {
                    let mut leave = self.tables.conflicting(self.graph, node, agent, time);
                    leave.extend(self.violated(node, agent, time));
                    leave.sort_unstable();
                    leave.dedup();
                    let cost = leave.iter().map(|n| 1 + self.ejected[*n] as usize).sum();
                    if best.is_none_or(|(c, t, _)| (cost, time) < (c, t)) {
                        best = Some((cost, time, agent));
                    }
                }
            }
            let Some((_, time, agent)) = best else { return false };
            self.force(node, agent, time);
            if self.slots[node].is_none() {
                return false;
            }
        }
        true
    }

    /// Moves operations towards their users if this shortens the live ranges of more registers than it lengthens.
    fn shorten_lives(&mut self) {
        let mut order: Vec<usize> = (0..self.slots.len()).collect();
        let (times, _) = self.times();
        order.sort_by_key(|n| std::cmp::Reverse(times[*n]));
        for node in order {
            let held: u32 = {
                let inputs = self.edges[node].iter().filter(|e| e.to == node && e.value);
                inputs.map(|e| self.graph.nodes[e.from].registers).sum()
            };
            if held > self.graph.nodes[node].registers {
                continue;
            }
            let Some(old) = self.remove(node) else { continue };
            let last = self.window(node, old.agent).last;
            let later = last.and_then(|last| self.scan(node, old.agent, old.time..=last, true));
            self.insert(node, later.unwrap_or(old));
        }
    }
}
