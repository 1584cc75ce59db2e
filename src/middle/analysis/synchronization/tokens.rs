//! Checks that waits cover the groups of copies that they name.
//!
//! A token represents a group, which is characterized by its *age*: the number of groups closed after it. A wait that
//! leaves `n` groups pending covers tokens of age `n` or more. If a token may have several ages, the lowest decides.
//! Each node therefore stores one number per live token, which only decreases, so the work is at most nodes times
//! live tokens times [`MAX_AGE`].

use super::{
    MAX_AGE,
    graph::{Action, Graph},
};
use crate::dialect::{
    behaviour::{SyncKind, sync_kind},
    rt::*,
    upstream::{Arith, Scf},
};
use rustc_hash::{FxHashMap, FxHashSet};

/// The age of an unknown token: only a wait for all groups covers it.
const UNKNOWN: i64 = -1;

/// Returns the waits that leave a group pending that they name, with the number of groups that they leave, and the
/// number of facts processed.
pub(super) fn uncovered<'c>(graph: &Graph<'c>) -> (Vec<(OpRef<'c>, i64)>, usize) {
    let mut ages = Ages { graph, followed: FxHashSet::default(), found: vec![], work: vec![], facts: 0 };
    ages.found.resize_with(graph.nodes.len(), FxHashMap::default);
    ages.followed = graph.sources_of(graph.nodes.iter().flat_map(tokens));
    ages.begin();
    while let Some((node, value)) = ages.work.pop() {
        ages.carry(node, value);
    }
    let mut uncovered = vec![];
    for (node, here) in graph.nodes.iter().enumerate() {
        if let Action::Wait(pending, Some(waits)) = &here.action {
            let covers = |v: &Val<'c>| *pending == 0 || ages.age(node as u32, *v) >= *pending;
            if !waits.tokens.iter().all(covers) {
                uncovered.push((waits.op, *pending));
            }
        }
    }
    (uncovered, ages.facts)
}

/// Returns the tokens that a node waits for.
fn tokens<'a, 'c>(node: &'a super::graph::Node<'c>) -> impl Iterator<Item = Val<'c>> + 'a {
    let waits = if let Action::Wait(_, Some(waits)) = &node.action { Some(waits) } else { None };
    waits.into_iter().flat_map(|w| w.tokens.iter().copied())
}

struct Ages<'g, 'c> {
    graph: &'g Graph<'c>,
    /// The values that may be tokens of a wait.
    followed: FxHashSet<u32>,
    /// The lowest age of each live token at each node.
    found: Vec<FxHashMap<u32, i64>>,
    work: Vec<(u32, u32)>,
    facts: usize,
}

impl<'c> Ages<'_, 'c> {
    /// Returns the lowest age of a value at a node. For a value that is not followed, its defining op determines the
    /// age.
    fn age(&self, node: u32, v: Val<'c>) -> i64 {
        let number = self.graph.number(v);
        let found = number.and_then(|n| self.found[node as usize].get(&n)).copied();
        found.unwrap_or_else(|| origin(v))
    }

    /// Sends the ages that originate at a node, independent of its predecessors.
    fn begin(&mut self) {
        let graph = self.graph;
        for (node, here) in graph.nodes.iter().enumerate() {
            match &here.action {
                Action::Commit(token) => self.send(node as u32, *token, 0),
                Action::Move(moved) => {
                    for (from, to) in moved {
                        if !self.is_carried(*from) {
                            self.send(node as u32, *to, origin(*from));
                        }
                    }
                }
                Action::Compute(op, Arith::Select) => {
                    for from in operands(*op).skip(1).filter(|v| !self.is_carried(*v)).collect::<Vec<_>>() {
                        self.select(node as u32, *op, origin(from));
                    }
                }
                _ => {}
            }
        }
    }

    /// Whether a node determines the age of the value: a commit, a move or a selection.
    fn is_carried(&self, v: Val<'c>) -> bool {
        self.graph.number(v).is_some_and(|n| self.followed.contains(&n)) && is_given(v)
    }

    fn select(&mut self, node: u32, op: OpRef<'c>, age: i64) {
        for to in results(op).filter_map(|r| self.graph.number(r)) {
            self.send(node, to, age);
        }
    }

    /// Records that a value has this age after a node.
    fn send(&mut self, node: u32, value: u32, age: i64) {
        if !self.followed.contains(&value) {
            return;
        }
        let graph = self.graph;
        for &next in &graph.nodes[node as usize].next {
            let known = &mut self.found[next as usize];
            if graph.is_live(value, next) && known.get(&value).is_none_or(|before| age < *before) {
                known.insert(value, age);
                self.work.push((next, value));
                self.facts += 1;
            }
        }
    }

    fn carry(&mut self, node: u32, value: u32) {
        let graph = self.graph;
        let age = self.found[node as usize][&value];
        let is = |v: &Val<'c>| graph.number(*v) == Some(value);
        match &graph.nodes[node as usize].action {
            Action::Commit(token) if *token == value => {}
            Action::Commit(_) if age != UNKNOWN => self.send(node, value, (age + 1).min(MAX_AGE)),
            Action::Move(moved) => {
                for (_, to) in moved.iter().filter(|(from, _)| is(from)) {
                    self.send(node, *to, age);
                }
                if moved.iter().all(|(_, to)| *to != value) {
                    self.send(node, value, age);
                }
            }
            Action::Compute(op, Arith::Select) => {
                if operands(*op).skip(1).any(|v| is(&v)) {
                    self.select(node, *op, age);
                }
                self.send(node, value, age);
            }
            Action::LeaveAgent => self.send(node, value, UNKNOWN),
            _ => self.send(node, value, age),
        }
    }
}

/// Returns the age of a value that is not carried. A token of no work has the maximal age.
fn origin(v: Val<'_>) -> i64 {
    let is_of_no_work =
        |op: OpRef<'_>| operand_count(op) == 0 && region_count(op) == 0 && sync_kind(op) == SyncKind::None;
    if defining_op(v).is_some_and(is_of_no_work) { MAX_AGE } else { UNKNOWN }
}

/// Whether a commit, control flow or a selection defines the value.
fn is_given(v: Val<'_>) -> bool {
    match defining_op(v) {
        None => parent_of_block(owner_of(v)).is_some_and(|op| Scf::of(op).is_some()),
        Some(op) => Scf::of(op).is_some() || Arith::of(op) == Some(Arith::Select) || sync_kind(op) == SyncKind::Commit,
    }
}
