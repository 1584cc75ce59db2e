//! Lower bounds of the *initiation interval*, the clocks from the start of an iteration to the start of the next.

use crate::{graph::Graph, solve::Obstacle};

/// The reason why the interval cannot be smaller, or was not made smaller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Bound {
    /// The units of a pool are busy for `clocks`.
    Pool { pool: usize, clocks: u32 },
    /// The agents issue for `clocks`.
    Agents { clocks: u32 },
    /// A recurrence: these nodes, in order, wait for each other across iterations.
    Recurrence { nodes: Vec<usize>, clocks: u32 },
    /// Iterations do not overlap.
    Serial { clocks: u32 },
    /// Iterations do not overlap, because no overlapped schedule was found. `obstacle` is the one at the largest
    /// interval tried.
    NoOverlap { clocks: u32, obstacle: Obstacle },
    /// No placement was found at smaller intervals.
    Placement { clocks: u32 },
}

impl Bound {
    /// The interval that the bound gives, in clocks.
    pub fn clocks(&self) -> u32 {
        match self {
            Self::Pool { clocks, .. }
            | Self::Agents { clocks }
            | Self::Recurrence { clocks, .. }
            | Self::Serial { clocks }
            | Self::NoOverlap { clocks, .. }
            | Self::Placement { clocks } => *clocks,
        }
    }
}

/// The smallest interval that the pools and the agents allow.
pub fn resources(graph: &Graph) -> Bound {
    let mut best = Bound::Agents { clocks: 1 };
    let mut raise = |bound: Bound| {
        if bound.clocks() > best.clocks() {
            best = bound;
        }
    };
    for (pool, p) in graph.pools.iter().enumerate() {
        let uses = || graph.nodes.iter().flat_map(|n| &n.footprint).filter(|u| u.pool == pool).map(|u| u.clocks);
        // A reservation cannot be divided among units.
        let shared = u32::try_from(uses().map(u64::from).sum::<u64>().div_ceil(p.units.into())).unwrap_or(u32::MAX);
        raise(Bound::Pool { pool, clocks: shared.max(uses().max().unwrap_or(0)) });
    }
    // The operations of each set of agents, and of all agents.
    let mut sets: Vec<Vec<usize>> = (0..graph.nodes.len()).map(|n| graph.agents_of(n)).collect();
    sets.push((0..graph.agents.len()).collect());
    sets.iter_mut().for_each(|s| s.sort_unstable());
    sets.sort_unstable();
    sets.dedup();
    for set in sets {
        let within = |n: &usize| graph.agents_of(*n).iter().all(|a| set.contains(a));
        let sum: u64 = (0..graph.nodes.len()).filter(within).map(|n| u64::from(graph.nodes[n].issue)).sum();
        raise(Bound::Agents { clocks: u32::try_from(sum.div_ceil(set.len() as u64)).unwrap_or(u32::MAX) });
    }
    let longest = graph.nodes.iter().map(|n| n.issue).max().unwrap_or(0);
    raise(Bound::Agents { clocks: longest });
    best
}

/// The smallest interval that the recurrences allow: the largest ratio of latency to distance over all cycles. `None`
/// if there is no recurrence.
pub fn recurrences(graph: &Graph) -> Option<Bound> {
    let most = graph.edges.iter().map(|e| u64::from(e.latency)).sum::<u64>();
    let (mut low, mut high) = (0u64, u32::try_from(most).unwrap_or(u32::MAX).into());
    // Without a recurrence, there is no positive cycle even at interval 0.
    let mut cycle = positive_cycle(graph, 0)?;
    while low < high {
        let middle = (low + high) / 2;
        match positive_cycle(graph, middle as i64) {
            Some(found) => {
                cycle = found;
                low = middle + 1;
            }
            None => high = middle,
        }
    }
    Some(Bound::Recurrence { nodes: cycle, clocks: (low as u32).max(1) })
}

/// Finds a cycle with latencies of more than `interval` per iteration of its distance, by longest paths.
fn positive_cycle(graph: &Graph, interval: i64) -> Option<Vec<usize>> {
    let n = graph.nodes.len();
    let mut length = vec![0i64; n];
    let mut before: Vec<Option<usize>> = vec![None; n];
    let mut changed = None;
    for _ in 0..=n {
        changed = None;
        for edge in &graph.edges {
            let through = length[edge.from] + i64::from(edge.latency) - interval * i64::from(edge.distance);
            if through > length[edge.to] {
                length[edge.to] = through;
                before[edge.to] = Some(edge.from);
                changed = Some(edge.to);
            }
        }
        changed?;
    }
    // If a path still grows after as many rounds as there are nodes, following it back that many times ends in the
    // cycle.
    let mut node = changed?;
    for _ in 0..n {
        node = before[node]?;
    }
    let mut cycle = vec![node];
    let mut at = before[node]?;
    while at != node {
        cycle.push(at);
        at = before[at]?;
    }
    cycle.reverse();
    Some(cycle)
}

/// The larger of the two bounds.
pub fn minimum(graph: &Graph) -> Bound {
    let resources = resources(graph);
    match recurrences(graph) {
        Some(r) if r.clocks() > resources.clocks() => r,
        _ => resources,
    }
}

/// The longest path from each node to the end of its iteration, at an interval without positive cycles. The nodes
/// with the longest paths are placed first.
pub fn heights(graph: &Graph, interval: u32) -> Vec<i64> {
    let mut height = vec![0i64; graph.nodes.len()];
    let order = graph.order().unwrap_or_default();
    let mut out: Vec<Vec<usize>> = vec![vec![]; graph.nodes.len()];
    for (i, edge) in graph.edges.iter().enumerate() {
        out[edge.from].push(i);
    }
    for _ in 0..=graph.nodes.len() {
        let mut changed = false;
        for &node in order.iter().rev() {
            for edge in out[node].iter().map(|i| graph.edges[*i]) {
                let through =
                    height[edge.to] + i64::from(edge.latency) - i64::from(interval) * i64::from(edge.distance);
                if through > height[node] {
                    height[node] = through;
                    changed = true;
                }
            }
        }
        if !changed {
            break;
        }
    }
    height
}
