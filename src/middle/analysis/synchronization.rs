//! Which accesses of shared memory nothing orders.
//!
//! An abstract interpreter of the structured program. A *pending* access is one that some path has made since its last
//! barrier. An access conflicts with a pending one when their bytes may overlap, at least one of them writes, and
//! different threads may touch one byte. Of two accesses of one storage the layouts tell: the thread that holds an
//! element in the one must be the only one that touches it in the other. Two storages that share bytes tell nothing.
//!
//! *Asynchronous copies.* A copy writes at any time between its start and the wait for its group; a barrier in between
//! says nothing about it. `commit` closes a group. Groups complete in order, so a group is described by its *age*, the
//! number of groups closed after it, and a wait that leaves `n` groups pending completes the groups of age `n` and
//! more. Those copies become plain writes of the threads that made them, which others see after a barrier. A wait that
//! names a token which it need not wait for is a conflict of its own ([`tokens`]).
//!
//! *Products* that are in flight read their operands until they are waited for, by groups of their own. So do copies of
//! tiles to global memory.
//!
//! *Rings.* The stage of an access is a number that the loop carries: `(i + 1) % S` by addition, comparison and
//! selection. The interpreter computes these. Two accesses of different stages of one ring do not meet. So the proof
//! covers that a stage is read only after the wait for its copy and a barrier, and is filled again only after a barrier
//! that follows its last read, for any number of iterations.
//!
//! *Pipelines.* Accesses of stages that an iterator numbers are ordered among themselves by the barriers of their
//! pipeline ([`super::pipelines`]), but for what threads do to a stage while it is theirs: they may change it before it
//! is multiplied, and need barriers of their own. Others may use the same bytes when all pipelines have ended, after a
//! barrier of the threads that emptied them.
//!
//! *Agents.* Regions that run at the same time are explored one by one. A barrier in one settles its own accesses only.
//! Two accesses of different agents conflict wherever they are.
//!
//! Every conflict that can happen is found. One that is found may be impossible, because branches exclude each other or
//! because a stage is numbered in a way that the interpreter does not understand, which it takes for any stage.
//!
//! What an op does follows from its interfaces ([`steps`]): memory effects on its operands, and how it synchronises. Of
//! lanes of one warp no order is assumed.
//!
//! # Why it ends soon
//!
//! Stage numbers matter to pairs of accesses of one ring only, and how far a group of copies has come depends on no
//! stage number. So the program is interpreted once for each ring, where the scalars of that ring are known, and once
//! for all other pairs, where none is known: states of several rings are never multiplied. Each interpretation carries
//! facts through a flow graph, each through each node once ([`flow`]). There is no iteration of loops inside loops. The
//! work is at most proportional to the nodes, times the rings that are used around them, times the accesses that one
//! barrier settles; nesting does not add to it. A ring whose scalars take too many combinations is interpreted without
//! any of them, as if each access might be of any stage.

mod flow;
mod graph;
mod steps;
mod tokens;

use super::pipelines::is_behind_pipelines;
use crate::dialect::{rt::*, thread_scope::ThreadScope};
use flow::{Flow, Pairs};
use graph::{Action, BLOCK, Graph};
use rustc_hash::{FxHashMap, FxHashSet};
use std::{cell::OnceCell, collections::BTreeMap};
use steps::same_threads;
pub use steps::{SharedAccess, Work};

/// Groups are told apart up to this age. No pipeline has as many stages.
const MAX_AGE: i64 = 64;

/// How far an asynchronous copy has come.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
enum Progress {
    /// No copy, or one that is done in the thread that made it.
    Done,
    /// In a group of this age.
    Group(i64),
    /// In no group yet.
    Open,
    /// Work in a group of this age; each kind counts its own, and the youngest has none yet.
    Work(Work, i64),
}

/// The age of work whose group is not closed.
const OPEN_WORK: i64 = -1;

/// An access that no barrier has settled.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Pending {
    /// Number of the access in [`Graph::accesses`].
    access: u32,
    /// The stage; none when it may be any.
    slot: Option<i64>,
    progress: Progress,
    /// Number of the thread scope that made it.
    scope: u32,
}

