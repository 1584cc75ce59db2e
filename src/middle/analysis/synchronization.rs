//! Finds unordered accesses of shared memory that may conflict.
//!
//! This is a data-flow analysis of the structured program. It is sound: it reports every conflict that can happen. A
//! reported conflict may still be impossible, because the analysis takes both sides of every branch and because it
//! treats a stage number that it cannot compute as any stage.
//!
//! # Abstraction
//!
//! An access is *pending* at a program point if some path from the access to this point has no barrier that orders
//! it. A later access conflicts with a pending access if their bytes may overlap, at least one of them writes, and
//! different threads may touch the same byte. For two accesses of the same storage, the layouts decide the last
//! condition: the thread that holds an element in one access must be the only one that touches it in the other. If
//! the storages differ, any thread may touch any common byte.
//!
//! *Asynchronous copies* write at any time between their issue and the wait for their group, so a barrier in between
//! does not order them. `commit` closes a group. Groups complete in order, so a group is characterized by its *age*,
//! the number of groups closed after it. A wait that leaves `n` groups pending completes all groups of age `n` or
//! more. Their copies then count as writes of the issuing threads, which a barrier makes visible to others. A wait
//! that does not cover a token that it names is a conflict, too ([`tokens`]).
//!
//! *Asynchronous dots* read their operands until they are awaited, in groups of their own, and so do TMA stores.
//!
//! *Rings.* The stage of an access is a loop-carried number, such as `(i + 1) % S`, computed by addition, comparison
//! and selection. The analysis evaluates these operations. Accesses of different stages of a ring cannot conflict.
//! The proof therefore covers, for any number of iterations, that a stage is read only after the wait for its copy
//! and a barrier, and refilled only after a barrier that follows its last read.
//!
//! *Pipelines.* If a pipeline's iterator numbers the stages, the pipeline's barriers order the accesses of different
//! owners of a stage, which [`super::pipelines`] checks. This analysis still checks the accesses of threads to a
//! stage that they own: they may convert it before the dot, and need their own barriers for that. Other accesses may
//! reuse the bytes once all pipelines have ended, after a barrier of the threads that emptied them.
//!
//! *Agents* are regions that run concurrently. Each is explored separately, and a barrier in one only settles its own
//! accesses. Two accesses of different agents conflict wherever they are in the program.
//!
//! # Assumptions
//!
//! * The effects and synchronization of an op follow from its interfaces ([`steps`]). An op that accesses shared
//!   memory declares the effect on its operand.
//! * The protocol of every pipeline is correct ([`super::pipelines`]).
//! * Storage without an offset may be anywhere in shared memory.
//! * The lanes of a warp are not ordered.
//!
//! # Bound on the work
//!
//! Only pairs of accesses of the same ring depend on stage numbers, and the progress of a group of copies depends on
//! no stage number. The program is therefore interpreted once per ring, with the scalars of this ring known, and once
//! for all other pairs, with no scalars known. The states of several rings never multiply. Each interpretation
//! propagates facts through a flow graph, each fact through each node once ([`flow`]), without nested fixpoint
//! iterations for nested loops. The work is at most proportional to the number of nodes, times the rings used around
//! a node, times the accesses pending between barriers; the nesting depth does not matter. If the scalars of a ring
//! take too many combinations ([`flow::MAX_STATES`]), the ring is interpreted without them, as if each access might
//! touch any stage.

mod flow;
mod graph;
mod steps;
mod tokens;

use super::pipelines::is_after_pipelines;
use crate::dialect::{rt::*, thread_scope::ThreadScope};
use flow::{Flow, Pairs};
use graph::{Action, BLOCK, Graph};
use rustc_hash::{FxHashMap, FxHashSet};
use std::{
    cell::OnceCell,
    collections::{BTreeMap, BTreeSet},
};
use steps::same_threads;
pub use steps::{SharedAccess, Work};

/// Limit on the ages that are distinguished, which exceeds the number of stages of any pipeline.
const MAX_AGE: i64 = 64;

/// The progress of an asynchronous access.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
enum Progress {
    /// Complete in the issuing thread, or not asynchronous.
    Done,
    /// In a closed group of this age.
    Group(i64),
    /// In a group that is not closed yet.
    Open,
    /// Work in a group of this age, or of age [`OPEN_WORK`]. Each kind counts its own groups.
    Work(Work, i64),
}

