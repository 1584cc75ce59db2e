//! The number of ring stages that a schedule needs.
//!
//! A ring is a queue of *stages* in shared memory, which operations fill with tiles and other operations read. A
//! [`RingTile`] occupies a stage from the time its load must start until its reader is known to be done. Tiles use
//! the stages in the order of their readers, across all tiles of an iteration and all iterations.
//!
//! ```text
//! clock            0       4       8       12      16          interval 4
//! iteration 0      load........... reader.
//! iteration 1              load........... reader.
//! iteration 2                      load........... reader.
//! iteration 3                              load...........     reuses the stage of iteration 0: three stages
//! ```
//!
//! A load need not start at its scheduled time, because unconstrained loads are scheduled early. It must start as
//! long before its reader as it takes, and not later than the loads after it, because tiles arrive in order.

use crate::{
    graph::{Edge, Graph},
    solve::Schedule,
};

/// A tile that passes through a stage of the ring in each iteration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RingTile {
    /// The operations that load or compute the tile.
    pub fills: Vec<usize>,
    /// The clocks from the start of its load to its arrival.
    pub lead: u32,
    pub reader: usize,
    /// The clocks from the start of the reader until it is done.
    pub done: u32,
    /// The clocks until the agent that fills the ring knows that the reader is done.
    pub back: u32,
}

/// The number of stages with which no tile has to wait for a free stage.
pub fn stages(graph: &Graph, schedule: &Schedule, tiles: &[RingTile]) -> u32 {
    let sequence = Sequence::of(schedule, tiles);
    let wide = i64::from(schedule.interval);
    let begin = |tile: &RingTile, iteration: i64| i64::from(schedule.times[tile.reader]) + wide * iteration;
    let starts = |position: i64| {
        let (tile, iteration) = sequence.at(position);
        begin(&tiles[tile], iteration) - i64::from(tiles[tile].lead)
    };
    // A later tile cannot need an earlier start if its reader is at least the longest lead time later.
    let longest = tiles.iter().map(|s| i64::from(s.lead)).max().unwrap_or(0);
    let ahead = sequence.len() * (longest / wide + 2);
    let must_start = |position: i64| (position..=position + ahead).map(starts).min().unwrap_or(0);
    // A reader is known to be done when its result is used, or when the next reader that accumulates into the same
    // registers has begun.
    let is_free = |position: i64| {
        let (tile, iteration) = sequence.at(position);
        let s = &tiles[tile];
        let uses = graph.edges.iter().filter(|e| e.from == s.reader && e.value);
        let first = uses.map(|e| i64::from(schedule.times[e.to]) + wide * (iteration + i64::from(e.distance))).min();
        let done = begin(s, iteration) + i64::from(s.done);
        first.map_or(done, |first| first.max(done)) + i64::from(s.back)
    };
    let enough = |stages: &i64| (0..sequence.len()).all(|position| is_free(position - stages) <= must_start(position));
    (1..).find(enough).and_then(|stages| u32::try_from(stages).ok()).unwrap_or(u32::MAX)
}

/// Returns the edges that restrict a schedule to a ring of `stages` stages, as long as readers keep their order in
/// `schedule`: from the reader of a stage to the operations that fill the stage next.
pub fn limit(schedule: &Schedule, tiles: &[RingTile], stages: u32) -> Vec<Edge> {
    let sequence = Sequence::of(schedule, tiles);
    let edges = (0..sequence.len()).flat_map(|position| {
        let ((tile, iteration), (before, its)) = (sequence.at(position), sequence.at(position - i64::from(stages)));
        // The reader may belong to a later iteration than the tile that waits for it. No edge can express that order.
        let distance = u32::try_from(iteration - its).ok();
        let edge = move |(fill, distance): (usize, u32)| {
            let (from, latency) = (tiles[before].reader, tiles[before].done);
            Edge { from, to: fill, latency, distance, crossing: tiles[before].back, value: false }
        };
        tiles[tile].fills.iter().filter_map(move |fill| Some((*fill, distance?))).map(edge)
    });
    edges.collect()
}

