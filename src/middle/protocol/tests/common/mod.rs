//! Protocols of kernels like those that the compiler generates, and mutations of them.
#![allow(dead_code, reason = "every test file uses its own part")]

use std::ops::{Div, Not, Rem};

use tile_protocol::{Engine, Expr, Op, Place, Program, StageAccess, Var};

pub fn parity(i: &Expr, stages: i64) -> Expr {
    i.clone().div(stages).rem(2)
}

fn product(reads: &[(Place, Expr)]) -> Vec<Op> {
    let begin = |(place, tag): &(Place, Expr)| Op::Begin {
        engine: Engine::Dot,
        access: StageAccess::Read,
        place: place.clone(),
        tag: tag.clone(),
    };
    reads.iter().map(begin).chain([Op::Commit(Engine::Dot)]).collect()
}

fn wait_products(pending: u32) -> Op {
    Op::WaitGroups { engine: Engine::Dot, pending }
}

fn when(condition: Expr, then: Vec<Op>) -> Op {
    Op::If { condition, then, otherwise: vec![] }
}

/// Copies the operands of iteration `i` into a stage.
fn fill(full: &Place, slots: &[(Place, u32)], tag: &Expr) -> Vec<Op> {
    let bytes = slots.iter().map(|(_, bytes)| bytes).sum();
    let mut ops = vec![Op::Expect { barrier: full.clone(), bytes }, Op::Arrive { barrier: full.clone(), count: 1 }];
    ops.extend(slots.iter().map(|(place, bytes)| Op::Copy {
        into: place.clone(),
        tag: tag.clone(),
        bytes: *bytes,
        barrier: full.clone(),
    }));
    ops
}

/// A producer and consumers around a ring. With `reuse` the epilogue writes into the ring's memory, after the
/// consumers have synchronized.
pub fn gemm(stages: usize, consumers: u32, reuse: bool) -> Program {
    let mut p = Program::new("product with a producer");
    let s = stages as i64;
    let trips = p.parameter("trips", 2 * s + 2);
    let (full, empty) = (p.barrier("full", stages, 1), p.barrier("empty", stages, consumers));
    let (a, b) = (p.storage("A", stages), p.storage("B", stages));
    let chunks = p.storage_inside("C", consumers as usize, b, 1);
    let everyone = p.named("consumers", 1, 128 * consumers);
    let i = p.variable();
    let slot = Expr::from(i).rem(s);
    let mut body = vec![Op::Wait { barrier: empty.at(&slot), parity: parity(&i.into(), s).not() }];
    body.extend(fill(&full.at(&slot), &[(a.at(&slot), 16384), (b.at(&slot), 32768)], &i.into()));
    p.agent("producer", 32, vec![Op::Loop { var: i, trips: trips.clone(), body }]);
    for consumer in 0..consumers {
        let before = Expr::from(i) - 1;
        let mut body = vec![Op::Wait { barrier: full.at(&slot), parity: parity(&i.into(), s) }];
        body.extend(product(&[(a.at(&slot), i.into()), (b.at(&slot), i.into())]));
        body.push(wait_products(1));
        let release = |slot: Expr| vec![Op::Arrive { barrier: empty.at(&slot), count: 1 }];
        body.push(when(Expr::from(0).less(i), release(before.rem(s))));
        let last = (trips.clone() - 1).rem(s);
        let mut ops = vec![
            Op::Loop { var: i, trips: trips.clone(), body },
            wait_products(0),
            when(Expr::from(0).less(trips.clone()), release(last)),
        ];
        if reuse {
            let chunk = chunks.at(&i64::from(consumer).into());
            ops.extend([
                Op::Sync(everyone.at(&0.into())),
                Op::Write { into: chunk.clone(), tag: 0.into() },
                Op::Fence,
                Op::Begin { engine: Engine::Store, access: StageAccess::Read, place: chunk, tag: 0.into() },
                Op::Commit(Engine::Store),
                Op::WaitGroups { engine: Engine::Store, pending: 0 },
            ]);
        }
        p.agent(&format!("consumer {consumer}"), 128, ops);
    }
    p
}

