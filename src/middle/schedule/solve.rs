//! The solver: finds the schedule of a loop.

use crate::{
    bounds::{self, Bound},
    graph::{Graph, GraphError},
    lifetimes,
    place::{self, Placement, PlacementError, Strategy},
    searched,
    table::Conflict,
};
use std::fmt;
use thiserror::Error;

/// Options of the solver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Whether to search small loops exhaustively as well.
    pub exhaustive: bool,
    /// The most rows of the tables, or 0 for the light method, which uses no tables. If the minimum interval has more
    /// clocks, a row covers several clocks.
    pub rows: u32,
    /// Whether to schedule the loop without overlap.
    pub serial: bool,
    /// The largest interval to try. With `None`, it is the length of an iteration without overlap, and the schedule
    /// is serial if no overlap is found.
    pub max_interval: Option<u32>,
}

impl Default for Settings {
    fn default() -> Self {
        Self { exhaustive: false, rows: 4096, serial: false, max_interval: None }
    }
}

/// The method that found a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Iterations do not overlap. This was requested, there is too little to gain, or the registers allow no overlap
    /// that was found.
    Serial,
    /// Operations start as early as their inputs allow. The use of units is counted, not reserved.
    Light,
    /// Placed in reservation tables.
    Placed,
    /// Found by the exhaustive search, at a smaller interval than the placement.
    Searched,
}

/// A solved loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// Clocks between iterations.
    pub interval: u32,
    /// The clock at which each node begins, within its iteration.
    pub times: Vec<u32>,
    pub agents: Vec<usize>,
    /// The units of each node, in the order of its footprint; empty in a light schedule.
    pub units: Vec<Vec<usize>>,
    pub method: Method,
    /// The reason why the interval is not smaller.
    pub reason: Bound,
    /// The lower bound from units and recurrences.
    pub minimum: Bound,
    /// Whether the interval is proved optimal: it equals the minimum, or all smaller intervals were searched.
    pub optimal: bool,
    /// The clocks of a row of the tables.
    pub row: u32,
    /// The most registers that each agent holds at a time.
    pub registers: Vec<u32>,
    /// The number of groups that each strategy placed, as in [`Strategy::ALL`].
    pub strategies: [u32; 4],
    /// The exhaustive search, if it ran.
    pub search: Option<Effort>,
}

/// The work of the exhaustive search at smaller intervals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// The partial schedules that were visited.
    pub visits: u64,
    pub end: End,
}

/// How the exhaustive search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// All smaller intervals were searched.
    Complete,
    /// At some interval, units and dependences allow a schedule, but agents lack registers for the tried ones.
    Registers,
    /// The budget ran out.
    Budget,
    /// Clocks were too coarse to prove anything.
    Coarse,
}

impl Schedule {
    /// The stage of a node: the number of whole intervals after the start of its iteration.
    pub fn stage(&self, node: usize) -> u32 {
        self.times[node] / self.interval
    }

    /// The number of iterations in flight at once.
    pub fn stages(&self) -> u32 {
        (0..self.times.len()).map(|n| self.stage(n) + 1).max().unwrap_or(0)
    }

    /// The nodes in the order in which an iteration of the scheduled loop issues them. A node of a later stage
    /// belongs to an earlier iteration, and comes first if both begin in the same clock.
    pub fn order(&self) -> Vec<usize> {
        let mut all: Vec<usize> = (0..self.times.len()).collect();
        all.sort_by_key(|n| (self.times[*n] % self.interval, std::cmp::Reverse(self.stage(*n)), *n));
        all
    }

