//! Protocols of real kernels are accepted, and each mutation of them is rejected with an interleaving that shows why.

mod common;

use std::ops::Not;

use common::*;
use tile_protocol::{Expr, Op, Program, StageAccess, Violation, ViolationKind};

fn accepted(p: &Program) {
    if let Err(violation) = p.check() {
        panic!("{violation}");
    }
}

fn refused(p: &Program) -> Violation {
    match p.check() {
        Ok(()) => panic!("{} is accepted", p.name),
        Err(violation) => *violation,
    }
}

#[test]
fn rings_with_a_producer() {
    for stages in 2..=6 {
        for consumers in 1..=2 {
            accepted(&gemm(stages, consumers, false));
            accepted(&gemm(stages, consumers, true));
            accepted(&copies_by_threads(stages, consumers));
        }
    }
    // One stage works too, without overlap, if the stage is released immediately.
    for stages in 2..=6 {
        accepted(&single_agent(stages));
        accepted(&copies_in_groups(stages));
    }
}

/// Consecutive loops over one ring, whose iterator continues from loop to loop. In one of them the consumer forgets to
/// release.
fn loops_in_a_row(count: usize, forgets: Option<usize>) -> Program {
    let mut p = Program::new("loops in a row");
    let (full, empty) = (p.barrier("full", 2, 1), p.barrier("empty", 2, 1));
    let ring = p.storage("ring", 2);
    let trips: Vec<Expr> = (0..count).map(|i| p.parameter(&format!("trips{i}"), 6)).collect();
    for fills in [true, false] {
        let step = p.variable();
        let (slot, parity) = (Expr::from(step) % 2, Expr::from(step) / 2 % 2);
        let mut program = vec![Op::Set(step, 0.into())];
        for (i, trips) in trips.iter().enumerate() {
            let mut body = if fills {
                vec![
                    Op::Wait { barrier: empty.at(&slot), parity: !parity.clone() },
                    Op::Expect { barrier: full.at(&slot), bytes: 64 },
                    Op::Arrive { barrier: full.at(&slot), count: 1 },
                    Op::Copy { into: ring.at(&slot), tag: step.into(), bytes: 64, barrier: full.at(&slot) },
                ]
            } else {
                vec![
                    Op::Wait { barrier: full.at(&slot), parity: parity.clone() },
                    Op::Read { from: ring.at(&slot), tag: step.into() },
                ]
            };
            if !fills && forgets != Some(i) {
                body.push(Op::Arrive { barrier: empty.at(&slot), count: 1 });
            }
            body.push(Op::Set(step, Expr::from(step) + 1));
            program.push(Op::Loop { var: p.variable(), trips: trips.clone(), body });
        }
        p.agent(if fills { "producer" } else { "consumer" }, 32, program);
    }
    p
}

/// Loops in a row add to the length of a run, and nested loops multiply it.
#[test]
fn lengths_of_runs() {
    // The iterations of the producer have five operations and their end, and the consumer has four.
    assert_eq!(loops_in_a_row(2, None).longest_run(), (1 + 2 * 6 * 6) + (1 + 2 * 6 * 5));
    let mut p = Program::new("nested");
    let [outer, inner] = [3, 2].map(|most| p.parameter("trips", most));
    let (step, i, j) = (p.variable(), p.variable(), p.variable());
    let body = vec![Op::Loop { var: j, trips: inner, body: vec![Op::Set(step, 0.into())] }];
    p.agent("alone", 32, vec![Op::Loop { var: i, trips: outer, body }]);
    assert_eq!(p.longest_run(), 3 * (1 + 2 * 2));
}

/// Many loops have too many combinations of trip counts to check all. The sample still finds a fault in any of the
/// loops.
#[test]
fn many_loops_are_sampled() {
    for count in [2, 40, 400] {
        let right = loops_in_a_row(count, None);
        assert_eq!(right.combinations() > tile_protocol::MOST_COMBINATIONS, count > 2);
        accepted(&right);
        for forgets in (0..count).step_by(1 + count / 3) {
            refused(&loops_in_a_row(count, Some(forgets)));
        }
    }
}

