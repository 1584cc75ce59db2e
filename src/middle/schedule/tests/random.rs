//! Random loops, compared with bounds, checks and exhaustive enumeration.

use tile_schedule::disjunctive::{self, Outcome};
use tile_schedule::exact::{self, Search};
use tile_schedule::{
    Agent, Bound, Edge, End, Graph, Group, Method, Node, Obstacle, Pool, Reservation, Settings, bounds, overlap, serial,
};

/// Pseudo-random numbers from a seed.
struct Draw(u64);

impl Draw {
    fn below(&mut self, n: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 33) % u64::from(n)) as u32
    }
}

struct Shape {
    nodes: u32,
    clocks: u32,
    agents: u32,
    groups: bool,
    /// The most reservations of a node.
    uses: u32,
    /// Latencies are less than this.
    latency: u32,
}

fn graph(seed: u64, shape: &Shape) -> Graph {
    let mut d = Draw(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    for _ in 0..8 {
        d.below(2);
    }
    let pools = 1 + d.below(3);
    let groups = if shape.groups { 1 + d.below(2) as usize } else { 0 };
    let nodes: Vec<Node> = (0..shape.nodes)
        .map(|i| {
            let (mut footprint, mut end) = (vec![], 0);
            for _ in 0..d.below(shape.uses + 1) {
                let (pool, start) = (d.below(pools) as usize, end + d.below(shape.clocks));
                footprint.push(Reservation { pool, start, clocks: 1 + d.below(shape.clocks) });
                end = start + footprint[footprint.len() - 1].clocks;
            }
            Node {
                name: format!("n{i}"),
                footprint,
                issue: d.below(2),
                registers: d.below(4),
                asynchronous: i == 0,
                agents: if d.below(4) == 0 { vec![d.below(shape.agents) as usize] } else { vec![] },
                group: (groups > 0 && d.below(3) == 0).then(|| d.below(groups as u32) as usize),
            }
        })
        .collect();
    let mut edges = vec![];
    for to in 1..shape.nodes {
        for _ in 0..1 + d.below(2) {
            let from = d.below(to);
            let (from, to) = (from as usize, to as usize);
            edges.push(Edge {
                from,
                to,
                latency: d.below(shape.latency),
                distance: 0,
                crossing: d.below(4),
                value: true,
            });
        }
    }
    for _ in 0..d.below(3) {
        let (a, b) = (d.below(shape.nodes), d.below(shape.nodes));
        let (from, to) = (a.max(b) as usize, a.min(b) as usize);
        edges.push(Edge {
            from,
            to,
            latency: d.below(shape.latency),
            distance: 1 + d.below(2),
            crossing: 1,
            value: true,
        });
    }
    Graph {
        pools: (0..pools).map(|i| Pool { name: format!("p{i}"), units: 1 + d.below(2) }).collect(),
        agents: (0..shape.agents).map(|i| Agent { name: format!("a{i}"), registers: None }).collect(),
        nodes,
        edges,
        groups: (0..groups).map(|i| Group { leader: i.checked_sub(1), max_depth: 2 }).collect(),
    }
}

/// The smallest interval, by trying all rows and agents of all nodes, and finding stages by relaxation. This shares
/// no code with the crate's search.
fn least_interval(g: &Graph, from: u32) -> u32 {
    (from..).find(|ii| Trial::new(g, *ii).exists()).unwrap()
}

struct Trial<'a> {
    g: &'a Graph,
    ii: u32,
    /// The row and agent of the first nodes.
    chosen: Vec<(u32, usize)>,
    /// The number of reservations in each row, for the agents and then for the pools.
    busy: Vec<Vec<u32>>,
    /// The combined constraints of the edges, including paths through nodes that are not chosen yet: from, to, and
    /// the minimum clocks between their starts.
    paths: Vec<(usize, usize, i64)>,
}

