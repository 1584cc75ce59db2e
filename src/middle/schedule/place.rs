//! Placement at a given interval, in the manner of Rau's iterative modulo scheduling.
//!
//! Groups of operations are placed one at a time, the one that the most waits for first. Four *strategies* try it in their
//! order, until one succeeds:
//!
//! 1. *permutation*: the operations of the group one after the other, in every order of them, each where all that is
//!    placed lets it be;
//! 2. *fusion*: an operation that is placed, and that the group waits for or is waited for by, is lifted, and both are
//!    placed together;
//! 3. *ejection*: the group goes to its earliest place, and later each time that it comes back; what is in the way is
//!    ejected and placed again;
//! 4. *cost*: for a group that has been ejected often, the place from which least is ejected.
//!
//! Everything is bounded by a budget of placements.

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

/// Where everything is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placement {
    pub interval: u32,
    /// Clock at which each node begins; those of one iteration are counted through all stages.
    pub times: Vec<i64>,
    pub agents: Vec<usize>,
    /// Units of the pools that each node has, in the order of its footprint.
    pub units: Vec<Units>,
    /// How many groups each arm placed.
    pub strategies: [u32; 4],
}

/// Why there is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlacementError {
    /// A node found no place within the budget: the last thing that was in its way.
    Node { node: usize, conflict: Option<Conflict> },
    /// An agent would hold more registers than it has.
    Registers { agent: usize, held: u32 },
}

/// What a node that comes back is charged before the arm of costs takes over.
const EJECTIONS: u32 = 3;
/// Orders of a group that are tried.
const ORDERS: usize = 24;
/// Places among which the cheapest is looked for.
const PLACES: i64 = 24;
/// Placed neighbours that are lifted in turn.
const NEIGHBOURS: usize = 6;

/// Places all nodes at an interval, or says what did not fit. Nodes are placed at most `budget` times in all.
pub fn place(graph: &Graph, interval: u32, budget: usize) -> Result<Placement, PlacementError> {
    let heights = bounds::heights(graph, interval);
    let mut first = None;
    // What takes most of a unit is hard to place late; what the most waits for should not be late.
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

/// A place in the tables.
#[derive(Clone, Debug)]
struct Spot {
    time: i64,
    agent: usize,
    units: Units,
}

struct Placer<'a> {
    graph: &'a Graph,
    interval: i64,
    priority: Vec<(i64, i64)>,
    tables: Tables,
    spots: Vec<Option<Spot>>,
    /// Edges that touch each node, but those from a node to itself, which the interval satisfies.
    edges: Vec<Vec<Edge>>,
    /// The last place that a node was forced to.
    forced: Vec<Option<i64>>,
    ejected: Vec<u32>,
    unplaced: std::collections::BTreeSet<((i64, i64), std::cmp::Reverse<usize>)>,
    conflict: Option<Conflict>,
    strategies: [u32; 4],
}

