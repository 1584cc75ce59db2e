//! What is scheduled: the operations of a loop's body, what each keeps busy, and what waits for what.

use thiserror::Error;

/// Units of one kind that operations share: a tensor core, the ports of shared memory, the slots of an instruction
/// issuer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pool {
    pub name: String,
    /// Units that can work at the same time, each on an operation of its own.
    pub units: u32,
}

/// A unit of a pool is busy for `clocks`, from `start` clocks behind the beginning of the operation.
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

    /// Whether both are busy in some clock.
    pub fn meets(&self, other: &Self) -> bool {
        self.start.max(other.start) < (self.start + self.clocks).min(other.start + other.clocks)
    }
}

/// Uses of one unit, one behind the other, may share a coarse clock: the first then takes the time of both, and the
/// other none.
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

/// A part of the threads with a program of its own. It issues one operation at a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Agent {
    pub name: String,
    /// Registers that each of its threads may hold for values of the loop; none: as many as they like.
    pub registers: Option<u32>,
}

/// An operation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Node {
    pub name: String,
    pub footprint: Vec<Reservation>,
    /// Clocks for which its agent does nothing else.
    pub issue: u32,
    /// Registers of each thread that hold its results until their last use.
    pub registers: u32,
    /// A copy or a product that works on while its agent does something else.
    pub asynchronous: bool,
    /// Agents that may do it, by number; empty: any.
    pub agents: Vec<usize>,
    /// The group it belongs to, if any: an index of [`Graph::groups`].
    pub group: Option<usize>,
}

/// `to` begins `latency` clocks after the beginning of `from` or later, `distance` iterations after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    pub from: usize,
    pub to: usize,
    pub latency: u32,
    pub distance: u32,
    /// Clocks more where the two are done by different agents: a barrier, and the way of a value through memory.
    pub crossing: u32,
    /// Whether a result of `from` is held until `to` begins. Otherwise this is only an order.
    pub value: bool,
}

/// Operations that are done in one stage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Group {
    /// The group whose stage this one's is counted from.
    pub leader: Option<usize>,
    /// Most stages that lie between the leader's and this one's; 0 is no limit.
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

/// What is wrong with a graph.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum GraphError {
    #[error("there is no agent that could do anything")]
    NoAgent,
    #[error("'{node}' names {what} {number}, which does not exist")]
    OutOfRange { node: String, what: &'static str, number: usize },
    #[error("pool '{0}' has no units")]
    EmptyPool(String),
    #[error("'{node}' keeps more units of pool '{pool}' busy at a time than there are")]
    TooFewUnits { node: String, pool: String },
    #[error("an edge leads from node {from} to node {to}, and there are {nodes} nodes")]
    Edge { from: usize, to: usize, nodes: usize },
    #[error("'{0}' waits for itself within one iteration")]
    Cycle(String),
    #[error("group {group} has the leader {leader}, which does not exist or follows it")]
    Leader { group: usize, leader: usize },
}

impl Graph {
    /// Whether everything that is named exists, and no iteration waits for itself.
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

    /// The nodes, each behind those that it waits for in its iteration; of several that could be next, the first.
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

    /// The agents that may do a node.
    pub fn agents_of(&self, node: usize) -> Vec<usize> {
        match &self.nodes[node].agents[..] {
            [] => (0..self.agents.len()).collect(),
            some => some.to_vec(),
        }
    }

    /// Clocks of an iteration that ends before the next one begins, one operation after the other.
    pub fn serial_length(&self) -> u32 {
        let clocks = |i: usize| {
            let node = &self.nodes[i];
            let busy = node.footprint.iter().map(|u| u.start + u.clocks).max().unwrap_or(0);
            let waited = self.edges.iter().filter(|e| e.from == i).map(|e| e.latency + e.crossing).max().unwrap_or(0);
            busy.max(node.issue).max(waited)
        };
        (0..self.nodes.len()).map(clocks).sum::<u32>().max(1)
    }

    /// The same loop in coarser clocks: everything that takes a part of one takes all of it, so that a schedule of the
    /// coarse loop is one of the fine loop when its times are multiplied.
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
