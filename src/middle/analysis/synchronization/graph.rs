//! The flow graph of a function: the ops that matter to shared memory, and the moves of tracked values between them.
//!
//! Structured control flow becomes edges. A loop has a node that moves its initial values, a head, the nodes of its
//! body, and a node that moves the yielded values back to the head. Ops that affect neither shared memory nor a
//! tracked value have no node, so the size of the graph is at most linear in the program.

use super::steps::{SharedAccess, SyncStep, Work, steps};
use crate::analysis::carried;
use crate::dialect::{
    behaviour::int_constant,
    behaviour::{self, SyncKind},
    nv_tileas::{AsyncWaitOp, MemDescSlotOp},
    rt::*,
    thread_scope::ThreadScope,
    upstream::{Arith, Scf},
};
use rustc_hash::{FxHashMap, FxHashSet};

/// The scope of all threads of a CTA.
pub(super) const BLOCK: u32 = 0;

pub(super) enum Action<'c> {
    /// A point where paths fork or join.
    Pass,
    /// An access, by its number in [`Graph::accesses`].
    Access(u32),
    Barrier(OpRef<'c>),
    /// The copies since the last commit become a group, represented by this value.
    Commit(u32),
    /// All groups of at least this age complete. `Waits` names the groups that the wait is for.
    Wait(i64, Option<Waits<'c>>),
    CommitWork(Work),
    WaitForWork(Work, i64),
    /// An arithmetic op defines a tracked value.
    Compute(OpRef<'c>, Arith),
    /// Parallel assignment of values (first) to tracked values (second).
    Move(Vec<(Val<'c>, u32)>),
    /// The end of an agent's program. The groups of its threads are unknown to others.
    LeaveAgent,
}

/// A wait for groups of copies, with the tokens of these groups.
pub(super) struct Waits<'c> {
    pub op: OpRef<'c>,
    pub tokens: Vec<Val<'c>>,
}

pub(super) struct Node<'c> {
    pub action: Action<'c>,
    /// The thread scope that runs the node.
    pub scope: u32,
    pub next: Vec<u32>,
    /// The innermost loop that contains the node.
    inner: Option<u32>,
    /// The number of the op in the outermost block of the function or agent that contains the node.
    top: u32,
}

struct Loop {
    head: u32,
    /// The last node of the body.
    end: u32,
    outer: Option<u32>,
}

/// A stage number or a value that a stage number is computed from, or a token.
pub(super) struct Tracked {
    /// The nodes at which the value may be live: from its definition to its last use, including loops around the use.
    pub live: (u32, u32),
    pub constant: Option<i64>,
}

pub(super) struct Graph<'c> {
    pub nodes: Vec<Node<'c>>,
    pub accesses: Vec<SharedAccess<'c>>,
    /// The node and the scope of each access.
    pub places: Vec<(u32, u32)>,
    /// The number of each tracked value.
    pub numbers: FxHashMap<usize, u32>,
    pub tracked: Vec<Tracked>,
    /// Per op with concurrent regions, the range of accesses of each region.
    pub concurrent: Vec<Vec<std::ops::Range<u32>>>,
    /// The first and the last node of each outermost op.
    pub tops: Vec<(u32, u32)>,
    loops: Vec<Loop>,
    uses: Vec<(u32, u32)>,
    /// Ops that have nodes or contain such ops, with the steps of those without regions.
    busy: FxHashMap<usize, Vec<SyncStep<'c>>>,
    /// The nodes whose successor is the next node.
    ends: Vec<u32>,
    scope: u32,
    scopes: u32,
    inner: Option<u32>,
    depth: u32,
}

impl<'c> Graph<'c> {
    pub fn of(function: OpRef<'c>) -> Self {
        let mut graph = Graph {
            nodes: vec![],
            accesses: vec![],
            places: vec![],
            numbers: FxHashMap::default(),
            tracked: vec![],
            concurrent: vec![],
            tops: vec![],
            loops: vec![],
            uses: vec![],
            busy: FxHashMap::default(),
            ends: vec![],
            scope: BLOCK,
            scopes: BLOCK,
            inner: None,
            depth: 0,
        };
        graph.track(function);
        graph.find_busy(function);
        graph.tops.push((0, 0));
        graph.add(Action::Pass);
        for i in 0..region_count(function) {
            if let Some(block) = entry_block(region(function, i)) {
                graph.block(block);
            }
        }
        graph.find_last_uses();
        graph
    }

    /// Returns the number of a tracked value.
    pub fn number(&self, v: Val<'c>) -> Option<u32> {
        self.numbers.get(&key(v)).copied()
    }

    /// Whether a value may be live at a node.
    pub fn is_live(&self, value: u32, node: u32) -> bool {
        let (first, last) = self.tracked[value as usize].live;
        (first..=last).contains(&node)
    }

    /// Returns the numbers of all values that `roots` are computed from or may be copies of.
    pub fn sources_of(&self, roots: impl Iterator<Item = Val<'c>>) -> FxHashSet<u32> {
        let mut work: Vec<Val<'c>> = roots.collect();
        let mut found = FxHashSet::default();
        while let Some(v) = work.pop() {
            if self.number(v).is_some_and(|n| found.insert(n)) {
                work.extend(sources(v));
            }
        }
        found
    }

    /// Returns the first and the last node of the outermost ops that contain the nodes.
    pub fn extent(&self, nodes: impl Iterator<Item = u32>) -> Option<(u32, u32)> {
        let tops = nodes.map(|n| self.tops[self.nodes[n as usize].top as usize]);
        tops.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))
    }

    /// Numbers the stage numbers and all values that they are computed from, and the tokens of asynchronous work.
    fn track(&mut self, function: OpRef<'c>) {
        let mut work = vec![];
        walk(function, &mut |op| {
            work.extend(MemDescSlotOp::cast(op).map(|s| s.index()));
            work.extend(AsyncWaitOp::cast(op).into_iter().flat_map(|w| w.groups()));
            if behaviour::sync_kind(op) == SyncKind::Commit {
                work.extend(results(op));
            }
        });
        while let Some(v) = work.pop() {
            if !self.numbers.contains_key(&key(v)) {
                self.numbers.insert(key(v), self.tracked.len() as u32);
                self.tracked.push(Tracked { live: (u32::MAX, 0), constant: int_constant(v) });
                work.extend(sources(v));
            }
        }
    }

    fn is_tracked(&self, v: Val<'c>) -> bool {
        self.numbers.contains_key(&key(v))
    }

    fn is_computed(&self, op: OpRef<'c>) -> Option<Arith> {
        let is_known = |r| self.number(r).is_some_and(|n| self.tracked[n as usize].constant.is_some());
        Arith::of(op).filter(|_| results(op).any(|r| self.is_tracked(r) && !is_known(r)))
    }

    fn find_busy(&mut self, op: OpRef<'c>) -> bool {
        let mut of_op = vec![];
        let busy = if region_count(op) == 0 {
            of_op = steps(op);
            self.is_computed(op).is_some() || !of_op.is_empty()
        } else {
            // The result of a branch may be a stage number.
            let mut busy = results(op).any(|r| self.is_tracked(r));
            for i in 0..region_count(op) {
                for inner in entry_block(region(op, i)).into_iter().flat_map(ops_of) {
                    busy |= self.find_busy(inner);
                }
            }
            busy
        };
        if busy {
            self.busy.insert(op_key(op), of_op);
        }
        busy
    }

    /// Adds a node as the successor of all current ends.
    fn add(&mut self, action: Action<'c>) -> u32 {
        let number = self.nodes.len() as u32;
        for end in std::mem::replace(&mut self.ends, vec![number]) {
            self.nodes[end as usize].next.push(number);
        }
        let top = self.tops.len() as u32 - 1;
        self.nodes.push(Node { action, scope: self.scope, next: vec![], inner: self.inner, top });
        self.tops[top as usize].1 = number;
        number
    }

    fn uses(&mut self, values: impl Iterator<Item = Val<'c>>, node: u32) {
        let numbers = &self.numbers;
        self.uses.extend(values.filter_map(|v| Some((*numbers.get(&key(v))?, node))));
    }

    /// Records that the values are live from the next node on.
    fn defines(&mut self, values: impl Iterator<Item = Val<'c>>) {
        let next = self.nodes.len() as u32;
        for v in values {
            if let Some(n) = self.number(v) {
                self.tracked[n as usize].live = (next, next);
            }
        }
    }

    /// Adds a node that assigns `from` to `to`.
    fn moves(&mut self, from: Vec<Val<'c>>, to: &[Val<'c>]) {
        let moved: Vec<(Val<'c>, u32)> =
            from.iter().zip(to).filter_map(|(f, t)| Some((*f, self.number(*t)?))).collect();
        let node = self.nodes.len() as u32;
        self.uses(moved.iter().map(|(f, _)| *f), node);
        self.add(if moved.is_empty() { Action::Pass } else { Action::Move(moved) });
    }

    fn block(&mut self, block: Blk<'c>) {
        for op in ops_of(block) {
            let Some(steps) = self.busy.remove(&op_key(op)) else { continue };
            if self.depth == 0 {
                let next = self.nodes.len() as u32;
                self.tops.push((next, next));
            }
            self.depth += 1;
            match Scf::of(op) {
                _ if region_count(op) == 0 => self.plain(op, steps),
                Some(Scf::For) => self.for_loop(op),
                Some(Scf::While) => self.while_loop(op),
                Some(Scf::If) => self.branch(op),
                _ => self.regions(op),
            }
            self.depth -= 1;
        }
    }

    fn plain(&mut self, op: OpRef<'c>, steps: Vec<SyncStep<'c>>) {
        if let Some(kind) = self.is_computed(op) {
            let node = self.add(Action::Compute(op, kind));
            self.uses(operands(op), node);
        }
        for step in steps {
            let node = self.nodes.len() as u32;
            let action = match step {
                SyncStep::Access(access) => {
                    self.uses(access.ring.and_then(|(_, slot)| slot).into_iter(), node);
                    self.accesses.push(access);
                    self.places.push((node, self.scope));
                    Action::Access(self.accesses.len() as u32 - 1)
                }
                SyncStep::Barrier => Action::Barrier(op),
                SyncStep::Commit(token) => {
                    self.defines([token].into_iter());
                    Action::Commit(self.numbers[&key(token)])
                }
                SyncStep::Wait(pending) => {
                    let tokens: Vec<Val<'c>> = AsyncWaitOp::cast(op).into_iter().flat_map(|w| w.groups()).collect();
                    self.uses(tokens.iter().copied(), node);
                    Action::Wait(pending, (!tokens.is_empty()).then_some(Waits { op, tokens }))
                }
                SyncStep::CommitWork(work) => Action::CommitWork(work),
                SyncStep::WaitForWork(work, pending) => Action::WaitForWork(work, pending),
            };
            self.add(action);
        }
        self.defines(results(op));
    }

    /// Opens a loop whose head is the next node.
    fn open_loop(&mut self) -> (u32, u32) {
        let head = self.nodes.len() as u32;
        let number = self.loops.len() as u32;
        self.loops.push(Loop { head, end: head, outer: self.inner });
        self.inner = Some(number);
        self.add(Action::Pass);
        (number, head)
    }

    /// Adds the back edges to the head and closes the loop.
    fn close_loop(&mut self, (number, head): (u32, u32)) {
        for end in std::mem::take(&mut self.ends) {
            self.nodes[end as usize].next.push(head);
        }
        let this = &mut self.loops[number as usize];
        this.end = self.nodes.len() as u32 - 1;
        self.inner = this.outer;
    }

    fn for_loop(&mut self, op: OpRef<'c>) {
        let Some(body) = entry_block(region(op, 0)) else { return };
        let carried: Vec<Val<'c>> = args(body).skip(1).collect();
        self.moves(operands(op).skip(3).collect(), &carried);
        self.defines(args(body));
        let this = self.open_loop();
        self.block(body);
        self.moves(terminator_operands(body), &carried);
        self.close_loop(this);
        self.ends = vec![this.1];
        let given: Vec<Val<'c>> = results(op).collect();
        self.moves(carried, &given);
        self.defines(given.into_iter());
    }

    fn while_loop(&mut self, op: OpRef<'c>) {
        let (Some(before), Some(after)) = (entry_block(region(op, 0)), entry_block(region(op, 1))) else { return };
        let carried: Vec<Val<'c>> = args(before).collect();
        self.moves(operands(op).collect(), &carried);
        self.defines(carried.iter().copied());
        let this = self.open_loop();
        self.block(before);
        let condition = self.ends.clone();
        let given: Vec<Val<'c>> = terminator_operands(before).split_off(1);
        let inside: Vec<Val<'c>> = args(after).collect();
        self.moves(given.clone(), &inside);
        self.defines(inside.into_iter());
        self.block(after);
        self.moves(terminator_operands(after), &carried);
        self.close_loop(this);
        self.ends = condition;
        let left: Vec<Val<'c>> = results(op).collect();
        self.moves(given, &left);
        self.defines(left.into_iter());
    }

    fn branch(&mut self, op: OpRef<'c>) {
        let fork = self.add(Action::Pass);
        let given: Vec<Val<'c>> = results(op).collect();
        let mut ends = vec![];
        for i in 0..2 {
            self.ends = vec![fork];
            if let Some(block) = entry_block(region(op, i)) {
                self.block(block);
                self.moves(terminator_operands(block), &given);
            }
            ends.append(&mut self.ends);
        }
        self.ends = ends;
        self.defines(given.into_iter());
        self.add(Action::Pass);
    }

    /// Regions that run consecutively, or concurrently on different threads.
    fn regions(&mut self, op: OpRef<'c>) {
        let around = self.scope;
        let fork = self.add(Action::Pass);
        let mut ends = vec![];
        let mut agents = vec![];
        for i in 0..region_count(op) {
            let Some(block) = entry_block(region(op, i)) else { continue };
            if !ThreadScope::of_region(op, i).is_some_and(|s| s.is_concurrent) {
                self.block(block);
                continue;
            }
            self.scopes += 1;
            self.scope = self.scopes;
            self.ends = vec![fork];
            let first = self.accesses.len() as u32;
            self.block(block);
            self.add(Action::LeaveAgent);
            agents.push(first..self.accesses.len() as u32);
            ends.append(&mut self.ends);
            self.scope = around;
        }
        if !agents.is_empty() {
            self.ends = [vec![fork], ends].concat();
            self.concurrent.push(agents);
        }
        self.defines(results(op));
        self.add(Action::Pass);
    }

    /// Extends live ranges to the last uses. A value defined before a loop and used inside it is live until the loop
    /// ends.
    fn find_last_uses(&mut self) {
        for (value, node) in std::mem::take(&mut self.uses) {
            let (first, mut last) = self.tracked[value as usize].live;
            last = last.max(node);
            let mut around = self.nodes[node as usize].inner;
            while let Some(this) = around.map(|n| &self.loops[n as usize]).filter(|l| l.head > first) {
                last = last.max(this.end);
                around = this.outer;
            }
            self.tracked[value as usize].live = (first, last);
        }
    }
}

fn terminator_operands<'c>(block: Blk<'c>) -> Vec<Val<'c>> {
    ops_of(block).last().map_or(vec![], |last| operands(last).collect())
}

/// Returns the values that `v` is computed from or may be a copy of.
fn sources<'c>(v: Val<'c>) -> Vec<Val<'c>> {
    match defining_op(v).filter(|op| Arith::of(*op).is_some()) {
        Some(op) => operands(op).collect(),
        None => carried::sources(v),
    }
}