/// The sample of a long program does not grow with it, so the work is linear.
#[test]
fn samples_of_long_programs_are_bounded() {
    let ranges = |count| loops_in_a_row(count, None).ranges();
    assert_eq!(ranges(2), 1);
    assert!(ranges(60) > ranges(40));
    assert_eq!(ranges(400), ranges(1600));
}

#[test]
fn attention_and_persistence() {
    for stages in 1..=3 {
        accepted(&attention(stages));
    }
    for (stages, consumers) in [(2, 1), (3, 2), (4, 2), (6, 2)] {
        accepted(&persistent(stages, consumers));
    }
}

#[test]
fn accumulators_in_tensor_memory() {
    for stages in 1..=4 {
        for accumulators in 1..=3 {
            accepted(&accumulators_in_memory(stages, accumulators));
        }
    }
    let p = accumulators_in_memory(3, 2);
    let completes = |op: &Op| matches!(op, Op::ArriveAfter { .. });
    // Each wait, each arrival, and each completion of dots is needed.
    for (agent, select) in [
        ("producer", is_wait as fn(&Op) -> bool),
        ("matrix", is_wait),
        ("epilogue", is_wait),
        ("epilogue", is_arrive),
        ("matrix", completes),
    ] {
        refused(&with(&p, agent, select, |_| None));
    }
    // An arrival of the thread itself comes before its dots complete.
    let early = |op: Op| match op {
        Op::ArriveAfter { barrier, count, .. } => Some(Op::Arrive { barrier, count }),
        other => Some(other),
    };
    let violation = refused(&with(&p, "matrix", completes, early));
    assert_eq!(violation.kind, ViolationKind::Overwritten, "{violation}");
    // Without the wait of the next tile, dots would overwrite accumulators that are read.
    let mut wrong = p.clone();
    let Op::Loop { body, .. } = &mut wrong.agents[1].body[0] else { panic!("the loop over tiles") };
    body.remove(0);
    refused(&wrong);
}

#[test]
fn scale_factors_in_tensor_memory() {
    for stages in 1..=4 {
        accepted(&scale_factors(stages));
    }
    let p = scale_factors(2);
    for agent in ["producer", "scales", "matrix", "epilogue"] {
        refused(&with(&p, agent, is_wait, |_| None));
    }
    let violation = refused(&with(&p, "scales", |op| matches!(op, Op::Fence), |_| None));
    assert_eq!(violation.kind, ViolationKind::MissingFence, "{violation}");
    // Only the engine that copies them finds them without a wait.
    let in_order = |op: &Op| matches!(op, Op::Begin { access: StageAccess::ReadInOrder, .. });
    let waits = |op: Op| match op {
        Op::Begin { engine, place, tag, .. } => Some(Op::Begin { engine, access: StageAccess::Read, place, tag }),
        other => Some(other),
    };
    let violation = refused(&with(&p, "matrix", in_order, waits));
    assert_eq!(violation.kind, ViolationKind::ReadBeforeFull, "{violation}");
    // Columns that all stages share would be overwritten while earlier products read them.
    let copies = |op: &Op| matches!(op, Op::Begin { access: StageAccess::Write | StageAccess::ReadInOrder, .. });
    let shared = |op: Op| match op {
        Op::Begin { engine, access, place, tag } => {
            Some(Op::Begin { engine, access, place: place.array.at(&0.into()), tag })
        }
        other => Some(other),
    };
    refused(&with(&p, "matrix", copies, shared));
}

#[test]
fn dependent_products_in_tensor_memory() {
    for scores in 1..=3 {
        let p = dependent_products(scores);
        accepted(&p);
        let completes = |op: &Op| matches!(op, Op::ArriveAfter { .. });
        for (agent, select) in [
            ("matrix", is_wait as fn(&Op) -> bool),
            ("softmax", is_wait),
            ("softmax", is_arrive),
            ("matrix", completes),
        ] {
            refused(&with(&p, agent, select, |_| None));
        }
        let violation = refused(&with(&p, "softmax", |op| matches!(op, Op::Fence), |_| None));
        assert_eq!(violation.kind, ViolationKind::MissingFence, "{violation}");
    }
    // The results are scaled while the scores are complete, and with them all earlier products. Scaled before that, the
    // last product may still add to them.
    let mut wrong = dependent_products(1);
    let Op::Loop { body, .. } = &mut wrong.agents[1].body[0] else { panic!("the loop over keys") };
    let scale = body.remove(3);
    body.insert(0, scale);
    refused(&wrong);
}