/// The longest paths between all nodes, without crossing costs.
fn longest_paths(g: &Graph, ii: u32) -> Vec<(usize, usize, i64)> {
    let n = g.nodes.len();
    let mut length: Vec<Vec<Option<i64>>> = vec![vec![None; n]; n];
    for e in &g.edges {
        let clocks = i64::from(e.latency) - i64::from(ii) * i64::from(e.distance);
        length[e.from][e.to] = length[e.from][e.to].max(Some(clocks));
    }
    for via in 0..n {
        for from in 0..n {
            for to in 0..n {
                let through = length[from][via].zip(length[via][to]).map(|(a, b)| a + b);
                length[from][to] = length[from][to].max(through);
            }
        }
    }
    let pairs = (0..n).flat_map(|from| (0..n).map(move |to| (from, to)));
    pairs.filter_map(|(from, to)| Some((from, to, length[from][to]?))).collect()
}

impl<'a> Trial<'a> {
    fn new(g: &'a Graph, ii: u32) -> Self {
        Self {
            g,
            ii,
            chosen: vec![],
            busy: vec![vec![0; ii as usize]; g.agents.len() + g.pools.len()],
            paths: longest_paths(g, ii),
        }
    }

    fn exists(&mut self) -> bool {
        let n = self.chosen.len();
        if n == self.g.nodes.len() {
            return self.units_can_be_handed_out();
        }
        for agent in self.g.agents_of(n) {
            // A schedule can be rotated to put the first node into row 0.
            for row in 0..if n == 0 { 1 } else { self.ii } {
                self.chosen.push((row, agent));
                let found = self.add(1) && self.has_stages() && self.exists();
                self.add(u32::MAX);
                self.chosen.pop();
                if found {
                    return true;
                }
            }
        }
        false
    }

    /// Adds the newest node to the rows, or removes it. Returns whether no unit is used too often.
    fn add(&mut self, sign: u32) -> bool {
        let (row, agent) = self.chosen[self.chosen.len() - 1];
        let (agents, node) = (self.g.agents.len(), &self.g.nodes[self.chosen.len() - 1]);
        let mut fits = true;
        let mut count = |line: usize, most: u32, start: u32, clocks: u32| {
            for c in start..start + clocks {
                let n = &mut self.busy[line][((row + c) % self.ii) as usize];
                *n = n.wrapping_add(sign);
                fits &= *n <= most;
            }
        };
        count(agent, 1, 0, node.issue);
        for u in &node.footprint {
            count(agents + u.pool, self.g.pools[u.pool].units, u.start, u.clocks);
        }
        fits
    }

    fn has_stages(&self) -> bool {
        let (wide, n) = (i64::from(self.ii), self.chosen.len());
        let direct = self.g.edges.iter().map(|e| {
            let crosses = e.from.max(e.to) < n && self.chosen[e.from].1 != self.chosen[e.to].1;
            let crossing = if crosses { i64::from(e.crossing) } else { 0 };
            (e.from, e.to, i64::from(e.latency) + crossing - wide * i64::from(e.distance))
        });
        let waits: Vec<_> = direct.chain(self.paths.iter().copied()).filter(|(f, t, _)| *f.max(t) < n).collect();
        let mut stage = [0i64; 8];
        for _ in 0..4 * n + 8 {
            let mut changed = false;
            for (from, to, clocks) in &waits {
                let begin = stage[*from] * wide + i64::from(self.chosen[*from].0) + clocks;
                while stage[*to] * wide + i64::from(self.chosen[*to].0) < begin {
                    stage[*to] += 1;
                    changed = true;
                }
            }
            if !changed {
                return true;
            }
        }
        false
    }

    /// Counts give the number of units, not an assignment: reservations that wrap around may still not fit.
    fn units_can_be_handed_out(&self) -> bool {
        (0..self.g.pools.len()).all(|pool| {
            let nodes = self.g.nodes.iter().zip(&self.chosen);
            let uses: Vec<(u32, u32)> = nodes
                .flat_map(|(n, (row, _))| n.footprint.iter().map(move |u| (u, row)))
                .filter(|(u, _)| u.pool == pool)
                .map(|(u, row)| ((row + u.start) % self.ii, u.clocks))
                .collect();
            let mut units = vec![vec![false; self.ii as usize]; self.g.pools[pool].units as usize];
            hand_out(&uses, self.ii, &mut units)
        })
    }
}