/// The age of work whose group is not closed yet.
const OPEN_WORK: i64 = -1;

/// An access that no barrier has ordered yet.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Pending {
    /// Number of the access in [`Graph::accesses`].
    access: u32,
    /// The stage; `None` if it may be any.
    slot: Option<i64>,
    progress: Progress,
    /// The number of the thread scope of the access.
    scope: u32,
}

/// Two unordered accesses, or a wait that does not cover a token that it names.
#[derive(Clone)]
pub enum Conflict<'c> {
    Accesses {
        earlier: Box<SharedAccess<'c>>,
        later: Box<SharedAccess<'c>>,
        /// The earlier access belongs to an earlier iteration of a loop.
        around_loop: bool,
        /// The accesses belong to agents that run concurrently.
        between_agents: bool,
        /// The earlier access is asynchronous and may still be in flight.
        in_flight: bool,
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
    /// The number of facts about tokens.
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

    /// Returns the conflicts, in program order.
    pub fn conflicts(&self) -> impl Iterator<Item = &Conflict<'c>> {
        self.waits.iter().chain(self.judge.conflicts.values())
    }

    /// Returns the accesses of shared memory.
    pub fn accesses(&self) -> &[SharedAccess<'c>] {
        &self.graph.accesses
    }

    /// Returns the number of steps of the analysis: the facts that it propagated over nodes.
    pub fn work(&self) -> usize {
        self.of_tokens + self.flows.iter().map(Flow::size).sum::<usize>()
    }

    /// Whether a function without conflicts has none without `barrier` either. If so, the barrier counts as erased
    /// from now on. Only the facts that the barrier stops are propagated again, up to the next barriers.
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

/// Decides whether pairs of accesses conflict, and collects the conflicts.
struct Judge<'c> {
    accesses: Vec<Judged<'c>>,
    /// Rings with stage numbers, in the order of their first access.
    rings: Vec<usize>,
    numbered: FxHashSet<usize>,
    /// The accesses of each ring.
    of_rings: FxHashMap<usize, Vec<usize>>,
    /// The nodes that define each tracked value.
    definitions: FxHashMap<u32, Vec<u32>>,
    /// The node of each barrier op.
    barriers: FxHashMap<usize, u32>,
    /// Whether a node's barrier is treated as absent.
    gone: Vec<bool>,
    /// Keyed by the number of the later access, then of the earlier one.
    conflicts: BTreeMap<(u32, u32), Conflict<'c>>,
}

/// An access with the data that decisions about it need.
struct Judged<'c> {
    access: SharedAccess<'c>,
    node: u32,
    scope: u32,
    /// Whether all pipelines have ended when the access happens.
    is_behind: OnceCell<bool>,
    /// Whether it conflicts with no access of the function, in any order, wherever they are.
    is_alone: bool,
    /// The first access that conflicts with the same later ones. Flows follow it instead.
    representative: u32,
}

impl<'c> Judge<'c> {
    fn of(graph: &Graph<'c>) -> Self {
        let judged = |(access, &(node, scope)): (&SharedAccess<'c>, &(u32, u32))| Judged {
            access: access.clone(),
            node,
            scope,
            is_behind: OnceCell::new(),
            is_alone: false,
            representative: 0,
        };
        let mut accesses: Vec<Judged<'c>> = graph.accesses.iter().zip(&graph.places).map(judged).collect();
        find_alone(&mut accesses);
        let mut rings = vec![];
        let mut numbered = FxHashSet::default();
        for access in accesses.iter().map(|a| &a.access).filter(|a| !a.pipelined) {
            if let Some((ring, Some(_))) = access.ring
                && numbered.insert(ring)
            {
                rings.push(ring);
            }
        }
        find_representatives(&mut accesses, &numbered);
        let mut of_rings: FxHashMap<usize, Vec<usize>> = FxHashMap::default();
        for (i, access) in accesses.iter().enumerate() {
            if let Some((ring, _)) = access.access.ring {
                of_rings.entry(ring).or_default().push(i);
            }
        }
        let mut definitions: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
        for (n, node) in graph.nodes.iter().enumerate() {
            let mut define = |value: u32| definitions.entry(value).or_default().push(n as u32);
            match &node.action {
                Action::Compute(op, _) => results(*op).filter_map(|v| graph.number(v)).for_each(define),
                Action::Move(moved) => moved.iter().for_each(|(_, to)| define(*to)),
                _ => {}
            }
        }
        let barrier = |(n, node): (usize, &graph::Node<'c>)| match node.action {
            Action::Barrier(op) => Some((op_key(op), n as u32)),
            _ => None,
        };
        let barriers = graph.nodes.iter().enumerate().filter_map(barrier).collect();
        let gone = vec![false; graph.nodes.len()];
        Self { accesses, rings, numbered, of_rings, definitions, barriers, gone, conflicts: BTreeMap::new() }
    }

