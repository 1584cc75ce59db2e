//! Propagates pending accesses through the flow graph.
//!
//! A [`Flow`] handles one kind of pair: two accesses of the same ring, or any other two accesses. A *fact* says that
//! a node may be reached with certain scalar values, and possibly with one pending access. The effect of a node on a
//! fact depends on no other fact, so each fact is propagated through each node once.
//!
//! *Bound on the work.* A node has at most one fact per combination of a state, of which there are at most
//! [`MAX_STATES`], and a pending access: the accesses of the flow, times the stages of the ring, times the ages of a
//! group ([`MAX_AGE`]). Facts end at barriers, and scalars are dropped after their last use. The number of facts is
//! therefore linear in the number of nodes, whatever the loops around them. The flow of a ring is confined to the
//! outermost ops that use the ring. No barrier stops the accesses of stages by agents, so they reach the end of the
//! agent. Of like accesses one is followed, and none if they conflict with no access of the function.

use super::{
    Judge, MAX_AGE, Pending, Progress,
    graph::{Action, BLOCK, Graph},
};
use crate::dialect::{arith::IntPredicate, rt::*, upstream::Arith};
use rustc_hash::{FxHashMap, FxHashSet};

/// If the scalars of a ring take more combinations than this at a node, the ring is followed without scalars.
pub(super) const MAX_STATES: u32 = 256;

/// The known scalars, sorted by number.
type Scalars = Vec<(u32, i64)>;

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Fact {
    /// The number of the scalar state.
    state: u32,
    /// `None` if the fact only says that the node is reachable.
    pending: Option<Pending>,
}

/// The kind of pairs of a flow.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Pairs {
    /// Both accesses are of this ring.
    OfRing(usize),
    /// Any two accesses that are not of the same ring with its own flow.
    Others,
}

pub(super) struct Flow {
    pairs: Pairs,
    /// The scalars that this flow follows.
    scalars: FxHashSet<u32>,
    /// The first and the last relevant node.
    extent: (u32, u32),
    states: Vec<Scalars>,
    numbers: FxHashMap<Scalars, u32>,
    /// The facts of each node of the extent.
    facts: Vec<FxHashSet<Fact>>,
    /// The number of states of each node of the extent.
    reached: Vec<u32>,
    work: Vec<(u32, Fact)>,
    /// The facts since the last barrier was removed tentatively.
    tentative: Option<Vec<(u32, Fact)>>,
    overflowed: bool,
}

impl Flow {
    pub fn new(pairs: Pairs, scalars: FxHashSet<u32>, extent: (u32, u32)) -> Self {
        let nodes = (extent.1 - extent.0 + 1) as usize;
        let mut flow = Self {
            pairs,
            scalars,
            extent,
            states: vec![],
            numbers: FxHashMap::default(),
            facts: vec![FxHashSet::default(); nodes],
            reached: vec![0; nodes],
            work: vec![],
            tentative: None,
            overflowed: false,
        };
        let state = flow.state(vec![]);
        flow.learn(extent.0, Fact { state, pending: None });
        flow
    }

