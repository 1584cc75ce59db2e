//! The input of the scheduler: the operations of a loop body, the units they occupy, and their dependences.

use thiserror::Error;

/// Units of one kind that operations share: tensor cores, the ports of shared memory, issue slots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pool {
    pub name: String,
    /// The number of units. Each can work on a different operation at the same time.
    pub units: u32,
}

/// An operation occupies a unit of a pool for `clocks`, from `start` clocks after the operation begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reservation {
    pub pool: usize,
    pub start: u32,
    pub clocks: u32,
}

impl Reservation {
    fn covers(&self, clock: u32) -> bool {
        (self.start..self.start + self.clocks).contains(&clock)
    }

    /// Whether the two overlap in some clock.
    pub fn meets(&self, other: &Self) -> bool {
        self.start.max(other.start) < (self.start + self.clocks).min(other.start + other.clocks)
    }
}

/// Back-to-back reservations of one unit may share a coarse clock. The first then takes the time of both, and the
/// second takes none.
fn join_touching(fine: &[Reservation], coarse: &mut [Reservation]) {
    for i in 0..coarse.len() {
        for j in i + 1..coarse.len() {
            let (a, b) = (coarse[i], coarse[j]);
            if a.pool == b.pool && a.meets(&b) && !fine[i].meets(&fine[j]) {
                let end = (a.start + a.clocks).max(b.start + b.clocks);
                coarse[i].start = a.start.min(b.start);
                coarse[i].clocks = end - coarse[i].start;
                coarse[j].clocks = 0;
            }
        }
    }
}

/// A group of threads that runs a separate program. It issues one operation at a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Agent {
    pub name: String,
    /// The registers that each thread may use for values of the loop; `None` for no limit.
    pub registers: Option<u32>,
}

/// An operation of the loop body.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Node {
    pub name: String,
    pub footprint: Vec<Reservation>,
    /// The clocks for which the operation blocks its agent.
    pub issue: u32,
    /// The registers per thread that hold its results until their last use.
    pub registers: u32,
    /// Whether the operation continues while its agent does something else, like an asynchronous copy or a dot.
    pub asynchronous: bool,
    /// The numbers of the agents that may issue it; empty for any agent.
    pub agents: Vec<usize>,
    /// Its group, if any: an index into [`Graph::groups`].
    pub group: Option<usize>,
}

/// A dependence: `to` begins at least `latency` clocks after `from` begins, `distance` iterations later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    pub from: usize,
    pub to: usize,
    pub latency: u32,
    pub distance: u32,
    /// Additional clocks if the two run on different agents: a barrier, and the transfer of a value through memory.
    pub crossing: u32,
    /// Whether a result of `from` stays in registers until `to` begins. Otherwise the edge is only an ordering
    /// constraint.
    pub value: bool,
}

/// Operations that must be in the same stage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Group {
    /// The group relative to which this group's stage is limited.
    pub leader: Option<usize>,
    /// The most stages between the leader's and this group's; 0 for no limit.
    pub max_depth: u32,
}

/// The body of a loop.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Graph {
    pub pools: Vec<Pool>,
    pub agents: Vec<Agent>,
    pub nodes: Vec<Node>,
    pub edges: Vec<Edge>,
    pub groups: Vec<Group>,
}

/// An error in a graph.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum GraphError {
    #[error("the graph has no agents")]
    NoAgent,
    #[error("'{node}' names {what} {number}, which does not exist")]
    OutOfRange { node: String, what: &'static str, number: usize },
    #[error("pool '{0}' has no units")]
    EmptyPool(String),
    #[error("'{node}' reserves more units of pool '{pool}' at once than the pool has")]
    TooFewUnits { node: String, pool: String },
    #[error("the edge from node {from} to node {to} is out of range: the graph has {nodes} nodes")]
    Edge { from: usize, to: usize, nodes: usize },
    #[error("'{0}' depends on itself within one iteration")]
    Cycle(String),
    #[error("the leader {leader} of group {group} does not exist or follows the group")]
    Leader { group: usize, leader: usize },
}