/// The tiles of all iterations, numbered in the order in which they use the ring.
struct Sequence {
    /// The tiles of an interval in the order of their readers, each with the number of iterations that it lags.
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
        Self { order: order.into_iter().map(|(_, tile, lag)| (tile, lag)).collect() }
    }

    fn len(&self) -> i64 {
        self.order.len() as i64
    }

    /// The tile and the iteration at a position.
    fn at(&self, position: i64) -> (usize, i64) {
        let (tile, lag) = self.order[position.rem_euclid(self.len()) as usize];
        (tile, position.div_euclid(self.len()) - lag)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Agent, Node, Pool, Reservation, Settings, overlap};

    /// Dots on one unit, each with its own load; loads and dots run on different agents.
    fn loop_of(dots: &[u32], copy: u32) -> Graph {
        let mut graph = Graph {
            pools: vec![Pool { name: "tensor".into(), units: 1 }],
            agents: ["producer", "consumers"].map(|n| Agent { name: n.into(), registers: None }).to_vec(),
            ..Graph::default()
        };
        for clocks in dots {
            let load = Node { name: "load".into(), issue: 1, asynchronous: true, agents: vec![0], ..Node::default() };
            let footprint = vec![Reservation { pool: 0, start: 0, clocks: *clocks }];
            let dot = Node { name: "dot".into(), footprint, issue: 1, agents: vec![1], ..load.clone() };
            let from = graph.nodes.len();
            graph.nodes.extend([load, dot]);
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
    fn a_dot_takes_the_stages_that_the_planner_predicts() {
        let mut graph = loop_of(&[1024], 1640);
        // Each dot accumulates into the result of the previous one, once the unit is free.
        graph.edges.push(Edge { from: 1, to: 1, latency: 1024, distance: 1, crossing: 0, value: true });
        let schedule = overlap(&graph, &Settings::default()).unwrap();
        assert_eq!(schedule.interval, 1024);
        assert_eq!(stages(&graph, &schedule, &tiles(&graph, 1640, 1188)), 3);
        // Without a lead time, two stages remain, because a dot is known to be done only when the next has begun.
        assert_eq!(stages(&graph, &schedule, &tiles(&graph, 0, 900)), 2);
        graph.edges.pop();
        assert_eq!(stages(&graph, &schedule, &tiles(&graph, 0, 900)), 1);
    }

    /// Two dots of an iteration alternate, and a ring that is too small lengthens the interval.
    #[test]
    fn a_small_ring_lengthens_the_interval() {
        let mut graph = loop_of(&[500, 500], 2000);
        let all = tiles(&graph, 2000, 700);
        let schedule = overlap(&graph, &Settings::default()).unwrap();
        assert_eq!(schedule.interval, 1000);
        let needed = stages(&graph, &schedule, &all);
        assert_eq!(needed, 6);
        graph.edges.extend(limit(&schedule, &all, 4));
        let slower = overlap(&graph, &Settings::default()).unwrap();
        slower.check(&graph).unwrap();
        // Four stages, each free again after 2000 + 700 + 50 clocks.
        assert_eq!(slower.interval, 1375);
        assert_eq!(stages(&graph, &slower, &all), 4);
    }

    /// A dot that runs an iteration later occupies its stage that much later.
    #[test]
    fn tiles_follow_the_order_of_their_readers() {
        let graph = loop_of(&[100, 100], 10);
        let all = tiles(&graph, 10, 120);
        let mut schedule = overlap(&graph, &Settings { max_interval: Some(1000), ..Settings::default() }).unwrap();
        (schedule.interval, schedule.times) = (400, vec![0, 10, 0, 510]);
        // In order: dot 0 of iteration i + 1 at 410, dot 1 of iteration i at 510.
        assert_eq!(Sequence::of(&schedule, &all).order, [(0, 0), (1, 1)]);
        assert_eq!(stages(&graph, &schedule, &all), 2);
        let edges: Vec<_> = limit(&schedule, &all, 1).iter().map(|e| (e.from, e.to, e.distance)).collect();
        // The second tile waits for dot 0 of a later iteration, which no edge can express.
        assert_eq!(edges, [(3, 0, 2)]);
    }
}