    /// Returns the flow of the pairs of a ring, with or without the scalars that number its stages.
    fn flow_of(&self, graph: &Graph<'c>, ring: usize, with_scalars: bool) -> Flow {
        let of_ring = || self.of_rings[&ring].iter().map(|i| &self.accesses[*i]);
        let slots = of_ring().filter_map(|a| a.access.ring?.1).filter(|_| with_scalars);
        let scalars = graph.sources_of(slots);
        let defined = scalars.iter().filter_map(|value| self.definitions.get(value)).flatten().copied();
        let extent = graph.extent(of_ring().map(|a| a.node).chain(defined)).expect("a ring has accesses");
        Flow::new(Pairs::OfRing(ring), scalars, extent)
    }

    /// Drops the conflicts between accesses of a ring.
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

    /// Returns the progress of an access when it is issued.
    fn start_of(&self, access: u32) -> Progress {
        match &self.accesses[access as usize].access {
            a if a.asynchronous => Progress::Open,
            a => a.work.map_or(Progress::Done, |work| Progress::Work(work, OPEN_WORK)),
        }
    }

    fn representative_of(&self, access: u32) -> u32 {
        self.accesses[access as usize].representative
    }

    fn is_alone(&self, access: u32) -> bool {
        self.accesses[access as usize].is_alone
    }

    fn is_gone(&self, node: u32) -> bool {
        self.gone[node as usize]
    }

    /// Decides all pairs of accesses of agents that run concurrently.
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

    /// Handles an access that happens while an earlier one is pending.
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
        let in_flight = earlier.progress != Progress::Done;
        if a.by_first_warp && b.by_first_warp && !other_scope && !in_flight {
            return;
        }
        if let (false, Some((x, from)), Some((y, to))) = (other_scope || in_flight, &a.place, &b.place)
            && x == y
            && a.part == b.part
            && same_threads((from, a.write), (to, b.write))
        {
            return;
        }
        let around_loop = a.op == b.op || earlier.access >= later.access;
        let conflict = || {
            let (earlier, later) = (Box::new(a.clone()), Box::new(b.clone()));
            Conflict::Accesses { earlier, later, around_loop, between_agents, in_flight }
        };
        self.conflicts.entry((later.access, earlier.access)).or_insert_with(conflict);
    }

    /// Whether `other` happens after the pipeline of `access` has ended, and belongs to another agent. Within the
    /// same agent, a barrier is required as well.
    fn is_after_pipelines(&self, access: Pending, other: Pending) -> bool {
        let of = |p: Pending| &self.accesses[p.access as usize];
        let (access, other) = (of(access), of(other));
        let agent = |op| ThreadScope::of(op).map(|s| (op_key(s.op), s.region));
        access.access.pipelined
            && !access.access.may_be_unread
            && !other.access.pipelined
            && agent(access.access.op) != agent(other.access.op)
            && *other.is_behind.get_or_init(|| is_after_pipelines(other.access.op))
    }
}

