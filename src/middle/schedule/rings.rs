//! Rings of stages: how many a schedule takes.
//!
//! Operations that bring tiles and those that read them take turns with the *stages* of a ring. A [`RingTile`] is one turn:
//! it has a stage from when the tile must begin to come until its reader is known to be done with it. Sequence follow each
//! other as their readers do, those of several tiles and of several iterations.
//!
//! ```text
//! clock            0       4       8       12      16          interval 4
//! iteration 0      comes.......... reads..
//! iteration 1              comes.......... reads..
//! iteration 2                      comes.......... reads..
//! iteration 3                              comes..........     in the stage of iteration 0: three stages
//! ```
//!
//! A tile need not begin to come when the schedule has it begin: what nothing holds back is placed early. It must begin
//! as long before its reader as it takes, and not later than the tiles behind it, since tiles come in order.

use crate::{
    graph::{Edge, Graph},
    solve::Schedule,
};

/// A turn with a stage in each iteration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RingTile {
    /// Operations that bring the tile.
    pub fills: Vec<usize>,
    /// Clocks that it takes to come.
    pub lead: u32,
    pub reader: usize,
    /// Clocks from the beginning of the reader until it is done.
    pub done: u32,
    /// Clocks until those who bring tiles know.
    pub back: u32,
}

/// Stages that the tiles of a ring take, if none of them is to wait for one.
pub fn stages(graph: &Graph, schedule: &Schedule, tiles: &[RingTile]) -> u32 {
    let turns = Sequence::of(schedule, tiles);
    let wide = i64::from(schedule.interval);
    let begin = |tile: &RingTile, iteration: i64| i64::from(schedule.times[tile.reader]) + wide * iteration;
    let comes = |turn: i64| {
        let (tile, iteration) = turns.at(turn);
        begin(&tiles[tile], iteration) - i64::from(tiles[tile].lead)
    };
    // A later turn cannot have to come earlier if it begins that much later.
    let longest = tiles.iter().map(|s| i64::from(s.lead)).max().unwrap_or(0);
    let behind = turns.number() * (longest / wide + 2);
    let must_come = |turn: i64| (turn..=turn + behind).map(comes).min().unwrap_or(0);
    // A reader is known to be done when its result is used, or the next reader that adds to it has begun.
    let is_free = |turn: i64| {
        let (tile, iteration) = turns.at(turn);
        let s = &tiles[tile];
        let uses = graph.edges.iter().filter(|e| e.from == s.reader && e.value);
        let first = uses.map(|e| i64::from(schedule.times[e.to]) + wide * (iteration + i64::from(e.distance))).min();
        let done = begin(s, iteration) + i64::from(s.done);
        first.map_or(done, |first| first.max(done)) + i64::from(s.back)
    };
    let enough = |stages: &i64| (0..turns.number()).all(|turn| is_free(turn - stages) <= must_come(turn));
    (1..).find(enough).and_then(|stages| u32::try_from(stages).ok()).unwrap_or(u32::MAX)
}

/// What holds a schedule to a ring of so many stages, as long as readers keep the order that they have in `schedule`:
/// edges from the reader of a stage to what brings the next tile there.
pub fn limit(schedule: &Schedule, tiles: &[RingTile], stages: u32) -> Vec<Edge> {
    let turns = Sequence::of(schedule, tiles);
    let edges = (0..turns.number()).flat_map(|turn| {
        let ((tile, iteration), (before, its)) = (turns.at(turn), turns.at(turn - i64::from(stages)));
        // Readers of a later iteration may come first; such an order cannot be asked for.
        let distance = u32::try_from(iteration - its).ok();
        let edge = move |(fill, distance): (usize, u32)| {
            let (from, latency) = (tiles[before].reader, tiles[before].done);
            Edge { from, to: fill, latency, distance, crossing: tiles[before].back, value: false }
        };
        tiles[tile].fills.iter().filter_map(move |fill| Some((*fill, distance?))).map(edge)
    });
    edges.collect()
}

/// The turns of a ring, numbered in their order.
struct Sequence {
    /// The tiles of an interval in the order of their readers, with the iterations that each is behind.
    order: Vec<(usize, i64)>,
}

impl Sequence {
    fn of(schedule: &Schedule, tiles: &[RingTile]) -> Self {
        let time = |s: &RingTile| i64::from(schedule.times[s.reader]);
        let wide = i64::from(schedule.interval);
        let first = tiles.iter().map(time).min().unwrap_or(0);
        let mut order: Vec<(i64, usize, i64)> = tiles
            .iter()
            .enumerate()
            .map(|(i, s)| ((time(s) - first).rem_euclid(wide), i, (time(s) - first).div_euclid(wide)))
            .collect();
        order.sort_unstable();
        Self { order: order.into_iter().map(|(_, tile, behind)| (tile, behind)).collect() }
    }