/// One agent that copies ahead and multiplies; needs no barrier other than `full`.
pub fn single_agent(stages: usize) -> Program {
    let mut p = Program::new("product by one agent");
    let s = stages as i64;
    let trips = p.parameter("trips", 2 * s + 2);
    let full = p.barrier("full", stages, 1);
    let (a, b) = (p.storage("A", stages), p.storage("B", stages));
    let (i, ahead) = (p.variable(), p.variable());
    let copy = |of: Expr| {
        let slot = of.clone().rem(s);
        fill(&full.at(&slot), &[(a.at(&slot), 8192), (b.at(&slot), 8192)], &of)
    };
    let slot = Expr::from(i).rem(s);
    let mut body = vec![Op::Wait { barrier: full.at(&slot), parity: parity(&i.into(), s) }];
    body.extend(product(&[(a.at(&slot), i.into()), (b.at(&slot), i.into())]));
    body.push(wait_products(1));
    body.push(Op::Set(ahead, Expr::from(i) + (s - 1)));
    body.push(when(Expr::from(ahead).less(trips.clone()), copy(ahead.into())));
    let prologue = vec![when(Expr::from(i).less(trips.clone()), copy(i.into()))];
    p.agent(
        "block",
        128,
        vec![
            Op::Loop { var: i, trips: (s - 1).into(), body: prologue },
            Op::Loop { var: i, trips, body },
            wait_products(0),
        ],
    );
    p
}

/// `cp.async` by groups, by the warps of one agent. A CTA barrier orders the copies that each warp has waited for.
pub fn copies_in_groups(stages: usize) -> Program {
    let mut p = Program::new("ring of copies in groups");
    let s = stages as i64;
    let trips = p.parameter("trips", 2 * s + 2);
    let a = p.storage("A", stages);
    let (i, ahead) = (p.variable(), p.variable());
    let copy = |of: Expr| Op::Begin {
        engine: Engine::Copy,
        access: StageAccess::Write,
        place: a.at(&of.clone().rem(s)),
        tag: of,
    };
    let mut body = vec![Op::WaitGroups { engine: Engine::Copy, pending: stages as u32 - 2 }, Op::Fence];
    body.extend(product(&[(a.at(&Expr::from(i).rem(s)), i.into())]));
    body.push(wait_products(0));
    body.push(Op::Set(ahead, Expr::from(i) + (s - 1)));
    body.push(when(Expr::from(ahead).less(trips.clone()), vec![copy(ahead.into())]));
    // One group per iteration, even if it is empty, because the waits count groups.
    body.push(Op::Commit(Engine::Copy));
    let prologue = vec![when(Expr::from(i).less(trips.clone()), vec![copy(i.into())]), Op::Commit(Engine::Copy)];
    p.agent(
        "block",
        128,
        vec![Op::Loop { var: i, trips: (s - 1).into(), body: prologue }, Op::Loop { var: i, trips, body }],
    );
    p
}

/// A producer whose threads copy A with `cp.async` and arrive when their copies are done, while a TMA load brings B.
/// Consumers execute a proxy fence before their MMAs.
pub fn copies_by_threads(stages: usize, consumers: u32) -> Program {
    let mut p = Program::new("ring of the threads' copies");
    let s = stages as i64;
    let trips = p.parameter("trips", 2 * s + 2);
    let (full, empty) = (p.barrier("full", stages, 129), p.barrier("empty", stages, consumers));
    let (a, b) = (p.storage("A", stages), p.storage("B", stages));
    let i = p.variable();
    let slot = Expr::from(i).rem(s);
    let mut body = vec![Op::Wait { barrier: empty.at(&slot), parity: parity(&i.into(), s).not() }];
    body.extend(fill(&full.at(&slot), &[(b.at(&slot), 8192)], &i.into()));
    let (engine, access) = (Engine::Copy, StageAccess::Write);
    body.push(Op::Begin { engine, access, place: a.at(&slot), tag: i.into() });
    body.push(Op::ArriveAfter { engine, barrier: full.at(&slot), count: 128 });
    p.agent("producer", 128, vec![Op::Loop { var: i, trips: trips.clone(), body }]);
    for consumer in 0..consumers {
        let mut body = vec![Op::Wait { barrier: full.at(&slot), parity: parity(&i.into(), s) }, Op::Fence];
        body.extend(product(&[(a.at(&slot), i.into()), (b.at(&slot), i.into())]));
        body.push(wait_products(0));
        body.push(Op::Arrive { barrier: empty.at(&slot), count: 1 });
        p.agent(&format!("consumer {consumer}"), 128, vec![Op::Loop { var: i, trips: trips.clone(), body }]);
    }
    p
}

