//! The reasons for which warps wait, and the instructions that cause the waits.

/// Why a warp waited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Reason {
    /// Results of arithmetic.
    Arithmetic,
    /// Results of MMAs.
    Product,
    SharedMemory,
    GlobalMemory,
    /// The scheduler issued another warp.
    Slot,
    /// The pipe was busy.
    Pipe,
    /// Too many stores in flight.
    StoreQueue,
    Barrier,
    Mbarrier,
    /// Groups of asynchronous copies.
    Copies,
    /// Groups of asynchronous MMAs.
    AsyncProducts,
    /// Loads and stores of tensor memory, and columns allocated by others.
    TensorMemory,
    /// The start of the CTA.
    Start,
}

impl Reason {
    pub const ALL: [Reason; 13] = [
        Reason::Arithmetic,
        Reason::Product,
        Reason::SharedMemory,
        Reason::GlobalMemory,
        Reason::Slot,
        Reason::Pipe,
        Reason::StoreQueue,
        Reason::Barrier,
        Reason::Mbarrier,
        Reason::Copies,
        Reason::AsyncProducts,
        Reason::TensorMemory,
        Reason::Start,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Reason::Arithmetic => "arithmetic",
            Reason::Product => "matrix product",
            Reason::SharedMemory => "shared memory",
            Reason::GlobalMemory => "global memory",
            Reason::Slot => "issue slot",
            Reason::Pipe => "pipe busy",
            Reason::StoreQueue => "store queue",
            Reason::Barrier => "barrier",
            Reason::Mbarrier => "mbarrier",
            Reason::Copies => "asynchronous copies",
            Reason::AsyncProducts => "asynchronous products",
            Reason::TensorMemory => "tensor memory",
            Reason::Start => "block start",
        }
    }
}

/// An instruction: function and program counter.
pub(crate) type InstKey = (u32, u32);

/// A wait: the reason, and the instruction that caused it. For a late value this is the instruction that computes or
/// loads it, not the one that uses it. For an mbarrier phase it is the copy or arrival that completed the phase.
#[derive(Clone, Copy, Debug)]
pub(super) struct WaitCause {
    pub why: Reason,
    pub by: InstKey,
}

/// Clocks of warps at one instruction.
#[derive(Clone, Copy, Debug, Default)]
pub struct InstStats {
    pub issued: u64,
    /// Waits before this instruction.
    pub waits: [f64; Reason::ALL.len()],
    /// Waits caused by this instruction, before any instruction.
    pub caused: [f64; Reason::ALL.len()],
    /// Bytes of global memory that its lanes accessed, and bytes of the sectors that contain them.
    pub used: f64,
    pub moved: f64,
}

impl InstStats {
    pub(crate) fn add(&mut self, other: &InstStats) {
        self.issued += other.issued;
        self.used += other.used;
        self.moved += other.moved;
        for (sum, wait) in self.waits.iter_mut().zip(other.waits) {
            *sum += wait;
        }
        for (sum, wait) in self.caused.iter_mut().zip(other.caused) {
            *sum += wait;
        }
    }

    pub fn waited(&self) -> f64 {
        self.waits.iter().sum()
    }

    /// The share of the bytes in the accessed sectors that were used; `None` without accesses. Bytes that several
    /// lanes access count once.
    pub fn used_share(&self) -> Option<f64> {
        (self.moved > 0.0).then(|| (self.used / self.moved).min(1.0))
    }

    /// Clocks that warps lost because of the instruction.
    pub fn cost(&self) -> f64 {
        self.caused.iter().sum()
    }
}

/// A bar in the timeline of a CTA.
#[derive(Clone, Debug)]
pub struct Span {
    /// Row: a warp of the CTA, or the copy engine above all warps.
    pub row: u32,
    pub name: &'static str,
    pub start: f64,
    pub end: f64,
}
