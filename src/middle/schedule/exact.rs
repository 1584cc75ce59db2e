//! Exhaustive search for small loops, over the row, agent and stage of every operation together.
//!
//! The units that an operation occupies depend only on its *row*, the clock modulo the interval. The search therefore
//! enumerates rows and agents, and the reservation tables reject conflicts. Stages follow: with rows `r`, an edge
//! requires `stage(to) - stage(from)` to be at least `(latency - interval * distance + r(from) - r(to)) / interval`,
//! rounded up. Stages exist if no cycle of such differences is positive. Longest paths through operations without a
//! row also give differences, which prune branches early.
//!
//! The choice of a unit within a pool affects nothing else, so it is not a dimension of the search. An operation
//! takes the first free unit. If all are taken, the units of all operations so far are assigned again, in every
//! possible way.
//!
//! If the search completes within its budget of visits, the interval is the smallest possible. For each choice of
//! rows, only the earliest and the latest stages are tried against the register budget, so the search can miss a
//! schedule between them that needs fewer registers.

use crate::{
    bounds,
    graph::Graph,
    lifetimes,
    place::Placement,
    table::{self, Conflict, Tables, Units},
};

/// Loops with more operations are not searched.
pub const MAX_NODES: usize = 20;

/// The outcome of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Search {
    Found(Placement),
    /// No schedule with this interval exists.
    None,
    /// The search ran out of budget.
    GaveUp,
}

/// No path.
const NEVER: i64 = i64::MIN / 4;

/// Searches for a schedule at an interval. The search visits at most `visits` partial schedules and subtracts the
/// number it has visited.
pub fn search(graph: &Graph, interval: u32, visits: &mut u64) -> Search {
    let n = graph.nodes.len();
    let wide = i64::from(interval);
    let mut paths = vec![vec![NEVER; n]; n];
    for e in &graph.edges {
        let length = i64::from(e.latency) - wide * i64::from(e.distance);
        paths[e.from][e.to] = paths[e.from][e.to].max(length);
    }
    for k in 0..n {
        for i in 0..n {
            for j in 0..n {
                if paths[i][k] > NEVER && paths[k][j] > NEVER {
                    paths[i][j] = paths[i][j].max(paths[i][k] + paths[k][j]);
                }
            }
        }
    }
    if (0..n).any(|i| paths[i][i] > 0) {
        return Search::None;
    }
    // Order of the search. Nodes on recurrences with little slack come first, because few rows are possible for them.
    // Then come the nodes that occupy a unit longest, then those with the greatest height.
    let heights = bounds::heights(graph, interval);
    let size =
        |i: usize| graph.nodes[i].footprint.iter().map(|u| u.clocks).max().unwrap_or(0).max(graph.nodes[i].issue);
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by_key(|i| std::cmp::Reverse((paths[*i][*i] + wide >= 0, size(*i), heights[*i])));
    let mut s = Searcher {
        graph,
        interval: wide,
        paths,
        order,
        tables: Tables::new(graph, interval),
        rows: vec![0; n],
        agents: vec![0; n],
        units: vec![vec![]; n],
        left: *visits,
    };
    // A schedule can be rotated to put any operation into row 0, unless groups make stage boundaries matter.
    let any = graph.groups.is_empty();
    let found = s.from(0, &vec![vec![NEVER; n]; n], any);
    *visits = s.left;
    match found {
        Some(placement) => Search::Found(placement),
        None if *visits == 0 => Search::GaveUp,
        None => Search::None,
    }
}

struct Searcher<'a> {
    graph: &'a Graph,
    interval: i64,
    /// Longest paths in clocks, without crossing costs.
    paths: Vec<Vec<i64>>,
    order: Vec<usize>,
    tables: Tables,
    rows: Vec<i64>,
    agents: Vec<usize>,
    units: Vec<Units>,
    left: u64,
}