fn is_arrive(op: &Op) -> bool {
    matches!(op, Op::Arrive { .. })
}

fn is_wait(op: &Op) -> bool {
    matches!(op, Op::Wait { .. })
}

fn is_wait_groups(op: &Op) -> bool {
    matches!(op, Op::WaitGroups { .. })
}

#[test]
fn dropped_arrivals() {
    for p in [gemm(3, 2, false), persistent(3, 2)] {
        for agent in ["producer", "consumer 0", "consumer 1"] {
            let violation = refused(&with(&p, agent, is_arrive, |_| None));
            assert!([ViolationKind::Deadlock, ViolationKind::NotQuiescent].contains(&violation.kind), "{violation}");
        }
    }
    let p = attention(2);
    for agent in ["consumer 0", "consumer 1"] {
        let violation = refused(&with(&p, agent, |op| matches!(op, Op::Post(_)), |_| None));
        assert_eq!(violation.kind, ViolationKind::Deadlock, "{violation}");
        refused(&with(&p, agent, is_arrive, |_| None));
    }
}

/// Ping-pong turns that go to the wrong consumer, that no consumer takes, and that are given twice.
#[test]
fn wrong_turns() {
    let p = attention(2);
    let is_post = |op: &Op| matches!(op, Op::Post(_));
    let is_sync = |op: &Op| matches!(op, Op::Sync(_));
    let Some(Op::Post(mine)) = p.agents[2].body.get(1) else { panic!("the first turn") };
    // No consumer starts.
    let mut wrong = p.clone();
    wrong.agents[2].body.remove(1);
    assert_eq!(refused(&wrong).kind, ViolationKind::Deadlock);
    // The first consumer passes the turn to itself.
    refused(&with(&p, "consumer 0", is_post, |_| Some(Op::Post(mine.clone()))));
    // The second consumer does not take its turns; then no consumer takes the last turn.
    refused(&with(&p, "consumer 1", is_sync, |_| None));
    let mut wrong = p.clone();
    assert!(matches!(wrong.agents[1].body.pop(), Some(Op::Sync(_))));
    assert_eq!(refused(&wrong).kind, ViolationKind::NotQuiescent);
    // A turn is passed twice.
    let mut wrong = p.clone();
    wrong.agents[2].body.insert(1, Op::Post(mine.clone()));
    refused(&wrong);
}

#[test]
fn wrong_phases() {
    for p in [gemm(2, 1, false), gemm(4, 2, false), attention(2), persistent(3, 1), single_agent(3)] {
        for agent in &p.agents {
            let flipped = with(&p, &agent.name, is_wait, |op| match op {
                Op::Wait { barrier, parity } => Some(Op::Wait { barrier, parity: parity.not() }),
                other => Some(other),
            });
            let violation = refused(&flipped);
            let kinds = [
                ViolationKind::Deadlock,
                ViolationKind::ReadBeforeFull,
                ViolationKind::NeverWritten,
                ViolationKind::StaleWait,
                ViolationKind::Overwritten,
                ViolationKind::EarlyArrival,
                ViolationKind::MissedPhase,
                ViolationKind::CopyNotAwaited,
            ];
            assert!(kinds.contains(&violation.kind), "{violation}");
        }
    }
}

/// The phase is computed from the iteration within the tile instead of over all tiles. This is right only for one
/// tile, or if the number of iterations is a multiple of two rings.
#[test]
fn phase_that_starts_anew_with_each_tile() {
    let p = persistent(2, 1);
    let inner = p.agents[1].body.clone();
    let Some(Op::Loop { body, .. }) = inner.first() else { panic!("the loop over tiles") };
    let Some(Op::Loop { var, .. }) = body.first() else { panic!("the loop along K") };
    let i = Expr::from(*var);
    let wrong = with(&p, "consumer 0", is_wait, |op| match op {
        Op::Wait { barrier, .. } => Some(Op::Wait { barrier, parity: parity(&i, 2) }),
        other => Some(other),
    });
    let violation = refused(&wrong);
    assert!(violation.parameters[1].1 >= 2, "{violation}");
}