/// Finds the accesses that conflict with no other one, so that flows need not follow them. The copies into stages of
/// pipelines and the dots that read them are such accesses, unless other storage has the same bytes.
///
/// Accesses are compared by kind, of which there are few: the rings of loops in a row are at the same bytes.
fn find_alone(accesses: &mut [Judged<'_>]) {
    let kind_of = |a: &SharedAccess<'_>| (a.bytes, [a.write, a.pipelined, a.by_threads, a.turn.is_some()]);
    let mut kinds: BTreeMap<_, Vec<usize>> = BTreeMap::new();
    for (i, access) in accesses.iter().enumerate() {
        kinds.entry(kind_of(&access.access)).or_default().push(i);
    }
    if kinds.len() > MOST_KINDS {
        return;
    }
    let conflict = |(a, [a_writes, a_pipelined, a_threads, a_turn]): &((u64, u64), [bool; 4]),
                    (b, [b_writes, b_pipelined, b_threads, b_turn]): &((u64, u64), [bool; 4])| {
        let overlap = a.0 < b.1 && b.0 < a.1 && (*a_writes || *b_writes);
        // The pipeline orders two of its accesses, unless both are by threads that own a stage.
        let ordered = *a_pipelined && *b_pipelined && !(*a_turn && *b_turn) && !(*a_threads || *b_threads);
        overlap && !ordered
    };
    let all: Vec<_> = kinds.keys().copied().collect();
    for (kind, members) in kinds {
        let is_alone = all.iter().all(|other| !conflict(&kind, other));
        members.into_iter().for_each(|i| accesses[i].is_alone = is_alone);
    }
}

/// Finds the representatives of the accesses of stages: [`Judge::decide`] sees no difference between two such accesses
/// of one agent that have the same bytes, threads and kind of work.
///
/// The rings of loops in a row are at the same bytes. Their accesses are alike too if [`Judge::decide`] asks neither
/// for the ring nor for the threads: no flow of its own follows the ring, and the pipeline orders the access with all
/// later ones of stages. It does not order a read with a write by threads that own the stage.
fn find_representatives(accesses: &mut [Judged<'_>], numbered: &FxHashSet<usize>) {
    let mut written: FxHashMap<u32, BTreeSet<(u64, u64)>> = FxHashMap::default();
    for Judged { access: a, scope, .. } in accesses.iter().filter(|j| j.access.pipelined && j.access.write) {
        if a.by_threads {
            written.entry(*scope).or_default().insert(a.bytes);
        }
    }
    let is_written = |scope: u32, (start, end): (u64, u64)| {
        let overlap = |b: &(u64, u64)| start < b.1 && b.0 < end;
        written.get(&scope).is_some_and(|all| all.len() > MOST_KINDS || all.iter().any(overlap))
    };
    let mut first: FxHashMap<_, Vec<usize>> = FxHashMap::default();
    for i in 0..accesses.len() {
        let Judged { access: a, scope, .. } = &accesses[i];
        let mut representative = i;
        if a.pipelined && a.turn.is_none() {
            let flags = [a.write, a.by_threads, a.asynchronous, a.by_first_warp];
            let is_ordered = !a.by_threads || !a.write && !is_written(*scope, a.bytes);
            let ring = a.ring.map(|(ring, _)| ring);
            let of_any_ring = is_ordered && a.part.is_none() && ring.is_some_and(|ring| !numbered.contains(&ring));
            let alike = first.entry((a.bytes, flags, *scope, ring.filter(|_| !of_any_ring))).or_default();
            let same = |k: &&usize| {
                let b = &accesses[**k].access;
                a.work == b.work && (of_any_ring || a.part == b.part && a.place == b.place)
            };
            match alike.iter().find(same) {
                Some(k) => representative = *k,
                None => alike.push(i),
            }
        }
        accesses[i].representative = representative as u32;
    }
}

/// The number of kinds of accesses up to which they are compared.
const MOST_KINDS: usize = 1024;

/// Whether the pipeline's barriers do not order two accesses of stages: both are by threads that own the stage at the
/// time, up to the dot that reads the threads' writes.
fn is_within_stage(earlier: &SharedAccess<'_>, later: &SharedAccess<'_>) -> bool {
    if let (Some(a), Some(b)) = (earlier.turn, later.turn) {
        // Before these warps own the stage again, all of them commit it and the consumers read it. So if the later
        // access precedes the earlier one in the block, it belongs to another ownership and is ordered.
        let before = |block| ops_of(block).take_while(|o| *o != later.op).any(|o| o == earlier.op);
        return a == b && block_around(later.op).is_some_and(before);
    }
    earlier.by_threads && (later.by_threads || earlier.write && !later.write)
}