    fn number(&self) -> i64 {
        self.order.len() as i64
    }

    /// The tile and the iteration of a turn.
    fn at(&self, turn: i64) -> (usize, i64) {
        let (tile, behind) = self.order[turn.rem_euclid(self.number()) as usize];
        (tile, turn.div_euclid(self.number()) - behind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Agent, Node, Pool, Reservation, Settings, overlap};

    /// Products on one unit, each with a copy of its own, by agents of their own.
    fn loop_of(products: &[u32], copy: u32) -> Graph {
        let mut graph = Graph {
            pools: vec![Pool { name: "tensor".into(), units: 1 }],
            agents: ["producer", "consumers"].map(|n| Agent { name: n.into(), registers: None }).to_vec(),
            ..Graph::default()
        };
        for clocks in products {
            let load = Node { name: "load".into(), issue: 1, asynchronous: true, agents: vec![0], ..Node::default() };
            let footprint = vec![Reservation { pool: 0, start: 0, clocks: *clocks }];
            let product = Node { name: "product".into(), footprint, issue: 1, agents: vec![1], ..load.clone() };
            let from = graph.nodes.len();
            graph.nodes.extend([load, product]);
            graph.edges.push(Edge { from, to: from + 1, latency: copy, distance: 0, crossing: 0, value: true });
        }
        graph
    }

    fn tiles(graph: &Graph, lead: u32, done: u32) -> Vec<RingTile> {
        let of = |i| RingTile { fills: vec![i], lead, reader: i + 1, done, back: 50 };
        (0..graph.nodes.len()).step_by(2).map(of).collect()
    }

    /// The worked example of `tile_plan`: 128x256x64 of bf16, 1024 clocks each, which take three stages.
    #[test]
    fn a_product_takes_what_the_planner_says() {
        let mut graph = loop_of(&[1024], 1640);
        // The sums of one are the sums of the next, when the unit is free.
        graph.edges.push(Edge { from: 1, to: 1, latency: 1024, distance: 1, crossing: 0, value: true });
        let schedule = overlap(&graph, &Settings::default()).unwrap();
        assert_eq!(schedule.interval, 1024);
        assert_eq!(stages(&graph, &schedule, &tiles(&graph, 1640, 1188)), 3);
        // What comes at once leaves two, since a product is known to be done when the next has begun.
        assert_eq!(stages(&graph, &schedule, &tiles(&graph, 0, 900)), 2);
        graph.edges.pop();
        assert_eq!(stages(&graph, &schedule, &tiles(&graph, 0, 900)), 1);
    }

    /// Two products of an iteration take turns, and a ring that is too small makes the interval longer.
    #[test]
    fn a_small_ring_holds_a_schedule_back() {
        let mut graph = loop_of(&[500, 500], 2000);
        let all = tiles(&graph, 2000, 700);
        let schedule = overlap(&graph, &Settings::default()).unwrap();
        assert_eq!(schedule.interval, 1000);
        let needed = stages(&graph, &schedule, &all);
        assert_eq!(needed, 6);
        graph.edges.extend(limit(&schedule, &all, 4));
        let slower = overlap(&graph, &Settings::default()).unwrap();
        slower.check(&graph).unwrap();
        // Four stages, of which each comes back after 2000 + 700 + 50 clocks.
        assert_eq!(slower.interval, 1375);
        assert_eq!(stages(&graph, &slower, &all), 4);
    }

    /// A product that is done an iteration later has its stage so much later.
    #[test]
    fn turns_are_those_of_the_readers() {
        let graph = loop_of(&[100, 100], 10);
        let all = tiles(&graph, 10, 120);
        let mut schedule = overlap(&graph, &Settings { max_interval: Some(1000), ..Settings::default() }).unwrap();
        (schedule.interval, schedule.times) = (400, vec![0, 10, 0, 510]);
        // In order: product 0 of iteration i + 1 at 410, product 1 of iteration i at 510.
        assert_eq!(Sequence::of(&schedule, &all).order, [(0, 0), (1, 1)]);
        assert_eq!(stages(&graph, &schedule, &all), 2);
        let edges: Vec<_> = limit(&schedule, &all, 1).iter().map(|e| (e.from, e.to, e.distance)).collect();
        // The second turn waits for product 0 of a later iteration, which no edge can say.
        assert_eq!(edges, [(3, 0, 2)]);
    }
}
