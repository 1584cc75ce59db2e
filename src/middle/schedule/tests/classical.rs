//! Loops from the literature, on the machines of their textbooks, with the intervals that the texts give.

use tile_schedule::{
    Agent, Bound, Edge, Failure, Graph, Group, Method, Node, Obstacle, Pool, Reservation, Settings, overlap, solve,
};

/// A machine, given as names and numbers of units.
fn machine(pools: &[(&str, u32)]) -> Graph {
    Graph {
        pools: pools.iter().map(|(name, units)| Pool { name: (*name).into(), units: *units }).collect(),
        agents: vec![Agent { name: "program".into(), registers: None }],
        ..Graph::default()
    }
}

/// An operation that occupies a unit for one clock.
fn op(g: &mut Graph, name: &str, pool: &str) -> usize {
    let pool = g.pools.iter().position(|p| p.name == pool).unwrap();
    let footprint = vec![Reservation { pool, start: 0, clocks: 1 }];
    g.nodes.push(Node { name: name.into(), footprint, registers: 1, asynchronous: true, ..Node::default() });
    g.nodes.len() - 1
}

fn edge(g: &mut Graph, from: usize, to: usize, latency: u32, distance: u32) {
    g.edges.push(Edge { from, to, latency, distance, crossing: 0, value: true });
}

fn searched(g: &Graph) -> tile_schedule::Schedule {
    let s = overlap(g, &Settings { exhaustive: true, ..Settings::default() }).unwrap();
    s.check(g).unwrap();
    s
}

/// `d[i] = a[i] * b[i] + c`, with one load, one store and one arithmetic operation per clock and results after two
/// clocks (Aho, Lam, Sethi, Ullman: Compilers, section 10.5). Two loads need two clocks, so the interval is two, and
/// four iterations are in flight.
#[test]
fn two_loads_on_one_port() {
    let mut g = machine(&[("load", 1), ("arithmetic", 1), ("store", 1)]);
    let [a, b] = ["ld a", "ld b"].map(|n| op(&mut g, n, "load"));
    let mul = op(&mut g, "mul", "arithmetic");
    let add = op(&mut g, "add", "arithmetic");
    let st = op(&mut g, "st", "store");
    edge(&mut g, a, mul, 1, 0);
    edge(&mut g, b, mul, 1, 0);
    edge(&mut g, mul, add, 2, 0);
    edge(&mut g, add, st, 2, 0);
    let s = searched(&g);
    assert_eq!((s.interval, s.optimal), (2, true));
    assert_eq!(s.reason, Bound::Pool { pool: 0, clocks: 2 });
    assert!(s.stages() >= 3, "{s:?}");
}

/// Livermore kernel 5, `x[i] = z[i] * (y[i] - x[i - 1])`: the recurrence is a subtraction and a multiplication.
#[test]
fn tridiagonal_elimination() {
    for (sub, mul) in [(1, 2), (4, 5), (2, 7)] {
        let mut g = machine(&[("memory", 2), ("adder", 1), ("multiplier", 1)]);
        let [y, z] = ["ld y", "ld z"].map(|n| op(&mut g, n, "memory"));
        let d = op(&mut g, "sub", "adder");
        let x = op(&mut g, "mul", "multiplier");
        let st = op(&mut g, "st x", "memory");
        edge(&mut g, y, d, 13, 0);
        edge(&mut g, z, x, 13, 0);
        edge(&mut g, d, x, sub, 0);
        edge(&mut g, x, d, mul, 1);
        edge(&mut g, x, st, mul, 0);
        let s = searched(&g);
        assert_eq!((s.interval, s.optimal), (sub + mul, true));
        let Bound::Recurrence { nodes, .. } = &s.reason else { panic!("{:?}", s.reason) };
        assert!(nodes.len() == 2 && nodes.contains(&d) && nodes.contains(&x));
    }
}

/// Livermore kernel 3, the inner product. With `width` partial sums, the recurrence has distance `width`.
#[test]
fn inner_product_in_parts() {
    for (width, interval) in [(1, 4), (2, 2), (3, 2), (4, 1)] {
        let mut g = machine(&[("memory", 2), ("adder", 1), ("multiplier", 1)]);
        let [x, z] = ["ld x", "ld z"].map(|n| op(&mut g, n, "memory"));
        let m = op(&mut g, "mul", "multiplier");
        let a = op(&mut g, "add", "adder");
        edge(&mut g, x, m, 13, 0);
        edge(&mut g, z, m, 13, 0);
        edge(&mut g, m, a, 5, 0);
        edge(&mut g, a, a, 4, width);
        assert_eq!(searched(&g).interval, interval, "{width}");
    }
}

/// A unit that is not pipelined, next to one that is: a division in each iteration determines the interval, whatever
/// its latency.
#[test]
fn a_unit_that_is_not_pipelined() {
    let mut g = machine(&[("memory", 1), ("divider", 1)]);
    let l = op(&mut g, "ld", "memory");
    let d = op(&mut g, "div", "divider");
    let s = op(&mut g, "st", "memory");
    g.nodes[d].footprint[0].clocks = 9;
    edge(&mut g, l, d, 4, 0);
    edge(&mut g, d, s, 20, 0);
    assert_eq!(searched(&g).interval, 9);
    g.pools[1].units = 3;
    // A reservation stays on one unit, so the interval is still nine clocks.
    assert_eq!(searched(&g).interval, 9);
}

