//! Which clusters of a grid are recorded, and which of them take over which others.

use crate::exec::state::record::{BlockTrace, RecordOptions, Recording};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Number of clusters to record, spread over the grid.
pub const SAMPLES: u64 = 4;
/// A cluster that executes fewer instructions than the longest one by this factor, or accesses less memory, has no
/// work.
const IDLE: usize = 20;
/// Number of warp instructions per warp of which the accesses show whether a cluster has work.
const START: u64 = 300;
/// Number of rounds up to which clusters without work are searched. In longer launches the others even out.
const FEW_ROUNDS: u64 = 4;

/// How running clusters take over clusters that have not started.
pub struct Takeovers {
    /// The cluster that each one takes over after it.
    pub next: FxHashMap<u64, u64>,
    /// The started cluster that runs the most others with work.
    pub longest: u64,
}

/// A started cluster, in the order in which clusters take over others.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Running {
    /// The time at which it is done.
    done: u64,
    /// Its place among clusters of this time.
    place: u64,
    /// The number of the cluster that it runs.
    last: u64,
    /// The number of the cluster with which it started.
    first: u64,
    /// The number of clusters that it has run.
    rounds: u64,
}

impl Takeovers {
    /// Of `total` clusters, the first `started` take over the others. `all` records the start of all clusters, which
    /// shows which ones are idle; a launch of many rounds does not need it.
    pub fn of<E>((total, started): (u64, u64), all: impl FnOnce() -> Result<Recording, E>) -> Result<Takeovers, E> {
        let few = started < total && total <= FEW_ROUNDS * started;
        let idle = if few { idle(&all()?) } else { FxHashSet::default() };
        Ok(Self::in_order(total, started, &idle))
    }

    /// Clusters are taken over in the order of the grid, by the cluster that is done first. All take the same time,
    /// except the `idle` ones, which take none. Of clusters that are done at the same time, each is one place later in
    /// each round. Otherwise a cluster would run equal rows of tiles in every round if the number of rows divides that
    /// of started clusters, which causal attention with rows of different lengths does not do.
    fn in_order(total: u64, started: u64, idle: &FxHashSet<u64>) -> Takeovers {
        let time = |cluster: u64| u64::from(!idle.contains(&cluster));
        let place = |first: u64, rounds: u64| (first + rounds) % started.max(1);
        let start = |first: u64| Running { done: time(first), place: place(first, 1), last: first, first, rounds: 1 };
        let mut running: BinaryHeap<Reverse<Running>> = (0..started).map(start).map(Reverse).collect();
        let mut next = FxHashMap::default();
        for cluster in started..total {
            let Some(Reverse(Running { done, last, first, rounds, .. })) = running.pop() else { break };
            next.insert(last, cluster);
            let (done, rounds) = (done + time(cluster), rounds + 1);
            running.push(Reverse(Running { done, place: place(first, rounds), last: cluster, first, rounds }));
        }
        let longest = running.into_iter().map(|Reverse(r)| (r.done, Reverse(r.first))).max();
        Takeovers { next, longest: longest.map_or(0, |(_, Reverse(first))| first) }
    }
}

/// The CTAs that an SM runs, `length` of the recorded ones. A launch of few rounds runs them in the order of the grid.
pub fn queue<B>(blocks: &[B], length: usize, one_round: bool) -> impl Iterator<Item = &B> {
    let step = if one_round { 1.0 } else { (blocks.len() as f64 / length.max(1) as f64).max(1.0) };
    (0..length).map(move |i| &blocks[(i as f64 * step) as usize % blocks.len()])
}

/// Options that record the start of all clusters.
pub fn start(total: u64, grain: &RecordOptions) -> RecordOptions {
    start_of((0..total).collect(), grain)
}

/// Options that record the start of some clusters.
pub fn start_of(clusters: Vec<u64>, grain: &RecordOptions) -> RecordOptions {
    RecordOptions { clusters, budget: Some(START), instructions: true, ..grain.clone() }
}

/// Whether only the first of the recorded clusters has work.
pub fn later_are_idle(recording: &Recording) -> bool {
    let clusters = recording.blocks.chunks(recording.blocks_per_cluster.max(1) as usize).count() as u64;
    clusters > 1 && idle(recording) == (1..clusters).collect()
}

/// Sorts the CTAs of a launch of one round, which ends with the longest.
pub fn longest_first(blocks: &mut [BlockTrace], one_round: bool) {
    if one_round {
        blocks.sort_by_key(|b| Reverse(b.warps.iter().map(Vec::len).sum::<usize>()));
    }
}

/// The clusters of a launch that hardly access memory, in a recording of the start of all of them.
fn idle(recording: &Recording) -> FxHashSet<u64> {
    let grid = |i: usize| recording.blocks.iter().map(|b| b.id[i] + 1).max().unwrap_or(1);
    let grid: [u32; 3] = std::array::from_fn(grid);
    let number = |[x, y, z]: [u32; 3]| (z * grid[1] + y) * grid[0] + x;
    let lines = |b: &BlockTrace| recording.footprint.lines(number(b.id));
    let clusters = recording.blocks.chunks(recording.blocks_per_cluster.max(1) as usize);
    let all: Vec<u64> = clusters.map(|cluster| cluster.iter().map(lines).sum()).collect();
    let most = all.iter().copied().max().unwrap_or(0);
    (0..).zip(all).filter(|(_, lines)| lines * (IDLE as u64) < most).map(|(cluster, _)| cluster).collect()
}

/// Selects the clusters to record. They are spread over each dimension, so that work that depends on the position is
/// sampled evenly. For a launch of one round the first and last clusters are added: if CTAs take tiles round-robin,
/// these have the most and the least work. If CTAs take over clusters, the one with the most work is added.
pub fn samples(grid: [u32; 3], one_round: bool, takeovers: Option<&Takeovers>) -> Vec<u64> {
    let [x, y, z] = grid.map(u64::from);
    let total = x * y * z;
    if total <= SAMPLES {
        return (0..total).collect();
    }
    // The middle of each of SAMPLES equal parts. A middle between two clusters is rounded down and up alternately, so
    // that the mean of the samples is the middle of the grid. The other dimensions are rotated by different steps.
    let spread = |n: u64, i: u64| {
        let middle = (2 * i + 1) * n;
        (if i.is_multiple_of(2) { (middle - 1) / (2 * SAMPLES) } else { middle / (2 * SAMPLES) }).min(n - 1)
    };
    let at = |i: u64| spread(x, i) + x * (spread(y, (i + 1) % SAMPLES) + y * spread(z, (i + 2) % SAMPLES));
    let mut found: Vec<u64> = (0..SAMPLES).map(at).collect();
    if one_round {
        found.extend([0, total - 1]);
    }
    if let Some(takeovers) = takeovers {
        found.push(takeovers.longest);
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// Removes the clusters of `size` CTAs that end at once, as they have no work, from a sample. Returns the share of the
/// others.
pub fn keep_busy(blocks: &mut Vec<BlockTrace>, size: usize) -> f64 {
    let events = |cluster: &[BlockTrace]| cluster.iter().flat_map(|b| &b.warps).map(Vec::len).sum::<usize>();
    let most = blocks.chunks(size).map(events).max().unwrap_or(0);
    let busy: Vec<bool> = blocks.chunks(size).map(|cluster| events(cluster) * IDLE >= most).collect();
    let mut numbers = 0..;
    blocks.retain(|_| numbers.next().is_some_and(|n: usize| busy[n / size]));
    busy.iter().filter(|busy| **busy).count().max(1) as f64 / busy.len().max(1) as f64
}