#[test]
fn early_releases() {
    // All MMAs may be in flight when the stage of the previous one is released.
    for p in [gemm(2, 1, false), gemm(4, 2, false), persistent(3, 2)] {
        let violation = refused(&with(&p, "consumer 0", is_wait_groups, |op| match op {
            Op::WaitGroups { engine, .. } => Some(Op::WaitGroups { engine, pending: 2 }),
            other => Some(other),
        }));
        assert_eq!(violation.kind, ViolationKind::Overwritten, "{violation}");
        // Releases the stage of the MMA that was just started instead of the previous one.
        let current = with(
            &p,
            "consumer 0",
            |op| matches!(op, Op::If { .. }),
            |op| match op {
                Op::If { then, otherwise, .. } => Some(Op::If { condition: 1.into(), then, otherwise }),
                other => Some(other),
            },
        );
        refused(&current);
    }
    let violation = refused(&with(&single_agent(3), "block", is_wait_groups, |_| None));
    assert_eq!(violation.kind, ViolationKind::Overwritten, "{violation}");
}

#[test]
fn wrong_counts() {
    for p in [gemm(3, 2, false), attention(2), persistent(2, 2)] {
        for barrier in 0..p.barriers.len() {
            for change in [1, -1i32] {
                let mut wrong = p.clone();
                let count = &mut wrong.barriers[barrier].count;
                *count = count.saturating_add_signed(change);
                let violation = refused(&wrong);
                let kinds = [
                    ViolationKind::Deadlock,
                    ViolationKind::TooManyArrivals,
                    ViolationKind::EarlyArrival,
                    ViolationKind::Overwritten,
                    ViolationKind::MissedPhase,
                    ViolationKind::StaleWait,
                    ViolationKind::CopyNotAwaited,
                    ViolationKind::NotQuiescent,
                ];
                assert!(kinds.contains(&violation.kind), "{violation}");
            }
        }
    }
    let mut wrong = attention(2);
    wrong.named[0].threads = 384;
    assert_eq!(refused(&wrong).kind, ViolationKind::Deadlock);
}

#[test]
fn missing_waits() {
    for p in [gemm(3, 2, false), single_agent(3), attention(2), persistent(3, 2)] {
        for agent in &p.agents {
            refused(&with(&p, &agent.name, is_wait, |_| None));
        }
    }
    let violation = refused(&with(&copies_in_groups(3), "block", is_wait_groups, |_| None));
    assert_eq!(violation.kind, ViolationKind::ReadBeforeFull, "{violation}");
    // Removes the last wait for stores.
    let p = persistent(2, 1);
    let mut wrong = p.clone();
    wrong.agents[1].body.pop();
    assert_eq!(refused(&wrong).kind, ViolationKind::UnfinishedAtExit);
    // Without the barrier between consumers, one overwrites the operands of the other with its result.
    let sync = |op: &Op| matches!(op, Op::Sync(_));
    let mut wrong = gemm(3, 2, true);
    for agent in ["consumer 0", "consumer 1"] {
        wrong = with(&wrong, agent, sync, |_| None);
    }
    let violation = refused(&wrong);
    assert_eq!(violation.kind, ViolationKind::Overwritten, "{violation}");
}

#[test]
fn bytes() {
    let expect = |op: &Op| matches!(op, Op::Expect { .. });
    for p in [gemm(3, 1, false), single_agent(2), attention(1), persistent(2, 1)] {
        let agent = p.agents[0].name.clone();
        let violation = refused(&with(&p, &agent, expect, |_| None));
        let kinds = [ViolationKind::CopyNotAwaited, ViolationKind::EarlyArrival, ViolationKind::Deadlock];
        assert!(kinds.contains(&violation.kind), "{violation}");
        let scaled = |numerator: u32| {
            refused(&with(&p, &agent, expect, |op| match op {
                Op::Expect { barrier, bytes } => Some(Op::Expect { barrier, bytes: bytes / 2 * numerator }),
                other => Some(other),
            }))
        };
        assert_eq!(scaled(3).kind, ViolationKind::Deadlock);
        assert!([ViolationKind::Deadlock, ViolationKind::CopyNotAwaited].contains(&scaled(1).kind));
    }
    // Only the first of two copies is announced, so the phase ends with it.
    let violation = refused(&with(&gemm(2, 1, false), "producer", expect, |op| match op {
        Op::Expect { barrier, .. } => Some(Op::Expect { barrier, bytes: 16384 }),
        other => Some(other),
    }));
    assert_eq!(violation.kind, ViolationKind::CopyNotAwaited, "{violation}");
}

