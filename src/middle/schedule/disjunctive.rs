//! Exact search for loops whose operations have fixed agents and pools of one unit, whatever their intervals.
//!
//! Each operation has a start time `t`. Two kinds of constraints hold at an interval `T`:
//!
//! * A dependence: `t(to) - t(from) >= latency - T * distance`.
//! * A shared unit: the reservations `i` and `j` do not meet in any iteration. For some integer `k`,
//!   `t(j) - t(i) >= a + k * T` and `t(i) - t(j) >= b - (k + 1) * T`. The number `k` is the number of whole iterations
//!   by which `j` lags `i`. The constants follow from the starts and lengths of the reservations.
//!
//! For a given choice of all `k`, the constraints are differences, and a schedule exists if no cycle of them is
//! positive. The search keeps the longest paths between all operations. They bound each `k`. It takes the earliest
//! times, and branches over the `k` of a violated pair with the fewest choices. Rows are never enumerated, so the work
//! depends on the number of operations and not on `T`.
//!
//! # Worked example
//!
//! Two dots of 500 clocks and a softmax of 480, each after the previous one, at `T = 1000`: `qk` at 0, `softmax` at
//! 500, `pv` at 980. The dots share the tensor cores and meet, because `pv` ends in clock 480 of the next interval.
//! With `k = 0`, `pv` is at most 500 clocks after `qk`, which contradicts the paths. With `k = 1`, it starts between
//! 1500 and 1500. The schedule has two stages.
//!
//! # Cuts between components
//!
//! An edge between operations that are not on a common cycle restricts no row: the later operation can move by whole
//! intervals. Such edges are left out of the search. Two operations without a path between them may have any `k`, so
//! `k = 0` is tried only. Stages follow at the end, as the longest paths over all edges at the chosen rows.
//!
//! # Proofs
//!
//! A branch ends with a positive cycle. If the cycle has `latency` clocks and `distance` iterations in all, it stays
//! positive for all intervals below `latency / distance`. A complete search therefore rejects all intervals below the
//! least of these quotients, and the next search starts there.

use crate::{graph::Graph, lifetimes, place::Placement};

/// Larger loops are not searched.
pub const MAX_NODES: usize = 128;

/// The outcome of a search at one interval.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    Found(Placement),
    /// There is no schedule at intervals from this one to `next`, exclusively; `None` if there is none at all.
    None {
        next: Option<u32>,
    },
    /// Rows exist, but agents lack registers in all stages that were tried. This proves nothing.
    Registers,
    /// The search ran out of budget.
    GaveUp,
}

/// Whether the search handles a loop: each operation has one possible agent, each pool has one unit, there are no
/// groups, and there are at most [`MAX_NODES`] operations.
pub fn applies(graph: &Graph) -> bool {
    let single = |n: usize| graph.agents_of(n).len() == 1 && graph.nodes[n].group.is_none();
    let used = graph.nodes.iter().flat_map(|n| &n.footprint).all(|u| graph.pools[u.pool].units == 1);
    used && graph.nodes.len() <= MAX_NODES && (0..graph.nodes.len()).all(single)
}

/// Searches for a schedule at an interval, with at most `visits` constraints added. Subtracts the number that it added.
pub fn search(graph: &Graph, interval: u32, visits: &mut u64) -> Outcome {
    let n = graph.nodes.len();
    let agents: Vec<usize> = (0..n).map(|i| graph.agents_of(i)[0]).collect();
    let mut s = Searcher {
        graph,
        agents,
        interval: interval.into(),
        pairs: vec![],
        left: *visits,
        next: None,
        lacks_registers: false,
    };
    let Some(paths) = s.initial() else { return Outcome::None { next: s.next() } };
    if !s.reserve_pairs() {
        return Outcome::None { next: s.next() };
    }
    let found = s.from(paths);
    *visits = s.left;
    match found {
        Some(placement) => Outcome::Found(placement),
        None if s.left == 0 => Outcome::GaveUp,
        None if s.lacks_registers => Outcome::Registers,
        None => Outcome::None { next: s.next() },
    }
}