/// Products that one agent issues and does not wait for. Their completion empties the stages of the operands, and fills
/// a stage of accumulators for an epilogue.
pub fn accumulators_in_memory(stages: usize, accumulators: usize) -> Program {
    let mut p = Program::new("accumulators in tensor memory");
    let (s, n) = (stages as i64, accumulators as i64);
    let trips = p.parameter("trips", s + 2);
    let tiles = p.parameter("tiles", 2 * n + 1);
    let (full, empty) = (p.barrier("full", stages, 1), p.barrier("empty", stages, 1));
    let (done, free) = (p.barrier("accumulated", accumulators, 1), p.barrier("read", accumulators, 1));
    let (a, sums) = (p.storage("A", stages), p.storage("sums", accumulators));
    let (tile, i, it) = (p.variable(), p.variable(), p.variable());
    let slot = Expr::from(it).rem(s);
    let next = Op::Set(it, Expr::from(it) + 1);
    let (sum, turn) = (Expr::from(tile).rem(n), parity(&tile.into(), n));
    let mut body = vec![Op::Wait { barrier: empty.at(&slot), parity: parity(&it.into(), s).not() }];
    body.extend(fill(&full.at(&slot), &[(a.at(&slot), 16384)], &it.into()));
    body.push(next.clone());
    let depth = |body| vec![Op::Loop { var: i, trips: trips.clone(), body }];
    p.agent("producer", 32, vec![Op::Loop { var: tile, trips: tiles.clone(), body: depth(body) }]);
    let engine = Engine::Dot;
    let mut body = vec![Op::Wait { barrier: full.at(&slot), parity: parity(&it.into(), s) }];
    body.push(Op::Begin { engine, access: StageAccess::Read, place: a.at(&slot), tag: it.into() });
    body.push(Op::Begin { engine, access: StageAccess::Accumulate, place: sums.at(&sum), tag: tile.into() });
    body.extend([Op::Commit(engine), Op::ArriveAfter { engine, barrier: empty.at(&slot), count: 1 }, next]);
    let mut ops = vec![Op::Wait { barrier: free.at(&sum), parity: turn.clone().not() }];
    ops.extend(depth(body));
    ops.push(Op::ArriveAfter { engine, barrier: done.at(&sum), count: 1 });
    p.agent("matrix", 32, vec![Op::Loop { var: tile, trips: tiles.clone(), body: ops }]);
    let mut body = vec![Op::Wait { barrier: done.at(&sum), parity: turn }];
    body.push(when(Expr::from(0).less(trips), vec![Op::Read { from: sums.at(&sum), tag: tile.into() }]));
    body.push(Op::Arrive { barrier: free.at(&sum), count: 1 });
    p.agent("epilogue", 128, vec![Op::Loop { var: tile, trips: tiles, body }]);
    p
}

