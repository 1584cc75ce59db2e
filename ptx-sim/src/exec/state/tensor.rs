//! State of the tensor cores: `wgmma` operations in flight, tensor memory, and the accesses to it.

use super::lanes::Lanes;
use super::program::DArg;
use super::race::Origin;
use crate::tensor::{TensorMemory, Wgmma};
use std::collections::VecDeque;

/// The source of operand A.
#[derive(Clone, Debug)]
pub(crate) enum PendingA {
    Shared(u64),
    Registers(Box<[Lanes; 4]>),
}

/// A multiplication in flight.
#[derive(Clone, Debug)]
pub(crate) struct PendingWgmma {
    pub unit: Wgmma,
    pub a: PendingA,
    pub b: u64,
    /// The accumulator registers, with their frame.
    pub frame: u32,
    pub dst: Vec<DArg>,
    pub group: u64,
    pub agent: Option<u32>,
    pub origin: Origin,
}

/// The `wgmma` operations of one warp in flight.
#[derive(Clone, Debug, Default)]
pub(crate) struct WgmmaState {
    pub queue: VecDeque<PendingWgmma>,
    pub next_group: u64,
    /// Accumulators whose registers hold noise: first plane, frame, true values.
    pub held: Vec<(u32, u32, Vec<Lanes>)>,
    /// Whether the warp has executed a `wgmma.fence`.
    pub fenced: bool,
}

/// The tensor memory of a CTA, created on first use.
#[derive(Debug, Default)]
pub(crate) struct TmemState {
    pub memory: Option<Box<TensorMemory>>,
    /// Earlier accesses to check later ones against, under adversarial schedules.
    pub touches: Vec<Touch>,
    pub trap_unwritten: bool,
}

impl TmemState {
    pub fn new(trap_unwritten: bool) -> TmemState {
        TmemState { memory: None, touches: Vec::new(), trap_unwritten }
    }

    pub fn get(&mut self) -> &mut TensorMemory {
        let trap_unwritten = self.trap_unwritten;
        self.memory.get_or_insert_with(|| {
            let mut memory = TensorMemory::new();
            memory.trap_unwritten = trap_unwritten;
            Box::new(memory)
        })
    }

    /// Number of columns allocated and not freed.
    pub fn leaked(&self) -> u32 {
        self.memory.as_ref().map_or(0, |m| m.allocated_columns())
    }
}

/// A region of tensor memory: lanes as a bit mask, columns as a half-open range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Region {
    pub lanes: u128,
    pub columns: (u32, u32),
}

impl Region {
    pub fn overlaps(&self, other: &Region) -> bool {
        self.lanes & other.lanes != 0 && self.columns.0 < other.columns.1 && other.columns.0 < self.columns.1
    }

    pub fn covers(&self, other: &Region) -> bool {
        other.lanes & !self.lanes == 0 && self.columns.0 <= other.columns.0 && other.columns.1 <= self.columns.1
    }

    /// The address of the first location that both regions contain.
    pub fn first_shared(&self, other: &Region) -> u64 {
        let lane = (self.lanes & other.lanes).trailing_zeros();
        u64::from(lane << 16 | self.columns.0.max(other.columns.0))
    }
}

/// Why an access has not completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flight {
    /// A load or store of a warp.
    Load,
    Store,
    /// An operation, by its number, that a commit of its thread will cover.
    Operation(u64),
}

/// The instruction that makes an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// A load, store or deallocation by a warp.
    Warp,
    Multiply,
    Copy,
    Shift,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Touch {
    pub region: Region,
    pub write: bool,
    pub by: Access,
    pub agent: u32,
    /// The warp that made the access or started it.
    pub warp: u32,
    /// The lane that started it, for operations that are ordered within a thread.
    pub lane: Option<u8>,
    pub time: u32,
    pub origin: Origin,
    pub flight: Option<Flight>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regions() {
        let a = Region { lanes: 0xffff, columns: (0, 32) };
        let b = Region { lanes: 0x1_8000, columns: (16, 64) };
        let c = Region { lanes: 0xff, columns: (32, 64) };
        assert!(a.overlaps(&b) && b.overlaps(&a) && !a.overlaps(&c) && !b.overlaps(&c));
        assert_eq!(a.first_shared(&b), 15 << 16 | 16);
        assert!(a.covers(&Region { lanes: 1, columns: (31, 32) }) && !a.covers(&b));
    }
}
