//! Which accesses of shared memory nothing orders.
//!
//! An abstract interpreter of the structured program. A [`State`] holds
//!
//! * the *pending* accesses, those that some path has made since its last barrier, each with the stage of the ring that
//!   it touches, and
//! * the values of scalars that number stages, and the ages of tokens.
//!
//! An access conflicts with a pending one when their bytes may overlap, at least one of them writes, and different
//! threads may touch one byte. Of two accesses of one storage the layouts tell: the thread that holds an element in the
//! one must be the only one that touches it in the other. Two storages that share bytes tell nothing.
//!
//! *Asynchronous copies.* A copy writes at any time between its start and the wait for its group; a barrier in between
//! says nothing about it. `commit` closes a group. Groups complete in order, so a token is described by its *age*, the
//! number of groups closed after it, and a wait that leaves `n` groups pending completes the groups of age `n` and
//! more. Those copies become plain writes of the threads that made them, which others see behind a barrier. A wait that
//! names a token which it need not wait for is a conflict of its own.
//!
//! *Products* that are under way read their operands until they are waited for, by groups of their own. So do copies of
//! tiles to global memory.
//!
//! *Rings.* The stage of an access is a number that the loop carries: `(i + 1) % S` by addition, comparison and
//! selection. The interpreter computes these, and explores a loop until no new combination of stages, ages and pending
//! accesses turns up at its head, which takes a few times `S` iterations. Two accesses of different stages of one ring
//! do not meet. So the proof covers that a stage is read only behind the wait for its copy and a barrier, and is filled
//! again only behind a barrier after its last read, for any number of iterations.
//!
//! *Pipelines.* Accesses of stages that an iterator numbers are ordered among themselves by the barriers of their
//! pipeline ([`super::pipelines`]), but for what threads do to a stage while it is theirs: they may change it before it
//! is multiplied, and need barriers of their own. Others may use the same bytes when all pipelines have ended, behind a
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

mod steps;

use super::pipelines::is_behind_pipelines;
use crate::dialect::{
    behaviour::{self, SyncKind},
    nv_tileas::{AsyncWaitOp, MemDescSlotOp},
    rt::*,
    thread_scope::ThreadScope,
    upstream::{Arith, Scf},
};
use melior::ir::{Attribute, AttributeLike};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};
pub use steps::{SharedAccess, Work};
use steps::{Step, same_threads, steps};

/// What is known of a scalar or a token.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
enum Known {
    Int(i64),
    /// A group of copies, by the number of groups closed after it; at most [`MAX_AGE`].
    Age(i64),
}

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

/// The scope of all threads of a block.
const BLOCK: u32 = 0;

/// An access that no barrier has settled.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Pending {
    /// Number of the access in [`Races::accesses`].
    access: u32,
    /// The stage; none when it may be any.
    slot: Option<i64>,
    progress: Progress,
    /// Number of the thread scope that made it.
    scope: u32,
}

/// Values known on a path, by number, with what is pending.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
struct State {
    known: BTreeMap<u32, Known>,
    pending: BTreeSet<Pending>,
}

/// States that differ in what is known. Those that know the same are joined.
type States = BTreeMap<BTreeMap<u32, Known>, BTreeSet<Pending>>;

/// More states than these at one place are joined, and what they disagree on is forgotten.
const MAX_STATES: usize = 256;

/// Adds a state; whether it says something new.
fn add(states: &mut States, state: State) -> bool {
    let mut is_new = false;
    let pending = states.entry(state.known).or_insert_with(|| {
        is_new = true;
        BTreeSet::new()
    });
    let before = pending.len();
    pending.extend(state.pending);
    is_new || pending.len() > before
}

/// The same states, joined to one when there are too many: it knows what all agree on.
fn limited(states: States) -> States {
    if states.len() <= MAX_STATES {
        return states;
    }
    let mut known: Option<BTreeMap<u32, Known>> = None;
    let mut pending = BTreeSet::new();
    for (k, p) in states {
        match &mut known {
            Some(known) => known.retain(|n, v| k.get(n) == Some(v)),
            None => known = Some(k),
        }
        pending.extend(p);
    }
    States::from([(known.unwrap_or_default(), pending)])
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
        /// The earlier one is a copy that may still be under way.
        under_way: bool,
    },
    /// The wait leaves a group under way that it names.
    Wait { wait: OpRef<'c>, pending: i64 },
}