#[test]
fn missing_fences() {
    for p in [gemm(2, 1, true), persistent(2, 1), copies_in_groups(3), copies_by_threads(3, 2)] {
        let agent = p.agents.last().expect("agents").name.clone();
        let violation = refused(&with(&p, &agent, |op| *op == Op::Fence, |_| None));
        assert_eq!(violation.kind, ViolationKind::MissingFence, "{violation}");
    }
}

/// Arrivals after copies must exist, must wait for the copies, and must be counted.
#[test]
fn arrivals_behind_copies() {
    let p = copies_by_threads(3, 2);
    let arrives = |op: &Op| matches!(op, Op::ArriveAfter { .. });
    let violation = refused(&with(&p, "producer", arrives, |_| None));
    assert_eq!(violation.kind, ViolationKind::Deadlock, "{violation}");
    // An immediate arrival does not wait for the copies.
    let violation = refused(&with(&p, "producer", arrives, |op| match op {
        Op::ArriveAfter { barrier, count, .. } => Some(Op::Arrive { barrier, count }),
        other => Some(other),
    }));
    assert_eq!(violation.kind, ViolationKind::ReadBeforeFull, "{violation}");
    let violation = refused(&with(&p, "producer", arrives, |op| match op {
        Op::ArriveAfter { engine, barrier, .. } => Some(Op::ArriveAfter { engine, barrier, count: 4 }),
        other => Some(other),
    }));
    assert_eq!(violation.kind, ViolationKind::Deadlock, "{violation}");
    // The stage must be empty first.
    let violation = refused(&with(&p, "producer", is_wait, |_| None));
    let kinds = [ViolationKind::EarlyArrival, ViolationKind::TooManyArrivals, ViolationKind::Overwritten];
    assert!(kinds.contains(&violation.kind), "{violation}");
}

/// The text of a violation.
#[test]
fn rendered() {
    let p = gemm(2, 1, false);
    let wrong = with(&p, "consumer 0", is_wait_groups, |op| match op {
        Op::WaitGroups { engine, .. } => Some(Op::WaitGroups { engine, pending: 2 }),
        other => Some(other),
    });
    let expected = "\
product with a producer: producer may overwrite A[0] while it is in use
for trips = 3
in this order:
  producer: waits for parity 1 of empty[0]
  producer: announces 49152 bytes to full[0]
  producer: arrives at full[0]
  producer: starts a copy of 16384 bytes for 0 into A[0], counted by full[0]
  producer: starts a copy of 32768 bytes for 0 into B[0], counted by full[0]
  producer: waits for parity 1 of empty[1]
  producer: announces 49152 bytes to full[1]
  producer: arrives at full[1]
  producer: starts a copy of 16384 bytes for 1 into A[1], counted by full[1]
  producer: starts a copy of 32768 bytes for 1 into B[1], counted by full[1]
  (done: starts a copy of 16384 bytes for 0 into A[0], counted by full[0])
  (done: starts a copy of 32768 bytes for 0 into B[0], counted by full[0])
  consumer 0: waits for parity 0 of full[0]
";
    let text = refused(&wrong).to_string();
    assert!(text.starts_with(expected), "{text}");
    let last = "  consumer 0: starts a dot that reads A[0] for 0
  producer: starts a copy of 16384 bytes for 2 into";
    assert!(text.contains(last), "{text}");
    let wrong = with(&with(&p, "consumer 0", is_arrive, |_| None), "consumer 0", is_arrive, |_| None);
    assert_eq!(
        refused(&wrong).to_string().lines().next(),
        Some(
            "product with a producer: deadlock: producer waits for empty[0] to leave phase 0, which lacks 1 of 1 \
             arrivals; consumer 0 waits for full[0] to leave phase 1, which lacks 1 of 1 arrivals"
        )
    );
}
