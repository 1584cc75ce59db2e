//! What a launch leaves behind for the timing model: for each warp of the chosen blocks the instructions that it
//! executed, with what their cost depends on, and how much of the global memory that they name was touched before.

use super::program::Program;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// What is recorded of a launch.
#[derive(Clone, Debug, Default)]
pub struct RecordOptions {
    /// Clusters to run, by their number in the grid; the others are left out.
    pub clusters: Vec<u64>,
    /// Warp instructions of each warp after which its cluster is abandoned, where only the start matters.
    pub budget: Option<u64>,
    /// Keeps instructions, not only the footprint.
    pub instructions: bool,
    /// Bytes of a sector and of a line of the machine's caches.
    pub sector: u64,
    pub line: u64,
}

/// One executed warp instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    pub func: u32,
    pub pc: u32,
    pub lanes: u32,
    /// What the cost depends on, by instruction:
    /// shared memory: passes; global memory: sectors; barriers: number; mbarriers: shared offset; bulk copies: bytes;
    /// waits for groups: groups that may stay; tensor memory: columns that are allocated, or that a product writes.
    pub a: u32,
    /// Global memory: lines in the low half and sectors that are only partly written in the high half; local memory:
    /// bytes of a lane (and no sectors in `a`); barriers: threads (0 for all); mbarriers: count, bytes or parity; bulk
    /// copies: shared offset of the mbarrier, or `u32::MAX`; the tensor core's work on tensor memory: bytes that it
    /// reads from shared memory.
    pub b: u32,
    /// Global memory: the sectors that the block had not named before; bulk copies: such bytes; local memory: where the
    /// first lane's access begins.
    pub c: u32,
}

/// The events of a block.
#[derive(Clone, Debug, Default)]
pub struct BlockTrace {
    pub id: [u32; 3],
    pub warps: Vec<Vec<Event>>,
}

/// What the warps of a launch read from their clock, in the order in which they read it. Known are some of the blocks;
/// all others read what the first of them does.
#[derive(Clone, Debug, Default)]
pub struct ClockReads {
    pub blocks: Vec<BlockClocks>,
}

/// What the warps of a block read.
#[derive(Clone, Debug, Default)]
pub struct BlockClocks {
    /// The block's place in the grid.
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

/// How often instructions named lines of global memory that their block had not named before, and how often as the
/// first of all.
#[derive(Clone, Debug, Default)]
pub struct Footprint {
    seen: FxHashSet<u64>,
    seen_by_block: FxHashSet<(u32, u64)>,
    by_instruction: FxHashMap<(u32, u32), (u64, u64)>,
}

impl Footprint {
    /// An instruction of a block, by the block's number in the grid, names something of `weight` lines. Whether the
    /// block names it for the first time.
    pub fn touch(&mut self, block: u32, (func, pc): (u32, u32), what: u64, weight: u64) -> bool {
        let (all, first) = self.by_instruction.entry((func, pc)).or_default();
        let is_new = self.seen_by_block.insert((block, what));
        if is_new {
            *all += weight;
            *first += if self.seen.insert(what) { weight } else { 0 };
        }
        is_new
    }

    /// Of the lines that an instruction's block names for the first time, the share that no block had named before; 1
    /// for an instruction that was not seen.
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
    /// Static and dynamic shared memory of a block, in bytes.
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
