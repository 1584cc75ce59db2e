//! What warps wait for, and on whose account: the books of the replay.

/// Why a warp waited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Reason {
    /// Results of arithmetic.
    Arithmetic,
    /// Results of matrix products.
    Product,
    SharedMemory,
    GlobalMemory,
    /// The scheduler issued another warp.
    Slot,
    /// The pipe was busy.
    Pipe,
    /// Too many stores under way.
    StoreQueue,
    Barrier,
    Mbarrier,
    /// Groups of asynchronous copies.
    Copies,
    /// Groups of asynchronous products.
    AsyncProducts,
    /// Loads and stores of tensor memory, and columns of it that others have.
    TensorMemory,
    /// The start of the block.
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

/// An instruction: its function, and its place there.
pub(crate) type Key = (u32, u32);

/// What a warp waits for: why, and the instruction that made it so. That of a value that is late is the one that
/// computes or loads it, not the one that needs it; that of a phase of an mbarrier is the copy or arrival that ended
/// the phase.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wait {
    pub why: Reason,
    pub by: Key,
}

/// Clocks of warps at one instruction.
#[derive(Clone, Copy, Debug, Default)]
pub struct Line {
    pub issued: u64,
    /// Before it.
    pub waits: [f64; Reason::ALL.len()],
    /// Before whatever instruction, on account of this one.
    pub caused: [f64; Reason::ALL.len()],
    /// Bytes of global memory that its lanes named, and bytes of the sectors that these lie in.
    pub used: f64,
    pub moved: f64,
}

impl Line {
    pub(crate) fn add(&mut self, other: &Line) {
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

    /// The part of the bytes of the touched sectors that somebody asked for; `None` where there was no access. What
    /// several lanes name counts once.
    pub fn used_share(&self) -> Option<f64> {
        (self.moved > 0.0).then(|| (self.used / self.moved).min(1.0))
    }

    /// Clocks that warps lost on account of the instruction.
    pub fn cost(&self) -> f64 {
        self.caused.iter().sum()
    }
}

/// A bar in the picture of a block.
#[derive(Clone, Debug)]
pub struct Span {
    /// Row: a warp of the block, or the copy engine above all warps.
    pub row: u32,
    pub name: &'static str,
    pub start: f64,
    pub end: f64,
}