/// Products that read what earlier copies of the same thread have brought to memory of each stage. Their completion
/// empties the stage, and with it that memory.
pub fn scale_factors(stages: usize) -> Program {
    let mut p = Program::new("scale factors in tensor memory");
    let s = stages as i64;
    let trips = p.parameter("trips", 2 * s + 2);
    let (full, empty) = (p.barrier("full", stages, 2), p.barrier("empty", stages, 1));
    let done = p.barrier("done", 1, 1);
    let (a, rows, columns) = (p.storage("A", stages), p.storage("rows", stages), p.storage("columns", stages));
    let sums = p.storage("sums", 1);
    let i = p.variable();
    let (slot, turn) = (Expr::from(i).rem(s), parity(&i.into(), s));
    let all = |body| vec![Op::Loop { var: i, trips: trips.clone(), body }];
    let mut body = vec![Op::Wait { barrier: empty.at(&slot), parity: turn.clone().not() }];
    body.extend(fill(&full.at(&slot), &[(a.at(&slot), 16384)], &i.into()));
    p.agent("producer", 32, all(body));
    let body = vec![
        Op::Wait { barrier: empty.at(&slot), parity: turn.clone().not() },
        Op::Write { into: rows.at(&slot), tag: i.into() },
        Op::Fence,
        Op::Arrive { barrier: full.at(&slot), count: 1 },
    ];
    p.agent("scales", 128, all(body));
    let engine = Engine::Dot;
    let begin = |access, place, tag: Expr| Op::Begin { engine, access, place, tag };
    let body = vec![
        Op::Wait { barrier: full.at(&slot), parity: turn },
        begin(StageAccess::Read, rows.at(&slot), i.into()),
        begin(StageAccess::Write, columns.at(&slot), i.into()),
        Op::Commit(engine),
        begin(StageAccess::Read, a.at(&slot), i.into()),
        begin(StageAccess::ReadInOrder, columns.at(&slot), i.into()),
        begin(StageAccess::Accumulate, sums.at(&0.into()), 0.into()),
        Op::Commit(engine),
        Op::ArriveAfter { engine, barrier: empty.at(&slot), count: 1 },
    ];
    let mut ops = all(body);
    ops.push(Op::ArriveAfter { engine, barrier: done.at(&0.into()), count: 1 });
    p.agent("matrix", 32, ops);
    let read = Op::Read { from: sums.at(&0.into()), tag: 0.into() };
    let wait = Op::Wait { barrier: done.at(&0.into()), parity: 0.into() };
    p.agent("epilogue", 128, vec![wait, when(Expr::from(0).less(trips), vec![read])]);
    p
}

/// Attention with scores, weights and results in tensor memory. One agent issues the products; another one reads the
/// scores, scales the results so far, and stores the weights in the memory of the scores.
pub fn dependent_products(scores: usize) -> Program {
    let mut p = Program::new("dependent products in tensor memory");
    let n = scores as i64;
    let trips = p.parameter("trips", 2 * n + 2);
    let (full, read) = (p.barrier("scored", scores, 1), p.barrier("read", scores, 1));
    let weighed = p.barrier("weighed", 1, 1);
    let done = p.barrier("done", 1, 1);
    let (s, o) = (p.storage("S", scores), p.storage("O", 1));
    let i = p.variable();
    let (slot, turn, odd) = (Expr::from(i).rem(n), parity(&i.into(), n), Expr::from(i).rem(2));
    let engine = Engine::Dot;
    let dot = |access, place, tag: Expr| Op::Begin { engine, access, place, tag };
    let body = vec![
        Op::Wait { barrier: read.at(&slot), parity: turn.clone().not() },
        dot(StageAccess::Accumulate, s.at(&slot), i.into()),
        Op::Commit(engine),
        Op::ArriveAfter { engine, barrier: full.at(&slot), count: 1 },
        Op::Wait { barrier: weighed.at(&0.into()), parity: odd },
        dot(StageAccess::Read, s.at(&slot), i.into()),
        dot(StageAccess::Accumulate, o.at(&0.into()), 0.into()),
        Op::Commit(engine),
    ];
    let all = Op::Loop { var: i, trips: trips.clone(), body };
    p.agent("matrix", 32, vec![all, Op::ArriveAfter { engine, barrier: done.at(&0.into()), count: 1 }]);
    let (place, tag) = (o.at(&0.into()), Expr::from(0));
    let scale =
        vec![Op::Read { from: place.clone(), tag: tag.clone() }, Op::Write { into: place.clone(), tag: tag.clone() }];
    let body = vec![
        Op::Wait { barrier: full.at(&slot), parity: turn },
        Op::Read { from: s.at(&slot), tag: i.into() },
        Op::Arrive { barrier: read.at(&slot), count: 1 },
        when(Expr::from(0).less(i), scale),
        Op::Write { into: s.at(&slot), tag: i.into() },
        Op::Fence,
        Op::Arrive { barrier: weighed.at(&0.into()), count: 1 },
    ];
    let end = vec![
        Op::Loop { var: i, trips: trips.clone(), body },
        Op::Wait { barrier: done.at(&0.into()), parity: 0.into() },
        when(Expr::from(0).less(trips), vec![Op::Read { from: place, tag }]),
    ];
    p.agent("softmax", 128, end);
    p
}

