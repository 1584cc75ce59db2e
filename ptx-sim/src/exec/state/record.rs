//! The record of a launch for the timing model: for each warp of the chosen CTAs the executed instructions with the
//! quantities that determine their cost, and the share of global memory accessed for the first time.

use super::program::Program;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// What to record of a launch.
#[derive(Clone, Debug, Default)]
pub struct RecordOptions {
    /// Clusters to run, by their number in the grid; the others are skipped.
    pub clusters: Vec<u64>,
    /// Warp instructions per warp after which a cluster is abandoned, if only the start of the kernel matters.
    pub budget: Option<u64>,
    /// Whether to record instructions; the footprint is always recorded.
    pub instructions: bool,
    /// The cluster that each one takes over by `clusterlaunchcontrol` after it. Other requests are refused.
    pub takeovers: FxHashMap<u64, u64>,
    /// Bytes of a sector and of a line of the machine's caches.
    pub sector: u64,
    pub line: u64,
}

/// Marks the shared offset of an mbarrier in another CTA of the cluster.
pub const REMOTE: u32 = 1 << 30;

/// One executed warp instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    pub func: u32,
    pub pc: u32,
    pub lanes: u32,
    /// The main cost parameter, by instruction. Shared memory: passes. Global memory: sectors. Barriers: number.
    /// mbarriers: shared offset, with [`REMOTE`]. Bulk copies: bytes. Waits for groups: groups that may remain in
    /// flight. Tensor memory: columns allocated, or columns that an MMA writes.
    pub a: u32,
    /// The second cost parameter. Global memory: lines in the low half, and partly written sectors in the high half.
    /// Local memory: bytes per lane, with 0 sectors in `a`. Barriers: threads (0 for all). mbarriers: count, bytes or
    /// parity. Bulk copies and cluster launch control: shared offset of the mbarrier, with
    /// [`REMOTE`], or `u32::MAX`. `tcgen05` MMAs and copies: bytes read from
    /// shared memory.
    pub b: u32,
    /// The third cost parameter. Global memory: sectors that the CTA accesses for the first time. Bulk copies: such
    /// bytes. Local memory: start of the first lane's access.
    pub c: u32,
}

/// The events of a CTA.
#[derive(Clone, Debug, Default)]
pub struct BlockTrace {
    pub id: [u32; 3],
    pub warps: Vec<Vec<Event>>,
}

/// The values that the warps of a launch read from their clocks, in program order. CTAs not listed read the values of
/// the first listed CTA.
#[derive(Clone, Debug, Default)]
pub struct ClockReads {
    pub blocks: Vec<BlockClocks>,
}

/// The values that the warps of a CTA read.
#[derive(Clone, Debug, Default)]
pub struct BlockClocks {
    /// The position of the CTA in the grid.
    pub id: [u32; 3],
    pub warps: Vec<Arc<[u64]>>,
}

impl ClockReads {
    /// The readings of a warp.
    pub(crate) fn of(&self, block: [u32; 3], warp: u32) -> Option<Arc<[u64]>> {
        let found = self.blocks.iter().find(|b| b.id == block).or_else(|| self.blocks.first())?;
        found.warps.get(warp as usize).cloned()
    }
}

/// For each instruction, the number of global-memory lines that its CTA accessed for the first time, and how many of
/// these no CTA had accessed before.
#[derive(Clone, Debug, Default)]
pub struct Footprint {
    seen: FxHashSet<u64>,
    seen_by_block: FxHashSet<(u32, u64)>,
    by_instruction: FxHashMap<(u32, u32), (u64, u64)>,
    by_block: FxHashMap<u32, u64>,
}

impl Footprint {
    /// Records that an instruction of a CTA accesses an object of `weight` lines. Returns whether it is the first
    /// access by the CTA. `block` is the number of the CTA in the grid.
    pub fn touch(&mut self, block: u32, (func, pc): (u32, u32), what: u64, weight: u64) -> bool {
        let (all, first) = self.by_instruction.entry((func, pc)).or_default();
        let is_new = self.seen_by_block.insert((block, what));
        if is_new {
            *all += weight;
            *self.by_block.entry(block).or_default() += weight;
            *first += if self.seen.insert(what) { weight } else { 0 };
        }
        is_new
    }

    /// The number of lines that a CTA accessed.
    pub fn lines(&self, block: u32) -> u64 {
        self.by_block.get(&block).copied().unwrap_or(0)
    }

    /// The share of lines no other CTA had accessed before, among the lines that the instruction's CTA accessed for the
    /// first time; 1 for an instruction that was not recorded.
    pub fn first_share(&self, func: u32, pc: u32) -> f64 {
        match self.by_instruction.get(&(func, pc)) {
            Some((all, first)) if *all > 0 => *first as f64 / *all as f64,
            _ => 1.0,
        }
    }
}

/// The record of a launch.
#[derive(Clone, Debug)]
pub struct Recording {
    pub(crate) program: Arc<Program>,
    pub blocks: Vec<BlockTrace>,
    pub footprint: Footprint,
    /// Static and dynamic shared memory of a CTA, in bytes.
    pub shared_bytes: u64,
    pub threads: u32,
    pub blocks_per_cluster: u32,
    pub grid_blocks: u64,
    pub cluster_grid: [u32; 3],
    pub(crate) entry: u32,
}

/// The recorder of a running launch.
#[derive(Debug)]
pub(crate) struct Recorder {
    pub options: RecordOptions,
    pub blocks: Vec<BlockTrace>,
    pub footprint: Footprint,
}

impl Recorder {
    pub fn new(options: RecordOptions) -> Recorder {
        Recorder { options, blocks: Vec::new(), footprint: Footprint::default() }
    }
}
