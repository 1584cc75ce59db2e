//! Reservation tables: the occupant of every unit in each clock of the interval.

use crate::graph::{Graph, Reservation};

/// One row: the clocks of a unit or an agent.
#[derive(Clone, Debug)]
struct Row {
    interval: u32,
    /// One bit per clock, set if the clock is taken.
    taken: Vec<u64>,
    /// The occupants, in the order of their starts. There are far fewer of them than clocks.
    spans: Vec<Span>,
}

/// Consecutive clocks, modulo the interval, with one owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Span {
    start: u32,
    clocks: u32,
    owner: usize,
}

impl Row {
    fn new(interval: u32) -> Self {
        Self { interval, taken: vec![0; (interval as usize).div_ceil(64)], spans: vec![] }
    }

    /// The distance from `clock` to the first taken clock among the next `clocks` clocks.
    fn first_taken(&self, clock: u32, clocks: u32) -> Option<u32> {
        let mut done = 0;
        while done < clocks {
            let at = (clock + done) % self.interval;
            let bits = (64 - at % 64).min(self.interval - at).min(clocks - done);
            let run = (self.taken[at as usize / 64] >> (at % 64)).trailing_zeros();
            if run < bits {
                return Some(done + run);
            }
            done += bits;
        }
        None
    }

    /// The distance from `clock` to the last taken clock among the next `clocks` clocks.
    fn last_taken(&self, clock: u32, clocks: u32) -> Option<u32> {
        let mut left = clocks;
        while left > 0 {
            // Backwards, one word at a time.
            let at = (clock + left - 1) % self.interval;
            let bits = (at % 64 + 1).min(left);
            let word = self.taken[at as usize / 64] << (63 - at % 64);
            let run = word.leading_zeros();
            if run < bits {
                return Some(left - 1 - run);
            }
            left -= bits;
        }
        None
    }

    fn reserve(&mut self, span: Span) {
        if span.clocks > 0 {
            self.spans.insert(self.starting_before(span.start), span);
            self.flip(span);
        }
    }

    fn release(&mut self, span: Span) {
        let at = self.starting_before(span.start);
        if self.spans.get(at) == Some(&span) {
            self.spans.remove(at);
            self.flip(span);
        }
    }

    /// The number of spans that start before a clock.
    fn starting_before(&self, clock: u32) -> usize {
        self.spans.partition_point(|s| s.start < clock)
    }

    /// Flips the clocks of a span, which are all free or all taken.
    fn flip(&mut self, span: Span) {
        let (mut at, mut left) = (span.start, span.clocks);
        while left > 0 {
            let bits = (64 - at % 64).min(self.interval - at).min(left);
            self.taken[at as usize / 64] ^= (u64::MAX >> (64 - bits)) << (at % 64);
            at = (at + bits) % self.interval;
            left -= bits;
        }
    }

    /// The owners of the next `clocks` clocks. An owner of several spans occurs several times.
    fn owners(&self, clock: u32, clocks: u32) -> impl Iterator<Item = usize> {
        let end = clock + clocks;
        let (from, to) = (self.starting_before(clock), self.starting_before(end));
        let around = &self.spans[..self.starting_before(end.saturating_sub(self.interval)).min(from)];
        // The preceding span may extend into the range.
        let before = self.spans[..from].last().or(self.spans[to..].last());
        let before = before.filter(|s| meet(self.interval, (s.start, s.clocks), (clock, clocks)));
        before.into_iter().chain(&self.spans[from..to]).chain(around).map(|s| s.owner)
    }
}

/// Whether two spans, given as start and length, overlap modulo the interval.
fn meet(interval: u32, a: (u32, u32), b: (u32, u32)) -> bool {
    let behind = |x: u32, y: u32| if x < y { x + interval - y } else { x - y };
    a.1 > 0 && b.1 > 0 && (behind(b.0, a.0) < a.1 || behind(a.0, b.0) < b.1)
}

/// A failed reservation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The pool without a free unit; `None` if the agent is busy.
    pub pool: Option<usize>,
    /// The clock within the interval.
    pub row: u32,
    /// The clocks by which the node must move at least, as far as this unit is concerned: to a later time, or to an
    /// earlier one.
    pub later: u32,
    pub sooner: u32,
}

/// The units of a node, in the order of its footprint.
pub type Units = Vec<usize>;

/// The tables of all pools and agents at one interval.
#[derive(Clone, Debug)]
pub struct Tables {
    interval: u32,
    pools: Vec<Vec<Row>>,
    agents: Vec<Row>,
}

impl Tables {
    pub fn new(graph: &Graph, interval: u32) -> Self {
        let rows = |n: usize| vec![Row::new(interval); n];
        Self {
            interval,
            pools: graph.pools.iter().map(|p| rows(p.units as usize)).collect(),
            agents: rows(graph.agents.len()),
        }
    }

    fn clock(&self, time: i64) -> u32 {
        time.rem_euclid(i64::from(self.interval)) as u32
    }