/// Attention: a query tile for each of two consumers, rings of keys and values, and named barriers with which the
/// consumers ping-pong on the tensor cores.
pub fn attention(stages: usize) -> Program {
    let mut p = Program::new("attention in ping-pong");
    let s = stages as i64;
    let trips = p.parameter("blocks of keys", 2 * s + 2);
    let queries = p.barrier("Q full", 2, 1);
    let (k_full, k_empty) = (p.barrier("K full", stages, 1), p.barrier("K empty", stages, 2));
    let (v_full, v_empty) = (p.barrier("V full", stages, 1), p.barrier("V empty", stages, 2));
    let (q, k, v) = (p.storage("Q", 2), p.storage("K", stages), p.storage("V", stages));
    let order = p.named("turn", 2, 256);
    let i = p.variable();
    let slot = Expr::from(i).rem(s);
    let mut body = Vec::new();
    for (full, empty, ring) in [(k_full, k_empty, k), (v_full, v_empty, v)] {
        body.push(Op::Wait { barrier: empty.at(&slot), parity: parity(&i.into(), s).not() });
        body.extend(fill(&full.at(&slot), &[(ring.at(&slot), 16384)], &i.into()));
    }
    let mut producer = Vec::new();
    for c in 0..2 {
        producer.extend(fill(&queries.at(&c.into()), &[(q.at(&c.into()), 16384)], &0.into()));
    }
    producer.push(Op::Loop { var: i, trips: trips.clone(), body });
    p.agent("producer", 32, producer);
    for c in 0..2i64 {
        let (mine, other) = (order.at(&c.into()), order.at(&(1 - c).into()));
        let mut body = vec![Op::Wait { barrier: k_full.at(&slot), parity: parity(&i.into(), s) }, Op::Sync(mine)];
        body.extend(product(&[(q.at(&c.into()), 0.into()), (k.at(&slot), i.into())]));
        body.push(Op::Post(other.clone()));
        body.push(wait_products(0));
        body.push(Op::Arrive { barrier: k_empty.at(&slot), count: 1 });
        body.push(Op::Wait { barrier: v_full.at(&slot), parity: parity(&i.into(), s) });
        body.extend(product(&[(v.at(&slot), i.into())]));
        body.push(wait_products(0));
        body.push(Op::Arrive { barrier: v_empty.at(&slot), count: 1 });
        let mut ops = vec![Op::Wait { barrier: queries.at(&c.into()), parity: 0.into() }];
        // The second consumer gives the first its first turn, and also an unused turn at the end.
        ops.extend((c == 1).then_some(Op::Post(other)));
        ops.push(Op::Loop { var: i, trips: trips.clone(), body });
        ops.extend((c == 0).then(|| Op::Sync(order.at(&0.into()))));
        p.agent(&format!("consumer {c}"), 128, ops);
    }
    p
}

