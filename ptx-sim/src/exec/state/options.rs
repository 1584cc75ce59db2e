//! Options of a launch: properties of the device and how to run.

use super::record::{ClockReads, RecordOptions};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

/// Properties of the simulated device.
#[derive(Clone, Debug)]
pub struct Config {
    /// Number of SMs, as reported by `%nsmid`.
    pub sms: u32,
    /// The maximum number of CTAs that run at the same time.
    pub max_resident_ctas: u32,
    /// Shared memory that a CTA may use, in bytes, static and dynamic together.
    pub max_shared: u32,
    /// Whether reading a byte that was never written is an error.
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
    /// Runs with race detection under an adversarial schedule with this seed: warps run in random order, and
    /// asynchronous operations complete as late as is legal, with their destinations poisoned until then.
    pub adversarial: Option<u64>,
    /// Under an adversarial schedule, whether using a register that was never written is an error. Instructions that
    /// discard part of a register, such as `prmt` and shifts, count as using all of it.
    pub undefined: bool,
    /// Also reports what devices evidently do although the PTX ISA does not promise it: a `tcgen05.ld` or `.st` that
    /// names lanes of another warp, synchronization of `tcgen05` accesses by release and acquire alone, `tcgen05.cp`
    /// over an operand of an earlier `tcgen05.mma` of the thread, and an exit or a deallocation before reads of shared
    /// or tensor memory are known to have finished. Under an adversarial schedule the arrivals of `tcgen05.commit` come
    /// in any order.
    pub strict: bool,
    /// Treats the results of one instruction as undefined. The launch fails with [`SimErrorKind::UndefinedRegister`]
    /// if they may affect anything other than registers. If it does not fail, the instruction's results do not affect
    /// the launch.
    ///
    /// [`SimErrorKind::UndefinedRegister`]: super::error::SimErrorKind::UndefinedRegister
    pub arbitrary: Option<Arbitrary>,
    /// Counts shared-memory bank conflicts (the other statistics are always kept).
    pub stats: bool,
    /// Records executed instructions in the report, up to `trace_limit` lines.
    pub trace: bool,
    pub trace_limit: usize,
    /// Records in the report how each instruction was executed.
    pub coverage: bool,
    /// The maximum number of warp instructions to execute.
    pub max_instructions: Option<u64>,
    /// The maximum duration of the launch.
    pub max_time: Option<Duration>,
    /// Runs only some clusters and records their instructions, without computing matrix products.
    pub record: Option<RecordOptions>,
    /// The values that `%clock`, `%clock_hi` and `%clock64` return; if `None`, the number of instructions the warp
    /// executed.
    pub clocks: Option<Arc<ClockReads>>,
    /// Counts the CTAs that have finished, updated during the launch for a progress display.
    pub finished: Option<Arc<AtomicU64>>,
}

impl Default for RunOptions {
    fn default() -> RunOptions {
        RunOptions {
            adversarial: None,
            undefined: false,
            strict: false,
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

/// An instruction whose results are treated as undefined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arbitrary {
    /// Index into the functions of the module.
    pub function: usize,
    /// Index into the function's body.
    pub at: usize,
    pub lanes: ArbitraryLanes,
}

/// Selects among the lanes that reach the instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArbitraryLanes {
    All,
    /// Lanes for which the guard holds.
    Executed,
    /// Lanes for which it does not hold.
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