/// Two dots with a softmax between them, each waiting for the previous one. Serially they take 1500 clocks.
/// Overlapped they take as long as the busiest unit, with the second dot one iteration later.
#[test]
fn attention() {
    let mut g = machine(&[("tensor", 1), ("exponentials", 1)]);
    let qk = op(&mut g, "qk", "tensor");
    let p = op(&mut g, "softmax", "exponentials");
    let pv = op(&mut g, "pv", "tensor");
    for (n, clocks) in [(qk, 500), (p, 480), (pv, 500)] {
        g.nodes[n].footprint[0].clocks = clocks;
    }
    edge(&mut g, qk, p, 500, 0);
    edge(&mut g, p, pv, 480, 0);
    edge(&mut g, pv, pv, 500, 1);
    let s = searched(&g);
    assert_eq!((s.interval, s.stage(qk), s.stage(pv) > 0), (1000, 0, true));
    // With few registers this is impossible.
    g.nodes[qk].registers = 64;
    g.nodes[p].registers = 32;
    g.nodes[pv].registers = 64;
    g.agents[0].registers = Some(96);
    match overlap(&g, &Settings::default()) {
        Ok(s) => assert!(s.check(&g).is_ok() && s.registers[0] <= 96),
        Err(e) => assert!(e.to_string().contains("would hold"), "{e}"),
    }
}

#[test]
fn what_cannot_be_scheduled_says_why() {
    let mut g = machine(&[("tensor", 1)]);
    let a = op(&mut g, "dot", "tensor");
    let b = op(&mut g, "other", "tensor");
    (g.nodes[a].footprint[0].clocks, g.nodes[b].footprint[0].clocks) = (6, 6);
    let settings = Settings { max_interval: Some(11), ..Settings::default() };
    let error = overlap(&g, &settings).unwrap_err();
    assert!(matches!(&error, Failure::Infeasible(i) if i.obstacle == Obstacle::Bound { clocks: 12 }));
    assert_eq!(
        error.to_string(),
        "modulo scheduler returned no feasible II: the largest tried is 11: the lower bound is 12"
    );
    // One stage for both, and a latency of more than an interval between them.
    g.groups = vec![Group::default()];
    (g.nodes[a].group, g.nodes[b].group) = (Some(0), Some(0));
    edge(&mut g, a, b, 40, 0);
    let settings = Settings { max_interval: Some(30), ..Settings::default() };
    let text = overlap(&g, &settings).unwrap_err().to_string();
    assert!(text.starts_with("modulo scheduler returned no feasible II: the largest tried is 30: '"), "{text}");
    assert!(text.contains("which reserves tensor:0+6, conflicts on"), "{text}");
    // Without a limit on the interval the schedule is serial, as it always is for fewer than eight operations.
    assert_eq!(overlap(&g, &Settings::default()).unwrap().stages(), 1);
    assert_eq!(solve(&g, &Settings::default()).unwrap().method, Method::Serial);
}

#[test]
fn graphs_are_checked() {
    let mut g = machine(&[("unit", 1)]);
    let [a, b] = ["a", "b"].map(|n| op(&mut g, n, "unit"));
    edge(&mut g, a, b, 1, 0);
    edge(&mut g, b, a, 1, 0);
    assert_eq!(
        overlap(&g, &Settings::default()).unwrap_err().to_string(),
        "'a' depends on itself within one iteration"
    );
    g.edges.pop();
    g.nodes[a].footprint.push(Reservation { pool: 0, start: 0, clocks: 2 });
    let text = overlap(&g, &Settings::default()).unwrap_err().to_string();
    assert_eq!(text, "'a' reserves more units of pool 'unit' at once than the pool has");
    g.nodes[a].footprint[1].pool = 4;
    let text = overlap(&g, &Settings::default()).unwrap_err().to_string();
    assert_eq!(text, "'a' names pool 4, which does not exist");
}

#[test]
fn reports_say_what_is_where() {
    let mut g = machine(&[("load", 1), ("arithmetic", 1)]);
    let [a, b] = ["ld \"a\"", "ld <b>"].map(|n| op(&mut g, n, "load"));
    let mul = op(&mut g, "mul", "arithmetic");
    edge(&mut g, a, mul, 5, 0);
    edge(&mut g, b, mul, 5, 0);
    let s = searched(&g);
    let text = tile_schedule::report::text(&g, &s);
    assert!(text.starts_with("interval 2 clocks, 4 stages"), "{text}");
    assert!(text.contains("because 'load' is busy for 2 clocks"), "{text}");
    assert!(text.contains("load                 busy 100.0 %"), "{text}");
    let trace = tile_schedule::report::trace(&[("a loop".into(), &g, &s)]);
    assert!(trace.starts_with("{\"traceEvents\":[") && trace.contains("\"name\":\"ld \\\"a\\\"\""), "{trace}");
    let page = tile_schedule::report::page(&[("a & b".into(), &g, &s)]);
    assert!(page.contains("<h2>a &amp; b</h2>") && page.contains("ld &lt;b&gt;") && !page.contains("ld <b>"), "{page}");
}