/// Two accesses that nothing orders, or a wait that does not cover what it names.
#[derive(Clone)]
pub enum Conflict<'c> {
    Accesses {
        earlier: Box<SharedAccess<'c>>,
        later: Box<SharedAccess<'c>>,
        /// The earlier access belongs to an earlier iteration of a loop.
        around_loop: bool,
        /// The two belong to agents that run at the same time.
        between_agents: bool,
        /// The earlier one is a copy that may still be in flight.
        under_way: bool,
    },
    /// The wait leaves a group pending that it names.
    Wait { wait: OpRef<'c>, pending: i64 },
}

/// The conflicts of a function.
pub struct Races<'c> {
    graph: Graph<'c>,
    flows: Vec<Flow>,
    judge: Judge<'c>,
    waits: Vec<Conflict<'c>>,
    /// Facts about tokens.
    of_tokens: usize,
}

impl<'c> Races<'c> {
    pub fn of(function: OpRef<'c>) -> Self {
        let graph = Graph::of(function);
        let mut judge = Judge::of(&graph);
        let everything = (0, graph.nodes.len() as u32 - 1);
        let mut flows = vec![Flow::new(Pairs::Others, FxHashSet::default(), everything)];
        for &ring in &judge.rings {
            flows.push(judge.flow_of(&graph, ring, true));
        }
        for flow in &mut flows {
            if !flow.run(&graph, &mut judge)
                && let Pairs::OfRing(ring) = flow.pairs()
            {
                judge.forget(ring);
                *flow = judge.flow_of(&graph, ring, false);
                flow.run(&graph, &mut judge);
            }
        }
        judge.meet_between_agents(&graph);
        let (uncovered, of_tokens) = tokens::uncovered(&graph);
        let waits = uncovered.into_iter().map(|(wait, pending)| Conflict::Wait { wait, pending }).collect();
        Self { graph, flows, judge, waits, of_tokens }
    }

    /// What nothing orders, in the order of the program.
    pub fn conflicts(&self) -> impl Iterator<Item = &Conflict<'c>> {
        self.waits.iter().chain(self.judge.conflicts.values())
    }

    /// Accesses of shared memory.
    pub fn accesses(&self) -> &[SharedAccess<'c>] {
        &self.graph.accesses
    }

    /// Steps that the interpretation took: facts that were carried over nodes.
    pub fn work(&self) -> usize {
        self.of_tokens + self.flows.iter().map(Flow::size).sum::<usize>()
    }

    /// Whether a function without conflicts has none without `barrier` either. If so, the barrier counts as erased from
    /// here on. Only what the barrier stops is looked at anew, as far as the next barriers.
    pub fn is_redundant(&mut self, barrier: OpRef<'c>) -> bool {
        let is_it = |n: usize| matches!(self.graph.nodes[n].action, Action::Barrier(op) if op == barrier);
        let Some(node) = self.judge.barriers.get(&op_key(barrier)).copied().filter(|n| is_it(*n as usize)) else {
            return false;
        };
        self.judge.gone[node as usize] = true;
        for flow in &mut self.flows {
            flow.open(&self.graph, &mut self.judge, node);
        }
        let is_redundant = self.judge.conflicts.is_empty();
        for flow in &mut self.flows {
            flow.settle(is_redundant);
        }
        self.judge.conflicts.clear();
        self.judge.gone[node as usize] = is_redundant;
        is_redundant
    }
}

/// Decides about pairs of accesses, and keeps those that conflict.
struct Judge<'c> {
    accesses: Vec<Judged<'c>>,
    /// Rings whose stages scalars number, in the order of their first access.
    rings: Vec<usize>,
    numbered: FxHashSet<usize>,
    /// Nodes of barriers, by the op.
    barriers: FxHashMap<usize, u32>,
    /// Barriers that are taken as not there, by node.
    gone: Vec<bool>,
    /// By the number of the later access, then of the earlier one.
    conflicts: BTreeMap<(u32, u32), Conflict<'c>>,
}

