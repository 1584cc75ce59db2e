//! Reservation tables: who keeps which unit busy, in each clock of the interval.

use crate::graph::{Graph, Reservation};

/// One row: a unit, or an agent, clock by clock.
#[derive(Clone, Debug)]
struct Row {
    interval: u32,
    /// A bit for each clock that is taken.
    taken: Vec<u64>,
    /// By whom, in the order of their starts: much fewer than there are clocks.
    spans: Vec<Span>,
}

/// Clocks that follow each other, modulo the interval, and have one owner.
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

    /// How far behind `clock` the first of the next `clocks` clocks is that is taken.
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

    /// How far behind `clock` the last of them is.
    fn last_taken(&self, clock: u32, clocks: u32) -> Option<u32> {
        let mut left = clocks;
        while left > 0 {
            // From the end, a word at a time.
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

    /// How many spans start before a clock.
    fn starting_before(&self, clock: u32) -> usize {
        self.spans.partition_point(|s| s.start < clock)
    }

    /// Clocks of a span are all free or all taken.
    fn flip(&mut self, span: Span) {
        let (mut at, mut left) = (span.start, span.clocks);
        while left > 0 {
            let bits = (64 - at % 64).min(self.interval - at).min(left);
            self.taken[at as usize / 64] ^= (u64::MAX >> (64 - bits)) << (at % 64);
            at = (at + bits) % self.interval;
            left -= bits;
        }
    }

    /// Who has some of the next `clocks` clocks; one that has several spans of them comes several times.
    fn owners(&self, clock: u32, clocks: u32) -> impl Iterator<Item = usize> {
        let end = clock + clocks;
        let (from, to) = (self.starting_before(clock), self.starting_before(end));
        let around = &self.spans[..self.starting_before(end.saturating_sub(self.interval)).min(from)];
        // The one before them may reach into them.
        let before = self.spans[..from].last().or(self.spans[to..].last());
        let before = before.filter(|s| meet(self.interval, (s.start, s.clocks), (clock, clocks)));
        before.into_iter().chain(&self.spans[from..to]).chain(around).map(|s| s.owner)
    }
}

/// Whether two spans of clocks, each with its start within the interval and its length, meet modulo the interval.
fn meet(interval: u32, a: (u32, u32), b: (u32, u32)) -> bool {
    let behind = |x: u32, y: u32| if x < y { x + interval - y } else { x - y };
    a.1 > 0 && b.1 > 0 && (behind(b.0, a.0) < a.1 || behind(a.0, b.0) < b.1)
}

/// A refused reservation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The pool without a free unit; none: the agent is busy.
    pub pool: Option<usize>,
    /// Clock of the interval.
    pub row: u32,
    /// By how many clocks more the node may begin at the earliest, as far as this unit says, and by how many fewer at
    /// the latest.
    pub later: u32,
    pub sooner: u32,
}

/// The units that a node got, in the order of its footprint.
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

    /// Whether a node could begin at `time`: all its rows are probed, and nothing is reserved.
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

    /// Whether two uses of one node meet.
    fn uses_meet(&self, a: &Reservation, b: &Reservation) -> bool {
        meet(self.interval, (a.start % self.interval, a.clocks), (b.start % self.interval, b.clocks))
    }

    /// There is no place, whatever the time.
    fn full(&self, pool: Option<usize>, time: i64) -> Conflict {
        Conflict { pool, row: self.clock(time), later: self.interval, sooner: self.interval }
    }

    /// A unit for one use, beside the earlier ones of the node, which are not in the table yet.
    fn unit(&self, earlier: &[Reservation], units: &[usize], u: Reservation, time: i64) -> Result<usize, Conflict> {
        if u.clocks == 0 {
            // A part of an earlier one.
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

    /// Reserves what [`Tables::probe`] found.
    pub fn commit(&mut self, graph: &Graph, node: usize, agent: usize, time: i64, units: &[usize]) {
        self.for_each_span(graph, node, agent, time, units, Row::reserve);
    }

    /// Gives it back.
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

    /// The nodes that must go if `node` is to begin at `time`: those on its agent, and of each pool those on the unit
    /// on which least of them are. One may come several times.
    pub fn in_the_way(&self, graph: &Graph, node: usize, agent: usize, time: i64) -> Vec<usize> {
        let n = &graph.nodes[node];
        let mut all: Vec<usize> = self.agents[agent].owners(self.clock(time), n.issue).collect();
        // Each use takes a unit of its own; two uses of one node may share one only if they do not meet.
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

/// A unit of a pool for each use, given as its first clock and its clocks, so that no unit has two at a time; none if
/// there is no way, or if `left` tries are not enough to find one.
pub fn hand_out(uses: &[(u32, u32)], interval: u32, units: u32, left: &mut u64) -> Option<Vec<usize>> {
    let mut busy = vec![0; interval as usize];
    for (start, clocks) in uses {
        if *clocks > interval {
            return None;
        }
        (*start..start + clocks).for_each(|c| busy[(c % interval) as usize] += 1);
    }
    // Most of what cannot be is seen by counting.
    if busy.iter().any(|n| *n > units) {
        return None;
    }
    let mut rows = vec![Row::new(interval); units as usize];
    let mut handed = vec![0; uses.len()];
    hand_out_rest(uses, &mut rows, &mut handed, left).then_some(handed)
}

fn hand_out_rest(uses: &[(u32, u32)], rows: &mut [Row], handed: &mut [usize], left: &mut u64) -> bool {
    let Some(((start, clocks), rest)) = uses.split_first() else { return true };
    for unit in 0..rows.len() {
        // Of units that are busy in the same clocks one stands for all.
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
        handed[0] = unit;
        if hand_out_rest(rest, rows, &mut handed[1..], left) {
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
        let owners = |node, time| t.in_the_way(&g, node, 0, time);
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
        assert_eq!(t.in_the_way(&g, 2, 0, 0), [0]);
    }

    #[test]
    fn units_are_handed_out_in_every_way() {
        // If the second gets the first unit too, which is free, nothing is left for the last.
        let uses = [(0, 2), (3, 2), (2, 3), (5, 4)];
        assert_eq!(hand_out(&uses, 6, 2, &mut 100), Some(vec![0, 1, 0, 1]));
        // Two in each clock, and yet no unit holds two of them.
        assert_eq!(hand_out(&[(0, 2), (1, 2), (2, 2)], 3, 2, &mut 100), None);
        assert_eq!(hand_out(&[(0, 2), (1, 2), (2, 2)], 3, 3, &mut 100), Some(vec![0, 1, 2]));
        let mut left = 1;
        assert_eq!((hand_out(&[(0, 2), (1, 2), (2, 2)], 3, 3, &mut left), left), (None, 0));
    }

    #[test]
    fn uses_of_one_node_do_not_share_a_clock() {
        let mut g = graph(1, &[(0, 2)]);
        g.nodes[0].footprint.push(Reservation { pool: 0, start: 4, clocks: 2 });
        assert!(Tables::new(&g, 4).probe(&g, 0, 0, 0).is_err());
        assert!(Tables::new(&g, 6).probe(&g, 0, 0, 0).is_ok());
    }
}
