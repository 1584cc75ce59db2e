//! Compares the checker with the explorer of all interleavings: a program that the checker accepts never goes wrong.

mod common;

use std::ops::{Not, Rem};

use common::*;
use proptest::prelude::*;
use tile_protocol::explore::{Outcome, explore};
use tile_protocol::{Expr, Op, Program};

const LIMIT: usize = 60_000;

fn protocols() -> Vec<Program> {
    let mut all = vec![gemm(1, 1, false), gemm(2, 1, true), gemm(2, 2, false), single_agent(2), single_agent(3)];
    all.extend([copies_in_groups(2), attention(1), persistent(2, 1), copies_by_threads(2, 1)]);
    all.extend([accumulators_in_memory(1, 1), accumulators_in_memory(2, 1), accumulators_in_memory(2, 2)]);
    all.extend([dependent_products(1), dependent_products(2)]);
    // Small enough to explore.
    for p in &mut all {
        for parameter in &mut p.parameters {
            parameter.max = parameter.max.min(if p.name.starts_with("persistent") { 2 } else { 4 });
        }
    }
    all
}

/// The explorer agrees that the protocols are right. `gemm(1, ..)` is wrong: with one stage a consumer cannot keep its
/// MMA in flight while it waits for the next stage.
#[test]
fn the_explorer_agrees_on_protocols() {
    for p in protocols() {
        match explore(&p, 2_000_000) {
            Outcome::Right => assert!(p.check().is_ok(), "{}", p.name),
            Outcome::Wrong(kind) => assert!(p.check().is_err(), "{}: {kind:?}", p.name),
            Outcome::TooLarge => panic!("{} is too large", p.name),
        }
    }
}

/// Applies one random change.
fn change(p: &mut Program, agent: usize, at: usize, how: u8) {
    let visible = |op: &Op| !matches!(op, Op::Loop { .. } | Op::If { .. } | Op::Set(..) | Op::Fence);
    let agent = agent % p.agents.len();
    let body = &mut p.agents[agent].body;
    let mut count = 0;
    let mut counter = |op: &Op| usize::from(visible(op));
    fn walk(body: &[Op], count: &mut usize, of: &mut dyn FnMut(&Op) -> usize) {
        for op in body {
            *count += of(op);
            match op {
                Op::Loop { body, .. } => walk(body, count, of),
                Op::If { then, otherwise, .. } => [then, otherwise].into_iter().for_each(|b| walk(b, count, of)),
                _ => {}
            }
        }
    }
    walk(body, &mut count, &mut counter);
    let mut at = at % count;
    mutate(body, &mut at, &visible, &mut |op| {
        let both =
            |op: Op, first: Op| Some(Op::If { condition: Expr::from(1), then: vec![first, op], otherwise: vec![] });
        match (how % 7, op) {
            (0, _) => None,
            (1, Op::Wait { barrier, parity }) => Some(Op::Wait { barrier, parity: parity.not() }),
            (1, Op::Arrive { barrier, count }) => Some(Op::Arrive { barrier, count: count + 1 }),
            (1, Op::WaitGroups { engine, pending }) => Some(Op::WaitGroups { engine, pending: pending + 1 }),
            (1, Op::Expect { barrier, bytes }) => Some(Op::Expect { barrier, bytes: bytes / 2 }),
            (2, Op::Wait { barrier, .. }) => Some(Op::Wait { barrier, parity: 0.into() }),
            (3, Op::Wait { barrier, .. }) => Some(Op::Wait { barrier, parity: 1.into() }),
            // Executes the operation twice.
            (4, op) => both(op.clone(), op),
            // Only in some of the iterations.
            (5, Op::Arrive { mut barrier, count }) => {
                barrier.slot = (barrier.slot + 1).rem(2);
                Some(Op::Arrive { barrier, count })
            }
            (5, Op::Wait { mut barrier, parity }) => {
                barrier.slot = (barrier.slot + 1).rem(2);
                Some(Op::Wait { barrier, parity })
            }
            // Adds an operation that belongs to another agent.
            (6, Op::Wait { barrier, parity }) => {
                both(Op::Wait { barrier: barrier.clone(), parity }, Op::Arrive { barrier, count: 1 })
            }
            (6, Op::Arrive { barrier, count }) => {
                both(Op::Arrive { barrier: barrier.clone(), count }, Op::Wait { barrier, parity: 0.into() })
            }
            (_, op) => Some(op),
        }
    });
}

/// Swaps two adjacent operations of a body.
fn exchange(body: &mut [Op], at: usize) {
    if body.len() > 1 {
        let i = at % (body.len() - 1);
        body.swap(i, i + 1);
    }
    let nested = body.iter_mut().filter_map(|op| match op {
        Op::Loop { body, .. } => Some(body),
        _ => None,
    });
    nested.for_each(|body| exchange(body, at / 2));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn nothing_wrong_is_accepted(
        which in 0usize..14,
        changes in proptest::collection::vec((0usize..4, 0usize..64, 0u8..8), 1..4),
        count in 0u32..6,
    ) {
        let mut p = protocols().swap_remove(which);
        for (agent, at, how) in changes {
            if how == 7 {
                let agent = agent % p.agents.len();
                exchange(&mut p.agents[agent].body, at);
            } else {
                change(&mut p, agent, at, how);
            }
        }
        // Occasionally the count differs from the number of arrivals.
        if count == 0 && !p.barriers.is_empty() {
            let last = p.barriers.len() - 1;
            p.barriers[last].count += 1;
        }
        if p.check().is_ok() {
            let outcome = explore(&p, LIMIT);
            prop_assert!(!matches!(outcome, Outcome::Wrong(_)), "{:?}: {:#?}", outcome, p);
        }
    }

    /// The other direction: the explorer usually confirms what the checker rejects. Both must at least agree on
    /// deadlocks, which do not depend on the interleaving if everything else is right. The dependent products, last in
    /// the list, have a wait that another one implies.
    #[test]
    fn single_deletions_are_judged_alike(which in 0usize..12, agent in 0usize..4, at in 0usize..64) {
        let mut p = protocols().swap_remove(which);
        change(&mut p, agent, at, 0);
        match explore(&p, LIMIT) {
            Outcome::Wrong(_) => prop_assert!(p.check().is_err()),
            Outcome::Right => prop_assert!(p.check().is_ok(), "{}", p.check().unwrap_err()),
            Outcome::TooLarge => {}
        }
    }
}