    /// Checks the schedule against the loop, independently of how it was found: values arrive in time, groups are in
    /// one stage, no unit and no agent does two things at once, and registers suffice.
    ///
    /// Errors: a sentence that names the violation.
    pub fn check(&self, graph: &Graph) -> Result<(), String> {
        let name = |n: usize| &graph.nodes[n].name;
        let wide = i64::from(self.interval);
        for e in &graph.edges {
            let crossing = if self.agents[e.from] == self.agents[e.to] { 0 } else { e.crossing };
            let gap = i64::from(self.times[e.to]) + wide * i64::from(e.distance) - i64::from(self.times[e.from]);
            if gap < i64::from(e.latency) + i64::from(crossing) {
                return Err(format!("'{}' begins before '{}' is done", name(e.to), name(e.from)));
            }
        }
        for (n, node) in graph.nodes.iter().enumerate() {
            if !graph.agents_of(n).contains(&self.agents[n]) {
                return Err(format!("'{}' is on an agent that may not issue it", name(n)));
            }
            let Some(group) = node.group else { continue };
            for (o, other) in graph.nodes.iter().enumerate() {
                let depth = i64::from(self.stage(n)) - i64::from(self.stage(o));
                let Some(its) = other.group else { continue };
                let most = graph.groups[group].max_depth;
                if its == group && depth != 0 {
                    return Err(format!("'{}' and '{}' are in one group but in different stages", name(n), name(o)));
                }
                if graph.groups[group].leader == Some(its) && (depth < 0 || most > 0 && depth > most.into()) {
                    return Err(format!("'{}' is too far from its leader '{}'", name(n), name(o)));
                }
            }
        }
        if matches!(self.method, Method::Light) {
            return Ok(());
        }
        // Count the occupant of every unit, clock by clock.
        let mut busy = std::collections::BTreeMap::new();
        for (n, node) in graph.nodes.iter().enumerate() {
            let own = (0..node.issue).map(|c| ((usize::MAX, self.agents[n]), c));
            let uses = node.footprint.iter().zip(&self.units[n]);
            let uses = uses.flat_map(|(u, unit)| (u.start..u.start + u.clocks).map(move |c| ((u.pool, *unit), c)));
            for (unit, c) in own.chain(uses) {
                if let Some(other) = busy.insert((unit, (self.times[n] + c) % self.interval), n) {
                    return Err(format!("'{}' and '{}' use one unit at the same time", name(other), name(n)));
                }
            }
        }
        let times: Vec<i64> = self.times.iter().map(|t| i64::from(*t)).collect();
        let peaks = lifetimes::peaks(graph, self.interval, &times, &self.agents);
        match lifetimes::over_budget(graph, &peaks) {
            Some((agent, held)) => Err(format!("'{}' holds {held} registers", graph.agents[agent].name)),
            None => Ok(()),
        }
    }
}

/// The reason why no schedule was found.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Failure {
    #[error(transparent)]
    Graph(#[from] GraphError),
    #[error(transparent)]
    Infeasible(#[from] Box<Infeasible>),
}

/// No interval up to the largest is feasible. `obstacle` is the one at the last interval tried.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("modulo scheduler returned no feasible II: the largest tried is {max_interval}: {obstacle}")]
pub struct Infeasible {
    pub max_interval: u32,
    pub obstacle: Obstacle,
}

/// An obstacle to a schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// An operation could not be placed.
    Node {
        node: String,
        /// The reservations of the operation, as `pool:start+clocks`.
        footprint: Vec<String>,
        /// The pool in conflict; `None` for its agents.
        pool: Option<String>,
        row: Option<u32>,
    },
    Registers {
        agent: String,
        held: u32,
        most: u32,
    },
    /// A recurrence or a unit needs more clocks than the largest interval.
    Bound {
        clocks: u32,
    },
}

impl fmt::Display for Obstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Node { node, footprint, pool, row } => {
                let rows = row.map_or(String::new(), |r| format!(" in row {r}"));
                let pool = pool.as_deref().map_or("its agents".into(), |p| format!("pool '{p}'"));
                let footprint = if footprint.is_empty() { "nothing".to_owned() } else { footprint.join(", ") };
                write!(f, "'{node}', which reserves {footprint}, conflicts on {pool}{rows}")
            }
            Self::Registers { agent, held, most } => {
                write!(f, "'{agent}' would hold {held} registers, more than its {most}")
            }
            Self::Bound { clocks } => write!(f, "the lower bound is {clocks}"),
        }
    }
}

/// Loops with fewer operations are not worth a schedule.
pub const MIN_NODES: usize = 8;
/// The budget of placements at one interval: this many per node, and at least [`LEAST_BUDGET`] in all.
const BUDGET: usize = 3;
const LEAST_BUDGET: usize = 64;
/// An infeasible interval grows by this fraction of itself at most.
const FINE: u32 = 64;
/// Schedules a loop. Iterations overlap unless the settings ask for a serial schedule, there are fewer than
/// [`MIN_NODES`] operations, or none is asynchronous.
pub fn solve(graph: &Graph, settings: &Settings) -> Result<Schedule, Failure> {
    graph.check()?;
    let gain = graph.nodes.len() >= MIN_NODES && graph.nodes.iter().any(|n| n.asynchronous);
    if settings.serial || !gain { serial(graph) } else { overlap(graph, settings) }
}