/// An access, with what decisions about it need.
struct Judged<'c> {
    access: SharedAccess<'c>,
    node: u32,
    scope: u32,
    /// Whether all pipelines have ended when it comes.
    is_behind: OnceCell<bool>,
}

impl<'c> Judge<'c> {
    fn of(graph: &Graph<'c>) -> Self {
        let judged = |(access, &(node, scope)): (&SharedAccess<'c>, &(u32, u32))| Judged {
            access: access.clone(),
            node,
            scope,
            is_behind: OnceCell::new(),
        };
        let accesses: Vec<Judged<'c>> = graph.accesses.iter().zip(&graph.places).map(judged).collect();
        let mut rings = vec![];
        let mut numbered = FxHashSet::default();
        for access in accesses.iter().map(|a| &a.access).filter(|a| !a.pipelined) {
            if let Some((ring, Some(_))) = access.ring
                && numbered.insert(ring)
            {
                rings.push(ring);
            }
        }
        let barrier = |(n, node): (usize, &graph::Node<'c>)| match node.action {
            Action::Barrier(op) => Some((op_key(op), n as u32)),
            _ => None,
        };
        let barriers = graph.nodes.iter().enumerate().filter_map(barrier).collect();
        let gone = vec![false; graph.nodes.len()];
        Self { accesses, rings, numbered, barriers, gone, conflicts: BTreeMap::new() }
    }

    /// The flow of pairs of a ring, with the scalars that number its stages or without them.
    fn flow_of(&self, graph: &Graph<'c>, ring: usize, with_scalars: bool) -> Flow {
        let of_ring = || self.accesses.iter().filter(|a| a.access.ring.is_some_and(|(r, _)| r == ring));
        let slots = of_ring().filter_map(|a| a.access.ring?.1).filter(|_| with_scalars);
        let scalars = graph.sources_of(slots);
        let defines = |(n, node): (usize, &graph::Node<'c>)| {
            let is_scalar = |v: Val<'c>| graph.number(v).is_some_and(|n| scalars.contains(&n));
            let defines = match &node.action {
                Action::Compute(op, _) => results(*op).any(is_scalar),
                Action::Move(moved) => moved.iter().any(|(_, to)| scalars.contains(to)),
                _ => false,
            };
            defines.then_some(n as u32)
        };
        let defined = graph.nodes.iter().enumerate().filter_map(defines);
        let extent = graph.extent(of_ring().map(|a| a.node).chain(defined)).expect("a ring has accesses");
        Flow::new(Pairs::OfRing(ring), scalars, extent)
    }

    /// Drops what is said of pairs of a ring.
    fn forget(&mut self, ring: usize) {
        let Self { accesses, conflicts, .. } = self;
        let is_of = |n: u32| accesses[n as usize].access.ring.is_some_and(|(r, _)| r == ring);
        conflicts.retain(|(later, earlier), _| !(is_of(*later) && is_of(*earlier)));
    }

    fn ring_of(&self, access: u32) -> Option<usize> {
        self.accesses[access as usize].access.ring.map(|(ring, _)| ring)
    }