/// A path: its clocks and the iterations that it spans. At interval `T` its length is `latency - T * distance`.
#[derive(Clone, Copy, Debug)]
struct Path {
    latency: i64,
    distance: i64,
}

impl Path {
    fn length(self, interval: i64) -> i64 {
        self.latency - interval * self.distance
    }

    fn then(self, other: Self) -> Self {
        Self { latency: self.latency + other.latency, distance: self.distance + other.distance }
    }
}

/// The longest path from each operation (row) to each other one.
type Paths = Vec<Option<Path>>;

/// Two reservations of one unit.
#[derive(Clone, Copy)]
struct Pair {
    first: usize,
    second: usize,
    /// The least clocks from `first` to `second` and back: `a` and `b` above.
    forth: i64,
    back: i64,
}

/// The choices of the `k` of a pair, or the reason why there are none.
struct Choices {
    least: i64,
    most: i64,
    /// Whether no path connects the two.
    free: bool,
}

struct Searcher<'a> {
    graph: &'a Graph,
    agents: Vec<usize>,
    interval: i64,
    pairs: Vec<Pair>,
    left: u64,
    /// The least interval at which a positive cycle found so far is not positive.
    next: Option<i64>,
    lacks_registers: bool,
}

impl Searcher<'_> {
    fn next(&self) -> Option<u32> {
        u32::try_from(self.next?).ok()
    }

    fn nodes(&self) -> usize {
        self.agents.len()
    }

    fn edge(&self, e: &crate::graph::Edge) -> Path {
        let crossing = if self.agents[e.from] == self.agents[e.to] { 0 } else { e.crossing };
        Path { latency: i64::from(e.latency) + i64::from(crossing), distance: e.distance.into() }
    }

    /// Records a positive cycle.
    fn reject(&mut self, cycle: Path) {
        if cycle.distance > 0 {
            let enough = cycle.latency.div_ceil_by(cycle.distance).max(self.interval + 1);
            self.next = Some(self.next.map_or(enough, |n| n.min(enough)));
        }
    }

    /// The longest paths within each set of operations on common cycles, or `None` if a cycle is positive.
    fn initial(&mut self) -> Option<Paths> {
        let all = self.closure(|_, _| true)?;
        // Edges between components restrict no rows.
        let n = self.nodes();
        self.closure(|from, to| from == to || all[to * n + from].is_some())
    }

    /// The longest paths over the edges that `keep` accepts, by Floyd's and Warshall's algorithm.
    fn closure(&mut self, keep: impl Fn(usize, usize) -> bool) -> Option<Paths> {
        let (n, wide) = (self.nodes(), self.interval);
        let mut paths: Paths = vec![None; n * n];
        for e in self.graph.edges.iter().filter(|e| keep(e.from, e.to)) {
            longer(&mut paths[e.from * n + e.to], self.edge(e), wide);
        }
        for via in 0..n {
            for from in 0..n {
                let Some(first) = paths[from * n + via] else { continue };
                for to in 0..n {
                    if let Some(second) = paths[via * n + to] {
                        longer(&mut paths[from * n + to], first.then(second), wide);
                    }
                }
            }
            // A positive cycle makes paths grow without bound, so it ends the computation.
            let positive = (0..n).filter_map(|i| paths[i * n + i]).find(|p| p.length(wide) > 0);
            if let Some(cycle) = positive {
                self.reject(cycle);
                return None;
            }
        }
        Some(paths)
    }

    /// Collects the pairs of reservations that share a unit. Returns whether each operation fits by itself.
    fn reserve_pairs(&mut self) -> bool {
        // The unit, the operation, the start and the length of each reservation. An agent is a unit too.
        let mut uses: Vec<((usize, usize), usize, i64, i64)> = vec![];
        for (i, node) in self.graph.nodes.iter().enumerate() {
            uses.push(((0, self.agents[i]), i, 0, node.issue.into()));
            uses.extend(node.footprint.iter().map(|u| ((1, u.pool), i, u.start.into(), u.clocks.into())));
        }
        uses.retain(|u| u.3 > 0);
        for (at, &(unit, first, start, clocks)) in uses.iter().enumerate() {
            if clocks > self.interval {
                self.next = Some(self.next.map_or(clocks, |n| n.min(clocks)));
                return false;
            }
            for &(other, second, later, length) in &uses[at + 1..] {
                if unit != other {
                    continue;
                }
                let (forth, back) = (clocks + start - later, length + later - start);
                if first != second {
                    self.pairs.push(Pair { first, second, forth, back });
                } else if (-forth).rem_euclid(self.interval) > self.interval - forth - back {
                    self.next = Some(self.interval + 1);
                    return false;
                }
            }
        }
        true
    }

    /// Completes a schedule with these paths.
    fn from(&mut self, mut paths: Paths) -> Option<Placement> {
        loop {
            let times = self.times(&paths);
            let mut best: Option<(i64, Pair, Choices)> = None;
            for pair in self.pairs.iter().filter(|p| self.meet(p, &times)) {
                let choices = self.choices(pair, &paths);
                let number = choices.most - choices.least + 1;
                if best.as_ref().is_none_or(|(n, _, _)| number < *n) {
                    best = Some((number, *pair, choices));
                }
            }
            let Some((number, pair, choices)) = best else { return self.stages(&times) };
            if !choices.free {
                self.reject_outside(&pair, &choices, &paths);
            }
            if number <= 0 {
                return None;
            }
            let now = (times[pair.second] - times[pair.first] - pair.forth).div_euclid(self.interval);
            let mut order: Vec<i64> = (choices.least..=choices.most).collect();
            order.sort_by_key(|k| ((k - now).abs(), *k));
            if let [k] = order[..] {
                if !self.spend() || !self.decide(&mut paths, &pair, k) {
                    return None;
                }
                continue;
            }
            for k in order {
                let mut branch = paths.clone();
                if !self.spend() {
                    return None;
                }
                if self.decide(&mut branch, &pair, k) {
                    let found = self.from(branch);
                    if found.is_some() || self.left == 0 {
                        return found;
                    }
                }
            }
            return None;
        }
    }

    fn spend(&mut self) -> bool {
        self.left = self.left.saturating_sub(1);
        self.left > 0
    }

    /// The earliest times, relative to the first operation of each component.
    fn times(&self, paths: &Paths) -> Vec<i64> {
        let n = self.nodes();
        let time = |i: usize| {
            let root = (0..i).find(|r| paths[r * n + i].is_some());
            root.and_then(|r| paths[r * n + i]).map_or(0, |p| p.length(self.interval))
        };
        (0..n).map(time).collect()
    }

    fn meet(&self, pair: &Pair, times: &[i64]) -> bool {
        let gap = (times[pair.second] - times[pair.first] - pair.forth).rem_euclid(self.interval);
        gap > self.interval - pair.forth - pair.back
    }

    /// The numbers `k` that the paths allow.
    fn choices(&self, pair: &Pair, paths: &Paths) -> Choices {
        let (n, wide) = (self.nodes(), self.interval);
        let path = |from: usize, to: usize| paths[from * n + to].map(|p| p.length(wide));
        match (path(pair.first, pair.second), path(pair.second, pair.first)) {
            (Some(forth), Some(back)) => Choices {
                least: (pair.back + forth).div_ceil_by(wide) - 1,
                most: (-back - pair.forth).div_euclid(wide),
                free: false,
            },
            _ => Choices { least: 0, most: 0, free: true },
        }
    }

    /// Records the cycles that rule out the choices next to the possible ones. All others need longer intervals.
    fn reject_outside(&mut self, pair: &Pair, choices: &Choices, paths: &Paths) {
        let n = self.nodes();
        let (above, below) = (choices.most + 1, choices.least - 1);
        if let Some(back) = paths[pair.second * n + pair.first] {
            self.reject(back.then(Path { latency: pair.forth, distance: -above }));
        }
        if let Some(forth) = paths[pair.first * n + pair.second] {
            self.reject(forth.then(Path { latency: pair.back, distance: below + 1 }));
        }
    }

    /// Adds the two constraints of a choice. Returns false if a cycle is positive.
    fn decide(&mut self, paths: &mut Paths, pair: &Pair, k: i64) -> bool {
        let forth = Path { latency: pair.forth, distance: -k };
        let back = Path { latency: pair.back, distance: k + 1 };
        self.add(paths, (pair.first, pair.second), forth) && self.add(paths, (pair.second, pair.first), back)
    }

    fn add(&mut self, paths: &mut Paths, (from, to): (usize, usize), edge: Path) -> bool {
        let (n, wide) = (self.nodes(), self.interval);
        if let Some(cycle) = paths[to * n + from].map(|p| p.then(edge))
            && cycle.length(wide) > 0
        {
            self.reject(cycle);
            return false;
        }
        if paths[from * n + to].is_some_and(|p| p.length(wide) >= edge.length(wide)) {
            return true;
        }
        let none = Path { latency: 0, distance: 0 };
        let after: Vec<(usize, Path)> =
            (0..n).filter_map(|v| Some((v, if v == to { none } else { paths[to * n + v]? }))).collect();
        for u in 0..n {
            let Some(first) = (if u == from { Some(none) } else { paths[u * n + from] }) else { continue };
            let through = first.then(edge);
            for (v, rest) in &after {
                longer(&mut paths[u * n + v], through.then(*rest), wide);
            }
        }
        true
    }

    /// No reservations meet: returns the earliest or the latest stages, whichever needs fewer registers.
    fn stages(&mut self, times: &[i64]) -> Option<Placement> {
        let (n, wide) = (self.nodes(), self.interval);
        let rows: Vec<i64> = times.iter().map(|t| t.rem_euclid(wide)).collect();
        let gaps: Vec<(usize, usize, i64)> = self
            .graph
            .edges
            .iter()
            .map(|e| (e.from, e.to, (self.edge(e).length(wide) + rows[e.from] - rows[e.to]).div_ceil_by(wide)))
            .collect();
        let mut early = vec![0i64; n];
        let mut late = vec![0i64; n];
        for _ in 0..=n {
            for (from, to, gap) in &gaps {
                early[*to] = early[*to].max(early[*from] + gap);
                late[*from] = late[*from].min(late[*to] - gap);
            }
        }
        let least = late.iter().copied().min().unwrap_or(0);
        late.iter_mut().for_each(|s| *s -= least);
        let clocks = |stages: &[i64]| -> Vec<i64> { stages.iter().zip(&rows).map(|(s, r)| s * wide + r).collect() };
        let mut choices: Vec<(Vec<u32>, Vec<i64>)> = [clocks(&early), clocks(&late)]
            .into_iter()
            .map(|t| (lifetimes::peaks(self.graph, wide as u32, &t, &self.agents), t))
            .filter(|(peaks, _)| lifetimes::over_budget(self.graph, peaks).is_none())
            .collect();
        choices.sort_by_key(|(peaks, _)| peaks.iter().sum::<u32>());
        let Some((_, times)) = choices.into_iter().next() else {
            self.lacks_registers = true;
            return None;
        };
        let units = self.graph.nodes.iter().map(|node| vec![0; node.footprint.len()]).collect();
        let agents = self.agents.clone();
        Some(Placement { interval: wide as u32, times, agents, units, strategies: [0; 4] })
    }
}

/// Replaces a path by a longer one.
fn longer(path: &mut Option<Path>, other: Path, interval: i64) {
    if path.is_none_or(|p| other.length(interval) > p.length(interval)) {
        *path = Some(other);
    }
}

/// Division that rounds up.
trait DivCeil {
    fn div_ceil_by(self, by: Self) -> Self;
}

impl DivCeil for i64 {
    /// `by` is positive.
    fn div_ceil_by(self, by: Self) -> Self {
        -(-self).div_euclid(by)
    }
}
