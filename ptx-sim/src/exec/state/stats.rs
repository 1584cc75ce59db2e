//! Counters of a launch.

use super::program::Class;
use crate::ir::Space;

/// Counters of a launch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    warp_instructions: [u64; Class::ALL.len()],
    thread_instructions: [u64; Class::ALL.len()],
    /// Bytes loaded and stored, by space in the order of [`Stats::SPACES`].
    bytes_read: [u64; 5],
    bytes_written: [u64; 5],
    /// Passes of shared-memory accesses beyond the first; counted only with
    /// [`RunOptions::stats`](crate::RunOptions::stats).
    pub bank_conflicts: u64,
    /// Arrivals of warps at CTA barriers.
    pub barrier_arrivals: u64,
    /// Waits on mbarriers whose phase was not complete.
    pub mbarrier_waits: u64,
    pub divergent_branches: u64,
    /// CTAs that finished.
    pub ctas: u64,
    /// Bytes moved by asynchronous copies.
    pub async_bytes: u64,
    /// Multiply-adds of matrix instructions.
    pub tensor_macs: u64,
}

impl Stats {
    /// Names of the spaces for which bytes are counted.
    pub const SPACES: [&'static str; 5] = ["global", "shared", "local", "param", "const"];

    #[inline]
    pub(crate) fn count(&mut self, class: Class, mask: u32) {
        self.warp_instructions[class as usize] += 1;
        self.thread_instructions[class as usize] += u64::from(mask.count_ones());
    }

    #[inline]
    pub(crate) fn memory(&mut self, space: Space, shared: bool, read: bool, bytes: u64) {
        let i = match space {
            _ if shared => 1,
            Space::Local => 2,
            Space::Param | Space::ParamEntry | Space::ParamFunc => 3,
            Space::Const => 4,
            _ => 0,
        };
        if read {
            self.bytes_read[i] += bytes;
        } else {
            self.bytes_written[i] += bytes;
        }
    }

    /// Warp instructions of a class.
    pub fn warp_instructions(&self, class: Class) -> u64 {
        self.warp_instructions[class as usize]
    }

    /// Thread instructions of a class: a warp instruction counts once for each active lane.
    pub fn thread_instructions(&self, class: Class) -> u64 {
        self.thread_instructions[class as usize]
    }

    /// Warp instructions of all classes.
    pub fn total_warp_instructions(&self) -> u64 {
        self.warp_instructions.iter().sum()
    }

    /// Thread instructions of all classes.
    pub fn total_thread_instructions(&self) -> u64 {
        self.thread_instructions.iter().sum()
    }

    /// Bytes that threads loaded from and stored to a space of [`Stats::SPACES`].
    pub fn bytes(&self, space: &str) -> (u64, u64) {
        match Self::SPACES.iter().position(|s| *s == space) {
            Some(i) => (self.bytes_read[i], self.bytes_written[i]),
            None => (0, 0),
        }
    }
}