/// First and last time at which a node may begin, as far as placed ones say.
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
            spots: vec![None; n],
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
            let placed = Strategy::ALL.into_iter().position(|arm| match arm {
                Strategy::Permutation => self.permute(&group),
                Strategy::Fusion => self.fuse(&group),
                Strategy::Ejection => self.eject(&group),
                Strategy::Cost => self.cheapest(&group),
            });
            match placed {
                Some(arm) => self.strategies[arm] += 1,
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
        // Stages are counted from 0; whole intervals keep everything in its row.
        let (mut times, agents) = self.times();
        let least = times.iter().map(|t| t.div_euclid(self.interval)).min().unwrap_or(0) * self.interval;
        times.iter_mut().for_each(|t| *t -= least);
        let units = self.spots.into_iter().map(|s| s.map(|s| s.units).unwrap_or_default()).collect();
        Ok(Placement { interval: self.interval as u32, times, agents, units, strategies: self.strategies })
    }

    fn times(&self) -> (Vec<i64>, Vec<usize>) {
        self.spots.iter().map(|s| s.as_ref().map_or((0, 0), |s| (s.time, s.agent))).unzip()
    }

    fn peaks(&self) -> Vec<u32> {
        let (times, agents) = self.times();
        lifetimes::peaks(self.graph, self.interval as u32, &times, &agents)
    }

    /// The nodes of the group of one that are to be placed, the most urgent first.
    fn group_around(&self, node: usize) -> Vec<usize> {
        let Some(group) = self.graph.nodes[node].group else { return vec![node] };
        let mut all: Vec<usize> = (0..self.spots.len())
            .filter(|n| self.spots[*n].is_none() && self.graph.nodes[*n].group == Some(group))
            .collect();
        all.sort_by_key(|n| std::cmp::Reverse((self.priority[*n], std::cmp::Reverse(*n))));
        all
    }

    fn put(&mut self, node: usize, spot: Spot) {
        self.tables.commit(self.graph, node, spot.agent, spot.time, &spot.units);
        self.spots[node] = Some(spot);
        self.unplaced.remove(&(self.priority[node], std::cmp::Reverse(node)));
    }

    fn lift(&mut self, node: usize) -> Option<Spot> {
        let spot = self.spots[node].take()?;
        self.tables.release(self.graph, node, spot.agent, spot.time, &spot.units);
        self.unplaced.insert((self.priority[node], std::cmp::Reverse(node)));
        Some(spot)
    }

    fn throw_out(&mut self, node: usize) {
        if self.lift(node).is_some() {
            self.ejected[node] += 1;
        }
    }

    /// The stage of a placed node.
    fn stage(&self, node: usize) -> Option<i64> {
        self.spots[node].as_ref().map(|s| s.time.div_euclid(self.interval))
    }

    /// First and last stage that the groups allow a node.
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

    /// How far behind the beginning of `edge.from` that of `edge.to` must be.
    fn gap(&self, edge: &Edge, from: usize, to: usize) -> i64 {
        let crossing = if from == to { 0 } else { edge.crossing };
        i64::from(edge.latency) + i64::from(crossing) - self.interval * i64::from(edge.distance)
    }

    fn window(&self, node: usize, agent: usize) -> Window {
        let mut w = Window { first: None, last: None };
        let mut after = |t: i64| w.first = Some(w.first.map_or(t, |f| f.max(t)));
        for e in self.edges[node].iter().filter(|e| e.to == node) {
            if let Some(s) = &self.spots[e.from] {
                after(s.time + self.gap(e, s.agent, agent));
            }
        }
        let stages = self.stages(node);
        stages.iter().for_each(|(_, first, _)| after(first * self.interval));
        let mut before = |t: i64| w.last = Some(w.last.map_or(t, |l| l.min(t)));
        for e in self.edges[node].iter().filter(|e| e.from == node) {
            if let Some(s) = &self.spots[e.to] {
                before(s.time - self.gap(e, agent, s.agent));
            }
        }
        stages.iter().for_each(|(_, _, last)| before(last * self.interval + self.interval - 1));
        w
    }

    /// The best place of a node that nothing needs to leave for: the earliest, or, where only later ones are placed,
    /// the latest; on the agent on which that is best.
    fn free_spot(&mut self, node: usize) -> Option<Spot> {
        let mut best: Option<(i64, Spot)> = None;
        for agent in self.graph.agents_of(node) {
            let w = self.window(node, agent);
            let down = w.first.is_none() && w.last.is_some();
            let (first, last) = match (w.first, w.last) {
                (Some(f), l) => (f, l.map_or(f + self.interval - 1, |l| l.min(f + self.interval - 1))),
                (None, Some(l)) => (l - self.interval + 1, l),
                (None, None) => (0, self.interval - 1),
            };
            if let Some(spot) = self.scan(node, agent, first..=last, down) {
                let cost = if down { -spot.time } else { spot.time };
                if best.as_ref().is_none_or(|(c, _)| cost < *c) {
                    best = Some((cost, spot));
                }
            }
        }
        best.map(|(_, spot)| spot)
    }

    /// The first free place in a span of times, or the last.
    fn scan(&mut self, node: usize, agent: usize, times: RangeInclusive<i64>, down: bool) -> Option<Spot> {
        let mut time = if down { *times.end() } else { *times.start() };
        while times.contains(&time) {
            match self.tables.probe(self.graph, node, agent, time) {
                Ok(units) => return Some(Spot { time, agent, units }),
                Err(conflict) => {
                    time += if down { -i64::from(conflict.sooner) } else { i64::from(conflict.later) };
                    self.conflict = Some(conflict);
                }
            }
        }
        None
    }

    /// Places nodes in the order given; none of them if one has no place.
    fn place_all(&mut self, nodes: &[usize]) -> bool {
        for (i, &node) in nodes.iter().enumerate() {
            match self.free_spot(node) {
                Some(spot) => self.put(node, spot),
                None => {
                    for done in &nodes[..i] {
                        self.lift(*done);
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
                if self.spots[other].is_some() && !group.contains(&other) && !neighbours.contains(&other) {
                    neighbours.push(other);
                }
            }
        }
        for other in neighbours.into_iter().take(NEIGHBOURS) {
            let Some(old) = self.lift(other) else { continue };
            let nodes = [group, &[other]].concat();
            if self.place_all(&nodes) {
                return true;
            }
            self.put(other, old);
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

    /// Places a node where it has no place: what is in the way leaves.
    fn force(&mut self, node: usize, agent: usize, time: i64) {
        for other in self.tables.in_the_way(self.graph, node, agent, time) {
            self.throw_out(other);
        }
        self.forced[node] = Some(time);
        for other in self.contradicting(node, agent, time) {
            self.throw_out(other);
        }
        // With all in the way gone only the node's own uses could be.
        if let Ok(units) = self.tables.probe(self.graph, node, agent, time) {
            self.put(node, Spot { time, agent, units });
        }
    }

    /// Placed nodes that may not be where they are if a node begins at `time`. One may come several times.
    fn contradicting(&self, node: usize, agent: usize, time: i64) -> Vec<usize> {
        let mut found = vec![];
        for e in &self.edges[node] {
            let other = if e.from == node { e.to } else { e.from };
            let Some(s) = &self.spots[other] else { continue };
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
                // Many places are alike.
                let step = (self.interval / PLACES).max(1) as usize;
                for time in (early..early + self.interval).step_by(step) {
                    let mut leave = self.tables.in_the_way(self.graph, node, agent, time);
                    leave.extend(self.contradicting(node, agent, time));
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
            if self.spots[node].is_none() {
                return false;
            }
        }
        true
    }

    /// Moves operations towards their users, where that shortens the lives of more registers than it lengthens.
    fn shorten_lives(&mut self) {
        let mut order: Vec<usize> = (0..self.spots.len()).collect();
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
            let Some(old) = self.lift(node) else { continue };
            let last = self.window(node, old.agent).last;
            let later = last.and_then(|last| self.scan(node, old.agent, old.time..=last, true));
            self.put(node, later.unwrap_or(old));
        }
    }
}