/// Schedules a loop without overlap.
pub fn serial(graph: &Graph) -> Result<Schedule, Failure> {
    let order = graph.order()?;
    let interval = graph.serial_length();
    let agents: Vec<usize> = (0..graph.nodes.len()).map(|n| graph.agents_of(n)[0]).collect();
    let mut times = vec![0; agents.len()];
    let mut ends = vec![0; agents.len()];
    let mut now = 0;
    for node in order {
        let n = &graph.nodes[node];
        let arrive = |e: &&crate::graph::Edge| e.to == node && e.distance == 0;
        let waited = graph.edges.iter().filter(arrive).map(|e| {
            let crossing = if agents[e.from] == agents[node] { 0 } else { e.crossing };
            times[e.from] + e.latency + crossing
        });
        times[node] = waited.max().unwrap_or(0).max(now);
        let busy = n.footprint.iter().map(|u| u.start + u.clocks).max().unwrap_or(0).max(n.issue);
        ends[node] = times[node] + busy;
        now = ends[node];
    }
    // The next iteration begins when all values have arrived.
    let interval = interval.max(now).max(times.iter().max().map_or(0, |last| last + 1));
    let reason = Bound::Serial { clocks: interval };
    let units = graph.nodes.iter().map(|n| first_units(&n.footprint)).collect();
    let placement =
        Placement { interval, times: times.iter().map(|t| i64::from(*t)).collect(), agents, units, strategies: [0; 4] };
    Ok(finish(graph, placement, Method::Serial, reason, 1, false))
}

/// The units of a node that does not share any: the first of each pool, or the next one for an overlapping
/// reservation.
fn first_units(footprint: &[crate::graph::Reservation]) -> Vec<usize> {
    let mut units: Vec<usize> = vec![];
    for (i, u) in footprint.iter().enumerate() {
        let meets = |e: &crate::graph::Reservation| e.pool == u.pool && e.meets(u);
        let taken: Vec<usize> =
            footprint[..i].iter().zip(&units).filter(|(e, _)| meets(e)).map(|(_, at)| *at).collect();
        units.push((0..).find(|unit| !taken.contains(unit)).unwrap_or(0));
    }
    units
}

/// Schedules a loop with overlapped iterations if possible, whatever its size.
pub fn overlap(graph: &Graph, settings: &Settings) -> Result<Schedule, Failure> {
    graph.check()?;
    let minimum = bounds::minimum(graph);
    if settings.rows == 0 {
        return light(graph);
    }
    // Choose the clocks per row to keep the tables small.
    let row = minimum.clocks().div_ceil(settings.rows).max(1);
    let coarse = if row > 1 { graph.in_units_of(row) } else { graph.clone() };
    let least = bounds::minimum(&coarse).clocks();
    let largest = settings.max_interval.map_or_else(|| coarse.serial_length().max(least), |clocks| clocks / row);
    if least > largest {
        let obstacle = Obstacle::Bound { clocks: least * row };
        return Err(Box::new(Infeasible { max_interval: largest * row, obstacle }).into());
    }
    let placed = heuristic(&coarse, least, largest);
    let (best, found_at) = match &placed {
        Ok(p) => (Some(p), p.interval),
        Err(_) => (None, largest + 1),
    };
    let optimal = best.is_some_and(|p| p.interval == least && row == 1);
    let found = if settings.exhaustive && !optimal { searched::search(graph, &coarse, (row, found_at)) } else { None };
    let effort = found.as_ref().map(|f| f.effort);
    let optimal = effort.map_or(optimal, |e| e.end == End::Complete);
    let with_effort = |schedule: Schedule| Schedule { search: effort, ..schedule };
    if let Some((p, step)) = found.and_then(|f| f.better) {
        return Ok(with_effort(fine(graph, p, Method::Searched, minimum, step, optimal)));
    }
    let refusal = match placed {
        Ok(p) => return Ok(with_effort(fine(graph, p, Method::Placed, minimum, row, optimal))),
        Err(refusal) => refusal,
    };
    // The placement starts operations as early as possible and shortens live ranges afterwards. At any interval, it
    // may hold more registers than a serial schedule does.
    let refused = infeasible(&coarse, largest * row, row, refusal);
    if settings.max_interval.is_none() {
        let mut alone = serial(graph)?;
        if alone.check(graph).is_ok() {
            alone.reason = Bound::NoOverlap { clocks: alone.interval, obstacle: refused.obstacle };
            return Ok(Schedule { optimal, ..with_effort(alone) });
        }
    }
    Err(Box::new(refused).into())
}

/// Finds the smallest interval at which the placement succeeds. Long intervals grow by more than one clock; bisection
/// then covers the skipped intervals.
fn heuristic(graph: &Graph, least: u32, largest: u32) -> Result<Placement, PlacementError> {
    let budget = LEAST_BUDGET.max(BUDGET * graph.nodes.len());
    let (mut failed, mut interval) = (least.saturating_sub(1), least);
    let mut found = loop {
        match place::place(graph, interval, budget) {
            Ok(placement) => break placement,
            Err(refusal) if interval >= largest => return Err(refusal),
            Err(_) => failed = interval,
        }
        interval = (interval + (interval / FINE).max(1)).min(largest);
    };
    while found.interval - failed > 1 {
        let middle = failed.midpoint(found.interval);
        match place::place(graph, middle, budget) {
            Ok(placement) => found = placement,
            Err(_) => failed = middle,
        }
    }
    Ok(found)
}

