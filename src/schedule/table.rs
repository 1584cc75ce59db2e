//! Reservation tables: who keeps which unit busy, in each clock of the interval.

use crate::graph::{Graph, Use};

/// Nobody.
const FREE: u32 = u32::MAX;

/// One row: a unit, or an agent, clock by clock.
#[derive(Clone, Debug)]
struct Row {
    /// A bit for each clock that is taken.
    taken: Vec<u64>,
    /// By whom.
    owner: Vec<u32>,
}

impl Row {
    fn new(interval: u32) -> Self {
        Self { taken: vec![0; (interval as usize).div_ceil(64)], owner: vec![FREE; interval as usize] }
    }

    /// How far behind `clock` the last of the next `clocks` clocks is that is taken.
    fn last_taken(&self, clock: u32, clocks: u32) -> Option<u32> {
        let interval = self.owner.len() as u32;
        let mut left = clocks;
        while left > 0 {
            // From the end, a word at a time.
            let at = (clock + left - 1) % interval;
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

    fn set(&mut self, clock: u32, clocks: u32, owner: u32) {
        let interval = self.owner.len() as u32;
        for at in (clock..clock + clocks).map(|c| (c % interval) as usize) {
            self.owner[at] = owner;
            let bit = 1 << (at % 64);
            if owner == FREE { self.taken[at / 64] &= !bit } else { self.taken[at / 64] |= bit }
        }
    }
}

/// A refused reservation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The pool without a free unit; none: the agent is busy.
    pub pool: Option<usize>,
    /// Clock of the interval.
    pub row: u32,
    /// Clocks after which the place asked for may be free.
    pub skip: u32,
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
            return Err(Conflict { pool: None, row: self.clock(time), skip: self.interval });
        }
        if let Some(last) = self.agents[agent].last_taken(self.clock(time), n.issue) {
            return Err(Conflict { pool: None, row: self.clock(time + i64::from(last)), skip: last + 1 });
        }
        let mut units: Units = vec![];
        for (i, u) in n.footprint.iter().enumerate() {
            units.push(self.unit(&n.footprint[..i], &units, *u, time)?);
        }
        Ok(units)
    }

    /// A unit for one use, beside the earlier ones of the node, which are not in the table yet.
    fn unit(&self, earlier: &[Use], units: &[usize], u: Use, time: i64) -> Result<usize, Conflict> {
        if u.clocks == 0 {
            // A part of an earlier one.
            let same = earlier.iter().zip(units).rev().find(|(e, _)| e.pool == u.pool);
            return Ok(same.map_or(0, |(_, unit)| *unit));
        }
        let start = self.clock(time + i64::from(u.start));
        let full = Conflict { pool: Some(u.pool), row: start, skip: self.interval };
        if u.clocks > self.interval {
            return Err(full);
        }
        let mut least = full;
        for (unit, row) in self.pools[u.pool].iter().enumerate() {
            let own = earlier.iter().zip(units).any(|(e, at)| {
                e.pool == u.pool && *at == unit && self.overlap((e.start, e.clocks), (u.start, u.clocks))
            });
            match row.last_taken(start, u.clocks) {
                None if !own => return Ok(unit),
                None => {}
                Some(last) if last + 1 < least.skip => {
                    let row = self.clock(time + i64::from(u.start + last));
                    least = Conflict { pool: Some(u.pool), row, skip: last + 1 };
                }
                Some(_) => {}
            }
        }
        Err(least)
    }

    /// Whether two spans of clocks meet, modulo the interval.
    fn overlap(&self, a: (u32, u32), b: (u32, u32)) -> bool {
        let behind = |x: u32, y: u32| (i64::from(x) - i64::from(y)).rem_euclid(self.interval.into()) as u32;
        a.1 > 0 && b.1 > 0 && (behind(b.0, a.0) < a.1 || behind(a.0, b.0) < b.1)
    }

    /// Reserves what [`Tables::probe`] found.
    pub fn commit(&mut self, graph: &Graph, node: usize, agent: usize, time: i64, units: &[usize]) {
        self.set(graph, node, agent, time, units, node as u32);
    }

    /// Gives it back.
    pub fn release(&mut self, graph: &Graph, node: usize, agent: usize, time: i64, units: &[usize]) {
        self.set(graph, node, agent, time, units, FREE);
    }

    fn set(&mut self, graph: &Graph, node: usize, agent: usize, time: i64, units: &[usize], owner: u32) {
        let n = &graph.nodes[node];
        let clock = self.clock(time);
        self.agents[agent].set(clock, n.issue, owner);
        for (u, unit) in n.footprint.iter().zip(units) {
            let clock = self.clock(time + i64::from(u.start));
            self.pools[u.pool][*unit].set(clock, u.clocks, owner);
        }
    }

    /// The nodes that must go if `node` is to begin at `time`: those on its agent, and of each pool those on the unit
    /// on which least of them are.
    pub fn in_the_way(&self, graph: &Graph, node: usize, agent: usize, time: i64) -> Vec<usize> {
        let n = &graph.nodes[node];
        let on = |row: &Row, start: u32, clocks: u32| {
            let mut found: Vec<usize> = vec![];
            for c in start..start + clocks.min(self.interval) {
                let owner = row.owner[self.clock(time + i64::from(c)) as usize];
                if owner != FREE && !found.contains(&(owner as usize)) {
                    found.push(owner as usize);
                }
            }
            found
        };
        let mut all = on(&self.agents[agent], 0, n.issue);
        // Each use takes a unit of its own; two uses of one node may share one only if they do not meet.
        let mut chosen: Vec<(Use, usize)> = vec![];
        for u in &n.footprint {
            let rows = self.pools[u.pool].iter().enumerate();
            let open = rows.filter(|(i, _)| {
                !chosen.iter().any(|(e, at)| {
                    e.pool == u.pool && at == i && self.overlap((e.start, e.clocks), (u.start, u.clocks))
                })
            });
            let least = open.map(|(i, row)| (i, on(row, u.start, u.clocks))).min_by_key(|(_, owners)| owners.len());
            if let Some((i, owners)) = least {
                chosen.push((*u, i));
                all.extend(owners);
            }
        }
        all.sort_unstable();
        all.dedup();
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
        rows[unit].set(*start, *clocks, 0);
        handed[0] = unit;
        if hand_out_rest(rest, rows, &mut handed[1..], left) {
            return true;
        }
        rows[unit].set(*start, *clocks, FREE);
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{Agent, Node, Pool};

    fn graph(units: u32, uses: &[(u32, u32)]) -> Graph {
        let node = |(start, clocks): &(u32, u32)| Node {
            footprint: vec![Use { pool: 0, start: *start, clocks: *clocks }],
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
        assert_eq!(t.probe(&g, 1, 0, 25), Err(Conflict { pool: Some(0), row: 29, skip: 5 }));
        assert_eq!(t.probe(&g, 1, 0, 95).unwrap_err().row, 104);
        assert_eq!(t.probe(&g, 2, 0, 35 + 140), Ok(vec![0]));
        assert_eq!(t.probe(&g, 2, 0, 41).unwrap_err().skip, 60);
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
        g.nodes[0].footprint.push(Use { pool: 0, start: 4, clocks: 2 });
        assert!(Tables::new(&g, 4).probe(&g, 0, 0, 0).is_err());
        assert!(Tables::new(&g, 6).probe(&g, 0, 0, 0).is_ok());
    }
}