impl Graph {
    /// Checks that every index is in range and that no iteration depends on itself.
    pub fn check(&self) -> Result<(), GraphError> {
        if self.agents.is_empty() {
            return Err(GraphError::NoAgent);
        }
        if let Some(pool) = self.pools.iter().find(|p| p.units == 0) {
            return Err(GraphError::EmptyPool(pool.name.clone()));
        }
        for node in &self.nodes {
            let outside = |what, number| GraphError::OutOfRange { node: node.name.clone(), what, number };
            if let Some(u) = node.footprint.iter().find(|u| u.pool >= self.pools.len()) {
                return Err(outside("pool", u.pool));
            }
            for u in &node.footprint {
                let at_once = node.footprint.iter().filter(|o| o.pool == u.pool && o.covers(u.start)).count();
                if u.clocks > 0 && at_once > self.pools[u.pool].units as usize {
                    let pool = self.pools[u.pool].name.clone();
                    return Err(GraphError::TooFewUnits { node: node.name.clone(), pool });
                }
            }
            if let Some(&agent) = node.agents.iter().find(|a| **a >= self.agents.len()) {
                return Err(outside("agent", agent));
            }
            if let Some(group) = node.group.filter(|g| *g >= self.groups.len()) {
                return Err(outside("group", group));
            }
        }
        for (group, leader) in self.groups.iter().enumerate().filter_map(|(i, g)| Some((i, g.leader?))) {
            let mut chain = Some(leader);
            for _ in 0..self.groups.len() {
                chain = chain.filter(|g| *g != group).and_then(|g| self.groups.get(g)?.leader);
            }
            if leader >= self.groups.len() || leader == group || chain.is_some() {
                return Err(GraphError::Leader { group, leader });
            }
        }
        let nodes = self.nodes.len();
        if let Some(&Edge { from, to, .. }) = self.edges.iter().find(|e| e.from.max(e.to) >= nodes) {
            return Err(GraphError::Edge { from, to, nodes });
        }
        self.order().map(drop)
    }

    /// The nodes in dependence order within an iteration. If several nodes are ready, the one with the smallest
    /// number is next.
    pub fn order(&self) -> Result<Vec<usize>, GraphError> {
        let mut waits = vec![0usize; self.nodes.len()];
        let mut next: Vec<Vec<usize>> = vec![vec![]; self.nodes.len()];
        for edge in self.edges.iter().filter(|e| e.distance == 0) {
            waits[edge.to] += 1;
            next[edge.from].push(edge.to);
        }
        let mut ready: std::collections::BTreeSet<usize> = (0..waits.len()).filter(|n| waits[*n] == 0).collect();
        let mut order = vec![];
        while let Some(node) = ready.pop_first() {
            order.push(node);
            for &after in &next[node] {
                waits[after] -= 1;
                if waits[after] == 0 {
                    ready.insert(after);
                }
            }
        }
        match waits.iter().position(|w| *w > 0) {
            Some(stuck) => Err(GraphError::Cycle(self.nodes[stuck].name.clone())),
            None => Ok(order),
        }
    }

    /// The agents that may issue a node.
    pub fn agents_of(&self, node: usize) -> Vec<usize> {
        match &self.nodes[node].agents[..] {
            [] => (0..self.agents.len()).collect(),
            some => some.to_vec(),
        }
    }

    /// An upper bound on the clocks of an iteration without any overlap, with operations one at a time.
    pub fn serial_length(&self) -> u32 {
        let clocks = |i: usize| {
            let node = &self.nodes[i];
            let busy = node.footprint.iter().map(|u| u.start + u.clocks).max().unwrap_or(0);
            let waited = self.edges.iter().filter(|e| e.from == i).map(|e| e.latency + e.crossing).max().unwrap_or(0);
            busy.max(node.issue).max(waited)
        };
        (0..self.nodes.len()).map(clocks).sum::<u32>().max(1)
    }

    /// The same loop in coarser clocks. Every duration is rounded up, so multiplying the times of a coarse schedule
    /// gives a schedule of the fine loop.
    pub fn in_units_of(&self, clocks: u32) -> Self {
        let mut coarse = self.clone();
        for node in &mut coarse.nodes {
            node.issue = node.issue.div_ceil(clocks);
            let fine = node.footprint.clone();
            for u in &mut node.footprint {
                let end = (u.start + u.clocks).div_ceil(clocks);
                u.start /= clocks;
                u.clocks = end - u.start;
            }
            join_touching(&fine, &mut node.footprint);
        }
        for edge in &mut coarse.edges {
            edge.latency = edge.latency.div_ceil(clocks);
            edge.crossing = edge.crossing.div_ceil(clocks);
        }
        coarse
    }
}