impl Searcher<'_> {
    /// Assigns rows to the nodes from `depth` on. `stages` holds the minimum stage differences between the nodes that
    /// have rows.
    fn from(&mut self, depth: usize, stages: &[Vec<i64>], any: bool) -> Option<Placement> {
        let Some(&node) = self.order.get(depth) else { return self.leaf(stages) };
        let rows = if depth == 0 && any { 1 } else { self.interval };
        for agent in self.graph.agents_of(node) {
            let mut row = 0;
            while row < rows {
                if self.left == 0 {
                    return None;
                }
                self.left -= 1;
                let units = match self.tables.probe(self.graph, node, agent, row) {
                    Err(Conflict { pool: None, later, .. }) => {
                        row += i64::from(later);
                        continue;
                    }
                    units => units.ok(),
                };
                (self.rows[node], self.agents[node]) = (row, agent);
                if let Some(stages) = self.with(depth, stages).filter(|_| self.reserve(depth, units)) {
                    let found = self.from(depth + 1, &stages, any);
                    self.tables.release(self.graph, node, agent, row, &self.units[node]);
                    if found.is_some() {
                        return found;
                    }
                }
                row += 1;
            }
        }
        None
    }

    /// Reserves the footprint of the node at `depth`: these units, or others after earlier nodes have changed units.
    /// Earlier nodes may keep their changed units, which stay valid when this node is removed.
    fn reserve(&mut self, depth: usize, units: Option<Units>) -> bool {
        let node = self.order[depth];
        if let Some(units) = units {
            self.tables.commit(self.graph, node, self.agents[node], self.rows[node], &units);
            self.units[node] = units;
            return true;
        }
        let graph = self.graph;
        let mut all = self.units.clone();
        all[node] = vec![0; graph.nodes[node].footprint.len()];
        let mut pools: Vec<usize> = graph.nodes[node].footprint.iter().map(|u| u.pool).collect();
        pools.sort_unstable();
        pools.dedup();
        for pool in pools {
            let uses = self.order[..=depth].iter().flat_map(|n| {
                let footprint = graph.nodes[*n].footprint.iter().enumerate();
                footprint.filter(|(_, u)| u.pool == pool && u.clocks > 0).map(|(i, u)| (*n, i, *u))
            });
            let mut uses: Vec<_> = uses.collect();
            uses.sort_by_key(|(_, _, u)| std::cmp::Reverse(u.clocks));
            let spans = uses.iter().map(|(n, _, u)| {
                let start = (self.rows[*n] + i64::from(u.start)).rem_euclid(self.interval);
                (start as u32, u.clocks)
            });
            let spans: Vec<_> = spans.collect();
            let assigned = table::assign_units(&spans, self.interval as u32, graph.pools[pool].units, &mut self.left);
            let Some(assigned) = assigned else { return false };
            for ((n, i, _), unit) in uses.iter().zip(assigned) {
                all[*n][*i] = unit;
            }
            // A reservation of zero clocks is part of the one before it.
            for &n in &self.order[..=depth] {
                let mut last = 0;
                for (i, u) in graph.nodes[n].footprint.iter().enumerate().filter(|(_, u)| u.pool == pool) {
                    if u.clocks == 0 {
                        all[n][i] = last;
                    }
                    last = all[n][i];
                }
            }
        }
        for &n in &self.order[..depth] {
            self.tables.release(graph, n, self.agents[n], self.rows[n], &self.units[n]);
        }
        self.units = all;
        for &n in &self.order[..=depth] {
            self.tables.commit(graph, n, self.agents[n], self.rows[n], &self.units[n]);
        }
        true
    }

    /// The minimum stage difference between two nodes with rows.
    fn difference(&self, from: usize, to: usize) -> i64 {
        let mut clocks = self.paths[from][to];
        if self.agents[from] != self.agents[to] {
            for e in self.graph.edges.iter().filter(|e| e.from == from && e.to == to) {
                let length = i64::from(e.latency) + i64::from(e.crossing) - self.interval * i64::from(e.distance);
                clocks = clocks.max(length);
            }
        }
        let mut stages = if clocks == NEVER {
            NEVER
        } else {
            (clocks + self.rows[from] - self.rows[to] + self.interval - 1).div_euclid(self.interval)
        };
        if let (Some(a), Some(b)) = (self.graph.nodes[from].group, self.graph.nodes[to].group) {
            let depth = |g: usize| match self.graph.groups[g].max_depth {
                0 => NEVER,
                most => -i64::from(most),
            };
            if a == b || self.graph.groups[b].leader == Some(a) {
                stages = stages.max(0);
            } else if self.graph.groups[a].leader == Some(b) {
                stages = stages.max(depth(a));
            }
        }
        stages
    }

    /// Returns the differences with one more node, or `None` if a cycle is positive.
    fn with(&self, depth: usize, stages: &[Vec<i64>]) -> Option<Vec<Vec<i64>>> {
        let (placed, x) = (&self.order[..depth], self.order[depth]);
        let mut all = stages.to_vec();
        let sum = |a: i64, b: i64| if a == NEVER || b == NEVER { NEVER } else { a + b };
        for &u in placed {
            all[u][x] = self.difference(u, x);
            all[x][u] = self.difference(x, u);
        }
        all[x][x] = self.difference(x, x).max(0);
        for &u in placed {
            let into = placed.iter().map(|w| sum(stages[u][*w], self.difference(*w, x))).max().unwrap_or(NEVER);
            let out = placed.iter().map(|w| sum(self.difference(x, *w), stages[*w][u])).max().unwrap_or(NEVER);
            all[u][x] = all[u][x].max(into);
            all[x][u] = all[x][u].max(out);
        }
        if all[x][x] > 0 || placed.iter().any(|u| sum(all[x][*u], all[*u][x]) > 0) {
            return None;
        }
        for &u in placed {
            for &v in placed {
                all[u][v] = all[u][v].max(sum(all[u][x], all[x][v]));
            }
        }
        Some(all)
    }

    /// All nodes have rows: returns the earliest or the latest stages, whichever needs fewer registers.
    fn leaf(&self, stages: &[Vec<i64>]) -> Option<Placement> {
        let n = self.rows.len();
        let early: Vec<i64> = (0..n).map(|v| (0..n).map(|u| stages[u][v].max(0)).max().unwrap_or(0)).collect();
        let end = early.iter().copied().max().unwrap_or(0);
        let late: Vec<i64> = (0..n).map(|u| end - (0..n).map(|v| stages[u][v].max(0)).max().unwrap_or(0)).collect();
        let times =
            |of: &[i64]| -> Vec<i64> { of.iter().zip(&self.rows).map(|(s, r)| s * self.interval + r).collect() };
        let mut choices: Vec<(Vec<u32>, Vec<i64>)> = [times(&early), times(&late)]
            .into_iter()
            .map(|t| (lifetimes::peaks(self.graph, self.interval as u32, &t, &self.agents), t))
            .filter(|(peaks, _)| lifetimes::over_budget(self.graph, peaks).is_none())
            .collect();
        choices.sort_by_key(|(peaks, _)| peaks.iter().sum::<u32>());
        let (_, times) = choices.into_iter().next()?;
        Some(Placement {
            interval: self.interval as u32,
            times,
            agents: self.agents.clone(),
            units: self.units.clone(),
            strategies: [0; 4],
        })
    }
}