    /// Propagates all facts. Returns false if there are too many states; the conflicts found so far are then
    /// meaningless.
    pub fn run<'c>(&mut self, graph: &Graph<'c>, judge: &mut Judge<'c>) -> bool {
        while let Some((node, fact)) = self.work.pop() {
            if self.overflowed {
                return false;
            }
            self.carry(graph, judge, node, fact);
        }
        true
    }

    pub fn pairs(&self) -> Pairs {
        self.pairs
    }

    /// Returns the number of facts, which measures the work done.
    pub fn size(&self) -> usize {
        self.facts.iter().map(FxHashSet::len).sum()
    }

    /// Propagates the facts that a barrier stops, until [`Flow::settle`] decides whether to keep them.
    pub fn open<'c>(&mut self, graph: &Graph<'c>, judge: &mut Judge<'c>, barrier: u32) {
        self.tentative = Some(vec![]);
        if !(self.extent.0..=self.extent.1).contains(&barrier) {
            return;
        }
        let scope = graph.nodes[barrier as usize].scope;
        let mut stopped: Vec<Fact> = self.facts_at(barrier).iter().copied().collect();
        stopped.retain(|f| f.pending.is_some_and(|p| is_stopped(&p, scope)));
        for fact in stopped {
            self.send(graph, barrier, fact.state, fact.pending);
        }
        self.run(graph, judge);
    }

    /// Keeps or forgets the facts that [`Flow::open`] found.
    pub fn settle(&mut self, keep: bool) {
        self.work.clear();
        for (node, fact) in self.tentative.take().into_iter().flatten().filter(|_| !keep) {
            self.facts[(node - self.extent.0) as usize].remove(&fact);
        }
    }

    fn facts_at(&self, node: u32) -> &FxHashSet<Fact> {
        &self.facts[(node - self.extent.0) as usize]
    }

    fn state(&mut self, scalars: Scalars) -> u32 {
        if let Some(&number) = self.numbers.get(&scalars) {
            return number;
        }
        let number = self.states.len() as u32;
        self.numbers.insert(scalars.clone(), number);
        self.states.push(scalars);
        number
    }

    fn learn(&mut self, node: u32, fact: Fact) {
        let place = (node - self.extent.0) as usize;
        if !self.facts[place].insert(fact) {
            return;
        }
        if fact.pending.is_none() {
            self.reached[place] += 1;
            self.overflowed |= self.reached[place] > MAX_STATES;
        }
        if let Some(tentative) = &mut self.tentative {
            tentative.push((node, fact));
        }
        self.work.push((node, fact));
    }

    /// Sends the fact that holds after `node` to each successor, without the scalars that are dead there.
    fn send(&mut self, graph: &Graph<'_>, node: u32, state: u32, pending: Option<Pending>) {
        for &next in &graph.nodes[node as usize].next {
            if !(self.extent.0..=self.extent.1).contains(&next) {
                continue;
            }
            let scalars = &self.states[state as usize];
            let state = if scalars.iter().all(|(v, _)| graph.is_live(*v, next)) {
                state
            } else {
                let live = scalars.iter().copied().filter(|(v, _)| graph.is_live(*v, next)).collect();
                self.state(live)
            };
            self.learn(next, Fact { state, pending });
        }
    }

    fn carry<'c>(&mut self, graph: &Graph<'c>, judge: &mut Judge<'c>, node: u32, fact: Fact) {
        let here = &graph.nodes[node as usize];
        let state = self.after(graph, node, fact.state);
        if let Action::Access(access) = here.action
            && self.concerns(judge, access)
            && !judge.is_alone(access)
        {
            let slot = judge.slot_of(access).and_then(|v| self.known(graph, fact.state, v));
            let me = Pending { access, slot, progress: judge.start_of(access), scope: here.scope };
            match fact.pending {
                Some(earlier) => judge.meet(self.pairs, earlier, me),
                None => {
                    let access = judge.representative_of(access);
                    self.send(graph, node, state, Some(Pending { access, ..me }));
                }
            }
        }
        let Some(pending) = fact.pending else { return self.send(graph, node, state, None) };
        if matches!(here.action, Action::Barrier(_)) && is_stopped(&pending, here.scope) && !judge.is_gone(node) {
            return;
        }
        let is_own = pending.scope == here.scope;
        let progress = if is_own { after_sync(&here.action, pending.progress) } else { pending.progress };
        self.send(graph, node, state, Some(Pending { progress, ..pending }));
    }

    fn concerns(&self, judge: &Judge<'_>, access: u32) -> bool {
        match self.pairs {
            Pairs::OfRing(ring) => judge.ring_of(access) == Some(ring),
            Pairs::Others => true,
        }
    }

    fn known<'c>(&self, graph: &Graph<'c>, state: u32, v: Val<'c>) -> Option<i64> {
        let number = graph.number(v)?;
        let value = || {
            let scalars = &self.states[state as usize];
            let place = scalars.binary_search_by_key(&number, |(v, _)| *v).ok()?;
            Some(scalars[place].1)
        };
        graph.tracked[number as usize].constant.or_else(value)
    }

    /// Returns the state after a node.
    fn after(&mut self, graph: &Graph<'_>, node: u32, state: u32) -> u32 {
        let changes: Vec<(u32, Option<i64>)> = match &graph.nodes[node as usize].action {
            Action::Compute(op, kind) => {
                let value = computed(*op, *kind, |v| self.known(graph, state, v));
                results(*op).filter_map(|r| graph.number(r)).map(|r| (r, value)).collect()
            }
            Action::Move(moved) => moved.iter().map(|(from, to)| (*to, self.known(graph, state, *from))).collect(),
            _ => return state,
        };
        let changes: Vec<_> = changes.into_iter().filter(|(v, _)| self.scalars.contains(v)).collect();
        if changes.is_empty() {
            return state;
        }
        let mut scalars = self.states[state as usize].clone();
        scalars.retain(|(v, _)| changes.iter().all(|(changed, _)| changed != v));
        scalars.extend(changes.into_iter().filter_map(|(v, value)| Some((v, value?))));
        scalars.sort_unstable();
        scalars.dedup();
        self.state(scalars)
    }
}