fn hand_out(uses: &[(u32, u32)], ii: u32, units: &mut [Vec<bool>]) -> bool {
    let Some(((start, clocks), rest)) = uses.split_first() else { return true };
    for unit in 0..units.len() {
        let rows: Vec<usize> = (0..*clocks).map(|c| ((start + c) % ii) as usize).collect();
        if *clocks > ii || rows.iter().any(|r| units[unit][*r]) {
            continue;
        }
        rows.iter().for_each(|r| units[unit][*r] = true);
        let found = hand_out(rest, ii, units);
        rows.iter().for_each(|r| units[unit][*r] = false);
        if found {
            return true;
        }
    }
    false
}

/// If agents have the registers of a serial schedule, there is a schedule, though the placement does not always find
/// an overlapped one.
#[test]
fn registers_for_one_iteration_are_enough() {
    let mut serial_ones = 0;
    for seed in 0..1000 {
        let nodes = 8 + (seed % 22) as u32;
        let mut g = graph(seed, &Shape { nodes, clocks: 3, agents: 1, groups: false, uses: 2, latency: 9 });
        let alone = serial(&g).unwrap();
        g.agents[0].registers = Some(alone.registers[0]);
        let s = overlap(&g, &Settings::default()).unwrap_or_else(|e| panic!("{seed}: {e}"));
        s.check(&g).unwrap_or_else(|e| panic!("{seed}: {e}: {s:?}"));
        if s.method == Method::Serial {
            serial_ones += 1;
            let Bound::NoOverlap { clocks, obstacle } = &s.reason else { panic!("{seed}: {:?}", s.reason) };
            assert!(*clocks == s.interval && matches!(obstacle, Obstacle::Registers { .. }), "{seed}: {obstacle}");
            // A bound on the interval rules out the serial schedule.
            let largest = Some(g.serial_length());
            let error =
                overlap(&g, &Settings { max_interval: largest, ..Settings::default() }).unwrap_err().to_string();
            assert!(error.contains(" registers, more than its "), "{seed}: {error}");
        }
    }
    assert!((1..200).contains(&serial_ones), "{serial_ones} loops have no overlap");
}

#[test]
fn every_schedule_is_right() {
    for seed in 0..1000 {
        let shape = Shape {
            nodes: 2 + (seed % 30) as u32,
            clocks: 3,
            agents: 1 + (seed % 3) as u32,
            groups: seed % 2 == 1,
            uses: 2,
            latency: 9,
        };
        let g = graph(seed, &shape);
        let minimum = bounds::minimum(&g).clocks();
        for exhaustive in [false, shape.nodes < 8] {
            let s =
                overlap(&g, &Settings { exhaustive, ..Settings::default() }).unwrap_or_else(|e| panic!("{seed}: {e}"));
            s.check(&g).unwrap_or_else(|e| panic!("{seed}: {e}: {s:?}"));
            assert!(s.interval >= minimum && s.reason.clocks() == s.interval, "{seed}: {s:?} {minimum}");
        }
        let s = serial(&g).unwrap();
        s.check(&g).unwrap_or_else(|e| panic!("{seed}: {e}"));
        assert!(s.stages() == 1 && s.interval >= minimum, "{seed}: {s:?} {minimum} {g:?}");
        let s = overlap(&g, &Settings { rows: 0, ..Settings::default() }).unwrap();
        s.check(&g).unwrap_or_else(|e| panic!("{seed}: {e}"));
        assert!(s.method == Method::Light || shape.groups && s.method == Method::Serial, "{seed}: {s:?}");
    }
}

#[test]
fn coarse_clocks_are_safe() {
    for seed in 0..200 {
        let shape = Shape { nodes: 12, clocks: 60, agents: 2, groups: false, uses: 2, latency: 90 };
        let g = graph(seed, &shape);
        for rows in [16, 64, 300] {
            let s = overlap(&g, &Settings { rows, ..Settings::default() }).unwrap_or_else(|e| panic!("{seed}: {e}"));
            s.check(&g).unwrap_or_else(|e| panic!("{seed}, {rows} rows: {e}"));
        }
    }
}

/// The result for a small random loop with an interval above its bound.
struct Above {
    quick: u32,
    least: u32,
}