/// The conflicts of a function. Barriers for which `ignored` holds are taken as not there.
pub struct Races<'c, 'f> {
    ignored: &'f dyn Fn(OpRef<'c>) -> bool,
    pub conflicts: Vec<Conflict<'c>>,
    /// Accesses met, each counted once.
    pub accesses: Vec<SharedAccess<'c>>,
    /// Steps of each op, by the op's number.
    programs: FxHashMap<u32, Vec<Numbered<'c>>>,
    /// Numbers in program order: of ops, and of the values that they and their regions define.
    ops: FxHashMap<usize, u32>,
    values: FxHashMap<usize, u32>,
    /// Ops with regions in which nothing happens to shared memory.
    idle: FxHashSet<u32>,
    /// Numbers of the values inside of an op with regions: the first, and the one behind the last.
    inside: FxHashMap<u32, (u32, u32)>,
    /// Scalars that number stages or lead to such numbers, and tokens. Nothing else is known of any value.
    tracked: FxHashSet<usize>,
    /// Outcomes of ops with regions, by number and state before.
    memory: FxHashMap<(u32, State), States>,
    /// Number of the thread scope that is explored.
    scope: u32,
    reported: FxHashSet<(u32, u32)>,
}

/// A step whose access has a number.
#[derive(Clone)]
enum Numbered<'c> {
    Access(u32),
    Barrier,
    Commit(Val<'c>),
    Wait(i64),
    CommitWork(Work),
    WaitForWork(Work, i64),
}