/// A persistent loop over tiles. The ring continues across tiles, and each consumer stores its results through two
/// buffers.
pub fn persistent(stages: usize, consumers: u32) -> Program {
    let mut p = Program::new("persistent product");
    let s = stages as i64;
    let trips = p.parameter("trips", s + 1);
    let tiles = p.parameter("tiles", 4);
    let (full, empty) = (p.barrier("full", stages, 1), p.barrier("empty", stages, consumers));
    let (a, b) = (p.storage("A", stages), p.storage("B", stages));
    let own = p.named("consumer", consumers as usize, 128);
    let (tile, i, it, chunk) = (p.variable(), p.variable(), p.variable(), p.variable());
    let slot = Expr::from(it).rem(s);
    let next = Op::Set(it, Expr::from(it) + 1);
    let mut body = vec![Op::Wait { barrier: empty.at(&slot), parity: parity(&it.into(), s).not() }];
    body.extend(fill(&full.at(&slot), &[(a.at(&slot), 16384), (b.at(&slot), 16384)], &it.into()));
    body.push(next.clone());
    let depth = Op::Loop { var: i, trips: trips.clone(), body };
    p.agent("producer", 32, vec![Op::Loop { var: tile, trips: tiles.clone(), body: vec![depth] }]);
    for c in 0..consumers {
        let buffers = p.storage(&format!("C{c}"), 2);
        let mut body = vec![Op::Wait { barrier: full.at(&slot), parity: parity(&it.into(), s) }];
        body.extend(product(&[(a.at(&slot), it.into()), (b.at(&slot), it.into())]));
        body.push(wait_products(1));
        let release = |of: Expr| vec![Op::Arrive { barrier: empty.at(&of.rem(s)), count: 1 }];
        body.push(when(Expr::from(0).less(i), release(Expr::from(it) - 1)));
        body.push(next.clone());
        let buffer = buffers.at(&Expr::from(chunk).rem(2));
        let tag = Expr::from(tile) * 4 + chunk;
        let store = vec![
            Op::WaitGroups { engine: Engine::Store, pending: 1 },
            Op::Sync(own.at(&i64::from(c).into())),
            Op::Write { into: buffer.clone(), tag: tag.clone() },
            Op::Fence,
            Op::Sync(own.at(&i64::from(c).into())),
            Op::Begin { engine: Engine::Store, access: StageAccess::Read, place: buffer, tag },
            Op::Commit(Engine::Store),
        ];
        let per_tile = vec![
            Op::Loop { var: i, trips: trips.clone(), body },
            wait_products(0),
            when(Expr::from(0).less(trips.clone()), release(Expr::from(it) - 1)),
            Op::Loop { var: chunk, trips: 4.into(), body: store },
        ];
        p.agent(
            &format!("consumer {c}"),
            128,
            vec![
                Op::Loop { var: tile, trips: tiles.clone(), body: per_tile },
                Op::WaitGroups { engine: Engine::Store, pending: 0 },
            ],
        );
    }
    p
}

/// Applies `change` to the `at`-th operation of an agent that `select` accepts; `None` deletes it. Returns false if
/// there are fewer.
pub fn mutate(
    body: &mut Vec<Op>,
    at: &mut usize,
    select: &dyn Fn(&Op) -> bool,
    change: &mut dyn FnMut(Op) -> Option<Op>,
) -> bool {
    for i in 0..body.len() {
        if select(&body[i]) {
            if *at == 0 {
                match change(body[i].clone()) {
                    Some(op) => body[i] = op,
                    None => drop(body.remove(i)),
                }
                return true;
            }
            *at -= 1;
        }
        let inner = match &mut body[i] {
            Op::Loop { body, .. } => mutate(body, at, select, change),
            Op::If { then, otherwise, .. } => mutate(then, at, select, change) || mutate(otherwise, at, select, change),
            _ => false,
        };
        if inner {
            return true;
        }
    }
    false
}

/// Returns the program with the first matching operation of an agent changed.
pub fn with(
    p: &Program,
    agent: &str,
    select: impl Fn(&Op) -> bool,
    mut change: impl FnMut(Op) -> Option<Op>,
) -> Program {
    let mut p = p.clone();
    let found = p.agents.iter_mut().find(|a| a.name == agent).expect("an agent of that name");
    assert!(mutate(&mut found.body, &mut 0, &select, &mut change), "nothing to change");
    p
}

pub fn variable_of(op: &Op) -> Option<Var> {
    match op {
        Op::Loop { var, .. } | Op::Set(var, _) => Some(*var),
        _ => None,
    }
}