/// Solves a loop and compares the result with every possible schedule. Returns `None` if the interval equals its
/// bound, which needs no further proof.
fn beside_every_schedule(seed: u64) -> Option<Above> {
    let nodes = 2 + (seed % 7) as u32;
    let (agents, uses) = (1 + (seed % 5 / 4) as u32, if nodes > 5 { 1 } else { 2 });
    let g = graph(seed, &Shape { nodes, clocks: 2, agents, groups: false, uses, latency: 5 });
    let minimum = bounds::minimum(&g).clocks();
    let quick = overlap(&g, &Settings::default()).unwrap().interval;
    if quick == minimum {
        return None;
    }
    let least = least_interval(&g, minimum);
    assert!(quick >= least, "{seed}: {quick} instead of {least}");
    let searched = overlap(&g, &Settings { exhaustive: true, ..Settings::default() }).unwrap();
    searched.check(&g).unwrap_or_else(|e| panic!("{seed}: {e}: {searched:?}"));
    assert_eq!(searched.interval, least, "{seed}: {searched:?}");
    assert!(searched.optimal, "{seed}");
    Some(Above { quick, least })
}

/// The heuristic finds the smallest interval of nearly all small loops, and the search finds it for all. This runs a
/// quarter of them. The full run takes minutes, because of the loops without a schedule at the bound.
fn intervals_are_the_least(quarter: u64) {
    let full = std::env::var_os("TILEIRAS_TEST_FULL").is_some();
    let all = if full { 10_000 } else { 400 };
    let above: Vec<Above> = (quarter..all).step_by(4).filter_map(beside_every_schedule).collect();
    let (missed, loops) = (above.iter().filter(|a| a.quick != a.least).count(), all as usize / 4);
    let above = above.len();
    println!("of {loops} loops {above} do not reach the bound; the heuristic missed the least interval of {missed}");
    assert!(missed * 100 <= loops, "{missed} of {loops}");
}

/// Two units of a pool, each busy for several clocks of an interval. Taking the first free unit leaves no room for
/// the rest; another assignment fits in 7 clocks.
#[test]
fn units_move_for_those_that_follow() {
    let above = beside_every_schedule(5085).expect("a loop that does not reach its bound");
    assert_eq!(above.least, 6);
}

#[test]
fn intervals_are_the_least_1() {
    intervals_are_the_least(0);
}

#[test]
fn intervals_are_the_least_2() {
    intervals_are_the_least(1);
}

#[test]
fn intervals_are_the_least_3() {
    intervals_are_the_least(2);
}

#[test]
fn intervals_are_the_least_4() {
    intervals_are_the_least(3);
}

#[test]
fn big_loops_are_quick() {
    let g = graph(7, &Shape { nodes: 2000, clocks: 3, agents: 2, groups: false, uses: 2, latency: 9 });
    let s = overlap(&g, &Settings::default()).unwrap();
    s.check(&g).unwrap();
    println!("{} clocks, at least {}", s.interval, s.minimum.clocks());
}

/// All intervals of a loop share one budget of visits, and the search gives up when it is exhausted.
#[test]
fn searches_share_a_budget() {
    let shape = Shape { nodes: 20, clocks: 9, agents: 2, groups: false, uses: 3, latency: 30 };
    let (mut gave_up, mut spent) = (0, 0);
    for seed in 0..40 {
        let g = graph(seed, &shape);
        let interval = bounds::minimum(&g).clocks();
        let mut left = 2000;
        match exact::search(&g, interval, &mut left) {
            Search::GaveUp => {
                assert_eq!(left, 0);
                assert_eq!(exact::search(&g, interval + 1, &mut left), Search::GaveUp);
                gave_up += 1;
            }
            Search::Found(_) | Search::None => spent += u64::from(left < 2000),
        }
    }
    assert!(gave_up > 0 && spent > 0, "{gave_up} {spent}");
}

/// A loop with fixed agents and pools of one unit.
fn with_single_units(seed: u64, shape: &Shape) -> Graph {
    let mut g = graph(seed, shape);
    g.pools.iter_mut().for_each(|p| p.units = 1);
    for node in &mut g.nodes {
        // Reservations of a single unit by one operation follow each other.
        let mut end = 0;
        for u in &mut node.footprint {
            u.start = u.start.max(end);
            end = u.start + u.clocks;
        }
        if node.agents.is_empty() {
            node.agents = vec![node.footprint.len() % g.agents.len()];
        }
    }
    g
}