impl<'c, 'f> Races<'c, 'f> {
    pub fn of(function: OpRef<'c>, ignored: &'f dyn Fn(OpRef<'c>) -> bool) -> Self {
        let mut races = Races {
            ignored,
            conflicts: vec![],
            accesses: vec![],
            programs: FxHashMap::default(),
            ops: FxHashMap::default(),
            values: FxHashMap::default(),
            idle: FxHashSet::default(),
            inside: FxHashMap::default(),
            tracked: tracked(function),
            memory: FxHashMap::default(),
            scope: BLOCK,
            reported: FxHashSet::default(),
        };
        races.number(function);
        for i in 0..region_count(function) {
            if let Some(block) = entry_block(region(function, i)) {
                races.block(block, State::default());
            }
        }
        races
    }

    /// Numbers ops and values in program order; whether anything happens to shared memory in `op`.
    fn number(&mut self, op: OpRef<'c>) -> bool {
        let number = self.ops.len() as u32;
        self.ops.insert(op_key(op), number);
        let mut busy = false;
        let first = self.values.len() as u32;
        for i in 0..region_count(op) {
            let Some(block) = entry_block(region(op, i)) else { continue };
            args(block).for_each(|a| self.number_value(a));
            for inner in ops_of(block) {
                busy |= self.number(inner);
            }
        }
        if region_count(op) > 0 {
            self.inside.insert(number, (first, self.values.len() as u32));
            // What a branch gives may number a stage.
            if !busy && !results(op).any(|r| self.tracked.contains(&key(r))) {
                self.idle.insert(number);
            }
        }
        results(op).for_each(|r| self.number_value(r));
        let mut program = vec![];
        if region_count(op) == 0 {
            for step in steps(op) {
                program.push(match step {
                    Step::Access(access) => {
                        self.accesses.push(access);
                        Numbered::Access(self.accesses.len() as u32 - 1)
                    }
                    Step::Barrier => Numbered::Barrier,
                    Step::Commit(token) => Numbered::Commit(token),
                    Step::Wait(pending) => Numbered::Wait(pending),
                    Step::CommitWork(work) => Numbered::CommitWork(work),
                    Step::WaitForWork(work, pending) => Numbered::WaitForWork(work, pending),
                });
            }
        }
        busy |= !program.is_empty();
        if !program.is_empty() {
            self.programs.insert(number, program);
        }
        busy
    }

    fn number_value(&mut self, v: Val<'c>) {
        let next = self.values.len() as u32;
        self.values.insert(key(v), next);
    }

    fn known(&self, state: &State, v: Val<'c>) -> Option<Known> {
        self.values.get(&key(v)).and_then(|n| state.known.get(n)).copied()
    }

    fn learn(&self, state: &mut State, v: Val<'c>, known: Option<Known>) {
        if !self.tracked.contains(&key(v)) {
            return;
        }
        let number = self.values[&key(v)];
        match known {
            Some(k) => state.known.insert(number, k),
            None => state.known.remove(&number),
        };
    }

    fn block(&mut self, block: Blk<'c>, state: State) -> States {
        let mut states = States::from([(state.known, state.pending)]);
        for op in ops_of(block) {
            let number = self.ops[&op_key(op)];
            if self.idle.contains(&number) {
                continue;
            }
            let mut after = States::new();
            for (known, pending) in states {
                let state = State { known, pending };
                if region_count(op) > 0 {
                    self.structured(op, number, state).into_iter().for_each(|(known, pending)| {
                        add(&mut after, State { known, pending });
                    });
                } else {
                    let next = self.plain(op, number, state);
                    add(&mut after, next);
                }
            }
            states = limited(after);
        }
        states
    }

    /// An op without regions.
    fn plain(&mut self, op: OpRef<'c>, number: u32, mut state: State) -> State {
        if let Some(program) = self.programs.get(&number).cloned() {
            self.wait_covers(op, &state);
            for step in program {
                self.step(op, step, &mut state);
            }
        } else if let Some(kind) = Arith::of(op).filter(|_| results(op).any(|r| self.tracked.contains(&key(r)))) {
            let value = self.computed(op, kind, &state);
            results(op).for_each(|r| self.learn(&mut state, r, value));
        }
        state
    }

    /// What an op of `arith` gives, when that may number a stage.
    fn computed(&self, op: OpRef<'c>, kind: Arith, state: &State) -> Option<Known> {
        let int = |i: usize| match self.known(state, operand(op, i)) {
            Some(Known::Int(v)) => Some(v),
            _ => None,
        };
        let value = match kind {
            Arith::Constant => attr(op, "value").filter(|a| is_int_attr(*a)).map(int_attr)?,
            Arith::AddI => int(0)?.checked_add(int(1)?)?,
            Arith::SubI => int(0)?.checked_sub(int(1)?)?,
            Arith::MulI => int(0)?.checked_mul(int(1)?)?,
            Arith::RemSI | Arith::RemUI => int(0).filter(|a| *a >= 0)?.checked_rem(int(1).filter(|b| *b > 0)?)?,
            Arith::CmpI => compare(attr(op, "predicate").map(int_attr)?, int(0)?, int(1)?)?.into(),
            Arith::Select => return self.known(state, operand(op, if int(0)? & 1 != 0 { 1 } else { 2 })),
            _ => return None,
        };
        Some(Known::Int(value))
    }

    fn step(&mut self, op: OpRef<'c>, step: Numbered<'c>, state: &mut State) {
        match step {
            Numbered::Barrier if (self.ignored)(op) => {}
            Numbered::Barrier => {
                // A barrier of the block joins all agents; one of an agent, its own threads only.
                let scope = self.scope;
                let meets = |p: &Pending| scope == BLOCK || p.scope == scope;
                state.pending.retain(|p| p.progress != Progress::Done || !meets(p));
            }
            Numbered::Commit(token) => {
                state.known.values_mut().for_each(|k| {
                    if let Known::Age(age) = k {
                        *age = (*age + 1).min(MAX_AGE);
                    }
                });
                self.advance(state, |p| match p {
                    Progress::Open => Progress::Group(0),
                    Progress::Group(age) => Progress::Group((age + 1).min(MAX_AGE)),
                    other => other,
                });
                self.learn(state, token, Some(Known::Age(0)));
            }
            Numbered::Wait(pending) => self.advance(state, |p| match p {
                Progress::Group(age) if age >= pending => Progress::Done,
                other => other,
            }),
            Numbered::CommitWork(work) => self.advance(state, |p| match p {
                Progress::Work(kind, age) if kind == work => Progress::Work(kind, (age + 1).min(MAX_AGE)),
                other => other,
            }),
            Numbered::WaitForWork(work, pending) => self.advance(state, |p| match p {
                Progress::Work(kind, age) if kind == work && age >= pending => Progress::Done,
                other => other,
            }),
            Numbered::Access(access) => {
                let slot = match self.accesses[access as usize].ring {
                    Some((_, Some(v))) => match self.known(state, v) {
                        Some(Known::Int(slot)) => Some(slot),
                        _ => None,
                    },
                    _ => None,
                };
                let progress = match &self.accesses[access as usize] {
                    a if a.asynchronous => Progress::Open,
                    a => a.work.map_or(Progress::Done, |work| Progress::Work(work, OPEN_WORK)),
                };
                let me = Pending { access, slot, progress, scope: self.scope };
                for other in state.pending.clone() {
                    self.meet(other, me);
                }
                state.pending.insert(me);
            }
        }
    }

    /// Moves the copies of the scope on.
    fn advance(&self, state: &mut State, to: impl Fn(Progress) -> Progress) {
        let moved = std::mem::take(&mut state.pending).into_iter();
        state.pending =
            moved.map(|p| if p.scope == self.scope { Pending { progress: to(p.progress), ..p } } else { p }).collect();
    }

    /// Reports a wait that leaves a group under way that it names.
    fn wait_covers(&mut self, op: OpRef<'c>, state: &State) {
        let Some(wait) = AsyncWaitOp::cast(op) else { return };
        let number = self.ops[&op_key(op)];
        for token in wait.groups() {
            let covered = match self.known(state, token) {
                Some(Known::Age(age)) => age >= wait.pending(),
                // A token of no work, or one that the interpreter has lost: then only a wait for all will do.
                _ => wait.pending() == 0 || defining_op(token).is_some_and(|d| operand_count(d) == 0),
            };
            if !covered && self.reported.insert((number, u32::MAX)) {
                self.conflicts.push(Conflict::Wait { wait: op, pending: wait.pending() });
            }
        }
    }

    fn meet(&mut self, earlier: Pending, later: Pending) {
        let (a, b) = (&self.accesses[earlier.access as usize], &self.accesses[later.access as usize]);
        let overlap = a.bytes.0 < b.bytes.1 && b.bytes.0 < a.bytes.1;
        if !overlap || !(a.write || b.write) {
            return;
        }
        let of_pipelines = a.pipelined && b.pipelined && (earlier.scope != later.scope || !is_within_stage(a, b));
        if of_pipelines || is_after_pipelines(a, b) || is_after_pipelines(b, a) {
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
        if !self.reported.insert((earlier.access, later.access)) {
            return;
        }
        let around_loop = self.ops[&op_key(a.op)] >= self.ops[&op_key(b.op)];
        let (earlier, later) = (Box::new(a.clone()), Box::new(b.clone()));
        self.conflicts.push(Conflict::Accesses { earlier, later, around_loop, between_agents, under_way });
    }

    /// An op with regions.
    fn structured(&mut self, op: OpRef<'c>, number: u32, state: State) -> States {
        let key = (number, state);
        if let Some(known) = self.memory.get(&key) {
            return known.clone();
        }
        let state = key.1.clone();
        let after = match Scf::of(op) {
            Some(Scf::For) => self.for_loop(op, number, state),
            Some(Scf::While) => self.while_loop(op, number, state),
            Some(Scf::If) => self.branch(op, number, state),
            _ => self.regions(op, number, state),
        };
        self.memory.insert(key, after.clone());
        after
    }

    /// Without what is known of values inside of an op.
    fn forgotten(&self, number: u32, states: States) -> States {
        let inside = self.inside[&number];
        let mut out = States::new();
        for (mut known, pending) in states {
            known.retain(|n, _| !(inside.0..inside.1).contains(n));
            add(&mut out, State { known, pending });
        }
        out
    }

    /// A state with what is known of `from` said of `to`, and nothing of other values inside of the op.
    fn bound(&self, number: u32, state: State, from: &[Val<'c>], to: impl Iterator<Item = Val<'c>>) -> State {
        let known: Vec<Option<Known>> = from.iter().map(|v| self.known(&state, *v)).collect();
        let inside = self.inside[&number];
        let mut state = state;
        state.known.retain(|n, _| !(inside.0..inside.1).contains(n));
        for (v, k) in to.zip(known) {
            self.learn(&mut state, v, k);
        }
        state
    }

    /// Runs `once` from every state at the head of a loop until no new one turns up. `once` gives the states that come
    /// back.
    fn explore(&mut self, head: State, mut once: impl FnMut(&mut Self, State) -> Vec<State>) -> States {
        let mut heads = States::from([(head.known.clone(), head.pending.clone())]);
        let mut work = vec![head];
        while let Some(state) = work.pop() {
            for back in once(self, state) {
                let known = back.known.clone();
                if add(&mut heads, back) {
                    work.retain(|w| w.known != known);
                    let pending = heads[&known].clone();
                    work.push(State { known, pending });
                }
            }
            if heads.len() > MAX_STATES {
                heads = limited(heads);
                work = heads.iter().map(|(k, p)| State { known: k.clone(), pending: p.clone() }).collect();
            }
        }
        heads
    }

    fn for_loop(&mut self, op: OpRef<'c>, number: u32, state: State) -> States {
        let Some(body) = entry_block(region(op, 0)) else { return single(state) };
        let inits: Vec<Val<'c>> = operands(op).skip(3).collect();
        let yields = terminator_operands(body);
        let head = self.bound(number, state, &inits, args(body).skip(1));
        let heads = self.explore(head, |this, state| {
            let ends = this.block(body, state);
            ends.into_iter()
                .map(|(known, pending)| this.bound(number, State { known, pending }, &yields, args(body).skip(1)))
                .collect()
        });
        let carried: Vec<Val<'c>> = args(body).skip(1).collect();
        let mut after = States::new();
        for (known, pending) in heads {
            let state = self.bound(number, State { known, pending }, &carried, results(op));
            add(&mut after, state);
        }
        after
    }

    fn while_loop(&mut self, op: OpRef<'c>, number: u32, state: State) -> States {
        let (Some(before), Some(after)) = (entry_block(region(op, 0)), entry_block(region(op, 1))) else {
            return single(state);
        };
        let inits: Vec<Val<'c>> = operands(op).collect();
        let given: Vec<Val<'c>> = terminator_operands(before).split_off(1);
        let yields = terminator_operands(after);
        let mut left = States::new();
        let head = self.bound(number, state, &inits, args(before));
        self.explore(head, |this, state| {
            let mut back = vec![];
            for (known, pending) in this.block(before, state) {
                let state = State { known, pending };
                add(&mut left, this.bound(number, state.clone(), &given, results(op)));
                let inner = this.bound(number, state, &given, args(after));
                for (known, pending) in this.block(after, inner) {
                    back.push(this.bound(number, State { known, pending }, &yields, args(before)));
                }
            }
            back
        });
        left
    }

    fn branch(&mut self, op: OpRef<'c>, number: u32, state: State) -> States {
        let mut after = States::new();
        for i in 0..2 {
            let Some(block) = entry_block(region(op, i)) else {
                add(&mut after, state.clone());
                continue;
            };
            let yields = terminator_operands(block);
            for (known, pending) in self.block(block, state.clone()) {
                let state = self.bound(number, State { known, pending }, &yields, results(op));
                add(&mut after, state);
            }
        }
        after
    }

    /// Regions that run one after the other, or at the same time by different threads.
    fn regions(&mut self, op: OpRef<'c>, number: u32, state: State) -> States {
        let mut after = States::from([(state.known.clone(), state.pending.clone())]);
        let around = self.scope;
        let mut agents: Vec<(u32, u32)> = vec![];
        for i in 0..region_count(op) {
            let Some(block) = entry_block(region(op, i)) else { continue };
            let is_concurrent = ThreadScope::of_region(op, i).is_some_and(|s| s.is_concurrent);
            if !is_concurrent {
                let mut next = States::new();
                for (known, pending) in after {
                    for (known, pending) in self.block(block, State { known, pending }) {
                        add(&mut next, State { known, pending });
                    }
                }
                after = next;
                continue;
            }
            // Scope numbers: the op's and the region's, never that of the function, which is zero.
            self.scope = (number << 5) + i as u32 + 1;
            for (mut known, pending) in self.block(block, state.clone()) {
                // The groups of an agent's threads are not those of others.
                known.retain(|_, k| matches!(k, Known::Int(_)));
                add(&mut after, State { known, pending });
            }
            agents.extend(self.accesses_in(block).into_iter().map(|a| (self.scope, a)));
        }
        self.scope = around;
        for (n, &(scope, access)) in agents.iter().enumerate() {
            for &(other_scope, other) in agents[n + 1..].iter().filter(|(s, _)| *s != scope) {
                let pending = |access, scope| Pending { access, slot: None, progress: Progress::Done, scope };
                self.meet(pending(access, scope), pending(other, other_scope));
            }
        }
        self.forgotten(number, after)
    }

    /// Numbers of the accesses in a block and in the regions of its ops.
    fn accesses_in(&self, block: Blk<'c>) -> Vec<u32> {
        let mut list = vec![];
        for op in ops_of(block) {
            walk(op, &mut |o| {
                for step in self.programs.get(&self.ops[&op_key(o)]).into_iter().flatten() {
                    if let Numbered::Access(access) = step {
                        list.push(*access);
                    }
                }
            });
        }
        list
    }
}

/// Whether `other` comes when the pipeline that `access` belongs to has ended, and belongs to another agent. Within an
/// agent it takes a barrier as well.
fn is_after_pipelines(access: &SharedAccess<'_>, other: &SharedAccess<'_>) -> bool {
    let agent = |op| ThreadScope::of(op).map(|s| (op_key(s.op), s.region));
    access.pipelined && !other.pipelined && agent(access.op) != agent(other.op) && is_behind_pipelines(other.op)
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

fn single(state: State) -> States {
    States::from([(state.known, state.pending)])
}

fn terminator_operands<'c>(block: Blk<'c>) -> Vec<Val<'c>> {
    ops_of(block).last().map_or(vec![], |last| operands(last).collect())
}

fn is_int_attr(a: Attribute<'_>) -> bool {
    // SAFETY: the attribute is alive.
    unsafe { mlir_sys::mlirAttributeIsAInteger(a.to_raw()) }
}

/// The outcome of `arith.cmpi`; none for a comparison that depends on the width.
fn compare(predicate: i64, a: i64, b: i64) -> Option<bool> {
    Some(match predicate {
        0 => a == b,
        1 => a != b,
        2 => a < b,
        3 => a <= b,
        4 => a > b,
        5 => a >= b,
        _ if a < 0 || b < 0 => return None,
        6 => a < b,
        7 => a <= b,
        8 => a > b,
        9 => a >= b,
        _ => return None,
    })
}

/// Scalars that number stages, with all that they are computed from, and tokens of asynchronous work.
fn tracked(function: OpRef<'_>) -> FxHashSet<usize> {
    let mut work = vec![];
    walk(function, &mut |op| {
        work.extend(MemDescSlotOp::cast(op).map(|s| s.index()));
        work.extend(AsyncWaitOp::cast(op).into_iter().flat_map(|w| w.groups()));
        if behaviour::sync_kind(op) == SyncKind::Commit {
            work.extend(results(op));
        }
    });
    let mut found = FxHashSet::default();
    while let Some(v) = work.pop() {
        if found.insert(key(v)) {
            work.extend(sources(v));
        }
    }
    found
}

/// The values that `v` is computed from or may be a copy of.
fn sources<'c>(v: Val<'c>) -> Vec<Val<'c>> {
    let given = |op: OpRef<'c>, r: usize, i: usize| -> Option<Val<'c>> {
        terminator_operands(entry_block(region(op, r))?).get(i).copied()
    };
    match defining_op(v) {
        Some(op) => {
            let i = results(op).position(|r| r == v).expect("a result of its op");
            match Scf::of(op) {
                Some(Scf::For) => [Some(operand(op, 3 + i)), given(op, 0, i)].into_iter().flatten().collect(),
                Some(Scf::If) => [given(op, 0, i), given(op, 1, i)].into_iter().flatten().collect(),
                Some(Scf::While) => given(op, 0, i + 1).into_iter().collect(),
                _ if Arith::of(op).is_some() => operands(op).collect(),
                _ => vec![],
            }
        }
        None => {
            let block = owner_of(v);
            let Some(op) = parent_of_block(block) else { return vec![] };
            let i = args(block).position(|a| a == v).expect("an argument of its block");
            match Scf::of(op) {
                Some(Scf::For) if i > 0 => {
                    [Some(operand(op, 2 + i)), given(op, 0, i - 1)].into_iter().flatten().collect()
                }
                Some(Scf::While) if entry_block(region(op, 0)) == Some(block) => {
                    [Some(operand(op, i)), given(op, 1, i)].into_iter().flatten().collect()
                }
                Some(Scf::While) => given(op, 0, i + 1).into_iter().collect(),
                _ => vec![],
            }
        }
    }
}