    fn slot_of(&self, access: u32) -> Option<Val<'c>> {
        self.accesses[access as usize].access.ring.and_then(|(_, slot)| slot)
    }

    /// How far an access has come when it begins.
    fn start_of(&self, access: u32) -> Progress {
        match &self.accesses[access as usize].access {
            a if a.asynchronous => Progress::Open,
            a => a.work.map_or(Progress::Done, |work| Progress::Work(work, OPEN_WORK)),
        }
    }

    fn is_gone(&self, node: u32) -> bool {
        self.gone[node as usize]
    }

    /// Accesses of agents that run at the same time.
    fn meet_between_agents(&mut self, graph: &Graph<'c>) {
        for agents in &graph.concurrent {
            for (i, one) in agents.iter().enumerate() {
                for (a, b) in agents[i + 1..].iter().flat_map(|other| one.clone().map(move |a| (a, other.clone()))) {
                    for b in b {
                        let done = |access: u32| {
                            let scope = self.accesses[access as usize].scope;
                            Pending { access, slot: None, progress: Progress::Done, scope }
                        };
                        self.decide(done(a), done(b));
                    }
                }
            }
        }
    }

    /// An access comes while another one is pending.
    fn meet(&mut self, pairs: Pairs, earlier: Pending, later: Pending) {
        let ring = |p: Pending| self.ring_of(p.access).filter(|ring| self.numbered.contains(ring));
        let common = ring(earlier).filter(|one| ring(later) == Some(*one));
        let is_mine = match pairs {
            Pairs::OfRing(ring) => common == Some(ring),
            Pairs::Others => common.is_none(),
        };
        if is_mine {
            self.decide(earlier, later);
        }
    }

    fn decide(&mut self, earlier: Pending, later: Pending) {
        let (a, b) = (&self.accesses[earlier.access as usize].access, &self.accesses[later.access as usize].access);
        let overlap = a.bytes.0 < b.bytes.1 && b.bytes.0 < a.bytes.1;
        if !overlap || !(a.write || b.write) {
            return;
        }
        let of_pipelines = a.pipelined && b.pipelined && (earlier.scope != later.scope || !is_within_stage(a, b));
        if of_pipelines || self.is_after_pipelines(earlier, later) || self.is_after_pipelines(later, earlier) {
            return;
        }
        if matches!((a.part, b.part), (Some(x), Some(y)) if x.is_apart(&y)) {
            return;
        }
        let one_ring = matches!((a.ring, b.ring), (Some((x, _)), Some((y, _))) if x == y);
        if one_ring && matches!((earlier.slot, later.slot), (Some(x), Some(y)) if x != y) {
            return;
        }
        let other_scope = earlier.scope != later.scope;
        let between_agents = other_scope && earlier.scope != BLOCK && later.scope != BLOCK;
        let under_way = earlier.progress != Progress::Done;
        if a.by_first_warp && b.by_first_warp && !other_scope && !under_way {
            return;
        }
        if let (false, Some((x, from)), Some((y, to))) = (other_scope || under_way, &a.place, &b.place)
            && x == y
            && a.part == b.part
            && same_threads((from, a.write), (to, b.write))
        {
            return;
        }
        let around_loop = a.op == b.op || earlier.access >= later.access;
        let conflict = || {
            let (earlier, later) = (Box::new(a.clone()), Box::new(b.clone()));
            Conflict::Accesses { earlier, later, around_loop, between_agents, under_way }
        };
        self.conflicts.entry((later.access, earlier.access)).or_insert_with(conflict);
    }

    /// Whether `other` comes when the pipeline that `access` belongs to has ended, and belongs to another agent. Within
    /// an agent it takes a barrier as well.
    fn is_after_pipelines(&self, access: Pending, other: Pending) -> bool {
        let of = |p: Pending| &self.accesses[p.access as usize];
        let (access, other) = (of(access), of(other));
        let agent = |op| ThreadScope::of(op).map(|s| (op_key(s.op), s.region));
        access.access.pipelined
            && !other.access.pipelined
            && agent(access.access.op) != agent(other.access.op)
            && *other.is_behind.get_or_init(|| is_behind_pipelines(other.access.op))
    }
}

/// Whether two accesses of stages are no business of the pipeline's barriers: what threads do to a stage while it is
/// theirs, up to the product that reads what they have written.
fn is_within_stage(earlier: &SharedAccess<'_>, later: &SharedAccess<'_>) -> bool {
    if let (Some(a), Some(b)) = (earlier.turn, later.turn) {
        // Between two turns of such warps at a stage all of them have committed, and consumers have read. What comes
        // later though it stands before is of another turn.
        let before = |block| ops_of(block).take_while(|o| *o != later.op).any(|o| o == earlier.op);
        return a == b && block_around(later.op).is_some_and(before);
    }
    earlier.by_threads && (later.by_threads || earlier.write && !later.write)
}
