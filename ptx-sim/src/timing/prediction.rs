//! The result of the timing model.

use super::agents::Agent;
use super::notes::Notes;
use super::power::Power;
use super::waits::{InstStats, Reason, Span};
use crate::exec::state::record::ClockReads;

/// One line of the PTX in a prediction.
#[derive(Clone, Debug)]
pub struct PtxLine {
    pub function: String,
    pub line: u32,
    pub text: String,
    pub cost: InstStats,
}

/// One line of the tile program in a prediction. Its cost includes the waits of all warps, at any instruction, for
/// results of this line.
#[derive(Clone, Debug)]
pub struct SourceLine {
    /// The file as named in the PTX; empty for instructions without a line.
    pub file: String,
    pub line: u32,
    /// Text of the line, if [`Prediction::read_sources`] has filled it in.
    pub text: String,
    pub cost: InstStats,
}

/// The predicted time of a launch and its distribution.
#[derive(Clone, Debug)]
pub struct Prediction {
    /// The kernel.
    pub entry: String,
    pub machine: String,
    pub clocks: f64,
    pub mhz: f64,
    /// Power drawn; `None` if the machine file has no measurements.
    pub power: Option<Power>,
    /// Includes the launch overhead.
    pub microseconds: f64,
    pub blocks: u64,
    pub resident: usize,
    /// The resource that limits the number of resident CTAs.
    pub limited_by: &'static str,
    pub registers: u32,
    /// CTAs on the SM that runs the most.
    pub blocks_per_sm: u64,
    /// Share of the loaded bytes that are not shared between concurrently resident CTAs.
    pub first_share: f64,
    /// Share of the instructions taken from an assembled image.
    pub from_image: f64,
    /// Share of the time during which each unit is busy, by name.
    pub busy: Vec<(&'static str, f64)>,
    /// Clocks that warps waited, by reason, as shares of the total.
    pub waits: Vec<(Reason, f64)>,
    pub lines: Vec<PtxLine>,
    /// Most expensive first; empty if the PTX lacks a line table.
    pub sources: Vec<SourceLine>,
    /// Producers and consumers; empty if all warps run the same program.
    pub agents: Vec<Agent>,
    pub spans: Vec<Span>,
    /// What the compiler says, if the caller has added it.
    pub notes: Notes,
    /// Values that the kernel's clock reads return, for [`RunOptions::clocks`](crate::RunOptions::clocks).
    pub clock_reads: ClockReads,
}