    /// Whether a node could begin at `time`. Returns the units it would get, without reserving them.
    pub fn probe(&self, graph: &Graph, node: usize, agent: usize, time: i64) -> Result<Units, Conflict> {
        let n = &graph.nodes[node];
        if n.issue > self.interval {
            return Err(self.full(None, time));
        }
        let (clock, agent) = (self.clock(time), &self.agents[agent]);
        if let Some(last) = agent.last_taken(clock, n.issue) {
            let sooner = n.issue - agent.first_taken(clock, n.issue).unwrap_or(0);
            let row = self.clock(time + i64::from(last));
            return Err(Conflict { pool: None, row, later: last + 1, sooner });
        }
        let mut units: Units = vec![];
        for (i, u) in n.footprint.iter().enumerate() {
            units.push(self.unit(&n.footprint[..i], &units, *u, time)?);
        }
        Ok(units)
    }

    /// Whether two reservations of one node overlap.
    fn uses_meet(&self, a: &Reservation, b: &Reservation) -> bool {
        meet(self.interval, (a.start % self.interval, a.clocks), (b.start % self.interval, b.clocks))
    }

    /// The conflict of a node that does not fit at any time.
    fn full(&self, pool: Option<usize>, time: i64) -> Conflict {
        Conflict { pool, row: self.clock(time), later: self.interval, sooner: self.interval }
    }

    /// Finds a unit for one reservation. `earlier` are the node's previous reservations, which are not in the table
    /// yet.
    fn unit(&self, earlier: &[Reservation], units: &[usize], u: Reservation, time: i64) -> Result<usize, Conflict> {
        if u.clocks == 0 {
            // Part of an earlier reservation.
            let same = earlier.iter().zip(units).rev().find(|(e, _)| e.pool == u.pool);
            return Ok(same.map_or(0, |(_, unit)| *unit));
        }
        let time = time + i64::from(u.start);
        let start = self.clock(time);
        let mut least = self.full(Some(u.pool), time);
        if u.clocks > self.interval {
            return Err(least);
        }
        for (unit, row) in self.pools[u.pool].iter().enumerate() {
            let own = earlier.iter().zip(units).any(|(e, at)| e.pool == u.pool && *at == unit && self.uses_meet(e, &u));
            match row.last_taken(start, u.clocks) {
                None if !own => return Ok(unit),
                None => {}
                Some(last) => {
                    if last + 1 < least.later {
                        (least.later, least.row) = (last + 1, self.clock(time + i64::from(last)));
                    }
                    least.sooner = least.sooner.min(u.clocks - row.first_taken(start, u.clocks).unwrap_or(0));
                }
            }
        }
        Err(least)
    }

    /// Reserves the units that [`Tables::probe`] returned.
    pub fn commit(&mut self, graph: &Graph, node: usize, agent: usize, time: i64, units: &[usize]) {
        self.for_each_span(graph, node, agent, time, units, Row::reserve);
    }

    /// Releases the units that [`Tables::commit`] reserved.
    pub fn release(&mut self, graph: &Graph, node: usize, agent: usize, time: i64, units: &[usize]) {
        self.for_each_span(graph, node, agent, time, units, Row::release);
    }

    fn for_each_span(
        &mut self,
        graph: &Graph,
        node: usize,
        agent: usize,
        time: i64,
        units: &[usize],
        change: impl Fn(&mut Row, Span),
    ) {
        let n = &graph.nodes[node];
        let span =
            |start: i64, clocks| Span { start: start.rem_euclid(i64::from(self.interval)) as u32, clocks, owner: node };
        change(&mut self.agents[agent], span(time, n.issue));
        for (u, unit) in n.footprint.iter().zip(units) {
            change(&mut self.pools[u.pool][*unit], span(time + i64::from(u.start), u.clocks));
        }
    }

    /// The nodes that must be ejected before `node` can begin at `time`: the nodes on its agent and, for each pool,
    /// the nodes on the unit with the fewest conflicts. A node may occur several times.
    pub fn conflicting(&self, graph: &Graph, node: usize, agent: usize, time: i64) -> Vec<usize> {
        let n = &graph.nodes[node];
        let mut all: Vec<usize> = self.agents[agent].owners(self.clock(time), n.issue).collect();
        // Each reservation takes a separate unit. Two reservations of one node may share a unit only if they do not
        // overlap.
        let mut chosen: Vec<(Reservation, usize)> = vec![];
        for u in &n.footprint {
            let clock = self.clock(time + i64::from(u.start));
            let rows = self.pools[u.pool].iter().enumerate();
            let open =
                rows.filter(|(i, _)| !chosen.iter().any(|(e, at)| e.pool == u.pool && at == i && self.uses_meet(e, u)));
            if let Some((i, row)) = open.min_by_key(|(_, row)| row.owners(clock, u.clocks).count()) {
                chosen.push((*u, i));
                all.extend(row.owners(clock, u.clocks));
            }
        }
        all
    }
}