/// The disjunctive search agrees with the enumeration of all rows about every interval up to the smallest, and an
/// interval that it skips has no schedule.
#[test]
fn the_disjunctive_search_is_exact() {
    let (mut skipped, mut above, mut visited) = (0, 0, 0);
    for seed in 0..600 {
        let nodes = 2 + (seed % 6) as u32;
        let agents = 1 + (seed % 3) as u32;
        let shape = Shape { nodes, clocks: 3, agents, groups: false, uses: 2, latency: 7 };
        let g = with_single_units(seed, &shape);
        assert!(disjunctive::applies(&g), "{seed}");
        let minimum = bounds::minimum(&g).clocks();
        let least = least_interval(&g, minimum);
        above += u32::from(least > minimum);
        let mut interval = minimum;
        loop {
            let mut left = 1 << 20;
            match disjunctive::search(&g, interval, &mut left) {
                Outcome::Found(p) => {
                    assert_eq!(p.interval, least, "{seed}: {g:?}");
                    break;
                }
                Outcome::None { next } => {
                    let next = next.unwrap_or_else(|| panic!("{seed}: no interval is possible: {g:?}"));
                    assert!(next > interval && next <= least, "{seed}: {next}, but the least is {least}: {g:?}");
                    skipped += next - interval - 1;
                    interval = next;
                }
                other => panic!("{seed}: {other:?}"),
            }
            visited += (1 << 20) - left;
        }
        let s = overlap(&g, &Settings { exhaustive: true, ..Settings::default() }).unwrap();
        s.check(&g).unwrap_or_else(|e| panic!("{seed}: {e}: {s:?}"));
        assert_eq!((s.interval, s.optimal), (least, true), "{seed}");
    }
    println!("{above} loops do not reach their bound; {skipped} intervals were skipped; {visited} visits");
    assert!(above > 10 && skipped > 0 && visited > 0, "{above} {skipped} {visited}");
}

/// Clocks do not matter to the work: a loop with all durations a thousand times as long takes as many visits.
#[test]
fn long_intervals_take_no_more_visits() {
    for seed in 0..200 {
        let shape = Shape { nodes: 7, clocks: 3, agents: 2, groups: false, uses: 2, latency: 7 };
        let g = with_single_units(seed, &shape);
        let mut long = g.clone();
        for node in &mut long.nodes {
            node.issue *= 1000;
            node.footprint.iter_mut().for_each(|u| (u.start, u.clocks) = (u.start * 1000, u.clocks * 1000));
        }
        for e in &mut long.edges {
            (e.latency, e.crossing) = (e.latency * 1000, e.crossing * 1000);
        }
        let settings = Settings { exhaustive: true, rows: u32::MAX, ..Settings::default() };
        let (short, long) = (overlap(&g, &settings).unwrap(), overlap(&long, &settings).unwrap());
        assert!(short.optimal && long.optimal, "{seed}");
        // In shorter clocks, intervals between those of the coarse clocks are possible.
        assert!(long.interval <= short.interval * 1000, "{seed}: {} and {}", short.interval, long.interval);
        assert!(long.search.is_none_or(|e| e.visits < 2000), "{seed}: {:?}", long.search);
    }
}

/// If agents lack registers in every schedule that was found, nothing is proved.
#[test]
fn a_lack_of_registers_proves_nothing() {
    let mut outcomes = 0;
    for seed in 0..80 {
        let shape = Shape { nodes: 10, clocks: 3, agents: 1, groups: false, uses: 2, latency: 9 };
        let mut g = with_single_units(seed, &shape);
        g.agents[0].registers = Some(serial(&g).unwrap().registers[0]);
        let s = overlap(&g, &Settings { exhaustive: true, ..Settings::default() }).unwrap();
        s.check(&g).unwrap_or_else(|e| panic!("{seed}: {e}: {s:?}"));
        let ended = s.search.map(|e| e.end);
        assert_eq!(s.optimal, ended.is_none_or(|e| e == End::Complete), "{seed}: {s:?}");
        outcomes += u32::from(ended == Some(End::Registers));
    }
    assert!(outcomes > 0);
}
