//! What a launch is told: properties of the device and how to run.

use super::record::{ClockReads, RecordOptions};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

/// Properties of the simulated device.
#[derive(Clone, Debug)]
pub struct Config {
    /// Number of multiprocessors that `%nsmid` reports.
    pub sms: u32,
    /// The most CTAs that run at the same time.
    pub max_resident_ctas: u32,
    /// Shared memory that a CTA may use, static and dynamic together, in bytes.
    pub max_shared: u32,
    /// Whether reading a byte that nobody wrote is an error.
    pub trap_uninitialised: bool,
    /// Device heap for `malloc`, in bytes.
    pub heap_bytes: u64,
}

impl Default for Config {
    /// The limits of an H200.
    fn default() -> Config {
        Config {
            sms: 132,
            max_resident_ctas: 132,
            max_shared: 227 * 1024,
            trap_uninitialised: true,
            heap_bytes: 8 << 20,
        }
    }
}

/// How a launch is run and what is recorded.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// Runs under an adversarial schedule with this seed, with race detection: warps in any order, asynchronous
    /// operations as late as is legal and their destinations poisoned meanwhile.
    pub adversarial: Option<u64>,
    /// Under an adversarial schedule, whether using a register that nobody has written is an error. Instructions that
    /// throw a part of a register away, such as `prmt` and shifts, count as using all of it.
    pub undefined: bool,
    /// Takes what one instruction gives for undefined: the launch ends with [`SimErrorKind::UndefinedRegister`] where
    /// that may matter to anything but registers. If it does not end so, the launch does the same whatever the
    /// instruction gives.
    ///
    /// [`SimErrorKind::UndefinedRegister`]: super::error::SimErrorKind::UndefinedRegister
    pub arbitrary: Option<Arbitrary>,
    /// Counts shared-memory bank conflicts (the other statistics are always kept).
    pub stats: bool,
    /// Records executed instructions in the report, up to `trace_limit` lines.
    pub trace: bool,
    pub trace_limit: usize,
    /// Notes in the report how each instruction was executed.
    pub coverage: bool,
    /// The most warp instructions that may be executed.
    pub max_instructions: Option<u64>,
    /// The longest time that the launch may take.
    pub max_time: Option<Duration>,
    /// Runs only some clusters and records what they execute; matrix products are not computed meanwhile.
    pub record: Option<RecordOptions>,
    /// What reads of `%clock`, `%clock_hi` and `%clock64` give; without it, instructions that the warp has executed.
    pub clocks: Option<Arc<ClockReads>>,
    /// Counts CTAs that ran to their end while the launch goes on, for a progress display.
    pub finished: Option<Arc<AtomicU64>>,
}

impl Default for RunOptions {
    fn default() -> RunOptions {
        RunOptions {
            adversarial: None,
            undefined: false,
            arbitrary: None,
            stats: false,
            trace: false,
            trace_limit: 100_000,
            coverage: false,
            max_instructions: None,
            max_time: None,
            record: None,
            clocks: None,
            finished: None,
        }
    }
}

/// An instruction whose results are taken for undefined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arbitrary {
    /// Index into the functions of the module.
    pub function: usize,
    /// Index into the function's body.
    pub at: usize,
    pub lanes: ArbitraryLanes,
}

/// In which lanes of those that come to the instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArbitraryLanes {
    All,
    /// Those for which the guard holds.
    Executed,
    /// Those for which it does not.
    Skipped,
}

impl ArbitraryLanes {
    pub(crate) fn of(self, lanes: u32, mask: u32) -> u32 {
        match self {
            ArbitraryLanes::All => lanes,
            ArbitraryLanes::Executed => mask,
            ArbitraryLanes::Skipped => lanes & !mask,
        }
    }
}