/// Assigns a unit of a pool to each reservation, given as its first clock and its length, such that no unit is
/// reserved twice in a clock. Returns `None` if this is impossible, or if `left` attempts do not suffice.
pub fn assign_units(uses: &[(u32, u32)], interval: u32, units: u32, left: &mut u64) -> Option<Vec<usize>> {
    let mut busy = vec![0; interval as usize];
    for (start, clocks) in uses {
        if *clocks > interval {
            return None;
        }
        (*start..start + clocks).for_each(|c| busy[(c % interval) as usize] += 1);
    }
    // Counting detects most impossible cases.
    if busy.iter().any(|n| *n > units) {
        return None;
    }
    let mut rows = vec![Row::new(interval); units as usize];
    let mut assigned = vec![0; uses.len()];
    assign_rest(uses, &mut rows, &mut assigned, left).then_some(assigned)
}

fn assign_rest(uses: &[(u32, u32)], rows: &mut [Row], assigned: &mut [usize], left: &mut u64) -> bool {
    let Some(((start, clocks), rest)) = uses.split_first() else { return true };
    for unit in 0..rows.len() {
        // Units that are busy in the same clocks are equivalent; try one of them.
        let same = rows[..unit].iter().any(|r| r.taken == rows[unit].taken);
        if same || rows[unit].last_taken(*start, *clocks).is_some() {
            continue;
        }
        if *left == 0 {
            return false;
        }
        *left -= 1;
        let span = Span { start: start % rows[unit].interval, clocks: *clocks, owner: 0 };
        rows[unit].reserve(span);
        assigned[0] = unit;
        if assign_rest(rest, rows, &mut assigned[1..], left) {
            return true;
        }
        rows[unit].release(span);
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{Agent, Node, Pool};

    fn graph(units: u32, uses: &[(u32, u32)]) -> Graph {
        let node = |(start, clocks): &(u32, u32)| Node {
            footprint: vec![Reservation { pool: 0, start: *start, clocks: *clocks }],
            ..Node::default()
        };
        Graph {
            pools: vec![Pool { name: "unit".into(), units }],
            agents: vec![Agent { name: "all".into(), registers: None }],
            nodes: uses.iter().map(node).collect(),
            ..Graph::default()
        }
    }

    #[test]
    fn rows_wrap_around_words_and_the_interval() {
        let g = graph(1, &[(0, 70), (0, 10), (0, 60)]);
        let mut t = Tables::new(&g, 140);
        let units = t.probe(&g, 0, 0, 100).unwrap();
        t.commit(&g, 0, 0, 100, &units);
        // Taken: 100 to 139 and 0 to 29.
        assert_eq!(t.probe(&g, 1, 0, 25), Err(Conflict { pool: Some(0), row: 29, later: 5, sooner: 10 }));
        assert_eq!(t.probe(&g, 1, 0, 95).unwrap_err().row, 104);
        assert_eq!(t.probe(&g, 2, 0, 35 + 140), Ok(vec![0]));
        let refused = t.probe(&g, 2, 0, 41).unwrap_err();
        assert_eq!((refused.later, refused.sooner), (60, 1));
        let owners = |node, time| t.conflicting(&g, node, 0, time);
        for (node, time, there) in
            [(1, 20, 1), (1, 30, 0), (1, 90, 0), (1, 95, 1), (1, 135, 1), (2, 130, 1), (2, 35, 0)]
        {
            assert_eq!(owners(node, time), vec![0; there], "{node} at {time}");
        }
        t.release(&g, 0, 0, 100, &units);
        assert!(t.probe(&g, 1, 0, 25).is_ok());
    }

    #[test]
    fn a_second_unit_takes_what_the_first_cannot() {
        let g = graph(2, &[(0, 4), (0, 4), (0, 4)]);
        let mut t = Tables::new(&g, 4);
        for (node, unit) in [(0, 0), (1, 1)] {
            let units = t.probe(&g, node, 0, 2).unwrap();
            assert_eq!(units, [unit]);
            t.commit(&g, node, 0, 2, &units);
        }
        assert!(t.probe(&g, 2, 0, 0).is_err());
        assert_eq!(t.conflicting(&g, 2, 0, 0), [0]);
    }

    #[test]
    fn units_are_assigned_in_every_way() {
        // If the second also got the first unit, which is free, nothing would remain for the last.
        let uses = [(0, 2), (3, 2), (2, 3), (5, 4)];
        assert_eq!(assign_units(&uses, 6, 2, &mut 100), Some(vec![0, 1, 0, 1]));
        // Two in each clock, but no unit can hold two of them.
        assert_eq!(assign_units(&[(0, 2), (1, 2), (2, 2)], 3, 2, &mut 100), None);
        assert_eq!(assign_units(&[(0, 2), (1, 2), (2, 2)], 3, 3, &mut 100), Some(vec![0, 1, 2]));
        let mut left = 1;
        assert_eq!((assign_units(&[(0, 2), (1, 2), (2, 2)], 3, 3, &mut left), left), (None, 0));
    }

    #[test]
    fn uses_of_one_node_do_not_share_a_clock() {
        let mut g = graph(1, &[(0, 2)]);
        g.nodes[0].footprint.push(Reservation { pool: 0, start: 4, clocks: 2 });
        assert!(Tables::new(&g, 4).probe(&g, 0, 0, 0).is_err());
        assert!(Tables::new(&g, 6).probe(&g, 0, 0, 0).is_ok());
    }
}
