//! Looks for a shorter interval than the placement's, by the two exhaustive searches.
//!
//! [`disjunctive`] handles loops whose operations have fixed agents and pools of one unit. Its work does not depend on
//! the interval, and a failed search names the next interval that is possible. All other loops are searched by
//! [`exact`], row by row, in clocks that are coarse enough for a few rows.

use crate::{
    bounds,
    disjunctive::{self, Outcome},
    exact::{self, Search},
    graph::Graph,
    place::Placement,
    solve::{Effort, End},
};

/// The partial schedules that the search by rows may visit at one interval, and at all intervals of a loop, for a
/// loop of [`VISITED`] operations. Larger loops get fewer visits, by the cube of their size: the cost of a visit
/// grows with the square, and the search completes less often.
const VISITS: u64 = 50_000;
const ALL_VISITS: u64 = 2 * VISITS;
const VISITED: u64 = 8;
/// The most rows for which that search is tried, because it enumerates them.
const SEARCHED_ROWS: u32 = 64;

/// The work of the disjunctive search at all intervals of a loop, in updates of a path. A visit updates at most the
/// square of the number of operations.
const UPDATES: u64 = 100_000_000;
/// The part of the work at one interval. Half of the work goes to a proof.
const PARTS: u64 = 4;
/// After an interval at which the search proves nothing, the next interval is longer by this fraction.
const SKIPPED: u32 = 64;

/// The result of the searches.
pub struct Found {
    /// A schedule with a shorter interval, in clocks of this many clocks of the loop.
    pub better: Option<(Placement, u32)>,
    pub effort: Effort,
}

/// Searches the intervals below that of a placement, which is `found_at` rows of `row` clocks. `coarse` is the loop in
/// these rows.
pub fn search(graph: &Graph, coarse: &Graph, (row, found_at): (u32, u32)) -> Option<Found> {
    let clocks = u64::from(row) * u64::from(found_at);
    if disjunctive::applies(graph) {
        return Some(differences(graph, u32::try_from(clocks).unwrap_or(u32::MAX)));
    }
    (graph.nodes.len() <= exact::MAX_NODES).then(|| rows(graph, coarse, (row, clocks)))
}

fn differences(graph: &Graph, end: u32) -> Found {
    let size = graph.nodes.len().max(1) as u64;
    let all = UPDATES / (size * size);
    let mut left = all;
    let mut effort = Effort { visits: 0, end: End::Complete };
    let mut search = |interval: u32, given: u64| {
        let given = given.min(left);
        let mut visits = given;
        let outcome = disjunctive::search(graph, interval, &mut visits);
        left -= given - visits;
        (outcome, left)
    };
    let (mut interval, mut end) = (bounds::minimum(graph).clocks(), end);
    let mut better = None;
    // From the lower bound upwards, for a proof.
    while interval < end {
        let (outcome, left) = search(interval, all / PARTS);
        interval = match outcome {
            Outcome::Found(placement) => {
                (better, end) = (Some((placement, 1)), interval);
                break;
            }
            Outcome::None { next } => next.unwrap_or(end),
            Outcome::Registers => {
                effort.end = End::Registers;
                interval + (interval / SKIPPED).max(1)
            }
            Outcome::GaveUp => {
                effort.end = End::Budget;
                interval + (interval / SKIPPED).max(1)
            }
        };
        if left < all / 2 {
            break;
        }
    }
    // The rest of the work goes to bisection, for a shorter interval without a proof.
    while interval < end && end - interval > end / SKIPPED {
        effort.end = if effort.end == End::Complete { End::Budget } else { effort.end };
        let middle = interval.midpoint(end);
        match search(middle, all / (4 * PARTS)) {
            (Outcome::Found(placement), _) => (better, end) = (Some((placement, 1)), middle),
            (Outcome::None { next }, _) => interval = next.unwrap_or(end).max(middle + 1),
            (Outcome::Registers | Outcome::GaveUp, _) => interval = middle + 1,
        }
    }
    effort.visits = all - left;
    Found { better, effort }
}

fn rows(graph: &Graph, coarse: &Graph, (row, clocks): (u32, u64)) -> Found {
    let step = row.max(bounds::minimum(graph).clocks().div_ceil(SEARCHED_ROWS)).max(1);
    let small = if step > row { graph.in_units_of(step) } else { coarse.clone() };
    // Only intervals smaller than that of the placement.
    let end = clocks.div_ceil(step.into()) as u32;
    let fewer = (small.nodes.len() as u64).pow(3).div_ceil(VISITED.pow(3));
    let (mut complete, mut left, mut better) = (true, ALL_VISITS / fewer, None);
    for interval in bounds::minimum(&small).clocks()..end {
        let given = (VISITS / fewer).min(left);
        let mut visits = given;
        let found = exact::search(&small, interval, &mut visits);
        left -= given - visits;
        match found {
            Search::Found(p) if u64::from(interval) * u64::from(step) < clocks => {
                better = Some((p, step));
                break;
            }
            Search::Found(_) => break,
            Search::None => {}
            Search::GaveUp => complete = false,
        }
    }
    // A search in coarser clocks proves nothing about the fine ones.
    let end = match (complete, step) {
        (false, _) => End::Budget,
        (true, 1) => End::Complete,
        (true, _) => End::Coarse,
    };
    Found { better, effort: Effort { visits: ALL_VISITS / fewer - left, end } }
}