/// Whether a barrier of the threads of `scope` stops an access. A barrier of the CTA joins all agents, a barrier of
/// an agent only its own threads.
fn is_stopped(pending: &Pending, scope: u32) -> bool {
    pending.progress == Progress::Done && (scope == BLOCK || pending.scope == scope)
}

/// Returns the progress of an access after its threads have executed `action`.
fn after_sync(action: &Action<'_>, progress: Progress) -> Progress {
    let older = |age: i64| (age + 1).min(MAX_AGE);
    match (action, progress) {
        (Action::Commit(_), Progress::Open) => Progress::Group(0),
        (Action::Commit(_), Progress::Group(age)) => Progress::Group(older(age)),
        (Action::Wait(pending, _), Progress::Group(age)) if age >= *pending => Progress::Done,
        (Action::CommitWork(work), Progress::Work(kind, age)) if kind == *work => Progress::Work(kind, older(age)),
        (Action::WaitForWork(work, pending), Progress::Work(kind, age)) if kind == *work && age >= *pending => {
            Progress::Done
        }
        _ => progress,
    }
}

/// Evaluates an `arith` op, if enough of its operands are known.
fn computed<'c>(op: OpRef<'c>, kind: Arith, known: impl Fn(Val<'c>) -> Option<i64>) -> Option<i64> {
    let int = |i: usize| known(operand(op, i));
    Some(match kind {
        Arith::AddI => int(0)?.checked_add(int(1)?)?,
        Arith::SubI => int(0)?.checked_sub(int(1)?)?,
        Arith::MulI => int(0)?.checked_mul(int(1)?)?,
        Arith::RemSI | Arith::RemUI => int(0).filter(|a| *a >= 0)?.checked_rem(int(1).filter(|b| *b > 0)?)?,
        Arith::CmpI => compare(IntPredicate::of(op)?, int(0)?, int(1)?)?.into(),
        Arith::Select => return int(if int(0)? & 1 != 0 { 1 } else { 2 }),
        _ => return None,
    })
}

/// Evaluates `arith.cmpi`. Returns `None` if the result depends on the width.
fn compare(predicate: IntPredicate, a: i64, b: i64) -> Option<bool> {
    use IntPredicate::{Eq, Ne, Sge, Sgt, Sle, Slt, Uge, Ugt, Ule, Ult};
    Some(match predicate {
        Eq => a == b,
        Ne => a != b,
        Slt => a < b,
        Sle => a <= b,
        Sgt => a > b,
        Sge => a >= b,
        _ if a < 0 || b < 0 => return None,
        Ult => a < b,
        Ule => a <= b,
        Ugt => a > b,
        Uge => a >= b,
    })
}