fn infeasible(graph: &Graph, largest: u32, row: u32, refusal: PlacementError) -> Infeasible {
    let obstacle = match refusal {
        PlacementError::Node { node, conflict } => {
            let n = &graph.nodes[node];
            let part = |u: &crate::graph::Reservation| {
                format!("{}:{}+{}", graph.pools[u.pool].name, u.start * row, u.clocks * row)
            };
            let pool = |c: Conflict| c.pool.map(|p| graph.pools[p].name.clone());
            Obstacle::Node {
                node: n.name.clone(),
                footprint: n.footprint.iter().map(part).collect(),
                pool: conflict.and_then(pool),
                row: conflict.map(|c| c.row * row),
            }
        }
        PlacementError::Registers { agent, held } => {
            let a = &graph.agents[agent];
            Obstacle::Registers { agent: a.name.clone(), held, most: a.registers.unwrap_or(u32::MAX) }
        }
    };
    Infeasible { max_interval: largest, obstacle }
}

/// Converts a placement in rows of `row` clocks into a schedule in clocks.
fn fine(graph: &Graph, mut p: Placement, method: Method, minimum: Bound, row: u32, optimal: bool) -> Schedule {
    p.interval *= row;
    p.times.iter_mut().for_each(|t| *t *= i64::from(row));
    let reason = if p.interval == minimum.clocks() { minimum } else { Bound::Placement { clocks: p.interval } };
    finish(graph, p, method, reason, row, optimal)
}

fn light(graph: &Graph) -> Result<Schedule, Failure> {
    let agents: Vec<usize> = (0..graph.nodes.len()).map(|n| graph.agents_of(n)[0]).collect();
    // The agents are fixed, so crossing costs are part of the latencies.
    let mut settled = graph.clone();
    for e in settled.edges.iter_mut().filter(|e| agents[e.from] != agents[e.to]) {
        e.latency += e.crossing;
    }
    let minimum = bounds::minimum(&settled);
    let interval = i64::from(minimum.clocks());
    let mut times = vec![0i64; agents.len()];
    let mut changed = true;
    for _ in 0..=graph.nodes.len() + graph.groups.len() {
        changed = false;
        let mut raise = |times: &mut [i64], node: usize, least: i64| {
            changed |= least > times[node];
            times[node] = times[node].max(least);
        };
        for e in &settled.edges {
            let least = times[e.from] + i64::from(e.latency) - interval * i64::from(e.distance);
            raise(&mut times, e.to, least);
        }
        for (n, o, depth) in together(graph) {
            let stage = times[o].div_euclid(interval) - depth;
            if times[n].div_euclid(interval) < stage {
                raise(&mut times, n, stage * interval);
            }
        }
    }
    if changed {
        // The groups contradict the recurrences.
        return serial(graph);
    }
    let units = vec![vec![]; agents.len()];
    let placement = Placement { interval: minimum.clocks(), times, agents, units, strategies: [0; 4] };
    Ok(finish(graph, placement, Method::Light, minimum, 1, false))
}

/// Pairs of nodes with a limit on their stages: the first may be at most that many stages ahead of (earlier than) the
/// second.
fn together(graph: &Graph) -> Vec<(usize, usize, i64)> {
    let grouped = || graph.nodes.iter().enumerate().filter_map(|(i, n)| Some((i, n.group?)));
    let mut all = vec![];
    for (n, own) in grouped() {
        for (o, its) in grouped().filter(|(o, _)| *o != n) {
            if own == its || graph.groups[own].leader == Some(its) {
                all.push((n, o, 0));
            } else if graph.groups[its].leader == Some(own) && graph.groups[its].max_depth > 0 {
                all.push((n, o, graph.groups[its].max_depth.into()));
            }
        }
    }
    all
}

fn finish(graph: &Graph, p: Placement, method: Method, reason: Bound, row: u32, optimal: bool) -> Schedule {
    Schedule {
        interval: p.interval,
        registers: lifetimes::peaks(graph, p.interval, &p.times, &p.agents),
        times: p.times.iter().map(|t| u32::try_from(*t).unwrap_or(0)).collect(),
        agents: p.agents,
        units: p.units,
        method,
        minimum: bounds::minimum(graph),
        reason,
        optimal,
        row,
        strategies: p.strategies,
        search: None,
    }
}

/// The number of groups that each strategy placed, in words.
pub fn strategies(counts: &[u32; 4]) -> String {
    let parts = Strategy::ALL.iter().zip(counts).filter(|(_, n)| **n > 0);
    parts.map(|(strategy, n)| format!("{} {n}", strategy.name())).collect::<Vec<_>>().join(", ")
}
